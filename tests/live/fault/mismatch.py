# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Tests migrations with page faults that few hosts can inject."""
import judge

TOP = "/tmp/inject"


def inject(scene, *words):
    scene.must("mkdir -p " + TOP)
    a = scene.run("injector", *words, "/bin/vmm", TOP)
    if a.status:
        raise scene.guest.qemu.failed(str(a))
    return judge.Cases(*(scene.guest.read("%s/%s" % (TOP, name)).decode()
                         for name in ("labels", "findings")))


def check(scene):
    name = "mismatch: "
    judge.check_kinds(scene.report, inject(scene, "--each", "--only", "guest"),
                      name)
    cases = inject(scene, "--moves", "20", "--only", "guest")
    if not cases.made():
        return
    lines, wrong = judge.table(cases.all)
    print("\n".join(lines))
    scene.result(name + "enough is found", wrong)
    scene.result(name + "what is certain or high is true",
                 [str(c) for c in cases.sure_and_wrong()])
    scene.result(name + "nobody is accused wrongly",
                 [str(c) for c in cases.wrong_alarms() if not c.is_unsure])
