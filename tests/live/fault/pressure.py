# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Tests pages that appear and vanish while they are queried."""
import collections

from scene import Wrong

CGROUP = "/sys/fs/cgroup/testcg/small"
PAGES = 4000
ROUNDS = 3
ROW = "pfn,kind,flags,mapcount,pte,swap_offset,notes"
# No page is this, however often it changes: what was read at two times must
# not be put together as if it were of one.
NEVER = ["kind=free and mapcount>0", "flags:buddy and flags:lru",
         "flags:buddy and flags:anon", "flags:buddy and flags:slab",
         "kind=slab and flags:lru"]
# The only valid reason for losing a field under pressure.
LOST = {"raced"}


def impossible(row):
    """What cannot be true of one moment."""
    flags, pte = row.get("flags") or [], row.get("pte") or []
    lost = set(row.get("missing", {}).values()) - LOST
    wrong = ["a field is missing: %s" % lost] if lost else []
    notes = row.get("notes") or []
    if "present" in pte and "swapped" in pte:
        wrong.append("present and swapped out")
    if "torn" in notes or "stale" in notes:
        return wrong
    # The test wrote to each page.
    if "present" not in pte and "swapped" not in pte and \
            row["kind"] != "unknown":
        wrong.append("neither a page nor swapped out")
    if "present" in pte and row.get("missing", {}).get("kind") is None:
        if row["kind"] not in ("anon", "zero"):
            wrong.append("mapped, and its kind is %s" % row["kind"])
        if row["kind"] == "anon" and "mapcount" in row and \
                row["mapcount"] == 0:
            wrong.append("mapped, and not mapped")
    if "swapped" in pte and row.get("pfn") is not None:
        wrong.append("swapped out, and still a page")
    if "swapped" in pte and row.get("swap_offset") is None:
        wrong.append("swapped out, to nowhere")
    if "buddy" in flags and row.get("mapcount"):
        wrong.append("free and mapped")
    return wrong


def ask_virt(scene, facts, source, counts):
    wrong = Wrong()
    a = scene.ask("--backend", source, "virt", facts["pid"], "%x+0x%x" % (
        facts["vaddr"], PAGES << 12), "--fields", ROW, "--json")
    wrong.answered(a)
    rows = a.rows()
    wrong.unless(len(rows) == PAGES, "%d rows for %d pages" % (
        len(rows), PAGES), a.err)
    for row in rows:
        for word in (row.get("pte") or []) + (row.get("notes") or []):
            counts[word] += 1
        wrong += ["%s: %s" % (what, row) for what in impossible(row)][:3]
    return wrong[:20]


def ask_scan(scene, source):
    wrong = Wrong()
    for never in NEVER:
        a = scene.ask("--backend", source, "scan", "--where", never,
                      "--fields", "pfn,kind,flags,mapcount,notes", "--json")
        rows = [row for row in a.rows()
                if "torn" not in (row.get("notes") or [])]
        wrong.unless(a.status in (0, 1), "no answer", a)
        wrong.unless(not rows, never, a)
    return wrong


def check(scene):
    swap = scene.must("cat /sys/class/zram-control/hot_add").strip()
    scene.must("mkdir -p %s; echo 5M > %s/memory.high\n"
               "echo 32M > /sys/block/zram%s/disksize\n"
               "mkswap /dev/zram%s > /dev/null; swapon /dev/zram%s" % (
                   CGROUP, CGROUP, swap, swap, swap))
    facts = scene.start("thrash", PAGES, CGROUP + "/cgroup.procs")
    for source in ("procfs", "bpf", "kcore"):
        counts = collections.Counter()
        wrong = Wrong()
        for _ in range(ROUNDS):
            wrong += ask_virt(scene, facts, source, counts)
        print("# %s: %s" % (source, dict(counts)))
        wrong.unless(counts["present"] and counts["swapped"],
                     "memory is not short: %s" % dict(counts))
        scene.result("memory pressure: a task, " + source, wrong)
        scene.result("memory pressure: all pages, " + source,
                     ask_scan(scene, source))
    scene.end(facts)
