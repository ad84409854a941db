# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""A booted kernel, and requests to the agent in it (agent.c)."""
import os
import signal
import subprocess
import sys
import tempfile
import time

import initramfs
import kernels
from qemu import MACHINES, Failed, Qemu  # noqa: F401

# A guest may run for this many seconds, far more than any needs, even where
# guests of several tests share two processors.
DEADLINE = 900
DISK = "64M"
# The kernel patches its own code with breakpoints while it boots. QEMU may keep
# a breakpoint if another processor translates the code at that moment. So the
# kernel boots with one processor, and /init starts the others.
ONE_CPU = "maxcpus=1 lab.online"


def end_on_signals():
    """Whoever ends us ends the guest, and nothing is left lying about."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda n, _: sys.exit(128 + n))


class Refused(OSError):
    """The guest's kernel said no; errno is its own."""


class Guest:
    """
    with Guest("6.12", "x86_64") as guest:
        out, err, how = guest.run("uname", "-r")
    """

    def __init__(self, kernel, arch, files=None, cpu=None, memory=None,
                 append="", vmcoreinfo=True, deadline=DEADLINE, modules=(),
                 nodes=1, in_turns=False):
        """@nodes: that its memory is divided into; @in_turns: its processors
        run one after the other, for tests that make the kernel patch its code
        (as tracing does); it is not slower if mostly one of them is busy."""
        if isinstance(kernel, str):
            kernel = kernels.get(kernel, arch)
        self.kernel = kernel
        self.machine = dict(MACHINES[arch])
        self.machine["cpu"] = cpu or self.machine["cpu"]
        self.machine["memory"] = memory or self.machine["memory"]
        self.arch = arch
        self.files = files or {}
        self.modules = modules
        self.append = append
        self.vmcoreinfo = vmcoreinfo
        self.deadline = deadline
        self.nodes = nodes
        self.in_turns = in_turns
        self.times = {}

    def __enter__(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="pagedet-lab.")
        try:
            self.boot()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def boot(self):
        """A guest that dies before its first answer has said nothing of what
        is tested, and boots once more."""
        start = time.monotonic()
        self.prepare()
        try:
            self.start_machine()
        except Failed as e:
            if not self.qemu.has_ended():
                raise
            print("# booting once more: %s" % str(e).strip().replace(
                "\n", "\n# "), file=sys.stderr, flush=True)
            self.qemu.end()
            self.start_machine()
        self.took("boot", start)

    def __exit__(self, *exc):
        if getattr(self, "qemu", None):
            self.qemu.end()
        self.scratch.cleanup()

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def prepare(self):
        """What it boots from."""
        with open(self.path("initramfs"), "wb") as f:
            f.write(initramfs.build(self.kernel, self.files, self.modules))
        subprocess.run([kernels.need("mke2fs", "e2fsprogs"), "-q", "-t",
                        "ext4", "-m", "0", self.path("disk"), DISK],
                       check=True, stdout=subprocess.DEVNULL)

    def start_machine(self):
        """Until it has answered for the first time."""
        # An oops ends the guest, so that the test notices it.
        append = "console=%s loglevel=5 panic=-1 oops=panic rdinit=/init " \
            "secretmem.enable=1 %s %s %s %s" % (
                self.machine["console"], self.machine["append"],
                self.kernel.append, self.append,
                "" if "maxcpus=" in self.append else ONE_CPU)
        arguments = [
            "-cpu", self.machine["cpu"], "-m", str(self.machine["memory"]),
            "-kernel", self.kernel.image, "-append", append.strip(),
            "-initrd", self.path("initramfs"), "-drive",
            "file=%s,if=none,id=disk,format=raw,cache=unsafe" %
            self.path("disk"), "-device", "virtio-blk-pci,drive=disk",
            # No driver binds this device, so a program can map its addresses.
            "-device", "edu"]
        for i in range(self.nodes if self.nodes > 1 else 0):
            arguments += [
                "-object", "memory-backend-ram,id=node%d,size=%dM" % (
                    i, self.machine["memory"] // self.nodes),
                # The first node has all processors.
                "-numa", "node,memdev=node%d%s" % (i, "" if i else
                                                   ",cpus=0-1")]
        if self.vmcoreinfo:
            arguments += ["-device", "vmcoreinfo"]
        arguments += ["-accel", "tcg,thread=single" if self.in_turns else
                      "tcg"]
        self.qemu = Qemu(self.arch, self.scratch.name, arguments,
                         ["agent", "planter"], self.deadline)
        self.command = [a.replace(self.scratch.name + "/", "") for a in
                        self.qemu.process.args]
        self.agent = Port(self.qemu, "agent")
        self.answer()

    def took(self, what, start):
        self.times[what] = time.monotonic() - start

    # --- the agent ---

    def frame(self):
        head = self.agent.readline()
        return chr(head[0]), self.agent.read(int(head[1:]))

    def frames(self):
        """The frames of an answer, its end included."""
        while True:
            kind, data = self.frame()
            if kind == "?":
                raise Failed("the agent does not know the request")
            yield kind, data
            if kind == ".":
                return

    def answer(self):
        return list(self.frames())

    def ask(self, *words):
        self.request(*words)
        return self.answer()

    def request(self, *words):
        text = b"%d\n" % len(words)
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            text += b"%d\n" % len(word) + word
        self.agent.write(text)

    def run(self, *argv, uid=0):
        """(output, stderr, how it ended: "exit N" or "signal N")"""
        said = {"o": b"", "e": b"", ".": b""}
        for kind, data in self.ask("run", uid, *argv):
            said[kind] += data
        return said["o"], said["e"], said["."].decode()

    def must_run(self, *argv):
        """The output of what must not fail."""
        out, err, how = self.run(*argv)
        if how != "exit 0":
            raise self.qemu.failed("%s: %s: %s" % (
                " ".join(map(str, argv)), how,
                err.decode("utf-8", "replace")))
        return out

    def pass_through(self, *argv, uid=0):
        """As run, but output goes to ours as it comes; the exit status, as
        a shell says it."""
        self.request("run", uid, *argv)
        to = {"o": sys.stdout.buffer, "e": sys.stderr.buffer}
        for kind, data in self.frames():
            if kind in to:
                to[kind].write(data)
                to[kind].flush()
        how, number = data.decode().split()
        return int(number) + (128 if how == "signal" else 0)

    def read(self, path):
        data = bytearray()
        for kind, part in self.ask("read", path):
            if kind == "n":
                raise Refused(int(part), os.strerror(int(part)), path)
            data += part
        return bytes(data)

    def read_to(self, path, to):
        """A guest's file into one of ours, which is not made if the guest
        cannot read its own."""
        data = self.read(path)
        with open(to, "wb") as f:
            f.write(data)

    def pread(self, *places):
        """For each (path, offset, size) the bytes, or None."""
        words = [word for place in places for word in place]
        return [data if kind == "d" else None
                for kind, data in self.ask("pread", *words) if kind != "."]

    def write(self, path, data):
        for kind, part in self.ask("write", path, data):
            if kind == "n":
                raise Refused(int(part), os.strerror(int(part)), path)

    def glob(self, *patterns):
        """Paths that match; by the shell alone, because a program that looks
        at them fails where one has gone meanwhile."""
        out = self.must_run("sh", "-c", "echo " + " ".join(patterns))
        return [path for path in out.decode().split() if "*" not in path]

    def time_ns(self):
        return int(self.ask("time")[0][1])

    def start(self, *argv):
        """Starts a program whose input and output are the port "planter":
        a file to read from and one to write to."""
        for kind, data in self.ask("start", "/dev/lab.planter", *argv):
            if kind == "n":
                raise self.qemu.failed("start: " + os.strerror(int(data)))
        return Port(self.qemu, "planter")

    def plant(self):
        """Starts the planter on the disk, so that its text is of a file; and
        the 32-bit program, where there is one and the kernel runs it."""
        self.must_run("cp", "/bin/planter", "/disk/planter")
        self.must_run("sh", "-c", """[ ! -e /bin/narrow ] ||
            { cp /bin/narrow /disk; /disk/narrow > /dev/null 2>&1 & }""")
        self.must_run("sync")
        return self.start("/disk/planter", "-p", "/disk",
                          "/sys/fs/cgroup/testcg")

    def off(self):
        """Switches it off, and waits until it is."""
        self.request("off")
        self.qemu.wait()

    # --- the machine ---

    def dump(self, path, form):
        """Its memory, as QEMU writes it; form: elf, kdump-zlib"""
        self.qemu.command("dump-guest-memory", paging=False, format=form,
                          protocol="file:" + os.path.abspath(path))


class Port:
    """What comes from a port of the guest and goes to it, as through a pipe.
    """

    def __init__(self, qemu, name):
        self.qemu, self.name = qemu, name
        self.buffer = bytearray()

    def more(self):
        self.buffer += self.qemu.receive_some(self.name)

    def read(self, size):
        while len(self.buffer) < size:
            self.more()
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def readline(self):
        while b"\n" not in self.buffer:
            self.more()
        return self.read(self.buffer.index(b"\n") + 1)

    def __iter__(self):
        while True:
            yield self.readline()

    def write(self, data):
        self.qemu.send(self.name, data)

    def flush(self):
        pass
