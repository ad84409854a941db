#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log
"""Tests memory errors in a kernel log: how their handling ended, in the words of
kernels from 2.6.32 on, and what pagedet explain says of it.
"""
import json
import re
import subprocess
import tempfile

from captures import Tap, ask, command, explain

tap = Tap()


def in_order(log):
    """The log, with times that go on from line to line of a boot."""
    lines, now = [], 0
    for line in log.splitlines(keepends=True):
        now = 0 if line.startswith("[    0.000000]") else now + 1
        lines.append(re.sub(r"^\[ *[0-9]+\.", f"[{now:5}.", line))
    return "".join(lines)


def explained(log, pfn):
    log = in_order(log)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(log)
        f.flush()
        return explain(f.name, pfn)[0]


IGNORED = """\
[  307.264845] Memory failure: 0x30b7b18: unhandlable page.
[  307.264899] Memory failure: 0x30b7b18: recovery action for unknown page: %s
"""
for how in ("Ignored", "Failed", "Delayed"):
    text = explained(IGNORED % how, "0x30b7b18")
    tap.equal(how + ": it is not said to be out of use",
              ("poisoned-in-use, certain" in text, how in text,
               "set aside" in text), (True, True, False))
text = explained(IGNORED % "Recovered", "0x30b7b18")
tap.equal("Recovered: it is", "set-aside-as-poisoned, certain" in text, True)

# A name of 15 bytes may be anything.
NAMED = """\
Memory failure: 0x30b7b18: Sending SIGBUS to %s:137 due to hardware memory \
corruption
"""
OUTCOME = """\
Memory failure: 0x30b7b18: recovery action for dirty LRU page: %s
"""
for name in ("x: Failed", "x: Recovered", "y: Ignored; z", "page: Failed; x"):
    text = explained(NAMED % name + OUTCOME % "Recovered", "0x30b7b18")
    tap.equal(name + ": Recovered", "set-aside-as-poisoned, certain" in text,
              True)
    text = explained(NAMED % name + OUTCOME % "Failed", "0x30b7b18")
    tap.equal(name + ": Failed", "poisoned-in-use, certain" in text, True)
    text = explained(NAMED % name, "0x30b7b18")
    tap.equal(name + ": no outcome", "set-aside-as-poisoned, high" in text,
              True)
text = explained(NAMED % "a" + NAMED.replace("137", "138") % "b" +
                 OUTCOME % "Failed", "0x30b7b18")
tap.equal("two tasks, one outcome", "poisoned-in-use, certain" in text, True)

STEPS = "".join("Memory failure: 0x30b7b18: step %d of what the kernel did, "
                "in many words that fill the line\n" % i for i in range(20))
BLOCK = """\
page: refcount:2 mapcount:0 mapping:0000000000000000 index:0x20efd pfn:0x30b7b18
anon flags: 0x5ffffe00482011(locked|dirty|arch_1|swapbacked|hwpoison|node=0|\
zone=2|lastcpupid=0xfffff)
raw: 005ffffe00482011 dead000000000100 dead000000000122 ffff0000e242a7c9
raw: 0000000000020efd 0000000000000000 00000002ffffffff ffff0000dd7e9000
page dumped because: %s
""" % ("words " * 100)
for how in ("Failed", "Recovered"):
    said = ("poisoned-in-use, certain" if how == "Failed" else
            "set-aside-as-poisoned, certain")
    text = explained(STEPS + OUTCOME % how, "0x30b7b18")
    tap.equal(how + " after many lines",
              (said in text, "dirty LRU page: " + how in text,
               " ..." in text), (True, True, True))
text = explained(STEPS + OUTCOME % "Failed" + BLOCK, "0x30b7b18")
tap.equal("and before a long reason", "poisoned-in-use" in text and
          "words ...; before: dirty LRU page: Failed; step" in text, True)

# Steps that are said more than once; other lines part the events.
AGAIN = "Memory failure: 0x30b7b18: already hardware poisoned\n"
OTHERS = "".join("usb 1-1: line %d\n" % i for i in range(100))
UNMAP = "Memory failure: 0x30b7b18: failed to unmap page (mapcount=1)\n"
text = explained(UNMAP * 2 + OUTCOME % "Failed", "0x30b7b18")
tap.equal("the same step twice is said once",
          (text.split("\n")[0].count("failed to unmap"), "poisoned-in-use, certain" in text),
          (1, True))
text = explained(UNMAP + OUTCOME % "Failed" + (OTHERS + AGAIN) * 2,
                 "0x30b7b18")
tap.equal("two events later: the outcome still holds",
          ("reported: memory failure: already hardware poisoned; before: dirty "
           "LRU page: Failed; failed to unmap page (mapcount=1); marked" in
           text, "poisoned-in-use, certain" in text), (True, True))
text = explained(OUTCOME % "Failed" + OTHERS + BLOCK + OTHERS + AGAIN,
                 "0x30b7b18")
tap.equal("after a report of another kind, too",
          ("before: dirty LRU page: Failed" in text,
           "poisoned-in-use, certain" in text), (True, True))
# before 4.2
text = explained("MCE 0x41c3: Killing x: Recovered:1137 due to hardware memory "
                 "corruption\nMCE 0x41c3: dirty LRU page recovery: Failed\n",
                 "0x41c3")
tap.equal("the outcome in older words comes first, too",
          ("memory failure: dirty LRU page recovery: Failed; Killing" in text,
           "poisoned-in-use, certain" in text), (True, True))

