# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Tests migration_agent with processes that it is given: two pids and a map of
blocks, or two pids behind monitors that others hand on."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading

import pair
from agent import DIFFERENT, EQUAL, UNSURE, Run, check_join

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                   "..", ".."))
PAGE = 4096
PAGES = 8
SURE = ("high", "certain")


class Process:
    """Eight pages (tests/cli/unlike.c), in a process that runs."""

    def __init__(self, stack, program, *changes):
        self.process = subprocess.Popen([program, *changes],
                                        stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)
        pid, self.at = self.process.stdout.readline().decode().split()
        self.pid = int(pid)

    def run(self, change):
        """It goes on, and writes what @change says."""
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(change.encode() + b"\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == b"changed\n"

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)


def make_program(top):
    program = os.path.join(top, "unlike")
    subprocess.run(["gcc", "-o", program,
                    os.path.join(TOP, "tests", "cli", "unlike.c")], check=True)
    return program


def words_of(top, source, destination):
    """The options that name both; the map of their blocks is made."""
    path = os.path.join(top, "map")
    with open(path, "w") as f:
        f.write("block mem 0x%x 0x%s 0x%s\nguest mem 0 0x100000 0x%x\n" % (
            PAGES * PAGE, source.at, destination.at, PAGES * PAGE))
    return ["--source-pid", str(source.pid), "--destination-pid",
            str(destination.pid), "--blocks", path]


def check_given(agent, top):
    """Two processes and a map of blocks, without a monitor."""
    program = make_program(top)
    with contextlib.ExitStack() as stack:
        source = Process(stack, program)
        destination = Process(stack, program, "1=7", "6=9")
        words = words_of(top, source, destination)
        source.stop()
        # It is stopped only once it was read, or not at all.
        r = Run(agent, top, *words)
        yield from r.problems(UNSURE)
        if "whether the destination stood still" not in r.report["verdict"]:
            yield r.report["verdict"]
        destination.stop()
        r = Run(agent, top, *words)
        yield from r.problems(UNSURE)
        found = [(d["page"], d["guest"], d["bits"])
                 for d in r.report.get("differences", [])]
        if found != [(1, "0x101000", 2), (6, "0x106000", 2)]:
            yield "found %s" % found
        with open(os.path.join(top, "map"), "a") as f:
            f.write("nonsense\n")
        r = Run(agent, top, *words)
        if r.status != 65 or "line 3" not in r.said:
            yield "nonsense: status %d: %s" % (r.status, r.said)


def save_sent(agent, top, source):
    """What the source has, as the sender would have hashed it."""
    key, path = (os.path.join(top, name) for name in ("sent.key", "sent"))
    pagedet = os.path.join(os.path.dirname(agent), "..", "..", "pagedet")
    text = subprocess.run(
        [pagedet, "virt", str(source.pid), "%s+0x%x" % (source.at,
                                                       PAGES * PAGE),
         "--fields", "vaddr,hash", "--hash-key", key, "--json"],
        stdout=subprocess.PIPE, check=True).stdout.decode()
    rows = [json.loads(line) for line in text.splitlines()]
    with open(path, "w") as f:
        for row in rows:
            if row["hash"]:
                f.write("mem %x %s\n" % (int(row["vaddr"], 16) -
                                         int(source.at, 16), row["hash"]))
    return ["--sent", path, "--hash-key", key]


def facts_of(d):
    return {(fact["field"], fact["side"]): fact["value"]
            for fact in d["evidence"]}


# Facts that nobody has seen of processes that are given.
UNSEEN = ("ran", "counters_moved", "file_written")


