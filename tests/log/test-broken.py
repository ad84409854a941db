#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log
"""Tests logs whose lines were broken at a width: what is read of them is true,
or missing with a note. tests/unit/backend/log/test_log_broken does so for each
public report and many widths."""
import textwrap

from retold import MISSING, end, text

STATE = """\
BUG: Bad page state in process {comm}  pfn:12bf4c
page: refcount:0 mapcount:0 mapping:0000000000000000 index:0x4 pfn:0x12bf4c
flags: 0x17ffffc000800c(referenced|uptodate|private|node=0|zone=2|lastcpupid=0x1fffff)
raw: 0017ffffc000800c dead000000000100 dead000000000122 0000000000000000
raw: 0000000000000004 ffff8881ce6f69b0 00000000ffffffff 0000000000000000
page dumped because: PAGE_FLAGS_CHECK_AT_FREE flag(s) set
CPU: 1 UID: 0 PID: 6166 Comm: {comm} Not tainted 6.12.30 #1
Call Trace:
"""
WHOLE = {"report": "bad_page_state", "pfn": 0x12bf4c, "pid": 6166,
         "flags": ["referenced", "uptodate", "private"],
         "object": "PAGE_FLAGS_CHECK_AT_FREE flag(s) set", "notes": []}


def lines(log, prefix):
    return [prefix.format(i) + line for i, line in enumerate(log.splitlines())]


def cut(log, width):
    return "".join(line[i:i + width] + "\n" for line in log
                   for i in range(0, max(len(line), 1), width))


def folded(log, width, before=""):
    return "".join(before + part + "\n" for line in log for part in
                   textwrap.wrap(line, width, break_long_words=False) or [""])


# --- a terminal, and a mail client ---

for host, comm in (("db1", "writer"), ("node17", "writer"), ("h", "writer"),
                   ("srv-a", "kswapd0"), ("машина", "writer")):
    log = lines(STATE.format(comm=comm),
                f"Nov 10 10:10:10 {host} kernel: [ 2091.30100{{}}] ")
    for name, broken in (("cut at 80", cut(log, 80)),
                         ("cut at 72, CRLF",
                          cut(log, 72).replace("\n", "\r\n")),
                         ("folded at 72", folded(log, 72)),
                         ("quoted", folded(log, 76, "> "))):
        text(f"{name}: {host}, {comm}", broken, WHOLE | {"comm": comm})
log = lines(STATE.format(comm="writer"), "[ 2091.30100{}] ")
for width in 60, 72, 80:
    text(f"cut at {width}", cut(log, width), WHOLE | {"comm": "writer"})
    text(f"folded at {width}", folded(log, width), WHOLE | {"comm": "writer"})

text("a line of one word, longer than those that were cut", cut(log, 80) +
     "[ 2091.301009] ".ljust(80, "y") + "\n" + "z" * 100 + "\nmore words\n",
     WHOLE | {"comm": "writer"})

# --- without times, only the form of a line tells ---

log = STATE.format(comm="writer").splitlines()
text("folded at 72, without times", folded(log, 72),
     WHOLE | {"comm": "writer"})
text("cut at 60, without times", cut(log, 60), WHOLE | {"comm": "writer"})
text("a list whose end is in the next line",
     STATE.format(comm="writer").replace("upto", "upto\n"),
     WHOLE | {"comm": "writer"})

# --- numbers that end where the line ends ---

text("too few digits of a page: those of its block",
     STATE.format(comm="writer").replace("pfn:12bf4c\n", "pfn:12\n"),
     WHOLE | {"notes": ["partial"]}, status=2)
text("too few digits of a page, and no block",
     "[    1.000000] BUG: Bad page state in process writer  pfn:12\n",
     {"report": "bad_page_state", "pfn": MISSING, "comm": "writer",
      "notes": ["partial"]}, status=2)
MAP = """\
BUG: Bad page map in process mapper  pte:80000001bd9e5227 pmd:1b0d4c067
page: refcount:0 mapcount:-1 mapping:0000000000000000 index:0x1 pfn:0x{}
flags: 0x17ffffc0000004(referenced|node=0|zone=2|lastcpupid=0x1fffff)
raw: 0017ffffc0000004 dead000000000100 dead000000000122 0000000000000000
raw: 0000000000000001 0000000000000000 00000000fffffffe 0000000000000000
page dumped because: bad pte
addr:00007f6bbd2a1000 vm_flags:08100073 anon_vma:ffff8881b5a3e1a8 \
mapping:0000000000000000 index:7f6bbd2a1
file:(null) fault:0x0 mmap:0x0 read_folio:0x0
CPU: 1 PID: 4411 Comm: mapper Not tainted 6.1.0 #1
"""
RIGHT = {"report": "bad_page_map", "pid": 4411, "vaddr": "0x7f6bbd2a1000"}
text("the entry names the page", MAP.format("1bd9e5"),
     RIGHT | {"pfn": 0x1bd9e5, "notes": []})
text("the entry has more digits", MAP.format("1bd9e"),
     RIGHT | {"pfn": MISSING, "notes": ["partial"]}, status=2)
INJECTED = "Injecting memory failure for pfn 0x1a2b3c at process virtual " \
    "address 0x7fa812345000"
for n in range(1, 16):
    line = f"Nov 10 10:10:10 {'h' * n} kernel: [  100.000000] {INJECTED}"
    # Without the words that tell what it is, there is no row.
    text(f"one line, cut at 80, behind {n} letters", cut([line], 80),
         *[{"report": "memory_failure", "pfn": MISSING, "vaddr": MISSING,
            "notes": ["partial"]}][:n < 7], status=2)

# --- lines of others are not joined ---

USERS = ["Starting the service", "ok", " a line with a blank before it",
         "mount: /dev/sda1 is mounted"]
log = lines(STATE.format(comm="writer"), "[ 2091.30100{}] ")
text("users' lines in between", "".join(
    line + "\n" + (USERS[i // 2] + "\n" if i % 2 else "")
    for i, line in enumerate(log)), WHOLE | {"comm": "writer"})
OUTCOME = "Memory failure: {:#x}: recovery action for dirty LRU page: Recovered"
text("users' lines behind the longest lines", "".join(
    f"[  100.{pfn:06}] {OUTCOME.format(pfn)}\nStarting the service\n"
    for pfn in (0x1234, 0x12345)),
     *[{"report": "memory_failure", "pfn": pfn, "notes": [],
        "object": "dirty LRU page: Recovered"} for pfn in (0x1234, 0x12345)])
text("users' lines with a tag and a time", "".join(
    f"Nov 10 10:10:1{i} h kernel: {line}\n"
    f"Nov 10 10:10:1{i} h sshd[{i}]: {USERS[i % 4]}\n"
    for i, line in enumerate(STATE.format(comm="writer").splitlines())),
     WHOLE | {"comm": "writer"})
end()
