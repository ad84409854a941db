# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What a run has said: results counted, failures with their reasons. A run is a
test program of make check, or one of tests/live/lab."""
import collections
import os
import re

# Lines of a reason that are shown.
LINES = 5
# What automake writes behind each result, in the same log.
WORDS = "PASS|FAIL|SKIP|ERROR|XFAIL|XPASS"
DRIVER = re.compile("(%s): " % WORDS)
MAKE = re.compile(r"make(\[\d+\])?: ")
SKIP = re.compile(r"# *SKIP\s*(.*)", re.IGNORECASE)
PLAN = re.compile(r"1\.\.(\d+)\s*(?:# *SKIP\s*(.*))?$", re.IGNORECASE)


class Failure:
    def __init__(self, name, why, log, made=False):
        """@made: a test of this name was made, and failed"""
        self.name, self.log, self.made = name, log, made
        self.why = [line.rstrip()[:300] for line in why][:LINES]


class Result:
    """One look at a run."""

    def __init__(self, name, log):
        self.name, self.log = name, log
        self.passed = 0
        self.good = collections.Counter()       # what passed, by key()
        self.skips = []
        self.boots = []         # why a guest had to boot once more
        self.failures = []

    def fail(self, name, why=(), made=False):
        self.failures.append(Failure(name, why, self.log, made))

    def compare(self, first):
        """A second look that does not make what failed at the first one does
        not disprove it. Several tests may have one name."""
        if self.failures:
            return
        bad = collections.Counter(key(failure.name)
                                  for failure in first.failures if failure.made)
        for failure in first.failures:
            name = key(failure.name)
            if failure.made and \
                    self.good[name] < first.good[name] + bad[name]:
                self.fail(failure.name, ["failed, and was not made the second "
                                         "time, for the first time:"] +
                          failure.why)
        if not self.passed and not self.failures:
            self.fail("nothing passed the second time", self.skips)


def key(name):
    """A name without the numbers in it, which may be others each time."""
    return re.sub(r"[-+]?\b(0x[0-9a-f]+|\d+)\b", "N", name)


def end_of(lines):
    """The last lines that say something."""
    return [line for line in lines if line.strip()][-LINES:]


def comments(lines):
    """What a failure is followed by."""
    for line in lines:
        if DRIVER.match(line):
            continue
        if not line.startswith("#"):
            return
        yield line[1:].strip()


def of_tap(name, lines, status, log):
    """Of a run's output and its exit status; None: it never ended."""
    result = Result(name, log)
    planned = None
    said = 0

    def title(line):
        return re.sub(r"^(not )?ok *\d* *-? *", "", line)

    for at, line in enumerate(lines):
        plan = PLAN.match(line)
        if plan:
            planned = int(plan[1])
            if not planned and plan[2]:
                result.skips.append(plan[2])
            elif not planned:
                result.fail("it has no tests")
        elif line.startswith("Bail out!"):
            result.fail(line, comments(lines[at + 1:]))
        elif line.startswith("not ok"):
            said += 1
            result.fail(title(line), comments(lines[at + 1:]), made=True)
        elif re.match(r"ok\b", line):
            said += 1
            skip = SKIP.search(line)
            if skip:
                result.skips.append(skip[1] or "does not say why")
            else:
                result.passed += 1
                result.good[key(title(line))] += 1
        elif "# booting once more: " in line:
            result.boots.append(line.partition(": ")[2])
    if result.failures:
        return result
    if status is None:
        result.fail("it did not come to its end", end_of(lines))
    elif status:
        result.fail("exit status %d" % status, end_of(lines))
    elif planned is None:
        result.fail("it has no plan", end_of(lines))
    elif planned != said:
        result.fail("%d tests planned, %d made" % (planned, said),
                    end_of(lines))
    return result


def of_test(build, test):
    """Of what make check left of a test program; None: nothing."""
    base = os.path.join(build, re.sub(r"\.(sh|py)$", "", test))
    try:
        with open(base + ".trs", encoding="utf-8", errors="replace") as f:
            judged = re.findall(r"^:test-result: (\w+)", f.read(),
                                re.MULTILINE)
        with open(base + ".log", encoding="utf-8", errors="replace") as f:
            lines = f.read().splitlines()
    except FileNotFoundError:
        return None
    # the driver has judged; why is in what the program has said
    result = Result(test, base + ".log")
    told = of_tap(test, lines, 0, base + ".log")
    bad = [word for word in judged
           if word not in ("PASS", "XFAIL", "SKIP")]
    result.passed = judged.count("PASS") + judged.count("XFAIL")
    result.good = told.good
    result.skips = told.skips[:judged.count("SKIP")]
    result.skips += ["does not say why"] * (judged.count("SKIP") -
                                            len(result.skips))
    failures = told.failures + [
        Failure(line, end_of(lines), base + ".log") for line in lines
        if line.startswith("ERROR: ")]
    result.failures = failures[:len(bad)]
    if bad and not result.failures or not judged:
        result.fail(" ".join(bad) or "no result", end_of(lines))
    return result


def of_runs(path, ended=False):
    """Of what tests/live/lab has printed to a file: {name: Result}. Runs that it
    names in its first line and never reached have failed.
    @ended: only those that came to their end"""
    with open(path, encoding="utf-8", errors="replace") as f:
        lines = f.read().splitlines()
    names = [name for line in lines if line.startswith("# runs ")
             for name in line.split()[2:]]
    said = {name: [] for name in names}
    status = {}
    current = None
    for line in lines:
        end = re.match(r"# end (\S+): status (-?\d+), \d+ s$", line)
        if line.startswith("# run ") and line[6:] in said:
            current = line[6:]
        elif end and end[1] in said:
            status[end[1]] = int(end[2])
            current = None
        elif current and not MAKE.match(line):
            said[current].append(line)
    return {name: of_tap(name, said[name], status.get(name), path)
            for name in names if name in status or not ended}
