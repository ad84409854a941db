# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Tests hashes of one run, which have one key: equal pages have equal hashes,
and different pages have different ones. The planter's fingerprints tell which
pages are equal."""
import itertools

import ask
import checks
import machine


def has_hash(plant):
    return plant.word("fnv1a64") is not None and plant.pfn is not None and \
        checks.lost_content(plant, {}) is None


def check(report, pagedet, field):
    # procfs has no bytes of page frames.
    if machine.there.source() == "procfs":
        return
    for _ in range(ask.TRIES):
        field.again()
        plants = [p for p in field.plants.values() if has_hash(p)]
        before = [ask.look(p)[:2] for p in plants]
        rows, status, err = pagedet.run(
            "--json", "--fields", "hash", "page",
            *["%#x" % p.pfn for p in plants])
        if before == [ask.look(p)[:2] for p in plants]:
            break
    else:
        report.result("hashes", ["pages moved %d times" % ask.TRIES])
        return
    wrong = [] if status == 0 and len(rows) == len(plants) else [
        "exit status %d, %d rows of %d: %s" % (status, len(rows),
                                               len(plants), err.strip())]
    report.result("hashes", wrong or differences(plants, rows))


def differences(plants, rows):
    known = [(p.name, p.word("fnv1a64"), row.get("hash"))
             for p, row in zip(plants, rows)]
    wrong = ["%s: no hash" % name for name, _, hash_ in known if not hash_]
    pairs = list(itertools.combinations(known, 2))
    wrong += ["%s and %s: %s and %s" % (a[0], b[0], a[2], b[2])
              for a, b in pairs
              if a[2] and b[2] and (a[1] == b[1]) != (a[2] == b[2])]
    # A run without both kinds of pairs compared nothing.
    wrong += ["no two pages are %s" % what for what, same in
              (("equal", True), ("different", False))
              if same not in {a[1] == b[1] for a, b in pairs}]
    return wrong