FAILED = """\
[  311.200114] Injecting memory failure for pfn 0x19c01f at process virtual \
address 0x20efd000
[  311.200431] Memory failure: 0x19c01f: dirty swapcache page still referenced \
by 2 users
[  311.200436] Memory failure: 0x19c01f: recovery action for dirty swapcache \
page: Failed
[  311.391201] page: refcount:2 mapcount:0 mapping:0000000000000000 \
index:0x20efd pfn:0x19c01f
[  311.391209] anon flags: 0x5ffffe00482011(locked|dirty|arch_1|swapbacked|\
hwpoison|node=0|zone=2|lastcpupid=0xfffff)
[  311.391214] raw: 005ffffe00482011 dead000000000100 dead000000000122 \
ffff0000e242a7c9
[  311.391217] raw: 0000000000020efd 0000000000000000 00000002ffffffff \
ffff0000dd7e9000
[  311.391220] page dumped because: VM_BUG_ON_FOLIO(!folio_test_uptodate(\
folio))
"""
text = explained(FAILED, "0x19c01f")
tap.equal("a later block: what was said before still holds",
          ("poisoned-in-use" in text, "before: dirty swapcache page: Failed"
           in text, "refcount 2" in text, "what reported it" in text,
           "injected for a test: the log says so" in text),
          (True, True, True, False, True))

# --- what the kernel does with each type of page ---

USED = "poisoned-in-use, certain"
USED_LIKELY = "poisoned-in-use, high"
ASIDE = "set-aside-as-poisoned, certain"
ASIDE_LIKELY = "set-aside-as-poisoned, high"
ASIDE_MAYBE = "set-aside-as-poisoned, medium"


def says(name, log, *has, lacks=(), pfn="0x1234"):
    text = explained(log, pfn)
    first = text.split("\n\n", maxsplit=1)[0]
    tap.is_true(name, all(w in first for w in has) and
                not any(w in first for w in lacks), text)


def failed(*lines, mark="Memory failure: 0x1234: "):
    return "".join(f"[{i + 1:5}.000001] {mark}{line}\n"
                   for i, line in enumerate(lines))


def action(kind, result):
    return f"recovery action for {kind}: {result}"


KILL = "Sending SIGBUS to prog:412 due to hardware memory corruption"
FORCED = ("forcibly killing prog:412 because of failure to unmap corrupted "
          "page")

# A second report of the same error changes nothing.
for again in ((action("already poisoned page", "Failed"),),
              ("already hardware poisoned",),
              ("already hardware poisoned",
               action("already poisoned", "Failed")),
              (KILL.replace("412", "512"),
               action("already poisoned page", "Failed")),
              (action("huge page already hardware poisoned", "Ignored"),)):
    says(f"recovered before {again}", failed(
        KILL, action("dirty LRU page", "Recovered"), *again), ASIDE,
         "before: dirty LRU page: Recovered", lacks=("could not handle",))
    says(f"not recovered before {again}", failed(
        KILL, action("dirty LRU page", "Failed"), *again), USED,
         "before: dirty LRU page: Failed")
    says(f"nothing before {again}", failed(*again), ASIDE_MAYBE,
         "how its first report was handled", lacks=("could not handle",))
says("many of them", failed(
    KILL, action("dirty LRU page", "Recovered"),
    *[line for pid in range(1000, 1040) for line in (
        KILL.replace("412", str(pid)),
        action("already poisoned page", "Failed"))]),
     ASIDE, "before: dirty LRU page: Recovered")

# The report of another task may be complete before the outcome comes.
NOISE = [f"usb 1-{i}: new device" for i in range(40)]
MANY = "".join(f"[{i + 1:5}.000001] {line}\n" for i, line in enumerate([
    "Memory failure: 0x1234: " + KILL,
    "Memory failure: 0x1234: " + KILL.replace("412", "512"), *NOISE,
    "Memory failure: 0x1234: " + KILL, *NOISE,
    "Memory failure: 0x1234: " + action("dirty LRU page", "Failed")]))
says("two tasks, and a late outcome", MANY, USED,
     "before: dirty LRU page: Failed")

# --- a page that could not be unmapped ---

for lines, verdict in (
        ((FORCED,), "poisoned-in-use, medium"),
        (("failed to unmap page (mapcount=2)", FORCED), USED_LIKELY),
        (("failed to unmap page (folio mapcount=1)",), USED_LIKELY),
        (("failed to unmap page (mapcount=2)", FORCED,
          action("unmapping failed page", "Ignored")), USED),
        ((KILL, action("unmapping failed page", "Failed")), USED),
        ((KILL, action("unsplit thp", "Failed")), USED)):
    says(f"mapped: {lines}", failed(*lines), verdict, "unmap",
         lacks=("set aside", "could not handle"))
# A task whose address of it was not found is killed, too.
LOST = "Memory failure: Unable to find user space address 1234 in prog\n"
says("its address was not found", LOST + failed(FORCED), ASIDE_LIKELY,
     "Unable to find user space address")
says("and it was unmapped", LOST + failed(
    FORCED, action("dirty LRU page", "Recovered")), ASIDE)

# --- each type of page, and each result that the kernel gives to it ---

KERNEL = ("did nothing but mark it", "restart the machine when")
CACHE = ("has unmapped it, but could not remove it", "stop what uses its file")
TASKS = ("could not unmap it from all tasks", "end the tasks that map it")
TAKEN = ("was taken out of its list",)
LRU = [f"{d} {k}LRU page" for d in ("dirty", "clean")
       for k in ("", "mlocked ", "unevictable ")]
