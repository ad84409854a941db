#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log procfs
"""Tests pagedet from-log: the same rows from every form of log, the blocks of
dump_page() of several kernels, and texts that are not valid logs.
"""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from captures import (Tap, as_module, ask, build, captures, command, home,
                      top)

if not shutil.which("zstd"):
    print("1..0 # SKIP needs zstd")
    sys.exit(0)
tap = Tap()
tmp = tempfile.mkdtemp()
full = subprocess.run(["zstd", "-dqc",
                       os.path.join(home, "full-dmesg.txt.zst")],
                      capture_output=True, check=True).stdout.decode()


def rows_of(text, *words):
    if isinstance(text, str):
        text = text.encode()
    return ask("from-log", "--text-only", *words, stdin=text)


def timeless(rows):
    """As of a log without the kernel's times."""
    for row in rows:
        row.get("missing", {}).pop("event_ns", None)
    return [{k: v for k, v in r.items()
             if k != "event_ns" and (k != "missing" or v)} for r in rows]


def plain(rows):
    """Without what a log of the same pages may lack."""
    return [{k: v for k, v in r.items() if k != "notes"} for r in rows]


status, right, said = rows_of(full)
asked = [r for r in right if r["report"] == "page_detective"]
tap.equal("every question of a whole log is a row", len(asked),
          full.count("Page Detective: Investigating "))
tap.equal("all of them are whole", status, 0)
tap.equal("and what the kernel itself says of pages",
          [(r["report"], r["pfn"], r.get("pid"), r.get("comm"), r["vaddr"],
            r.get("object")) for r in right if r not in asked],
          [("memory_failure", 0x7c9a, 72, "mkpages", "0x7fed199a4000",
            "dirty LRU page: Recovered"),
           ("soft_offline", 0x7d87, None, None, "0x7fed199a6000", None)])
tap.is_true("it says how numbers were read", "as hex" in said, said)
tap.equal("a compressed file",
          ask("from-log", "--text-only",
              os.path.join(home, "full-dmesg.txt.zst"))[1], right)

libraries = os.path.join(tmp, "libraries")
os.mkdir(libraries)
with open(os.path.join(libraries, "libzstd.so.1"), "w"):
    pass
status, _, said = ask("from-log", "--text-only",
                      os.path.join(home, "full-dmesg.txt.zst"),
                      env={**os.environ, "LD_LIBRARY_PATH": libraries})
tap.is_true("without a library that can be loaded: its package",
            status == 69 and "(on Debian: libzstd1)" in said, status, said)

head = subprocess.run([command, "--from",
                       os.path.join(home, "full-dmesg.txt.zst"), "doctor"],
                      capture_output=True, check=False).stdout.decode()
tap.is_true("of its kernel it says the release, and no size of pages",
            head.startswith("kernel         6.") and "page size" not in head,
            head[:200])

saved = os.path.join(tmp, "saved")
subprocess.run([command, "snapshot", saved, "--from",
                os.path.join(home, "full-dmesg.txt.zst"), "scan"],
               capture_output=True, check=False)
head = subprocess.run([command, "--from", saved, "doctor"],
                      capture_output=True, check=False).stdout.decode()
tap.is_true("nor does a snapshot of it",
            head.startswith("kernel         6.") and "page size" not in head,
            head[:200])

# --- ways to keep a log ---

LINE = re.compile(r"^\[ *(\d+)\.(\d+)\] (.*)$", re.M)


def kmsg(match):
    text = match[3].replace("\\", "\\x5c")
    return f"6,{kmsg.n},{match[1]}{match[2]},-;{text}\n SUBSYSTEM=x"


def every(name, text, *words):
    got = rows_of(text, *words)[1]
    wanted = right
    if not all("event_ns" in r for r in got):
        got, wanted = timeless(got), timeless(right)
    tap.is_true(f"{name}: the same rows", got == wanted,
                *[f"{a}\n{b}" for a, b in zip(got, wanted) if a != b][:1],
                len(got))


