# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Tests a process that ends during a walk of its pages, at each step of the
walk."""
import json

from scene import Answer, Wrong

# Of a walk; the reading of types takes most calls of some.
POINTS, FEW = 6, 2
CGROUP = "/testcg/ending"
WALKS = [
    ("virt", "virt {pid} {vaddr}+0x10000"),
    ("task", "task {pid}"),
    ("mappers", "mappers {pfn}"),
    ("page", "page {pfn} --fields everything"),
    ("cgroup", "cgroup %s" % CGROUP),
    ("mount", "mount /tmp"),
    ("stack", "stack {pfn}"),
]


def rounds(out):
    """What subject exits prints."""
    while out:
        line, _, out = out.partition(b"\n")
        said = json.loads(line)
        answer = Answer("", out[:said["out"]],
                        out[said["out"]:said["out"] + said["err"]],
                        "signal %d" % said["signal"] if said["signal"]
                        else "exit %d" % said["exit"])
        out = out[said["out"] + said["err"]:]
        yield said, answer


def problems(said, answer):
    """What no answer may be, whoever dies meanwhile."""
    wrong = Wrong()
    where = "it died at call %d of the walk" % said["at"]
    wrong.unless(not said["hung"], where + ": no end", answer)
    wrong.unless(said["hung"] or answer.status in (0, 1),
                 where + ": the status is neither 0 nor 1", answer)
    if answer.status == 1:
        # Status 1 means no result, and stderr gives the reason.
        wrong.unless(answer.err.strip(), where + ": no reason", answer)
    wrong.unless(not answer.out or answer.rows(), where + ": no JSON", answer)
    return wrong


def check_walk(scene, name, words, points):
    argv = [scene.pagedet] + words.split() + ["--json", "--threads", "1"]
    out, err, how = scene.guest.run(
        "subject", "exits", points,
        "/sys/fs/cgroup%s/cgroup.procs" % CGROUP, *argv)
    wrong = Wrong()
    wrong.unless(how == "exit 0", "subject: %s" % err.decode())
    seen = {}
    for said, answer in rounds(out):
        wrong += problems(said, answer)
        seen[answer.status] = seen.get(answer.status, 0) + 1
        if said["at"] < 0:
            wrong.answered(answer)
            calls = said["calls"]
    print("# %s: %d calls, then %s" % (name, calls, ", ".join(
        "%d times status %s" % (n, status) for status, n in seen.items())))
    scene.result("a process exits: " + name, wrong)


def check(scene):
    scene.must("mkdir -p /sys/fs/cgroup%s; echo words > /tmp/file" % CGROUP)
    for name, words in WALKS:
        check_walk(scene, name, words,
                   FEW if name in ("page", "stack") else POINTS)
    check_walk(scene, "task, bpf", "--backend bpf task {pid}", FEW)
