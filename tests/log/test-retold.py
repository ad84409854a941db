#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log
"""Tests more public reports, retold in tests/fixtures/public-reports: kernels
from 2.6.18 to 6.18, of x86, arm, arm64, mips, powerpc, riscv and s390, with the
prefixes of consoles, daemons, telephones and mails.
"""
import os
import subprocess

from captures import ask, command
from retold import (HASHED, HOME, MISSING, Is, case, end, explains,
                    flag_not_clear, has, lacks, missing_or, owned, tap, text)

FREED = "PAGE_FLAGS_CHECK_AT_FREE flag(s) set"
SILENT = "mentions no page"

# --- bad pages ---

case("20-flags-twice/log.txt",
     {"report": "bad_page_state", "comm": "locker-c3", "pid": 6044,
      "pfn": 0x27b1ce, "refcount": 0, "mapcount": 0,
      "flags": ["referenced", "uptodate", "swapbacked", "mlocked"],
      "raw_flags": "0x20000000028000c", "object": FREED, "notes": []})
LEAK = {"report": "bad_page_state", "refcount": 0, "pid": 0,
        "object": "page_pool leak", "raw_flags": "0x57ffffc0000000",
        "notes": []}
case("21-page_pool-on-two-processors/log.txt",
     LEAK | {"comm": "swapper/11", "pfn": 0x1f4c21a},
     LEAK | {"comm": "swapper/40", "pfn": 0x1f4e977})
case("22-arrow-of-a-log-viewer/log.txt",
     {"report": "bad_page_state", "comm": "burnin", "pid": 2871,
      "pfn": 0xd61af, "refcount": 96, "mapcount": 0, "flags": [],
      "raw_flags": "0x0", "object": "nonzero _refcount", "notes": []})
explains("22-arrow-of-a-log-viewer/log.txt", "0xd61af",
         said=("nonzero _refcount", "refcount 96"))
case("23-vendor-prefix-of-a-phone/log.txt",
     {"report": "bad_page_state", "comm": "mediaserver",
      "pid": missing_or(1322), "pfn": 0x5d07e, "refcount": -1, "mapcount": 0,
      "flags": [], "raw_flags": "0x40000000", "notes": []})
case("24-flags-on-the-page-line/log.txt",
     {"report": "bad_page_state", "comm": "httpd", "pid": 7120,
      "pfn": 0x19d0f2, "refcount": 0, "mapcount": -1, "order": MISSING,
      "raw_flags": "0x6000000000083c", "flags": MISSING, "kind": MISSING,
      "notes": []})
explains("24-flags-on-the-page-line/log.txt", "0x19d0f2",
         said=("mapcount -1",))
case("25-form-of-2.6.18/log.txt",
     {"report": "bad_page_state", "comm": "cc1plus", "pfn": MISSING,
      "refcount": 0, "mapcount": 0, "raw_flags": "0x80000814",
      "flags": MISSING, "kind": MISSING})
case("36-unpoison-of-3.11/log.txt",
     {"report": "memory_failure", "pfn": 0x2a40, "vaddr": "0xb7651000",
      "reason": has("Ignored"), "flags": lacks("lru")},
     {"report": "unpoison", "pfn": 0x2a40, "flags": lacks("hwpoison")},
     {"report": "bad_page_state", "pfn": 0x2a40, "comm": "sh", "pid": 1904,
      "refcount": 0, "mapcount": 0, "flags": ["referenced", "reserved"],
      "raw_flags": "0x40000404", "notes": []})
explains("36-unpoison-of-3.11/log.txt", "0x2a40",
         unsaid=("the kernel does not use it any more",
                 "reserved when the kernel started"))
case("37-tail-with-foreign-words/log.txt",
     {"report": "bad_page_state", "pfn": 0x50d213, "comm": "arc_evict",
      "pid": 611, "object": has("corrupted mapping in tail page"),
      "raw_flags": "0x17ff44c00000a5", "refcount": missing_or(151),
      "notes": []})
