#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
"""User stacks of threads that sleep: they are what each thread itself has seen
with backtrace(), and what gdb shows. Nothing of the process changes."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from userstack import (BUILD, PAGEDET, PATIENCE, ask, done,  # noqa: E402
                       gdb_stacks, result, skip_without_stacks, stacks,
                       stat_of, wait_for)

THREADS = 20
CHAIN = ["inner", "middle", "outer"]
# A process whose main thread ends before another one.
ENDS = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def path_of(name):
    return os.path.join(BUILD, "tests/cli", name)


class Sleeper:
    """The program, and the truth about its threads."""

    def __init__(self, path):
        self.process = subprocess.Popen(
            [path, str(THREADS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        lines = [self.process.stdout.readline().split()
                 for _ in range(THREADS)]
        timer.cancel()
        self.truth = {int(words[0]): [int(word, 16) for word in words[1:]]
                      for words in lines}

    def is_asleep(self):
        folder = f"/proc/{self.pid}/task"
        return all(
            re.search(r"\) S ", open(f"{folder}/{tid}/stat").read())
            for tid in os.listdir(folder))

    def state(self):
        """What would change if something touched it."""
        status = open(f"/proc/{self.pid}/status").read()
        lines = [line for line in status.splitlines() if re.match(
            "State|TracerPid|VmRSS|.*ctxt_switches", line)]
        for tid in self.truth:
            fields = open(f"/proc/{self.pid}/task/{tid}/stat").read()
            lines.append(fields.rsplit(")", 1)[1].split()[7])   # minflt
        return lines

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def compare(name, tid, answer, truth):
    """Problems of one thread."""
    frames = answer.get("user_stack", [])
    names = [f.get("function") for f in frames]
    if "inner" not in names:
        return [f"{tid}: inner is not in {names}, {answer.get('missing')}"]
    at = names.index("inner")
    problems = []
    if names[at:at + 3] != CHAIN:
        problems.append(f"{tid}: {names[at:at + 3]} is not {CHAIN}")
    found = [int(f.get("address", "0"), 16) for f in frames[at + 1:]]
    # The first is in inner; a sanitizer has one more before it. backtrace()
    # needs the index that sleeper_bare lacks.
    more = len(truth) - len(found)
    if name != "sleeper_bare" and (
            found != truth[-len(found):] or more not in (1, 2)):
        problems.append(f"{tid}: {[hex(a) for a in found]} is not "
                        f"{[hex(a) for a in truth]}")
    if any("why" in f for f in frames):
        problems.append(f"{tid}: {frames[-1]}")
    if not answer.get("kernel_stack"):
        problems.append(f"{tid}: there is no kernel stack")
    return problems


def compare_gdb(name, sleeper, answers):
    name += ": as gdb shows them"
    if not shutil.which("gdb"):
        result(name, [], "gdb is not installed")
        return
    theirs = gdb_stacks(sleeper.pid)
    if not theirs:
        result(name, [], "gdb may not attach")
        return
    problems = []
    for tid in sleeper.truth:
        ours = [int(f["address"], 16)
                for f in answers.get(tid, {}).get("user_stack", [])
                if "address" in f]
        if ours != theirs.get(tid):
            problems.append(f"{tid}: {[hex(a) for a in ours]} is not "
                            f"{[hex(a) for a in theirs.get(tid, [])]}")
    result(name, problems)


def folded(comm, answer):
    """The line of a thread for tools that draw flame graphs."""
    names = [comm]
    for f in reversed(answer["user_stack"]):
        name = f.get("function") or f["file_address"]
        names.append(f"{name}_[{os.path.basename(f['module'])}]")
    for f in reversed(answer["kernel_stack"]):
        module = re.search(r"\[.*?\]", f)
        names.append(f.split("+")[0] + (f"_{module[0]}" if module else ""))
    return ";".join(names) + " 1"


def compare_folded(name, sleeper, answers):
    comm = open(f"/proc/{sleeper.pid}/comm").read().strip()
    theirs = sorted(folded(comm, a) for a in answers.values())
    ours = sorted(ask("task", str(sleeper.pid), "--stacks=both",
                      "--folded").splitlines())
    result(f"{name}: folded", [] if ours == theirs else [
        *(f"have {line}" for line in ours if line not in theirs),
        *(f"lack {line}" for line in theirs if line not in ours),
        f"{len(ours)} lines for {len(theirs)} threads"])
    picture = ask("task", str(sleeper.pid), "--stacks=user", "--flame", "-")
    result(f"{name}: a picture", [
        f"without {text}" for text in ("inner", f"{len(answers)} threads")
        if text not in picture])


def check(name):
    sleeper = Sleeper(path_of(name))
    try:
        wait_for(sleeper.is_asleep)
        before = sleeper.state()
        answers = stacks(sleeper.pid)
        after = sleeper.state()
        skip_without_stacks(answers)
        result(f"{name}: as its threads saw them", [
            p for tid, truth in sleeper.truth.items()
            for p in compare(name, tid, answers.get(tid, {}), truth)])
        signals = [f for a in answers.values()
                   for f in a.get("user_stack", [])
                   if f["type"] == "signal"]
        result(f"{name}: one sleeps in the handler of a signal",
               [] if len(signals) == 1 else [str(signals)])
        result(f"{name}: nothing of it has changed",
               [] if before == after else [str(before), str(after)])
        text = ask("task", str(sleeper.pid), "--stacks=user", "--fields",
                   "pid", "--where", "kind=reserved")
        result(f"{name}: as text", [
            line for line in CHAIN
            if not re.search(rf"^    {line}\+0x\w+/0x\w+ \[{name}\]$", text,
                             re.M)])
        compare_folded(name, sleeper, answers)
        compare_gdb(name, sleeper, answers)
    finally:
        sleeper.end()


def check_odd_name():
    """The name of a file does not end a frame or a line."""
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        path = shutil.copy(path_of("sleeper"),
                           os.path.join(folder, "a;b ]\nc [d] 1"))
        sleeper = Sleeper(path)
        try:
            wait_for(sleeper.is_asleep)
            lines = ask("task", str(sleeper.pid), "--stacks=user",
                        "--folded").split("\n")
        finally:
            sleeper.end()
    frame = "inner_[a_b___c__d__1]"
    inside = [line for line in lines if frame in line.split(";")]
    result("an odd name of a file", [
        line for line in lines[:-1]
        if not re.search(r"^a_b___c__d__1;[^ ]* 1$", line)] + [
        f"{n} lines" for n in [len(inside)] if n != THREADS])


def check_running():
    """A thread that runs is said to run."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as p:
        said = set()

        def is_raced():
            answer = stacks(p.pid).get(p.pid, {})
            said.add(answer.get("missing", {}).get("user_stack"))
            return "raced" in said
        try:
            wait_for(is_raced)
        finally:
            p.kill()
    result("who runs has no stack", [] if "raced" in said else [str(said)])


