# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Compares the sums of pagedet top with those of /proc/PID/smaps_rollup.

Usage: top-rollup.py PAGEDET. Prints what differs, and how many processes were
equal. The status is 1 if any differs, 2 if none could be judged.

Each process that starts or ends changes the shares of its neighbours, and so
does pagedet, which maps the same libraries. So one pagedet runs all the time,
in rounds, and smaps_rollup is read before and after each of them. A process is
judged in the rounds in which both readings are the same. Something may change
there and back between them; then the next round sees other numbers. So a
process differs only if several rounds in a row have the same numbers in both
readings, and the same other ones from pagedet. What changes at fixed intervals
could do so with each round: the readings are at random moments.
"""
import os
import random
import select
import subprocess
import sys
import time

INTERVAL = 1            # seconds
ROUNDS = 4              # at least
MOST = 16
ENOUGH = 6              # in which a process differs in the same way


def look(busy):
    """The sums of all processes that may be read, but those that are busy, in
    bytes; at any moment of a part of the interval between rounds."""
    found = {}
    time.sleep(random.uniform(0, INTERVAL / 4))
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) in busy:
            continue
        sums = {}
        try:
            with open(f"/proc/{pid}/smaps_rollup") as f:
                for line in f:
                    words = line.split()
                    if words[-1] == "kB":
                        sums[words[0]] = int(words[1]) * 1024
        except OSError:
            continue
        if "Rss:" in sums:
            found[pid] = {
                "rss": sums["Rss:"], "pss": sums["Pss:"],
                "uss": sums["Private_Clean:"] + sums["Private_Dirty:"],
                "swap": sums["Swap:"],
                "dirty": sums["Shared_Dirty:"] + sums["Private_Dirty:"],
            }
    return found


class Top:
    """pagedet top in rounds: each begins with the names of the columns."""

    def __init__(self, pagedet):
        self.process = subprocess.Popen(
            [pagedet, "top", "--watch", str(INTERVAL), "--format", "csv",
             "-q"],
            stdout=subprocess.PIPE)

    def round(self):
        """The rows of the next round, and None at the end."""
        fd = self.process.stdout.fileno()
        text = b""
        # It writes a round at once, and then sleeps.
        while not text.endswith(b"\n") or select.select([fd], [], [], 0.1)[0]:
            more = os.read(fd, 1 << 20)
            if not more:
                return None
            text += more
        lines = text.decode(errors="replace").splitlines()
        head = lines[0].split(",")
        rows = {}
        for line in lines:
            # A name may have commas, and the numbers come last.
            words = line.split(",", 1)
            values = words[-1].rsplit(",", len(head) - 2)[1:]
            rows[words[0]] = dict(zip(head[2:], values))
        return rows


def main():
    top = Top(sys.argv[1])
    equal, differs = set(), {}
    # While pagedet reads, it has more memory than when it waits; and a buffer of
    # ours waits for what it will say.
    busy = os.getpid(), top.process.pid
    if top.round() is None:
        sys.exit("there is no first round")
    for n in range(MOST):
        before = look(busy)
        rows = top.round()
        if rows is None:
            sys.exit("it has ended")
        after = look(busy)
        was, differs = differs, {}
        for pid, sums in before.items():
            if pid in equal or after.get(pid) != sums:
                continue
            row = rows.get(pid, {})
            wrong = [f"{name} is {row.get(name)} instead of {value}"
                     for name, value in sums.items()
                     if row.get(name) != str(value)]
            if not wrong:
                equal.add(pid)
                continue
            seen = (sums, row)
            count = was[pid][2] if was.get(pid, ())[:2] == seen else 0
            differs[pid] = (*seen, count + 1, ", ".join(wrong))
        if n + 1 >= ROUNDS and equal and \
                all(not 1 < d[2] < ENOUGH for d in differs.values()):
            break
    top.process.kill()
    top.process.wait()
    bad = {pid: d for pid, d in differs.items() if d[2] >= ENOUGH}
    for pid, difference in bad.items():
        print(f"{pid}: {difference[3]}")
    print(f"{len(equal)} are equal")
    sys.exit(1 if bad else 0 if equal else 2)


main()
