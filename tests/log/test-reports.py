#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log procfs
"""Tests pagedet from-log: reports about pages as kernels from 5.10 to 6.18 and
later print them, and lines that only look like reports.
"""
import os
import re
import shutil
import subprocess
import tempfile

from captures import Tap, ask, build

tap = Tap()
tmp = tempfile.mkdtemp()


def rows_of(text, *words):
    return ask("from-log", "--text-only", *words, stdin=text.encode())


def has(name, text, **values):
    """One row, with these values."""
    status, rows, _ = rows_of(text)
    if len(rows) != 1:
        tap.equal(name + ": one row", rows, "one")
        return {}
    row = rows[0]
    tap.equal(name, {k: row.get(k) for k in values}, values)
    return row


def lacks(name, text):
    tap.equal(name + ": no row", rows_of(text)[1], [])


# --- bad pages ---

BLOCK = """page: refcount:1 mapcount:-1 mapping:0000000000000000 index:0x0 pfn:0x81a09
flags: 0x2004(referenced|reserved|zone=0)
raw: 0000000000002004 ff1c000000068248 ff1c000000068248 0000000000000000
raw: 0000000000000000 0000000000000000 00000001fffffffe 0000000000000000
"""
STATE = f"""BUG: Bad page state in process a  pfn:1  pfn:81a09
{BLOCK}page dumped because: nonzero mapcount
Modules linked in: ext4
CPU: 1 UID: 0 PID: 58 Comm: a  pfn:1 Not tainted 6.16.0-rc1 #1 NONE
Call Trace:
"""
has("bad page state, hex without 0x, a task called so", STATE,
    report="bad_page_state", pfn=0x81a09, comm="a  pfn:1", pid=58, refcount=1,
    kind="reserved", object="nonzero mapcount", raw_flags="0x2004", notes=[])
row = has("a mapcount below zero", STATE, mapcount=-1)
tap.equal("a mapcount below zero is not exact",
          (row.get("mapcount_kind"), "mapcount_kind" in row.get("missing", {})),
          (None, True))
has("bad page state of a file's page: why it is reported",
    STATE.replace("page dumped because: nonzero mapcount",
                  "aops:ext4_da_aops ino:2 dentry name:\"x\"\n"
                  "page dumped because: non-NULL mapping"),
    report="bad_page_state", pfn=0x81a09, object="non-NULL mapping")
row = has("before 6.9", STATE.replace("page: ", "page:00000000e95a3881 ")
          .replace(" UID: 0", ""), report="bad_page_state", pid=58)
has("without its block", STATE.replace(BLOCK, ""), report="bad_page_state",
    pfn=0x81a09, notes=["partial"])
status, rows, _ = rows_of(STATE.replace("pfn:0x81a09", "pfn:0x81a0a"))
tap.equal("a block of another page is not its",
          [(r["report"], r["pfn"], r.get("refcount"), r["notes"])
           for r in rows],
          [("bad_page_state", 0x81a09, None, ["partial"]),
           ("dump_page", 0x81a0a, 1, [])])
NEVER = """page:ffffea0000200000 is uninitialized and poisoned
raw: ffffffffffffffff ffffffffffffffff ffffffffffffffff ffffffffffffffff
raw: ffffffffffffffff ffffffffffffffff ffffffffffffffff ffffffffffffffff
page dumped because: VM_BUG_ON_PAGE(PagePoisoned(p))
kernel BUG at include/linux/page-flags.h:1!
CPU: 0 PID: 7 Comm: sh Not tainted 5.10.1 #1
"""
for name, text in (("with its words", NEVER), ("without them",
                   NEVER.replace("raw: " + " ".join(["f" * 16] * 4) + "\n",
                                 ""))):
    row = has(f"a struct page that was never initialized, {name}", text,
              report="dump_page", reason="VM_BUG_ON_PAGE(PagePoisoned(p))",
              pid=7, comm="sh", notes=[])
    tap.equal(f"what such a block does not say, {name}",
              [row.get("missing", {}).get(field) for field in (
                  "pfn", "flags", "raw_flags", "refcount", "kind")],
              ["unsupported"] * 5)
lacks("suppressed ones", "BUG: Bad page state: 7 messages suppressed\n")
lacks("a counter", "BUG: Bad rss-counter state mm:00000000f0 type:MM_FILE "
      "val:-1\n")

# One task makes several reports, the first of which is still open.
TASK = "CPU: 1 PID: 58 Comm: a Not tainted 6.16.0-rc1 #1 NONE\n"
SLUB = f"""BUG kmalloc-64 (Not tainted): Poison overwritten
Slab 0xffffea0000123400 objects=33 used=3 fp=0x0 flags=0x200(slab|zone=0)
Object 0xffff88800c0d3c40 @offset=3136 fp=0x0000000000000000
{TASK}"""
for name, text, right in (
        ("a list", "list_del corruption. prev->next should be ffff888100000008,"
         " but was dead000000000100. (prev=ffff888100000508)\n"
         "WARNING: CPU: 1 PID: 58 at lib/list_debug.c:56 x+0x74/0xc0\n" + TASK,
         ("list", 58, "a", [])),
        ("a page", STATE.replace("process a  pfn:1", "process a")
         .replace("Comm: a  pfn:1", "Comm: a"),
         ("bad_page_state", None, "a", ["partial"]))):
    tap.equal(f"the task of a slab reports {name}, too",
              [(r["report"], r.get("pid"), r.get("comm"), r["notes"])
               for r in rows_of(SLUB + text)[1]],
              [("slab", 58, "a", []), right])

MAP = f"""BUG: Bad page map in process modprobe  pte:20682653 pmd:20f23c01
{BLOCK}page dumped because: bad pte
addr:00007fff84619abc vm_flags:04044411 anon_vma:0000000000000000 mapping:0000000000000000 index:0
file:(null) fault:special_mapping_fault mmap:0x0 mmap_prepare: 0x0 read_folio:0x0
CPU: 1 UID: 0 PID: 58 Comm: modprobe Not tainted 6.16.0-rc1 #15719 NONE
"""
has("bad page map", MAP, report="bad_page_map", pfn=0x81a09, pid=58,
    comm="modprobe", vaddr="0x7fff84619000", vma_prot="r--p", object="bad pte")
