#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log
"""Tests public reports, retold in tests/fixtures/public-reports: each fact of
the text is in its row, and nothing is there that the text does not say. Then
variations of them, by the kernel and the machine that wrote them.
"""
import os
import subprocess

from captures import ask, command
from retold import (CORRUPT, HASHED, HOME, MISSING, Is, case, end, explains,
                    flag_not_clear, has, lacks, tap, text, tmp)

UNSURE = "may be hashed"
FREED = "PAGE_FLAGS_CHECK_AT_FREE flag(s) set"

# --- several reports at a time ---

DAMAGED = {"report": "bad_page_map", "flags": MISSING, "raw_flags": MISSING,
           "vaddr": MISSING, "notes": ["partial"]}
case("01-two-badmaps-interleaved/log.txt",
     DAMAGED | {"comm": "alpha", "pfn": 0x1bd9e5, "mapcount": -1,
                "reason": has("pte:80000001bd9e5227")},
     DAMAGED | {"comm": "beta", "pfn": 0x1aa111, "mapcount": -2,
                "reason": has("pte:80000001aa111227")}, status=2)
case("01-two-badmaps-interleaved/with-callers.txt",
     {"comm": "alpha", "pid": 4411, "pfn": 0x1bd9e5, "mapcount": -1,
      "vaddr": "0x7f6bbd2a1000", "flags": ["referenced"], "notes": [],
      "reason": "bad pte; pte:80000001bd9e5227 pmd:1b0d4c067"},
     {"comm": "beta", "pid": 4412, "pfn": 0x1aa111, "mapcount": -2,
      "vaddr": "0x7faaaa111000", "flags": ["dirty"], "notes": []})
case("02-two-badstates-interleaved/log.txt",
     {"comm": "z_wr_iss", "pfn": 0x920a5, "flags": MISSING,
      "raw_flags": MISSING, "object": MISSING, "notes": ["partial"]},
     {"comm": "kworker/u30:0", "pfn": 0xa95fc, "flags": MISSING,
      "raw_flags": MISSING, "object": MISSING, "notes": ["partial"]}, status=2)
case("02-two-badstates-interleaved/with-callers.txt",
     {"comm": "z_wr_iss", "flags": ["arch"], "object": FREED},
     {"comm": "kworker/u30:0", "flags": ["private"],
      "object": "nonzero _refcount"})

SLAB = {"report": "slab", "slab_cache": "sc4", "vaddr": "0xffff888141234500",
        "kind": "slab"}
LIST = {"report": "list", "vaddr": "0xffff888165234508"}
LOST_TASK = {"pid": Is("lost", lambda row, field: field in row["missing"]),
             "comm": Is("lost", lambda row, field: not row.get(field)),
             "notes": ["partial"]}
case("60-slab-and-list-interleaved/log.txt", SLAB | LOST_TASK,
     LIST | LOST_TASK, status=2, options=("--pointers",))
case("60-slab-and-list-interleaved/warning.txt",
     SLAB | {"pid": 444, "comm": "s4", "notes": []},
     LIST | {"pid": 606, "comm": "l6", "notes": []}, options=("--pointers",))
case("60-slab-and-list-interleaved/unknown-error.txt",
     LOST_TASK | {"report": "slab", "slab_cache": "kmalloc-64",
                  "vaddr": "0xffff888101234500"}, status=2,
     options=("--pointers",))
case("61-kfence-twice-interleaved/log.txt",
     *[LOST_TASK | {"report": "kfence", "vaddr": f"0xffff8c3f2e{n}3aff8",
                    "slab_cache": f"kc{n}",
                    "reason": has(f"in kfence-#{n}; size 7{n}")}
       for n in (1, 8)], status=2, options=("--pointers",))

# --- a tail whose head does not count it ---

STRAY = {"order": MISSING, "head_pfn": MISSING, "kind": MISSING,
         "mapcount": CORRUPT, "memcg_path": MISSING, "index": MISSING,
         "flags": (lacks("anon", "ksm", "compound_head"),
                   flag_not_clear("compound_tail"))}
case("03-tail-that-fits-no-folio/log.txt",
     STRAY | {"pfn": 0x46e01, "report": "bad_page_state", "comm": "fuzz356",
              "pid": 5919, "object": "nonzero pincount", "refcount": 0,
              "raw_flags": "0xfff00000000000"})
