# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What pagedet and gdb say of the stacks of a process, for tests of both."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["top_srcdir"], "tests"))
from wait import PATIENCE, wait_for  # noqa: E402,F401

BUILD = os.environ["top_builddir"]
PAGEDET = os.environ.get("PAGEDET") or os.path.join(
    BUILD, "tools/pagedet/pagedet")
# Why a machine may have no user stacks.
NOT_HERE = {"denied", "no_kernel", "no_types", "not_built", "unsupported",
            "no_access"}
# Found, no page matched, and some rows are undecided.
STATUSES = {0, 1, 2}

done = []


def result(name, problems, skip=None):
    done.append(not problems)
    line = f"{'not ' if problems else ''}ok {len(done)} - {name}"
    print(line + (f" # SKIP {skip}" if skip else ""))
    for problem in problems:
        print(f"# {problem}")


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


def skip_without_stacks(answers):
    """Nothing that was answered before may be missing later."""
    why = {a.get("missing", {}).get("user_stack") for a in answers.values()}
    if not done and len(why) == 1 and why <= NOT_HERE:
        print(f"1..0 # SKIP no user stacks here: {why.pop()}")
        sys.exit(0)


def stacks(pid):
    out = ask("task", str(pid), "--stacks=both", "--json", "--fields", "pid",
              "--where", "kind=reserved")
    return {o["tid"]: o for o in map(json.loads, out.splitlines())
            if "tid" in o}


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