def check_mappers():
    """Threads that look for mappers have the sources that stacks need, too."""
    said = []
    for pfn in ("5", "100", "100000"):
        p = subprocess.run([PAGEDET, "mappers", pfn,
                            "--stacks=user", "--json", "--threads", "2"],
                           capture_output=True, text=True, timeout=PATIENCE)
        if p.returncode not in (0, 1, 2, 69, 77):
            said.append(f"{pfn}: {p.returncode} {p.stderr}")
    result("mappers of any frame", said)


def check_main_thread():
    """It may end before the others; the kernel keeps its number."""
    with subprocess.Popen([sys.executable, "-c", ENDS]) as p:
        try:
            ended = wait_for(lambda: stat_of(p.pid)[:1] == ["Z"])
            tid = max(map(int, os.listdir(f"/proc/{p.pid}/task")))
            lines = [ask("task", str(tid), f"--stacks={which}",
                         "--folded").splitlines()
                     for which in ("user", "kernel", "both")]
            answer = stacks(tid).get(p.pid, {})
        finally:
            p.kill()
    result("a main thread that has ended is not shown", [
        str(found) for found in lines if ended and len(found) != 1],
        None if ended else "the main thread does not end alone")
    result("and that is why it has no stack", [] if not ended or answer == {
        "pid": tid, "tid": p.pid, "missing": {
            "kernel_stack": "ended", "user_stack": "ended"}} else [str(answer)],
           None if ended else "the main thread does not end alone")


def check_kthread():
    name = "a kernel thread has none"
    if not os.path.exists("/proc/2/comm") or \
            open("/proc/2/comm").read() != "kthreadd\n":
        result(name, [], "thread 2 is another one")
        return
    answer = stacks(2).get(2, {})
    result(name, [] if answer.get("user_stack") == [] else [str(answer)])


def main():
    check("sleeper")
    check("sleeper_fp")
    check("sleeper_bare")
    check_odd_name()
    check_running()
    check_mappers()
    check_main_thread()
    check_kthread()
    print(f"1..{len(done)}")
    sys.exit(not all(done))


if __name__ == "__main__":
    main()
