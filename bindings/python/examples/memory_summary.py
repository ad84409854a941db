#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What is all of memory used for? One JSON object per kind, then the total:
what examples/memory-summary.c prints with --json.

    memory_summary.py [ROOT]    /proc and /sys are read below ROOT

Teaches: grouping, where rows are groups and "pages" counts, and coverage,
which says whether the sum is about everything.
"""
import os
import sys

import pagedet


def main(root=None):
    with pagedet.open(root=root) as pd:
        query = pd.query(scan=True, by="kind", threads=os.cpu_count() or 1)
        query.emit(sys.stdout)
        coverage = query.coverage()
        if not coverage.complete:
            sys.exit("memory_summary: %d of %d pages could not be looked at"
                     % (coverage.wanted - coverage.visited, coverage.wanted))


try:
    main(*sys.argv[1:2])
except pagedet.NoAccess as error:
    # A missing privilege is an answer, not a failure of this program.
    print("memory_summary: %s" % error, file=sys.stderr)
except pagedet.Error as error:
    sys.exit("memory_summary: %s" % error)
