# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Reads claims.tsv: the fields that must be claimed."""
import os

import machine
import page_owner
import words
from tap import Unclaimed

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                    "claims.tsv")


def is_member(plant, name):
    """Whether a plant is in the class or list of the first column."""
    if name == "@addressed":
        return plant.vaddr is not None
    if name == "@mapped":
        return plant.vaddr is not None and plant.said.get("vma") is not None
    if name == "@present":
        return plant.pfn is not None
    if name == "@held":
        return plant.pfn is not None and not plant.is_io and \
            not plant.is_poisoned
    if name == "@file":
        return bool(plant.file)
    if name == "@charged":
        return "memcg_ino" in plant.expect and plant.pfn is not None
    return plant.name in name.split(",")


def has_feature(name, plant):
    """Whether this kernel has what a claim depends on."""
    if name == "any":
        return True
    if name == "pagemap_scan":
        return machine.there.source() == "procfs" and \
            machine.there.is_live() and release() >= (6, 7) and \
            machine.there.arch() in ("x86_64", "aarch64")
    if name == "kernel":
        return machine.there.has_kernel()
    if name == "memory":
        return machine.there.source() not in ("procfs", "page_detective")
    if name == "page_owner":
        return has_feature("page_owner_memory", plant) or \
            machine.there.with_owners and \
            page_owner.owners.of(plant.pfn) is not None
    if name == "page_owner_memory":
        return has_feature("memory", plant) and page_owner.owners.are_told()
    if name == "kernel_or_small":
        return machine.there.has_kernel() or \
            plant.said.get("folio_order") == 0
    if name == "one_zone":
        return len(words.zones_of(plant.pfn)) == 1
    if name == "kpagecgroup":
        return words.read_word("/proc/kpagecgroup", 0) is not None
    raise SystemExit("Bail out! claims.tsv: no such feature: " + name)


def release():
    """Only tells which claims to expect; the library must not use it."""
    return tuple(int(x) for x in machine.there.release().split(".")[:2])


def read():
    with open(PATH) as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            parts = line.rstrip("\n").split("\t")
            if len(parts) != 6:
                raise SystemExit("Bail out! claims.tsv: %r" % line)
            yield parts


def is_asked(source):
    """The driver has claims of its own; the others are of those that know
    what the kernel's files tell."""
    return source == "derived" or (source == "page_detective") == \
        (machine.there.source() == "page_detective")


def check(field, plant, how, row):
    """Words for every claim that is required and not made."""
    wrong = []
    for who, ways, source, feature, name, _ in read():
        if not is_member(plant, who) or how not in ways.split(",") or \
                not is_asked(source) or not has_feature(feature, plant):
            continue
        if name not in row:
            wrong.append(Unclaimed("%s is not claimed (%s)" % (
                name, row.get("missing", {}).get(name, "not even missing"))))
            continue
        got = row.get("source", {}).get(name)
        good = [machine.there.source() if who == "procfs" else who
                for who in source.split("|")]
        if got not in good:
            wrong.append("%s comes from %s, not %s" % (name, got, good))
    return wrong


def check_all_used(report, field):
    """A claim that no plant can prove proves nothing."""
    wrong = []
    for who, ways, source, feature, name, _ in read():
        names = [n for n in who.split(",") if not n.startswith("@")]
        wrong += ["%s: there is no such plant" % n for n in names
                  if n not in field.plants and n not in field.skipped]
    report.result("every claim has a plant", sorted(set(wrong)))
