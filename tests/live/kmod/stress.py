# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Asks questions while memory changes, and checks what they leave behind."""
import collections
import re
import time

from words import KPF

USER = "/bin/user"
DIR = "/sys/kernel/debug/page_detective/"
# Half in memory, half in a file. And huge pages with little in them stay huge,
# as long as nobody else splits them: some are planted.
SWAP = """
at=/sys/kernel/mm/transparent_hugepage/shrink_underused
[ ! -f $at ] || echo 0 > $at
swap=$(cat /sys/class/zram-control/hot_add)
echo 12M > /sys/block/zram$swap/disksize
dd if=/dev/zero of=/disk/swap bs=1M count=12 2> /dev/null
for at in /dev/zram$swap /disk/swap; do
	chmod 600 $at; mkswap $at > /dev/null; swapon -p 9 $at
done
echo $swap > /tmp/swap
"""
NO_SWAP = """
swap=$(cat /tmp/swap)
swapoff /disk/swap /dev/zram$swap
rm /disk/swap
echo $swap > /sys/class/zram-control/hot_remove
"""
# Free all caches that can be rebuilt, but leave the plants alone. Writing 2
# would split huge pages that are partly unmapped. sync would clean dirty pages.
# Slabs are shrunk once: each file of /sys that somebody opens is an object that
# the kernel frees up to 5 s after it is closed. What is still in use then is
# looked at again, for the kernel frees much of it later.
SETTLE = """
echo 1 > /proc/sys/vm/drop_caches
for f in /sys/kernel/slab/*/shrink; do echo 1 > $f; done
"""
BOTH = """
user churn > /dev/null 2>&1 & churn=$!
user addresses 2 %d > /tmp/addresses 2>&1 & addresses=$!
user frames 1 %d %d; said=$?
wait $addresses || said=1
cat /tmp/addresses
kill -9 -$churn; wait $churn 2> /dev/null
exit $said
"""
# Kill readers of each of the three files, mostly during a walk.
KILLED = """
for i in $(seq %d); do
	case $((i %% 3)) in
	0) user addresses $i 100000 ;;
	1) while true; do echo 0x1000000 > %sphys; done ;;
	2) while true; do echo "1 0x400000" > %svirt; done ;;
	esac > /dev/null 2>&1 & p=$!
	sleep 0.$((i %% 9 + 1)); kill -9 $p; wait $p 2> /dev/null
done; true
"""
# Slab objects and vmalloc areas that the module allocated, with their
# allocating functions. The descriptor of an area may outlive it for long.
OWNED = """
cd /sys/kernel/debug/slab
awk -v RS= '/\\[page_detective\\]/ { print; print "" }' $(ls -d */alloc_traces | grep -v vmap_area)
grep '\\[page_detective\\]' /proc/vmallocinfo; true
"""
HELD = """
rm -f /tmp/f; mkfifo /tmp/f
user hold < /tmp/f > /tmp/held &
exec 5> /tmp/f; n=0
until grep -q held /tmp/held || [ $n = 600 ]; do sleep 0.1; n=$((n + 1)); done
%s
exec 5>&-; wait; rm /tmp/f
""" % OWNED
GONE = """
for i in $(seq 600); do
	pidof user > /dev/null || exit 0
	sleep 0.1
done; exit 1
"""
# Counters of the kernel, with the minimum increase for FOR_FRAMES frames.
HAPPENED = {"processes": 100, "pswpout": 1000, "pswpin": 1000,
            "pgmigrate_success": 5000, "compact_migrate_scanned": 1000,
            "pgfree": 20000}
FOR_FRAMES = 10000
# A large enough sample of frames meets all of these kinds.
KINDS = "lru anon buddy slab reserved mmap swapbacked uptodate".split()
# Slab memory and pages vary by this much anyway. A leak in each query would
# exceed it. "refs" checks single references.
LEAST, LEAST_PAGES = 800, 1000
# What was freed may be in use for some seconds more: how often one looks again,
# and how many seconds later.
LOOKS, PAUSE = 20, 1
FEW_PAGES = 64
# The kernel keeps these caches for files, also of /proc, until memory is short.
KEPT = re.compile(r"dentry|buffer_head|\w*inode_cache")