r = subprocess.run([command, "from-log", "--text-only", os.path.join(
    HOME, "03-tail-that-fits-no-folio/log.txt")], capture_output=True,
                   check=False)
tap.is_true("it is not said that the text lacks the mapcount",
            b"does not say" in r.stdout and b"mapcount" not in r.stdout,
            r.stdout)
explains("03-tail-that-fits-no-folio/log.txt", "0x46e01",
         said=("nonzero pincount",), unsaid=("anonymous memory",))
BLOCK = """\
page: refcount:0 mapcount:0 mapping:0000000000000000 index:0x1 pfn:0x{pfn:x}
flags: 0x{flags:x}(node=0|zone=1|lastcpupid=0x7ff)
raw: {flags:016x} ffffea00011b8000 00000000ffffffff ffffffffffffffff
raw: ffffffffffffffff 0000000000000000 00000000ffffffff 0000000000000000
page dumped because: {why}
"""
SINGLE = {"order": 0, "mapcount": 0, "memcg_path": None}
text("only the block that follows has no folio",
     "page does not match folio\n" +
     BLOCK.format(pfn=0x101, flags=0xfff00000000000, why="VM_BUG_ON_PAGE(a)") +
     BLOCK.format(pfn=0x102, flags=0xfff00000000001, why="VM_BUG_ON_PAGE(b)"),
     STRAY | {"pfn": 0x101}, SINGLE | {"pfn": 0x102})
text("by its caller, among others",
     "".join(f"[    1.00000{i}][    T{who}] {line}\n" for i, (who, line) in
             enumerate([(7, "page does not match folio"), *[
                 (who, line) for pair in zip(
                     BLOCK.format(pfn=0x201, flags=0xfff00000000001,
                                  why="VM_BUG_ON_PAGE(a)").splitlines(),
                     BLOCK.format(pfn=0x202, flags=0xfff00000000000,
                                  why="VM_BUG_ON_PAGE(b)").splitlines())
                 for who, line in zip((8, 7), pair)]])),
     SINGLE | {"pfn": 0x201}, STRAY | {"pfn": 0x202})
text("without callers it may be either, and neither is believed",
     "".join(f"[    1.00000{i}] {line}\n" for i, line in
             enumerate(["BUG: Bad page state in process a  pfn:00301",
                        "BUG: Bad page state in process b  pfn:00302",
                        "page does not match folio", *[
                            line for pair in zip(
                                BLOCK.format(pfn=0x301, flags=0xfff00000000001,
                                             why="x").splitlines(),
                                BLOCK.format(pfn=0x302, flags=0xfff00000000000,
                                             why="x").splitlines())
                            for line in pair]])),
     {"pfn": 0x301, "order": MISSING, "head_pfn": MISSING, "kind": MISSING,
      "mapcount": MISSING},
     {"pfn": 0x302, "order": MISSING, "head_pfn": MISSING, "kind": MISSING,
      "mapcount": MISSING}, status=2)

# --- addresses and hashes ---

case("04-hashed-address-as-vaddr/log.txt",
     {"report": "bad_page_map", "comm": "android.hardwar", "pid": 19371,
      "vma_prot": "r--p", "index": 34, "object": "libexample.so",
      "vaddr": MISSING, "refcount": 2, "mapcount": -127,
      "reason": has("pte:60000142391bcf")}, said=(HASHED,))
case("10-32-bit-called-hashed/mips.txt",
     {"report": "slab", "slab_cache": "kmalloc-128", "vaddr": "0x81c7c500",
      "object": "Left Redzone overwritten"}, unsaid=(HASHED,),
     options=("--pointers",))