def judge_ran(r, pages):
    """The destination may have run, and wrote @pages then."""
    yield from r.problems(DIFFERENT)
    found = {d["page"]: d for d in r.report.get("differences", [])}
    if sorted(found) != sorted(pages):
        yield "found %s" % sorted(found)
    if r.report["lets_run"] is not None:
        yield "the %s is to go on: %s" % (r.report["lets_run"],
                                          r.report["advice"])
    for page, d in found.items():
        if d["finding"] not in pages[page]:
            yield "page %d is called %s" % (page, d["finding"])
        if d["confidence"] in SURE:
            yield "page %d is called %s, %s" % (page, d["finding"],
                                                d["confidence"])
        if "whether the peer ran after the switch" not in d["unknown"]:
            yield "page %d: what is unknown is not named: %s" % (
                page, d["unknown"])
        if d["lets_run"] is not None:
            yield "page %d: the %s is to go on" % (page, d["lets_run"])
        for name in UNSEEN:
            for side in ("source", "destination"):
                if (name, side) in facts_of(d):
                    yield "page %d: %s of the %s is said to be known" % (
                        page, name, side)
        if d.get("sent_ns") or d.get("sent_times"):
            yield "page %d: a time of sending is said" % page


def check_given_sent(agent, top):
    """With hashes as sent, and a destination that ran before it was stopped:
    the guest may have written what differs."""
    program = make_program(top)
    with contextlib.ExitStack() as stack:
        source, destination = (Process(stack, program) for _ in range(2))
        words = words_of(top, source, destination)
        words += save_sent(agent, top, source)
        source.stop()
        destination.stop()
        r = Run(agent, top, *words)
        yield from r.problems(EQUAL)
        # by several bits, and by one
        destination.run("1=14")
        destination.run("2=3")
        destination.stop()
        r = Run(agent, top, *words)
        changed = {"changed-after-send"}
        yield from judge_ran(r, {1: changed, 2: changed})
        # A source that ran has what was not sent.
        source.run("3=9")
        source.stop()
        r = Run(agent, top, *words)
        yield from r.problems(DIFFERENT)
        d = next((d for d in r.report["differences"] if d["page"] == 3), None)
        if not d or d["confidence"] in SURE or r.report["lets_run"]:
            yield "a source that ran: %s" % d


class Proxy:
    """Hands a monitor's connections on: the agent sees our pid behind it."""

    def __init__(self, path, to):
        self.to = to
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                ours = self.listener.accept()[0]
                theirs = socket.socket(socket.AF_UNIX)
                theirs.connect(self.to)
                for ends in ((ours, theirs), (theirs, ours)):
                    threading.Thread(target=self.pump, args=ends,
                                     daemon=True).start()

    @staticmethod
    def pump(one, other):
        with contextlib.suppress(OSError):
            while True:
                data = one.recv(65536)
                if not data:
                    break
                other.sendall(data)
        with contextlib.suppress(OSError):
            other.shutdown(socket.SHUT_WR)

    def end(self):
        self.listener.close()


def proxied(stack, top, name, frozen):
    """Two machines, and the options that name them behind proxies."""
    two = pair.Pair(top, name, frozen=frozen)
    stack.callback(two.end)
    words = two.words("precopy")
    words[-1] = "64M"
    for i, path in enumerate(two.paths):
        proxy = Proxy(path + "-proxy", path)
        stack.callback(proxy.end)
        words[words.index(path)] = path + "-proxy"
    return words, ["--source-pid", str(two.machines[0].pid),
                   "--destination-pid", str(two.machines[1].pid)]


def check_proxied(agent, top):
    """Machines behind proxies: the pids say whose memory it is."""
    with contextlib.ExitStack() as stack:
        words, pids = proxied(stack, top, "still", True)
        r = Run(agent, top, *words)
        if r.status != 69 or "maps does not have" not in r.said:
            yield "without pids: status %d: %s" % (r.status, r.said)
        r = Run(agent, top, *words, *pids)
        yield from r.problems(DIFFERENT if r.stale() else EQUAL)
        yield from r.wrong_findings()
        yield from check_join(r.report)
        if [m["pid"] for m in r.report["machines"]] != [int(pids[1]),
                                                        int(pids[3])]:
            yield "the machines are %s" % r.report["machines"]
    with contextlib.ExitStack() as stack:
        words, pids = proxied(stack, top, "ran", False)
        r = Run(agent, top, *words, *pids)
        yield from r.problems(UNSURE)
        if "went on before it could be compared" not in r.report["verdict"]:
            yield r.report["verdict"]
        if r.report["lets_run"] is not None:
            yield "the %s is to go on" % r.report["lets_run"]
