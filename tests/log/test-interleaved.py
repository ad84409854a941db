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
          "alloc_pid,alloc_stack,notes")

tap = Tap()
stacks = {}     # of reports that are alone


def judge(mode, first, rows, begins):
    """(number of facts found, of all facts, what is wrong)."""
    wrong, found, all_facts = [], 0, 0
    reports = set(begins.values())
    seen = set()
    for row in rows:
        right = begins[row["event_ns"] // 1000]
        facts = right.says | {"pfn": right.pfn}
        for field, truth in facts.items():
            got = row.get(field)
            if got is not None and got != [] and got != truth and not (
                    # the entry is in the first line, the rest may be lost
                    field == "reason" and truth.endswith("; " + got)):
                wrong.append((row, field, got, truth))
        for field in ("comm", "pid", "vaddr", "alloc_pid"):
            if row.get(field) is not None and field not in facts:
                wrong.append((row, field, row[field], None))
        stack = row.get("alloc_stack")
        if mode == "alone":
            stacks[first, right.pfn] = stack
        elif stack is not None and stack != stacks[first, right.pfn]:
            wrong.append((row, "alloc_stack", stack, stacks[first, right.pfn]))
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
    return found, all_facts, wrong, len(reports - seen)


def run(mode, count):
    found = all_facts = lost = 0
    wrong = []
    for first in range(0, count, AT_A_TIME):
        text, begins = logs(SEED + first, min(AT_A_TIME, count - first), mode)
        status, rows, _ = ask("from-log", "--text-only", "--fields", FIELDS,
                              "-", stdin=text.encode())
        has, of, bad, gone = judge(mode, first, rows, begins)
        found += has
        all_facts += of
        wrong += bad
        lost += gone
        if status != (2 if any(r.get("notes") for r in rows) else 0):
            wrong.append(("status", status))
    print(f"# {mode}: {found} of {all_facts} facts, {lost} reports lost")
    tap.is_true(f"{mode}: nothing is wrong", not wrong, len(wrong),
                json.dumps(wrong[:3], default=str))
    return found / all_facts, lost


tap.equal("alone: all facts", run("alone", COUNT), (1, 0))
tap.equal("tagged: all facts", run("tagged", min(COUNT, 600)), (1, 0))
share, lost = run("mixed", COUNT)
tap.is_true("mixed: most facts are there", share >= .7, share)
tap.equal("mixed: each report has a row", lost, 0)
tap.end()
