# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""One function per field: what may be claimed of a plant. A claimed field
without a function here fails, so that nothing goes unchecked.

Each function takes (field, plant, row, value) and returns a text if @value is
wrong.
"""
import os
import re

import content
import machine
from words import (BIT34, FLAGS, KINDS, KPF, PTE, PTE_NAMES, RESTLESS,
                   cgroup_inodes, node_of, zones_of)

REASONS = ("unsupported not_built no_kernel no_access no_types old_row "
           "too_costly excluded raced corrupt io no_memory denied unsafe "
           "timeout hidden").split()
NOTES = ("torn perturbed estimated partial stale undecided unchecked "
         "changed earlier_boot time_went_back "
         "new_boot").split()

CHECKS = {}


def check(name):
    def remember(fn):
        CHECKS[name] = fn
        return fn
    return remember


def differ(value, truth):
    if value != truth or isinstance(value, bool) != isinstance(truth, bool):
        return "%r, but %r is true" % (value, truth)
    return None


def is_hex(value, truth):
    if not isinstance(value, str) or not re.fullmatch("0x[0-9a-f]+", value):
        return "%r is no hex string" % (value,)
    return differ(int(value, 16), truth)


def is_no_page(row):
    """No frame, or one without memory."""
    return row["_pfn"] is None or None in row["_count"]


# One pin adds this to refcount: GUP_PIN_COUNTING_BIAS in include/linux/mm.h.
PIN = 1024

# Only a query by address has values for these fields.
OF_ADDRESS = set("pid tgid comm vaddr pte pte_level swap_type swap_offset "
                 "vma_start vma_end vma_prot vma_name".split())
# Only other kinds of queries fill these fields.
ELSEWHERE = {"alloc_bytes", "alloc_cpu", "alloc_requested", "alloc_site", "at",
             "event", "event_cache", "event_comm", "event_cpu", "event_family",
             "event_lost", "event_ns", "event_site", "event_tid", "heat",
             "heat_age", "heat_bytes", "heat_checks", "heat_ns", "map",
             "object", "object_state", "reads", "reason", "report", "writes"}


# --- row ---

@check("ask")
def check_ask(field, plant, row, value):
    return differ(value, 0)


@check("pages")
def check_pages(field, plant, row, value):
    return differ(value, 1)


@check("time_ns")
def check_time(field, plant, row, value):
    first, last = row["_asked"]
    if not isinstance(value, int) or not first <= value <= last:
        return "%r is not between %d and %d" % (value, first, last)
    return None


@check("notes")
def check_notes(field, plant, row, value):
    if not isinstance(value, list):
        return "%r is no list" % (value,)
    strange = set(value) - set(NOTES)
    if strange:
        return "there are no notes %s" % sorted(strange)
    # settled() repeated the query until the kernel's words stopped changing.
    if "torn" in value:
        return "torn, but the words did not change"
    return None


# --- page ---

@check("pfn")
def check_pfn(field, plant, row, value):
    return differ(value, row["_pfn"])


@check("head_pfn")
def check_head(field, plant, row, value):
    if is_no_page(row):
        return differ(value, None)
    return differ(value, plant.said.get("folio"))


@check("order")
def check_order(field, plant, row, value):
    if is_no_page(row):
        return differ(value, None)
    return differ(value, plant.expect.get("order",
                                          plant.said.get("folio_order")))


@check("kind")
def check_kind(field, plant, row, value):
    if value not in KINDS:
        return "there is no kind %r" % (value,)
    if value not in plant.expect["kind"].split("|") and not (
            value == "unknown" and is_lost_zero(plant)):
        return "%r, but it was made as %r" % (value, plant.expect["kind"])
    return None


def is_memory():
    """Whether the kernel's own memory is asked."""
    return machine.there.has_kernel() and machine.there.source() not in (
        "procfs", "page_detective")


def is_lost_zero(plant):
    """Where the huge zero page is, only data of the kernel say, and no symbol
    of some dumps' kernels says where these are."""
    return plant.name == "thp_zero" and is_memory() and \
        not machine.there.names_data()