every("CRLF", full.replace("\n", "\r\n"))
every("without time stamps", LINE.sub(r"\3", full))
every("a journal with times since boot",
      LINE.sub(r"[\1.\2] host-1 kernel: \3", full))
every("syslog", LINE.sub(r"Nov 22 12:03:02 host-1 kernel: [\1.\2] \3", full))
every("syslog, without time stamps",
      LINE.sub(r"Nov 22 12:03:02 host-1 kernel: \3", full))
every("syslog with dates of RFC 3339",
      LINE.sub(r"2026-11-22T12:03:02.123456+00:00 host kernel: \3", full))
every("a console with levels", LINE.sub(r"<6>[ \1.\2] \3", full))
every("dmesg -T", LINE.sub(r"[Sun Nov 22 12:03:02 2026] \3", full))
every("dmesg -x", LINE.sub(r"kern  :info  : [ \1.\2] \3", full))
every("dmesg --time-format=iso",
      LINE.sub(r"2026-11-22T12:03:02,123456+00:00 \3", full))
every("dmesg -d", LINE.sub(r"[ \1.\2 <    0.000012>] \3", full))
every("printk's callers", LINE.sub(r"[ \1.\2][   T72] \3", full))
every("printk's callers, a processor", LINE.sub(r"[ \1.\2][    C1] \3", full))
n = 0


def record(match):
    global n
    n += 1
    text = match[3].replace("\\", "\\x5c")
    return f"6,{n},{match[1]}{match[2]},-;{text}\n SUBSYSTEM=pci"


every("records of /dev/kmsg, with lines that go on", LINE.sub(record, full))
n = 0
every("records with callers",
      LINE.sub(lambda m: record(m).replace(",-;", ",-,caller=T72;"), full))

# Two investigations overlap, and the log names their callers.
one = [x for x in full.splitlines() if "Page Detective" in x or "page_type" in x]
ends = [i for i, x in enumerate(one) if "Finished investigation" in x]
first, second = one[:ends[0] + 1], one[ends[0] + 1:ends[1] + 1]
mixed = []
while first or second:
    if first:
        mixed.append("[T1] " + first.pop(0))
    if second:
        mixed.append("[T2] " + second.pop(0))
got = rows_of("\n".join(re.sub(r"^(\[T\d\]) (\[.*?\])", r"\2\1", x)
                        for x in mixed))[1]
tap.equal("two writers, told apart by their callers",
          sorted(map(json.dumps, got)), sorted(map(json.dumps, asked[:2])))

# --- a driver that prints hashed kernel addresses ---

pfn = 0x7d84
protected = 1 << 63 | ~(pfn << 12) & 0xffffffffff000 | 0x960
hashed = f"""\
Page Detective: Investigating pid[72] virtual[7fed1a603000] \
physical[{pfn << 12:x}] pfn[{pfn:x}]
Page Detective: metadata for Small Page pfn[{pfn:x}] \
folio[00000000e1a9dd23] order [0]
Page Detective: page: refcount:2 mapcount:1 mapping:0000000000000000 \
index:0x7fed1a603 pfn:{pfn:#x}
Page Detective: memcg:00000000e1f0a4b3
Page Detective: anon flags: 0x20028(uptodate|lru|swapbacked|node=0|zone=0)
Page Detective: raw: 0000000000020028 000000004a5f3c1e 000000007e1b2d44 \
00000000c39f8a61
Page Detective: raw: 00000007fed1a603 0000000000000000 0000000300000000 \
00000000e1f0a4b3
Page Detective: memcg: [/a.slice/b ] [/a.slice ] [/ ]
Page Detective: The page is direct mapped addr[00000000d2cb53f1] pmd \
entry[8000000007c001e3]
Page Detective: The page is not mapped into kernel vmalloc area
Page Detective: The page mapped into kernel page table: 1 times
Page Detective: The page contains some data
Page Detective: mapped by PID[72] cmd[a] mm[0000000045d1f2a3] \
pgd[00000000f2ccd1e7] at addr[7fed1a603000] pte[{protected:x}]
Page Detective: vma[0000000037d5ab1c] start[7fed1a603000] end[7fed1a604000] \
flags[0000000000100070] name: [anon]
Page Detective: The page mapped into user page tables: 1 times
Page Detective: Finished investigation of virtual[7fed1a603000]
"""
(row,) = rows_of(hashed)[1]
tap.equal("a page that nobody may touch is mapped",
          (row["user_maps"], row["pte"], row.get("vma_prot")),
          (1, ["present", "young", "dirty"], "---p"))