for kinds, result, verdict, words in (
        (("reserved kernel page", "high-order kernel page",
          "kernel slab page", "get hwpoison page", "unknown page",
          "different compound page after locking"), "Ignored", USED, KERNEL),
        (("unknown page",), "Failed", USED, KERNEL),
        (("unmapping failed page", "unsplit thp",
          "non-pmd-sized huge page"), "Ignored", USED, TASKS),
        (("unmapping failed page", "unsplit thp"), "Failed", USED, TASKS),
        (LRU, "Failed", USED, CACHE),
        (LRU, "Recovered", ASIDE, ("the kernel does not use it any more",)),
        (("dirty swapcache page", "clean swapcache page", "huge page"),
         "Failed", USED, CACHE),
        (("clean swapcache page", "huge page", "free huge page"),
         "Recovered", ASIDE, ("the kernel does not use it any more",)),
        (("dirty swapcache page",), "Delayed", ASIDE,
         ("no task maps it any more", "stays in the swap cache",
          "its contents are lost", "is killed (SIGBUS)")),
        (("huge page",), "Delayed", ASIDE_LIKELY,
         ("no task maps it any more", "its file, if it is of one")),
        (("free huge page",), "Delayed", ASIDE,
         ("the kernel does not use it any more",)),
        (("free huge page",), "Ignored", USED, TAKEN),
        (("free huge page",), "Failed", USED, TAKEN),
        (("free buddy page", "free buddy page (2nd try)"), "Delayed",
         ASIDE_LIKELY, ("while it was free",)),
        (("free buddy page", "free buddy page (2nd try)"), "Recovered", ASIDE,
         ("while it was free",)),
        (("free buddy page",), "Failed", USED, TAKEN),
        (("already truncated LRU page",), "Ignored", ASIDE_LIKELY,
         ("no task maps it", "does not hand it out again")),
        (("dax page",), "Recovered", USED,
         ("memory of a device (dax)", "restore its file from a copy")),
        (("dax page",), "Failed", USED, ("memory of a device (dax)",)),
        (("a page of a kernel to come",), "Ignored", USED,
         ("could not handle the error, and says so",))):
    for kind in kinds:
        says(f"{kind}: {result}", failed(action(kind, result)), verdict,
             f"{kind}: {result}", *words,
             lacks=("damaged bytes, or is killed",)
             if "damaged bytes" not in "".join(words) and
             verdict == ASIDE else ())

# --- what found it ---

ABOUT = "a machine check, firmware (APEI), or a test"
OFFLINE = "a machine check, soft offlining, or a test"
for line, found in ((action("dirty LRU page", "Recovered"), ABOUT),
                    ("already hardware poisoned", OFFLINE)):
    text = explained(failed(line), "0x1234")
    tap.equal("what found it: " + line,
              [w in text for w in (ABOUT, OFFLINE)],
              [found == w for w in (ABOUT, OFFLINE)])

INJECT = "[    0.500001] Injecting memory failure for pfn 0x1234\n"
TEST = "injected for a test: the log says so"
for name, log, has, lacks in (
        ("it was marked before the injection", INJECT + failed(
            "already hardware poisoned"), OFFLINE, TEST),
        ("and has two lines", INJECT + failed(
            "already hardware poisoned",
            action("already poisoned page", "Failed")), OFFLINE, TEST),
        ("injected twice", INJECT + failed(action(
            "dirty LRU page", "Recovered")) + INJECT + failed(
                "already hardware poisoned"), TEST, ABOUT),
        ("injected, and its first report has no end", INJECT + failed(KILL) +
         INJECT + failed(KILL.replace("412", "512"), action(
             "already poisoned page", "Failed")), TEST, OFFLINE),
        ("the first one was not a test", failed(action(
            "dirty LRU page", "Recovered")) + INJECT + failed(
                "already hardware poisoned"), ABOUT, TEST),
        ("injected, and given up by its file", INJECT + failed(action(
            "already truncated LRU page", "Ignored")), TEST, ABOUT),
        ("given up by its file", failed(action(
            "already truncated LRU page", "Ignored")), ABOUT, OFFLINE)):
    text = explained(log, "0x1234")
    tap.is_true("what found it: " + name, has in text and lacks not in text,
                text)

says("without a struct page there is no mark", failed(
    action("non struct page pfn", "Recovered")), "use-unknown",
     lacks=("hwpoison", "set aside"))

# --- taken offline ---

for line, marked in (("soft_offline: 0x1234: invalidated", True),
                     ("soft offline: 0x1234: page leaked", True),
                     ("soft offline: 0x1234 page already poisoned", True),
                     ("soft offline: 0x1234 hugepage already poisoned", True),
                     ("soft offline: 0x1234: migration failed 1, type 4000",
                      False),
                     ("soft_offline: 0x1234: unknown non LRU page type 4000",
                      False),
                     ("get_any_page: 0x1234 free buddy page", False)):
    says(line, failed(line, mark=""),
         ASIDE_LIKELY if marked else "use-unknown",
         lacks=() if marked else ("set aside", "hwpoison"))

# --- kernels before 5.16 look for other references after the outcome ---

AFTER = failed(action("dirty LRU page", "Recovered"),
               "dirty LRU page still referenced by 1 users")
says("references come after the outcome", AFTER, USED,
     "still has references to it", "before: dirty LRU page: Recovered")
says("and before a report of it again", AFTER + failed(
    "already hardware poisoned"), USED, "still has references to it")
says("a page is marked before its references are counted", failed(
    "dirty LRU page still referenced by 1 users"), USED)
says("another report does not take the mark away", failed(
    action("dirty LRU page", "Recovered")) +
     "[    9.000001] Buffer I/O error on dev sda1, logical block 12, lost async "
     "page write\n" + "[   10.000001] migrating pfn 1234 failed ret:1\n", ASIDE,
     "before: dirty LRU page: Recovered")
says("or before the outcome", failed(
    "dirty LRU page still referenced by 1 users",
    action("dirty LRU page", "Failed")), USED)

# --- before 4.9, before 4.3, and 2.6.32 ---