explains("37-tail-with-foreign-words/log.txt", "0x50d213",
         said=("corrupted mapping in tail page",),
         unsaid=("anonymous memory", "free page"))
case("46-logcat-of-the-kernel-buffer/log.txt",
     {"report": "bad_page_state", "pfn": 0xa61c4, "comm": "Binder:702_5",
      "pid": 731, "refcount": -1, "mapcount": 0, "flags": [],
      "raw_flags": "0x0", "object": "nonzero _refcount", "notes": []})
case("50-tail-restored-by-hugetlb/log.txt",
     {"report": "bad_page_state", "pfn": 0x1c4a40, "comm": "kworker/1:2",
      "pid": 2231, "order": MISSING, "head_pfn": MISSING, "kind": MISSING,
      "mapcount": MISSING, "memcg_path": MISSING, "refcount": 0,
      "flags": (lacks("compound_head"), flag_not_clear("compound_tail")),
      "object": "corrupted mapping in tail page", "notes": []})

# --- bad page table entries ---

case("18-swap-entry-on-arm/log.txt",
     {"report": "bad_page_map", "comm": "gpg-agent", "pid": 1388,
      "vaddr": "0x7ec4d000", "vma_prot": "rw-p", "pfn": MISSING, "notes": [],
      "reason": "pte:80720000 pmd:391a5831"})
case("19-time-of-day-only/log.txt",
     {"report": "bad_page_map", "comm": "dmaprobe", "pid": 2207,
      "vaddr": "0x7f91200000", "vma_prot": "rw-p", "pfn": MISSING, "notes": [],
      "reason": "pte:80406050309030e pmd:800000021a44003"})
case("47-granted-pages-of-xen/log.txt",
     {"report": "bad_page_map", "pfn": 0xaa41d7, "comm": "Xorg", "pid": 4120,
      "refcount": 514, "mapcount": -513, "vaddr": "0x70a1c2d5f000",
      "vma_prot": "r--s", "object": "gntdev",
      "flags": has("dirty", "reserved", "private"),
      "reason": has("bad pte", "pte:8000000aa41d7365"), "notes": []})
NEW_MAP = "48-bad-page-map-of-6.18/log.txt"
LEVELS = "pgd:20a89f067 p4d:20a89f067 pud:20e5a2067 pmd:205327067"
case(NEW_MAP,
     {"report": "bad_page_map", "pfn": 0x2a1c5d, "comm": "vhost-4417",
      "pid": 8211, "refcount": 1, "mapcount": -1, "vaddr": "0x7fd84ab1c000",
      "vma_prot": "r--p", "object": "guest.img", "flags": [],
      "reason": "bad page map; pte:80000002a1c5d867 " + LEVELS, "notes": []})
explains(NEW_MAP, "0x2a1c5d",
         said=("the kernel reported: bad page map; pte:80000002a1c5d867 ",
               "; cannot tell what it is used for", "report bad_page_map"))
with open(os.path.join(HOME, NEW_MAP), encoding="ascii") as f:
    MAP = f.read().replace("[ T8211] ", "").splitlines(keepends=True)
SECOND = [line.replace("vhost-4417", "other").replace("2a1c5d", "2a1c5e")
          .replace("8211", "8212").replace("20a89f067", "30a89f067")
          for line in MAP]
# The second task's entries come when the first one's page has come.
text("two at a time, without callers: each has its own levels, or none",
     "".join([MAP[0], SECOND[0], *MAP[1:3], *SECOND[1:3],
              *(line for pair in zip(MAP[3:], SECOND[3:]) for line in pair)]),
     {"comm": "vhost-4417", "pfn": 0x2a1c5d, "reason": lacks("30a89f067")},
     {"comm": "other", "pfn": 0x2a1c5e,
      "reason": (has("30a89f067"), lacks("20a89f067"))}, status=2)

# --- blocks of dump_page() alone ---

