# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What a stage is at, from the lines that it prints: on a terminal in one line
that is overwritten, elsewhere a line each 30 s."""
import os
import re
import sys
import time

# Seconds; a test of this has less.
PAUSE = int(os.environ.get("GATE_PAUSE", "30"))


class Progress:
    def __init__(self, what, counters, to=sys.stdout, clock=time.monotonic):
        """@counters: (unit, pattern, all). Group 1 of the pattern is the name
        of a unit that has been reached. All is the list of names, others are
        not of this stage; or how many there are, 0 for unknown; or a pattern
        whose group 1 lists them; or None."""
        self.what, self.counters, self.to, self.clock = what, counters, to, clock
        self.names = [set() for _ in counters]
        self.totals = [len(known) if isinstance(known, list) else
                       known if isinstance(known, int) else 0
                       for _, _, known in counters]
        self.begin = self.said = clock()
        self.live = to.isatty()

    def take(self, line):
        for i, (_, pattern, known) in enumerate(self.counters):
            found = re.match(pattern, line)
            if found and (not isinstance(known, list) or found[1] in known):
                self.names[i].add(found[1])
            plan = isinstance(known, str) and re.match(known, line)
            if plan:
                self.totals[i] += len(plan[1].split())

    def text(self):
        """The last counter that has begun is what the stage is at."""
        said = ""
        for (unit, _, _), names, total in zip(self.counters, self.names,
                                              self.totals):
            if names or total and not said:
                said = "%d%s %s, " % (len(names), " of %d" % total
                                      if total else "", unit)
        return "  %s ... %s%d s" % (self.what, said,
                                    self.clock() - self.begin)

    def tick(self):
        if self.clock() - self.said < (1 if self.live else PAUSE):
            return
        self.said = self.clock()
        print(("\r\033[K%s" if self.live else "%s\n") % self.text(),
              end="", file=self.to, flush=True)

    def clear(self):
        """Room for another line."""
        if self.live:
            print("\r\033[K", end="", file=self.to, flush=True)