MCE = "MCE 0x1234: "
for line, verdict, words in (
        (action("dirty LRU page", "Recovered"), ASIDE, ()),
        ("dirty LRU page recovery: Recovered", ASIDE, ()),
        ("LRU page recovery: Recovered", ASIDE, ()),
        ("dirty mlocked LRU page recovery: Failed", USED, CACHE),
        ("swapcache page recovery: Delayed", ASIDE,
         ("stays in the swap cache",)),
        ("free buddy page recovery: Delayed", ASIDE_LIKELY,
         ("while it was free",)),
        ("free buddy, 2nd try page recovery: Delayed", ASIDE_LIKELY, ()),
        ("free huge page recovery: Delayed", ASIDE, ()),
        ("free huge page recovery: Ignored", USED, TAKEN),
        ("huge page recovery: Delayed", ASIDE_LIKELY,
         ("no task maps it any more",)),
        ("huge page recovery: Recovered", ASIDE, ()),
        ("huge page recovery: Failed", USED, ()),
        ("already truncated LRU page recovery: Ignored", ASIDE_LIKELY, ()),
        ("hugepage already hardware poisoned page recovery: Ignored",
         ASIDE_MAYBE, ()),
        ("high order kernel page recovery: Ignored", USED, KERNEL),
        ("reserved kernel page recovery: Ignored", USED, KERNEL),
        ("kernel slab page recovery: Ignored", USED, KERNEL),
        ("non LRU page recovery: Ignored", USED, KERNEL),
        ("unknown page state page recovery: Failed", USED, KERNEL),
        ("cannot unmap page, give up", USED_LIKELY, TASKS),
        ("already hardware poisoned", ASIDE_MAYBE, ())):
    says(f"MCE: {line}", failed(line, mark=MCE), verdict,
         line.removeprefix("recovery action for "), *words)
says("MCE: a task is killed first", failed(
    "Killing syzfuzz:1137 due to hardware memory corruption",
    "dirty LRU page recovery: Recovered", mark=MCE), ASIDE)
says("MCE: references after the outcome", failed(
    "LRU page recovery: Recovered", "LRU page still referenced by 2 users",
    mark=MCE), USED, "still has references to it")
says("MCE: then the same error again", failed(
    "dirty LRU page recovery: Recovered", "already hardware poisoned",
    mark=MCE), ASIDE, "before: dirty LRU page recovery: Recovered")

# --- reports in public, retold ---

REPORTS = (
    # (name, page, log, what is said, what is not)
    ("mlocked memory of a test, 3.7", "0x7dfb8", """\
[  912.839247] Injecting memory failure for page 7dfb8 at 7f6b4e37b000
[  912.839257] MCE 0x7dfb8: clean mlocked LRU page recovery: Recovered
[  912.845550] MCE 0x7dfb8: clean mlocked LRU page still referenced by 1 users
[  912.852586] Injecting memory failure for page 7e6aa at 7f6b4e37c000
""", (USED, "still has references to it", "injected for a test"),
     ("set aside",)),
    ("the count is one too low, 3.11", "0x224706", """\
[   71.902112] Injecting memory failure at pfn 224706
[   71.902137] MCE 0x224706: dirty LRU page recovery: Failed
[   71.902138] MCE 0x224706: dirty LRU page still referenced by -1 users
""", (USED,), ("likely: something still has references to it",)),
    ("killed early, 2.6.38", "0xb4365", """\
[   58.089914] Machine check events logged
[   58.090462] MCE 0xb4365: page flags 0x100000000100068=uptodate,lru,active,\
mmap,anonymous,swapbacked count 1 mapcount 1
[   58.091878] MCE 0xb4365: Killing copy_to_user_te:3768 early due to \
hardware memory corruption
[   58.092425] MCE 0xb4365: dirty LRU page recovery: Recovered
[   59.136641] MCE: Killing copy_to_user_te:3768 due to hardware memory \
corruption fault at 7fffcab7d000
""", (ASIDE, "dirty LRU page recovery: Recovered"), ("poisoned-in-use",)),
    ("persistent memory, 5.9", "0x1850602", """\
[ 2439.742296] mce: Uncorrected hardware memory error in user-access at \
1850602400
[ 2439.742420] Memory failure: 0x1850602: Sending SIGBUS to \
fsdax_poison_v1:8457 due to hardware memory corruption
[ 2439.761866] Memory failure: 0x1850602: recovery action for dax page: \
Recovered
""", (USED, "memory of a device (dax)"), ("set aside",)),
    ("device memory of two tasks, 5.3", "0xedbe201", """\
mce: Uncorrected hardware memory error in user-access at edbe201400
Memory failure: Unable to find user space address edbe201 in read_poison
Memory failure: 0xedbe201: forcibly killing read_poison:22434 because of \
failure to unmap corrupted page
Memory failure: 0xedbe201: Killing read_poison:22434 due to hardware memory \
corruption
""", (ASIDE_LIKELY,), ("could not unmap",)),
    ("a pin that was not given back, 4.17", "0x208900", """\
Injecting memory failure for pfn 0x208900 at process virtual address \
0x7f3908d00000
Memory failure: 0x208900: reserved kernel page still referenced by 1 users
Memory failure: 0x208900: recovery action for reserved kernel page: Failed
""", (USED, "did nothing but mark it"), ("its file",)),
    ("a huge page of a test, 6.7", "0x102f01", """\
[    9.280854] Injecting memory failure for pfn 0x102f01 at process virtual \
address 0x7f28ec101000
[    9.282029] Memory failure: 0x102f01: huge page still referenced by 511 users
[    9.282987] Memory failure: 0x102f01: recovery action for huge page: Failed
""", (USED, "still has references to it"), ("set aside",)),
    ("a clean page of a guest, 5.15", "0x10d88e", """\
[10759.371701] Injecting memory failure at pfn 0x10d88e
[10759.374922] Memory failure: 0x10d88e: corrupted page was clean: dropped \
without side effects
[10759.377525] Memory failure: 0x10d88e: recovery action for clean LRU page: \
Recovered
""", (ASIDE, "does not use it any more"), ("contents are lost",)),
    ("twice the same huge page, 4.15", "0x8300000", """\
[  121.295771] Injecting memory failure for pfn 0x8300000 at process virtual \
address 0x400000000000
[  121.386450] Memory failure: 0x8300000: recovery action for huge page: \
Recovered
[  122.395771] Injecting memory failure for pfn 0x8300000 at process virtual \
address 0x400000000000
[  122.486450] Memory failure: 0x8300000: already hardware poisoned
""", (ASIDE, "before: huge page: Recovered"), ()),
    ("a huge page of arm64, 4.14", "0x9be3b4", """\
Memory failure: 0x9be3b4: Unknown page state
Memory failure: 0x9be3b4: recovery action for unknown page: Failed
""", (USED, "did nothing but mark it"), ()),
    ("a slab page of a server, 6.16", "0x40272d", """\
[88690.479680] {1}[Hardware Error]:   error_type: 3, multi-bit ECC
[88690.498473] Memory failure: 0x40272d: unhandlable page.
[88690.498619] Memory failure: 0x40272d: recovery action for get hwpoison \
page: Ignored
[88757.847126] Internal error: synchronous external abort: 0000000096000410 \
[#1] SMP
""", (USED, "did nothing but mark it", "restart the machine when"), ()),
    ("not isolated, 5.8", "0x118ee0", """\
[  637.164222][ T8357] soft offline: 0x118ee0: hugepage isolation failed: 0, \
page count 2, type 7fff800001000e (referenced|uptodate|dirty|head)
[  637.164890][ T8357] Soft offlining pfn 0x20001380 at process virtual \
address 0x7fff9f000000
""", ("hugepage isolation failed",), ("hwpoison", "set aside")),
    ("not moved, 5.7", "0xbfa8f", """\
[ 431.590511] soft offline: 0xbfa8f: page migration failed 1, type \
0x800000008002e(referenced|uptodate|dirty|active|swapbacked|node=0|zone=1)
""", ("page migration failed 1",), ("hwpoison", "set aside")),
    ("not isolated, 4.12", "0x61c00", """\
[165435.492170] soft offline: 0x61c00 hugepage failed to isolate
""", ("hugepage failed to isolate",), ("hwpoison", "set aside")),
)
for name, page, log, said, unsaid in REPORTS:
    text = explained(log, page)
    tap.is_true(name, all(w in text for w in said) and
                not any(w in text for w in unsaid), text)

