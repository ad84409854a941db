#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log
"""Tests reports of KFENCE: each kind, the forms of 5.12 to 6.18, hashed
addresses, and what is missing or between their lines.
"""
import subprocess

from captures import Tap, ask, command

tap = Tap()

LINE = "=" * 66 + "\n"
ALLOC = " alloc_thing+0xf3/0x25b\n init_thing+0x98/0x22b\n"
FREE = " free_thing+0xa8/0x143\n drop_thing+0x10/0x20\n"
CPU = """\

CPU: 4 PID: 107 Comm: work/er Not tainted 6.6.30 #1
Hardware name: QEMU Standard PC (i440FX + PIIX, 1996)
"""
FIELDS = ("object", "reason", "vaddr", "pid", "comm", "slab_cache",
          "alloc_pid", "alloc_ns", "free_ns")
OTHERS = ("report", "notes", "pfn")
STACKS = ("event_ns", "alloc_stack", "free_stack")


def report(head, access, thing="", alloc="", free="", tail=CPU + LINE):
    return (LINE + f"BUG: KFENCE: {head} in f+0xa3/0x22b\n\n{access}\n"
            " f+0xa3/0x22b\n g+0x51/0x85\n\n" + thing + alloc + free + tail)


def of(text):
    """Rows with all that a report may say."""
    return ask("from-log", "--text-only", "--pointers", "--fields",
               ",".join(FIELDS + OTHERS + STACKS), stdin=text.encode())[1]


def is_row(name, text, **values):
    tap.equal(name, [{f: r.get(f) for f in FIELDS + OTHERS} for r in of(text)],
              [dict.fromkeys(FIELDS) |
               {"report": "kfence", "notes": [], "pfn": None, "pid": 107,
                "comm": "work/er"} | values])


THING = ("kfence-#17: 0xffff8c4f3e292000-0xffff8c4f3e29201f, size=32, "
         "cache=kmalloc-32\n\n")
BY = "allocated by task 507 on cpu 1 at 38.117001s (0.000731s ago):\n"
FREED = "\nfreed by task 508 on cpu 0 at 38.117500s (0.000232s ago):\n"
WHERE = {"slab_cache": "kmalloc-32", "alloc_pid": 507,
         "alloc_ns": 38117001000}
OOB = report("out-of-bounds read", "Out-of-bounds read at 0xffff8c4f3e291fff "
             "(1B left of kfence-#17):", THING, BY + ALLOC)
is_row("out of bounds", OOB, **WHERE, vaddr="0xffff8c4f3e291fff",
       object="out-of-bounds read in f+0xa3/0x22b",
       reason="out-of-bounds read in f+0xa3/0x22b; 1B left of kfence-#17; "
       "size 32; allocated by task 507")
UAF = report("use-after-free write", "Use-after-free write at "
             "0xffff8c4f3e292008 (in kfence-#17):", THING, BY + ALLOC,
             FREED + FREE)
FREED_WHERE = WHERE | {"free_ns": 38117500000, "vaddr": "0xffff8c4f3e292008"}
is_row("after it was freed", UAF, **FREED_WHERE,
       object="use-after-free write in f+0xa3/0x22b",
       reason="use-after-free write in f+0xa3/0x22b; in kfence-#17; size 32; "
       "allocated by task 507; freed by task 508")
is_row("while a grace period passes", UAF.replace("freed by", "rcu freeing by"),
       **FREED_WHERE, object="use-after-free write in f+0xa3/0x22b",
       reason="use-after-free write in f+0xa3/0x22b; in kfence-#17; size 32; "
       "allocated by task 507; rcu freeing by task 508")
is_row("corrupted", report(
    "memory corruption", "Corrupted memory at 0xffff8c4f3e292020 [ 0xac . . ! "
    "] (in kfence-#17):", THING, BY + ALLOC), **WHERE,
       vaddr="0xffff8c4f3e292020", object="memory corruption in f+0xa3/0x22b",
       reason="memory corruption in f+0xa3/0x22b; [ 0xac . . ! ] in "
       "kfence-#17; size 32; allocated by task 507")