SWAP = "swap_free: Bad swap file entry 20682653\n"
for name, between, unread in (
        ("with its map", "", False),
        ("with a map much later", "usb 1-1: new device\n" * 100, True),
        ("with a map of another boot", "Linux version 6.1.0 (a@b) #1\n", True)):
    tap.equal(f"a bad swap entry {name}", "looks like a report" in rows_of(
        SWAP + between + MAP)[2], unread)
has("of 6.18: the level is named",
    MAP.replace("pte:20682653 pmd:20f23c01",
                "pmd:8000000081a09227pgd:1 p4d:2 pud:3 pmd:4"),
    report="bad_page_map", pfn=0x81a09, pid=58, comm="modprobe")
row = has("an entry without page",
          "BUG: Bad page map in process oom_reaper  pte:6353826300000000 "
          "pmd:00000000\n"
          "addr:00007f50cab1d000 vm_flags:08100073 anon_vma:ffff9eea335603f0 "
          "mapping:ffff9eea335603f8 index:7\n"
          "file:libc.so.6 fault:filemap_fault mmap:x readpage:y\n"
          "CPU: 2 PID: 1001 Comm: oom_reaper Not tainted\n",
          report="bad_page_map", vaddr="0x7f50cab1d000", pid=1001, index=7,
          object="libc.so.6", vma_prot="rw-p", notes=[])
tap.equal("its page is not known", row["missing"]["pfn"], "unsupported")

# --- memory that breaks ---

HW = ("Injecting memory failure for pfn 0xdfe2 at process virtual address "
      "0x7fa812345000\n"
      "Memory failure: 0xdfe2: Sending SIGBUS to h:w:137 due to hardware "
      "memory corruption\n"
      "Memory failure: 0xdfe2: recovery action for dirty LRU page: "
      "Recovered\n")
row = has("memory failure", HW, report="memory_failure", pfn=0xdfe2, pid=137,
          comm="h:w", vaddr="0x7fa812345000", flags=["dirty", "lru",
                                                     "hwpoison"],
          object="dirty LRU page: Recovered",
          reason="dirty LRU page: Recovered; Sending SIGBUS to h:w:137 due to "
          "hardware memory corruption; injected for a test")
tap.equal("of other flags it says nothing", "anon" in row["flags_unknown"],
          True)
has("Killing, before 5.9", HW.replace("Sending SIGBUS to", "Killing"),
    pid=137, comm="h:w")
status, rows, _ = rows_of(HW.replace(
    "Memory failure: 0xdfe2: rec",
    "Memory failure: 0xdfe2: Sending SIGBUS to x:9 due to hardware memory "
    "corruption\nMemory failure: 0xdfe3: already hardware poisoned\n"
    "Memory failure: 0xdfe2: rec"))
tap.equal("each task that had it, and another page in between",
          sorted((r["pfn"], r["pid"], r["comm"]) for r in rows
                 if r["pid"] is not None) +
          [r["flags"] for r in rows if r["pfn"] == 0xdfe3],
          [(0xdfe2, 9, "x"), (0xdfe2, 137, "h:w"), ["hwpoison"]])
for words, flags in (("LRU", ["lru", "hwpoison"]),
                     ("dirty mlocked LRU", ["dirty", "lru", "hwpoison",
                                            "mlocked"]),
                     ("free buddy", ["buddy", "hwpoison"]),
                     ("huge", ["hwpoison"]), ("non LRU", ["hwpoison"])):
    row = has("of 2.6.32: " + words, f"MCE 0x1: {words} page recovery: "
              "Failed\n", pfn=1, object=words + " page recovery: Failed")
    tap.equal(words + ": its flags then", sorted(row["flags"]), sorted(flags))
has("and what came before", "MCE 0x1: Killing hw:137 due to hardware memory "
    "corruption\nMCE 0x1: LRU page recovery: Recovered\n", pid=137,
    reason="LRU page recovery: Recovered; Killing hw:137 due to hardware "
    "memory corruption")
for words, flags in (("free buddy page", ["buddy", "hwpoison"]),
                     ("clean mlocked LRU page", ["lru", "hwpoison",
                                                 "mlocked"]),
                     ("huge page", ["huge", "hwpoison"]),
                     ("dirty swapcache page", ["dirty", "swapcache",
                                               "hwpoison"]),
                     ("reserved kernel page", ["hwpoison"])):
    row = has(words, f"Memory failure: 0x1: recovery action for {words}: "
              "Ignored\n", pfn=1, object=words + ": Ignored")
    tap.equal(words + ": its flags", sorted(row["flags"]), sorted(flags))
for text, report, what in (
        ("Memory failure: 0x26f2: unhandlable page.", "memory_failure",
         "unhandlable page."),
        ("Memory failure: 0x26f2: corrupted page was clean: dropped without "
         "side effects", "memory_failure",
         "corrupted page was clean: dropped without side effects"),
        ("Memory failure: 0x26f2 cannot catch tail", "memory_failure",
         "cannot catch tail"),
        ("Injecting memory failure at pfn 0x26f2", "memory_failure", None),
        ("Soft offlining pfn 0x26f2 at process virtual address 0x7fa8",
         "soft_offline", None),
        ("soft offline: 0x26f2: page already poisoned", "soft_offline",
         "page already poisoned"),
        ("soft_offline: 0x26f2: invalidated", "soft_offline", "invalidated"),
        ("Soft offlining page 0x26f2 at 0x7fa8", "soft_offline", None),
        ("soft offline: 0x26f2 hugepage already poisoned", "soft_offline",
         "hugepage already poisoned"),
        ("get_any_page: 0x26f2: unknown zero refcount page type 4000",
         "soft_offline", "unknown zero refcount page type 4000"),
        ("__get_any_page: 0x26f2 free buddy page", "soft_offline",
         "free buddy page"),
        ("Memory Failure: 0x26f2: thp split failed", "memory_failure",
         "thp split failed"),
        ("Memory failure: Unable to find user space address 26f2 in a in b",
         "memory_failure", "Unable to find user space address 26f2 in a in "
         "b"),
        ("Soft offline: 0x26f2: thp split failed", "soft_offline",
         "thp split failed"),
        ("Unpoison: 0x26f2: software-unpoisoned page", "unpoison",
         "software-unpoisoned page"),
        ("Unpoison: Software-unpoisoned page 0x26f2", "unpoison",
         "Software-unpoisoned page")):
    has(text, text + "\n", report=report, pfn=0x26f2, object=what)
