#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log page_detective
"""Tests every captured answer of Page Detective. Its row equals that in
tests/golden/log-captures.jsonl (UPDATE_GOLDEN=1 writes it) and does not
contradict how the page was made. It is the same from /dev/kmsg's records, from
a log with time stamps, and from the driver itself.
"""
import json
import os
import shutil
import tempfile

from captures import (Driver, Tap, as_module, ask, captures, query_of, top,
                      truth)

GOLDEN = os.path.join(top, "tests/golden/log-captures.jsonl")

BITS = {"locked": 0, "error": 1, "referenced": 2, "uptodate": 3, "dirty": 4,
        "lru": 5, "active": 6, "slab": 7, "writeback": 8, "reclaim": 9,
        "buddy": 10, "mmap": 11, "anon": 12, "swapcache": 13,
        "swapbacked": 14, "compound_head": 15, "compound_tail": 16,
        "huge": 17, "unevictable": 18, "hwpoison": 19, "nopage": 20,
        "thp": 22, "offline": 23, "zero_page": 24, "pgtable": 26,
        "reserved": 32, "mlocked": 33}
# The driver and the writer of the capture change these flags by their own
# reads.
RESTLESS = {"referenced", "active", "lru", "writeback", "dirty", "locked",
            "reclaim"}
# These pages changed after the test made them and before it wrote the truth.
MOVED = {"freed", "ext4_writeback", "soft_offlined", "lazyfree"}

KINDS = {"anon_private": "anon", "anon_thp": "anon", "anon_thp_tail": "anon",
         "anon_shared": "shmem", "shmem_memfd": "shmem", "stack": "anon",
         "heap": "anon", "ksm_merged": "anon", "hugetlb_2m_private": "hugetlb",
         "hugetlb_2m_shared": "hugetlb", "hugetlb_1g_private": "hugetlb",
         "executable_text": "shmem", "anon_mlocked": "anon",
         "anon_shared_after_fork": "anon"}


def true_kind(t):
    name = t["name"]
    if t["kind"] in KINDS:
        return KINDS[t["kind"]]
    for start, kind in (("ext4_private_cow", "anon"), ("ext4_", "file"),
                        ("anon_shared", "shmem"), ("tmpfs_", "shmem"), ("thp_zero", "unknown"),
                        ("zeropage", None), ("thp_", "anon"),
                        ("mthp", "anon"), ("kpf_pgtable", "pgtable"),
                        ("kpf_reserved", "reserved"), ("anon", "anon")):
        if name.startswith(start):
            return kind
    return False


def flags_agree(row, t):
    """The names that are wrong, of those that are claimed."""
    if not t.get("kpageflags") or "flags" not in row or t["name"] in MOVED:
        return []
    word = int(t["kpageflags"], 16)
    return [name for name, bit in BITS.items()
            if name not in RESTLESS and
            name not in row.get("flags_unknown", []) and
            (name in row["flags"]) != bool(word >> bit & 1)]


def check_truth(tap, name, row, t):
    wrong = []
    if t["pfn"] and row.get("kind") != "hole" and row["pfn"] != int(t["pfn"], 16):
        wrong.append("pfn")
    if row.get("vaddr") and row["vaddr"] != hex(int(t["vaddr"], 16) & ~4095):
        wrong.append("vaddr")
    if row.get("pid") and row["pid"] != t["pid"]:
        wrong.append("pid")
    kind = true_kind(t)
    if kind is not False and row.get("kind") != kind:
        wrong.append(f"kind, which is {kind}")
    wrong += flags_agree(row, t)
    zero = row.get("content") == "zero"
    if "all_zero" in t and t["name"] not in MOVED and \
            "content" in row and zero != t["all_zero"]:
        wrong.append("content")
    if row.get("vma_name") and not t["vma"].endswith(row["vma_name"]):
        wrong.append("vma_name")
    if "vma_start" in row and row["vma_start"]:
        prot = row["vma_prot"]
        if t["vma"].split()[1] != prot:
            wrong.append("vma_prot")
    inode = row.get("inode")
    if inode and t.get("vma") and int(t["vma"].split()[4]) != inode and \
            t["vaddr"]:
        wrong.append("inode")
    tap.is_true(f"{name} says what is true", not wrong, wrong, row, t)


