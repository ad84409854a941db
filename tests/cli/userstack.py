# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What pagedet and gdb say of the stacks of a process, for tests of both."""
import ctypes
import json
import os
import platform
import re
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.environ["top_srcdir"], "tests"))
from tapped import Results  # noqa: E402
from wait import PATIENCE, wait_for  # noqa: E402,F401

BUILD = os.environ["top_builddir"]
PAGEDET = os.environ.get("PAGEDET") or os.path.join(
    BUILD, "tools/pagedet/pagedet")
INITIAL_PID_NAMESPACE = 0xEFFFFFFC
LIBUNWIND = "libunwind-x86_64.so.8"
# Why a machine may have no user stacks.
NOT_HERE = {"denied", "no_kernel", "no_types", "not_built", "unsupported",
            "no_access"}
# Found, no page matched, and some rows are undecided.
STATUSES = {0, 1, 2}
# The functions in which threads of the sleeper sleep.
CHAIN = ["inner", "middle", "outer"]
SLEEPERS = 20

result = Results()


def ask(*arguments):
    """What it prints. A crash is not an answer."""
    said = subprocess.run(
        [PAGEDET, *arguments], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=120, check=False)
    strange = [line for line in said.stderr.splitlines()
               if not line.startswith("pagedet: ")]
    if said.returncode not in STATUSES or strange:
        print(f"Bail out! {' '.join(arguments)}: status {said.returncode}")
        sys.exit(said.stderr or 1)
    return said.stdout


def threads_of(out):
    """The threads of an answer in JSON."""
    return {o["tid"]: o for o in map(json.loads, out.splitlines())
            if "tid" in o}


def stacks(pid, *options, which="both"):
    """Those of the threads of a process, and no page of it."""
    return threads_of(ask(
        "task", str(pid), f"--stacks={which}", *options, "--json", "--fields",
        "pid", "--where", "kind=reserved"))


def stat_of(pid):
    """The fields of /proc/PID/stat from the state on; none if it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def children_of(pid):
    """Not every kernel has /proc/PID/task/TID/children."""
    return [int(name) for name in os.listdir("/proc")
            if name.isdigit() and stat_of(name)[1:2] == [str(pid)]]


def runs_now(pid, tid):
    """Whether the kernel has not yet counted that this thread ceased to run: it
    is said to sleep before."""
    try:
        return open(f"/proc/{pid}/task/{tid}/syscall").read() == "running\n"
    except OSError:
        return False


def is_asleep(pid):
    """Whether all its threads are, and that is counted."""
    return all(stat_of(tid)[:1] == ["S"] and not runs_now(pid, tid)
               for tid in os.listdir(f"/proc/{pid}/task"))


class Sleeper:
    """A program of the build whose threads sleep in known functions."""

    def __init__(self, path=os.path.join(BUILD, "tests/cli/sleeper")):
        self.process = subprocess.Popen(
            [path, str(SLEEPERS)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        lines = [self.process.stdout.readline().split()
                 for _ in range(SLEEPERS)]
        timer.cancel()
        # The addresses that each thread has seen.
        self.truth = {int(words[0]): [int(word, 16) for word in words[1:]]
                      for words in lines}
        wait_for(lambda: is_asleep(self.pid))

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def has_chain(frames, chain):
    names = [f.get("function") for f in frames]
    return any(names[i:i + len(chain)] == chain for i in range(len(names)))


def own_page(pid):
    """A page of its stack, which nobody else maps; None: it is hidden."""
    rows = [json.loads(line) for line in ask(
        "virt", str(pid), "[stack]", "--fields", "pfn", "--json").splitlines()]
    return next((row["pfn"] for row in rows if row.get("pfn")), None)


def why_not_unwound():
    """Why no stack can be unwound, found without pagedet; or None."""
    if platform.machine() != "x86_64":
        return "user stacks are supported only on x86-64"
    with open(os.path.join(BUILD, "config.h"), encoding="utf-8") as f:
        if "#define HAVE_LIBUNWIND 1" not in f.read():
            return "libunwind is not built in"
    try:
        ctypes.CDLL(LIBUNWIND)
    except OSError as e:
        return str(e)
    return None


def why_no_bpf():
    """Why no program of BPF can read the kernel's memory; or None."""
    # r1 = r10 - 8, r2 = 8, r3 = 0; call bpf_probe_read_kernel; r0 = 0; exit
    code = b"".join(struct.pack("<BBhi", *part) for part in (
        (0xbf, 0xa1, 0, 0), (0x07, 1, 0, -8), (0xb7, 2, 0, 8), (0xb7, 3, 0, 0),
        (0x85, 0, 0, 113), (0xb7, 0, 0, 0), (0x95, 0, 0, 0)))
    text = ctypes.create_string_buffer(code)
    licence = ctypes.create_string_buffer(b"GPL")
    # BPF_PROG_TYPE_SYSCALL, BPF_F_SLEEPABLE
    attributes = struct.pack("<IIQQIIQII", 31, len(code) // 8,
                             ctypes.addressof(text), ctypes.addressof(licence),
                             0, 0, 0, 0, 1 << 4)
    libc = ctypes.CDLL(None, use_errno=True)
    # BPF_PROG_LOAD; the number of bpf(2) is that of x86-64.
    fd = libc.syscall(321, 5, attributes, len(attributes))
    if fd < 0:
        return f"bpf: {os.strerror(ctypes.get_errno())}"
    os.close(fd)
    return None