has("an injection alone", "Injecting memory failure at pfn 0x26f2\n",
    pfn=0x26f2, reason="injected for a test")
has("a kill alone", "Memory failure: 0x26f2: Killing hw:137 due to hardware "
    "memory corruption\n", pfn=0x26f2, pid=137, flags=["hwpoison"],
    reason="Killing hw:137 due to hardware memory corruption")
KILL = ("Memory failure: 0x26f2: Sending SIGBUS to hw:137 due to hardware "
        "memory corruption\n")
for release, marked in (("6.18.2", True), ("6.19.0", False), ("7.0", False)):
    row = has(f"a kill without an outcome, {release}",
              f"Linux version {release} (a@b) #1\n" + KILL, pfn=0x26f2, pid=137)
    tap.equal(f"is it known to have a mark, {release}",
              "hwpoison" in (row.get("flags") or []), marked)
has("a kill, and a line of a page, 6.19", "Linux version 6.19.0 (a@b) #1\n" +
    KILL + "Memory failure: 0x26f2: already hardware poisoned\n", pfn=0x26f2,
    flags=["hwpoison"])
has("a kill before 3.2", "MCE 0x26f2: Killing hw:137 early due to hardware "
    "memory corruption\n", pfn=0x26f2, pid=137, comm="hw", flags=["hwpoison"])
for result in ("Ignored", "Failed", "Delayed"):
    has(f"what came before {result}", "Memory failure: 0x26f2: unhandlable "
        "page.\nMemory failure: 0x26f2: recovery action for unknown page: "
        f"{result}\n", pfn=0x26f2,
        reason=f"unknown page: {result}; unhandlable page.")
row = has("an address alone",
          "MCE: Killing hw:137 due to hardware memory corruption fault at "
          "7fa812345678\n", report="memory_failure", pid=137, comm="hw",
          reason="Killing hw:137 due to hardware memory corruption fault at "
          "7fa812345678",
          vaddr="0x7fa812345000")
tap.equal("it has no page", row["missing"]["pfn"], "unsupported")

# --- hardware ---

MCE = """mce: [Hardware Error]: CPU 0: Machine Check Exception: 5 Bank 10: fe002984001000c1
mce: [Hardware Error]: RIP !INEXACT! 10:<ffffffff80a97fa4>
{mwait_idle+0x84/0x180}
mce: [Hardware Error]: TSC 1574f973c6b744 ADDR 9562dc000 MISC 1229440404003e8c
mce: [Hardware Error]: PROCESSOR 0:406f1 TIME 1745767392 SOCKET 0 APIC 0 microcode b000014
"""
has("a machine check of Intel", MCE, report="machine_check", pfn=0x9562dc)
for name, words in (
        ("an address of another mode", ("3e8c", "3e4c")),
        ("an address that is not exact", ("3e8c", "3e8d"))):
    row = has(name, MCE.replace(*words), report="machine_check")
    tap.equal(name + ": no page", row["missing"]["pfn"], "unsupported")
lacks("no address", MCE.replace(" ADDR 9562dc000", ""))
lacks("events logged", "mce: [Hardware Error]: Machine check events logged\n")
has("a recoverable one", "mce: Uncorrected hardware memory error in "
    "user-access at 1850602400\n", report="machine_check", pfn=0x1850602,
    reason="Uncorrected hardware memory error in user-access at 1850602400")
EDAC = ("EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 "
        "(channel:1 slot:0 page:0x12345 offset:0x40 grain:32 syndrome:0x0)\n")
has("EDAC", EDAC, report="edac", pfn=0x12345, object="1 CE memory read error "
    "on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0")
has("EDAC, uncorrected", EDAC.replace("1 CE", "2 UE"), pfn=0x12345)
row = has("EDAC of a driver that does not know the page",
          EDAC.replace("0x12345", "0x0").replace("0x40", "0x0"), report="edac",
          object="1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0")
tap.equal("its page is not page 0", row["missing"]["pfn"], "unsupported")
for text, pfn in (
        ('UE page 0x12345, offset 0x40, grain 128, row 0, labels "DIMM_A": '
         "i3200 UE", 0x12345),
        ("CE page 0x12346, offset 0x0, grain 8, syndrome 0x54, row 0, channel "
         '1, label "DIMM_B": x38_edac CE', 0x12346)):
    has("EDAC before 3.5", f"EDAC MC1: {text}\n", report="edac", pfn=pfn,
        reason=text)
has("EDAC of 3.5", EDAC.replace("1 CE", "CE"), pfn=0x12345, reason="CE memory "
    "read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0")
lacks("EDAC's greeting", "EDAC MC0: Giving out device to module igen6_edac\n")
APEI = """{1}[Hardware Error]: event severity: recoverable
{1}[Hardware Error]:   section_type: memory error
{1}[Hardware Error]:   physical_address: 0x00000008f5aee010
{1}[Hardware Error]:   physical_address_mask: 0xfffffffffffff000
{1}[Hardware Error]:   error_type: 8, parity error
"""
# The boot of a machine with pages of 4 and of 64 KiB.
PAGES = "Dentry cache hash table entries: 131072 (order: %d, 1048576 bytes)\n"
SMALL, LARGE = PAGES % 8, PAGES % 4
row = has("firmware", SMALL + APEI, report="apei", pfn=0x8f5aee,
          reason="section_type: memory error; physical_address: "
          "0x00000008f5aee010; error_type: 8, parity error")
tap.equal("the type of the error is said once", row["missing"]["object"],
          "unsupported")
has("a mask that says nothing",
    SMALL + APEI.replace("0xfffffffffffff000", "0x0"), pfn=0x8f5aee)
has("firmware, pages of 64 KiB", LARGE + APEI, pfn=0x8f5ae)
row = has("firmware, pages of a size that nothing tells", APEI, report="apei")
tap.equal("it is not guessed", row["missing"]["pfn"], "unsupported")
for name, words, text, pfn in (
        ("a size that the user knows", ("--page-size", "64k"), APEI, 0x8f5ae),
        ("another one", ("--page-size", "16384"), APEI, 0x23d6bb),
        ("the log knows better", ("--page-size", "4k"), LARGE + APEI, 0x8f5ae)):
    status, rows, said = rows_of(text, *words)
    tap.equal(name, ([r["pfn"] for r in rows], "page size" in said),
              ([pfn], False))