tap.equal("what was hashed says nothing of a cgroup", row.get("memcg_path"),
          "/a.slice/b")
tap.is_true("and of what type it is, is known",
            "slab" not in row["flags_unknown"], row["flags_unknown"])
slab = hashed.replace("anon flags: 0x20028(uptodate|lru|swapbacked|",
                      "flags: 0x0(") \
    .replace("Page Detective: raw: 0000000000020028",
             "page_type: f5(slab)\nPage Detective: raw: 0000000000000000")
(row,) = rows_of(slab)[1]
tap.equal("of a slab there is none for all", row.get("memcg_path"), None)
other = hashed.replace("entry[8000000007c001e3]", "entry[60000007c00713]")
(row,) = rows_of(other)[1]
tap.equal("only x86-64 says so with that bit", row["user_maps"], 0)

# --- names that mislead ---

evil = ("Page Detective: Investigating physical[1000] pfn[1]\n"
        "Page Detective: metadata for Small Page pfn[1] folio[0] order [0]\n"
        "Page Detective: page: refcount:2 mapcount:1 mapping:0000000000000001"
        " index:0x5 pfn:0x1\n"
        "Page Detective: memcg:1000\n"
        "Page Detective: aops:ext4_aops ino:c dentry name(?):\"a\" pfn:0x9\"\n"
        "Page Detective: flags: 0x28(uptodate|lru|node=1|zone=0)\n"
        "Page Detective: raw: 28 0 0 1\n"
        "Page Detective: raw: 5 0 200000000 1000\n"
        "Page Detective: memcg: [/x/a ] [b ] [/x ] [/ ]\n"
        "Page Detective: mapped by PID[7] cmd[a] mm[0] pgd[0] at addr[1]] "
        "mm[1000] pgd[2000] at addr[5000] pte[8000000000001067]\n"
        "Page Detective: vma[3000] start[5000] end[6000] "
        "flags[0000000000000075] name: [anon]\n"
        "Page Detective: mapped by PID[-1] cmd[__ exited __] mm[1000] "
        "pgd[2000] at addr[5000] pte[0]\n"
        "Page Detective: vma not found for this mapping\n"
        "Page Detective: The page mapped into user page tables: 2 times\n"
        "Page Detective: Number of processes increased while scanning, some "
        "will be skipped\n"
        "Page Detective: Finished investigation of physical[1000]\n")
status, (row,), said = rows_of(evil)
tap.equal("a cgroup whose name ends the list", row["memcg_path"], "/x/a ] [b")
tap.equal("a file whose name has a quote", row["object"],
          'ext4_aops "a" pfn:0x9"')
tap.equal("entries that map nothing are no mappings", row["user_maps"], 1)
tap.equal("node", row["node"], 1)
tap.is_true("tasks that were skipped: partial", row["notes"] == ["partial"] and
            status == 2, row)
virt = evil.replace("physical[1000] pfn[1]",
                    "pid[7] virtual[5123] physical[1000] pfn[1]", 1)
status, (row,), said = rows_of(virt)
tap.equal("a comm that looks like the rest of the line", row["comm"],
          "a] mm[0] pgd[0] at addr[1]")
tap.equal("the name of a file's VMA is not believed",
          (row["missing"]["vma_name"], row["vma_prot"], row["vaddr"]),
          ("unsupported", "r-xp", "0x5000"))

# --- dump_page() ---

