# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""For tests in Python: waiting for an event, instead of for a time."""
import time

# seconds; far more than any event needs, even on a machine that is busy
PATIENCE = 60


def wait_for(get):
    """What get() returns, as soon as that is true; or what it returned last."""
    end = time.monotonic() + PATIENCE
    while True:
        # asked before the last look, and not after it
        late = time.monotonic() > end
        found = get()
        if found or late:
            return found
        time.sleep(0.02)