tap.is_true("that it can be said", "--page-size" in rows_of(APEI)[2])
for size in ("0", "3", "5000", "2M", "x"):
    tap.equal(f"{size} is not a size of pages",
              rows_of(APEI, "--page-size", size)[:2], (64, []))
SECTION = """{1}[Hardware Error]:  Error %d, type: recoverable
{1}[Hardware Error]:  fru_text: Slot %d
{1}[Hardware Error]:   section_type: memory error
{1}[Hardware Error]:    error_status: Storage error in DRAM memory (0x0000000000000400)
{1}[Hardware Error]:   physical_address: 0x00000008f5a%d0180
{1}[Hardware Error]:   node:1 card:4 module:0 rank:0 bank:6 device:0 row:7 column:24
%s"""
PLACE = "{1}[Hardware Error]:   DIMM location: CPU 1 DIMM 5\n"
SAYS = ("Error %d, type: recoverable; fru_text: Slot %d; section_type: memory "
        "error; error_status: Storage error in DRAM memory "
        "(0x0000000000000400); physical_address: 0x00000008f5a%d0180; node:1 "
        "card:4 module:0 rank:0 bank:6 device:0 row:7 column:24%s")
has("all that firmware says of a section", SMALL + SECTION % (0, 1, 1, PLACE),
    report="apei", pfn=0x8f5a10,
    reason=SAYS % (0, 1, 1, "; DIMM location: CPU 1 DIMM 5"))
has("of one without a type",
    SMALL + (SECTION % (0, 1, 1, "")).replace("section_type: ", "x: "),
    pfn=0x8f5a10, reason=(SAYS % (0, 1, 1, "")).replace(
        "section_type: memory error; ", ""))
status, rows, _ = rows_of(SMALL + SECTION % (0, 1, 1, "") +
                          SECTION % (1, 2, 2, PLACE))
tap.equal("two sections of one record",
          [(r["pfn"], r["reason"]) for r in rows],
          [(0x8f5a10, SAYS % (0, 1, 1, "")),
           (0x8f5a20, SAYS % (1, 2, 2, "; DIMM location: CPU 1 DIMM 5"))])
has("a type without a section is of no report", """\
{1}[Hardware Error]:   error_type: 8, parity error
Memory failure: 0x26f2: unhandlable page.
""", report="memory_failure", object="unhandlable page.")
lacks("a section without an address", """\
{1}[Hardware Error]:  Error 0, type: corrected
{1}[Hardware Error]:   section_type: PCIe error
{1}[Hardware Error]:   port_type: 0, PCIe end point
""")
row = has("half of an address", APEI.replace("fffff000", "fff00000"),
          report="apei")
tap.equal("it is no page's", row["missing"]["pfn"], "unsupported")

# --- objects and lists ---

SLAB = """BUG kmalloc-128 (Tainted: G    B   W        ): Poison overwritten
-----------------------------------------------------------------------------

INFO: 0xffff88800c0d3c40-0xffff88800c0d3c40 @offset=3136. First byte 0x6c instead of 0x6b
INFO: Allocated in i2cdev_ioctl_rdwr+0x9d/0x1de age=243 cpu=0 pid=28
INFO: Slab 0xffffea0000303400 objects=33 used=3 fp=0xffff88800c0d3c40 flags=0x17ffffc0010200(slab|head)
INFO: Object 0xffff88800c0d3c00 @offset=3072 fp=0x0000000000000000
Redzone  ffff88800c0d3b80: bb bb bb bb bb bb bb bb bb bb bb bb bb bb bb bb
FIX kmalloc-128: Restoring Poison 0xffff88800c0d3c40-0xffff88800c0d3c40=0x6b
"""
status, rows, said = rows_of(SLAB, "--pointers")
tap.equal("SLUB of 5.10",
          [(r["report"], r["slab_cache"], r["vaddr"], r["kind"], r["object"],
            r["missing"]["pfn"]) for r in rows],
          [("slab", "kmalloc-128", "0xffff88800c0d3c00", "slab",
            "Poison overwritten", "unsupported")])
new = re.sub("0xffff[0-9a-f]{8}", "0x00000000", SLAB).replace("INFO: ", "") \
    .replace("Tainted: G    B   W        ", "Not tainted")
status, rows, said = rows_of(new, "--pointers")
tap.equal("newer, with hashed addresses: no address",
          [(r["report"], r["slab_cache"], r["missing"].get("vaddr"))
           for r in rows], [("slab", "kmalloc-128", "unsupported")])
tap.is_true("that is said", "hashed" in said, said)

KASAN = f"""BUG: KASAN: slab-use-after-free in page_counter_uncharge+0x65/0x150
Write of size 8 at addr ffff888106715440 by task insm/od/527

CPU: 4 UID: 0 PID: 527 Comm: insm/od Not tainted 6.19.0-rc7 #11
Call Trace:
{"".join(f" f{i}+0x1/0x2" + chr(10) for i in range(200))}
The buggy address belongs to the object at ffff888106715400
 which belongs to the cache kmalloc-512 of size 512
The buggy address belongs to the physical page:
page: refcount:1 mapcount:0 mapping:0000000000000000 index:0x0 pfn:0x12110
flags: 0xfff00000000040(node=0|zone=1|lastcpupid=0x7ff)
page_type: f5(slab)
raw: 00fff00000000040 ffff88801ac41dc0 dead000000000122 0000000000000000
raw: 0000000000000000 0000000000080008 00000001f5000000 0000000000000000
page dumped because: kasan: bad access detected

Memory state around the buggy address:
"""
status, rows, _ = rows_of(KASAN, "--pointers")
tap.equal("KASAN",
          [(r["report"], r["pfn"], r["kind"], r["slab_cache"], r["vaddr"],
            r["pid"], r["comm"], r["object"], r["notes"]) for r in rows],
          [("kasan", 0x12110, "slab", "kmalloc-512", "0xffff888106715440",
            527, "insm/od",
            "slab-use-after-free in page_counter_uncharge+0x65/0x150", [])])
tap.equal("kernel addresses are kept where nobody asks for them",
          "0xffff" in str(rows_of(KASAN)[1][0].get("vaddr")), False)