def used(memory):
    """Pages that are neither free nor could be, nor lost."""
    return memory["MemTotal"] - sum(memory.get(name, 0) for name in (
        "MemFree", "PerCPU", "Buffers", "Cached", "Hugetlb",
        "HardwareCorrupted"))


# What the allocator makes for a new slab, when somebody asks for an object and
# all others are full: it goes with that slab, and not with the object.
OF_SLAB = re.compile(r"\s*(alloc_slab_obj_exts|memcg_alloc_slab_cgroups)\+")


def owned(text):
    """How many of each."""
    found = collections.Counter()
    for part in text.split("\n\n"):
        lines = part.strip().splitlines()
        number = lines and re.match(r" *(\d+) ", lines[0])
        if number and len(lines) > 1:
            if not OF_SLAB.match(lines[1]):
                found["\n".join(lines[1:])] += int(number.group(1))
        else:
            found.update(re.sub(r"^0x\S+ +", "", line) for line in lines)
    return found


def say(text):
    """What a test has counted: its name is the same each time."""
    for line in text.splitlines():
        print("# " + line)


class Stress:
    def __init__(self, bench, frames, addresses, killed, rounds):
        self.bench, self.guest = bench, bench.guest
        self.frames, self.addresses = frames, addresses
        self.killed, self.rounds = killed, rounds
        self.slack = max(LEAST, (frames + addresses) // 20)
        self.slack_pages = max(LEAST_PAGES, self.slack)

    def sh(self, text):
        return self.guest.must_run("sh", "-c", text).decode()

    def counters(self):
        text = self.guest.read("/proc/vmstat") + self.guest.read("/proc/stat")
        return {name: int(value) for name, value in
                re.findall(r"^(\w+) (\d+)$", text.decode(), re.M)}

    def meminfo(self):
        """In pages. PerCPU: those that are free, and in lists of their own."""
        found = {name: int(value) // 4 for name, value in
                 re.findall(r"^(\w+): +(\d+) kB", self.guest.read(
                     "/proc/meminfo").decode(), re.M)}
        found["PerCPU"] = sum(map(int, re.findall(
            r"^ +count: +(\d+)", self.guest.read("/proc/zoneinfo").decode(),
            re.M)))
        return found

    def is_lost(self):
        """None: this kernel loses none."""
        return self.meminfo().get("HardwareCorrupted")

    def slabs(self):
        return {name: int(n) for name, n in
                re.findall(r"^(\S+) +(\d+)", self.guest.read(
                    "/proc/slabinfo").decode(), re.M)}

    def locked(self):
        """Frames that somebody has locked, of those that can be."""
        words = enumerate(self.bench.kpageflags(self.bench.frames))
        return {hex(pfn) for pfn, word in words
                if word >> KPF["locked"] & 1 and word >> KPF["lru"] & 1}

    def state(self):
        self.sh(SETTLE)
        return {"slabs": self.slabs(), "locked": self.locked(),
                "refcnt": self.bench.refcount(), "memory": self.meminfo(),
                "owned": owned(self.sh(OWNED))}

    def at_rest(self):
        """The state when no more is being freed."""
        state = self.state()
        for _ in range(LOOKS):
            time.sleep(PAUSE)
            last, state = state, self.state()
            if used(last["memory"]) <= used(state["memory"]) + FEW_PAGES:
                break
        return state

    def ask(self, frames, addresses):
        """What was said, and what is wrong about it."""
        out, err, how = self.guest.run("sh", "-c", BOTH % (
            addresses, frames, self.bench.frames * 2))
        said = out.decode()
        return said, [] if how == "exit 0" else [how, said, err.decode()]

    def check_all(self):
        self.sh(SWAP)
        # The first queries allocate memory that stays allocated, and so does
        # the first read of each file of debugfs.
        _, wrong = self.ask(self.frames // 10, self.addresses // 10)
        self.sh(OWNED)
        self.bench.result("random questions, to begin with", wrong)
        self.sh(NO_SWAP)
        before = self.at_rest()
        self.sh(SWAP)
        self.check_asked()
        self.check_killed()
        self.sh(NO_SWAP)
        self.check_left(before)

    def check_asked(self):
        counters = self.counters()
        lost = self.is_lost()
        said, wrong = self.ask(self.frames, self.addresses)
        say(said)
        self.bench.result("random frames and addresses", wrong)
        kinds = re.search(r"kinds (0x[0-9a-f]+)", said)
        kinds = int(kinds.group(1), 16) if kinds else 0
        self.bench.result("of all kinds", [name for name in KINDS if
                                           not kinds >> KPF[name] & 1])
        now = self.counters()
        # Not every kernel has all these counters.
        came = {name: now[name] - counters[name] for name in HAPPENED
                if name in now}
        self.bench.result("meanwhile: " + ", ".join(
            "%s %d" % item for item in came.items()), [
                name for name, n in came.items()
                if n * FOR_FRAMES < HAPPENED[name] * self.frames])
        if lost is not None:
            lost = self.is_lost() - lost
            self.bench.result("meanwhile: %d pages failed" % lost,
                              [] if lost > 0 else ["there was none"])
        else:
            self.bench.report.skip("poisoned", "MADV_HWPOISON: Invalid "
                                   "argument")

    def check_killed(self):
        self.sh(KILLED % (self.killed, DIR, DIR))
        wrong = [] if b"state=" in self.bench.ask("phys 0x1000") else [
            "no answer"]
        for name, text in (("virt", "1 0x400000"), ("phys", "0x1000000")):
            said, _ = self.bench.write(name, text)
            if not said.startswith("wrote"):
                wrong.append("%s: %s" % (name, said))
        self.bench.result("killed callers leave nothing that others need",
                          wrong)

    @staticmethod
    def grown(before, after):
        return {name: n - before["slabs"].get(name, 0)
                for name, n in after["slabs"].items()
                if not KEPT.fullmatch(name)}

    def is_more(self, before, after):
        """Whether anything is held that was not before."""
        return after["locked"] or after["refcnt"] or \
            after["owned"] - before["owned"] or \
            used(after["memory"]) - used(before["memory"]) > \
            self.slack_pages or \
            any(n > self.slack for n in self.grown(before, after).values())

    def check_left(self, before):
        _, _, how = self.guest.run("sh", "-c", GONE)
        self.bench.result("whoever was killed is gone", [] if how == "exit 0"
                          else self.sh("ps").splitlines())
        after = self.state()
        for _ in range(LOOKS):
            if not self.is_more(before, after):
                break
            time.sleep(PAUSE)
            after = self.state()
        grown = self.grown(before, after)
        most = sorted(grown, key=grown.get)[-3:]
        say("most came to " + ", ".join("%s %+d" % (name, grown[name])
                                        for name in most))
        self.bench.result("slabs are as before", [
            "%s: %+d" % (name, n) for name, n in grown.items()
            if n > self.slack])
        more = used(after["memory"]) - used(before["memory"])
        self.bench.result("memory is as before: %+d pages" % more, [
            "%s %+d" % (name, n - before["memory"][name])
            for name, n in after["memory"].items()
            if more > self.slack_pages and n != before["memory"][name]])
        self.check_owned(before["owned"], after["owned"])
        self.bench.result("no page is locked", sorted(after["locked"]))
        self.bench.result("nobody has the module", [] if
                          after["refcnt"] == 0 else [str(after["refcnt"])])
        out, err, how = self.guest.run(USER, "refs", self.rounds)
        say(out.decode())
        self.bench.result("refs", [] if how == "exit 0" else
                          [how, err.decode()])

    def check_owned(self, before, after):
        """What it had when it was loaded stays; what was there earlier may
        be of other functions, whose place it took."""
        held = owned(self.sh(HELD)) - after
        self.bench.result("of an open file %d objects are found" %
                          sum(held.values()), [] if any(
                              "query_open" in who for who in held) else
                          ["none is found"])
        self.bench.result("none is left of those that it asked for",
                          list(after - before))
