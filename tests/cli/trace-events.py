#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Compares the rows of 'pagedet kmem events' with a decoder of its own.

  trace-events.py DIR ROWS       a directory with copies of tracefs
  trace-events.py --counts EXPECTED ROWS   counts of events by name only

ROWS is the JSON of all fields of events, with --pointers. Each event of DIR must
have its row, in the order of times, equal ones by processor.
"""
import collections
import json
import os
import re
import struct
import sys

FIELD = re.compile(r"field:[^;]*?(\w+)(?:\[\d*\])?;\s*offset:(\d+);\s*"
                   r"size:(\d+);\s*signed:(\d);")


def formats(top):
    found = {}
    for name in os.listdir(top):
        if not name.startswith("kmem.") or not name.endswith(".format"):
            continue
        with open(os.path.join(top, name)) as f:
            text = f.read()
        found[int(re.search(r"^ID: (\d+)", text, re.M).group(1))] = (
            name[5:-7], {m[0]: (int(m[1]), int(m[2]), m[3] == "1")
                         for m in FIELD.findall(text)})
    return found


def records(page):
    """The time and the bytes of each record; None: some were lost before."""
    time, commit = struct.unpack_from("<QQ", page)
    at, end = 16, 16 + (commit & 0xfffff)
    if commit >> 31 & 1:
        yield time, None
    while at < end:
        head, = struct.unpack_from("<I", page, at)
        kind, delta = head & 31, head >> 5
        word, = struct.unpack_from("<I", page, at + 4)
        if kind == 29 and not delta:
            return
        if kind == 29:
            time += delta
            at += 4 + word
        elif kind == 30:
            time += delta + (word << 27)
            at += 8
        elif kind == 31:
            time = time & 31 << 59 | delta + (word << 27)
            at += 8
        else:
            time += delta
            size = 4 * kind if kind else word - 4
            begin = at + (4 if kind else 8)
            yield time, page[begin:begin + size]
            at = begin + (size + 3 & ~3)


def decode(top):
    known = formats(top)
    events = []
    with open(os.path.join(top, "header_page")) as f:
        data = re.search(r"char data;\s*offset:(\d+);\s*size:(\d+);", f.read())
    size = int(data[1]) + int(data[2])
    for cpu in range(64):
        path = os.path.join(top, "cpu%d.raw" % cpu)
        if not os.path.exists(path):
            break
        with open(path, "rb") as f:
            raw = f.read()
        for at in range(0, len(raw), size):
            for time, record in records(raw[at:at + size]):
                event = {"ns": time, "cpu": cpu, "event": "lost"}
                events.append(event)
                if record is None:
                    continue
                event["event"], fields = known[
                    int.from_bytes(record[:2], "little")]
                for name, (begin, n, signed) in fields.items():
                    if n in (1, 2, 4, 8):
                        event[name] = int.from_bytes(
                            record[begin:begin + n], "little", signed=signed)
                if "name" in fields:
                    begin = event["name"] & 0xffff
                    event["name"] = record[begin:].split(b"\0")[0].decode()
    kmem = {"lost", "kmalloc", "kmem_cache_alloc", "kfree", "kmem_cache_free",
            "mm_page_alloc", "mm_page_free", "mm_page_free_batched"}
    return sorted((e for e in events if e["event"] in kmem),
                  key=lambda e: (e["ns"], e["cpu"]))


def check(event, row):
    """What the row must have, or None: nothing is there."""
    kind = event["event"]
    is_page = kind.startswith("mm_")
    is_lost = kind == "lost"
    # An allocation of a node was an event of its own until Linux 6.0.
    is_alloc = "alloc" in kind
    wanted = {
        "event": kind, "event_ns": event["ns"], "event_cpu": event["cpu"],
        "event_tid": event.get("common_pid"),
        "event_family": None if is_lost else "page" if is_page else
        "kmalloc" if kind in ("kmalloc", "kfree") else "cache",
        "vaddr": None if is_page or is_lost or not event["ptr"] else
        "%#x" % event["ptr"],
        "gfp_mask": "%#x" % event["gfp_flags"] if is_alloc else None,
    }
    if is_page:
        wanted["pfn"] = event["pfn"]
    if not is_alloc or not is_page:
        wanted["alloc_requested"] = event.get("bytes_req")
        wanted["alloc_bytes"] = event.get("bytes_alloc")
    if kind != "mm_page_free_batched":
        wanted["alloc_order"] = event["order"] if is_page else None
    if "name" in event:
        wanted["event_cache"] = event["name"]
    for name, value in wanted.items():
        assert name in row and row[name] == value, (name, value, row)
    # The name of the call ends with its place in the function.
    if "call_site" in event:
        assert re.search(r"\+0x[0-9a-f]+", row["event_site"]), row
    else:
        assert row["event_site"] is None, row


def main():
    with open(sys.argv[-1]) as f:
        rows = [json.loads(line) for line in f]
    if sys.argv[1] == "--counts":
        with open(sys.argv[2]) as f:
            expected = json.load(f)["events"]
        counts = collections.Counter(row["event"] for row in rows)
        assert counts == expected, (counts, expected)
        times = [row["event_ns"] for row in rows]
        assert times == sorted(times), "the order of times"
        return
    events = decode(sys.argv[1])
    assert len(events) == len(rows), (len(events), len(rows))
    for event, row in zip(events, rows):
        check(event, row)
    sites = collections.defaultdict(set)
    for event, row in zip(events, rows):
        if "call_site" in event:
            sites[event["call_site"]].add(row["event_site"])
    assert all(len(names) == 1 for names in sites.values()), sites


if __name__ == "__main__":
    main()