for text, says, addr in (
        ("list_del corruption. prev->next should be ffff888012345678, but was "
         "dead000000000122. (prev=ffff888012340000)",
         "list_del corruption. prev->next", "0xffff888012340000"),
        ("list_del corruption. next->prev should be ffff888012345678, but was "
         "dead000000000122", "list_del corruption. next->prev",
         "0xffff888012345678"),
        ("list_del corruption, ffff888012345678->next is LIST_POISON1 "
         "(dead000000000100)", "list_del corruption", "0xffff888012345678"),
        ("list_add corruption. next->prev should be prev (ffff888012345678), "
         "but was 0000000000000000. (next=ffff888012340000).",
         "list_add corruption. next->prev", "0xffff888012340000"),
        ("list_add double add: new=ffff888012345678, prev=ffff888012340000, "
         "next=ffff888012345678.", "list_add double add", "0xffff888012345678")):
    status, rows, _ = rows_of(text + "\n", "--pointers")
    tap.equal(text[:40], [(r["report"], r["vaddr"], r["object"])
                          for r in rows], [("list", addr, says)])
    tap.equal("nothing of it is shown where nobody asks for addresses",
              "ffff8880" in str(rows_of(text + "\n")[1]), False)
for name, more, pid, comm in (
        ("the task that a list is of", "kernel BUG at lib/list_debug.c:53!\n"
         "invalid opcode: 0000 [#1] SMP PTI\n"
         "CPU: 1 PID: 77 Comm: a b Tainted: G  OE  4.19.0-9 #1\n", 77, "a b"),
        ("of a warning", "WARNING: CPU: 2 PID: 78 at lib/list_debug.c:29 f+0x1\n"
         "CPU: 2 PID: 78 Comm: x Not tainted 6.1.0 #1\n", 78, "x"),
        ("a warning without its end",
         "WARNING: CPU: 2 PID: 78 at lib/list_debug.c:29 f+0x1\n", 78, None),
        ("another one's end", "WARNING: CPU: 2 PID: 78 at lib/list_debug.c:29 "
         "f\nCPU: 1 PID: 9 Comm: y Not tainted 6.1.0 #1\n", 78, None),
        ("a task far behind it", "usb 1-1: x\n" * 20 +
         "CPU: 1 PID: 9 Comm: y Not tainted 6.1.0 #1\n", None, None)):
    has(name, "list_del corruption. next->prev should be ffff888012345678, but "
        "was 0000000000000000\n" + more, report="list", pid=pid, comm=comm)
for name, more, pid in (
        ("the task that a slab is of", "", 28),
        ("a later error's task", "BUG: soft lockup - CPU#1 stuck\n", None)):
    has(name, SLAB.replace("FIX", more + "CPU: 0 PID: 28 Comm: i2c Not tainted "
                           "5.10.0 #1\nFIX"), report="slab", pid=pid,
        comm=pid and "i2c")
LIST = ("list_add corruption. prev->next should be next (ffff888012345678), but "
        "was ffffffffc0633428. (prev=ffff888012340000).")
tap.equal("the addresses of a list, for who asks for them",
          [r["reason"] for r in rows_of(LIST + "\n", "--pointers")[1]], [LIST])
for words in ((), ("--details",), ("--fields", "reason,vaddr")):
    tap.equal(f"and for nobody else {words}",
              [w for w in ("ffffffffc", "ffff8880")
               if w in str(rows_of(LIST + "\n", *words))], [])
lacks("a list that is not said", "list_add corruption. prev is NULL.\n")

# --- blocks ---

for text, values in (
        ("Buffer I/O error on dev loop1, logical block 2065, lost async page "
         "write", {"dev": "7:1"}),
        ("Buffer I/O error on device dm-0, logical block 2065", {}),
        ("EXT4-fs warning (device dm-0): ext4_end_bio:353: I/O error 10 "
         "writing to inode 12 starting block 2065)", {"inode": 12}),
        ("EXT4-fs error (device sda1): ext4_get_branch:171: inode #18: "
         "block 99: comm cat: invalid block", {"inode": 18, "dev": "8:1"}),
        ('XFS (dm-0): metadata I/O error in "xfs_read_agf+0x7c/0xe0" at '
         'daddr 0x10 len 8 error 5', {"index": 2}),
        ("I/O error, dev sdb, sector 123 op 0x1:(WRITE) flags 0x800 phys_seg "
         "1 prio class 2", {"dev": "8:16", "index": 15}),
        ("critical medium error, dev sdb2, sector 16 op 0x0:(READ) flags 0x0",
         {"dev": "8:18", "index": 2}),
        # These two come from a loop device on a full tmpfs, kernel 6.18.
        ("critical space allocation error, dev loop2, sector 41384 op "
         "0x1:(WRITE) flags 0x4800 phys_seg 128 prio class 2",
         {"dev": "7:2", "index": 5173}),
        ("EXT4-fs warning (device loop2): ext4_end_bio:368: I/O error 3 "
         "writing to inode 12 starting block 5301)",
         {"dev": "7:2", "inode": 12}),
        ("blk_update_request: I/O error, dev nvme0n1, sector 8 op 0x0",
         {"index": 1})):
    row = has(text[:50], SMALL + text + "\n", report="io_error", object=text,
              **values)
    tap.equal("nothing else is made up",
              [f for f in ("pfn", "dev", "inode", "index")
               if row.get(f) is not None and f not in values], [])
lacks("mounting", "EXT4-fs (loop0): mounted filesystem\nXFS (dm-0): Mounting "
      "V5 Filesystem\n")

# --- waiting ---

HUNG = """INFO: task khugepaged:35 blocked for more than 120 seconds.
      Not tainted 6.12.0 #1
task:khugepaged      state:D stack:0     pid:35    ppid:2      flags:0x00004000
Call Trace:
 <TASK>
 __schedule+0x3fa/0x1550
 migration_entry_wait_on_locked+0x229/0x2c0
 </TASK>
"""
has("a task that waits for a page", HUNG, report="hung_task", pid=35,
    comm="khugepaged", object="migration_entry_wait_on_locked+0x229/0x2c0")
lacks("one that waits for something else",
      HUNG.replace("migration_entry_wait_on_locked", "io_schedule"))

# --- pages that do not move ---