case("49-folio-of-6.18/log.txt",
     {"report": "dump_page", "pfn": 0x38a7d2, "refcount": 11, "mapcount": 0,
      "order": 1, "head_pfn": 0x38a7d2, "index": 0x7652, "pincount": 0,
      "inode": 0xc0a1b7, "flags": has("locked", "referenced", "uptodate",
                                      "lru", "active", "compound_head"),
      "object": has("xfs_address_space_operations", "system.journal"),
      "reason": "VM_BUG_ON_FOLIO(!folio_contains(folio, index))",
      "notes": []})
explains("49-folio-of-6.18/log.txt", "0x38a7d2",
         said=("the kernel reported: dump of its struct page: VM_BUG_ON_FOLIO("
               "!folio_contains(folio, index)); it caches",),
         unsaid=("reclaim takes it",))
case("51-plain-dump-of-4.19/log.txt",
     {"report": "dump_page", "pfn": missing_or(0x307428e), "refcount": 1,
      "kind": "slab", "flags": ["slab", "compound_head"], "order": MISSING,
      "raw_flags": "0x500000000008100",
      "reason": "VM_BUG_ON_PAGE(PageSlab(page))", "notes": []})
case("52-plain-dump-of-5.13/log.txt",
     {"report": "dump_page", "pfn": 0x71600, "refcount": 0, "mapcount": 0,
      "flags": [], "raw_flags": "0xfff00000000000", "order": 0,
      "reason": "VM_BUG_ON_PAGE(!PageHead(page))", "notes": []})
owned("52-plain-dump-of-5.13/log.txt", "0x71600", order=9, pid=11190)
case("54-memory-offline-on-powerpc/log.txt",
     {"report": "migration", "pfn": 0x7f21, "refcount": 3, "mapcount": 1,
      "index": 0x2b, "inode": 0x1841f2,
      "flags": ["referenced", "uptodate", "lru", "active", "private"],
      "object": has("xfs_address_space_operations", "libjvm.so"),
      "reason": has("migrating pfn 7f21 failed ret:1"), "notes": []})
explains("54-memory-offline-on-powerpc/log.txt", "0x7f21",
         said=("the kernel reported: failed migration: migrating pfn 7f21 "
               "failed ret:1; tasks map it",))

# --- KASAN, KFENCE, SLUB and lists ---

case("26-KASan-of-4.1/log.txt",
     {"report": "kasan", "pid": 38, "comm": "ksoftirqd/5",
      "vaddr": "0xffff880c2b41a0c0", "pfn": MISSING,
      "reason": "use after free in conn_drop+0x2c9/0x340 [proxy]"},
     {"report": "slab", "slab_cache": "conn_cache", "kind": "slab",
      "vaddr": "0xffff880c2b41a0c0", "reason": "kasan: bad access detected"},
     options=("--pointers",))
case("27-kasan-of-4.14/log.txt",
     {"report": "kasan", "pid": 6110, "comm": "poll-race-tst",
      "vaddr": "0xffff88803f1c60a8", "slab_cache": "kmalloc-512",
      "kind": "slab", "refcount": 1, "flags": has("slab", "compound_head"),
      "pfn": missing_or(0x3f1c6), "raw_flags": "0x4000000000008100",
      "object": "use-after-free in _raw_spin_lock_irqsave+0x3a/0x5d",
      "notes": []}, options=("--pointers",))
case("28-kasan-of-6.15/log.txt",
     {"report": "kasan", "pid": 5902, "comm": "repro.15", "pfn": 0x431be,
      "vaddr": "0xffff8880431bea4a", "slab_cache": "kmalloc-96",
      "kind": "slab", "refcount": 0, "node": 1,
      "flags": has("slab"), "raw_flags": "0x4fff00000000200",
      "object": "slab-out-of-bounds in rec_read+0x1ec/0x470", "notes": []},
     options=("--pointers",))