# --- what is complete later may have begun before ---

BAD_MAP = "".join(f"[  102.00000{i}] {line}\n" for i, line in enumerate((
    "BUG: Bad page map in process foo  pte:01234067 pmd:12345067",
    "page:00000000abcdef01 refcount:1 mapcount:-1 mapping:0000000000000000 "
    "index:0x0 pfn:0x1234",
    "flags: 0x17ffffc0800000(hwpoison|node=0|zone=2|lastcpupid=0x1fffff)",
    "raw: 0017ffffc0800000 dead000000000100 dead000000000122 0000000000000000",
    "raw: 0000000000000000 0000000000000000 00000001ffffffff 0000000000000000",
    "page dumped because: bad pte",
    "addr:00007f0000000000 vm_flags:00000073 anon_vma:0000000000000000 "
    "mapping:0000000000000000 index:7f0000000",
    "file:(null) fault:0x0 mmap:0x0 readpage:0x0",
    "CPU: 0 PID: 5 Comm: foo Tainted: G    B  6.6.30 #1")))
TWO = [KILL, KILL.replace("412", "512")]
for how, verdict in (("Failed", USED), ("Recovered", ASIDE)):
    result = action("dirty LRU page", how)
    was = "before: dirty LRU page: " + how
    says(how + ", again, and a bad page map", failed(
        result, "already hardware poisoned") + BAD_MAP, verdict, was)
    says(how + ", two tasks, and a bad page map", failed(*TWO, result) +
         BAD_MAP, verdict, was)
    says(how + ", two tasks, and a third one again", failed(
        *TWO, result, KILL.replace("412", "612"),
        action("already poisoned page", "Failed")), verdict, was)
    # So many that a report is returned while an earlier one is open.
    says(how + ", with many reports of other pages", failed(
        result, "already hardware poisoned") + BAD_MAP + "".join(
            failed(*[f"soft offline: 0x{page * 50 + i + 0x9000:x}: page "
                     "migration failed 1" for i in range(50)], mark="") +
            failed("already hardware poisoned") for page in range(8)),
         verdict, was)

# --- what found the error, by other reports of the page ---

MCE = ("[  100.000001] mce: Uncorrected hardware memory error in user-access "
       "at 1234f40\n")
EDAC = ("[  100.000002] EDAC MC0: 1 UE memory read error on DIMM_A (channel:1 "
        "slot:0 page:0x1234 offset:0x0 grain:32 syndrome:0x0)\n")
GHES = """\
[  100.000003] {1}[Hardware Error]:  Error 0, type: recoverable
[  100.000003] {1}[Hardware Error]:   section_type: memory error
[  100.000003] {1}[Hardware Error]:   physical_address: 0x0000000001234000
[  100.000003] {1}[Hardware Error]:   physical_address_mask: 0xfffffffffffff000
[  100.000003] {1}[Hardware Error]:   error_type: 3, multi-bit ECC
"""
FOUND = failed(KILL, action("dirty LRU page", "Recovered"))
FREED = "[  102.000001] Unpoison: Software-unpoisoned page 0x1234\n"
UNSAID = "what found the error: "
PAGE4K = ("Inode-cache hash table entries: 65536 (order: 7, 524288 bytes, "
          "linear)\n")