MOVE = """migrating pfn 1a2b3 failed ret:1
page: refcount:3 mapcount:1 mapping:00000000e71abb9a index:0x1 pfn:0x1a2b3
memcg:ffff90a2c0f65000
aops:ext4_aops ino:3 dentry name:"x"
flags: 0x20038(uptodate|dirty|lru|swapbacked|node=0|zone=0)
raw: 0000000000020038 fffff873801efa08 fffff873801f64c8 ffff90a2c0e73570
raw: 0000000000000001 0000000000000000 0000000300000000 ffff90a2c0f65000
page dumped because: migration failure
"""
has("a page that does not move", MOVE, report="migration", pfn=0x1a2b3,
    refcount=3, inode=3, object='ext4_aops "x"',
    reason="migrating pfn 1a2b3 failed ret:1")
has("one that is not isolated", "failed to isolate pfn 1a2b3\n",
    report="migration", pfn=0x1a2b3, reason="failed to isolate pfn 1a2b3")
row = has("one of a range is busy",
          "alloc_contig_range: [1a2b0, 1a4b0) PFNs busy\n",
          report="migration",
          reason="alloc_contig_range: [1a2b0, 1a4b0) PFNs busy")
tap.equal("which one is not said", row["missing"]["pfn"], "unsupported")
tap.equal("an error and its block are one, of another page two",
          [[r["pfn"] for r in rows_of(MOVE.replace("pfn:0x1a2b3", p))[1]]
           for p in ("pfn:0x1a2b3", "pfn:0x1a2b4")],
          [[0x1a2b3], [0x1a2b3, 0x1a2b4]])

# --- faults of programs ---

SEGV = ("prog[412]: segfault at 7f3000000010 ip 000055d0c2a9b13d sp "
        "00007ffc0a1b2c30 error 4 in prog[55d0c2a9b000+1000]")
NONE = "no page is present there"
HAS = "its page is present and forbids it"
for error, words in ((4, "read by the program, " + NONE),
                     (5, "read by the program, " + HAS),
                     (6, "write by the program, " + NONE),
                     (7, "write by the program, " + HAS),
                     (2, "write by the kernel, " + NONE),
                     (14, "instruction fetch by the program, " + NONE),
                     (15, "instruction fetch by the program, " + HAS)):
    error = error if error < 14 else {14: 0x14, 15: 0x15}[error]
    row = has(f"error {error:x}",
              SEGV.replace("error 4", f"error {error:x}") + "\n",
              report="fault", pid=412, comm="prog", object="prog",
              vaddr="0x7f3000000000")
    tap.is_true("in words", row["reason"].startswith(words + ": segfault at"),
                row["reason"])
for error, words in ((0xd, "reserved bit"), (0x25, "protection key"),
                     (0x47, "shadow stack"), (0x8005, "SGX")):
    row = rows_of(SEGV.replace("error 4", f"error {error:x}") + "\n")[1][0]
    tap.is_true(f"error {error:x} in words", words in row["reason"], row)
# What is at an address of the kernel is not told: bit 0 is always set there.
PERHAPS = "or " + HAS
OF_KERNEL = "it is an address of the kernel"
for line, words in (
        (SEGV.replace("7f3000000010", "ffffffff81000000"),
         "read by the program, " + OF_KERNEL + ": segfault"),
        (SEGV.replace("7f3000000010", "ffffffffffffffff").replace(
            "error 4", "error 7"),
         "write by the program, " + OF_KERNEL + ": segfault"),
        (SEGV.replace("7f3000000010", "ff11000000000000"),
         "read by the program, " + OF_KERNEL + ": segfault"),
        (SEGV.replace("7f3000000010", "7ffffffff000"),
         "read by the program, it is not an address of programs, " + PERHAPS),
        (SEGV.replace("7f3000000010", "deadbeef00000000"),
         "read by the program, it is not an address of programs: segfault"),
        (SEGV.replace("7f3000000010", "7fffffffeff8"),
         "read by the program, " + HAS),
        ("prog[412]: segfault at c0100000 ip 08048343 sp bfa0c0b0 error 4\n",
         "read by the program, " + OF_KERNEL + ", if that has 32 bits, " +
         PERHAPS),
        ("prog[412]: segfault at 80100000 ip 08048343 sp 7fa0c0b0 error 4\n",
         "read by the program, " + OF_KERNEL + ", if that has 32 bits, " +
         PERHAPS),
        ("prog[412]: segfault at c0100000 ip 08048343 sp ffa0c0b0 error 4\n",
         "read by the program, " + HAS),
        ("prog[412]: segfault at 00000000c0100000 rip 0000000008048343 rsp "
         "00000000bfa0c0b0 error 4\n", "read by the program, " + HAS),
        ("prog[412]: segfault at bfa00000 ip 08048343 sp bfa0c0b0 error 4\n",
         "read by the program, " + HAS)):
    if "error 7" not in line:
        line = line.replace("error 4", "error 5")
    row = rows_of(line + "\n")[1][0]
    tap.is_true(line + ": in words", row["reason"].startswith(words), row)
for line, words in (
        ("prog[412]: segfault at 0000000000000010 rip 000055d0c2a9b13d rsp "
         "00007ffc0a1b2c30 error 4\n", "read by the program, " + NONE),
        ("prog[412]: segfault at 00000010 eip 08048343 esp bfa0c0b0 error 4\n",
         "read by the program, " + NONE),
        ("prog[412]: segfault at 10 ip           (null) sp 00007ffc0a1b2c30 "
         "error 14 in prog[400000+1000]\n",
         "instruction fetch by the program, " + NONE),
        ("prog[412]: segfault at 0 ip (null) sp bfa0c0b0 error 4\n",
         "read or instruction fetch by the program, " + NONE),
        ("prog[412]: segfault at ffffffff81000000 ip 000055d0c2a9b13d sp "
         "00007ffc0a1b2c30 error 4\n", "read by the program, " + NONE)):
    row = has("a segfault of other kernels: " + line, line, report="fault",
              pid=412, comm="prog")
    tap.is_true(line + ": in words", row["reason"].startswith(words),
                row["reason"])
row = has("a trap before 3.9", "prog[413] general protection ip:7f3a100a1b2c "
          "sp:7ffd00000000 error:0 in libc-2.12.so[7f3a10028000+195000]\n",
          report="fault", pid=413, comm="prog", object="libc-2.12.so")
