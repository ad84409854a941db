# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Two QEMUs that the migration agent did not start, controlled from outside."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                ".."))
from wait import wait_for  # noqa: E402

QEMU = "qemu-system-x86_64"
# the agent itself gives up after 60
SECONDS = 90


class Monitor:
    """A connection to QEMU's monitor, besides the agent's."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(SECONDS)
        wait_for(lambda: not self.socket.connect_ex(path))
        self.lines = self.socket.makefile("r")
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        """The answer; None: it was refused, or the machine has ended."""
        with contextlib.suppress(OSError):
            self.socket.sendall(json.dumps({"execute": command, "arguments":
                                            arguments}).encode())
            for line in self.lines:
                answer = json.loads(line)
                if "return" in answer or "error" in answer:
                    return answer.get("return")
        return None

    def migration(self):
        return (self.ask("query-migrate") or {}).get("status")


def start(words):
    """A machine, which ends when we do, however that is."""
    return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", QEMU, *words],
                            stderr=subprocess.DEVNULL)


def end(machines):
    """One that was stopped by a signal, or hangs, is killed."""
    for p in machines:
        p.send_signal(signal.SIGTERM)
        p.send_signal(signal.SIGCONT)
    for p in machines:
        try:
            p.wait(10)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()


class Pair:
    """Two machines of somebody else, with settings of their own."""

    SET = {"max-bandwidth": 11111111, "multifd-channels": 3,
           "max-postcopy-bandwidth": 65536}

    def __init__(self, top, name, frozen=True):
        """@frozen: the destination does not go on by itself"""
        self.paths, self.machines, self.monitors = [], [], []
        for side in ("source", "destination"):
            path = os.path.join(top, "%s-%s" % (name, side))
            command = ["-accel", "tcg", "-nodefaults", "-display", "none",
                       "-m", "256"]
            for socket_path in (path, path + "-too"):
                command += ["-qmp", "unix:%s,server=on,wait=off" %
                            socket_path]
            if side == "destination":
                command += ["-incoming", "defer", *["-S"] * frozen]
            self.paths.append(path)
            self.machines.append(start(command))
        try:
            for path in self.paths:
                self.monitors.append(Monitor(path + "-too"))
                self.monitors[-1].ask("migrate-set-parameters", **self.SET)
        except BaseException:
            self.end()
            raise
        self.source, self.destination = self.monitors

    def words(self, mode):
        return ["--source", self.paths[0], "--destination", self.paths[1],
                "--mode", mode, "--bandwidth", "64K"]

    def not_as_set(self, monitor):
        is_set = monitor.ask("query-migrate-parameters") or {}
        for name, value in self.SET.items():
            if is_set.get(name) != value:
                yield "%s is %s" % (name, is_set.get(name))
        for one in monitor.ask("query-migrate-capabilities") or []:
            if one["state"] and one["capability"] in (
                    "multifd", "postcopy-ram", "x-ignore-shared", "xbzrle"):
                yield "%s is on" % one["capability"]

    def not_back(self):
        """What is wrong if the source should have everything back."""
        status = (self.source.ask("query-status") or {}).get("status")
        if status != "running":
            yield "the source is %s" % status
        if self.source.migration() != "cancelled":
            yield "the migration is %s" % self.source.migration()
        yield from self.not_as_set(self.source)

    def end(self):
        end(self.machines)
        for monitor in self.monitors:
            monitor.socket.close()