owned("28-kasan-of-6.15/log.txt", "0x431be", order=0, pid=5840,
      comm="mount.img")
explains("28-kasan-of-6.15/log.txt", "0x431be",
         said=("kmalloc-96", "the kernel reported: KASAN: slab-out-of-bounds in"
               " rec_read+0x1ec/0x470; it is for objects", "report kasan",
               "event_ns 86117215000"))
case("29-kasan-stack-on-arm64/log.txt",
     {"report": "kasan", "pid": 81, "comm": "kworker/u17:2", "pfn": 0x4c3d1,
      "vaddr": "0xffff80000a4f7a60", "refcount": 1, "flags": [],
      "slab_cache": missing_or(None),
      "kind": Is("not slab", lambda row, field: row.get(field) != "slab"),
      "object": "stack-out-of-bounds in crc_walk+0x9c/0x118", "notes": []},
     options=("--pointers",))
case("41-kfence-in-a-polish-journal/log.txt",
     {"report": "kfence", "pid": 8812, "comm": "thumbs", "vaddr": MISSING,
      "slab_cache": "bfq_queue", "reason": has("allocated by task 301"),
      "object": "use-after-free read in bfq_exit_icq_bfqq+0x132/0x270",
      "notes": []}, said=(HASHED,), options=("--pointers",))
case("38-kmalloc-redzone-on-mips/log.txt",
     {"report": "slab", "slab_cache": "kmalloc-64", "kind": "slab",
      "vaddr": "0x81c2d500", "object": "kmalloc Redzone overwritten"},
     unsaid=(HASHED,), options=("--pointers",))
case("39-redzone-quoted-in-a-mail/log.txt",
     {"report": "slab", "slab_cache": "kmalloc-512", "kind": "slab",
      "object": "Redzone overwritten"}, options=("--pointers",))
case("40-object-already-free/log.txt",
     {"report": "slab", "slab_cache": "kmalloc-256", "vaddr": MISSING,
      "object": "Object already free"}, said=(HASHED,),
     options=("--pointers",))
case("42-lists-in-a-cyrillic-journal/log.txt",
     {"report": "list", "pfn": MISSING, "vaddr": "0xffff98f1c438b5d0",
      "reason": has("list_del corruption. prev->next should be")},
     options=("--pointers",))
case("43-list-with-a-null-entry/log.txt",
     {"report": "list", "pfn": MISSING, "vaddr": "0xffff8800591eaee8",
      "reason": has("list_del corruption. next->prev should be", "(null)")},
     options=("--pointers",))

# --- memory errors ---

case("33-edac-with-and-without-a-page/log.txt",
     {"report": "edac", "pfn": MISSING, "event_ns": MISSING,
      "reason": "3 CE error on CPU#0Channel#2_DIMM#0"},
     {"report": "edac", "pfn": 0x8c1a47e, "event_ns": MISSING,
      "reason": "1 UE memory read error on CPU_SrcID#1_MC#1_Chan#2_DIMM#0"})
case("34-apei-corrected/log.txt",
     {"report": "apei", "pfn": MISSING,
      "reason": has("error_type: 2, single-bit ECC")})
case("35-soft-offline-of-3.7/log.txt",
     {"report": "soft_offline", "pfn": 0x2ac7,
      "reason": "unknown non LRU page type 100000000000400"},
     {"report": "memory_failure", "pfn": 0x2ac7, "reason": has("Ignored"),
      "flags": lacks("lru")})
explains("33-edac-with-and-without-a-page/log.txt", "0x8c1a47e",
         said=("the kernel reported: EDAC memory error: 1 UE memory read "
               "error on CPU_SrcID#1_MC#1_Chan#2_DIMM#0; ", "report edac"))
explains("35-soft-offline-of-3.7/log.txt", "0x2ac7",
         said=("the kernel reported: memory failure: non LRU page recovery: "
               "Ignored; ",),
         unsaid=("the kernel does not use it any more",))

# --- faults of programs ---