V612 = """[  100.000001] page: refcount:3 mapcount:1 mapping:00000000e95a3881 index:0x7 pfn:0x7bee
[  100.000002] memcg:ffff90a2c01e8000
[  100.000003] aops:ext4_da_aops ino:1a dentry name(?):"busybox"
[  100.000004] flags: 0x2013c(referenced|uptodate|dirty|lru|active|swapbacked|node=0|zone=1|lastcpupid=0x1fffff)
[  100.000005] raw: 000000000002013c fffff87380041948 fffff873801d0508 ffff90a2c0cf7570
[  100.000006] raw: 0000000000000007 0000000000000000 0000000300000000 ffff90a2c01e8000
[  100.000007] page dumped because: VM_BUG_ON_PAGE(1)
[  100.000008] page_owner tracks the page as allocated
[  100.000009] page last allocated via order 0, migratetype Movable, gfp_mask 0x152c4a(GFP_NOFS|__GFP_HIGHMEM), pid 412, tgid 411 (a), ts 9 ns), ts 123456789, free_ts 99
"""
status, (row,), said = rows_of(V612, "--fields", "all,owner")
tap.equal("a block of 6.12",
          [row.get(k) for k in ("pfn", "kind", "refcount", "mapcount", "order",
                                "index", "inode", "node", "object")],
          [0x7bee, "file", 3, 1, 0, 7, 0x1a, 0, 'ext4_da_aops "busybox"'])
tap.equal("and who allocated it, called what it likes",
          [row.get(k) for k in ("alloc_order", "migratetype",
                                "page_mobility", "gfp_mask", "gfp",
                                "alloc_pid", "alloc_tgid", "alloc_comm",
                                "alloc_ns", "free_ns")],
          [0, None, "Movable", "0x152c4a", ["GFP_NOFS", "__GFP_HIGHMEM"], 412, 411,
           "a), ts 9 ns", 123456789, 99])
tap.equal("what the block of the page is for is not said",
          row["missing"]["migratetype"], "unsupported")
tap.is_true("what would follow from the text is not in it",
            "mmap" not in row["flags"] and "mmap" in row["flags_unknown"] and
            row["missing"]["pincount"] == "unsupported", row)
tap.equal("no address is asked about", row["vaddr"], None)
tap.equal("whose it is may be in a line that is lost",
          row["missing"]["pid"], "unsupported")

V61 = """page:000000004ba0387d refcount:513 mapcount:2 mapping:0000000000000000 index:0x7fed1a000 pfn:0x1605
head:00000000e95a3881 order:9 compound_mapcount:1 compound_pincount:0
anon flags: 0xfffffc0090004c(uptodate|dirty|lru|head|swapbacked|node=0|zone=1|lastcpupid=0x1fffff)
raw: 000fffffc0000000 fffff87380058001 0000000000000903 dead000000000200
raw: 0000000000000000 0000000000000000 00000000ffffffff 0000000000000000
head: 000fffffc0090004 fffff87380058008 fffff873801f6348 ffff90a2c18e2821
page dumped because: kernel BUG
"""
status, (row,), said = rows_of(V61)
tap.equal("a tail of 6.1",
          [row.get(k) for k in ("pfn", "head_pfn", "order", "kind", "refcount",
                                "mapcount", "index", "pincount")],
          [0x1605, 0x1600, 9, "anon", 513, 2, None, 0])
tap.is_true("its flags are the folio's", "compound_tail" in row["flags"] and
            "dirty" in row["flags"] and
            not {"hwpoison"} - set(row["flags_unknown"]), row["flags"])

V618 = V612.replace("flags: 0x2013c(", "flags: 0x17ffffc0002013c(") \
    .replace("aops:", "failed to read mapping contents, not a valid kernel "
             "address?\n[  1.0] aops-is-not-said:")
status, (row,), said = rows_of(V618)
tap.equal("a mapping that cannot be read",
          (row["refcount"], row["missing"]["inode"]), (3, "unsupported"))
V54 = """page:ffffea0000123400 refcount:2 mapcount:1 mapping:ffff88800a0b0c01 index:0x7f0
anon
flags: 0x4fffff80090034(uptodate|lru|active|swapbacked)
raw: 004fffff80090034 ffffea0000123448 ffffea00001233c8 ffff88800a0b0c01
raw: 00000000000007f0 0000000000000000 0000000200000000 ffff88800a0b0c00
page dumped because: VM_BUG_ON
"""
status, (row,), said = rows_of(V54)
tap.equal("a block of 5.4 has no page frame number",
          (row["missing"]["pfn"], row["refcount"]), ("unsupported", 2))
