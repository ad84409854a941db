# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Tests that pids inside a pid namespace are those of the namespace."""
import json

from scene import Answer, Wrong

MARK = "--- status "


def inside(scene, *questions):
    """What is true, and an answer to each question that is asked inside."""
    script = "".join("timeout -s KILL 30 %s %s 2>&1; echo '%s'$?\n" % (
        scene.pagedet, words, MARK) for words in questions)
    a = scene.run("subject", "pidns", script)
    first, _, rest = a.out.partition("\n")
    answers = []
    for words in questions:
        out, _, rest = rest.partition(MARK)
        status, _, rest = rest.partition("\n")
        answers.append(Answer(words, out.encode(), a.err.encode(),
                              "exit " + (status or "255")))
    return json.loads(first), answers


def check(scene):
    """Process 2 of here has a page, and shares it with one outside, whom
    nobody can name here."""
    facts, (virt, task, mappers, text, virt_bpf, mappers_bpf, page, outer) = \
        inside(scene, "virt {pid} {vaddr} --json", "task {pid} --json",
               "mappers {pfn} --json -q", "mappers {pfn}",
               "--backend bpf virt {pid} {vaddr}",
               "--backend kcore mappers {pfn}",
               "page {pfn} --fields cheap,user_maps --json", "virt 4999 0")
    pfn = facts["pfn"]
    wrong = Wrong()
    wrong.answered(virt)
    wrong.is_(virt.row(), pid=2, pfn=pfn, kind="shmem", mapcount=2)
    wrong.answered(task)
    wrong.unless(pfn in [row.get("pfn") for row in task.rows()],
                 "it is not among its pages", task)
    wrong.unless({row.get("pid") for row in task.rows()} == {2},
                 "it is not called 2", task)
    wrong.answered(outer, 1)
    wrong.says(outer, "cannot read task 4999: there is no such task")
    scene.result("pid namespace: a task of it", wrong)
    wrong = Wrong()
    # pagedet finds one of two mappings and reports that one is missing.
    wrong.answered(mappers, 2)
    rows = [row for row in mappers.rows() if row.get("map") == "user"]
    wrong.unless([row["pid"] for row in rows] == [2], "not it alone", mappers)
    wrong.is_(mappers.rows()[-1] if mappers.rows() else {}, found=1,
              expected=2)
    wrong.says(text, "found 1 user mapping", "mapcount 2",
               "1 mapping counted but not found: of tasks that cannot be seen")
    wrong.is_(page.row(), mapcount=2, user_maps=1)
    scene.result("pid namespace: who shares its page", wrong)
    wrong = Wrong()
    # PID 2 is a kernel thread there. pagedet must not confuse it with our task.
    for a in (virt_bpf, mappers_bpf):
        wrong.answered(a, 69)
        wrong.says(a, "the first pid namespace", "procfs knows the tasks")
    scene.result("pid namespace: the kernel's own list", wrong)