case("30-fault-on-mips/log.txt",
     {"report": "fault", "comm": "pgrep", "pid": MISSING,
      "vaddr": missing_or("0x0"), "object": "libc.so", "pfn": MISSING,
      "reason": has("read by the program: sending SIGSEGV to pgrep",
                    "; epc: 77d3a928 in libc.so[77d16000+b2000]")})
for name, who in (("30-fault-on-mips", "pgrep: cannot tell"),
                  ("31-fault-on-riscv", "ld[3340]: cannot tell"),
                  ("55-fault-on-s390", "mounter[1204]: cannot tell")):
    path = os.path.join(HOME, name, "log.txt")
    r = subprocess.run([command, "explain", "crash", path],
                       capture_output=True, check=False)
    tap.is_true(f"{name}: explain crash", who in r.stdout.decode(), r)
case("31-fault-on-riscv/log.txt",
     {"report": "fault", "comm": "ld", "pid": 3340, "pfn": MISSING,
      "vaddr": "0x3000", "object": "libc.so.6", "event_ns": 1422704118000,
      "reason": has("nothing is mapped there: "
                    "unhandled signal 11 code 0x1 at 0x0000000000003018")},
     status=2, said=("looks like a report",))   # "bad pud"
case("32-faults-on-powerpc/log.txt",
     {"report": "fault", "comm": "init", "pid": 77,
      "vaddr": missing_or("0x0"), "object": "busybox", "pfn": MISSING,
      "reason": has("nothing is mapped there: segfault (11) at 58")},
     {"report": "fault", "comm": "occ-agentd", "pid": 2894,
      "vaddr": missing_or("0x0"), "pfn": MISSING,
      "reason": has("nothing is mapped there: unhandled signal 11")})
case("55-fault-on-s390/log.txt",
     {"report": "fault", "comm": "mounter", "pid": 1204,
      "vaddr": "0x3ff90fff000", "object": "libmaps.so", "pfn": MISSING,
      "reason": has("User process fault: interruption code 0010")})
text("signals other than of memory have the address of the instruction",
     "init[1]: unhandled signal 4 code 0x1 at 0x0000000080000040 in "
     "init[80000000+1000]\n",
     {"report": "fault", "pid": 1, "vaddr": MISSING, "object": "init",
      "reason": has("unhandled signal 4")})
text("its mapping forbids it",
     "cat[9]: segfault (11) at 3fff9474f000 nip 1000 lr 1000 code 2 in "
     "cat[1000+1000]\n",
     {"report": "fault", "vaddr": "0x3fff9474f000",
      "reason": has("its mapping forbids it")})
text("a write", "do_page_fault(): sending SIGSEGV to a for b for invalid "
     "write access from 00403000\nepc = 00401000 in a[400000+4000]\n",
     {"report": "fault", "comm": "a for b", "vaddr": "0x403000",
      "object": "a", "reason": has("write by the program")})

# --- tasks, disks, and what names no page ---

case("53-hung-on-a-moving-page/log.txt",
     {"report": "hung_task", "pid": 2290, "comm": "indexer", "pfn": MISSING,
      "reason": "__migration_entry_wait+0x5c/0xa4"})
BTRFS = ("BTRFS warning (device sdb2): csum failed root 258 ino 8114223 off "
         "8192 csum 0xa81240b1 expected csum 0x0c62ca5b mirror 1")
EXT4 = ("EXT4-fs error (device mmcblk0p2): ext4_lookup:1855: inode #131: comm "
        "find: iget: checksum invalid")
case("45-checksums-of-two-filesystems/log.txt",
     {"report": "io_error", "inode": 8114223, "dev": MISSING,
      "index": missing_or(2), "reason": BTRFS},
     {"report": "io_error", "inode": 131, "dev": MISSING, "reason": EXT4})
case("44-allocation-failures-name-no-page/log.txt", status=1, said=(SILENT,))

# --- as a source ---

