# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Tests poisoned pages, and pages that were moved away before a failure."""
from scene import Wrong

NODE = "/sys/kernel/debug/hwpoison/corrupt-pfn"
SOURCES = ("procfs", "bpf", "kcore")
ROW = "pfn,kind,flags,pte,mapcount,swap_type,swap_offset,content,notes"


def at(facts, n):
    return "%x" % (facts["vaddr"] + (n << 12))


def subject(scene, *words):
    """None where the kernel cannot do it."""
    facts = scene.start(*words)
    if not facts["error"]:
        return facts
    scene.end(facts)
    return None


# PFNs of the pages that this test poisoned.
broken = set()


def check_bad_page(scene, wrong, source, pfn):
    """A page that broke: said, counted once, and not read."""
    a = scene.ask("--backend", source, "page", pfn, "--fields", ROW, "--json")
    row = a.row()
    wrong.answered(a)
    wrong.unless("hwpoison" in row.get("flags", []), "no word of it", a)
    wrong.unless(row.get("mapcount") == 0, "it is mapped", a)
    wrong.lacks(row, "unsupported" if source == "procfs" else "unsafe",
                "content")
    broken.add(pfn)
    # The neighbour page is undamaged.
    if pfn ^ 1 in broken:
        return
    a = scene.ask("--backend", source, "page", "%d+1" % (pfn ^ 1), "--fields",
                  ROW, "--json")
    wrong.answered(a)
    wrong.unless("hwpoison" not in a.row().get("flags", ["hwpoison"]),
                 "its neighbour is", a)


def check_bad_entries(scene, wrong, source, facts):
    a = scene.ask("--backend", source, "virt", facts["pid"],
                  "%s+0x4000" % at(facts, 0), "--fields", ROW, "--json")
    wrong.answered(a)
    rows = a.rows()
    if not wrong.unless(len(rows) == 4, "%d rows" % len(rows), a):
        return
    for n, row in enumerate(rows):
        if n == 1:
            # The entry resembles a swap entry, but the page is not swapped out.
            wrong.is_(row, pfn=facts["was"][1], swap_type=None,
                      swap_offset=None)
            wrong.unless("hwpoison" in row["pte"] and
                         "present" not in row["pte"] and
                         "hwpoison" in row["flags"] and
                         "stale" in row["notes"], "no word of it", row)
            wrong.lacks(row, "unsafe", "content")
        else:
            wrong.is_(row, pfn=facts["is"][n], kind="anon", mapcount=1,
                      content="text")
            wrong.unless("present" in row["pte"] and
                         "hwpoison" not in row["flags"], "it is whole", row)


def check_poison(scene):
    facts = subject(scene, "poison")
    if not facts:
        scene.skip("hwpoison", "MADV_HWPOISON: Invalid argument")
        return
    pfn = facts["was"][1]
    for source in SOURCES:
        wrong = Wrong()
        check_bad_page(scene, wrong, source, pfn)
        scene.result("hwpoison: the page, " + source, wrong)
        wrong = Wrong()
        check_bad_entries(scene, wrong, source, facts)
        scene.result("hwpoison: who had it, " + source, wrong)
        wrong = Wrong()
        a = scene.ask("--backend", source, "scan", "--where",
                      "flags:hwpoison", "--json")
        wrong.answered(a)
        wrong.unless([row["pfn"] for row in a.rows()] == [pfn],
                     "not it alone", a)
        a = scene.ask("--backend", source, "mappers", pfn, "--json")
        # A reader of kernel memory also finds the direct map of the kernel.
        wrong.answered(a, 1 if source == "procfs" else 0)
        wrong.unless([row for row in a.rows() if row.get("map") == "user"]
                     == [], "somebody maps it", a)
        scene.result("hwpoison: found among all, " + source, wrong)
    scene.end(facts)
    check_injected(scene)
    check_bad_file(scene)


def check_injected(scene):
    """A page that breaks while nobody maps it."""
    if not scene.has(NODE):
        scene.skip("hwpoison: injected", "there is no " + NODE)
        return
    scene.must("echo words > /tmp/injected")
    pfn = scene.ask("file", "/tmp/injected", "--json").row()["pfn"]
    scene.must("echo %d > %s" % (pfn, NODE))
    for source in SOURCES:
        wrong = Wrong()
        check_bad_page(scene, wrong, source, pfn)
        scene.result("hwpoison: injected, " + source, wrong)


def check_bad_file(scene):
    """A page of a file that was clean: its page is gone from the file, and the
    file itself is not hurt."""
    path = "/disk/broken"
    scene.must("dd if=/dev/zero of=%s bs=4096 count=4 2> /dev/null; sync" %
               path)
    facts = scene.start("broken-file", path)
    for source in SOURCES:
        wrong = Wrong()
        check_bad_page(scene, wrong, source, facts["was"][1])
        a = scene.ask("--backend", source, "virt", facts["pid"],
                      "%s+0x4000" % at(facts, 0), "--fields", "cheap,index",
                      "--json")
        wrong.answered(a)
        for n, row in enumerate(a.rows()):
            if n != 1:
                wrong.is_(row, pfn=facts["is"][n], kind="file", index=n)
            else:
                wrong.is_(row, pfn=None, kind="untouched")
        scene.result("hwpoison: of a file, " + source, wrong)
    wrong = Wrong()
    a = scene.ask("file", path, "--json")
    wrong.answered(a)
    wrong.unless({row["index"]: row["pfn"] for row in a.rows()} ==
                 {n: facts["is"][n] for n in (0, 2, 3)},
                 "not the three that are left: %s" % facts, a)
    scene.result("hwpoison: a file without one of its pages", wrong)
    scene.end(facts)


def check_offline(scene):
    """The page is elsewhere, and what it was in stays unused."""
    facts = subject(scene, "offline")
    if not facts:
        scene.skip("soft-offline", "MADV_SOFT_OFFLINE: Invalid argument")
        return
    was, is_ = facts["was"][1], facts["is"][1]
    for source in SOURCES:
        wrong = Wrong()
        wrong.unless(was != is_, "the page did not move", facts)
        a = scene.ask("--backend", source, "virt", facts["pid"],
                      at(facts, 1), "--fields", ROW, "--json")
        wrong.answered(a)
        wrong.is_(a.row(), pfn=is_, kind="anon", content="text", mapcount=1)
        wrong.unless("hwpoison" not in a.row().get("flags", ["hwpoison"]),
                     "it is whole", a)
        scene.result("soft-offline: the page that moved, " + source, wrong)
        wrong = Wrong()
        check_bad_page(scene, wrong, source, was)
        scene.result("soft-offline: where it was, " + source, wrong)
    scene.end(facts)