def untold_bits(plant):
    """Bits of flags and entries that files do not tell: what they mean, or
    whether there are such bits at all, depends on the kernel."""
    if not machine.there.has_kernel():
        return {"idle", "ksm", "soft_dirty", "uffd_wp", "written"}
    if not is_memory():
        return set()
    # The idle flag may be stale until somebody reads the idle bitmap.
    untold = {"idle"}
    if machine.there.arch() == "aarch64":
        # The kernel does not tell which bit is uffd_wp on arm64.
        untold.add("uffd_wp")
    return untold | {"zero_page", "thp", "mmap"} if is_lost_zero(plant) else \
        untold


def check_names(value, unknown, names):
    strange = (set(value) | set(unknown)) - set(names)
    if strange:
        return "no such names: %s" % sorted(strange)
    if set(value) & set(unknown):
        return "set and unknown: %s" % sorted(set(value) & set(unknown))
    return None


@check("flags")
def check_flags(field, plant, row, value):
    unknown = row.get("flags_unknown", [])
    e = plant.expect
    if row["_pfn"] is None:
        return differ(value, None)
    wrong = check_names(value, unknown, FLAGS)
    if wrong:
        return wrong
    untold = untold_bits(plant)
    if row["source"]["flags"] == "procfs":
        # These bits of kpageflags prove nothing about this plant.
        untold |= set(e.get("flags_unknown", []))
    is_set, is_clear = (set(e.get(key, [])) - untold
                        for key in ("flags_set", "flags_clear"))
    missing = is_set - set(value)
    if missing:
        return "lacks %s" % sorted(missing)
    too_many = is_clear & set(value)
    if too_many:
        return "has %s" % sorted(too_many)
    lost = (is_set | is_clear) & set(unknown)
    if lost:
        return "does not know %s" % sorted(lost)
    guessed = set(e.get("flags_unknown", [])) & untold - set(unknown)
    if guessed:
        return "cannot know %s" % sorted(guessed)
    return check_word(field, value, unknown, row["_flags"])


def check_word(field, value, unknown, words):
    """Every bit against the kernel's word, before and after."""
    before, after = words
    for name, bit in KPF.items():
        bits = {before >> bit & 1, after >> bit & 1}
        if name in unknown or len(bits) == 2 or name in RESTLESS or \
                (name == "ksm" and field.facts["ksm_lies"]):
            continue
        if (name in value) != bool(bits.pop()):
            return "%s is %s, in the word %#x it is not" % (
                name, "set" if name in value else "clear", after)
    if before & after & 1 << 34 and \
            not set(BIT34) & (set(value) | set(unknown)):
        return "nothing is said of bit 34 in %#x" % after
    if "anon_exclusive" in value and "anon" not in value:
        return "anon_exclusive, but it is not anonymous"
    return None


# Bit numbers in the kernel (include/linux/page-flags.h): before 6.10, and
# since.
RAW_BITS = ({"uptodate": 2, "dirty": 3, "lru": 4},
            {"uptodate": 3, "dirty": 4, "lru": 5})


@check("raw_flags")
def check_raw_flags(field, plant, row, value):
    if is_no_page(row):
        return differ(value, None)
    if not isinstance(value, str) or not re.fullmatch("0x[0-9a-f]+", value):
        return "%r is no hex string" % (value,)
    release = machine.there.release().split(".")
    bits = RAW_BITS[list(map(int, release[:2])) >= [6, 10]]
    if plant.said.get("folio") != row["_pfn"]:
        return None     # a tail's own word says next to nothing
    before, after = row["_flags"]
    for name, bit in bits.items():
        if name not in RESTLESS and before >> KPF[name] & 1 == \
                after >> KPF[name] & 1 != int(value, 16) >> bit & 1:
            return "%s is not as in %#x" % (name, after)
    return None


@check("refcount")
def check_refcount(field, plant, row, value):
    if is_no_page(row):
        return differ(value, None)
    if "refcount" in plant.expect:
        return differ(value, plant.expect["refcount"])
    return None if isinstance(value, int) and value > 0 else "%r" % (value,)