for line in ("traps: prog[413] general protection ip:558fd01e9ed4 "
             "sp:7fff8bd2c658 error:0",
             "prog[413]: segfault at 10 ip 558fd01e9ed4 sp 7fff8bd2c658 "
             "error 4"):
    row = has("4.9 breaks the line: " + line, f"{line}\n in prog[558fd019e000+e1000]\n"
              " in x[558fd019e000+e1000]\nCode: 48 <8b> 00\n",
              report="fault", pid=413, object="prog")
    tap.is_true("which the reason names", row["reason"].endswith(
        " in prog[558fd019e000+e1000]; Code: 48 <8b> 00"), row["reason"])
row = has("with its place in the file, and the processor",
          SEGV.replace("[55d0c2a9b000+", "[2113d,55d0c2a9b000+") +
          " likely on CPU 3 (core 3, socket 0)\nCode: 48 89 <8b> 00\n",
          report="fault", index=0x21, object="prog")
tap.is_true("and the bytes that ran",
            row["reason"].endswith("; Code: 48 89 <8b> 00"), row["reason"])
row = has("a trap", "traps: my ]prog[413] general protection fault "
          "ip:7f3a100a1b2c sp:7ffd00000000 error:0 in "
          "libc.so.6[1a1b2c,7f3a10028000+195000]\n", report="fault", pid=413,
          comm="my ]prog", object="libc.so.6", index=0x1a1)
tap.equal("where it was is not said", row["missing"]["vaddr"], "unsupported")
row = has("arm64", "prog[414]: unhandled exception: DABT (lower EL), ESR "
          "0x0000000092000046, level 2 translation fault in "
          "prog[aaaac0e70000+1000]\n", report="fault", pid=414, object="prog")
tap.is_true("in words", row["reason"].startswith("write by the program, " +
                                                 NONE), row["reason"])
row = has("arm64, before", "prog[415]: unhandled level 3 permission fault "
          "(11) at 0x00401010, esr 0x8200000f, in prog[400000+1000]\n",
          report="fault", pid=415, vaddr="0x401000")
tap.is_true("in words, too", row["reason"].startswith(
    "instruction fetch by the program, " + HAS), row["reason"])
ARM64 = ("prog[415]: unhandled level 2 translation fault (11) at 0x00000010, "
         "esr 0x92000006, in prog[400000+1000]\n")
for name, pc, words in (
        ("", "pc : 0000000000400754\n", "; pc: 0000000000400754"),
        (" before 4.16", "pgd = ffff80001d8a5000\n"
         "[00000010] *pgd=000000005d8a6003, *pud=000000005d8a6003\n\n"
         "CPU: 0 PID: 415 Comm: prog Not tainted 4.14.1 #1\n"
         "Hardware name: linux,dummy-virt (DT)\n"
         "task: ffff80001d8a4000 task.stack: ffff80001d8b0000\n"
         "PC is at 0x400754\nLR is at 0x7f9b6d9a00\n"
         "pc : [<0000000000400754>] lr : [<0000007f9b6d9a00>] "
         "pstate: 60000000\n", "; pc: 0000000000400754"),
        (" with a name", "pc : [<0000000000400754>] main+0x14/0x30\n",
         "; pc: 0000000000400754"),
        (": of the kernel, it is another's",
         "pc : [<ffff000008081234>] do_one_initcall+0x14/0x30\n",
         "prog[400000+1000]")):
    row = has("arm64: the instruction" + name, ARM64 + pc, report="fault")
    tap.is_true("is in the reason" + name, row["reason"].endswith(words),
                row["reason"])
SPARC = ("prog[412]: segfault at 2010 ip 000000010000074c (rpc "
         "0000000100000738) sp 000007feffa0e9c1 error %d in "
         "prog[100000000+2000]\n")
for code, words in ((1, "access by the program, nothing is mapped there: "),
                    (2, "")):
    has(f"sparc, {code}", SPARC % code, report="fault", pid=412, comm="prog",
        vaddr="0x2000", object="prog",
        reason=words + (SPARC % code)[len("prog[412]: "):-1])
ARM = ("8<--- cut here ---\n"
       "my prog: unhandled page fault (11) at 0x00002010, code %s\n"
       "[00002010] *pgd=00000000\n"
       "CPU: 0 PID: 412 Comm: my prog Not tainted 5.10.1 #1\n")
for code, words in (("0x805", "write by the program, no page is present there"),
                    ("0x00f", "read by the program, its page is present and "
                     "forbids it"),
                    ("0x80000007", "instruction fetch by the program, no page "
                     "is present there"),
                    ("0xa07", "write by the program, no page is present "
                     "there")):
    has(f"arm, {code}", ARM % code, report="fault", pid=412, comm="my prog",
        vaddr="0x2000", reason=f"{words}: unhandled page fault (11) at "
        f"0x00002010, code {code}")
for text in ("prog[412]: segfault at x ip 1 sp 2 error 4\n",
             "prog[412]: segfault at 1 ip 1 (rpc 1 sp 2 error 4\n",
             "prog: unhandled page fault (11) at 0x1, 2\n",
             "prog: unhandled page fault at 1, code 0x2\n",
             "prog: segfault at 1 ip 1 sp 2 error 4\n",
             "[412]: segfault at 1 ip 1 sp 2 error 4\n",
             "prog[412]: segfault at 1 ip 1 sp 2\n",
             "prog[99999999999]: segfault at 1 ip 1 sp 2 error 4\n",
             "a name that is too long[4]: segfault at 1 ip 1 sp 2 error 4\n",
             "traps: prog[1] trap\n", "traps: \n", "prog[1]: unhandled \n",
             "6,1,2,-;Code: 48 89\n", "Code: 48 89 e5 <8b>\n"):
    lacks("no fault: " + text[:30], text)
lacks("what a process writes", "14,1,2,-;" + SEGV + "\n")

# --- ways to keep a log ---

ALL = HW + STATE + MAP + MCE + EDAC + APEI + SLAB + KASAN + HUNG + MOVE + \
    SEGV + "\n"
right = rows_of(ALL)[1]


def timeless(rows):
    """As of a log without the kernel's times."""
    return [{k: v for k, v in r.items() if k not in ("event_ns", "missing")}
            for r in rows]


tap.equal("all of them", len(right), 11)


def numbered(form, text):
    return "".join(form.format(n, line) + "\n"
                   for n, line in enumerate(text.splitlines()))


