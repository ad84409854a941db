#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log page_owner
"""Tests page_owner's lines in a block of dump_page(): the same fields and
stacks as page_owner's own text, from every form of log, and nothing invented.
The log of tests/fixtures/dump_page is from a real kernel.
"""
import os
import re
import subprocess
import tempfile

from captures import Tap, ask, command, home, top

tap = Tap()
OWNER = ("alloc_stack", "free_stack", "alloc_pid", "alloc_tgid", "alloc_comm",
         "gfp_mask", "gfp", "alloc_order", "allocator", "alloc_ns", "free_ns",
         "migrate_reason", "page_mobility")

BLOCK = """\
page: refcount:3 mapcount:1 mapping:00000000e95a3881 index:0x7 pfn:0x7bee
flags: 0x2013c(referenced|uptodate|dirty|lru|active|swapbacked|node=0|zone=1)
raw: 000000000002013c fffff87380041948 fffff873801d0508 ffff90a2c0cf7570
raw: 0000000000000007 0000000000000000 0000000300000000 ffff90a2c01e8000
page dumped because: VM_BUG_ON_PAGE(1)
"""
FRAMES = ["post_alloc_hook+0x1a/0x30", "get_page_from_freelist+0x1034/0x2bf0",
          "xfs_buf_alloc+0x60/0x90 [xfs]", "0xffffffffc0401234",
          "ret_from_fork_asm+0x1a/0x30"]
FREE = ["free_unref_page+0x10/0x20", "kthread+0xd2/0x100"]
LAST = ("page last allocated via order 0, migratetype Unmovable, gfp_mask "
        "0xcc0(GFP_KERNEL|__GFP_ZERO), pid 412, tgid 411 (a b), ts 123456789, "
        "free_ts 99")


def lines(frames):
    return "".join(" " + frame + "\n" for frame in frames)


OWNED = (BLOCK + "page_owner tracks the page as allocated\n" + LAST + "\n" +
         lines(FRAMES) + "page last free pid 9 tgid 9 stack trace:\n" +
         lines(FREE) +
         "page has been migrated, last migrate reason: compaction\n")
# The same record in the format of the page_owner file. The file has no stack of
# the free.
RECORD = ("Page allocated via order 0, mask 0xcc0(GFP_KERNEL|__GFP_ZERO), "
          "pid 412, tgid 411 (a b), ts 123456789 ns, free_ts 99 ns\n"
          "PFN 0x7bee type Unmovable Block 61 type Unmovable Flags 0x0()\n" +
          lines(FRAMES) +
          "Page has been migrated, last migrate reason: compaction\n\n")


def rows_of(text, *words):
    return ask("from-log", "--text-only", "--fields",
               "pfn,refcount,notes," + ",".join(OWNER) + ",migratetype",
               *words, stdin=text.encode())


def row_of(text):
    rows = rows_of(text)[1]
    return rows[0] if len(rows) == 1 else {"rows": rows}


def said(row, names=OWNER):
    return {name: row.get(name, row.get("missing", {}).get(name))
            for name in names}


def lost(row):
    return {name: why for name, why in row.get("missing", {}).items()
            if name in OWNER}


