#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
"""User stacks of threads that may be stopped for it. Only those are stopped that
the kernel's memory does not show: those that run have a stack, too, their owner
needs nothing else, and afterwards they go on as if nothing were."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from userstack import (CHAIN, PAGEDET, PATIENCE, Sleeper,  # noqa: E402
                       ask, children_of, has_chain, is_asleep, own_page, result,
                       runs_now, stat_of, threads_of, wait_for,
                       why_not_unwound)
from userstack import stacks as all_stacks  # noqa: E402

# The source that knows no other way than to stop a thread.
ONLY_STOP = ["--backend", "procfs"]
# The words for the answer "raced".
RACED = r"does not stop|was let go|runs again"
# A pipe with less takes each byte.
PIPE = 60000
# As many are killed while they hold a thread.
KILLS = 10
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
# A process whose thread cannot be stopped: it waits for a child that has its
# memory, and the child waits for a writer.
WAITS = """
import os, sys
os.posix_spawn("/bin/true", ["true"], {}, file_actions=[
    (os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])
"""


def asked(pid, *options):
    return all_stacks(pid, *options, which="user")


def stacks(pid, *options):
    return asked(pid, "--stop", *options)


def is_raced(answer):
    return answer.get("missing", {}).get("user_stack") == "raced"


def in_time(get):
    """Of each thread the first answer that is not "raced": this one is right,
    too, if a thread of a busy machine does not stop within a second, or is let
    go after two, before its stack was read."""
    known = {}

    def are_known():
        for tid, answer in get().items():
            if is_raced(known.get(tid, answer)):
                known[tid] = answer
            known.setdefault(tid, answer)
        return not any(map(is_raced, known.values()))
    wait_for(are_known)
    return known


def stopped_stacks(pid, *options):
    return in_time(lambda: stacks(pid, *options))


def memory_shows(pid):
    """Whether the stack of this thread, which sleeps, is known without."""
    return bool(asked(pid).get(pid, {}).get("user_stack"))


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


def seize(tid):
    """Traces a thread as a debugger does. Returns 0, or the error."""
    seize_request = 0x4206
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    return libc.ptrace(seize_request, tid, 0, 0) and ctypes.get_errno()


def why_not_stopped():
    """Why threads of a child cannot be stopped, found without pagedet; or
    None."""
    with subprocess.Popen(["sleep", "1000"]) as p:
        error = seize(p.pid)
        p.kill()
    return f"ptrace(2): {os.strerror(error)}" if error else None


def not_shown(tids, answers, perturbed):
    """The threads whose answer is another one."""
    return [f"{tid}: {answers.get(tid)}" for tid in tids
            for answer in [answers.get(tid, {})]
            if not has_chain(answer.get("user_stack", []), CHAIN) or
            answer.get("perturbed", False) != perturbed]


def check_sleeping(process, tids):
    answers = stopped_stacks(process.pid, *ONLY_STOP)
    result("threads that sleep, stopped", not_shown(tids, answers, True))
    result("they sleep again", not_as(process.pid))


def switches(pid):
    """How often each thread began or ceased to run: each stop adds to that."""
    return {tid: re.findall(r"^.*ctxt_switches:\s*(\d+)$", open(
        f"/proc/{pid}/task/{tid}/status").read(), re.M)
            for tid in os.listdir(f"/proc/{pid}/task")}


def quiet_switches(pid):
    """The same, as soon as no thread runs any more."""
    seen = [None]

    def are_quiet():
        running = any(runs_now(pid, tid)
                      for tid in os.listdir(f"/proc/{pid}/task"))
        seen.append(switches(pid))
        return not running and seen[-1] == seen[-2]
    wait_for(are_quiet)
    return seen[-1]


def check_not_stopped(process, tids):
    name = "threads that sleep, not stopped"
    if not memory_shows(process.pid):
        result(name, [], "the kernel's memory is not readable here")
        return
    before = quiet_switches(process.pid)
    answers = stacks(process.pid)
    after = switches(process.pid)
    result(name, not_shown(tids, answers, False))
    result("and none of them has run", [] if before == after else [
        f"{tid}: {before[tid]}, then {after.get(tid)}" for tid in before
        if after.get(tid) != before[tid]])
    before = after
    stopped_stacks(process.pid, *ONLY_STOP)
    wait_for(lambda: is_as_before(process.pid))
    after = switches(process.pid)
    result("a stop would have shown there", [
        f"{tid}: {before[tid]}" for tid in before if after[tid] == before[tid]])


def check_traced():
    """A thread that a debugger has cannot be stopped by others."""
    with subprocess.Popen(["sleep", "1000"]) as p:
        try:
            wait_for(lambda: is_as_before(p.pid) and
                     open(f"/proc/{p.pid}/comm").read() == "sleep\n")
            shown = memory_shows(p.pid)
            traced = not seize(p.pid)
            stopped = stacks(p.pid, *ONLY_STOP).get(p.pid, {})
            answer = stacks(p.pid).get(p.pid, {})
            words = ask("task", str(p.pid), "--stacks=user", "--stop",
                        *ONLY_STOP, "--fields", "pid", "--where",
                        "kind=reserved")
        finally:
            p.kill()
    why = None if traced else "no process can be traced here"
    result("a debugger's thread is not stopped", [] if not traced or
           stopped.get("missing") == {"user_stack": "denied"}
           else [str(stopped)], why)
    result("both reasons are said", [] if not traced or re.search(
        r"cannot stop thread \d+: .*; without a stop: no source ", words)
           else [words], why)
    if not shown:
        why = "the kernel's memory is not readable here"
    result("the kernel's memory shows it", [] if why or
           answer.get("user_stack") and "perturbed" not in answer
           else [str(answer)], why)


def waits_for_child(pid):
    """Whether it is in state D, and not because it reads a file: its child
    sleeps."""
    return any(stat_of(child)[:1] == ["S"] for child in children_of(pid)) and \
        stat_of(pid)[:1] == ["D"]


def wait_or_kill(process):
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        for pid in [*children_of(process.pid), process.pid]:
            os.kill(pid, signal.SIGKILL)
        raise


def check_waiting():
    """A thread in state D is not waited for if that is not needed."""
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        with subprocess.Popen([sys.executable, "-c", WAITS, fifo]) as p:
            try:
                waits = wait_for(lambda: waits_for_child(p.pid))
                shown = waits and memory_shows(p.pid)
                stopped = stacks(p.pid, *ONLY_STOP).get(p.pid, {})
                answer = stacks(p.pid).get(p.pid, {})
                state = status_of(p.pid, "State")
            finally:
                # The child opens it, now or later, and both end.
                writer = os.open(fifo, os.O_RDWR)
                wait_or_kill(p)
                os.close(writer)
    why = None if waits and state == "D" else "no thread waits in state D"
    result("who waits in the kernel does not stop", [] if why or
           stopped.get("missing") == {"user_stack": "raced"}
           and "perturbed" not in stopped else [str(stopped)], why)
    if not why and not shown:
        why = "the kernel's memory is not readable here"
    result("its stack is in memory", [] if why or answer.get("user_stack")
           and "perturbed" not in answer else [str(answer)], why)


def check_mappers(process, tids):
    name = "by a page"
    pfn = own_page(process.pid)
    if pfn is None:
        result(name, [], "numbers of page frames are hidden")
        return
    answers = in_time(lambda: threads_of(ask(
        "mappers", str(pfn), "--stacks=user", "--stop", *ONLY_STOP, "--json")))
    result(name, not_shown(tids, answers, True) + [
        f"{tid} is of another process" for tid in answers
        if not os.path.exists(f"/proc/{process.pid}/task/{tid}")])


def kill_holder(pid):
    """Kills a pagedet as soon as it holds a thread. Returns whether it did."""
    def holds():
        ended = holder.poll() is not None
        return ended or any(status_of(tid, "TracerPid") != "0"
                            for tid in os.listdir(f"/proc/{pid}/task"))
    with subprocess.Popen(
            [PAGEDET, "task", str(pid), "--stacks=user", "--stop", "-q",
             *ONLY_STOP], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL) as holder:
        end = time.monotonic() + PATIENCE
        while not holds() and time.monotonic() < end:
            pass
        holder.kill()
    return holder.returncode == -signal.SIGKILL


def check_killed(process):
    """Whenever pagedet is killed, the threads go on."""
    killed = []

    def are_enough():
        killed.append(kill_holder(process.pid))
        return sum(killed) >= KILLS
    enough = wait_for(are_enough)
    result("nothing is held by one that was killed", not_as(process.pid),
           None if enough else f"only {sum(killed)} of {len(killed)} were "
           "killed while they held a thread")


def check_stopped(process):
    """A process that was stopped by a signal stays so."""
    os.kill(process.pid, signal.SIGSTOP)
    wait_for(lambda: is_as_before(process.pid, "T"))
    frames = stopped_stacks(process.pid, *ONLY_STOP).get(
        process.pid, {}).get("user_stack")
    result("a stopped process has a stack", [] if frames else ["no frames"])
    result("and stays stopped", not_as(process.pid, "T"))
    os.kill(process.pid, signal.SIGCONT)
    result("until it is continued", not_as(process.pid))


def runs():
    """A process that always runs."""
    p = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True)\nwhile True: pass"],
        stdout=subprocess.PIPE)
    p.stdout.readline()
    return p


def is_of_python(answer):
    """The interpreter may have no symbols."""
    frames = answer.get("user_stack", [])
    names = [f.get("function") or "" for f in frames]
    files = {os.path.basename(f.get("module", "?")) for f in frames}
    return len(frames) > 2 and any("python" in word
                                   for word in [*files, *names])


def check_running():
    with runs() as p:
        try:
            answer = stopped_stacks(p.pid, *ONLY_STOP).get(p.pid, {})
            problems = not_as(p.pid, "R")
        finally:
            p.kill()
    result("who runs has a stack, too", [] if is_of_python(answer) and
           answer.get("perturbed") else [str(answer)])
    result("and runs again", problems)


def check_in_turn():
    """Whoever runs is stopped, after the kernel's memory did not show it. While
    it waits for its turn to run, memory shows it."""
    answers = []

    def is_stopped():
        answers.append(stacks(p.pid).get(p.pid, {}))
        return answers[-1].get("perturbed") and not is_raced(answers[-1])

    with runs() as p:
        try:
            stopped = wait_for(is_stopped)
            problems = not_as(p.pid, "R")
        finally:
            p.kill()
    result("who runs is stopped by any sources", [] if stopped
           else [str(answers[-1])])
    result("and has a stack each time", [
        str(a) for a in answers if not is_raced(a) and not is_of_python(a)])
    result("and goes on", problems)


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
                         "-q", *ONLY_STOP], stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL) as asked:
                    while asked.poll() is None:
                        # One at a time: the kernel keeps only one of a kind.
                        if sent < PIPE and \
                                status_of(p.pid, "ShdPnd") == "0" * 16 and \
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
        subprocess.run([*apart, "true"], check=True, timeout=PATIENCE,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        result(name, [], "no pid namespace can be made")
        return
    with subprocess.Popen(["sleep", "1000"]) as p:
        try:
            said = subprocess.run(
                [*apart, PAGEDET, "task", str(p.pid), "--stacks=user",
                 "--stop", "--json", "--fields", "pid", "--where",
                 "kind=reserved"], text=True, capture_output=True, check=False,
                timeout=PATIENCE)
        finally:
            p.kill()
    thread = said.stdout.splitlines()[-1:]
    result(name, [] if thread and '"user_stack":"no_kernel"' in thread[0]
           else [str(said)])


def check_mounts():
    """/proc of a container, seen from outside of it, has its numbers."""
    name = "numbers of a container's /proc are not taken"
    contained = ["unshare", "--fork", "--pid", "--mount", "--mount-proc"]
    try:
        subprocess.run([*contained, "nsenter", "--version"], check=True,
                       timeout=PATIENCE, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        result(name, [], "no container can be made")
        return
    with subprocess.Popen([*contained, "sh", "-c", "echo; read end"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        p.stdout.readline()
        inside, = children_of(p.pid)
        said = [subprocess.run(
            ["nsenter", "--mount", f"--target={inside}", PAGEDET, "task", "1",
             "--stacks=user", *options, "--json", "--fields", "pid", "--where",
             "kind=reserved"], text=True, capture_output=True, check=False,
            timeout=PATIENCE)
                for options in ([], ["--stop"])]
        p.communicate(timeout=PATIENCE)
    result(name, [str(a) for a in said if not re.search(
        '"missing":{"user_stack":"(no_kernel|denied)"}', a.stdout)])


def check_owner():
    """Who owns a process may stop it."""
    name = "the owner needs nothing else"
    if os.geteuid():
        result(name, [], "root does this")
        return
    as_user = dict(user=65534, group=65534, extra_groups=[])
    try:
        subprocess.run([PAGEDET, "-V"], stdout=subprocess.DEVNULL,
                       timeout=PATIENCE, check=True, **as_user)
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
    said = []

    def folded():
        said.append(subprocess.run(
            [PAGEDET, "task", str(p.pid), "--stacks=user", "--stop",
             "--folded"], text=True, capture_output=True, check=False,
            timeout=PATIENCE, **as_user))
        return said[-1]

    with subprocess.Popen(["sleep", "1000"], **as_user) as p:
        try:
            wait_for(lambda: is_as_before(p.pid) and
                     open(f"/proc/{p.pid}/comm").read() == "sleep\n")
            wait_for(lambda: not re.search(RACED, folded().stderr))
        finally:
            p.kill()
    result(name, [] if re.match(r"sleep;.*_\[libc\S*\] 1$", said[-1].stdout)
           else [str(said[-1])])


def main():
    why = why_not_unwound() or why_not_stopped()
    if why:
        print(f"1..0 # SKIP {why}")
        return
    sleeper = Sleeper()
    process, tids = sleeper.process, list(sleeper.truth)
    try:
        check_sleeping(process, tids)
        check_not_stopped(process, tids)
        check_mappers(process, tids)
        check_killed(process)
        check_stopped(process)
    finally:
        process.kill()
        process.wait()
    check_running()
    check_in_turn()
    check_traced()
    check_waiting()
    check_signals()
    check_namespace()
    check_mounts()
    check_owner()
    result.end()


if __name__ == "__main__":
    main()
