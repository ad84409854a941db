# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Reports as two or three processors print them at the same time, and what each
of them says. All follows from a seed.
"""
import random

FLAGS = [("locked", 0x1), ("referenced", 0x4), ("dirty", 0x10),
         ("active", 0x40), ("private", 0x2000)]
ZONE = 0x17ffffc0000000
STATES = ["nonzero mapcount", "non-NULL mapping", "nonzero _refcount",
          "page still charged to cgroup"]


class Report:
    """One report: its lines in order, and the fields of its row."""

    def __init__(self, rnd, number, owner):
        self.rnd = rnd
        self.pfn = 0x10000 + 0x111 * number
        self.old = rnd.random() < .1
        self.owner = owner
        self.pid = 1000 + number
        self.comm = f"task{rnd.choice([number % 40, 7])}"
        self.flag, bit = rnd.choice(FLAGS)
        self.raw = ZONE | bit
        self.refcount = rnd.randrange(3)
        self.mapcount = rnd.choice([0, 0, -1, 1])
        self.lines = []
        self.says = {}
        rnd.choice([self.state, self.state, self.map, self.map, self.dump,
                    self.move])()

    def block(self, reason):
        self.says |= {"raw_flags": f"{self.raw:#x}", "flags": [self.flag],
                      "refcount": self.refcount, "reason": reason}
        address = f"{self.pfn * 0x9e3779b1 & 0xffffffff:016x}"
        self.lines.append(
            f"page:{address if self.old else ''} refcount:{self.refcount} "
            f"mapcount:{self.mapcount} mapping:0000000000000000 "
            f"index:{self.pfn & 7:#x} pfn:{self.pfn:#x}")
        self.lines += [
            f"flags: {self.raw:#x}({self.flag}|node=0|zone=2)",
            f"raw: {self.raw:016x} dead000000000100 dead000000000122 "
            "0000000000000000",
            f"raw: {self.pfn & 7:016x} 0000000000000000 {self.refcount:08x}"
            f"{self.mapcount - 1 & 0xffffffff:08x} 0000000000000000",
            f"page dumped because: {reason}"]
        if self.owner:
            self.page_owner()

    def page_owner(self):
        self.says |= {"alloc_pid": self.pid + 50000}
        self.lines += [
            "page_owner tracks the page as allocated",
            "page last allocated via order 0, migratetype Movable, gfp_mask "
            f"0x140dca(GFP_HIGHUSER_MOVABLE), pid {self.pid + 50000}, tgid "
            f"{self.pid + 50000} (x{self.pid}), ts 5, free_ts 0",
            f" f{self.pid}+0x1a/0x30", f" g{self.pid}+0x1/0x2",
            "page_owner free stack trace missing"]

    def end(self):
        self.says |= {"comm": self.comm, "pid": self.pid}
        self.lines += [
            "Modules linked in: x",
            f"CPU: {self.pid % 8} UID: 0 PID: {self.pid} Comm: {self.comm} "
            "Not tainted 6.12.0 #1",
            "Call Trace:", f" h{self.pid}+0x5/0x10"]

    def state(self):
        self.report = "bad_page_state"
        self.lines.append(f"BUG: Bad page state in process {self.comm}  "
                          f"pfn:{self.pfn:x}")
        self.block(self.rnd.choice(STATES))
        self.end()

    def map(self):
        self.report = "bad_page_map"
        at = 0x7f0000000000 + self.pfn * 0x1000
        entry = 1 << 63 | self.pfn << 12 | 0x227
        self.lines.append(f"BUG: Bad page map in process {self.comm}  "
                          f"pte:{entry:016x} pmd:74b30067")
        self.block("bad pte")
        self.says["reason"] = f"bad pte; pte:{entry:016x} pmd:74b30067"
        self.says["vaddr"] = f"{at:#x}"
        self.lines += [
            f"addr:{at:016x} vm_flags:08100077 anon_vma:ffff8880547d2200 "
            f"mapping:0000000000000000 index:{at >> 12:x}",
            "file:(null) fault:0x0 mmap:0x0 read_folio:0x0"]
        self.end()

    def dump(self):
        self.report = "dump_page"
        self.block(f"VM_BUG_ON_PAGE(x{self.pfn})")

    def move(self):
        self.report = "migration"
        text = f"migrating pfn {self.pfn:x} failed ret:1"
        self.lines.append(text)
        self.block("migration failure")
        self.says["reason"] = text


def shuffled(rnd, reports):
    """The lines of all, each with its report's index; often a processor prints
    several in a row."""
    left = [list(r.lines) for r in reports]
    out = []
    last = 0
    while any(left):
        if not left[last] or rnd.random() < .5:
            last = rnd.choice([i for i, lines in enumerate(left) if lines])
        out.append((last, left[last].pop(0)))
    return out


def logs(seed, count, mode):
    """The text of @count boots, and the report that begins at each time, in
    microseconds. @mode: "mixed", "tagged" or "alone"."""
    rnd = random.Random(seed)
    text, begins = [], {}
    us = number = 0
    for _ in range(count):
        text.append("[    0.000000] Linux version 6.12.0 (a@b) #1 SMP\n")
        reports = []
        # A kernel has page_owner's lines after every block, or after none.
        owner = rnd.random() < .2
        for _ in range(rnd.choice([2, 2, 3])):
            reports.append(Report(rnd, number, owner))
            number += 1
        lines = shuffled(rnd, reports)
        if mode == "alone":
            lines.sort(key=lambda line: line[0])
        for who, line in lines:
            us += 1
            begins[us] = reports[who]
            tag = f"[{'T' + str(reports[who].pid):>6}]" \
                if mode == "tagged" else ""
            text.append(f"[{us // 1000000:5}.{us % 1000000:06}]{tag} {line}\n")
    return "".join(text), begins