for name in sorted(os.listdir(HOME)):
    path = os.path.join(HOME, name, "log.txt")
    if not os.path.exists(path) or \
       not ask("from-log", "--text-only", path)[1]:
        continue
    status, _, said = ask("--from", path, "page", "0x1")
    tap.is_true(f"{name}: --from takes it for a kernel log", status != 65,
                status, said)

# --- prefixes of these, and lines that are cut ---

STATE = """\
BUG: Bad page state in process x  pfn:12bf4c
page:{}refcount:0 mapcount:0 mapping:0000000000000000 index:0x4 pfn:0x12bf4c
memcg:ffff888162f4c000
aops:ext4_da_aops ino:1a dentry name:"a: b"
flags: 0x17ffffc0000004(referenced|node=0|zone=2|lastcpupid=0x1fffff)
raw: 0017ffffc0000004 dead000000000100 dead000000000122 0000000000000000
raw: 0000000000000004 0000000000000000 00000000ffffffff ffff888162f4c000
page dumped because: nonzero _refcount
CPU: 1 PID: 8 Comm: x Not tainted 5.15.90 #1
"""
READ = {"report": "bad_page_state", "pfn": 0x12bf4c, "comm": "x", "pid": 8,
        "refcount": 0, "flags": ["referenced"], "inode": 0x1a,
        "object": "nonzero _refcount", "notes": []}


def logcat(line, root=""):
    """The tag has eight columns at least, and a blank is cut behind it."""
    tag, colon, rest = line.partition(":")
    if " " in tag or not colon:
        tag, rest = "", line
    return (f"06-18 22:41:10.507 {root}    0     0 E {tag:8}: "
            f"{rest.lstrip()}\n")


for what, page in (("before 6.9", "00000000c1552aa9 "), ("of 6.9", " ")):
    lines = STATE.format(page).splitlines()
    text(f"logcat, {what}", "".join(map(logcat, lines)), READ)
    text(f"logcat -v uid, {what}",
         "".join(logcat(line, " root ") for line in lines), READ)
    for head in ("c0 ", "c3 8 (x) ", "c11 8 ((a b)) "):
        text(f"{head}, {what}", "".join(
            f"<4>[   12.000001] {head}{line}\n" for line in lines), READ)
text("logcat, a tag with blanks", "06-18 22:41:10.507     0     0 E EXT4-fs "
     "error (device dm-0): ext4_lookup:1855: inode #131: comm find: iget: checksum "
     "invalid\n", {"report": "io_error", "inode": 131})
tap.equal("logcat: another process says so", ask(
    "from-log", "--text-only", stdin=b"06-18 22:41:10.507   731   731 E BUG     "
    b": Bad page state in process x  pfn:12bf4c\n")[1], [])
for line in ("06-18 22:41:10.507     0     0 E", "06-18 22:41:10.507     0",
             "06-18 ", "06-18 22:41:10.507     0     0 E :", "c1", "c1 2 (",
             "do_page_fault(): ", "do_page_fault(): sending SIGSEGV to x",
             "do_page_fault(): sending SIGSEGV to x for invalid read access "
             "from ", "User process fault: interruption code ",
             "ld[3]: unhandled signal ", "ld[3]: unhandled signal 11 code 0x1",
             "ld[3]: unhandled signal 11 at 0", "ld[3]: segfault (",
             "ld[3]: segfault (11) at 0 nip", "Bad page state in process ",
             "Bad page state in process '", "MCE: Software-unpoisoned page ",
             "MCE: Page was already unpoisoned", "pgd:", "pgd:1 p4d:2",
             "BUG: KASan: ", "bad because of flags:", "flags: 0x1(locked)",
             "Pid: ", "Pid: 5, comm: x Not tainted", "epc = 0"):
    tap.equal(f"no report: {line}", [ask("from-log", "--text-only", stdin=(
        stamp + line + "\n").encode())[1] for stamp in
        ("", "[    1.000001] ")], [[], []])

end()