is_row("freed twice", report(
    "invalid free", "Invalid free of 0xffff8c4f3e292000 (in kfence-#17):",
    THING, BY + ALLOC, FREED + FREE), **WHERE | {
        "free_ns": 38117500000, "vaddr": "0xffff8c4f3e292000"},
       object="invalid free in f+0xa3/0x22b",
       reason="invalid free in f+0xa3/0x22b; in kfence-#17; size 32; allocated "
       "by task 507; freed by task 508")
is_row("of no object", report("invalid read", "Invalid read at "
                              "0xffff8c4f3e29b00a:"),
       vaddr="0xffff8c4f3e29b00a", object="invalid read in f+0xa3/0x22b",
       reason="invalid read in f+0xa3/0x22b")

# --- other kernels ---

is_row("5.12: the object and its task on one line", report(
    "use-after-free read", "Use-after-free read at 0xffff8c4f3e292000 (in "
    "kfence-#17):", "kfence-#17 [0xffff8c4f3e292000-0xffff8c4f3e29201f, "
    "size=32, cache=kmalloc-32] allocated by task 507:\n", ALLOC,
    "\nfreed by task 507:\n" + FREE), slab_cache="kmalloc-32", alloc_pid=507,
       vaddr="0xffff8c4f3e292000", object="use-after-free read in f+0xa3/0x22b",
       reason="use-after-free read in f+0xa3/0x22b; in kfence-#17; size 32; "
       "allocated by task 507; freed by task 507")
is_row("without how long ago", UAF.replace(" (0.000731s ago)", "").replace(
    " (0.000232s ago)", ""), **FREED_WHERE,
       object="use-after-free write in f+0xa3/0x22b",
       reason="use-after-free write in f+0xa3/0x22b; in kfence-#17; size 32; "
       "allocated by task 507; freed by task 508")
HASHED = OOB.replace("0xffff8c4f", "0x00000000")
is_row("hashed: no address", HASHED, **WHERE,
       object="out-of-bounds read in f+0xa3/0x22b",
       reason="out-of-bounds read in f+0xa3/0x22b; 1B left of kfence-#17; "
       "size 32; allocated by task 507")
tap.equal("32 bits: an address near those of its object",
          [r.get("vaddr") for r in of(UAF.replace("0xffff8c4f", "0x"))],
          ["0x3e292008"])
tap.equal("32 bits, hashed: no address", [r.get("vaddr") for r in of(
    UAF.replace("0xffff8c4f3e292008", "0x71a05aab").replace(
        "0xffff8c4f3e292000", "0x3ac78693").replace(
            "0xffff8c4f3e29201f", "0x90e4d0a2"))], [None])
destroyed = of(UAF.replace("cache=kmalloc-32", "cache=<destroyed>"))
tap.equal("the cache is gone", [(r.get("slab_cache"),
                                 "the cache was destroyed" in r["reason"])
                                for r in destroyed], [(None, True)])

# --- stacks ---


def stacks(text):
    return [(r.get("alloc_stack"), r["missing"].get("alloc_stack"),
             r.get("free_stack"), r["missing"].get("free_stack"))
            for r in of(text)]


((alloc, no_alloc, free, no_free),) = stacks(UAF)
tap.equal("both stacks", ((no_alloc, no_free), bool(alloc), bool(free),
                          alloc != free), ((None, None), True, True, True))
tap.equal("with lines of others between",
          stacks(UAF.replace("\n\n", "\nusb 1-1: new device\n\n")),
          [(alloc, None, free, None)])
tap.equal("a line inside of one: frames may be of others", stacks(UAF.replace(
    "\n init_thing", "\nusb 1-1: new device\n init_thing"))[0][:2],
          (None, "io"))
tap.equal("the kernel has none", stacks(report(
    "use-after-free read", "Use-after-free read at 0xffff8c4f3e292000 (in "
    "kfence-#17):", THING, BY + " no allocation stack\n",
    FREED + " no deallocation stack\n"))[0], (None, None, None, None))
tap.equal("cut off: its end is missing",
          [r.get("notes") for r in of(UAF[:UAF.index("freed by")])],
          [["partial"]])
BOOT = "Linux version 6.9.1 (x@y) #1\n"
SWAPPER = "CPU: 0 PID: 0 Comm: swapper Not tainted 6.9.1 #1\n"
tap.equal("cut by a restart of the machine",
          [(r.get("pid"), r.get("notes")) for r in of(
              UAF[:UAF.index(" init_thing")] + BOOT + SWAPPER)],
          [(None, ["partial"])])


