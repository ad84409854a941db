#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
"""Code of compilers at run time is named as they list it in their map files,
and only by files that are surely their own."""

import contextlib
import mmap
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import fuse  # noqa: E402
from userstack import (BUILD, PATIENCE, ask, children_of,  # noqa: E402
                       result, skip_without_stacks, stacks, stat_of, wait_for)

# A map file that every user may write is not believed.
os.umask(0o022)

JITTER = os.path.join(BUILD, "tests/cli/jitter")
NO_TABLE = "there is no table for unwinding this code"
LIKELY = "the next frame is found by a frame pointer, which no table proves"
OUTER = "outer: a;b +1 [c]"


def frames_of(pid, *options):
    answers = stacks(pid, *options, which="user")
    skip_without_stacks(answers)
    return answers[pid].get("user_stack", [])


def since_boot():
    """The wall clock without the time that passes."""
    return time.clock_gettime(time.CLOCK_REALTIME) - \
        time.clock_gettime(time.CLOCK_BOOTTIME)


def steady(check):
    """What check() finds, while nobody sets the wall clock: that moves the
    start of a process, but not the time of a file."""
    for _ in range(10):
        before = since_boot()
        found = check()
        if abs(since_boot() - before) < 0.1:
            break
    return found


@contextlib.contextmanager
def program(*command):
    """A program that says a line and sleeps, its line and its pid. The line is
    empty if it ended."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        pid = process.pid
        if line:
            pid = (children_of(pid) or [pid])[0]
            wait_for(lambda: stat_of(pid)[:1] == ["S"])
        yield pid, line
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdin.close()
        process.stdout.close()
        for name in (f"/tmp/perf-{process.pid}.map",):
            remove(name)


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        os.rmdir(path)
    elif os.path.lexists(path):
        os.unlink(path)


def of_type(frames, kind):
    return [f for f in frames if f["type"] == kind]


def compare(frames, line):
    """Problems of a stack through both functions."""
    if len(line.split()) != 2:
        return ["the program ended"]
    outer, inner = (int(word, 16) for word in line.split())
    names = [f.get("function") for f in frames]
    chain = ["nap", "inner", "between", OUTER, "begin", "main"]
    problems = []
    if "nap" not in names or \
            names[names.index("nap"):][:len(chain)] != chain or \
            "why" in frames[-1]:
        return [f"{frames}"]
    for f, start, size, after in zip(of_type(frames, "jit"), (inner, outer),
                                     (11, 12), (6, 10)):
        truth = {"address": hex(start + after), "offset": hex(after),
                 "size": hex(size)}
        problems += [f"{k} of {f} is not {v}" for k, v in truth.items()
                     if f.get(k) != v]
    whys = [f.get("why") for f in of_type(frames, "jit")]
    if whys != [None, LIKELY]:
        problems.append(f"why: {whys}")
    return problems


def own():
    """What is wrong, by the name of a result."""
    with program(JITTER) as (pid, line):
        if not line:
            return {"as the compiler lists them": ["the program ended"]}
        listed = compare(frames_of(pid, "--perf-map"), line)
        frames = frames_of(pid)
        why = [f.get("why", "") for f in of_type(frames, "jit")]
        text = ask("task", str(pid), "--stacks=user", "--perf-map", "--fields",
                   "pid", "--where", "kind=reserved")
        folded = ask("task", str(pid), "--stacks=user", "--perf-map",
                     "--folded")
    return {
        "as the compiler lists them": listed,
        "who did not ask learns of the option": [] if len(
            why) == 1 and "--perf-map" in why[0] and frames[-1].get(
                "why") == NO_TABLE else [str(frames)],
        "as text": [word for word in (
            "    inner+0x6/0xb jit\n",
            f"    {OUTER}+0xa/0xc jit  ? {LIKELY}\n") if word not in text],
        "folded": [] if re.search(
            r";begin_\[jitter\];outer:_a_b__1__c__\[jit\];between_\[jitter\];"
            r"inner_\[jit\];nap_\[jitter\];[^ ]* 1$", folded, re.M)
        else [folded]}


def why_not_run():
    """Why no memory can be written and run, or None."""
    try:
        mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE |
                  mmap.PROT_EXEC).close()
    except OSError as e:
        return f"memory that is written and run: {e.strerror}"
    return None


def check_own():
    for name, problems in steady(own).items():
        result(name, problems)
    with program(JITTER) as (pid, line):
        check_files(pid, line)


# --- files that are not believed ---

def check_files(pid, line):
    path = f"/tmp/perf-{pid}.map"
    right = open(path).read()
    inner = line.split()[1][2:]

    def write(text):
        with open(path, "w") as f:
            f.write(text)

    def link():
        os.symlink("/etc/passwd", path)

    def old():
        write(right)
        os.utime(path, (1, 1))

    def other():
        write(right)
        os.chown(path, 65534, -1)

    def loose():
        write(right)
        os.chmod(path, 0o666)

    def large():
        write(right)
        os.truncate(path, (64 << 20) + 1)

    def made(make):
        remove(path)
        make()
        return frames_of(pid, "--perf-map")

    cases = [
        ("a symbolic link", link, "a symbolic link is in its way"),
        ("a FIFO", lambda: os.mkfifo(path), "it is not a regular file"),
        ("a directory", lambda: os.mkdir(path), "it is not a regular file"),
        ("a large file", large, "it is too large"),
        ("a file of an earlier process", old,
         "it was last written before the process started"),
        ("a file that all may write", loose, "every user may write it"),
        ("no file", lambda: None, "there is none"),
        ("a file without it", lambda: write(f"0 1 a\nwrong\n{inner} 10 cut"),
         "does not have it; 2 of its lines are not understood"),
        ("a function that was replaced in part",
         lambda: write(right.rsplit("\n", 1)[0] + f"\n{inner} 2 new\n"),
         "a later function has a part of its place"),
    ]
    try:
        other()
        cases.append(("a file of another user", other,
                      "it belongs to another user"))
    except OSError as error:
        result("a file of another user", [],
               f"no file can be given to another user: {error.strerror}")
    for name, make, why in cases:
        frames = steady(lambda make=make: made(make))
        jit = of_type(frames, "jit")
        result(name, [] if len(jit) == 1 and "function" not in jit[0] and
               why in jit[0].get("why", "") and
               frames[-1].get("why") == NO_TABLE else [str(frames)])
    result("the file is right again",
           compare(steady(lambda: made(lambda: write(right))), line))


# Another /tmp, which has the folder of the program if the first one has it.
ELSEWHERE = """
mount -t tmpfs none "$0/tmp" || exit
case $0 in
/tmp/*)
	mkdir -p "$0/tmp/${0#/tmp/}" &&
		mount --bind "$0" "$0/tmp/${0#/tmp/}" || exit
esac
mount --rbind "$0/tmp" /tmp && exec "$@"
"""


def check_namespace():
    """There its pid is 1, and its /tmp is another one."""
    name = "a process in other namespaces"
    inside = ["unshare", "-m", "-p", "-f"]
    if not shutil.which("unshare") or subprocess.run(
            [*inside, "true"], stderr=subprocess.DEVNULL,
            check=False).returncode:
        result(name, [], "there are no other namespaces")
        return
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        folder = os.path.realpath(folder)
        jitter = shutil.copy(JITTER, folder)
        os.mkdir(os.path.join(folder, "tmp"))
        inside += ["sh", "-c", ELSEWHERE, folder]
        mounts = subprocess.run([*inside, "test", "-x", jitter], text=True,
                                stderr=subprocess.PIPE, check=False)
        if mounts.returncode:
            result(name, [], "nothing can be mounted there: " +
                   mounts.stderr.strip().replace("\n", " "))
            return

        def elsewhere():
            with program(*inside, jitter) as (pid, line):
                problems = compare(frames_of(pid, "--perf-map"), line) \
                    if line else ["the program ended"]
                if not os.path.exists(f"/proc/{pid}/root/tmp/perf-1.map"):
                    problems.append("its file is not there")
                return problems
        result(name, steady(elsewhere))


# --- a filesystem whose server says nothing ---

# Its root is a directory of that filesystem, and it mounts over it. It waits in
# code that belongs to no file: mov $34,%eax (pause); syscall; ret.
BELOW = """
import ctypes, mmap, os, sys
sys.path.insert(0, sys.argv[3])
sys.dont_write_bytecode = True
import fuse
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex("b8220000000f05c3"))
at = ctypes.addressof(ctypes.c_char.from_buffer(code))
try:
    fuse.mount_device(int(sys.argv[1]), "silent", sys.argv[2])
    os.chroot(sys.argv[2] + "/inner")
except OSError as error:
    sys.exit(error.strerror)
if ctypes.CDLL(None).mount(b"none", b"/", b"tmpfs", 0, b""):
    sys.exit("no tmpfs")
print(flush=True)
ctypes.CFUNCTYPE(None)(at)()
"""


class Server:
    """Answers what the kernel asks a filesystem of directories, until it shall
    be silent. Then it notes what is asked, and each request fails."""
    DIRECTORY = struct.pack("<6Q10I", 2, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0,
                            0, 0, 4096, 0)
    YEAR = 365 * 86400

    def __init__(self):
        self.fd = fuse.open_device()
        self.silent, self.asked = False, []
        self.given_up = threading.Event()
        self.thread = threading.Thread(
            target=fuse.serve, daemon=True,
            args=(self.fd, self.answer, self.given_up.is_set))
        self.thread.start()

    def end(self):
        """When nobody has it mounted any more, or never had. A descriptor that
        is still read stays open: its number would be that of another file."""
        self.given_up.set()
        self.thread.join(PATIENCE)
        if not self.thread.is_alive():
            os.close(self.fd)

    def answer(self, op, _, body):
        if self.silent:
            self.asked.append((op, body[:20]))
        elif op == fuse.INIT:
            return fuse.init()
        elif op == fuse.GETATTR:
            return struct.pack("<QII", self.YEAR, 0, 0) + self.DIRECTORY
        elif op == fuse.LOOKUP:
            return struct.pack("<4Q2I", 2, 0, self.YEAR, self.YEAR, 0,
                               0) + self.DIRECTORY
        return fuse.ENOSYS


def check_silent():
    name = "a filesystem of a server is not asked, whatever is mounted over it"
    if not shutil.which("unshare"):
        result(name, [], "there is no unshare")
        return
    try:
        server = Server()
    except OSError as error:
        result(name, [], f"there is no FUSE: {error.strerror}")
        return
    with tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen(
                ["unshare", "-m", sys.executable, "-c", BELOW, str(server.fd),
                 folder, os.path.dirname(fuse.__file__)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=[server.fd], text=True) as p:
            try:
                if p.stdout.readline():
                    wait_for(lambda: stat_of(p.pid)[:1] == ["S"])
                    server.silent = True
                    jit = of_type(frames_of(p.pid, "--perf-map"), "jit")
                    skip = None
                else:
                    skip = f"no FUSE can be mounted: {p.stderr.read().strip()}"
            finally:
                p.kill()
    server.end()
    result(name, [f"opcode {opcode}: {text}" for opcode, text in server.asked]
           + ([] if skip or [f for f in jit if "FUSE" in f["why"]]
              else [str(jit)]), skip)


# --- Python ---

SCRIPT = """
import signal
def inner():
    print(flush=True)
    signal.pause()
def middle():
    inner()
def outer():
    middle()
outer()
"""
CAN = "import sys; sys.activate_stack_trampoline('perf')"


def can(python):
    """Whether it lists its functions for perf."""
    p = subprocess.Popen([python, "-c", CAN], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    status = p.wait(PATIENCE)
    remove(f"/tmp/perf-{p.pid}.map")
    return status == 0


def pythons():
    """By version, each once."""
    paths = [sys.executable] + [
        path for n in range(12, 20)
        for path in [shutil.which(f"python3.{n}")] if path]
    found = {}
    for path in paths:
        said = subprocess.run(
            [path, "-c", "import sys; print(sys.executable); "
             "print('%d.%d' % sys.version_info[:2])"], text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()
        if len(said) == 2 and can(said[0]):
            found.setdefault(said[1], said[0])
    return found


def python(path):
    """What is wrong with its functions. Whether its own binary can be unwound
    to the end depends on how it was built."""
    with program(path, "-X", "perf", "-c", SCRIPT) as (pid, line):
        if not line:
            return ["the program ended"]
        frames = frames_of(pid, "--perf-map")
        listed = {line.split(maxsplit=2)[2] for line in
                  open(f"/tmp/perf-{pid}.map").read().splitlines()}
    names = [f["function"] for f in of_type(frames, "jit")
             if f.get("function", "").startswith("py::")]
    truth = [f"py::{name}:<string>" for name in (
        "inner", "middle", "outer", "<module>")]
    at = names.index(truth[0]) if truth[0] in names else 0
    return [] if names[at:at + 4] == truth and set(truth) <= listed \
        else [str(frames)]


def check_python():
    found = pythons()
    if not found:
        result("Python", [], "no Python here lists its functions for perf")
    for version, path in found.items():
        result(f"Python {version}", steady(lambda path=path: python(path)))


def main():
    if platform.machine() != "x86_64":
        print("1..0 # SKIP user stacks are supported only on x86-64")
        return
    if why_not_run():
        print(f"1..0 # SKIP {why_not_run()}")
        return
    check_own()
    check_namespace()
    check_silent()
    check_python()
    result.end()


if __name__ == "__main__":
    main()
