# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Makes large dumps for measurements: without planted pages, but with memory
full of programs' data, and tasks that all map the same pages.

  dump.elf, dump.kdump   as QEMU writes them; the second is zlib, flattened
  shared.json            a page that all these tasks map: its pfn, and the
                         kernel's mapcount
  tasks.jsonl, info.json as in other dumps
"""
import json
import os
import pathlib
import struct
import subprocess
import time

import cache
import dumps
import guest
import kernels

RECIPES = {
    "x86_64-6.1-2g": {"kernel": "6.1", "arch": "x86_64", "memory": 2048},
}

TASKS = 100
# A tmpfs may use half of memory. The kernel's own text and types compress as
# well as most memory does.
FILL_MB = 900
FILL = """
mkdir /tmp/fill
cat /sys/kernel/btf/vmlinux /bin/planter /bin/busybox /bin/agent \
	/proc/kallsyms > /tmp/fill/part
size=$(stat -c %%s /tmp/fill/part)
n=0
while [ $((n * size)) -lt $((%d << 20)) ]; do
	cp /tmp/fill/part /tmp/fill/$n
	n=$((n + 1))
done
n=0
while [ $n -lt %d ]; do
	setsid sleep 1000000 < /dev/null > /dev/null 2>&1 &
	n=$((n + 1))
done
n=0
until [ "$(for pid in $(pidof sleep); do cat /proc/$pid/stat; done |
		grep -c ') S ')" -ge %d ] || [ $n = 600 ]; do
	sleep 0.1
	n=$((n + 1))
done
"""


def get(name):
    """The directory of a dump; made if it is not there."""
    recipe = RECIPES[name]
    kernel = kernels.get(recipe["kernel"], recipe["arch"])
    lab = pathlib.Path(__file__).parent
    key = cache.digest(kernel.id, json.dumps(recipe), *(
        lab / name for name in ("big.py", "guest.py", "initramfs.py",
                                "qemu.py", "../init")))
    return cache.entry("dump", name, key,
                       lambda new: make(new, name, kernel, key), only=True)


def make(top, name, kernel, key):
    recipe = dict(RECIPES[name], kernel=kernel)
    with guest.Guest(**recipe, deadline=900) as g:
        start = time.monotonic()
        g.must_run("sh", "-c", FILL % (FILL_MB, TASKS, TASKS))
        g.took("fill", start)
        shared = find_shared(g)
        tasks = dumps.list_tasks(g)
        g.qemu.command("stop")
        for form, path in dumps.FORMS.items():
            start = time.monotonic()
            g.dump(os.path.join(top, path), form)
            g.took(form, start)
        g.qemu.command("cont")
        g.off()
    # Memory that was never used needs no space on the disk.
    subprocess.run(["fallocate", "--dig-holes",
                    os.path.join(top, "dump.elf")], check=True)
    dumps.write_lines(top, "tasks.jsonl", tasks)
    with open(os.path.join(top, "shared.json"), "w") as f:
        json.dump(shared, f)
        f.write("\n")
    with open(os.path.join(top, "info.json"), "w") as f:
        json.dump({"name": name, "key": key, "release": kernel.release,
                   "package": kernel.id, "arch": kernel.arch,
                   "memory_mb": g.machine["memory"], "tasks": TASKS,
                   "qemu": g.command,
                   "seconds": {what: round(t, 1)
                               for what, t in g.times.items()}}, f, indent=1)
        f.write("\n")


def find_shared(g):
    """The page that is mapped most often, of those of one of the tasks."""
    pids = g.must_run("pidof", "sleep").decode().split()
    if len(pids) < TASKS:
        raise g.qemu.failed("%d tasks sleep, not %d" % (len(pids), TASKS))
    best = {"mapped": 0}
    for line in g.read("/proc/%s/maps" % pids[-1]).decode().splitlines():
        start, end = (int(x, 16) for x in line.split(" ", 1)[0].split("-"))
        if end >= dumps.LAST_ADDRESS:
            continue
        data, = g.pread(("/proc/%s/pagemap" % pids[-1], start >> 9,
                         (end - start) >> 9))
        for word, in struct.iter_unpack("=Q", data or b""):
            pfn = word & ((1 << 55) - 1)
            if not word >> 63 or not pfn:
                continue
            counted, = g.pread(("/proc/kpagecount", pfn * 8, 8))
            mapped, = struct.unpack("=Q", counted)
            if mapped > best["mapped"]:
                best = {"pfn": pfn, "mapped": mapped}
    if best["mapped"] < TASKS:
        raise g.qemu.failed("no page is mapped by all: %s" % best)
    return best