tap = Tap()
tmp = tempfile.mkdtemp()
golden = {}
if not os.environ.get("UPDATE_GOLDEN"):
    with open(GOLDEN, encoding="utf-8") as f:
        golden = {o["capture"]: o["rows"] for o in map(json.loads, f)}
made = {}

for name, path in captures("kmsg").items():
    status, rows, said = ask("from-log", "--text-only", path)
    made[name] = rows
    if golden:
        tap.equal(f"{name} gives the row it gave", rows, golden.get(name))
    tap.equal(f"{name}: the status", status,
              1 if not rows else
              2 if any("partial" in r["notes"] for r in rows) else 0)
    log = path[:-len("kmsg")] + "log"
    stamped = ask("from-log", "--text-only", log)[1]
    tap.equal(f"{name}: the same with time stamps",
              [{k: v for k, v in r.items() if k not in ("notes", "missing")}
               for r in stamped if "partial" not in r["notes"]],
              [{k: v for k, v in r.items() if k not in ("notes", "missing")}
               for r in rows if "partial" not in r["notes"]])
    with open(log, encoding="utf-8") as f:
        module = as_module(f.read())
    tap.equal(f"{name}: the same of a module",
              ask("from-log", "--text-only", stdin=module.encode())[1],
              stamped)
    folder, base = os.path.split(name)
    t = truth(folder).get(base.rsplit(".", 1)[0])
    if folder == "backslash-name":	# of another boot
        tap.equal(f"{name}: escapes of escapes", rows[0]["memcg_path"],
                  "/svc.slice/db\\x2dmain.service")
    elif t and len(rows) == 1 and folder != "interleaved":
        check_truth(tap, name, rows[0], t)

if os.environ.get("UPDATE_GOLDEN"):
    with open(GOLDEN, "w", encoding="utf-8") as f:
        for name, rows in made.items():
            f.write(json.dumps({"capture": name, "rows": rows}) + "\n")

# --- the driver gives the same answers ---

OURS = ("report", "at", "object", "missing", "event_ns", "reason")
# An answer of the driver also has what follows from its text.
FOLLOWS = ("flags_unknown", "pincount")
driver = Driver(tmp)


def said_by(row, fields):
    said = {k: row.get(k) for k in fields if k not in FOLLOWS}
    if said.get("flags"):
        said["flags"] = [f for f in said["flags"] if f != "mmap"]
    return said


def columns(row):
    missing = {k for k in row.get("missing", {})}
    return {k: v for k, v in row.items() if k not in OURS}, \
        missing - {"tgid", "dev", "path", "object", "slab_cache", "reason",
                   "event_ns"}


for name, path in captures("kmsg").items():
    query = query_of(path)
    rows = made[name]
    if not query or "interleaved" in name or max(query[1:]) >> 64:
        continue
    driver.plan(path)
    if query[0] == "virt":
        if not query[1]:
            continue
        words = ["virt", str(query[1]), hex(query[2])]
    else:
        words = ["phys", hex(query[1])]
    status, got, said = driver.ask(*words)
    if rows:
        fields = [k for k in columns(rows[0])[0] if k != "notes"]
        tap.equal(f"{name} from the driver",
                  [said_by(r, fields) for r in got],
                  [said_by(r, fields) for r in rows])
        # The driver may know nothing but the number of the page.
        answered = any(rows[0][k] is not None for k in fields if k != "pfn")
        tap.is_true(f"{name}: status and no more",
                    status == (0 if answered else 2) and
                    len(driver.asked()) == 1, status, said)
    elif "bad-pid" in name or "pid-zero" in name:
        tap.equal(f"{name}: no such task", (status, got), (1, []))
    else:
        tap.is_true(f"{name}: no page is invented",
                    len(got) == 1 and got[0].get("pfn") is None, status, got)

shutil.rmtree(tmp)
tap.end()
