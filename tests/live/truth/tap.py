# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Prints results as TAP, with the list of allowed skips."""
import re
import sys

import cells


# Programs that say what they are about before they say why they cannot, and
# may show the end of a log below that.
TALKERS = ("build-kernel: ", "fetch-deb: ")


def reason(why):
    """(the line that says why, all others)"""
    lines = why.splitlines()
    at = max((i for i, line in enumerate(lines) if line.startswith(TALKERS)),
             default=0)
    return lines[at], lines[:at] + lines[at + 1:]


class Unclaimed(str):
    """Words for a field that is required and not claimed."""


class Report:
    def __init__(self, skips, path=None):
        """@path: where the cells go, if anywhere"""
        self.cells = cells.Cells(path)
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
        if problems:
            self.cells.add(test=name, wrong=list(map(str, problems)))
        self.say(name, problems)

    def say(self, name, problems):
        self.n += 1
        if problems:
            self.failed += 1
        print("%sok %d - %s" % ("not " if problems else "", self.n, name))
        for problem in problems:
            for line in str(problem).splitlines():
                print("# " + line)
        sys.stdout.flush()

    def cell(self, plant, how, problems, claimed=(), unknown=()):
        """The result of a question about a plant. Fields that the answer has,
        and that it says it cannot have."""
        missing = [p for p in problems if isinstance(p, Unclaimed)]
        self.cells.add(plant=plant, how=how, claimed=list(claimed),
                       unknown=list(unknown), missing=missing,
                       wrong=[str(p) for p in problems if p not in missing])
        if claimed:
            self.matrix.setdefault(plant, {})[how] = (len(claimed),
                                                      len(problems))
        self.say("%s: %s" % (how, plant), problems)

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
        why, more = reason(why)
        is_listed = any(allowed == name and listed.search(why)
                        for allowed, listed in self.allowed)
        self.cells.add(skip=name, why=why, listed=is_listed)
        if not is_listed:
            self.say(name, ["skipped, and skips.txt does not list it: " + why])
            return
        self.n += 1
        print("ok %d - %s # SKIP %s" % (self.n, name, why))
        print("".join("# %s\n" % line for line in more), end="")
        sys.stdout.flush()

    def skip_all(self, why):
        self.cells.add(skip="run", why=why, listed=True)
        self.cells.add(end=0)
        print("1..0 # SKIP " + why)
        return 0

    def died(self, why):
        """It cannot go on, @why in lines."""
        first, *more = str(why).splitlines()
        self.cells.add(died=first)
        print("Bail out! " + first)
        print("".join("# %s\n" % line for line in more), end="")
        return 1

    def finish(self):
        self.print_matrix()
        print("1..%d" % self.n)
        self.cells.add(end=self.failed)
        return 1 if self.failed else 0