BY_MCE = "broken memory: a machine check reported this page (high)"
BY_EDAC = "(EDAC) reported this page (medium)"
BY_GHES = "broken memory: firmware (APEI) reported this page (high)"
MOVED = "[  103.000001] migrating pfn 1234 failed ret:1\n"


def found(name, log, *has, lacks=()):
    """In the second finding, which is about the error."""
    text = explained(log, "0x1234")
    tap.is_true("found by, " + name, all(w in text for w in has) and
                not any(w in text for w in lacks), text)


for name, log, by in (("machine check", MCE, BY_MCE), ("EDAC", EDAC, BY_EDAC),
                      ("APEI", PAGE4K + GHES, BY_GHES),
                      ("the stronger of two", MCE + EDAC, BY_MCE)):
    found(name, log + FOUND, ASIDE, by, lacks=(UNSAID,))
    found(name + ": after it", PAGE4K + FOUND + log, ASIDE, by,
          lacks=(UNSAID, "what reported it"))
    found(name + ": and another report", log + FOUND + MOVED, ASIDE, by,
          lacks=(UNSAID, "what reported it"))
    found(name + ": before an unpoison", log + FOUND + FREED + FOUND, ASIDE,
          UNSAID, lacks=("broken memory",))
found("another page", MCE.replace("1234f40", "1235f40") + FOUND, ASIDE, UNSAID,
      lacks=("broken memory",))
found("an earlier boot", MCE + "-- Reboot --\n" + FOUND, ASIDE, UNSAID,
      lacks=("broken memory",))
found("a test", INJECT + FOUND + MCE, TEST, lacks=("broken memory",))
found("a task of such a name", failed(KILL.replace(
    "prog", "x; also reported as edac")), UNSAID, lacks=("broken memory",))

# --- a machine that was restarted ---

BANNER = "[    0.000000] Linux version 6.6.30 (x@y) (gcc) #1\n"
MOVE = "[   50.000001] migrating pfn 1234 failed ret:1\n"
MARK = "-- Boot %s1c3a0e9d8b4c52a7e6f00112233445 --\n"
ERROR = failed(KILL, action("dirty LRU page", "Failed"))
says("before the restart: it is forgotten", BANNER + ERROR + BANNER + MOVE,
     "use-unknown", lacks=("before: ", "hwpoison"))
says("the log begins in the middle", ERROR + BANNER + MOVE,
     "use-unknown", lacks=("before: ", "hwpoison"))
says("the same boot", BANNER + ERROR + MOVE, USED, "before: dirty LRU page: ")
for first, second in ((MARK % "6f", MARK % "7f"),
                      ("", "-- Reboot --\n")):
    for banner in "", BANNER:
        for end in MOVE, failed("already hardware poisoned"):
            says(f"{second.strip()}, {banner.strip()}, {end.strip()}",
                 first + banner + ERROR + second + banner + end,
                 "use-unknown" if end == MOVE else ASIDE_MAYBE,
                 lacks=("before: ",))
            says(f"none, {first.strip()}, {banner.strip()}, {end.strip()}",
                 first + banner + ERROR + end, USED, "before: ")
says("a process may write such a line", BANNER + ERROR + "4,9,4000000,-;x\n"
     "12,10,4500000,-;Linux version 1\n" + MOVE, USED)

# What is reported of a page holds for the boot in which it was.
RESTARTED = "the machine has restarted since"
BAD_STATE = failed(
    "BUG: Bad page state in process foo  pfn:01234",
    "page:00000000abcdef01 refcount:0 mapcount:1 mapping:0000000000000000 "
    "index:0x0 pfn:0x1234",
    "flags: 0x17ffffc0000000(node=0|zone=2|lastcpupid=0x1fffff)",
    "raw: 0017ffffc0000000 dead000000000100 dead000000000122 0000000000000000",
    "raw: 0000000000000000 0000000000000000 0000000000000000 0000000000000000",
    "page dumped because: nonzero mapcount", mark="")
KASAN = failed(
    "BUG: KASAN: use-after-free in f+0xa3/0x22b",
    "Read of size 8 at addr ffff888001234008 by task foo/5", "",
    "The buggy address belongs to the physical page:",
    "page: refcount:0 mapcount:0 mapping:0000000000000000 index:0x0 "
    "pfn:0x1234",
    "flags: 0x17ffffc0000000(node=0|zone=2|lastcpupid=0x1fffff)",
    "raw: 0017ffffc0000000 dead000000000100 dead000000000122 0000000000000000",
    "raw: 0000000000000000 0000000000000000 00000000ffffffff 0000000000000000",
    "page dumped because: kasan: bad access detected", mark="")
STALE = (
    ("memory failure", failed(KILL, action("dirty LRU page", "Recovered")),
     "memory failure: dirty LRU page: Recovered"),
    ("not recovered", ERROR, "memory failure: dirty LRU page: Failed"),
    ("soft offline", failed("soft_offline: 0x1234: invalidated", mark=""),
     "soft offline: "),
    ("bad page state", BAD_STATE, "bad page state: nonzero mapcount"),
    ("bad page map", BAD_MAP, "bad page map: "),
    ("KASAN", KASAN, "KASAN: "),
    ("machine check", failed("mce: Uncorrected hardware memory error in "
                             "user-access at 1234f40", mark=""),
     "machine check"),
    ("many words", "".join(failed(STEPS.replace("0x30b7b18", "0x1234"),
                                  mark="")), "memory failure: step 0"))