def told(text):
    return [(r.get("pid"), r.get("slab_cache"), r.get("notes"))
            for r in of(text)]


ALL = (107, "kmalloc-32", [])
CUT = UAF[:UAF.index("kfence-#17: ")]
for end in UAF.index("\n g+0x51"), UAF.index("kfence-#17: "):
    tap.equal(f"cut after {end} bytes, then a whole one",
              told(UAF[:end] + "\n" + UAF),
              [(None, None, ["partial"]), ALL])
tap.equal("cut before its task", told(UAF.replace(CPU, "\n")),
          [(None, "kmalloc-32", ["partial"])])
OTHER = ("WARNING: CPU: 2 PID: 99 at kernel/foo.c:12 bar+0x1/0x2\n"
         "CPU: 2 PID: 99 Comm: other Not tainted 6.6.30 #1\n")
tap.equal("the task of another report in between",
          [r[:2] for r in told(UAF.replace("kfence-#17: ", OTHER +
                                           "kfence-#17: "))], [ALL[:2]])
for line in ("general protection fault, probably for non-canonical address "
             "0xdead000000000108: 0000 [#1] PREEMPT SMP NOPTI",
             "Oops: general protection fault: 0000 [#1] SMP",
             "Unable to handle kernel NULL pointer dereference at virtual "
             "address 0000000000000010",
             "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
             "UBSAN: array-index-out-of-bounds in fs/foo.c:12:3",
             "NMI backtrace for cpu 2",
             "Kernel panic - not syncing: hung_task: blocked tasks",
             "apt invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|"
             "__GFP_COMP), order=0, oom_score_adj=0",
             "kworker/0:1: page allocation failure: order:4, mode:0x40cc0("
             "GFP_KERNEL|__GFP_COMP), nodemask=(null)"):
    tap.equal("the task of another error: " + line[:30], told(UAF.replace(
        CPU, "\n" + line + "\nCPU: 2 PID: 99 Comm: other Not tainted 6.6.30 "
        "#1\n" + CPU)), [(None, "kmalloc-32", ["partial"])])
tap.equal("of no object: its task comes at once", told(report(
    "invalid read", "Invalid read at 0xffff8c4f3e29b00a:")),
          [(107, None, [])])
tap.equal("cut: the next task is of another report", told(CUT + OTHER),
          [(None, None, ["partial"])])
for part in "init_thing", "drop_thing":
    for then in "", UAF, BOOT:
        row = of(UAF[:UAF.index(" " + part)] + then)[0]
        tap.equal(f"cut in a stack, then {then[:13]}", (row["notes"], [
            row.get(f) is not None for f in ("alloc_stack", "free_stack")]),
                  (["partial"], [part == "drop_thing", False]))
rows = of(UAF.replace("CPU:", "usb 1-1: gone\nCPU:") + OOB)
tap.equal("two of them", [(r["object"][:13], r["pid"], r.get("notes"))
                          for r in rows],
          [("use-after-fre", 107, []), ("out-of-bounds", 107, [])])
tap.equal("all is read", ask("from-log", "--text-only",
                              stdin=UAF.encode())[0], 0)
tap.equal("no report", of("BUG: KFENCE: \n"), [])
HIDDEN = "hidden: kernel addresses are shown only with --pointers"
for name, text, hidden in (
        ("an address that can be shown", UAF, True),
        ("one that is hashed", UAF.replace("0xffff8c4f3e29", "0x00000000ab29"),
         False)):
    out = subprocess.run([command, "from-log", "--text-only"], input=text,
                         capture_output=True, text=True, check=False).stdout
    tap.equal("an event a line: " + name, (HIDDEN in out, "0x0000" in out,
                                           "0xffff" in out),
              (hidden, False, False))
stamped = "".join(f"[   38.{n:06}] {line}\n"
                  for n, line in enumerate(UAF.splitlines()))
tap.equal("with times: the same", [(r["reason"], r["event_ns"] // 10 ** 9)
                                   for r in of(stamped)],
          [(of(UAF)[0]["reason"], 38)])
tap.end()
