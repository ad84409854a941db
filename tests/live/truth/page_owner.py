# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The kernel's own records of allocations: page_owner's text, and the blocks
of pages that pagetypeinfo counts. They tell what may be claimed of a plant, as
in checks.py."""
import re

import machine
import words
from checks import check, differ, is_no_page

RECORD = re.compile(
    r"Page allocated via order (?P<order>\d+), "
    r"mask (?P<gfp_mask>0x[0-9a-f]+)\((?P<gfp>[^)]*)\), "
    r"pid (?P<pid>\d+), tgid (?P<tgid>\d+) \((?P<comm>.*)\), "
    r"ts (?P<ns>\d+) ns(?:, free_ts (?P<free_ns>\d+) ns)?\n"
    r"PFN (?P<pfn>0x[0-9a-f]+|\d+) type (?P<type>\S+) Block \d+ type (?P<block>\S+) "
    r"Flags [^\n]*\n(?P<frames>(?: [^\n]+\n)+)(?P<rest>.*)", re.DOTALL)
MOVED = re.compile("^Page has been migrated, last migrate reason: (.*)$",
                   re.MULTILINE)
TEXT = "/sys/kernel/debug/page_owner"
# The order of an allocation of 1 GiB.
MOST_ORDER = 18
# The maximum length of a record. The kernel cuts a record at one page.
MOST_TEXT = 4096


def parse(text):
    """Records by pfn: the words of each as pagedet would have them."""
    records = {}
    # A task's name may contain any character, even a newline.
    for part in re.split(r"\n\n(?=Page allocated via |\Z)",
                         text.decode("latin-1")):
        if not part.strip():
            continue
        m = RECORD.fullmatch(part.rstrip("\n") + "\n")
        if not m:
            raise ValueError("not a record: %r" % part)
        moved = MOVED.search(m["rest"])
        records[int(m["pfn"], 0)] = {
            "order": int(m["order"]), "gfp_mask": m["gfp_mask"],
            "gfp": m["gfp"].split("|") if m["gfp"] else [],
            "pid": int(m["pid"]), "tgid": int(m["tgid"]),
            "comm": m["comm"], "ns": int(m["ns"]),
            "frames": m["frames"].replace("\n ", "\n").strip().split("\n"),
            "migrate_reason": moved[1] if moved else None,
            "type": m["type"], "block": m["block"]}
    return records


class Owners:
    """The text, read when it is first needed, and once."""

    def __init__(self):
        self.records = None

    def all(self):
        if self.records is None:
            self.records = parse(machine.there.read(TEXT) or b"")
        return self.records

    def are_told(self):
        """Whether there is such a text at all."""
        if machine.there.is_live():
            return bool(machine.there.pread((TEXT, 1, MOST_TEXT))[0])
        return bool(self.all())

    def of(self, pfn):
        """The record of the allocation that a page is part of."""
        heads = sorted({pfn >> order << order for order in range(MOST_ORDER)})
        records = self.now(heads) if machine.there.is_live() else self.all()
        for head in heads:
            record = records.get(head)
            if record and pfn < head + (1 << record["order"]):
                return record
        return None

    @staticmethod
    def now(pfns):
        """A kernel that runs makes anew what is asked for: at the place with a
        page's number stands the first record from there on."""
        records = {}
        for data in machine.there.pread(*((TEXT, pfn, MOST_TEXT)
                                          for pfn in pfns if pfn)):
            records.update(parse(data or b""))
        return records


owners = Owners()


def by_text(key):
    """The field is what the record of the page's allocation says."""
    def judge(field, plant, row, value):
        record = owners.of(row["_pfn"]) if row["_pfn"] is not None else None
        return differ(value, record and record[key])
    return judge


# The task that maps these pages allocated them, and nobody has since.
OWN = "anon mlocked prot_none heap bytes_zero bytes_same bytes_text " \
    "bytes_data thp_head thp_tail".split()


@check("alloc_tgid")
def check_tgid(field, plant, row, value):
    return by_text("tgid")(field, plant, row, value) or (
        differ(value, plant.pid) if plant.name in OWN else None)


for field_name, word in (("alloc_pid", "pid"),
                         ("gfp_mask", "gfp_mask"), ("gfp", "gfp"),
                         ("page_mobility", "type"),
                         ("alloc_order", "order"), ("alloc_ns", "ns"),
                         ("migrate_reason", "migrate_reason")):
    check(field_name)(by_text(word))