case("10-32-bit-called-hashed/hashed.txt", {"vaddr": MISSING}, said=(HASHED,))
MAP = """\
BUG: Bad page map in process x  pte:4b54e100 pmd:4efd8831
addr:{} vm_flags:00100077 anon_vma:{} mapping:{} index:{}
file:{} fault:0x0 mmap:0x0 readpage:0x0
CPU: 0 PID: 1041 Comm: x Not tainted {} #1
"""
NULL, NONE = "  (null)", "0000000000000000"
for what, words, vaddr in (
        ("5.4, a real address", ("00007f6bbd2a1000", "ffff888101000000", NONE,
                                 "7f6bbd2a1", "a", "5.4.0"), "0x7f6bbd2a1000"),
        ("a low address", ("0000000020563000", "ffff8880547d2200", NONE,
                           "20563", "a", "6.1.0"), "0x20563000"),
        ("4.19, all are hashed", ("00000000d542fa8e", "00000000f1d43b2c",
                                  "0000000061a2c9b3", "22", "a", "4.19.0"),
         None),
        ("4.19, a hash that looks like a page",
         ("00000000d542f000", "00000000f1d43b2c", NONE, "22", "a", "4.19.0"),
         None),
        ("no pointer to compare with, private memory",
         ("0000000020563000", NONE, NONE, "20563", "a", "6.1.0"),
         "0x20563000"),
        ("no pointer, and no such index",
         ("0000000020563000", NONE, NONE, "7", "a", "6.1.0"), None),
        ("4.3 on 32 bits, private memory",
         ("b6b00000", "cdf193a0", NULL, "b6b00", "a", "4.3.6"), "0xb6b00000"),
        ("4.3 on 32 bits, a file",
         ("b6b00000", "cdf193a0", "cf014bd0", "12", "a", "4.3.6"),
         "0xb6b00000"),
        ("4.1 on 32 bits, not rounded down",
         ("b6b00123", "cdf193a0", NULL, "b6b00", "a", "4.1.6"), "0xb6b00000"),
        ("4.19 on 32 bits, all are hashed",
         ("d542fa8e", "f1d43b2c", "61a2c9b3", "22", "a", "4.19.0"), None),
        ("early during boot", ("(____ptrval____)", "(____ptrval____)",
                               "(____ptrval____)", "22", "a", "4.19.0"),
         None)):
    text("bad page map: " + what, MAP.format(*words),
         {"report": "bad_page_map", "vaddr": vaddr or MISSING,
          "vma_prot": "rwxp", "object": "a",
          "reason": "pte:4b54e100 pmd:4efd8831"})
text("slab, 32 bits: a hash does not have the offset's low bits", """\
BUG kmalloc-128 (Not tainted): Poison overwritten
INFO: Object 0x81c7c504 @offset=1280 fp=0x00000000
""", {"report": "slab", "vaddr": MISSING}, said=(HASHED,),
     options=("--pointers",))
for what, at, offset, vaddr, words in (
        ("two lines agree", 0x81c7c540, 1344, "0x81c7c500", None),
        ("one address twice has one hash", 0x81c7c500, 1280, None, UNSURE),
        ("two lines disagree", 0x81d7c540, 1344, None, HASHED)):
    text("slab, 32 bits: " + what, f"""\
BUG kmalloc-128 (Not tainted): Poison overwritten
INFO: 0x{at:08x}-0x{at:08x} @offset={offset}. First byte 0x6c instead of 0x6b
INFO: Object 0x81c7c500 @offset=1280 fp=0x00000000
""", {"report": "slab", "vaddr": vaddr or MISSING},
         said=(words,) if words else (),
         unsaid=() if words else (HASHED, UNSURE), options=("--pointers",))
