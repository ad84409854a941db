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
    """One report: its lines in order, and the fields of its row. None: the
    field is what the row of the report alone has."""

    def __init__(self, rnd, number, owner, busy):
        """@busy: kinds that are printed already. The kernel prints one report
        of KASAN at a time (mm/kasan/report.c, report_lock), and one task looks
        for those that hang."""
        self.rnd = rnd
        self.number = number
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
        kinds = [self.state, self.state, self.map, self.map, self.dump,
                 self.move, self.cache, self.kasan, self.kfence, self.kfence,
                 self.slab, self.slab, self.list, self.fault, self.hung,
                 self.apei, self.memory_failure]
        rnd.choice([k for k in kinds if k.__name__ not in busy])()
        if self.report in ("kasan", "hung_task"):
            busy.add(self.report.split("_", maxsplit=1)[0])

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
        self.says |= {"alloc_pid": self.pid + 50000, "alloc_ns": 5}
        self.lines += [
            "page_owner tracks the page as allocated",
            "page last allocated via order 0, migratetype Movable, gfp_mask "
            f"0x140dca(GFP_HIGHUSER_MOVABLE), pid {self.pid + 50000}, tgid "
            f"{self.pid + 50000} (x{self.pid}), ts 5, free_ts 0",
            f" f{self.pid}+0x1a/0x30", f" g{self.pid}+0x1/0x2",
            "page_owner free stack trace missing"]

    def task(self):
        self.says |= {"comm": self.comm, "pid": self.pid}
        self.lines.append(
            f"CPU: {self.pid % 8} UID: 0 PID: {self.pid} Comm: {self.comm} "
            "Not tainted 6.12.0 #1")

    def trace(self):
        self.lines += ["Call Trace:", " <TASK>", f" h{self.pid}+0x5/0x10",
                       f" i{self.pid}+0x7/0x20", " </TASK>"]

    def end(self):
        self.lines.append("Modules linked in: x")
        self.task()
        self.trace()

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

    def cache(self):
        self.report = "bad_page_cache"
        self.lines.append(f"BUG: Bad page cache in process {self.comm}  "
                          f"pfn:{self.pfn:x}")
        self.block("still mapped when deleted")
        self.end()

    def dump(self):
        self.report = "dump_page"
        if self.rnd.random() < .5:
            self.block("unmovable page")
            return
        self.block(f"VM_BUG_ON_PAGE(x{self.pfn})")
        self.lines.append(f"kernel BUG at mm/x.c:{self.pid}!")
        self.task()

    def move(self):
        self.report = "migration"
        text = f"migrating pfn {self.pfn:x} failed ret:1"
        self.lines.append(text)
        self.block("migration failure")
        self.says["reason"] = text

    # --- reports that name no page, or without a block of their own ---

    def kasan(self):
        self.report = "kasan"
        at = 0xffff888100000000 + self.pfn * 0x1000
        self.lines += [
            f"BUG: KASAN: use-after-free in k{self.pid}+0xb0/0xd0",
            f"Write of size 1 at addr {at + 8:016x} by task "
            f"{self.comm}/{self.pid}"]
        self.task()
        self.trace()
        self.lines += [
            f"The buggy address belongs to the object at {at:016x}",
            f" which belongs to the cache c{self.pid} of size 16",
            "The buggy address belongs to the physical page:"]
        self.block("kasan: bad access detected")
        self.lines.append("Memory state around the buggy address:")
        self.says |= {"vaddr": f"{at + 8:#x}", "slab_cache": f"c{self.pid}",
                      "reason": f"use-after-free in k{self.pid}+0xb0/0xd0"}

    def kfence(self):
        self.report = "kfence"
        at = 0xffff8c3f00000000 + self.pfn * 0x1000
        kind = self.rnd.choice(["use-after-free read", "invalid free"])
        words = {"u": "Use-after-free read at", "i": "Invalid free of"}[kind[0]]
        self.lines += ["=" * 66] * self.rnd.randrange(2)
        self.lines += [
            f"BUG: KFENCE: {kind} in g{self.pid}+0xa6/0x234",
            f"{words} 0x{at + 8:x} (in kfence-#{self.number % 256}):",
            f" g{self.pid}+0xa6/0x234",
            f"kfence-#{self.number % 256}: 0x{at:x}-0x{at + 31:x}, size=32, "
            f"cache=f{self.pid}",
            f"allocated by task {self.pid + 50000} on cpu 1 at "
            f"{self.pid}.{self.pid:06}s (0.1s ago):",
            f" a{self.pid}+0x1/0x2", f" b{self.pid}+0x3/0x4",
            f"freed by task {self.pid + 60000} on cpu 1 at "
            f"{self.pid + 9}.{self.pid:06}s (0.1s ago):",
            f" d{self.pid}+0x1/0x2"]
        self.task()
        self.pfn = None
        self.says |= {"vaddr": f"{at + 8:#x}", "slab_cache": f"f{self.pid}",
                      "alloc_pid": self.pid + 50000, "reason": None,
                      "alloc_ns": self.pid * 1000001000,
                      "free_ns": self.pid * 1000001000 + 9000000000}

    def slab(self):
        self.report = "slab"
        at = 0xffff888100000000 + self.pfn * 0x1000
        self.lines += ["=" * 77] * self.rnd.randrange(2)
        self.lines.append(f"BUG s{self.pid} (Not tainted): Right Redzone "
                          "overwritten")
        if self.rnd.random() < .7:
            self.lines.append(f"0x{at + 0x540:x}-0x{at + 0x547:x} @offset=1344."
                              f" First byte 0x{self.number % 256:x} instead of "
                              "0xcc")
        self.lines += [
            f"Allocated in l{self.pid}+0x20/0x100 age=12 cpu=1 pid=33",
            f"Slab 0xffffea0004048d00 objects=21 used=21 fp=0x0000000000000000 "
            f"flags={self.raw:#x}({self.flag}|node=0|zone=2)",
            f"Object 0x{at + 0x500:x} @offset=1280 fp=0x0000000000000000"]
        self.task()
        self.trace()
        if self.rnd.random() < .5:
            self.lines.append(f"FIX s{self.pid}: Restoring 0x{at + 0x540:x}-0x"
                              f"{at + 0x547:x}=0xcc")
        self.pfn = None
        self.says |= {"vaddr": f"{at + 0x500:#x}", "slab_cache": f"s{self.pid}",
                      "flags": [self.flag],
                      "reason": "Right Redzone overwritten"}

    def list(self):
        self.report = "list"
        at = 0xffff888100000000 + self.pfn * 0x1000
        text = (f"list_del corruption. prev->next should be {at:016x}, but was "
                f"dead000000000100. (prev={at + 0x508:016x})")
        self.lines += [text, "------------[ cut here ]------------"]
        if self.rnd.random() < .5:
            self.lines.append("kernel BUG at lib/list_debug.c:56!")
        else:
            self.lines.append(f"WARNING: CPU: 1 PID: {self.pid} at lib/list_deb"
                              "ug.c:56 x+0x74/0xc0")
        self.task()
        self.trace()
        self.pfn = None
        self.says |= {"vaddr": f"{at + 0x508:#x}", "reason": text}

    def fault(self):
        self.report = "fault"
        at = 0x7f0000000000 + self.pfn * 0x1000
        self.lines += [
            f"{self.comm}[{self.pid}]: segfault at {at + 16:x} ip "
            f"000055d0c2a9b13d sp 00007ffc0a1b2c30 error 4 in q{self.pid}"
            "[55d0c2a9b000+1000]",
            f"Code: 48 89 e5 {self.pid >> 8:02x} {self.pid & 255:02x} <8b>"]
        self.pfn = None
        self.says |= {"pid": self.pid, "comm": self.comm, "reason": None,
                      "vaddr": f"{at:#x}"}

    def hung(self):
        self.report = "hung_task"
        self.lines += [
            f"INFO: task {self.comm}:{self.pid} blocked for more than 120 "
            "seconds.", "      Not tainted 6.12.0 #1",
            f"task:{self.comm}  state:D stack:0 pid:{self.pid}", "Call Trace:",
            " <TASK>", f" w{self.pid}+0x5/0x10",
            f" migration_entry_wait_on_locked+{self.pid:#x}/0x2c0",
            " </TASK>"]
        self.pfn = None
        self.says |= {"pid": self.pid, "comm": self.comm, "reason": None}

    def apei(self):
        self.report = "apei"
        head = f"{{{self.number + 1}}}[Hardware Error]: "
        self.lines += [head + line for line in (
            "Hardware error from APEI Generic Hardware Error Source: 1",
            "event severity: recoverable", " Error 0, type: recoverable",
            "  section_type: memory error",
            f"  physical_address: {self.pfn * 0x1000 + 0x180:#018x}",
            f"  node:{self.number} card:1",
            f"  error_type: {self.number % 8}, multi-bit ECC",
            f"  DIMM location: CPU {self.number} DIMM 5")]
        self.says |= {"reason": None}

    def memory_failure(self):
        self.report = "memory_failure"
        at = 0x7f0000000000 + self.pfn * 0x1000
        self.lines += [
            f"Injecting memory failure for pfn {self.pfn:#x} at process virtual"
            f" address {at:#x}",
            f"Memory failure: {self.pfn:#x}: Sending SIGBUS to "
            f"{self.comm}:{self.pid} due to hardware memory corruption",
            f"Memory failure: {self.pfn:#x}: recovery action for dirty LRU page"
            ": Recovered"]
        self.says |= {"pid": self.pid, "comm": self.comm, "reason": None,
                      "vaddr": f"{at:#x}"}


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
        text.append("[    0.000000] Linux version 6.12.0 (a@b) #1 SMP\n"
                    "[    0.000000] Dentry cache hash table entries: 131072 "
                    "(order: 8, 1048576 bytes)\n")
        reports, busy = [], set()
        # A kernel has page_owner's lines after every block, or after none.
        owner = rnd.random() < .2
        for _ in range(rnd.choice([2, 2, 3])):
            reports.append(Report(rnd, number, owner, busy))
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
