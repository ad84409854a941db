# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Two QEMUs with a Linux that writes all the time, which the migration agent
did not start."""
import os
import subprocess
import time

import initramfs
import kernels
from pair import QEMU, Monitor

BOOT_S = 14
# Until a machine has memory and a monitor, and the guest has written.
SETTLE_S = 2

# A guest whose kernel writes all the time.
INIT = b"""#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
while :; do
	for i in 1 2 3 4 5 6 7 8; do
		/bin/busybox head -c 2000000 /proc/kcore > /x$i
		/bin/busybox head -c 1000000 /dev/zero | /bin/busybox md5sum
		/bin/busybox ls -lR /proc/1 > /z$i
	done
done > /dev/null 2>&1
"""


class Linux:
    """A kernel that writes all the time, with two processors, which boots
    while other cases run; and a machine that waits for it."""

    def __init__(self, top):
        self.top = top
        self.machines = []
        self.paths = []
        self.started = 0
        self.missing = None
        try:
            self.prepare()
        except kernels.Missing as e:
            self.missing = str(e)
            return
        self.start()
        self.start("-incoming", "defer", "-S")
        self.born = time.monotonic()

    def prepare(self):
        self.kernel = kernels.get("6.12", "x86_64").image
        archive = initramfs.Archive()
        for path in ("dev", "proc"):
            archive.directory(path)
        archive.add("init", INIT, 0o100755)
        archive.program("bin/busybox", kernels.busybox("x86_64"))
        with open(os.path.join(self.top, "initrd"), "wb") as f:
            f.write(archive.bytes())

    def start(self, *words):
        path = os.path.join(self.top, "machine-%d" % self.started)
        self.started += 1
        self.paths.append(path)
        self.machines.append(subprocess.Popen(
            [QEMU, "-accel", "tcg,thread=multi", "-machine", "pc",
             "-nodefaults", "-display", "none", "-m", "160", "-smp", "2",
             "-kernel", self.kernel, "-initrd",
             os.path.join(self.top, "initrd"), "-append", "quiet", "-qmp",
             "unix:%s,server=on,wait=off" % path, *words]))

    def words(self):
        """Options of the agent, once the kernel has booted."""
        if self.missing:
            raise kernels.Missing(self.missing)
        time.sleep(max(0, self.born + BOOT_S - time.monotonic()))
        return ["--source", self.paths[0], "--destination", self.paths[1],
                "--bandwidth", "40M"]

    def ended(self):
        """Whether a machine has ended: the agent must leave both."""
        return any(p.poll() is not None for p in self.machines)

    def turn(self):
        """The guest goes on at the destination, from where it can be migrated
        once more."""
        source = self.machines.pop(0)
        source.kill()
        source.wait()
        os.unlink(self.paths.pop(0))
        monitor = Monitor(self.paths[0])
        monitor.ask("cont")
        monitor.socket.close()
        self.start("-incoming", "defer", "-S")
        self.born = time.monotonic() - BOOT_S + SETTLE_S

    def end(self):
        for p in self.machines:
            p.kill()
            p.wait()