status, rows, said = ask("from-log", stdin=V54.encode())
tap.equal("nobody can say what it is now", [r["at"] for r in rows], ["log"])

# --- what is asked now ---

root = os.path.join(tmp, "root")
scenario = os.path.join(tmp, "scenario")
with open(scenario, "w") as f:
    f.write("pages 40000\npage 0x7bee flags=slab count=0\n"
            "file proc/sys/kernel/osrelease <<E\n6.18.44\nE\n")
subprocess.run([os.path.join(build, "tests/fixtures/mkproc"), scenario, root],
               check=True)
anon = os.path.join(home, "queries/anon.virt.log")
status, rows, said = ask("--root", root, "from-log", anon)
tap.equal("what the text says, and what is there now",
          [(r["at"], r["pfn"], r["kind"]) for r in rows],
          [("log", 0x7bee, "anon"), ("now", 0x7bee, "slab")])
tap.is_true("a captured tree is asked in any case: it may be of another boot",
            status == 0 and
            f"nothing says whether {anon} is of the boot that is asked" in said,
            status, said)
tap.is_true("--now leaves out this check, too",
            "of the boot" not in ask("--root", root, "from-log", anon,
                                     "--now")[2])
IDS = ("0123456789abcdef0123456789abcdef", "f" * 32)
path = os.path.join(root, "proc/sys/kernel/random/boot_id")
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "w", encoding="ascii") as f:
    f.write(f"{IDS[0][:8]}-{IDS[0][8:12]}-{IDS[0][12:16]}-{IDS[0][16:20]}-"
            f"{IDS[0][20:]}\n")
for i, words in ((0, None), (1, "1 of the pages in the standard input is of "
                                "another boot than the kernel that is asked")):
    status, rows, said = ask(
        "--root", root, "from-log", stdin=f"-- Boot {IDS[i]} --\n"
        "Memory failure: 0x7bee: unhandlable page.\n".encode())
    tap.is_true(f"the boot of a captured tree: {words}",
                [r["at"] for r in rows] == ["log", "now"] and
                (words in said if words else "of the boot" not in said and
                 "another boot" not in said), status, rows, said)
status, rows, said = ask(
    "--root", root, "from-log", stdin="Memory failure: 0x7bed: unhandlable "
    f"page.\n-- Boot {IDS[1]} --\nMemory failure: 0x7bee: unhandlable page.\n"
    .encode())
tap.is_true("a page of another boot, and one of nobody knows which",
            len(rows) == 4 and words in said and "nothing says whether" in said,
            status, rows, said)
os.remove(path)
status, rows, said = ask("--root", root, "from-log", anon)
tap.equal("the two are not mixed",
          (rows[0]["refcount"], rows[1]["missing"]["refcount"],
           rows[1]["flags"], rows[0]["pid"], rows[1]["pid"]),
          (2, "unsupported", ["slab"], 72, None))
tap.is_true("of where each cell comes from",
            all(s in ("log", "derived") for s in
                ask("--root", root, "-v", "from-log", anon)[1][0]
                ["source"].values()))
status, rows, said = ask("--root", root, "from-log", anon, "--where",
                         "at=now and kind=slab")
tap.equal("a filter takes either", [r["at"] for r in rows], ["now"])
status, rows, said = ask("--root", root, "from-log", anon, "--fields",
                         "pfn,at,user_maps")
tap.equal("mappings counted then and now",
          [r.get("user_maps") for r in rows][0], 2)
status, rows, said = ask("--root", root, "from-log",
                         os.path.join(home, "full-dmesg.txt.zst"), "--summary")
tap.equal("another kernel's log is called one",
          "Linux 6.12.117-pd" in said and "Linux 6.18.44" in said, True)
tap.equal("and says nothing of it where nothing is asked",
          "6.18" in ask("--root", root, "from-log", "--text-only",
                        os.path.join(home, "full-dmesg.txt.zst"))[2], False)