OBJECT = "INFO: Object 0x81c7c500 @offset=1280 fp=0x00000000\n"
RANGE = ("INFO: 0x81c7c508-0x81c7c508. First byte 0x6c instead of 0x6b\n")
TASK = "CPU: 1 PID: 154 Comm: x Tainted: G    B   {} #1\n"
for what, words, vaddr in (
        ("one line that looks like an address", OBJECT, None),
        ("a free object near it",
         OBJECT.replace("fp=0x00000000", "fp=0x81c7c380"), "0x81c7c500"),
        ("the same object free", OBJECT.replace("fp=0x00000000",
                                                "fp=0x81c7c500"), None),
        ("a free object far from it",
         OBJECT.replace("fp=0x00000000", "fp=0x81d7c380"), None),
        ("a free object of the slab near it, 4.4", "INFO: Slab 0x808f2160 "
         "objects=10 used=6 fp=0x81c7c380 flags=0x4081\n" +
         OBJECT.replace("0x00000000", "0x  (null)"), "0x81c7c500"),
        ("its dump near it", OBJECT +
         "Redzone  81c7c480: cc cc cc cc cc cc cc cc cc cc cc cc\n",
         "0x81c7c500"),
        ("a dump of hashes", OBJECT +
         "Redzone  0b1c2d3e: cc cc cc cc cc cc cc cc cc cc cc cc\n", None),
        ("no offset at all", RANGE, None),
        ("no offset, but two near it", RANGE.replace("508-0x81c7c508",
                                                     "508-0x81c7c50b") +
         "Object 81c7c500: 6b 6b 6b\nObject 81c7c510: 6b 6b 6b\n",
         "0x81c7c508"),
        ("no offset, a kernel that does not hash",
         RANGE + TASK.format("4.9.45-v7+"), "0x81c7c508"),
        ("no offset, a kernel that may hash", RANGE + TASK.format("4.14.1"),
         None),
        ("no offset, a kernel that hashes", RANGE + TASK.format("5.10.110"),
         None)):
    text("slab, 32 bits: " + what,
         "BUG kmalloc-128 (Not tainted): Poison overwritten\n" + words,
         {"report": "slab", "vaddr": vaddr or MISSING},
         said=() if vaddr else (UNSURE,),
         unsaid=(HASHED, *((UNSURE,) if vaddr else ())),
         options=("--pointers",))
text("slab, 32 bits: the boot says that it does not hash",
     "Linux version 4.4.14 (a@b) (gcc) #1\n"
     "BUG kmalloc-128 (Not tainted): Poison overwritten\n" + RANGE,
     {"report": "slab", "vaddr": "0x81c7c508"}, options=("--pointers",))
SHORT = """\
BUG kmalloc-128 (Not tainted): Poison overwritten
{}CPU: 1 PID: 154 Comm: x Not tainted 4.4.0 #1
"""
for options in ((), ("--fields", "vaddr"), ("--fields", "vaddr,report")):
    text(f"slab, 32 bits: its address is hidden {options}",
         SHORT.format(OBJECT), {"vaddr": Is("hidden", lambda row, field:
              "c500" not in str(row))}, options=options)
    text(f"fault, 32 bits: its address is shown {options}",
         "prog[77]: segfault at f7123450 ip 00000000080484a1 sp "
         "00000000ffbb0cd0 error 4 in prog[8048000+1000]\n",
         {"vaddr": "0xf7123000"}, options=options)
text("slab, 32 bits: its address is hidden", SHORT.format(OBJECT),
     {"vaddr": Is("hidden", lambda row, field: "c500" not in str(row))})
path = os.path.join(tmp, "log")
r = subprocess.run([command, "from-log", "--text-only", path],
                   capture_output=True, check=False)
tap.is_true("and in the line of the event", b"slab" in r.stdout and
            b"c500" not in r.stdout, r.stdout)

# --- counts below zero ---

NEGATIVE = "05-negative-count/log.txt"
case(NEGATIVE,
     {"pfn": 0x2c9e04, "comm": "portald", "pid": 2671, "refcount": -1,
      "mapcount": 0, "flags": ["referenced", "dirty"],
      "raw_flags": "0xfffffc000000a", "object": "nonzero _refcount"})
explains(NEGATIVE, "0x2c9e04", said=("refcount -1",),
         unsaid=("its references (needs",))
for where, n in (("refcount<0", 1), ("refcount=-1", 1), ("refcount>-2", 1),
                 ("refcount>=0", 0), ("refcount>0", 0), ("mapcount>-1", 1)):
    status, rows, _ = ask("from-log", "--text-only", "--where", where,
                          os.path.join(HOME, NEGATIVE))
    tap.equal(f"--where {where}", len(rows), n)
for form, words in (("csv", ",-1,0"), ("text", "refcount -1")):
    r = subprocess.run([command, "from-log", "--text-only", "--format", form,
                        *(["--fields", "pfn,refcount,mapcount"]
                          if form == "csv" else []),
                        os.path.join(HOME, NEGATIVE)],
                       capture_output=True, check=False)
    tap.is_true(f"a count below zero as {form}", words in r.stdout.decode(),
                r.stdout, r.stderr)