def state(log):
    """The fields of the page that --from LOG knows, and its notes."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(log)
        f.flush()
        out = subprocess.run(
            [command, "--from", f.name, "page", "0x1234", "--json", "--fields",
             "kind,flags,flags_known,refcount,mapcount,node,order,object,pid,"
             "report,reason,notes"], capture_output=True, text=True,
            check=False).stdout
    row = json.loads(out.splitlines()[-1])
    return (sorted(k for k, v in row.items() if v is not None and
                   k not in ("notes", "missing")),
            row["notes"])


for name, log, said in STALE:
    memory = not name.startswith(("bad page", "KASAN"))
    for how, restart in (("banner", BANNER), ("journal", MARK % "7f" + BANNER),
                         ("old journal", "-- Reboot --\n")):
        after = BANNER + log + restart
        says(f"{name}, {how}: it is past", after, "the kernel reported "
             "before a restart: " + said, RESTARTED, "use-unknown",
             lacks=("certain", ", high"))
        tap.equal(f"{name}, {how}: of memory, it may be used",
                  "a boot parameter leaves it out" in
                  explained(after, "0x1234"), memory)
        tap.equal(f"{name}, {how}: no state", state(after),
                  (["reason", "report"], ["earlier_boot"]))
    tap.is_true(name + ": in the same boot it is not past",
                RESTARTED not in explained(BANNER + log, "0x1234"))
    tap.is_true(name + ": nor if it is reported again",
                RESTARTED not in explained(BANNER + log + BANNER + log,
                                           "0x1234"))
    tap.equal(name + ": from-log still lists it",
              ask("from-log", "--text-only",
                  stdin=(BANNER + log + BANNER).encode())[1],
              ask("from-log", "--text-only",
                  stdin=(BANNER + log).encode())[1])


# --- a restart of which the log lacks the first line, and lines that quote it ---

UNSURE = "kernel time goes back in the log after the report"
FULL = ("Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) (gcc-12 "
        "(Debian 12.2.0-14) 12.2.0) #1 SMP Debian 6.1.76-1 (2024-02-01)")


def late(log, seconds):
    """The log, that many seconds later."""
    return re.sub(r"(?m)^\[ *([0-9]+)",
                  lambda m: f"[{int(m.group(1)) + seconds:5}", log)


def as_they_are(name, log, past, *has):
    """The times of the log count."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(log)
        f.flush()
        text = explain(f.name, "0x1234")[0]
    tap.is_true(name, (UNSURE in text) == (past == "perhaps") and
                (RESTARTED in text) == (past == "sure") and
                (not past or "certain" not in text) and
                all(w in text for w in has), text)
    if past == "perhaps":
        tap.equal(name + ": no state", state(log),
                  (["reason", "report"], ["time_went_back"]))


LATER = "[%5d.000001] Memory failure: 0x99: unhandlable page.\n"
for name, log, said in STALE:
    as_they_are(name + ": time goes back by hours",
                late(in_order(log), 90000) + LATER % 104, "perhaps",
                "the kernel reported, perhaps before a restart: " + said)
OLD = late(in_order(failed(KILL, action("dirty LRU page", "Recovered"))), 500)
for name, log, past in (
        ("by seconds, as of another processor", LATER % 493, ""),
        ("by more", LATER % 480, "perhaps"),
        ("forward", LATER % 90000, ""),
        ("the record is the next one",
         "4,9,600000000,-;x\n4,10,80000000,-;y\n", ""),
        ("records are missing before it",
         "4,9,600000000,-;x\n4,90,80000000,-;y\n", "perhaps"),
        ("the number goes back",
         "4,900,600000000,-;x\n4,2,80000000,-;y\n", "perhaps"),
        ("a process wrote the record",
         "4,9,600000000,-;x\n12,90,80000000,-;y\n", ""),
        ("a process, in the journal",
         "[   80.000001] host prog[7]: it began\n", ""),
        ("the clock was not set", "[18446744073.709551] x\n" + LATER % 503, ""),
        ("back and a banner", LATER % 4 + "[    0.000000] " + FULL + "\n",
         "sure"),
        ("a banner", "[    0.000000] " + FULL + "\n", "sure"),
        ("a banner in syslog",
         "Nov 22 12:03:02 host kernel: [    0.000000] " + FULL + "\n", "sure"),
        ("a banner, late in the boot", "[  503.000001] " + FULL + "\n", ""),
        ("a banner of a process in syslog",
         "Nov 22 12:03:02 host prog[7]: " + FULL + "\n", ""),
        ("a banner without time among times", FULL + "\n", "perhaps"),
        ("a banner without time, and lines that go on",
         FULL + "\n" + LATER % 503, ""),
        ("a banner and more lines without time",
         FULL + "\n" + "Memory: 1000K/2000K available\n" * 99 + LATER % 900,
         "perhaps"),
        ("a banner with the time of a day, among times",
         "Nov 22 12:03:02 host kernel: " + FULL + "\n", "perhaps"),
        ("one line of another host", LATER % 80 + LATER % 504, ""),
        ("two of them", LATER % 80 + LATER % 81 + LATER % 504, "perhaps"),
        ("one, and the restart", LATER % 80 + LATER % 504 + LATER % 4 +
         LATER % 5, "perhaps"),
        ("one, and lines without time", LATER % 80 + "x\n" * 9, "perhaps"),
        ("one, a process's, and the kernel's", LATER % 80 +
         "[   80.000001] host prog[7]: it began\n" + LATER % 504, ""),
        ("one, and the journal's line", LATER % 80 + "-- Reboot --\n", "sure"),
        ("a process's priority", "<13>[    0.000000] " + FULL + "\n",
         "perhaps"),
        ("a line that begins so", "[    0.000000] Linux version 1\n",
         "perhaps"),
        ("such a line in the same boot", "[  503.000001] Linux version 1\n",
         ""),
        ("a journal's line that a process wrote",
         "[  503.000001] -- Reboot --\n", "")):
    as_they_are("then " + name, OLD + log, past)