def why_no_read(path):
    """Why a file cannot be read; or None."""
    try:
        with open(path, "rb") as f:
            f.read(64)
    except OSError as e:
        return f"{path}: {e.strerror}"
    return None


def why_no_memory():
    """Why the kernel's memory may not show stacks, found without pagedet; or
    None."""
    if "image" not in os.environ.get("PDET_BUILT", "image").split():
        return "no source of the kernel's memory is built in"
    if os.geteuid():
        return "needs root"
    if os.stat("/proc/self/ns/pid").st_ino != INITIAL_PID_NAMESPACE:
        return "this is not the first pid namespace"
    why = why_no_read("/sys/kernel/btf/vmlinux")
    if why:
        return why
    no_bpf, no_kcore = why_no_bpf(), why_no_read("/proc/kcore")
    return f"{no_bpf}, {no_kcore}" if no_bpf and no_kcore else None


def skip_without_stacks(answers):
    """Only if that is so here. Nothing that was answered before may be missing
    later."""
    said = {a.get("missing", {}).get("user_stack") for a in answers.values()}
    if result.number or len(said) != 1 or not said <= NOT_HERE:
        return
    why = why_not_unwound() or why_no_memory()
    if why:
        print(f"1..0 # SKIP no user stacks here: {said.pop()}: {why}")
        sys.exit(0)


# Frames of inlined functions and of tail calls have no return address.
GDB = """
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame = gdb.newest_frame()
    while frame:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            print("PC", thread.ptid[1], hex(frame.pc()))
        frame = frame.older()
"""


# How gdb says that it may not attach, or that it was built without Python.
REFUSED = re.compile(r"^.*(?:ptrace: Operation not permitted|"
                     r"Could not attach to process|"
                     r"Python scripting is not supported).*$", re.M)
gdb_said = []


def gdb_stacks(pid):
    """The same as gdb shows it. Why it does not is added to gdb_said."""
    said = subprocess.run(
        ["gdb", "-nx", "-batch", "-p", str(pid), "-ex",
         "set backtrace past-main on", "-ex", "set backtrace past-entry on",
         "-ex", f"python exec({GDB!r})"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        check=False, timeout=120)
    gdb_said.extend(REFUSED.findall(said.stderr))
    found = {}
    for tid, pc in re.findall(r"^PC (\d+) (0x[0-9a-f]+)$", said.stdout, re.M):
        found.setdefault(int(tid), []).append(int(pc, 16))
    return found