r = subprocess.run([command, "--from", os.path.join(HOME, NEGATIVE), "explain",
                    "--json", "page", "0x2c9e04"],
                   capture_output=True, check=False)
tap.is_true("and in explain's JSON",
            b'"field":"refcount","value":-1,' in r.stdout, r.stdout)

# --- reports with a part ---

case("06-bad-page-map-dropped/cut.txt",
     {"report": "bad_page_map", "comm": "mapper", "notes": ["partial"],
      "reason": "pte:80000001bd9e5227 pmd:1b0d4c067"}, status=2)
case("06-bad-page-map-dropped/null-mapping.txt",
     {"report": "bad_page_map", "comm": "worker", "pid": 488,
      "vaddr": "0x7fc4722a5000", "vma_prot": "rw-p"})
case("06-bad-page-map-dropped/arm32.txt",
     {"report": "bad_page_map", "comm": "manager.", "pid": 1041,
      "vaddr": "0xb6b00000", "vma_prot": "rwxp"})

# --- what the same report contradicts ---

explains("07-explain-poison-ignored/ignored.txt", "0x30b7b18",
         said=("hwpoison", "Ignored"),
         unsaid=("the kernel does not use it any more",))
explains("07-explain-poison-ignored/failed.txt", "0x19c01f",
         said=("Failed", "refcount 2",
               "on that machine: end the tasks whose memory it is",
               ": 'pagedet mappers 1687583'"),
         unsaid=("the kernel does not use it any more", "uses its file",
                 "'pagedet --from",
                 "what reported it: a machine check"))
case("07-explain-poison-ignored/failed.txt",
     {"report": "memory_failure", "pfn": 0x19c01f, "vaddr": "0x20efd000",
      "object": "dirty swapcache page: Failed"},
     {"report": "dump_page", "pfn": 0x19c01f, "refcount": 2,
      "reason": "VM_BUG_ON_FOLIO(!folio_test_uptodate(folio))"})

# --- a struct page that something was written over ---

case("08-explain-believes-garbage/log.txt",
     {"pfn": 13312, "raw_flags": "0x6635333639363237", "flags": CORRUPT,
      "kind": CORRUPT, "node": CORRUPT, "order": CORRUPT,
      "refcount": CORRUPT, "mapcount": CORRUPT, "mapcount_kind": CORRUPT,
      "object": "PAGE_FLAGS_CHECK_AT_PREP flag(s) set",
      "reason": has("PAGE_FLAGS_CHECK_AT_PREP flag(s) set",
                    "struct page overwritten with the text '7269635f'")})
explains("08-explain-believes-garbage/log.txt", "0x3400",
         said=("PAGE_FLAGS_CHECK_AT_PREP", "with the text '7269635f'"),
         unsaid=("reserved when the kernel started", "what to do: nothing",
                 "slab", "tasks map it", "refcount"))
for words, says, whole in (
        ("6b6b6b6b6b6b6b6b " * 8, "with the byte 0x6b (a freed slab object)",
         True),
        ("5a5a5a5a5a5a5a5a " * 8, "with the byte 0x5a (a slab object before "
         "its use)", True),
        ("aaaaaaaaaaaaaaaa " * 8, "with the byte 0xaa (a free page)", True),
        ("7878787878787878 f8f8f8f8f8f8f8f8 " * 4,
         "with the bytes 0x78 and 0xf8", True),
        ("7878787878787878 " * 3 + "f8f8f8f8f8f8f8f8 0101010101010101 " +
         "0017ffffc0000000 " * 3, "with the bytes 0x78, 0xf8 and 0x01", True),
        ("ffff888101234560 " * 8, "with 0xffff888101234560, 8 times", False),
        ("0017ffffc0000000 6b6b6b6b6b6b6b6b 6b6b6b6b6b6b6b6b "
         "0000000000000000 " + "0000000000000000 " * 4,
         "in part with the byte 0x6b (a freed slab object)", False),
        ("0017ffffc0000000 dead000000000100 dead000000000122 "
         "0000000000000000 0000000000000001 0000000000000000 "
         "00000000ffffffff 0000000000000000", None, False)):
    word = words.split()
    path = os.path.join(tmp, "log")
    with open(path, "w", encoding="ascii") as f:
        f.write(f"""\
BUG: Bad page state in process x  pfn:03400
page:0000000084979a84 refcount:0 mapcount:0 mapping:0000000000000000 index:0x0 pfn:0x3400
flags: 0x{word[0].lstrip("0")}(slab|reserved|node=0|zone=1)
raw: {" ".join(word[:4])}
raw: {" ".join(word[4:])}
page dumped because: x
CPU: 3 PID: 8 Comm: x Not tainted 5.19.0 #1
""")
    _, rows, _ = ask("from-log", "--text-only", path)
    reason = rows[0]["reason"]
    tap.is_true(f"overwritten {says}",
                (reason == "x") if says is None else
                (reason == "x; struct page overwritten " + says), rows)
    tap.is_true(f"overwritten {says}: no tail is made of it",
                "compound_tail" not in rows[0].get("flags", []), rows)
    tap.equal(f"overwritten {says}: the counts",
              [rows[0].get("missing", {}).get(f) == "corrupt" for f in
               ("refcount", "mapcount", "mapcount_kind")],
              [whole or "times" in (says or "")] * 3)
    tap.equal(f"overwritten {says}: the flags",
              rows[0].get("missing", {}).get("flags") == "corrupt",
              whole or "times" in (says or ""))

