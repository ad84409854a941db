#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log
"""Tests kernel logs of users: nothing in the rows, the short form or explain's
answer may be wrong.
"""
import os
import shutil
import subprocess
import tempfile

from captures import Tap, ask, command
from real_reports import LIKELY, REPORTS

WHYS = "free,migrate,pinned,reclaim,charge,poison,leak"

tap = Tap()
tmp = tempfile.mkdtemp()
tap.is_true("there are thirty of them", len(REPORTS) >= 30, len(REPORTS))


def value(row, field):
    if field == "starts":
        return row.get("reason", "")
    missing = row.get("missing", {}).get(field)
    return missing if missing in ("unsupported", "io", "corrupt") else row.get(field)


def agrees(row, right):
    wrong = {}
    for field, is_right in right.items():
        got = value(row, field)
        # The truth does not list the fields lost with part of a report.
        same = got.startswith(is_right) if field == "starts" else \
            got == is_right or (is_right == "unsupported" and got == "io")
        if not same:
            wrong[field] = got
    return wrong


for n, (name, text, right, cause) in enumerate(REPORTS):
    path = os.path.join(tmp, f"{n}.log")
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    status, rows, said = ask("from-log", "--text-only", path)
    tap.equal(f"{name}: the reports", [r["report"] for r in rows],
              [r["report"] for r in right])
    tap.equal(f"{name}: what they say",
              [agrees(a, b) for a, b in zip(rows, right)], [{}] * len(right))
    short = subprocess.run([command, "-q", "from-log", "--text-only", path],
                           capture_output=True, check=False)
    lines = short.stdout.decode().split("\n\n")[0].splitlines()
    tap.equal(f"{name}: a line each", (len(lines), short.returncode),
              (len(right), status))
    for row in rows:
        if "pfn" not in row:
            continue
        status, found, said = ask("--from", path, "explain", str(row["pfn"]),
                                  "--why", WHYS)
        # A report of a bad page explains nothing else.
        right_words = ["the kernel found it in a state"] \
            if row["report"] == "bad_page_state" else \
            ["memory error"] if cause == "poison" else []
        wrong = [f for f in found
                 if f["confidence"] in ("certain", "high", "medium") and
                 not any(word in f["cause"] for word in right_words)]
        tap.is_true(f"{name}: explain {row['pfn']:#x} says nothing wrong",
                    status in (0, 1, 2) and found and not wrong, status, wrong,
                    said)
        if row["report"] != "bad_page_state":
            continue
        lead = found[0]
        reason = row.get("reason", "")
        tap.is_true(f"{name}: explain {row['pfn']:#x} says the kernel's reason "
                    "first", lead["cause"].startswith(
                        f"bad page state: {reason}; " if reason else
                        "the kernel found it"), lead)
        likely = [LIKELY[part] for part in LIKELY if part in name]
        tap.is_true(f"{name}: explain {row['pfn']:#x} says what is likely",
                    likely[0] in lead.get("likely", "") if likely else
                    not lead.get("likely"), lead)
        tap.is_true(f"{name}: nothing says that its struct page is damaged",
                    "overwritten" in reason or "damaged" not in str(found),
                    found)

shutil.rmtree(tmp)
tap.end()
