# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Builds and starts programs that sleep in known functions, for tests of user
stacks."""
import os
import platform
import shutil
import subprocess
import tempfile

from userstack import (gdb_said, gdb_stacks, has_chain, result,
                       skip_without_stacks, stacks, stat_of, wait_for)

SOURCE = os.path.join(os.environ["top_srcdir"], "tests/cli/naps.c")
CC = os.environ.get("CC", "cc").split()
CHAIN = ["nap", "inner", "middle", "outer"]
NO_TABLE = "there is no table for unwinding this code"
TABLE_LESS = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]


# Processes whose stack gdb was to show, and those of which it did.
asked = []
compared = []


class Missing(Exception):
    """Why something cannot be tested here."""


class Unbuilt(Missing):
    """A compiler does not accept it."""


class Broken(Exception):
    """What failed that can be done anywhere."""


def build(compiler, *arguments):
    """Runs a compiler in the current directory."""
    if not shutil.which(compiler[0]):
        raise Missing(f"{compiler[0]} is not installed")
    try:
        built = subprocess.run([*compiler, *arguments], text=True, timeout=600,
                               stdout=subprocess.PIPE, check=False,
                               stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired as e:
        raise Missing(f"{compiler[0]} takes too long") from e
    if built.returncode:
        print("".join(f"# {line}\n" for line in built.stdout.splitlines()))
        raise Unbuilt(f"{' '.join(compiler)} cannot build this")


def compile_naps(*flags, compiler=None):
    """Every compiler of this project builds it without flags."""
    try:
        build(compiler or CC, "-O2", "-w", *flags, "-o", "naps", SOURCE)
    except Unbuilt as e:
        if not flags and not compiler:
            raise Broken(str(e)) from e
        raise
    return os.path.abspath("naps")


class Program:
    """A program that says when it is about to sleep."""

    def __init__(self, *command, **options):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def said(self):
        """Waits for its line. One that cannot do it exits with 1."""
        if self.process.stdout.readline():
            return
        status = self.process.wait()
        if status == 1:
            raise Missing("the program cannot do it here")
        raise Broken(f"the program ended early: status {status}")

    def stack(self, state="S"):
        """The frames of its first thread, once it sleeps."""
        self.said()
        wait_for(lambda: stat_of(self.pid)[:1] == [state])
        answers = stacks(self.pid)
        skip_without_stacks(answers)
        return answers[self.pid].get("user_stack", [])


def same_as_gdb(pid, frames, tid=None):
    """gdb ends some stacks with address 0."""
    asked.append(pid)
    theirs = gdb_stacks(pid).get(tid or pid) if shutil.which("gdb") else None
    if not theirs:
        return []
    compared.append(pid)
    theirs = [address for address in theirs if address]
    ours = [int(f["address"], 16) for f in frames if "address" in f]
    return [] if ours == theirs else [
        f"{[hex(a) for a in ours]} is not {[hex(a) for a in theirs]}"]


def whole(frames, chain=CHAIN):
    problems = []
    if not has_chain(frames, chain):
        problems.append(f"{chain} is not in {frames}")
    if not frames or "why" in frames[-1]:
        problems.append(f"{frames[-1:]} is the end")
    return problems


def cut(frames, why):
    return [] if frames and frames[-1].get("why") == why else [
        f"{frames[-1:]} does not say: {why}"]


def check_table_less(path):
    """Of a program whose functions have no table for unwinding."""
    with Program(path) as p:
        frames = p.stack()
        # What is inside nap() is the C library's.
        ends = [f.get("function") for f in frames[-2:]]
        return cut(frames, NO_TABLE) + (
            [] if ends == ["nap", None] else [str(frames)])


TESTS = []


def test(name):
    def keep(function):
        TESTS.append((name, function))
        return function
    return keep


def check_naps(path, *command, chain=CHAIN, gdb=True, **options):
    with Program(*(command or [path]), **options) as p:
        frames = p.stack()
        return whole(frames, chain) + (
            same_as_gdb(p.pid, frames) if gdb else [])


def run(name, function, top):
    folder = tempfile.mkdtemp(dir=top)
    os.chdir(folder)
    try:
        result(name, function())
    except Missing as e:
        result(name, [], str(e))
    except Broken as e:
        result(name, [str(e)])
    finally:
        os.chdir(top)
        shutil.rmtree(folder, ignore_errors=True)


def result_of_gdb():
    """Without gdb, or if it may not attach, nothing was compared."""
    name = f"{len(compared)} stacks were compared with those of gdb"
    if not shutil.which("gdb"):
        result(name, [], "gdb is not installed")
    elif not asked:
        result(name, [], "there is none to compare")
    elif compared or (not gdb_said and not os.geteuid()):
        result(name, [] if compared else ["gdb shows no stack"])
    else:
        result(name, [], gdb_said[0] if gdb_said else "gdb shows no stack")


def run_all():
    """Runs what test() was called with, each in a new folder, and ends."""
    if platform.machine() != "x86_64":
        print("1..0 # SKIP user stacks are supported only on x86-64")
        return
    if not shutil.which(CC[0]):
        print(f"1..0 # SKIP {CC[0]} is not installed")
        return
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        for name, function in TESTS:
            run(name, function, top)
        os.chdir("/")
    result_of_gdb()
    result.end()
