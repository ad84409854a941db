# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Counts all of memory per set of flags, with pagedet and page-types.

The machine keeps working between counts. Each program therefore counts twice,
in turn, and the two may differ only as much as a program differs from itself.
Something that takes much memory and gives it back may do so each time between
the same two counts. Then the programs go on counting, a few times.
"""
import os
import subprocess

import machine
import words
from words import KPF

# These flags stay the same during four counts. page-types shows them as the
# kernel does.
STEADY = ("slab buddy anon swapbacked compound_head compound_tail huge nopage "
          "thp offline zero_page pgtable reserved mlocked").split()
# Tolerate changes of this many pages, and of this part of the larger count.
SLACK = 4096
PART = 0.02
# how often each counts, at most
ROUNDS = 6
# The number of words in one read.
WORDS = 1 << 13


def find_page_types(*how):
    top = os.environ.get("top_srcdir", os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
    p = subprocess.run([os.path.join(top, "scripts/build-page-types"), *how],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        return None, p.stderr.decode().strip().splitlines()[0]
    return p.stdout.decode().strip(), None


def canonical(names):
    names = set(names) & set(STEADY)
    # The mapping of a slab page is a list. Kernels that take the list for a
    # mapping report anon.
    if "slab" in names:
        names -= {"anon"}
    return frozenset(names)


def count_page_types(program):
    """Its raw flags, one line a set: "0x0000000000000400  1234  4 ___ name"."""
    out, err, status = machine.there.run([program, "-r"], 300)
    if status:
        raise SystemExit("Bail out! page-types: " + err.decode())
    counts = {}
    for line in out.decode().splitlines():
        parts = line.split()
        if len(parts) < 2 or not parts[0].startswith("0x"):
            continue
        word = int(parts[0], 16)
        key = canonical(n for n, bit in KPF.items() if word >> bit & 1)
        counts[key] = counts.get(key, 0) + int(parts[1])
    return counts


def count_pagedet(pagedet):
    rows, status, err = pagedet.run("--json", "--by", "flags", "scan")
    counts = {}
    lazy = False
    for row in rows:
        if "total" in row:
            continue
        # An uninitialized struct page has no flags, and the file shows 0.
        lazy |= row["flags"] is None
        key = canonical(row["flags"] or ())
        counts[key] = counts.get(key, 0) + row["pages"]
    return counts, lazy, status, err


def empty_words():
    """Words without a flag where there is no memory. Kernels that have
    dropped NOPAGE (6.18) say nothing of a hole; page-types takes that for a
    page."""
    n = 0
    for first, last in words.gaps():
        for pfn in range(first, last + 1, WORDS):
            data, = machine.there.pread(
                ("/proc/kpageflags", pfn * 8,
                 min(WORDS, last + 1 - pfn) * 8))
            n += memoryview(data or b"").cast("Q").tolist().count(0)
    return n


def hide_reserved(counts):
    """Kernels that set up struct pages when they are needed say nothing of
    those for which the time has not come, not even where they gave some away
    while they started."""
    reserved = counts.pop(frozenset(["reserved"]), 0)
    counts[frozenset()] = counts.get(frozenset(), 0) + reserved


def disagreements(theirs, ours):
    """{set of flags: words for what is wrong}. Memory changes between two
    counts: how much, they tell themselves."""
    found = {}
    for key in set().union(*theirs, *ours):
        # pagedet does not walk pfns without memory.
        if key == frozenset(["nopage"]):
            continue
        t = [c.get(key, 0) for c in theirs]
        o = [c.get(key, 0) for c in ours]
        room = max(t) - min(t) + max(o) - min(o) + SLACK + PART * max(t + o)
        found[key] = [] if min(t) - room <= sum(o) / len(o) <= \
            max(t) + room else ["%s pages, but page-types counts %s" % (o, t)]
    return found


def check(report, pagedet, program):
    theirs, ours = [], []
    holes = empty_words()
    for n in range(ROUNDS):
        theirs.append(count_page_types(program))
        theirs[-1][frozenset()] = theirs[-1].get(frozenset(), 0) - holes
        counts, lazy, status, err = count_pagedet(pagedet)
        if status:
            report.result("page-types", ["exit status %d: %s" % (status,
                                                                 err)])
            return
        ours.append(counts)
        if machine.there.source() != "procfs" and lazy:
            hide_reserved(theirs[-1])
            hide_reserved(ours[-1])
        found = disagreements(theirs, ours)
        if n and not any(found.values()):
            break
    for key in sorted(found, key=sorted):
        report.result("page-types: " + (" ".join(sorted(key)) or "no flag"),
                      found[key])