UNTIMED = re.sub(r"(?m)^\[.*?\] ", "", OLD)
for name, log, past in (
        ("a banner", UNTIMED + FULL + "\n", "perhaps"),
        ("a banner of a log daemon", re.sub(
            "(?m)^", "Nov 22 12:03:02 host kernel: ", UNTIMED + FULL) + "\n",
         "sure"),
        ("the journal's line and a banner",
         UNTIMED + "-- Reboot --\n" + FULL + "\n", "sure")):
    as_they_are("without kernel time: " + name, log, past)


def rows(log):
    return [(r["reason"], r.get("pid")) for r in
            ask("from-log", "--text-only", stdin=log.encode())[1]]


for restart in BANNER, MARK % "7f" + BANNER:
    tap.equal("a report does not go on after it: " + restart, rows(
        BANNER + failed(KILL) + restart +
        failed(action("dirty LRU page", "Recovered"))),
              [(KILL, 412), ("dirty LRU page: Recovered", None)])

BLOCK = late(in_order(BAD_STATE), 500).splitlines(keepends=True)
tap.equal("a report goes on after a line of another host", rows(
    "".join(BLOCK[:2]) + LATER % 80 + "".join(BLOCK[2:])),
    rows("".join(BLOCK) + LATER % 80))
tap.equal("and after a banner that a process has printed", rows(
    "".join(BLOCK[:2]) + FULL + "\n" + "".join(BLOCK[2:])),
    rows("".join(BLOCK)))
FIRST = ("[    4.000000] Memory failure: 0x1234: recovery action for dirty LRU "
         "page: Failed\n")
for name, after, has in (
        ("perhaps another host's", LATER % 900, (UNSURE,)),
        ("of a boot", LATER % 5, ())):
    log = OLD + FIRST + after
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(log)
        f.flush()
        text = explain(f.name, "0x1234")[0]
    tap.is_true("the line that goes back is a report: " + name,
                "page: Failed" in text and "before: " not in text and
                (UNSURE in text) == bool(has) and
                ("certain" in text) != bool(has), text)
tap.equal("it is not joined with a report of the boot before", rows(
    late(in_order(failed(KILL)), 500) + FIRST +
    LATER % 5), [(KILL, 412), ("dirty LRU page: Failed", None),
                 ("unhandlable page.", None)])

# --- what leaves the mark, and what takes it away ---

REFUSED = (
    ("Unpoison: Disabled after HW memory failure 0x1234", "use-unknown"),
    ("Unpoison: 0x1234: disabled after HW memory failure", "use-unknown"),
    ("Unpoison: failed to grab page 0x1234", ASIDE_MAYBE),
    ("Unpoison: 0x1234: failed to grab page", ASIDE_MAYBE),
    ("Unpoison: the hwpoison page has non-NULL mapping 0x1234", ASIDE_MAYBE),
    ("Unpoison: Memory failure is now running on 0x1234", ASIDE_MAYBE),
    ("soft offline: 0x1234: page already poisoned", ASIDE_LIKELY),
    ("soft offline: 0x1234: hugepage already poisoned", ASIDE_LIKELY),
)
HELD = (
    ("Unpoison: Someone grabs the hwpoison page 0x1234", USED),
    ("Unpoison: 0x1234: someone grabs the hwpoison page", USED),
    ("Unpoison: Someone maps the hwpoison page 0x1234", USED),
)
for line, alone in REFUSED + HELD:
    held = (line, alone) in HELD
    says("alone: " + line, failed(line, mark=""), alone)
    says("after Failed: " + line, ERROR + failed(line, mark=""), USED,
         "before: dirty LRU page: Failed")
    says("and again: " + line, ERROR + failed(line, mark="") +
         failed("already hardware poisoned"), USED,
         "before: dirty LRU page: Failed")
    says("after Recovered: " + line, failed(action(
        "dirty LRU page", "Recovered")) + failed(line, mark=""),
         alone if held else ASIDE, "before: dirty LRU page: Recovered")
for line in ("Unpoison: Software-unpoisoned page 0x1234",
             "Unpoison: 0x1234: page was already unpoisoned",
             "soft offline: 0x1234: migration failed 1, type 4000"):
    says("after Failed: " + line, ERROR + failed(line, mark=""),
         lacks=("before: ", "poisoned-in-use", "set-aside"))

# --- an outcome ends what was said of the error before ---

UNPOISON = "[  102.000001] Unpoison: Software-unpoisoned page 0x1234\n"
for second in "Failed", "Recovered":
    log = failed(*TWO, action("dirty LRU page", "Recovered"))
    later = failed(action("clean LRU page", second))
    tap.equal("a later event has its own row: " + second,
              rows(log + UNPOISON + later)[2:],
              [("Software-unpoisoned page", None),
               ("clean LRU page: " + second, None)])
    says("and counts: " + second, log + UNPOISON + later,
         USED if second == "Failed" else ASIDE, "clean LRU page: " + second)
    tap.equal("also after a report without outcome: " + second,
              rows(failed(KILL) + UNPOISON + later),
              [(KILL, 412), ("Software-unpoisoned page", None),
               ("clean LRU page: " + second, None)])
    says("a test of two tasks: " + second, INJECT + failed(
        *TWO, action("dirty LRU page", second)), "memory failure")
    tap.is_true("it is said to be a test: " + second, TEST in explained(
        INJECT + failed(*TWO, action("dirty LRU page", second)), "0x1234"))

tap.end()
