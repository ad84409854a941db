#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log
"""Tests logs in which several processors print reports at the same time: no row
has a fact of another report, and a row that lacks one says so.

INTERLEAVED is the number of logs, INTERLEAVED_SEED the first seed.
"""
import json
import os

from captures import Tap, ask
from interleave import logs

COUNT = int(os.environ.get("INTERLEAVED", "600"))
SEED = int(os.environ.get("INTERLEAVED_SEED", "1"))
AT_A_TIME = 200
FIELDS = ("report,event_ns,pfn,comm,pid,vaddr,raw_flags,flags,refcount,reason,"
          "slab_cache,alloc_pid,alloc_ns,free_ns,alloc_stack,free_stack,notes")
STACKS = "alloc_stack", "free_stack"

tap = Tap()
alone = {}      # stacks and reasons of reports that are alone


def is_part(field, got, truth):
    """The first line has the entry of a bad map, and parts of other reasons;
    the rest may be lost."""
    return field == "reason" and set(got.split("; ")) <= set(truth.split("; "))


def judge(mode, first, rows, begins):
    """(number of facts found, of all facts, what is wrong)."""
    wrong, found, all_facts = [], 0, 0
    reports = set(begins.values())
    seen = set()
    for row in rows:
        right = begins[row["event_ns"] // 1000]
        who = first, right.number
        if row["report"] == right.report:
            if mode == "alone":
                alone[who] = {f: row.get(f) for f in (*STACKS, "reason")}
            if "reason" in right.says and not right.says["reason"]:
                right.says["reason"] = alone[who]["reason"]
        facts = right.says | {"pfn": right.pfn}
        for field, truth in facts.items():
            got = row.get(field)
            if got is not None and got != [] and got != truth and \
                    not is_part(field, got, truth):
                wrong.append((row, field, got, truth))
        for field in ("comm", "pid", "vaddr", "alloc_pid", "slab_cache",
                      "alloc_ns", "free_ns"):
            if row.get(field) is not None and field not in facts:
                wrong.append((row, field, row[field], None))
        for field in STACKS:
            if row.get(field) not in (None, alone[who][field]):
                wrong.append((row, field, row[field], alone[who][field]))
        if row["report"] != right.report:
            continue
        if right in seen:
            wrong.append((row, "two rows"))
        seen.add(right)
        has = sum(row.get(f) == v for f, v in right.says.items())
        found += has
        if has < len(right.says) and "partial" not in row.get("notes", []):
            wrong.append((row, "not said to be partial"))
    for right in reports:
        all_facts += len(right.says)
    # One that waits names no page: a row needs its frame.
    return found, all_facts, wrong, sum(
        r.report != "hung_task" or mode != "mixed" for r in reports - seen)


def run(mode, count):
    found = all_facts = lost = 0
    wrong = []
    for first in range(0, count, AT_A_TIME):
        text, begins = logs(SEED + first, min(AT_A_TIME, count - first), mode)
        status, rows, _ = ask("from-log", "--text-only", "--pointers",
                              "--fields", FIELDS, "-", stdin=text.encode())
        has, of, bad, gone = judge(mode, first, rows, begins)
        found += has
        all_facts += of
        wrong += bad
        lost += gone
        if status != (2 if any("partial" in r.get("notes", [])
                               for r in rows) else 0):
            wrong.append(("status", status))
    print(f"# {mode}: {found} of {all_facts} facts, {lost} reports lost")
    tap.is_true(f"{mode}: nothing is wrong", not wrong, len(wrong),
                json.dumps(wrong[:3], default=str))
    return found / all_facts, lost


# --- reports that stay open ---


def bad_map(n, task=True, address=True):
    """One report, as lines. The last of them, or some, may be filtered out."""
    lines = [f"BUG: Bad page map in process prog{n}  pte:8000000{n}bd9e5227 "
             "pmd:1b0d4c067",
             "page: refcount:2 mapcount:-1 mapping:0000000000000000 "
             f"index:0x{n}0 pfn:0x{n}bd9e5",
             "flags: 0x17ffffc0000000(node=0|zone=2|lastcpupid=0x1fffff)",
             "raw: 0017ffffc0000000 dead000000000100 dead000000000122 "
             "0000000000000000",
             f"raw: 0000000000000{n}00 0000000000000000 00000002fffffffe "
             "0000000000000000",
             "page dumped because: bad pte"]
    if address:
        lines += [f"addr:00007f{n}bbd2a1000 vm_flags:08100073 anon_vma:"
                  f"ffff8881b5a3e{n}a8 mapping:0000000000000000 "
                  f"index:7f{n}bbd2a1",
                  "file:(null) fault:0x0 mmap:0x0 read_folio:0x0"]
    if task:
        lines += [f"CPU: 1 PID: 44{n}1 Comm: prog{n} Not tainted 6.1.0 #1"]
    return lines


def bad_state(n):
    """Before 3.15 there is no reason, and before 3.10 there is no task on many
    machines."""
    return [f"BUG: Bad page state in process prog{n}  pfn:0{n}e44",
            f"page:c077{n}840 count:0 mapcount:-{n} mapping:  (null) "
            f"index:0x{n}",
            "page flags: 0x40000400(reserved)", "Modules linked in:",
            f"[<c00{n}5f0>] (unwind_backtrace+0x0/0x11c) from [<c000cbc4>] "
            "(show_stack+0x10/0x14)"]


def after(name, lines, count):
    """The report after them is whole, and no row is made of a part of it."""
    lines += bad_map(9)
    text = "".join(f"[{i + 1:5}.000001] {line}\n"
                   for i, line in enumerate(lines))
    _, rows, _ = ask("from-log", "--text-only", "-", stdin=text.encode())
    tap.equal(f"after {name}: the rows", (len(rows), {
        k: rows[-1].get(k) for k in ("comm", "pid", "pfn", "vaddr", "refcount",
                                     "mapcount", "notes", "report")}),
              (count, {"comm": "prog9", "pid": 4491, "pfn": 0x9bd9e5,
                       "vaddr": "0x7f9bbd2a1000", "refcount": 2,
                       "mapcount": -1, "notes": [],
                       "report": "bad_page_map"}))


for n in range(1, 9):
    maps = range(1, n + 1)
    after(f"{n} reports without tasks",
          sum((bad_map(i, task=False) for i in maps), []), n + 1)
    # Lines of their addresses, which have no name, could follow.
    if n < 4:
        after(f"{n} reports that end with the block",
              sum((bad_map(i, task=False, address=False) for i in maps), []),
              n + 1)
    after(f"{n} failed migrations without a block",
          [f"migrating pfn {i}bd9e5 failed ret:1" for i in maps], n + 1)
    after(f"{n} first lines", [bad_map(i)[0] for i in maps], n + 1)
    after(f"{n} first lines of bad states",
          [f"BUG: Bad page state in process prog{i}  pfn:{i}bd9e5"
           for i in maps], n + 1)
    after(f"{n} reports without tasks, and {n} first lines",
          sum((bad_map(i, task=False) for i in maps), []) +
          [f"BUG: Bad page state in process prog{i}  pfn:{i}ad9e5"
           for i in maps], 2 * n + 1)

for n in range(2, 9):
    _, rows, _ = ask("from-log", "--text-only", "-", stdin="\n".join(
        sum((bad_state(i) for i in range(1, n + 1)), [])).encode())
    tap.equal(f"{n} reports of an old kernel: the rows",
              [(r.get("pfn"), r.get("comm"), r.get("mapcount"), r.get("flags"),
                r["notes"]) for r in rows],
              [(i << 12 | 0xe44, f"prog{i}", -i, ["reserved"], [])
               for i in range(1, n + 1)])

tap.equal("alone: all facts", run("alone", COUNT), (1, 0))
tap.equal("tagged: all facts", run("tagged", min(COUNT, 600)), (1, 0))
share, lost = run("mixed", COUNT)
tap.is_true("mixed: most facts are there", share >= .7, share)
tap.equal("mixed: each report has a row", lost, 0)
tap.end()
