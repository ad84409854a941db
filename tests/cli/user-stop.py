#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
"""User stacks of threads that are stopped for it: those that run have one, too,
their owner needs nothing else, and afterwards they go on as if nothing were."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from userstack import (BUILD, PAGEDET, ask, done, result,  # noqa: E402
                       wait_for)

THREADS = 20
CHAIN = ["inner", "middle", "outer"]
# A process that counts its signals: the handler writes a byte for each.
COUNTS = """
import os, signal, sys
seen, fd = os.pipe2(os.O_NONBLOCK)
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.set_wakeup_fd(fd)
print("ready", flush=True)
sys.stdin.readline()
print(len(os.read(seen, 65536)), flush=True)
"""


def stacks(pid):
    out = ask("task", str(pid), "--stacks=user", "--stop", "--json", "--fields",
              "pid", "--where", "kind=reserved")
    return {o["tid"]: o for o in map(json.loads, out.splitlines())
            if "tid" in o}


def status_of(pid, key):
    text = open(f"/proc/{pid}/status").read()
    return re.search(rf"^{key}:\s*(\S+)", text, re.M)[1]


def is_as_before(pid, states="S"):
    return all(status_of(tid, "State") in states and
               status_of(tid, "TracerPid") == "0"
               for tid in os.listdir(f"/proc/{pid}/task"))


def not_as(pid, states="S"):
    """What does not become as it was."""
    if wait_for(lambda: is_as_before(pid, states)):
        return []
    return [f"{tid}: {status_of(tid, 'State')}, traced by "
            f"{status_of(tid, 'TracerPid')}"
            for tid in os.listdir(f"/proc/{pid}/task")]


def skip_if_denied(answers):
    why = {a.get("missing", {}).get("user_stack") for a in answers.values()}
    if len(why) == 1 and why <= {"denied", "not_built"}:
        print(f"1..0 # SKIP threads cannot be stopped here: {why}")
        sys.exit(0)


def sleepers():
    """A program whose threads sleep in known functions."""
    process = subprocess.Popen(
        [os.path.join(BUILD, "tests/cli/sleeper"), str(THREADS)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    tids = [int(process.stdout.readline().split()[0]) for _ in range(THREADS)]
    wait_for(lambda: is_as_before(process.pid))
    return process, tids


def check_sleeping(process, tids):
    answers = stacks(process.pid)
    skip_if_denied(answers)
    problems = []
    for tid in tids:
        answer = answers.get(tid, {})
        names = [f.get("function") for f in answer.get("user_stack", [])]
        at = names.index("inner") if "inner" in names else 0
        if names[at:at + 3] != CHAIN or not answer.get("perturbed"):
            problems.append(f"{tid}: {answer}")
    result("threads that sleep", problems)
    result("they sleep again", not_as(process.pid))


def check_mappers(process):
    """By a page of its stack, which nobody else maps."""
    name = "by a page"
    rows = [json.loads(line) for line in ask(
        "virt", str(process.pid), "[stack]", "--fields", "pfn",
        "--json").splitlines()]
    pfn = next((row["pfn"] for row in rows if row.get("pfn")), None)
    if pfn is None:
        result(name, [], "numbers of page frames are hidden")
        return
    out = ask("mappers", str(pfn), "--stacks=user", "--stop", "--json")
    threads = {o["tid"]: o for o in map(json.loads, out.splitlines())
               if "tid" in o}
    frames = threads.get(process.pid, {}).get("user_stack")
    result(name, [] if frames else [out])


def check_killed(process):
    """Whenever pagedet is killed, the threads go on."""
    for _ in range(20):
        with subprocess.Popen(
                [PAGEDET, "task", str(process.pid), "--stacks=user", "--stop",
                 "-q"], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL) as asked:
            time.sleep(random.uniform(0, 0.05))
            asked.kill()
    result("nothing is held by one that was killed", not_as(process.pid))


def check_stopped(process):
    """A process that was stopped by a signal stays so."""
    os.kill(process.pid, signal.SIGSTOP)
    wait_for(lambda: is_as_before(process.pid, "T"))
    frames = stacks(process.pid).get(process.pid, {}).get("user_stack")
    result("a stopped process has a stack", [] if frames else ["no frames"])
    result("and stays stopped", not_as(process.pid, "T"))
    os.kill(process.pid, signal.SIGCONT)
    result("until it is continued", not_as(process.pid))


def check_running():
    with subprocess.Popen(
            [sys.executable, "-c", "print(flush=True)\nwhile True: pass"],
            stdout=subprocess.PIPE) as p:
        try:
            p.stdout.readline()
            answer = stacks(p.pid).get(p.pid, {})
            problems = not_as(p.pid, "R")
        finally:
            p.kill()
    frames = answer.get("user_stack", [])
    names = [f.get("function") or "" for f in frames]
    # The interpreter may have no symbols.
    files = {os.path.basename(f.get("module", "?")) for f in frames}
    result("who runs has a stack, too", [] if len(frames) > 2 and any(
        "python" in word for word in [*files, *names]) else [str(answer)])
    result("and runs again", problems)


def check_signals():
    """Signals that come meanwhile are not lost, and not doubled."""
    with subprocess.Popen([sys.executable, "-c", COUNTS], text=True,
                          stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as p:
        try:
            p.stdout.readline()
            sent = 0
            for _ in range(10):
                with subprocess.Popen(
                        [PAGEDET, "task", str(p.pid), "--stacks=user", "--stop",
                         "-q"], stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL) as asked:
                    while asked.poll() is None:
                        # One at a time: the kernel keeps only one of a kind.
                        if status_of(p.pid, "ShdPnd") == "0" * 16 and \
                                status_of(p.pid, "SigPnd") == "0" * 16:
                            os.kill(p.pid, signal.SIGUSR1)
                            sent += 1
                        time.sleep(0.001)
            wait_for(lambda: is_as_before(p.pid) and
                     status_of(p.pid, "ShdPnd") == "0" * 16)
            counted = int(p.communicate("\n")[0])
        finally:
            p.kill()
    result("no signal is lost", [] if sent and counted == sent
           else [f"{counted} of {sent}"])


def check_namespace():
    """/proc of another pid namespace has the numbers of others."""
    name = "numbers of another namespace are not taken"
    apart = ["unshare", "--fork", "--pid"]
    try:
        subprocess.run([*apart, "true"], check=True,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        result(name, [], "no pid namespace can be made")
        return
    with subprocess.Popen(["sleep", "1000"]) as p:
        try:
            said = subprocess.run(
                [*apart, PAGEDET, "task", str(p.pid), "--stacks=user",
                 "--stop", "--json", "--fields", "pid", "--where",
                 "kind=reserved"], text=True, capture_output=True, check=False)
        finally:
            p.kill()
    thread = said.stdout.splitlines()[-1:]
    result(name, [] if thread and '"user_stack":"no_kernel"' in thread[0]
           else [str(said)])


def check_owner():
    """Who owns a process may stop it."""
    name = "the owner needs nothing else"
    if os.geteuid():
        result(name, [], "root does this")
        return
    as_user = dict(user=65534, group=65534, extra_groups=[])
    try:
        subprocess.run([PAGEDET, "-V"], stdout=subprocess.DEVNULL,
                       check=True, **as_user)
    except (OSError, subprocess.SubprocessError) as why:
        result(name, [], f"another user cannot run pagedet: {why}")
        return
    try:
        scope = open("/proc/sys/kernel/yama/ptrace_scope").read().strip()
    except OSError:
        scope = "0"
    if scope != "0":
        result(name, [], f"kernel.yama.ptrace_scope is {scope}")
        return
    with subprocess.Popen(["sleep", "1000"], **as_user) as p:
        try:
            wait_for(lambda: is_as_before(p.pid) and
                     open(f"/proc/{p.pid}/comm").read() == "sleep\n")
            said = subprocess.run(
                [PAGEDET, "task", str(p.pid), "--stacks=user", "--stop",
                 "--folded"], text=True, capture_output=True, check=False,
                **as_user)
        finally:
            p.kill()
    result(name, [] if re.match(r"sleep;.*_\[libc\S*\] 1$", said.stdout)
           else [str(said)])


def main():
    process, tids = sleepers()
    try:
        check_sleeping(process, tids)
        check_mappers(process)
        check_killed(process)
        check_stopped(process)
    finally:
        process.kill()
        process.wait()
    check_running()
    check_signals()
    check_namespace()
    check_owner()
    print(f"1..{len(done)}")
    sys.exit(not all(done))


if __name__ == "__main__":
    main()