@check("pincount")
def check_pincount(field, plant, row, value):
    if is_no_page(row):
        return differ(value, None)
    return differ(value, plant.expect.get("refcount", 0) // PIN)


@check("slab_cache")
def check_slab_cache(field, plant, row, value):
    # No plant is a slab page of the kernel.
    return differ(value, None)


@check("mapcount")
def check_mapcount(field, plant, row, value):
    if is_no_page(row):
        return differ(value, None)
    if "mapcount" in plant.expect:
        return differ(value, plant.expect["mapcount"])
    # Every program maps the vdso and libc, and so does pagedet itself.
    if not min(row["_count"]) <= value <= max(row["_count"]) + 1:
        return "%r, but the kernel counts %s" % (value, row["_count"])
    return None


@check("mapcount_kind")
def check_mapcount_kind(field, plant, row, value):
    if is_no_page(row):
        return differ(value, None)
    # The average mapcount of a huge page is still 1 after one page was freed.
    order = plant.said.get("folio_order")
    return differ(value, "exact") if order == 0 else (
        None if value in ("exact", "average") else "%r is no kind" % value)


@check("node")
def check_node(field, plant, row, value):
    if row["_pfn"] is None:
        return differ(value, None)
    return differ(value, plant.said.get("node", node_of(row["_pfn"])))


@check("zone")
def check_zone(field, plant, row, value):
    if row["_pfn"] is None:
        return differ(value, None)
    zones = zones_of(row["_pfn"])
    if value not in (zones or [None]):
        return "%r, but the page lies in %s" % (value, zones)
    return None


# --- memcg ---

@check("memcg_ino")
def check_memcg_ino(field, plant, row, value):
    if row["_pfn"] is None:
        return differ(value, None)
    if "memcg_ino" in plant.expect:
        return differ(value, plant.expect["memcg_ino"])
    if value is None:
        # No value is right only if the kernel reports 0 and may know the
        # cgroup.
        return None if 0 in row["_cgroup"] else \
            "nothing, but the kernel says %s" % (row["_cgroup"],)
    if value not in row["_cgroup"]:
        return "%r, but the kernel says %s" % (value, row["_cgroup"])
    return None


OFFLINE = " (offline)"


@check("memcg_path")
def check_memcg_path(field, plant, row, value):
    if row["_pfn"] is None:
        return differ(value, None)
    if "memcg_path" in plant.expect:
        return differ(value, plant.expect["memcg_path"])
    if value is None:
        return None if 0 in row["_cgroup"] else "nothing, but it is charged"
    # The kernel reports the cgroup that inherited the charges of a removed one.
    where = value
    while where.endswith(OFFLINE) or (value.endswith(OFFLINE) and
                                      not cgroup_inodes(where)
                                      and where != "/"):
        where = os.path.dirname(where)
    if not set(cgroup_inodes(where)) & set(row["_cgroup"]):
        return "%r is not the cgroup %s" % (value, row["_cgroup"])
    return None


@check("memcg_name")
def check_memcg_name(field, plant, row, value):
    if row["_pfn"] is None:
        return differ(value, None)
    path = plant.expect.get("memcg_path", row.get("memcg_path"))
    return differ(value, path and (path.rsplit("/", 1)[-1] or path))


# --- task and vma ---

@check("pid")
def check_pid(field, plant, row, value):
    return differ(value, plant.pid)


@check("tgid")
def check_tgid(field, plant, row, value):
    return differ(value, plant.pid)


@check("comm")
def check_comm(field, plant, row, value):
    return differ(value, field.facts["comm"]
                  if plant.pid == field.facts["planter"] else "plant-child")


@check("vaddr")
def check_vaddr(field, plant, row, value):
    return is_hex(value, plant.page)


@check("vma_start")
def check_vma_start(field, plant, row, value):
    vma = plant.vma()
    return is_hex(value, vma[0]) if vma else differ(value, None)


@check("vma_end")
def check_vma_end(field, plant, row, value):
    vma = plant.vma()
    return is_hex(value, vma[1]) if vma else differ(value, None)


@check("vma_prot")
def check_vma_prot(field, plant, row, value):
    vma = plant.vma()
    return differ(value, vma and vma[2])


@check("vma_name")
def check_vma_name(field, plant, row, value):
    vma = plant.vma()
    if "vma_name" in plant.expect:
        return differ(value, plant.expect["vma_name"])
    # The text of maps escapes a newline. The VMA's name contains it.
    name = vma and vma[6].replace("\\012", "\n")
    return differ(value or "", name or "")


# --- entry ---

@check("pte")
def check_pte(field, plant, row, value):
    unknown = row.get("pte_unknown", [])
    e = plant.expect
    value = value or []
    wrong = check_names(value, unknown, PTE_NAMES)
    if wrong:
        return wrong
    untold = untold_bits(plant)
    if row["source"]["pte"] != "procfs":
        untold |= {"written"}   # no bit, but what a call has found out
    if row["source"]["pte"] == "page_detective":
        # The entry alone does not tell what replaced the page.
        untold |= {"soft_dirty", "uffd_wp"} if plant.has_page else \
            set(PTE_NAMES) - {"present"}
        # Several processes may share the page table.
        if e.get("kind") == "hugetlb" and "file" in e.get("pte_set", []):
            untold |= {"exclusive"}
    is_set, is_clear = (set(e.get(key, [])) - untold
                        for key in ("pte_set", "pte_clear"))
    missing = is_set - set(value)
    if missing:
        return "lacks %s" % sorted(missing)
    too_many = is_clear & set(value)
    if too_many:
        return "has %s" % sorted(too_many)
    lost = (is_set | is_clear) & set(unknown)
    if lost:
        return "does not know %s" % sorted(lost)
    guessed = set(e.get("pte_unknown", [])) - set(unknown)
    if guessed:
        return "cannot know %s" % sorted(guessed)
    if plant.is_io:
        return None     # pagemap shows nothing of it
    word = row["_pagemap"]
    asked = set(PTE) - {"swapped"}
    if plant.name in ("thp_zero", "shared_thp") and \
            row["source"]["pte"] != "procfs":
        # pagemap says until 7.2 that the huge zero page is a page of a file,
        # and until 6.10 that no page of a large entry is.
        asked.discard("file")
        if plant.name == "thp_zero" and "file" in value:
            return "has file, but the zero page is not a page of a file"
    for name, bit in PTE.items():
        if name in unknown or name not in asked or \
                (name == "soft_dirty" and not field.facts["soft_dirty"]):
            continue
        if (name in value) != bool(word >> bit & 1):
            return "%s differs from the word %#x" % (name, word)
    return None


@check("pte_level")
def check_level(field, plant, row, value):
    if "pte_level" in plant.expect:
        return differ(value, plant.expect["pte_level"])
    return differ(value, None)


@check("swap_type")
def check_swap_type(field, plant, row, value):
    if "swapped" not in plant.expect.get("pte_set", []):
        return differ(value, None)
    return differ(value, row["_pagemap"] & 31)


@check("swap_offset")
def check_swap_offset(field, plant, row, value):
    if "swapped" not in plant.expect.get("pte_set", []):
        return differ(value, None)
    return differ(value, (row["_pagemap"] & (1 << 55) - 1) >> 5)


# --- file ---

def mapped_file(plant):
    """(dev, inode) by the maps line, where the page is of that file."""
    vma = plant.vma()
    if not vma or not vma[5] or \
            "anon" in plant.expect.get("flags_set", []) or \
            plant.expect["kind"] in ("untouched", "unmapped"):
        return None
    return vma[4], vma[5]


def check_file(plant, key, index, value):
    if plant.file:
        return differ(value, plant.file[key])
    if plant.file is None:
        return differ(value, None)
    known = mapped_file(plant)
    return differ(value, known[index]) if known else differ(value, None)


@check("dev")
def check_dev(field, plant, row, value):
    return check_file(plant, "dev", 0, value)


@check("inode")
def check_inode(field, plant, row, value):
    return check_file(plant, "inode", 1, value)


@check("index")
def check_index(field, plant, row, value):
    if plant.file:
        return differ(value, plant.file["index"])
    vma = plant.vma()
    if plant.file is not None and mapped_file(plant):
        return differ(value, (plant.page - vma[0] + vma[3]) >> 12)
    return differ(value, None)


@check("path")
def check_path(field, plant, row, value):
    if plant.file:
        return differ(value, plant.file["path"])
    if plant.file is None or not mapped_file(plant):
        return differ(value, None)
    return differ(value, plant.vma()[6].replace("\\012", "\n"))


# --- maps ---

@check("user_maps")
def check_user_maps(field, plant, row, value):
    if row["_pfn"] is None:
        return differ(value, None)
    if plant.mappers:
        return differ(value, len(plant.mappers))
    return None if isinstance(value, int) else "%r" % (value,)


# --- content ---

# The planter's fingerprint of a page of zeroes.
ZEROES = content.fingerprint(bytes(content.PAGE))


@check("content")
def check_content(field, plant, row, value):
    if row["_pfn"] is None or plant.is_poisoned or plant.is_io:
        return differ(value, None)
    truth = plant.expect.get("content")
    if truth:
        return differ(value, truth)
    said = plant.word("fnv1a64")
    if said is not None and (said == ZEROES) != (value == "zero"):
        return "%r, but its fingerprint is %#x" % (value, said)
    return None if isinstance(value, str) else "%r" % (value,)


# Each run has its own key, so one row alone proves little. truth/hashes.py
# compares the rows of one run.
@check("hash")
def check_hash(field, plant, row, value):
    if row["_pfn"] is None or plant.is_poisoned or plant.is_io:
        return differ(value, None)
    number = isinstance(value, str) and value.startswith("0x")
    return None if number else "%r" % (value,)


@check("entropy")
def check_entropy(field, plant, row, value):
    if row["_pfn"] is None or plant.is_poisoned or plant.is_io:
        return differ(value, None)
    if not isinstance(value, int) or not 0 <= value <= 8000:
        return "%r" % (value,)
    what = row.get("content") or ""
    if value == 0 and what != "zero" and what in ("text", "data"):
        return "0, but the page is %s" % what
    if value and (what == "zero" or what.startswith("byte:")):
        return "%d, but the page is %s" % (value, what)
    return None


def lost_content(plant, row):
    """Why there is no answer, where there must be none: no wrong reason."""
    if machine.there.source() == "page_detective":
        return lost_to_driver(plant, row)
    if plant.is_poisoned or plant.is_io:
        return "unsafe"
    if "swapped" in plant.expect.get("pte_set", []):
        return "too_costly"
    if plant.name == "secretmem" and machine.there.is_live():
        return "denied"
    return None


def lost_to_driver(plant, row):
    """It has a word for zeroes only, and none for what is in the place of a
    page that is not there."""
    if plant.is_io or plant.name == "secretmem":
        return "unsafe"
    if "content" in row:
        return None
    return "unsupported"


# --- all of them ---

def claimed(row):
    """The fields that a row claims."""
    return [name for name in row
            if not name.startswith("_") and
            not name.endswith(("_unknown", "_hex")) and
            name not in ("missing", "source")]


def check_row(field, plant, how, row):
    """Words for every claim that is not true."""
    wrong = []
    why = row.get("missing", {}).get("content")
    if how == "virt" and machine.there.source() != "procfs" and \
            why != lost_content(plant, row):
        wrong.append("content is %s, not %s" % (why, lost_content(plant, row)))
    for name, why in row.get("missing", {}).items():
        if why not in REASONS:
            wrong.append("%s is missing for no reason: %r" % (name, why))
        if name in row:
            wrong.append("%s is claimed and missing" % name)
    for name, value in row.items():
        if name.startswith("_") or name in ("missing", "source") or \
                name.endswith("_unknown"):
            continue
        if name.endswith("_hex"):
            if name[:-4] not in CHECKS:
                wrong.append("%s: nobody checks it" % name)
            continue
        if name in ELSEWHERE or (name in OF_ADDRESS and how != "virt"):
            problem = differ(value, None)
        elif name in CHECKS:
            try:
                problem = CHECKS[name](field, plant, row, value)
            except (AttributeError, TypeError, ValueError):
                problem = "%r is of the wrong type" % (value,)
        else:
            problem = "nobody checks it"
        if problem:
            wrong.append("%s: %s" % (name, problem))
    return wrong
