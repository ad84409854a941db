# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The results of a run for tests/live/matrix: a file with one JSON object per
line.

  kernel    release and version of the kernel
  plant     a question about a page: the command, claimed fields, fields
            without an answer, texts about wrong fields, and fields that
            claims.tsv requires and that were not claimed
  skip      what, why, and whether skips.txt lists it
  test      any other test that failed
  records   what page_owner's text was compared with
  died      why the run could not continue
  end       the last line: how many tests failed; without it the run is
            incomplete

Lines are written at once, so that a killed run leaves its results.
"""
import json
import os
import re


def path(directory, name):
    """The file of the run with this name."""
    return os.path.join(directory,
                        name.replace("/", ".").replace(":", ".") + ".jsonl")


class Cells:
    def __init__(self, to):
        """@to None: nobody wants them"""
        self.file = open(to, "w", encoding="utf-8") if to else None

    def add(self, **words):
        if self.file:
            self.file.write(json.dumps(words) + "\n")
            self.file.flush()

    def add_kernel(self, there):
        """@there: what has the functions of machine.py"""
        text = (there.read("/proc/version") or b"").decode("latin-1")
        found = re.match(r"Linux version (\S+) .*?(#\d+ .*)", text, re.DOTALL)
        self.add(kernel=found[1] if found else None,
                 version=found[2].strip() if found else None)