# --- a log instead of a kernel ---

status, (row,), said = ask("--from", anon, "page", "0x7bee")
tap.equal("a page that it mentions", (status, row["kind"], row["user_maps"]),
          (0, "anon", 2))
status, (row,), said = ask("--from", anon, "page", "0x7bef", "--fields",
                           "pfn,kind")
tap.equal("one that it does not", row["missing"]["kind"], "excluded")
status, rows, said = ask("--from", anon, "scan")
tap.equal("all that it mentions", [r["pfn"] for r in rows], [0x7bee])
status, rows, said = ask("--from", os.path.join(home,
                                                "queries/bpf_array.virt.log"),
                         "mappers", "0x1a2d", "--pointers", "--fields",
                         "pfn,map,pid,comm,vaddr,pte_level,vma_prot")
tap.equal("its mappings",
          [(r["map"], r["pid"], r["comm"], r["vaddr"], r["pte_level"],
            r["vma_prot"]) for r in rows[:-1]],
          [("direct", None, None, "0xffff90a2c1a2d000", 1, None),
           ("vmalloc", None, None, "0xffffbaa20016b000", 1, None),
           ("user", 72, "mkpages", "0x7fed1999d000", 1, "rw-s"),
           ("user", 88, "mkpages-child", "0x7fed1999d000", 1, "rw-s")])
tap.equal("and their summary", (status, rows[-1]["found"],
                                rows[-1]["expected"]), (0, 2, 2))
# A log as kmod/ writes it, with hashed addresses.
with open(os.path.join(home, "queries/bpf_array.virt.log")) as f:
    hashed = re.sub(r"\bffff[0-9a-f]{4}([0-9a-f]{8})\b", r"00000000\1", f.read())
with open(os.path.join(tmp, "hashed"), "w") as f:
    f.write(hashed)
status, rows, said = ask("--from", os.path.join(tmp, "hashed"), "mappers",
                         "0x1a2d", "--pointers", "--fields", "map,vaddr")
tap.equal("a kernel address that is hashed is none",
          [(r["map"], r.get("vaddr"), r.get("missing", {}).get("vaddr"))
           for r in rows[:-1]],
          [("direct", None, "unsupported"), ("vmalloc", None, "unsupported"),
           ("user", "0x7fed1999d000", None), ("user", "0x7fed1999d000", None)])
status, rows, said = ask("--from", os.path.join(home, "queries/pfn1.phys.log"),
                         "mappers", "1")
tap.equal("an entry that maps nothing is no mapping",
          [r["map"] for r in rows[:-1]], ["direct"])
for name, text in (("no log", b"hello\n"), ("nothing", b""),
                   ("no text", os.urandom(100000))):
    with open(os.path.join(tmp, "x"), "wb") as f:
        f.write(text)
    tap.equal(f"--from {name}", ask("--from", os.path.join(tmp, "x"), "page",
                                    "1")[0], 65)

# --- no good logs ---

tap.equal("nothing", rows_of("")[:2], (1, []))
tap.equal("no page", rows_of("hello\nworld\n")[:2], (1, []))
tap.equal("a file that is not there", ask("from-log", tmp + "/none")[0], 66)
tap.equal("a directory", ask("from-log", tmp)[0] >= 64, True)
status, rows, said = rows_of(os.urandom(1 << 20))
tap.is_true("random bytes are not a text", status == 65 and "not text" in said,
            status, said)
status, rows, said = ask("from-log", command)
tap.is_true("a program is none", status == 65, status, said)
with open(os.path.join(home, "full-dmesg.txt.zst"), "rb") as f:
    cut = f.read()[:20000]
status, rows, said = rows_of(cut)
good = subprocess.run(["zstd", "-dqc"], input=cut, capture_output=True,
                      check=False).stdout.decode()
whole = good[:good.rindex("Finished investigation")].count(
    "Page Detective: Investigating ") - 1
tap.is_true("compressed and cut off: what is good, and then no",
            status == 65 and said and whole > 5 and
            rows[:whole] == right[:whole], status, said, len(rows), whole)
