# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Results as TAP, and the list of skips that are allowed."""
import re
import sys


def skip_all(why):
    print("1..0 # SKIP " + why)
    return 0


class Report:
    def __init__(self, skips):
        self.n = 0
        self.failed = 0
        self.allowed = []
        self.matrix = {}
        with open(skips) as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    name, why = line.rstrip("\n").split("\t", 1)
                    self.allowed.append((name, re.compile(why)))

    def result(self, name, problems):
        """@problems: words for each thing that is wrong; none is good."""
        self.n += 1
        if problems:
            self.failed += 1
        print("%sok %d - %s" % ("not " if problems else "", self.n, name))
        for problem in problems:
            for line in str(problem).splitlines():
                print("# " + line)
        sys.stdout.flush()

    def count(self, name, how, claimed, wrong):
        """One cell of the matrix that ends the output."""
        self.matrix.setdefault(name, {})[how] = (claimed, wrong)

    def print_matrix(self):
        ways = sorted({how for row in self.matrix.values() for how in row})
        if not ways:
            return
        print("# fields claimed / of them wrong, or required and missing")
        print("# %-20s" % "" + "".join("%10s" % how for how in ways))
        for name, row in self.matrix.items():
            cells = ["%d/%d" % row[how] if how in row else "-"
                     for how in ways]
            print("# %-20s" % name + "".join("%10s" % c for c in cells))
        total = sum(wrong for row in self.matrix.values()
                    for _, wrong in row.values())
        print("# disagreements: %d" % total)

    def skip(self, name, why):
        why, *more = why.splitlines()
        for allowed, reason in self.allowed:
            if allowed == name and reason.search(why):
                self.n += 1
                print("ok %d - %s # SKIP %s" % (self.n, name, why))
                print("".join("# %s\n" % line for line in more), end="")
                sys.stdout.flush()
                return
        self.result(name, ["skipped, and skips.txt does not list it: " + why])

    def finish(self):
        self.print_matrix()
        print("1..%d" % self.n)
        return 1 if self.failed else 0
