# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Runs one QEMU: its process, console, monitor and end. It has no network, and
ends with this process, however that ends."""
import contextlib
import glob
import json
import os
import socket
import subprocess
import time

from kernels import need

# Emulation only (guest.py, -accel): it works wherever the tests do, and the same
# everywhere.
MACHINES = {
    "x86_64": {
        "program": "qemu-system-x86_64",
        "package": "qemu-system-x86",
        "machine": "pc",
        # Most machines have four levels of page tables.
        "cpu": "max,la57=off",
        "console": "ttyS0",
        # while the host has other work, ticks of the timer come too late for
        # the kernel's check of it, and clocks seem to drift apart: the kernel
        # would change the code of sched_clock() then, see ONE_CPU of guest.py
        "append": "no_timer_check tsc=reliable",
        "memory": 256,
    },
    "aarch64": {
        "program": "qemu-system-aarch64",
        "package": "qemu-system-arm",
        "machine": "virt",
        "cpu": "cortex-a57",
        "console": "ttyAMA0",
        "append": "",
        "memory": 512,
    },
}


class Failed(Exception):
    """A guest that did not do what it must; with the end of its console."""


class Qemu:
    def __init__(self, arch, scratch, arguments, ports, deadline):
        """@ports: names of virtio-serial ports; each is a socket here."""
        self.deadline = time.monotonic() + deadline
        self.seconds = deadline
        self.console = os.path.join(scratch, "console.log")
        machine = MACHINES[arch]
        self.sockets = {}
        theirs = []
        command = [
            # The guest ends even if this process is killed.
            need("setpriv", "util-linux"), "--pdeathsig", "KILL",
            need(machine["program"], machine["package"]),
            "-machine", machine["machine"], "-smp", "2",
            "-nodefaults", "-no-user-config", "-nic", "none",
            "-display", "none", "-no-reboot",
            "-serial", "file:" + self.console,
            "-device", "virtio-serial-pci"]
        for name in ports + ["monitor"]:
            ours, other = socket.socketpair()
            self.sockets[name] = ours
            theirs.append(other)
            command += ["-chardev", "socket,id=%s,fd=%d" % (name,
                                                            other.fileno())]
            command += ["-device", "virtserialport,chardev=%s,name=%s" %
                        (name, name)] if name != "monitor" else \
                ["-mon", "chardev=monitor,mode=control"]
        with open(os.path.join(scratch, "qemu.log"), "wb") as log:
            self.process = subprocess.Popen(
                command + arguments, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, pass_fds=[s.fileno() for s in theirs])
        self.log = log.name
        for s in theirs:
            s.close()
        self.monitor = self.sockets["monitor"].makefile("rb")
        self.greeted = False

    def left(self):
        """Seconds until the deadline; fails after it."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise self.failed("not done after %d seconds" % self.seconds)
        return left

    def failed(self, what):
        """The exception that says so."""
        text = "%s\n" % what
        for name, path in (("QEMU", self.log), ("its console", self.console)):
            try:
                with open(path, "rb") as f:
                    lines = f.read().decode("utf-8", "replace").splitlines()
            except OSError:
                continue
            if lines:
                text += "--- the end of %s\n" % name
                text += "".join(line + "\n" for line in lines[-40:])
        return Failed(text)

    def command(self, name, **arguments):
        """One command of the monitor, and its answer."""
        if not self.greeted:
            self.greeted = True
            self.read_monitor()
            self.command("qmp_capabilities")
        words = {"execute": name, "arguments": arguments}
        self.sockets["monitor"].sendall(json.dumps(words).encode() + b"\n")
        while True:
            answer = self.read_monitor()
            if "error" in answer:
                raise self.failed("%s: %s" % (name, answer["error"]["desc"]))
            if "return" in answer:
                return answer["return"]

    def read_monitor(self):
        self.sockets["monitor"].settimeout(self.left())
        try:
            line = self.monitor.readline()
        except OSError:
            line = b""
        if not line:
            raise self.failed("the monitor says no more")
        return json.loads(line)

    def receive_some(self, name, most=1 << 16):
        """Bytes from a port, as many as there are."""
        while True:
            self.sockets[name].settimeout(self.left())
            try:
                data = self.sockets[name].recv(most)
            except socket.timeout:
                continue    # left() says what there is to say
            except OSError as e:
                raise self.failed("cannot read from port %s: %s" % (name, e))
            if not data:
                raise self.failed("the guest has ended")
            return data

    def send(self, name, data):
        self.sockets[name].settimeout(self.left())
        try:
            self.sockets[name].sendall(data)
        except OSError as e:
            raise self.failed("cannot write to port %s: %s" % (name, e))

    def rests(self, looks=20, pause=0.01):
        """Whether its threads are asleep, but for a tick of the guest's timer
        now and then: the guest has nothing to do. One that waits for a
        processor of the host is not."""
        busy = 0
        for _ in range(looks):
            time.sleep(pause)
            busy += any(state != b"S" for state in self.states())
        return busy <= looks // 10

    def states(self):
        """Those of its threads, as /proc has them."""
        for path in glob.glob("/proc/%d/task/*/stat" % self.process.pid):
            with contextlib.suppress(OSError), open(path, "rb") as f:
                yield f.read().rpartition(b")")[2].split()[0]

    def has_ended(self, seconds=5):
        """Its ports close a moment before it has."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def wait(self):
        """Until it has ended by itself."""
        try:
            status = self.process.wait(self.left())
        except subprocess.TimeoutExpired:
            raise self.failed("the guest does not switch itself off")
        if status:
            raise self.failed("QEMU ended with status %d" % status)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for s in self.sockets.values():
            s.close()