with tempfile.TemporaryDirectory() as tmp:
    def path_of(name, text):
        path = os.path.join(tmp, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    log, record = path_of("log", OWNED), path_of("record", RECORD)
    right = row_of(OWNED)
    tap.equal("nothing is missing", lost(right), {})
    theirs = ask("--from", record, "page", "0x7bee", "--fields",
                 ",".join(OWNER))[1][0]
    tap.equal("the fields of page_owner's own text",
              {k: right[k] for k in OWNER if k != "free_stack"},
              {k: theirs[k] for k in OWNER if k != "free_stack"})
    for name, path in (("a log", log), ("page_owner's text", record)):
        status, (row,), words = ask("--from", path, "stack", "0x7bee")
        tap.equal(f"{name}: who allocated it",
                  (status, row["alloc"]["frames"], row["alloc"]["comm"],
                   row["alloc"]["pid"]), (0, FRAMES, "a b", 412))
        tap.equal(f"{name}: who freed it", row["free"].get("frames"),
                  FREE if path == log else None)
    text = subprocess.run([os.environ.get("top_builddir", ".") + "/pagedet",
                           "--from", log, "stack", "0x7bee"],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    tap.equal("for people: every frame, in order",
              re.findall("|".join(re.escape(f) for f in FRAMES + FREE), text),
              FRAMES + FREE)

    # --- ways to keep a log ---

    number = iter(range(100, 10000))
    for name, how in (
            ("time stamps", lambda x: "[  12.345678] " + x),
            ("callers", lambda x: "[  12.345678][   T72] " + x),
            ("levels", lambda x: "<4>[  12.345678] " + x),
            ("dmesg -x", lambda x: "kern  :warn  : [  12.3456] " + x),
            ("syslog", lambda x: "Nov 22 12:03:02 host kernel: " + x),
            ("syslog and stamps",
             lambda x: "Nov 22 12:03:02 host kernel: [  12.345678] " + x),
            ("RFC 3339",
             lambda x: "2026-11-22T12:03:02.1+00:00 h kernel: " + x),
            ("records", lambda x: f"4,{next(number)},12345678,-;{x}\n"
             " SUBSYSTEM=x\n DEVICE=+x:y+0x1/0x2"),
            ("records with callers",
             lambda x: f"4,{next(number)},12345678,-,caller=C1;{x}"),
            ("CRLF", lambda x: x + "\r"),
            ("without the blanks", lambda x: x.lstrip(" "))):
        got = row_of("".join(how(x) + "\n" for x in OWNED.splitlines()))
        tap.equal(f"{name}: the same", said(got), said(right))

    # --- what is said in other words, or not said ---

    none = row_of(BLOCK)
    tap.equal("a kernel without page_owner", set(lost(none).values()),
              {"unsupported"})
    never = row_of(BLOCK + "page_owner info is not present (never set?)\n")
    tap.equal("a page that page_owner never saw", said(never),
              dict.fromkeys(OWNER))
    row = row_of(BLOCK + "page_owner tracks the page as freed\n" + LAST +
                 "\npage_owner allocation stack trace missing\n"
                 "page_owner free stack trace missing\n")
    tap.equal("no stacks were kept",
              (row["alloc_stack"], row["free_stack"], row["allocator"],
               row["migrate_reason"], row["alloc_pid"], lost(row)),
              (None, None, None, None, 412, {}))
    row = row_of(OWNED.replace("free_ts 99", "free_ts 0"))
    tap.equal("never freed", (row["free_ns"], lost(row)), (None, {}))
    row = row_of(OWNED.replace("pid 9 tgid 9 ", ""))
    tap.equal("free stacks of 6.1", said(row), said(right))
    row = row_of(OWNED.replace("tgid 411 (a b), ", ""))
    tap.equal("5.11 - 5.17: no thread group", (row["alloc_pid"],
              row["alloc_ns"], row["free_ns"], lost(row)),
              (412, 123456789, 99,
               {"alloc_tgid": "no_kernel", "alloc_comm": "no_kernel"}))
    row = row_of(OWNED.replace(", pid 412, tgid 411 (a b), ts 123456789, "
                               "free_ts 99", ""))
    tap.equal("5.10: flags and stacks", (row["gfp_mask"], row["alloc_order"],
              row["alloc_stack"], sorted(set(lost(row).values()))),
              ("0xcc0", 0, right["alloc_stack"], ["no_kernel"]))
    row = row_of(OWNED.replace("|zone=1)", "|zone=1) CMA"))
    tap.equal("a block of CMA's", row["migratetype"], "CMA")
    row = row_of(OWNED)
    tap.equal("what an allocation asks for is not what its block is for",
              row["missing"]["migratetype"], "unsupported")
    row = row_of(OWNED.replace("(a b)", "(a), ts 9), ts 1)"))
    tap.equal("a name that looks like the rest", (row["alloc_comm"],
              row["alloc_ns"]), ("a), ts 9), ts 1", 123456789))
    row = row_of(OWNED.replace("(GFP_KERNEL|__GFP_ZERO), pid", "(GFP_KER"))
    tap.equal("a line that is damaged says nothing",
              {why for k, why in lost(row).items()}, {"io"})
    tap.equal("but the stacks are there", (row["alloc_stack"] if
              "alloc_stack" in row else None, row["free_stack"]),
              (None, right["free_stack"]))
    symbols = OWNED.replace("post_alloc_hook+0x1a/0x30",
                            "post_alloc_hook mm/page_alloc.c:1558 [inline]")
    tap.equal("names that were looked up",
              ask("--from", path_of("symbols", symbols), "stack", "0x7bee")
              [1][0]["alloc"]["frames"][0],
              "post_alloc_hook mm/page_alloc.c:1558 [inline]")

    # --- other writers ---

    other = "usb 1-1: new high-speed USB device number 2\n"
    row = row_of(OWNED.replace(LAST + "\n", LAST + "\n" + lines(FRAMES[:2]) +
                               other, 1).replace(lines(FRAMES[:2]) + other +
                                                 lines(FRAMES),
                                                 lines(FRAMES[:2]) + other +
                                                 lines(FRAMES[2:])))
    tap.equal("a line within a stack: nobody knows whose the rest is",
              (lost(row), row["free_stack"]),
              ({"alloc_stack": "io", "allocator": "io"}, right["free_stack"]))
    row = row_of(OWNED.replace("page last free", other + "page last free"))
    tap.equal("a line behind a stack", said(row), said(right))
    end = OWNED.index("page has been migrated")
    row = row_of(OWNED[:end] + "kernel BUG at mm/x.c:1!\n"
                 "Modules linked in: xfs\n"
                 "CPU: 0 PID: 1 Comm: a Not tainted 6.12.0 #1\n"
                 "Call Trace:\n <TASK>\n dump_stack_lvl+0x4d/0x70\n"
                 " bad_page.cold+0x63/0x8f\n </TASK>\n")
    tap.equal("a backtrace behind it all", (row["free_stack"], lost(row)),
              (right["free_stack"], {}))
    last = lines(FREE[1:])
    for name, trace in (("x86", "Call Trace:\n <TASK>\n a+0x1/0x2\n </TASK>\n"),
                        ("arm64", "Call trace:\n a+0x1/0x2\n")):
        row = row_of(OWNED[:end].replace(last, trace + last))
        tap.equal(f"another's backtrace before the last frame, {name}",
                  (row["notes"], lost(row)),
                  (["partial"], dict.fromkeys(("free_stack", "migrate_reason"),
                                              "io")))
    row = row_of(OWNED[:end] + other + lines(FREE[:1]))
    tap.equal("a frame that may be of it",
              lost(row), {"free_stack": "io", "migrate_reason": "io"})
    for rest, gone in ((lines(FRAMES[2:]), ("alloc_stack", "allocator")),
                       (lines(FREE[1:]), ("free_stack",))):
        row = row_of(OWNED.replace(rest, "Call trace:\n other+0x1/0x2\n" +
                                   rest))
        tap.equal(f"another's backtrace before lines of page_owner: {gone[0]}",
                  lost(row), dict.fromkeys(gone, "io"))
    FENCE = ("BUG: KFENCE: use-after-free read in g+0xa6/0x234\n"
             "Use-after-free read at 0xffff8c3f00000008 (in kfence-#7):\n"
             "kfence-#7: 0xffff8c3f00000000-0xffff8c3f0000001f, size=32, "
             "cache=kmalloc-32\n")
    TASK = "CPU: 3 PID: 507 Comm: netd Not tainted 6.12.0 #1\n"
    KASAN = ("BUG: KASAN: use-after-free in k+0xb0/0xd0\n"
             "Write of size 1 at addr ffff888007bee008 by task bad/61\n"
             "The buggy address belongs to the physical page:\n" +
             BLOCK.replace("VM_BUG_ON_PAGE(1)", "kasan: bad access detected"))
    STATE = "Memory state around the buggy address:\n"

    def of_page(text):
        return next((r for r in rows_of(text)[1] if r.get("pfn") == 0x7bee),
                    {})

    row = of_page(FENCE + KASAN + TASK + OWNED[len(BLOCK):] + STATE)
    tap.equal("the task of another report before them", said(row), said(right))
    row = of_page(FENCE + "allocated by task 9:\n" + KASAN +
                  OWNED[len(BLOCK):].replace(lines(FRAMES), " a+0x1/0x2\n" +
                                             lines(FRAMES)) + STATE + TASK)
    tap.equal("a frame of KFENCE's among its own", (row["notes"], lost(row)),
              (["partial"], dict.fromkeys(("alloc_stack", "allocator",
                                           "free_stack"), "io")))
    row = of_page(KASAN + OWNED[len(BLOCK):end].replace(
        last, "Call trace:\n a+0x1/0x2\n" + last) + STATE)
    tap.equal("another's backtrace in a report of KASAN",
              (row["notes"], lost(row)),
              (["partial"], dict.fromkeys(("free_stack", "migrate_reason"),
                                          "io")))
    row = of_page("BUG: KASAN: use-after-free in k+0xb0/0xd0\n"
                  "Write of size 1 at addr ffff888007bef008 by task netd/61\n"
                  "BUG: Bad page state in process netd  pfn:07bee\n" +
                  BLOCK.replace("VM_BUG_ON_PAGE(1)", "nonzero mapcount") +
                  TASK.replace("507", "61") + OWNED[len(BLOCK):] +
                  TASK.replace("507", "62"))
    tap.equal("after the line of another task of that name, some may be lost",
              (row["notes"], row.get("alloc_pid")), (["partial"], None))
    two = []
    for a, b in zip(OWNED.splitlines(),
                    OWNED.replace("0x7bee", "0x1").splitlines()):
        two += [f"[ 1.0][ T1] {a}", f"[ 1.0][ T2] {b}"]
    rows = rows_of("\n".join(two) + "\n")[1]
    tap.equal("two at the same time, told apart by their callers",
              sorted((r["pfn"], said(r) == said(right)) for r in rows),
              [(1, True), (0x7bee, True)])
    records = [f"4,{100 + i},1,-;{x}\n" for i, x in
               enumerate(OWNED.splitlines())]
    row = row_of("".join(records[:9] + records[10:]))
    tap.is_true("a record is missing within a stack",
                row["missing"].get("alloc_stack") == "io" and
                row["free_stack"] == right["free_stack"], row)

    # --- cut off ---

    bad = []
    true = said(right)
    for end in range(len(BLOCK), len(OWNED)):
        row = row_of(OWNED[:end]) if end % 3 == 0 or \
            OWNED[end - 1] == "\n" else right
        if "rows" in row:
            bad.append((end, row))
            continue
        for name in OWNER:
            if row.get(name) is not None and row[name] != true[name] or \
                    name in row and row[name] is None and \
                    name != "migrate_reason":
                bad.append((end, OWNED[end - 20:end], name, row[name]))
    # Only the newline ends a frame. The stack of the free has no end mark of
    # its own.
    short = OWNED.index(FREE[1]) - 1
    bad = [x for x in bad if not (x[0] == short and x[2] == "free_stack")]
    tap.equal("cut off anywhere, nothing is invented", bad, [])

    # --- a real kernel: its log, and its own page_owner text ---

    real = os.path.join(home, "../dump_page/6.12.117")
    ALL = "pfn,order,head_pfn,refcount," + ",".join(OWNER)
    status, rows, words = ask("from-log", "--text-only", real + ".log",
                              "--fields", ALL)
    tap.equal("what was dumped", [r["pfn"] for r in rows],
              [0x1425, 0x27c, 0x27f, 0x1426])
    tap.equal("all of it is said", [lost(r) for r in rows], [{}] * 4)
    tap.equal("as records of /dev/kmsg", ask("from-log", "--text-only",
                                             real + ".kmsg", "--fields",
                                             ALL)[1], rows)
    by_pfn = {r["pfn"]: r for r in rows}
    # The third page of the four has no block and no record in the log.
    theirs = {r["pfn"]: r for r in
              ask("--from", real + ".page_owner", "page", "0x1425", "0x27c",
                  "0x27d", "0x27f", "0x280", "0x1426", "--fields", ALL)[1]}
    bad = [(hex(pfn), name, by_pfn[pfn][name], theirs[pfn].get(name))
           for pfn in (0x1425, 0x27c, 0x27f) for name in OWNER
           if name not in ("free_ns", "free_stack") and
           by_pfn[pfn][name] != theirs[pfn].get(name, "?")]
    tap.equal("the same as page_owner's text", bad, [])
    tap.equal("a page behind the first of an allocation is of that",
              said(theirs[0x27d]), said(theirs[0x27c]))
    tap.equal("pages that the text leaves out: free, or never seen",
              {why for pfn in (0x280, 0x1426)
               for why in lost(theirs[pfn]).values()} -
              {"unsupported"}, {"excluded"})
    stacks = {r["pfn"]: r for r in
              ask("--from", real + ".log", "stack", "0x1425", "0x1426")[1]}
    tap.equal("who freed what is free",
              [f.split("+")[0] for f in stacks[0x1426]["free"]["frames"]][:3],
              ["free_unref_page", "ask", "param_attr_store"])
    tap.equal("and who had it before",
              [f.split("+")[0] for f in stacks[0x1426]["alloc"]["frames"]][5],
              "ask")
    tap.equal("the same function, at another place",
              stacks[0x1425]["alloc"]["stack"] ==
              stacks[0x1426]["alloc"]["stack"], False)
    with open(real + ".page_owner", encoding="ascii") as f:
        text = f.read()
    cut = path_of("cut", text[:text.index("ask", text.index("0x1425"))])
    theirs = ask("--from", cut, "page", "0x27f", "0x270", "0x1425", "--fields",
                 "alloc_pid")[1]
    tap.equal("a text that ends within a record: what may be in the rest",
              [said(r, ["alloc_pid"])["alloc_pid"] for r in theirs],
              [68, "excluded", "io"])

    # --- a page mentioned more than once, and much ---

    twice = OWNED.replace("(a b)", "(before)") + OWNED
    row = ask("--from", path_of("twice", twice), "page", "0x7bee", "--fields",
              "alloc_comm")[1][0]
    tap.equal("what was said last", row["alloc_comm"], "a b")
    many = "".join(OWNED.replace("0x7bee", hex(i)).replace(
        "kthread+0xd2", "kthread+" + hex(i)) for i in range(1, 3001))
    path = path_of("many", many)
    status, rows, words = ask("--from", path, "stack", "--fields",
                              "pfn,alloc_stack,free_stack",
                              *[str(i) for i in range(1, 3001)])
    tap.is_true("many pages, each with its stack",
                [r["free"]["frames"][1] for r in rows] ==
                [f"kthread+{i:#x}/0x100" for i in range(1, 3001)], rows[:2])
    status, rows, words = ask("from-log", "--text-only", path, "--by",
                              "alloc_stack")
    tap.equal("counted by stack", [(r["alloc_stack"], r["pages"])
                                   for r in rows[:-1]],
              [(right["alloc_stack"], 3000)])
    status, rows, words = rows_of(LAST + "\n" + lines(FRAMES) * 100000)
    tap.equal("lines without a block are of no page", rows, [])
    row = row_of(OWNED.replace(lines(FRAMES), lines(FRAMES) * 10000))
    tap.equal("a stack without end is none of a kernel's",
              row["missing"].get("alloc_stack"), "io")

# --- the text of page_owner is not a log ---

TEXT = os.path.join(top, "tests/fixtures/page_owner/6.12.117.txt.gz")
for options, hint in (((), True), (("--json",), True), (("--quiet",), False)):
    r = subprocess.run([command, "from-log", TEXT, *options],
                       capture_output=True, text=True, check=False)
    tap.equal(f"the command for it {options}",
              (r.returncode, r.stdout, f": pagedet owners {TEXT}\n" in r.stderr),
              (1, "", hint))

tap.end()