@check("alloc_comm")
def check_comm(field, plant, row, value):
    record = owners.of(row["_pfn"]) if row["_pfn"] is not None else None
    if record and "alloc_comm_hex" in row:
        value = bytes.fromhex(row["alloc_comm_hex"]).decode("latin-1")
    return differ(value, record and record["comm"])


def is_stack(value):
    return isinstance(value, str) and re.fullmatch("0x[0-9a-f]{1,16}", value)


@check("alloc_stack")
def check_alloc_stack(field, plant, row, value):
    # tests/live/owners compares the frames of the stack.
    record = owners.of(row["_pfn"]) if row["_pfn"] is not None else None
    return None if bool(is_stack(value)) == bool(record) else "%r" % (value,)


@check("free_stack")
def check_free_stack(field, plant, row, value):
    # The text of page_owner has no stack of the free.
    return None if bool(is_stack(value)) == bool(row["free_ns"]) else \
        "%r, but freed at %r" % (value, row["free_ns"])


@check("free_ns")
def check_free_ns(field, plant, row, value):
    # The plants are in use.
    return None if value is None or 0 < value <= row["alloc_ns"] else \
        "%r, after it was allocated" % (value,)


@check("allocator")
def check_allocator(field, plant, row, value):
    # No plant is a slab page of the kernel.
    return differ(value, None if row["alloc_stack"] is None else "others")


# --- blocks of pages ---

def block_order():
    text = (machine.there.read("/proc/pagetypeinfo") or b"").decode()
    found = re.search(r"^Page block order: (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else None


def block_counts():
    """Blocks by (node, zone, type), those that there are."""
    text = (machine.there.read("/proc/pagetypeinfo") or b"").decode()
    counts = {}
    names = []
    for line in text.splitlines():
        if line.startswith("Number of "):
            names = line.split("type", 1)[1].split() \
                if line.startswith("Number of blocks type") else []
            continue
        m = re.match(r"Node\s+(\d+), zone\s+(\S+)\s+([\d\s]+)$", line)
        if m and names:
            for name, n in zip(names, map(int, m[3].split())):
                if n:
                    counts[int(m[1]), m[2], name] = n
    return counts


@check("migratetype")
def check_migratetype(field, plant, row, value):
    if is_no_page(row):
        return differ(value, None)
    spans = words.spans_of(row["_pfn"])
    types = {name for node, zone, name in block_counts()
             if (node, zone) in spans}
    return None if value in types else "%r, but there are %s" % (value, types)


def spans():
    """(node, zone, range of frames)"""
    found, place, spanned = [], None, 0
    for line in machine.there.read("/proc/zoneinfo").decode().splitlines():
        parts = line.split()
        if line.startswith("Node "):
            place, spanned = (int(parts[1].rstrip(",")), parts[3]), 0
        elif parts[0] == "spanned":
            spanned = int(parts[1])
        elif parts[0] == "start_pfn:" and spanned:
            found.append(place + (range(int(parts[1]),
                                        int(parts[1]) + spanned),))
    return found


def ask(pagedet, pfns, some=40):
    """A row for each."""
    for at in range(0, len(pfns), some):
        rows, status, err = pagedet.run(
            "--json", "--fields", "pfn,kind,migratetype", "page",
            *pfns[at:at + some])
        yield from rows


def check_blocks(report, pagedet):
    """Each type has as many blocks as the kernel counts. Of a kernel that runs
    a few change meanwhile, and it may have reserved some that it passes over
    for reasons of its own."""
    if machine.there.with_owners:
        return      # its text has types of pages in use only
    if machine.there.read("/proc/pagetypeinfo") is None:
        report.skip("blocks", "there is no /proc/pagetypeinfo")
        return
    seen, reserved = {}, {}
    for node, zone, frames in spans():
        # The kernel counts a block by its first page, or by the first page of
        # the zone.
        firsts = frames[::1 << block_order()]
        for row in ask(pagedet, firsts):
            if "migratetype" not in row:
                # /proc has no file with the type of each block.
                return
            if row["migratetype"] is not None:
                key = node, zone, row["migratetype"]
                seen[key] = seen.get(key, 0) + 1
                reserved[key] = reserved.get(key, 0) + \
                    (machine.there.is_live() and row["kind"] == "reserved")
    truth = block_counts()
    slack = 8 if machine.there.is_live() else 0
    report.result("blocks of pages by type", [
        "%s: %d blocks, the kernel counts %d" % (
            key, seen.get(key, 0), truth.get(key, 0))
        for key in sorted(set(seen) | set(truth))
        if not -slack <= seen.get(key, 0) - truth.get(key, 0) <=
        slack + reserved.get(key, 0)])