for name, form in (("dmesg", "[ {0}.000001] {1}"),
                   ("callers", "[ {0}.000001][   T72] {1}"),
                   ("CRLF", "[ {0}.000001] {1}\r"),
                   ("syslog", "Nov 22 12:03:02 host kernel: [ {0}.01] {1}"),
                   ("records of /dev/kmsg", "6,{0},{0}000,-;{1}")):
    tap.equal(name + ": the same rows",
              timeless(rows_of(numbered(form, ALL))[1]), timeless(right))
lines = STATE.splitlines()
mixed = "".join(f"[1.0][ T1] {a}\n[1.0][ T2] {b}\n"
                for a, b in zip(lines, MAP.splitlines()))
tap.equal("two at the same time, told apart by their callers",
          sorted((r["report"], r["pfn"], r["pid"], r.get("vaddr") or "")
                 for r in rows_of(mixed)[1]),
          [("bad_page_map", 0x81a09, 58, "0x7fff84619000"),
           ("bad_page_state", 0x81a09, 58, "")])
tap.equal("with lines of others in between: the same rows",
          rows_of(re.sub("\n", "\nusb 1-1: new device\n", ALL))[1], right)

# --- what is there now ---

root = os.path.join(tmp, "root")
scenario = os.path.join(tmp, "scenario")
with open(scenario, "w", encoding="ascii") as f:
    f.write("pages 80000\npage 0x81a0 flags=lru,anon,swapbacked count=1\n"
            "page 0x81a1 flags=buddy\n"
            "page 0x81a2 flags=hwpoison\n"
            "page 0x81a3 flags=lru,anon,swapbacked,hwpoison count=1\n")
subprocess.run([os.path.join(build, "tests/fixtures/mkproc"), scenario, root],
               check=True)
slab = """page: refcount:1 mapcount:0 mapping:0000000000000000 index:0x0 pfn:0x%x
flags: 0x200(slab|zone=0)
raw: 0000000000000200 ff1c000000068248 ff1c000000068248 0000000000000000
raw: 0000000000000000 0000000000000000 00000001ffffffff 0000000000000000
page dumped because: x
"""
anon = slab.replace("flags: 0x200(slab|zone=0)",
                    "anon flags: 0x14(lru|swapbacked)")
for name, text, changed in (
        ("another kind", slab % 0x81a0, True),
        ("the same kind", anon % 0x81a0, False),
        ("freed", anon % 0x81a1, True),
        ("poisoned, and still so",
         "Memory failure: 0x81a2: recovery action for dirty LRU page: "
         "Recovered\n", False),
        ("poisoned, and no longer so",
         "Memory failure: 0x81a0: already hardware poisoned\n", None),
        ("no page that is said to be anything",
         "Memory failure: 0x81a1: unhandlable page.\n", False)):
    for more in ([], ["--where", "at=now"], ["--fields", "pfn,notes,at"]):
        rows = ask("--root", root, "from-log", *more, stdin=text.encode())[1]
        now = [r for r in rows if r["at"] == "now"]
        # Some kernels do not report poison at all.
        if changed is None:
            changed = "hwpoison" not in \
                (now[0].get("flags_unknown") or ["hwpoison"])
        tap.equal(" ".join([name, *more]),
                  [("changed" in r["notes"], r.get("report")) for r in now],
                  [(changed, None)])
    tap.equal("what the text says has no such note",
              [r for r in rows if r["at"] == "log" and
               "changed" in r["notes"]], [])

# pagedet does not fill gaps of the text from the running kernel.
vague = anon.replace("anon flags: 0x14(lru|swapbacked)",
                     "flags: 0x4(referenced)") % 0x81a1
said, both = ([r for r in ask("--root", root, "from-log", "--fields", "all",
                              *more, stdin=vague.encode())[1]
               if r["at"] == "log"] for more in (["--text-only"], []))
for row in said + both:
    row.pop("time_ns")
    row.pop("missing")
tap.equal("what a text says stays what it says",
          [{f: r.get(f) for f in said[0]} for r in both], said)
tap.equal("that page is of an unknown kind", said[0]["kind"], "unknown")

# --- what only looks like one ---

bad = []
for text in ("Memory failure: 0x: x", "Memory failure: 0x1ffffffffffffffff: x",
             "Memory failure: 26f2: x", "BUG: Bad page state in process x",
             "BUG: Bad page state in process x  pfn:", "Soft offlining pfn ",
             "BUG: Bad page state in process x  pfn:1ffffffffffffffff",
             "MCE: Killing hw due to hardware memory corruption fault at 7f",
             "MCE: Killing hw:99999999999 due to hardware memory corruption "
             "fault at 7f", "Unpoison: words", "EDAC MC0: 1 CE x",
             "EDAC MC0: 1 CE x (page:0x offset:0x1)", "BUG  (Not tainted): x",
             "BUG: KASAN: ", "list_del corruption, NULL", "list_add double",
             "Buffer I/O error on dev , logical block 1", "XFS (): x",
             "Buffer I/O error on dev sda, logical block x",
             "I/O error, dev sda, sector", "INFO: task x blocked for more",
             "EXT4-fs error (device sda1): f:1: comm x: y",
             "{1}[Hardware Error]:   physical_address: 0x",
             "mce: [Hardware Error]: TSC ADDR", "{", "[", "BUG ", "B", "I"):
    rows = rows_of(text + "\n")[1]
    if rows:
        bad.append((text, rows))
tap.equal("no report, no row", bad, [])
status, rows, said = ask("--root", root, "from-log", stdin=(
    "Memory failure: 0xffffffffffffffff: unhandlable page.\n").encode())
tap.equal("a number that no page has",
          [(r["at"], r["pfn"], r.get("kind")) for r in rows],
          [("log", 2 ** 64 - 1, None), ("now", 2 ** 64 - 1, "hole")])
many = "BUG: KASAN: x in y\n" + "which belongs to the cache z of size 1\n" * \
    20000
tap.is_true("a report without end has one", len(rows_of(many)[1]) == 1)
tap.equal("many reports, none of which ends", len(rows_of(
    "".join(f"BUG kmalloc-{n} (Not tainted): x\n" for n in range(5000)))[1]),
          5000)
for end in range(0, len(ALL), 37):
    status, rows, said = rows_of(ALL[:end])
    if status not in (0, 1, 2) or len(rows) > 13:
        tap.equal(f"cut off at {end}", (status, said), 0)

shutil.rmtree(tmp)
tap.end()
