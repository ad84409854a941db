# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Two QEMUs with a Linux that writes all the time, which the migration agent
did not start."""
import os
import stat

import initramfs
import kernels
import pair
from pair import Monitor
from wait import wait_for

# A guest whose kernel writes all the time, and says so each time round.
INIT = b"""#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
while :; do
	for i in 1 2 3 4 5 6 7 8; do
		/bin/busybox head -c 2000000 /proc/kcore > /x$i
		/bin/busybox head -c 1000000 /dev/zero | /bin/busybox md5sum
		/bin/busybox ls -lR /proc/1 > /z$i
		echo round > /dev/ttyS0
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

    def prepare(self):
        self.kernel = kernels.get("6.12", "x86_64").image
        archive = initramfs.Archive()
        for path in ("dev", "proc"):
            archive.directory(path)
        archive.add("init", INIT, 0o100755)
        archive.add("dev/ttyS0", mode=stat.S_IFCHR | 0o600, device=(4, 64))
        archive.program("bin/busybox", kernels.busybox("x86_64"))
        with open(os.path.join(self.top, "initrd"), "wb") as f:
            f.write(archive.bytes())

    def start(self, *words):
        path = os.path.join(self.top, "machine-%d" % self.started)
        self.started += 1
        self.paths.append(path)
        self.machines.append(pair.start(
            ["-accel", "tcg,thread=multi", "-machine", "pc",
             "-nodefaults", "-display", "none", "-m", "160", "-smp", "2",
             "-kernel", self.kernel, "-initrd",
             os.path.join(self.top, "initrd"), "-append",
             "quiet no_timer_check tsc=reliable", "-serial",
             "file:%s.serial" % path, "-qmp",
             "unix:%s,server=on,wait=off" % path, *words]))

    def rounds(self):
        """How often the guest of the first machine has written there."""
        with open(self.paths[0] + ".serial", "rb") as f:
            return f.read().count(b"round")

    def words(self):
        """Options of the agent, once the kernel has booted, or writes at the
        machine where it is now, and that has a monitor to which it goes."""
        if self.missing:
            raise kernels.Missing(self.missing)
        if not wait_for(lambda: os.path.exists(self.paths[1]) and
                        self.rounds()):
            raise kernels.Missing("the guest does not write")
        return ["--source", self.paths[0], "--destination", self.paths[1],
                "--bandwidth", "40M"]

    def ended(self):
        """Whether a machine has ended: the agent must leave both."""
        return any(p.poll() is not None for p in self.machines)

    def turn(self):
        """The guest goes on at the destination, from where it can be migrated
        once more."""
        pair.end([self.machines.pop(0)])
        self.paths.pop(0)
        monitor = Monitor(self.paths[0])
        monitor.ask("cont")
        monitor.socket.close()
        self.start("-incoming", "defer", "-S")

    def end(self):
        pair.end(self.machines)
