# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Makes dumps of guests, each with the truth at the time of the dump:

  dump.elf, dump.kdump   as QEMU writes them; the second is zlib, flattened
  truth.jsonl            the planter's output just before, one page per line;
                         at_dump has the kernel's words at the dump,
                         stable_across_dump says that they stayed the same
  tasks.jsonl            all threads: pid, tgid, ppid, comm, and the same mark
  cgroups.jsonl          inode and path of all cgroups
  proc/, sys/            files of the guest with their names, so that procfs can
                         use the directory as a root; pagemap has only words
                         that are not 0, with holes between
  info.json              kernel, machine, seconds taken; key: everything that
                         the dump depends on
"""
import json
import os
import pathlib
import re
import subprocess
import time

import cache
import guest
import kernels
import programs

RECIPES = {
    "x86_64-6.1": {"kernel": "6.1", "arch": "x86_64"},
    "x86_64-6.12": {"kernel": "6.12", "arch": "x86_64"},
    "aarch64-6.1": {"kernel": "6.1", "arch": "aarch64"},
    "aarch64-6.12": {"kernel": "6.12", "arch": "aarch64"},
    # five levels of page tables
    "x86_64-6.12-la57": {"kernel": "6.12", "arch": "x86_64", "cpu": "max"},
    "x86_64-6.12-nokaslr": {"kernel": "6.12", "arch": "x86_64",
                            "append": "nokaslr"},
    # who allocated every page
    "x86_64-own": {"kernel": "own", "arch": "x86_64",
                   "append": "page_owner=on"},
    # The dump has no VMCOREINFO note, so pagedet must find it in memory.
    "x86_64-6.1-nonote": {"kernel": "6.1", "arch": "x86_64",
                          "vmcoreinfo": False},
}

# Read these files whole, before the tables: reading costs memory.
FILES = """
/proc/kallsyms /proc/vmallocinfo /proc/slabinfo /proc/iomem /proc/modules
/proc/cmdline /proc/version /proc/mounts /proc/swaps /proc/devices
/proc/filesystems /proc/sys/kernel/osrelease /proc/sys/kernel/random/boot_id
/proc/zoneinfo /proc/buddyinfo /proc/meminfo /proc/vmstat
/sys/kernel/btf/vmlinux /sys/kernel/vmcoreinfo /sys/kernel/notes
/sys/devices/system/memory/block_size_bytes
/sys/kernel/mm/transparent_hugepage/enabled
""".split()
# These are read whole too, but they change by the minute. Only our own kernel
# has them.
LATE_FILES = """
/sys/kernel/debug/page_owner_stacks/show_stacks /sys/kernel/debug/page_owner
""".split()
TASK_FILES = "smaps status stat statm cgroup mountinfo comm stack".split()
# The tables of all memory have one word for each page frame.
TABLES = "/proc/kpageflags /proc/kpagecount /proc/kpagecgroup".split()
WORDS = "pagemap pfn kpageflags kpagecount kpagecgroup fnv1a64".split()

# As QEMU has them, and the names of their files.
FORMS = {"elf": "dump.elf", "kdump-zlib": "dump.kdump"}

PF_WQ_WORKER = 0x20
# seconds; an emulated machine is slow, and more so beside others
SLEEPS_BY = 60
RESTS_BY = 20
# until who was woken sleeps again
QUIET = 1
# User addresses end far below this, and vsyscall lies above it.
LAST_ADDRESS = 1 << 56


def sources():
    """Everything that changes what a dump looks like."""
    lab = pathlib.Path(__file__).parent
    paths = [path for files in programs.SOURCES.values() for path in files]
    return [lab / name for name in ("dumps.py", "guest.py", "initramfs.py",
                                    "qemu.py", "../init")] + \
        sorted(map(pathlib.Path, paths + programs.HEADERS))


def get(name):
    """The directory of a dump; made if it is not there."""
    recipe = RECIPES[name]
    kernel = kernels.get(recipe["kernel"], recipe["arch"])
    key = cache.digest(kernel.id, json.dumps(recipe), *sources())
    return cache.entry("dump", name, key,
                       lambda new: make(new, name, kernel, key), only=True)


def forget(name):
    """It is made anew when it is next asked for."""
    cache.forget("dump", name)


def make(top, name, kernel, key, forms=tuple(FORMS)):
    """Its processors run one after the other: mostly one of them is busy, and
    it takes the host less time."""
    recipe = dict(RECIPES[name], kernel=kernel)
    with guest.Guest(**recipe, in_turns=True) as g:
        start = time.monotonic()
        port = g.plant()
        # The planter reports only once what it cannot make.
        skips = [line for line in listen(port) if "skip" in line]
        g.took("plant", start)

        start = time.monotonic()
        for path in FILES:
            save(g, path, top)
        save_start(g, "/proc/kcore", top)
        save_blocks(g, top)
        cgroups = list_cgroups(g)
        save_cgroups(g, cgroups, top)
        tasks = list_tasks(g, top)
        save_sleep(g, sleepers(listen(port, again=True)), top)
        for path in TABLES:
            save(g, path, top)
        save_spaces(g, tasks, top)
        for path in LATE_FILES:
            save(g, path, top)
        said = listen(port, again=True)
        # An allocation may change the migrate type of a block.
        save(g, "/proc/pagetypeinfo", top)
        g.took("truth", start)

        # whatever goes through a port wakes the planter once more
        rest(g)
        g.qemu.command("stop")
        for form in forms:
            start = time.monotonic()
            g.dump(os.path.join(top, FORMS[form]), form)
            g.took(form, start)
        g.qemu.command("cont")
        after = {line.get("name"): line for line in listen(port, again=True)}
        tasks_after = list_tasks(g)
        g.off()
    # Memory that was never used needs no space on the disk.
    subprocess.run(["fallocate", "--dig-holes",
                    os.path.join(top, "dump.elf")], check=True)
    mark(said, after)
    for task in tasks:
        task["stable_across_dump"] = task in tasks_after
    write_lines(top, "truth.jsonl", skips + said)
    write_lines(top, "tasks.jsonl", tasks)
    write_lines(top, "cgroups.jsonl", cgroups)
    with open(os.path.join(top, "info.json"), "w") as f:
        json.dump({"name": name, "key": key, "release": kernel.release,
                   "package": kernel.id, "arch": kernel.arch,
                   "memory_mb": g.machine["memory"], "qemu": g.command,
                   "seconds": {what: round(t, 1)
                               for what, t in g.times.items()}}, f, indent=1)
        f.write("\n")


def listen(port, again=False):
    """What the planter says, one time over."""
    if again:
        port.write(b"again\n")
    said = []
    for line in port:
        line = json.loads(line)
        if "ready" in line:
            return said
        said.append(line)


def sleepers(said):
    """The planter, and whoever else of it has its pages mapped."""
    return sorted({line[key] for line in said for key in ("planter", "pid")
                   if line.get(key)} |
                  {pid for line in said if "expect" in line
                   for pid, _ in line["expect"].get("mappers", [])})


def save_sleep(g, pids, top):
    """The stacks of those who sleep, when they all do: there they sleep when a
    dump is written, too. Every word that goes through a port of the guest
    wakes whoever reads from another one, so that a shell in the guest looks,
    and waits before it does."""
    look = """sleep %d; all=$(cd /proc; for pid in %s; do
            cat $pid/stat; echo "= $pid"; cat $pid/stack; echo
        done); echo "$all" """ % (QUIET, " ".join(map(str, pids)))
    for _ in range(SLEEPS_BY // QUIET):
        said = g.must_run("sh", "-c", look).decode("latin-1")
        # the planter's name has a bracket and a line break
        found = re.findall(r"\) (\w) [-0-9 ]*\n= (\d+)\n((?:\[.*\n)*)", said)
        if [int(pid) for _, pid, _ in found] == pids and \
                all(state == "S" for state, _, _ in found):
            break
    else:
        raise g.qemu.failed("they do not sleep: " + said)
    for _, pid, stack in found:
        if stack:   # there are kernels without that file
            with open(place(top, "/proc/%s/stack" % pid), "w") as f:
                f.write(stack)


def rest(g):
    """Until nobody in the guest has anything to do; where the host has so much
    other work that this is never seen, the guest has had long enough."""
    for _ in range(RESTS_BY // QUIET):
        time.sleep(QUIET)
        if g.qemu.rests():
            break


def mark(said, after):
    for line in said:
        if "name" not in line:
            continue
        line["at_dump"] = {key: line[key] for key in WORDS if key in line}
        later = after[line["name"]]
        # A page that is dirtied again has other bytes each time.
        line["stable_across_dump"] = all(
            line.get(key) == later.get(key) for key in WORDS
            if key != "fnv1a64")


def write_lines(top, name, lines):
    with open(os.path.join(top, name), "w") as f:
        f.write("".join(json.dumps(line) + "\n" for line in lines))


# --- the guest's files ---

def place(top, path):
    path = os.path.join(top, path.lstrip("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def save(g, path, top):
    """A copy, if the guest has such a file."""
    try:
        data = g.read(path)
    except guest.Refused:
        return None
    with open(place(top, path), "wb") as f:
        f.write(data)
    return data


def save_start(g, path, top, size=1 << 15):
    data, = g.pread((path, 0, size))
    if data is not None:
        with open(place(top, path + ".head"), "wb") as f:
            f.write(data)


def list_cgroups(g):
    top = "/sys/fs/cgroup"
    out = g.must_run("find", top, "-type", "d", "-exec",
                     "stat", "-c", "%i %n", "{}", "+")
    found = []
    for line in out.decode().splitlines():
        inode, path = line.split(" ", 1)
        found.append({"inode": int(inode), "path": path[len(top):] or "/"})
    return found


def save_cgroups(g, cgroups, top):
    """Inodes do not survive a copy: a tree that has been saved lists them."""
    with open(place(top, "/sys/fs/cgroup/cgroup.inodes"), "w") as f:
        for cgroup in cgroups:
            f.write("%(inode)d %(path)s\n" % cgroup)
    for cgroup in cgroups:
        save(g, "/sys/fs/cgroup%s/cgroup.procs" % cgroup["path"].rstrip("/"),
             top)


def save_blocks(g, top):
    """Memory blocks, and which node has which."""
    system = "/sys/devices/system"
    for path in g.glob(system + "/memory/memory*",
                       system + "/node/node*/memory*"):
        os.makedirs(place(top, path + "/."), exist_ok=True)
        if "/node/" not in path:
            save(g, path + "/state", top)


def list_tasks(g, top=None):
    """All threads; with @top, what /proc has of each goes there."""
    found = []
    for path in g.glob("/proc/[0-9]*/task/[0-9]*"):
        try:
            task = look_at_task(g, path)
        except guest.Refused:
            continue    # the programs that made this list
        found.append(task)
        if top and task["pid"] == task["tgid"]:
            for name in TASK_FILES:
                save(g, "/proc/%d/%s" % (task["pid"], name), top)
    return found


def look_at_task(g, path):
    """Raises Refused if it has ended."""
    status = dict(line.split(":\t", 1) for line in
                  g.read(path + "/status").decode("latin-1").splitlines()
                  if ":\t" in line)
    comm = g.read(path + "/comm").decode("latin-1")[:-1]
    stat = g.read(path + "/stat").decode("latin-1").rsplit(")", 1)[1].split()
    if int(stat[6]) & PF_WQ_WORKER:
        # The file appends the worker's current job. A rescuer's name has these
        # characters by itself.
        if not comm.startswith("kworker/R-"):
            comm = re.split("[-+]", comm)[0]
        comm = comm[:15]
    return {"pid": int(status["Pid"]), "tgid": int(status["Tgid"]),
            "ppid": int(status["PPid"]), "comm": comm}


def save_spaces(g, tasks, top):
    for task in tasks:
        if task["pid"] != task["tgid"]:
            continue
        directory = "/proc/%d" % task["pid"]
        maps = save(g, directory + "/maps", top)
        if not maps:
            continue    # a thread of the kernel, which may have ended
        with open(place(top, directory + "/pagemap"), "wb") as f:
            for line in maps.decode("latin-1").splitlines():
                start, end = (int(x, 16) for x in
                              line.split(" ", 1)[0].split("-"))
                if end < LAST_ADDRESS:
                    save_pagemap(g, directory + "/pagemap", start, end, f)


def save_pagemap(g, path, start, end, f, most=1 << 15):
    """Words that are not 0; the file has holes elsewhere."""
    for at in range(start >> 9, end >> 9, most):
        data, = g.pread((path, at, min(most, (end >> 9) - at)))
        for offset in range(0, len(data or b""), 4096):
            block = data[offset:offset + 4096]
            if block.strip(b"\0"):
                f.seek(at + offset)
                f.write(block)
