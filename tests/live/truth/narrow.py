# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The 32-bit program of a guest (narrow.c): its stack has the functions that
its source has, whether the guest runs or is a dump."""
import machine
import programs

NAME = "32-bit user stack"
# Innermost first: (type, function). The module of the vdso has no file.
SYSTEM_CALL = [("vdso", "__kernel_vsyscall"), ("user", "call")]
STACK = [
    *SYSTEM_CALL, ("user", "nap"), ("user", "inner"), ("user", "handle"),
    ("signal", "__kernel_sigreturn"),
    *SYSTEM_CALL, ("user", "raised"), ("user", "outer"), ("user", "begin"),
    ("user", "_start"),
]


def runs_none():
    """Whether the kernel lacks CONFIG_COMPAT."""
    return b" compat_start_thread\n" not in machine.there.read("/proc/kallsyms")


def why_not():
    """Why nobody can be asked for it; None: somebody can."""
    if machine.there.arch() != "x86_64":
        return "only for x86-64"
    if machine.there.source() == "procfs":
        return "no source of the kernel's memory is asked"
    if not programs.narrow(machine.there.arch()):
        return "no compiler builds 32-bit programs"
    return None


def problems_of(row):
    frames = row.get("user_stack", [])
    wrong = [] if [(f["type"], f.get("function")) for f in frames] == STACK \
        else ["the functions are other ones"]
    wrong += ["%s is not of /disk/narrow" % f for f in frames
              if f["type"] == "user" and f.get("module") != "/disk/narrow"]
    wrong += ["%s has no build id" % f for f in frames if not f.get("build_id")]
    return wrong and wrong + [str(row)]


def check(report, pagedet):
    """On this machine tests/cli/user-compat.py does it."""
    if isinstance(machine.there, machine.Here):
        return
    why = why_not()
    if why:
        report.skip(NAME, why)
        return
    rows, status, err = pagedet.run("--json", "--fields", "pid", "--where",
                                    "kind=reserved", "--stacks=user", "task",
                                    "narrow")
    found = [row for row in rows if "tid" in row]
    if len(found) == 1:
        report.result(NAME, problems_of(found[0]))
    elif not found and runs_none():
        report.skip(NAME, "this kernel runs no 32-bit programs")
    else:
        report.result(NAME, ["exit status %d, %d threads: %s" % (
            status, len(found), err.strip())])