# --- compound pages before 5.10 ---

case("09-compound-of-5.4/log.txt",
     {"pfn": 32258560, "flags": has("compound_head"), "order": MISSING,
      "head_pfn": 32258560},
     {"pfn": 32258561, "order": MISSING, "head_pfn": MISSING,
      "flags": (lacks("compound_head"), flag_not_clear("compound_tail"))})
OF_5_8 = """\
BUG: Bad page state in process vmm  pfn:{pfn:x}
page:ffffddd2fb0e8{at} refcount:1 mapcount:0 mapping:0000000000000000 index:0x0 head:ffffddd2fb0e8000 order:9 compound_mapcount:0 compound_pincount:0
flags: 0x{word:x}({names})
raw: {word:016x} {second} dead000000000122 0000000000000000
raw: 0000000000000000 0000000000000000 00000001ffffffff 0000000000000000
page dumped because: x
CPU: 4 PID: 96138 Comm: vmm Not tainted 5.8.0 #1
"""
text("5.8: the order is on the line of the page",
     OF_5_8.format(pfn=0x1ec3a00, at="000", word=0x2ffff8000010000,
                   names="head", second="dead000000000100") +
     OF_5_8.format(pfn=0x1ec3a01, at="040", word=0x2ffff8000000000, names="",
                   second="ffffddd2fb0e8001"),
     {"pfn": 0x1ec3a00, "order": 9, "head_pfn": 0x1ec3a00, "pincount": 0,
      "flags": has("compound_head")},
     {"pfn": 0x1ec3a01, "order": 9, "head_pfn": 0x1ec3a00,
      "flags": has("compound_tail"), "kind": MISSING})
text("5.15: a tail whose head is not near", """\
BUG: Bad page state in process vmm  pfn:1ec3a01
page:00000000c1552aa9 refcount:0 mapcount:0 mapping:0000000000000000 index:0x1 pfn:0x1ec3a01
flags: 0x2ffff8000000000(node=0|zone=2)
raw: 02ffff8000000000 ffffddd2fb0e8001 dead000000000122 0000000000000000
raw: 0000000000000000 0000000000000000 00000000ffffffff 0000000000000000
page dumped because: x
CPU: 4 PID: 96138 Comm: vmm Not tainted 5.15.0 #1
""", {"order": MISSING, "head_pfn": MISSING, "flags": has("compound_tail"),
      "kind": MISSING})

# --- what the text says is in a field ---

case("11-why-was-it-dumped/log.txt",
     {"pfn": 1114624, "order": 9, "flags": has("compound_head"), "refcount": 1,
      "pincount": 0, "object": MISSING,
      "reason": "VM_BUG_ON_PAGE(page_ref_count(page))"})
