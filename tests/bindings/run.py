# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Runs unittest modules of this directory and says in TAP what came out.

  run.py MODULE...

From "make check": top_srcdir and top_builddir, both absolute.
"""
import os
import signal
import sys
import unittest

sys.dont_write_bytecode = True  # the sources may be read-only

# Whoever starts tests in the background has them ignore Ctrl-C; the tests of
# it need what a program has that is started by hand.
signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = os.path.dirname(os.path.abspath(__file__))


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.count = 0

    def say(self, test, good, skipped="", why=""):
        self.count += 1
        name = test.shortDescription() or test.id()
        print("%s %d - %s%s" % ("ok" if good else "not ok", self.count, name,
                                " # SKIP " + skipped if skipped else ""))
        for line in why.splitlines():
            print("#", line)
        sys.stdout.flush()

    def addSuccess(self, test):
        self.say(test, True)

    def addSkip(self, test, reason):
        self.say(test, True, reason)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.say(test, False, why=self.failures[-1][1])

    def addError(self, test, error):
        super().addError(test, error)
        self.say(test, False, why=self.errors[-1][1])

    def addSubTest(self, test, subtest, error):
        if error is not None:
            super().addSubTest(test, subtest, error)
            self.say(subtest, False,
                     why=self._exc_info_to_string(error, subtest))


def main():
    top = os.path.dirname(os.path.dirname(HERE))
    os.environ.setdefault("top_srcdir", top)
    os.environ.setdefault("top_builddir", top)
    sys.path[:0] = [HERE, os.path.join(os.environ["top_srcdir"], "bindings",
                                       "python")]
    tests = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    result = Result()
    tests.run(result)
    print("1..%d" % result.count)
    return 0 if result.wasSuccessful() else 1


sys.exit(main())
