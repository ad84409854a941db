# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""For tests in Python: what all tests of the machine share is one test's at a
time."""
import contextlib
import fcntl
import os


@contextlib.contextmanager
def alone(name):
    """As tap_lock of tests/tap.sh: only root's tests do such things, and where
    there can be no lock there is none."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            if not os.geteuid():
                os.makedirs("/run/lock", exist_ok=True)
                f = stack.enter_context(open(
                    "/run/lock/pagedet-test-" + name, "a", encoding="ascii"))
                fcntl.flock(f, fcntl.LOCK_EX)
        yield
