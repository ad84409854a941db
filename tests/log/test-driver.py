#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: page_detective procfs
"""Tests failures between a question to Page Detective and its answer, and
pages that it is not asked about. tests/unit/backend/page_detective/test_kmsg
tests a log that overruns.
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from captures import Driver, Tap, captures, wait_for

tap = Tap()
base = tempfile.mkdtemp()
# The command finds no built program in the places where it looks for them.
tmp = os.path.join(base, "by", "itself")
os.makedirs(tmp)
driver = Driver(tmp)
all_of = captures("kmsg")
anon, other = all_of["queries/anon.virt"], all_of["queries/heap.virt"]
phys = all_of["queries/anon.phys"]
WORDS = ("virt", "72", "0x7fed1a609123")
FIELDS = ("--fields", "cheap")
IS_BUSY = "it has not answered the question of another process yet"

driver.plan(anon)
_, (right,), _ = driver.ask(*WORDS)
tap.equal("what is right", (right["pfn"], right["refcount"], right["pid"]),
          (0x7bee, 2, 72))


def same(name, words=WORDS, status=0, asked=1, **plan):
    driver.plan(anon, **plan)
    got = driver.ask(*words)
    tap.equal(f"{name}: the same answer", got[1], [right])
    tap.equal(f"{name}: status {status}, asked {asked} times",
              (got[0], len(driver.asked())), (status, asked))
    return got


same("lines of others in between", noise=True)
same("another's answer before", before=other)
same("another's answer behind", after=other)
same("another's answer around", before=phys, after=other, noise=True)
same("an answer that is late", delay=0.5)
same("an answer in the file", text=True)

driver.plan(anon)
driver.old(anon)
with open(os.path.join(driver.root, "dev/kmsg"), "rb") as f:
    before = f.read()
driver.plan(phys)
with open(os.path.join(driver.root, "dev/kmsg"), "wb") as f:
    f.write(before)
start = time.monotonic()
status, rows, said = driver.ask(*WORDS)
tap.is_true("an old answer is none", rows[0].get("refcount") is None and
            rows[0]["missing"]["refcount"] == "timeout", rows)
tap.is_true("and it is not waited for long", time.monotonic() - start < 60)

# --- writes that fail ---

driver.plan(anon, result=4294967274, cut=99)
status, rows, said = driver.ask(*WORDS)
tap.equal("a result that is no length is a failure",
          rows[0]["missing"]["refcount"], "io")
driver.plan(all_of["errors/garbage-pid.virt"])
status, rows, said = driver.ask(*WORDS)
tap.equal("so it is with the driver's words", rows[0]["missing"]["refcount"],
          "io")

driver.plan(anon, cut=1)
status, rows, said = driver.ask(*WORDS)
tap.equal("no line ends the answer", rows[0]["missing"]["refcount"], "timeout")

driver.plan(anon, hole=3)
status, rows, said = driver.ask(*WORDS)
tap.is_true("a record is missing: partial",
            rows[0]["notes"] == ["partial"] and rows[0]["refcount"] == 2, rows)

# --- writes that do not return ---

driver.plan(anon, hang=True)
start = time.monotonic()
status, rows, said = driver.ask("phys", "0x7bee000", "0x7bef000")
tap.is_true("a write that does not come back is left behind",
            [r["missing"]["refcount"] for r in rows] == ["unsafe"] * 2, rows)
tap.equal("and nothing more is asked", driver.asked(), ["p0x7bee000"])
tap.is_true("which is said", "is not asked again" in said and
            "left behind" in said, said)
tap.is_true("in good time", 4 < time.monotonic() - start < 60)
pid = wait_for(driver.who_hangs)

driver.plan(anon)
status, rows, said = driver.ask(*WORDS)
tap.is_true("as long as it hangs nobody else asks",
            rows[0]["missing"]["refcount"] == "timeout" and
            not driver.asked(), rows, said)
tap.is_true("which is said, too", IS_BUSY in said, said)
os.kill(pid, signal.SIGKILL)
same("and afterwards it goes on")

# Without a deadline both of them end after 5 seconds, with other words.
driver.plan(anon, hang=True)
status, rows, said = driver.ask("--deadline", "3", "phys", "0x7bee000",
                                "0x7bef000")
pid = wait_for(driver.who_hangs)
tap.is_true("a deadline is heard while it does not", status == 2 and
            [r["missing"]["refcount"] for r in rows[:1]] == ["timeout"],
            status, rows, said)
tap.is_true("and is not a fault of the driver", "not asked again" not in said,
            said)
driver.plan(anon)
status, rows, said = driver.ask("--deadline", "1", *WORDS)
tap.is_true("as it is while another's question is not answered",
            status == 2 and not driver.asked() and IS_BUSY not in said,
            status, rows, said)
os.kill(pid, signal.SIGKILL)

driver.plan(phys, last=True)
status, rows, said = driver.ask("phys", "0x7bee000", "0x7bee000")
tap.equal("a writer that ended while nobody asked is replaced",
          [r.get("refcount") for r in rows], [2, 2])

driver.plan(anon, die=True)
status, rows, said = driver.ask("phys", "0x7bee000", "0x7bef000")
tap.is_true("a writer that the kernel ends closes the source",
            [r["missing"]["refcount"] for r in rows] == ["unsafe"] * 2 and
            "has ended" in said, rows, said)

UNHELPED = "without the program that writes it is unsafe"
driver.plan(anon)
with driver.without_writer() as other:
    if other:
        tap.skip(UNHELPED, other)
    else:
        status, rows, said = driver.ask(*WORDS)
        tap.is_true(UNHELPED, rows[0]["missing"]["refcount"] == "unsafe" and
                    "page-detective-write" in said, rows, said)

# --- several commands at once ---

# Nobody waits for another for more than 5 seconds, which is not enough when the
# machine does something else: then it tests nothing.
for _ in range(4):
    driver.plan(phys, delay=0.05)
    asking = [subprocess.Popen([driver.binary, "--json", "--root", driver.root,
                                "--backend", "page_detective", "page",
                                "0x7bee", "0x7bee", "0x7bee"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
              for _ in range(4)]
    ends = [p.communicate() for p in asking]
    if not any(b"answered" in said for _, said in ends):
        break
rows = [json.loads(line) for out, _ in ends for line in out.splitlines()]
tap.equal("four processes at once all get theirs",
          [(r["pfn"], r.get("refcount") or r.get("missing")) for r in rows],
          [(0x7bee, 2)] * 12)
tap.equal("one question after the other", len(driver.asked()), 12)

# --- pages that are not sent to the driver ---

SLAB, BUDDY, POISON = 1 << 7, 1 << 10, 1 << 19
SECRET = (0x818, 0x18, 1 << 18 | 0x38, 1 << 18 | 0x838)
driver.flags({0x7bee: 0x5828, 0x10: SLAB, 0x11: SLAB | 1 << 16, 0x12: BUDDY,
              0x13: POISON | 0x5828, 0x14: 1 << 23, 0x15: 1 << 20,
              **{0x20 + i: w for i, w in enumerate(SECRET)}})
for pfn, word in ((0x10, "slab"), (0x11, "slab"), (0x12, "free"),
                  (0x13, "poisoned"), (0x14, "online"), (0x15, "online"),
                  *((0x20 + i, "memfd_secret") for i in range(len(SECRET)))):
    driver.plan(phys)
    status, rows, said = driver.ask("page", str(pfn))
    tap.is_true(f"{word} {pfn:#x}: refused, with the reason, and who answers",
                rows[0]["missing"]["flags"] == "unsafe" and word in said and
                "kcore" in said and not driver.asked(), rows, said)
driver.plan(phys)
status, rows, said = driver.ask("page", "0x7bee")
tap.is_true("an ordinary page is asked about", rows[0]["refcount"] == 2 and
            rows[0]["notes"] == [], rows)

task = os.path.join(driver.root, "proc/72")
os.makedirs(task)
with open(os.path.join(task, "maps"), "w") as f:
    f.write("7fed1a609000-7fed1a60a000 rw-s 00000000 00:0b 113"
            "                        /secretmem (deleted)\n")
driver.plan(anon)
status, rows, said = driver.ask(*WORDS)
tap.is_true("memory of memfd_secret by its address",
            rows[0]["missing"]["flags"] == "unsafe" and not driver.asked(),
            rows, said)
with open(os.path.join(task, "maps"), "w") as f:
    f.write("7fed1a608000-7fed1a60c000 rw-p 00000000 00:00 0 \n"
            "7fed1a700000-7fed1a800000 r--p 00001000 08:01 12 /x/file\n")


def pagemap(pfn):
    with open(os.path.join(task, "pagemap"), "wb") as f:
        f.seek((0x7fed1a609000 >> 12) * 8)
        f.write((1 << 63 | pfn).to_bytes(8, "little"))


pagemap(0x10)
driver.plan(anon)
status, rows, said = driver.ask(*WORDS)
tap.is_true("a slab page by its address", not driver.asked() and
            rows[0]["missing"]["flags"] == "unsafe", rows, said)
pagemap(0x7bee)
same("and an ordinary one is")
pagemap(0x7bef)
driver.plan(anon)
status, rows, said = driver.ask(*WORDS)
tap.is_true("an address that has another page by now is torn",
            "torn" in rows[0]["notes"], rows)

driver.plan(all_of["queries/vvar.virt"])
for addr, kind in ((0x7fed1a609000, "untouched"), (0x7fed1a70f000, "untouched"),
                   (0x7fed1a60f000, "unmapped")):
    os.truncate(os.path.join(task, "pagemap"), 0)
    driver.plan(all_of["queries/vvar.virt"])
    status, rows, said = driver.ask("virt", "72", hex(addr))
    tap.is_true(f"{addr:#x} without a page is {kind}",
                rows[0]["kind"] == kind and rows[0]["pfn"] is None, rows)

driver.plan(phys)
status, rows, said = driver.ask("mappers", "0x7bee")
tap.equal("mappings, asked for once",
          ([(r["map"], r["pid"]) for r in rows[:-1]], rows[-1]["found"],
           rows[-1]["expected"], len(driver.asked())),
          ([("direct", None), ("user", 72), ("user", 88)], 2, 2, 1))

# --- only as a named source, and only for small queries ---

driver.plan(anon)
status, rows, said = driver.ask("scan")
tap.is_true("no scan", status == 69 and not driver.asked(), status, said)
status, rows, said = driver.ask("task", "72")
tap.is_true("no task", status == 69 and not driver.asked(), status, said)
driver.plan(phys)
status, rows, said = driver.ask("page", *["0x7bee"] * 300)
tap.equal("256 pages of one query", len(driver.asked()), 256)
tap.equal("the others are too many", rows[299]["missing"]["flags"],
          "too_costly")
driver.plan(phys)
status, rows, said = driver.ask("--threads", "4", "page", *["0x7bee"] * 300)
tap.equal("with several threads as well", len(driver.asked()), 256)
r = subprocess.run([driver.binary, "--json", "--root", driver.root, "page",
                    "0x7bee", "--fields", "everything"], capture_output=True,
                   check=False)
driver.plan(phys)
tap.equal("nobody asks who did not name it", driver.asked(), [])

r = subprocess.run([driver.binary, "--root", driver.root, "doctor", "-v"],
                   capture_output=True, text=True, check=False)
tap.is_true("doctor says that it is there", "asked only if it is named" in
            " ".join(r.stdout.split()), r.stdout)
r = subprocess.run([driver.binary, "--root", tmp, "--backend",
                    "page_detective", "page", "1"], capture_output=True,
                   text=True, check=False)
tap.is_true("a kernel without", r.returncode == 69 and "procfs" in r.stderr,
            r.returncode, r.stderr)

shutil.rmtree(base)
tap.end()