for damage, reason in (
        ("list_del corruption. prev->next should be ffff888012345678, but was "
         "dead000000000122. (prev=ffff888012340000)",
         "list_del corruption. prev->next should be ADDRESS, but was "
         "dead000000000122. (prev=ADDRESS)"),
        ("list_add corruption. next->prev should be prev (ffff888012345678), "
         "but was 0000000000000000. (next=ffff888012340000).",
         "list_add corruption. next->prev should be prev (ADDRESS), but was "
         "0000000000000000. (next=ADDRESS)."),
        ("list_add corruption. prev->next should be next (ffff888012345678), "
         "but was ffff888012345680. (prev=ffff888012345680).",
         "list_add corruption. prev->next should be next (ADDRESS), but was "
         "ADDRESS, that of prev. (prev=ADDRESS)."),
        ("list_del corruption. prev->next should be ffff888012345678, but was "
         "677ac660ffffffff", "list_del corruption. prev->next should be "
         "ADDRESS, but was 677ac660ffffffff"),
        ("list_del corruption. prev->next should be ffff888012345678, but was "
         "f7ffc660ffffffff", "list_del corruption. prev->next should be "
         "ADDRESS, but was ADDRESS"),
        ("list_del corruption. next->prev should be c0123458, but was "
         "6b6b6b6b", "list_del corruption. next->prev should be ADDRESS, but "
         "was 6b6b6b6b")):
    text(damage[:50], damage + "\n", {"report": "list", "reason": reason})
CSUM = ("BTRFS warning (device sda1): csum failed {}ino 257 off 8192 csum "
        "0xdeadbeef expected csum 0x12345678 mirror 1")
MACHINE = "Linux version 6.1.0 (a@b)\n"
for root, inode in (("root 5 ", 257), ("", 257), ("root -9 ", MISSING)):
    line = CSUM.format(root)
    text(f"a checksum, {root or 'before 4.11'}", line + "\n",
         {"report": "io_error", "inode": inode, "dev": MISSING,
          "reason": line})

# --- lines that are there twice ---

HEAD = "BUG: Bad page state in process x  pfn:2663f\n"
PAGE = ("page:fffffdeec998ffc0 count:0 mapcount:1 mapping:          (null) "
        "index:0x7fbd75fff\n")
REST = ("page flags: 0x2fffff0008001c(referenced|uptodate|dirty|swapbacked)\n"
        "raw: 002fffff0008001c 0000000000000000 0000000000000000 "
        "0000000000000001\n"
        "page dumped because: nonzero mapcount\n")
TWICE = {"report": "bad_page_state", "pfn": 0x2663f, "mapcount": 1,
         "raw_flags": "0x2fffff0008001c", "reason": "nonzero mapcount",
         "notes": []}
for what, words in (
        ("the first", HEAD + HEAD + PAGE + REST),
        ("the first two", HEAD + HEAD + PAGE + PAGE + REST),
        ("the second", HEAD + PAGE + PAGE + REST),
        ("all", "".join(line * 2 for line in
                        (HEAD + PAGE + REST).splitlines(keepends=True)))):
    text("lines that are there twice: " + what, words, TWICE)
for what, stamps in (("the same time", (1, 1, 1)),
                     ("another time", (1, 2, 2))):
    text("a line that is there twice, of " + what, "".join(
        f"[   1.00000{n}] {line}" for n, line in
        zip(stamps, (HEAD, HEAD, PAGE))),
         *[{"report": "bad_page_state", "notes": ["partial"]}] *
         (1 if stamps[1] == 1 else 2), status=2)
ZERO = "raw: ffffffffffffffff ffffffffffffffff ffffffffffffffff " \
    "ffffffffffffffff\n"
text("equal lines of one block are not copies",
     HEAD + PAGE + "flags: 0xffffffffffffffff(locked)\n" + ZERO + ZERO +
     "page dumped because: x\n", {"pfn": 0x2663f, "notes": []})

# --- a block whose first line is lost ---

for what, words in (("raw words and why", REST),
                    ("raw words", REST[:REST.index("page dumped")]),
                    ("why", REST[REST.index("page dumped"):]),
                    ("by its caller", "".join(
                        f"[    1.000001][    T7] {line}\n"
                        for line in REST.splitlines()))):
    text("a block without its first line: " + what, words, status=2,
         said=("like a report",), unsaid=("mentions no page",))

# --- prefixes ---

WRITER = {"report": "bad_page_state", "pfn": 0x12bf4c, "comm": "writer",
          "pid": 6166, "flags": ["referenced", "uptodate", "private"],
          "object": FREED}
