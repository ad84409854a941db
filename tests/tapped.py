# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""For tests in Python: their results, as TAP."""
import sys


class Results:
    """Numbered, and counted."""

    def __init__(self):
        self.number = self.failed = 0

    def __call__(self, name, wrong, skip=None):
        """@wrong: what is; nothing: it is as it must be. @skip: why that was
        not looked at"""
        self.number += 1
        self.failed += bool(wrong)
        print("%sok %d - %s%s" % ("not " if wrong else "", self.number, name,
                                  " # SKIP " + skip if skip else ""))
        for words in list(wrong)[:20]:
            print("# " + str(words)[:2000].replace("\n", "\\n"))

    def skip(self, name, why):
        self(name, [], why)

    def end(self):
        print("1..%d" % self.number)
        sys.exit(1 if self.failed else 0)
