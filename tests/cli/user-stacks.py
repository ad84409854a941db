#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
"""User stacks of threads that sleep: they are what each thread itself has seen
with backtrace(), and what gdb shows. Nothing of the process changes."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from userstack import (BUILD, CHAIN, LIBUNWIND, PAGEDET,  # noqa: E402
                       PATIENCE, SLEEPERS, Sleeper, ask, gdb_stacks, has_chain,
                       is_asleep, own_page, result, skip_without_stacks, stacks,
                       stat_of, threads_of, wait_for)

# A process whose main thread ends before another one.
ENDS = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def path_of(name):
    return os.path.join(BUILD, "tests/cli", name)


def state_of(sleeper):
    """What would change if something touched it."""
    status = open(f"/proc/{sleeper.pid}/status").read()
    lines = [line for line in status.splitlines() if re.match(
        "State|TracerPid|VmRSS|.*ctxt_switches", line)]
    return lines + [stat_of(tid)[7] for tid in sleeper.truth]   # minflt


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
        before = state_of(sleeper)
        answers = stacks(sleeper.pid)
        after = state_of(sleeper)
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
            lines = ask("task", str(sleeper.pid), "--stacks=user",
                        "--folded").split("\n")
        finally:
            sleeper.end()
    frame = "inner_[a_b___c__d__1]"
    inside = [line for line in lines if frame in line.split(";")]
    result("an odd name of a file", [
        line for line in lines[:-1]
        if not re.search(r"^a_b___c__d__1;[^ ]* 1$", line)] + [
        f"{n} lines" for n in [len(inside)] if n != SLEEPERS])


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
    """Threads that look for mappers have the sources that stacks need, too: the
    stacks are those of the process that alone maps the page."""
    name = "mappers of a page"
    sleeper = Sleeper()
    try:
        pfn = own_page(sleeper.pid)
        if pfn is None:
            result(name, [], "numbers of page frames are hidden")
            return
        out = ask("mappers", str(pfn), "--stacks=user", "--json", "--threads",
                  "2")
        answers = threads_of(out)
        truth = stacks(sleeper.pid, which="user")
    finally:
        sleeper.end()
    rows = [row for row in map(json.loads, out.splitlines())
            if "tid" not in row]
    mapped = [row.get("pid") for row in rows if "vaddr" in row]
    found = [row.get("found") for row in rows if "found" in row]
    problems = [f"{tid}: {answers.get(tid)} is not {truth.get(tid)}"
                for tid in sorted({*answers, *truth})
                if answers.get(tid) != truth.get(tid)]
    problems += [f"{tid}: {CHAIN} is not in {answers.get(tid)}"
                 for tid in sleeper.truth if not has_chain(
                     answers.get(tid, {}).get("user_stack", []), CHAIN)]
    if mapped != [sleeper.pid] or found != [1]:
        problems.append(f"not one mapping of {sleeper.pid}: {rows}")
    result(name, problems)


def check_library():
    """Without libunwind the answer says what to install."""
    advice = "needs libunwind installed (on Debian: libunwind8)"
    with tempfile.TemporaryDirectory() as folder, \
            subprocess.Popen(["sleep", "1000"]) as p:
        # An empty file comes before the library.
        open(os.path.join(folder, LIBUNWIND), "w").close()
        try:
            wait_for(lambda: is_asleep(p.pid))
            text, folded = (subprocess.run(
                [PAGEDET, "task", str(p.pid), "--stacks=user", *options],
                env={**os.environ, "LD_LIBRARY_PATH": folder}, text=True,
                capture_output=True, timeout=PATIENCE, check=False)
                for options in (["--fields", "pid", "--where",
                                 "kind=reserved"], ["--folded"]))
        finally:
            p.kill()
    why = f"cannot unwind: {folder}/{LIBUNWIND}: file too short"
    result("without libunwind it is said what to install", [] if
           f"  user: ? {why}; {advice}\n" in text.stdout else [str(text)])
    result("with --folded, too", [] if folded.stderr.splitlines()[-2:] == [
        f"pagedet: 1 stack is not known: {why}", f"pagedet: hint: {advice}"]
           else [str(folded)])


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
    check_library()
    check_main_thread()
    check_kthread()
    result.end()


if __name__ == "__main__":
    main()