for folder in ("12-what-stands-before-the-text",
               "13-first-line-with-more-before-it"):
    for name in sorted(os.listdir(os.path.join(HOME, folder))):
        case(f"{folder}/{name}", WRITER)

# --- a page of a file that is still mapped ---

CACHE = {"report": "bad_page_cache", "pfn": 0x31a07d4, "comm": "hwtest"}
case("56-bad-page-cache/log.txt", {"report": "memory_failure"},
     CACHE | {"pid": 5555, "refcount": 3, "mapcount": 1, "inode": 0x3c04,
              "object": "shmem_aops", "notes": [],
              "reason": "still mapped when deleted"}, options=("--pointers",))
text("the first line alone", "[  482.933775] BUG: Bad page cache in process "
     "hwtest  pfn:31a07d4\n", CACHE | {"notes": ["partial"]}, status=2)
explains("56-bad-page-cache/log.txt", "0x31a07d4",
         said=("bad page cache: still mapped when deleted",))

# --- memory without a struct page, which has no flags ---

NO_PAGE = {"report": "memory_failure", "pfn": 0x4000012345,
           "flags": lacks("hwpoison")}
case("57-memory-without-struct-page/log.txt",
     NO_PAGE | {"pid": 77, "comm": "qemu"},
     NO_PAGE | {"pid": 78, "comm": "vhost"})

# --- the task that made a check ---

CHECK = {"report": "dump_page", "pfn": 0x19c01f,
         "reason": "VM_BUG_ON_PAGE(PageTail(page))"}
case("58-failed-check-of-a-page/log.txt",
     CHECK | {"pid": 55, "comm": "dd", "notes": []})
for name in "warning.txt", "with-callers.txt":
    case(f"58-failed-check-of-a-page/{name}",
         {"report": "dump_page", "pfn": 0x12345, "pid": 4242,
          "comm": "kworker/u8:1", "notes": []})
case("58-failed-check-of-a-page/and-another.txt", CHECK | LOST_TASK, status=2)
for name in "log.txt", "warning.txt", "and-another.txt":
    r = subprocess.run([command, "from-log", "--text-only", "--details",
                        os.path.join(HOME, "58-failed-check-of-a-page", name)],
                       capture_output=True, check=False)
    tap.is_true(f"{name}: it is not said that the text lacks the task",
                b"pid" not in r.stdout[r.stdout.find(b"does not say"):]
                if b"does not say" in r.stdout else True, r.stdout)

# --- old kernels, and forms that are not known ---

case("16-count-before-5.1/log.txt",
     {"pfn": 1362531, "comm": "mailer", "pid": 342, "refcount": 1,
      "mapcount": 0, "flags": ["uptodate", "lru", "mappedtodisk"],
      "raw_flags": "0x8000000000020014", "object": FREED, "notes": []})
case("16-count-before-5.1/rhel7.txt",
     {"pfn": 1729535, "comm": "agentd", "pid": 20413, "refcount": 0,
      "mapcount": 1, "object": "nonzero mapcount",
      "flags": ["referenced", "uptodate", "dirty", "swapbacked"]})
case("17-no-page-is-mentioned/old-mce.txt",
     {"report": "memory_failure", "pfn": 0x41c2},
     {"report": "memory_failure", "pfn": 0x41c3})
case("17-no-page-is-mentioned/kfence.txt",
     {"report": "kfence", "vaddr": "0xffff8c4f3e293f60", "pfn": MISSING,
      "slab_cache": "kmalloc-32", "pid": 507, "comm": "netd",
      "reason": has("; in kfence-#24; size 32; allocated by task 507"),
      "notes": [],
      "object": "use-after-free read in sock_wfree+0x20/0x60"},
     options=("--pointers",))
case("17-no-page-is-mentioned/page-table.txt", status=2,
     said=("looks like a report",), unsaid=("no page is mentioned",))
folder = "59-reports-of-no-known-form"
for name in sorted(os.listdir(os.path.join(HOME, folder))):
    case(f"{folder}/{name}", status=2, said=("looks like a report",),
         unsaid=("mentions no page",))
text("a number of reports is not a report", "[  311.391230] BUG: Bad page state: "
     "12 messages suppressed\n", status=1)

end()
