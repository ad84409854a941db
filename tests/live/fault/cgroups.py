# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Tests charges to deep and to removed cgroups."""
import time

from scene import PATIENCE, Wrong

TOP = "/sys/fs/cgroup"
SOURCES = ("procfs", "bpf", "kcore")
DEEP = "/testcg/a/b/c/d/e"
GONE = "/testcg/gone"


def charged_file(scene, cgroup, path):
    """A file of tmpfs whose page was charged there, and its page."""
    scene.must("echo $$ > %s%s/cgroup.procs\n"
               "echo words > %s\n"
               "echo $$ > %s/cgroup.procs" % (TOP, cgroup, path, TOP))
    return scene.ask("file", path, "--json").row()["pfn"]


def memcg_row(scene, source, pfn):
    return scene.ask("--backend", source, "page", pfn, "--fields",
                     "memcg_ino,memcg_path,memcg_name,kind", "--json")


def inode(scene, cgroup):
    return int(scene.must("stat -c %%i %s%s" % (TOP, cgroup)))


def check_nested(scene):
    """Five directories down, and from each of them."""
    path, way = "/testcg", []
    for name in DEEP.split("/")[2:]:
        scene.must("echo +memory > %s%s/cgroup.subtree_control\n"
                   "mkdir %s%s/%s" % (TOP, path, TOP, path, name))
        path += "/" + name
        way.append(path)
    pfn = charged_file(scene, DEEP, "/tmp/deep")
    ino = inode(scene, DEEP)
    for source in SOURCES:
        wrong = Wrong()
        a = memcg_row(scene, source, pfn)
        wrong.answered(a)
        wrong.is_(a.row(), memcg_ino=ino, memcg_path=DEEP, memcg_name="e")
        scene.result("nested cgroups: a page, " + source, wrong)
    for source in SOURCES:
        wrong = Wrong()
        for above in way + ["/testcg", "/"]:
            a = scene.ask("--backend", source, "cgroup", above, "--fields",
                          "pfn,memcg_path", "--json")
            wrong.answered(a)
            found = {row["pfn"]: row for row in a.rows()}
            if wrong.unless(pfn in found, "%s does not have it" % above, a):
                wrong.is_(found[pfn], memcg_path=DEEP)
            top = above.rstrip("/")
            wrong += ["%s, below %s" % (row, above) for row in found.values()
                      if row.get("memcg_path") and
                      not (row["memcg_path"] + "/").startswith(top + "/")]
        scene.result("nested cgroups: all below, " + source, wrong)
    wrong = Wrong()
    # A longer name with the same beginning is another cgroup.
    scene.must("mkdir %s/testcg/a2" % TOP)
    a = scene.ask("cgroup", "/testcg/a2", "--json")
    wrong.answered(a, 1)
    a = scene.ask("cgroup", DEEP + "/nowhere")
    wrong.answered(a, 66)
    wrong.says(a, "there is no cgroup " + DEEP + "/nowhere")
    scene.result("nested cgroups: none of it", wrong)


def check_removed_owner(scene, pfn):
    """page_owner's text says it in other words. The kernel takes a cgroup
    offline a moment after rmdir has returned (css_killed_work_fn)."""
    wrong = Wrong()
    until = time.monotonic() + PATIENCE
    while True:
        a = scene.ask("--backend", "page_owner", "page", pfn, "--fields",
                      "memcg_name", "--json")
        if a.row().get("memcg_name") != "gone" or time.monotonic() > until:
            break
        time.sleep(0.1)
    wrong.answered(a)
    wrong.is_(a.row(), memcg_name="gone (offline)")
    scene.result("removed cgroup: its page, page_owner", wrong)


def check_removed(scene):
    """A cgroup that is gone, and what it was charged for is not."""
    scene.must("mkdir %s%s" % (TOP, GONE))
    pfn = charged_file(scene, GONE, "/tmp/gone")
    own = inode(scene, GONE)
    scene.must("rmdir %s%s" % (TOP, GONE))
    above = inode(scene, "/testcg")
    check_removed_owner(scene, pfn)
    for source in SOURCES:
        wrong = Wrong()
        a = memcg_row(scene, source, pfn)
        row = a.row()
        wrong.answered(a)
        # kpagecgroup names the cgroup that is responsible now.
        wrong.is_(row, kind="shmem", memcg_ino=above)
        if source == "procfs":
            wrong.is_(row, memcg_path="/testcg")
        else:
            wrong.is_(row, memcg_path=GONE + " (offline)",
                      memcg_name="gone (offline)")
        wrong.unless(row.get("memcg_ino") != own, "it is not there", a)
        scene.result("removed cgroup: its page, " + source, wrong)
        wrong = Wrong()
        a = scene.ask("--backend", source, "cgroup", GONE)
        wrong.answered(a, 66)
        wrong.says(a, "there is no cgroup " + GONE)
        a = scene.ask("--backend", source, "cgroup", "/testcg", "--json")
        wrong.answered(a)
        wrong.unless(pfn in [row["pfn"] for row in a.rows()],
                     "what it left is not its parent's", a)
        scene.result("removed cgroup: of its parent, " + source, wrong)
