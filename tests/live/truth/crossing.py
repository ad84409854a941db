# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Tests snapshots across machines: one of a guest is read here, one of this
machine is read in the guest, and one of a dump is made here. The rows must be
the same each time."""
import json
import os
import subprocess
import tempfile

import machine

FIELDS = "all"
# Files in the guest. Each is written once, because a shorter file would keep
# the end of an older one.
THERE = "/tmp/rows.snapshot"
AGAIN = "/tmp/rows.again"
# The limit for a command, in seconds. The emulation is slow.
DEADLINE = 300


def pages(field):
    return ["page"] + ["%#x" % pfn for pfn in sorted(
        {p.pfn for p in field.plants.values() if p.pfn is not None})]


def run_here(program, *words):
    p = subprocess.run([program] + list(words), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=DEADLINE)
    return p.stdout, p.stderr, p.returncode


def rows_of(answer):
    """(rows, words for what went wrong)"""
    out, err, status = answer
    rows = [json.loads(line) for line in out.decode("utf-8", "replace")
            .splitlines()]
    return rows, [] if status in (0, 2) and rows else [
        "exit status %d, %d rows: %s" % (
            status, len(rows), err.decode("utf-8", "replace").strip())]


def compare(here, there, but=()):
    """Words for what is not the same of two answers, but these fields."""
    rows, wrong = rows_of(here)
    true, wrong_there = rows_of(there)
    wrong += wrong_there
    for row in rows + true:
        for name in but:
            row.pop(name, None)
    if len(rows) != len(true):
        wrong.append("%d rows, and %d there" % (len(rows), len(true)))
    return wrong + ["%s, and there it is %s" % (a, b)
                    for a, b in map(different, rows, true) if a != b][:3]


def different(row, other):
    """What of two rows is not the same."""
    return tuple({name: r.get(name) for name in {**row, **other}
                  if row.get(name) != other.get(name)}
                 for r in (row, other))


def reading(path):
    return ["--from", path, "--json", "scan", "--fields", FIELDS]


def check_guest(report, field, pagedet, here):
    """What it saves of its pages."""
    there = machine.there
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "rows")
        out, err, status = there.run(
            [pagedet.path, "--backend", there.source(), "snapshot", THERE] +
            pages(field) + ["--fields", FIELDS], DEADLINE)
        if status != 0:
            report.result("snapshot of the guest", ["exit status %d: %s" % (
                status, (out + err).decode("utf-8", "replace"))])
            return
        there.guest.read_to(THERE, path)
        report.result("snapshot of the guest, read here", compare(
            run_here(here, *reading(path)),
            there.run([pagedet.path] + reading(THERE), DEADLINE)))
        report.result("snapshot from here", compare(
            again(here, path, pagedet.path),
            run_here(here, *reading(path))))


def again(here, path, program):
    """Rows saved by this machine, as the guest reads them."""
    there = machine.there
    copy = path + ".again"
    saved = run_here(here, "--from", path, "snapshot", copy, "--fields",
                     FIELDS)
    if saved[2] not in (0, 2):
        return saved
    with open(copy, "rb") as f:
        there.guest.write(AGAIN, f.read())
    return there.run([program] + reading(AGAIN), DEADLINE)


def check_dump(report, field, pagedet):
    """A dump of any machine, saved here."""
    words = pages(field) + ["--fields", FIELDS]
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "rows")
        saved = machine.there.run([pagedet.path, "snapshot", path] + words,
                                  DEADLINE)
        report.result("snapshot of the dump", compare(
            run_here(pagedet.path, *reading(path)) if saved[2] in (0, 2)
            else saved,
            machine.there.run([pagedet.path, "--json"] + words, DEADLINE),
            # The time of the read differs.
            but=["time_ns"]))
