# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The stages of the gate: make targets, and what each has said."""
import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import time

import progress
import results

# seconds between two looks at what was said
TICK = 0.2
# seconds that who is told to end may take
PATIENCE = 5
# Seconds for a test of make check, see tests/tap-run; none takes a fifth of that
# on a quiet machine.
LIMIT = "900"
# Lines that are shown when they come.
SHOWN = re.compile(r"(FAIL|ERROR|XPASS): |not ok|Bail out!|# run |"
                   r"# booting once more|"
                   r".*: error: |.*undefined reference|.*\*\*\* ")


def session(number):
    """Processes of a session that have not ended."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            with open(path, "rb") as f:
                words = f.read().rpartition(b")")[2].split()
            if int(words[3]) == number and words[0] not in b"ZX":
                found.append(int(path.split("/")[2]))
    return found


class Make:
    """Targets of the build tree, one at a time."""

    def __init__(self, build):
        self.build = build
        self.process = None
        # of a make that has started us
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("MAKEFLAGS", "MAKELEVEL",
                                            "MFLAGS")}
        self.environment.setdefault("TAP_LIMIT", LIMIT)

    def run(self, log, *words, at=None):
        """Its exit status. The output goes to a file, so that a process that a
        test leaves behind, and that keeps it open, is not waited for.
        @at: says how far it is"""
        with open(log, "wb") as to:
            self.process = subprocess.Popen(
                ["make", "-C", self.build, *words], stdout=to, stderr=to,
                stdin=subprocess.DEVNULL, start_new_session=True,
                env=self.environment)
        with open(log, encoding="utf-8", errors="replace") as f:
            while self.process.poll() is None:
                self.show(f, at)
                time.sleep(TICK)
            self.show(f, at)
        status = self.process.returncode
        self.end()
        return status

    @staticmethod
    def show(f, at=None):
        for line in f.read().splitlines():
            if at:
                at.take(line)
            if SHOWN.match(line):
                if at:
                    at.clear()
                print("  " + line, flush=True)
        if at:
            at.tick()

    def end(self):
        """Every process that it has started ends with it."""
        if not self.process:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            until = time.monotonic() + PATIENCE
            for pid in session(self.process.pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            while session(self.process.pid) and time.monotonic() < until:
                self.process.poll()
                time.sleep(TICK)
        self.process = None

    def words(self, target):
        """What a target prints."""
        return subprocess.run(["make", "-s", "-C", self.build, target],
                              stdin=subprocess.DEVNULL, check=True,
                              stdout=subprocess.PIPE,
                              env=self.environment).stdout.decode().split()

    def objects(self, *words):
        """How many a make of these words compiles; 0: that cannot be said."""
        said = subprocess.run(["make", "-n", "-C", self.build, *words],
                              stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env=self.environment)
        return 0 if said.returncode else len(re.findall(
            rb'^echo "  CC ', said.stdout, re.MULTILINE))

    def log(self, name):
        return os.path.join(self.build, name.replace("/", ".") + ".log")


class Units:
    """make check: a run is a test program."""

    def __init__(self, make, name="check", heading="make check", is_part=None):
        """@is_part: whether a test is one of those that are made"""
        self.make, self.heading, self.is_part = make, heading, is_part
        self.log = make.log(name)
        self.asked = []

    def tests(self):
        return [test for test in self.make.words("list-tests")
                if not self.is_part or self.is_part(test)]

    def run(self):
        """([Result], [Failure] of the stage as a whole)"""
        for top, _, names in os.walk(self.make.build):
            for name in names:
                # it says nothing about this run
                if name.endswith(".trs"):
                    os.unlink(os.path.join(top, name))
        jobs = len(os.sched_getaffinity(0))
        tests = self.asked = self.tests()
        words = ["TESTS=" + " ".join(tests)] if self.is_part else []
        at = progress.Progress("make check", (
            ("objects", r"  CC +(\S+)",
             self.make.objects("check-needs", *words)),
            ("tests", r"(?:%s): (\S+)" % results.WORDS, tests)))
        status = self.make.run(self.log, "-k", "-j%d" % jobs, "check", *words,
                               at=at)
        at.clear()
        found, lost = [], []
        for test in tests:
            result = results.of_test(self.make.build, test)
            if result:
                found.append(result)
            else:
                lost.append(test)
        broken = []
        if lost:
            broken.append(results.Failure(
                "%d of %d tests were not made, %s first" % (
                    len(lost), len(lost) + len(found), lost[0]),
                errors(self.log), self.log))
        elif status and not any(result.failures for result in found):
            broken.append(results.Failure("make check: exit status %d" %
                                          status, errors(self.log), self.log))
        return found, broken

    def so_far(self):
        """[Result] when it is interrupted."""
        found = [results.of_test(self.make.build, test)
                 for test in self.asked]
        return [result for result in found if result]

    def again(self, first):
        kept = self.make.log("first-" + first.name)
        shutil.copyfile(first.log, kept)
        for failure in first.failures:
            failure.log = kept
        trs = os.path.splitext(first.log)[0] + ".trs"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(trs)
        log = self.make.log("again-" + first.name)
        status = self.make.run(log, "check", "TESTS=" + first.name)
        return judged(first, results.of_test(self.make.build, first.name),
                      status, log)


class Lab:
    """A target that runs tests/live/lab."""

    def __init__(self, make, target, heading):
        self.make, self.target, self.heading = make, target, heading
        self.log = make.log(target)

    def run(self):
        at = progress.Progress("make " + self.target, (
            ("objects", r"  CC +(\S+)", self.make.objects(self.target)),
            ("runs", r"# end ([^ :]\S*): status", r"# runs (.*)")))
        status = self.make.run(self.log, self.target, at=at)
        at.clear()
        found = list(results.of_runs(self.log).values())
        if not found or status and not any(r.failures for r in found):
            return found, [results.Failure(
                "make %s: exit status %d" % (self.target, status),
                errors(self.log), self.log)]
        return found, []

    def so_far(self):
        """[Result] when it is interrupted."""
        with contextlib.suppress(FileNotFoundError):
            return list(results.of_runs(self.log, ended=True).values())
        return []

    def again(self, first):
        log = self.make.log("again-" + first.name)
        status = self.make.run(log, "check-again", "RUNS=" + first.name)
        return judged(first, results.of_runs(log).get(first.name), status,
                      log)


def judged(first, second, status, log):
    """A second look; None: it has left nothing."""
    if not second:
        second = results.Result(first.name, log)
        second.fail("it has left no result", errors(log))
    elif status and not second.failures:
        second.fail("make: exit status %d" % status, errors(log))
    second.compare(first)
    second.boots[:0] = first.boots
    return second


def errors(log):
    """What went wrong in a log of make."""
    with open(log, encoding="utf-8", errors="replace") as f:
        lines = f.read().splitlines()
    return [line for line in lines if re.search(
        r": error: |undefined reference|\*\*\* |^ERROR", line)] or \
        results.end_of(lines)


def is_cli(test):
    return test.startswith("tests/cli/")


# By the name that one of them is asked for.
STAGES = {
    "unit": lambda make: Units(make, "check-unit",
                               "make check, but for the command",
                               lambda test: not is_cli(test)),
    "cli": lambda make: Units(make, "check-cli", "make check of the command",
                              is_cli),
    "live": lambda make: Lab(make, "check-live",
                             "tests on the running kernel"),
    "lab": lambda make: Lab(make, "check-lab",
                            "the same on Debian's kernels, in emulation"),
    "kmod": lambda make: Lab(make, "check-kmod-short",
                             "the module of kmod/ in them"),
}


def every(make, names=()):
    """Those that are named; else what the gate runs: tests of the library and
    of the command are made side by side there."""
    if names:
        return [begin(make) for name, begin in STAGES.items() if name in names]
    return [Units(make)] + [begin(make) for name, begin in STAGES.items()
                            if name not in ("unit", "cli")]