with open(os.path.join(tmp, "cut.zst"), "wb") as f:
    f.write(cut)
pfn = [r["pfn"] for r in asked[:whole] if r.get("pfn")][0]
status, rows, said = ask("--from", os.path.join(tmp, "cut.zst"), "page",
                         str(pfn), "0x777777", "--fields", "pfn,refcount")
tap.is_true("asked for pages: those that are there, and of others that the "
            "rest is lost", "cut off" in said and
            rows[0]["refcount"] == [r for r in right if r.get("pfn") == pfn]
            [-1]["refcount"] and rows[1]["missing"]["refcount"] == "io",
            rows, said)

with open(anon, encoding="utf-8") as f:
    text = f.read()
bad = []
true = rows_of(text)[1][0]
for end in range(0, len(text), 7):
    status, rows, said = rows_of(text[:end])
    if status not in (0, 1, 2):
        bad.append((end, status, said))
    for row in rows:
        for key, value in row.items():
            if key in ("notes", "missing", "vma_name", "flags", "flags_unknown", "pte",
                       "pte_unknown", "kind") or value == true.get(key):
                continue
            # A number that was cut is another number.
            if text[end - 1:end + 1].strip().isalnum():
                continue
            if not (value is None):
                bad.append((end, key, value, true.get(key)))
tap.equal("cut off anywhere, nothing is invented", bad, [])

start = time.monotonic()
limit = 1 << 30
p = subprocess.Popen([command, "--json", "from-log", "--text-only"],
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE)
block = b"Page Detective: x" * 61681
try:
    for i in range(1024):
        p.stdin.write(block)
    p.stdin.write(b"\n" + text.encode())
    with open(f"/proc/{p.pid}/status", encoding="ascii") as f:
        peak = int(re.search(r"VmHWM:\s+(\d+)", f.read())[1])
    out, said = p.communicate()
except BrokenPipeError:
    peak, out = 0, b""
tap.is_true("a line of 1 GB, and the page behind it",
            len(out.splitlines()) == 1 and peak < 65536, peak, out[:200])
print(f"# {time.monotonic() - start:.1f} s")

# --- answers whose beginning is lost ---

with open(captures("log")["queries/anon.virt"], encoding="ascii") as f:
    whole = [line for line in f if line[0] != "#"]
_, (full_row,), _ = rows_of("".join(whole))
for name, text in (("the driver", whole),
                   ("a module", as_module("".join(whole)).splitlines(True))):
    status, rows, _ = rows_of("".join(text[1:]))
    tap.equal(name + ": an answer that begins with metadata",
              (status, [{f: r.get(f) for f in (
                  "pfn", "kind", "flags", "refcount", "mapcount", "memcg_path",
                  "user_maps", "kernel_maps", "content")} for r in rows],
               rows[0]["notes"]),
              (2, [{f: full_row.get(f) for f in (
                  "pfn", "kind", "flags", "refcount", "mapcount", "memcg_path",
                  "user_maps", "kernel_maps", "content")}], ["partial"]))
    tap.equal(name + ": without that nothing says which page it is",
              rows_of("".join(line for line in text[2:]
                              if "page: refcount" not in line))[1], [])
foreign = re.sub("pfn:0x7bee", "pfn:0x1234", as_module("".join(whole)))
tap.equal("a block of another page is not the answer's",
          [(r["pfn"], r["report"], r.get("refcount"))
           for r in rows_of(foreign)[1]],
          [(0x7bee, "page_detective", None), (0x1234, "dump_page", 2)])
root_cgroup = "".join(whole).replace("[/lab.slice/pages-1.scope ] "
                                     "[/lab.slice ] [/ ]", "[/ ]")
for name, text in (("the driver", root_cgroup),
                   ("a module", as_module(root_cgroup))):
    tap.equal(name + ": a page charged to the root",
              [(r["memcg_path"], r["memcg_name"]) for r in rows_of(text)[1]],
              [("/", "/")])

shutil.rmtree(tmp)
tap.end()
