# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Tests missing privilege: root of a user namespace, an unmounted debugfs, and
a kernel in lockdown."""
from scene import Wrong

LOCKED = "it is locked down for confidentiality"


def check_userns(scene):
    """A root that is nobody outside is told so, and not that all is 0."""
    facts = scene.start("hold", 4)
    for uid, who in ((0, "root"), (65534, "nobody")):
        check_userns_pages(scene, uid, who, facts)
        check_userns_own(scene, uid, who)
        wrong = Wrong()
        for words in (("doctor",), ("doctor", "-v")):
            a = scene.ask(*words, uid=uid, by=("unshare", "-U", "-r"))
            wrong.answered(a)
            wrong.says(a, "in a user namespace: its capabilities do not count",
                       "sudo pagedet")
            wrong.unless("every capability" not in a.out,
                         "it says all is well", a)
            wrong.unless("\nyes  page flags" not in a.out and
                         "\nyes  addresses of other" not in a.out,
                         "it says it can", a)
        wrong.says(a, "needs CAP_SYS_ADMIN, or a descriptor of pagemap")
        scene.result("user namespace, %s: doctor" % who, wrong)
    scene.end(facts)


def check_userns_pages(scene, uid, who, facts):
    """Of what is not its own."""
    def ask(*words):
        return scene.ask(*words, uid=uid, by=("unshare", "-U", "-r"))

    wrong = Wrong()
    for words in ("virt %d %x" % (facts["pid"], facts["vaddr"]),
                  "task %d" % facts["pid"]):
        a = ask(*words.split())
        wrong.answered(a, 77)
        wrong.says(a, "cannot read task %d" % facts["pid"],
                   "Permission denied")
        wrong.unless(not a.out, "there are rows", a)
    # The page is mapped, even if the caller cannot see the mappers.
    a = ask("mappers", facts["is"][0], "--json")
    wrong.unless(a.status in (2, 77), "it passes for an answer", a)
    wrong.says(a, "CAP_SYS_ADMIN" if a.status == 77 else "may not be read")
    a = ask("--backend", "bpf", "page", facts["is"][0], "--fields",
            "refcount", "--json")
    wrong.answered(a, 77)
    wrong.lacks(a.row(), "no_access", "refcount")
    if uid:
        a = ask("page", facts["is"][0], "--json")
        wrong.lacks(a.row(), "no_access", "kind", "flags")
        a = ask("scan", "--summary")
        wrong.answered(a, 77)
        wrong.says(a, "cannot open /proc/kpageflags", "needs root")
    scene.result("user namespace, %s: pages of others" % who, wrong)


def check_userns_own(scene, uid, who):
    """Its own tasks show everything but where their pages are."""
    wrong = Wrong()
    a = scene.run(
        "unshare", "-U", "-r", "sh", "-c",
        "subject hold 4 > /tmp/own.$$ & n=0; "
        "until [ -s /tmp/own.$$ ] || [ $n = 600 ]; do "
        "sleep 0.1; n=$((n + 1)); done; "
        "at=$(sed 's/.*vaddr\": \\([0-9]*\\).*/\\1/' /tmp/own.$$); "
        "timeout -s KILL 30 %s virt $! $(printf %%x $at)+0x4000 --json; "
        "status=$?; kill -9 $!; exit $status" % scene.pagedet, uid=uid)
    wrong.answered(a)
    rows = a.rows()
    wrong.unless(len(rows) == 4, "%d rows" % len(rows), a)
    for row in rows:
        wrong.unless("present" in row["pte"], "it is not there", row)
        wrong.lacks(row, "no_access", "pfn", "flags")
        wrong.is_(row, kind="anon", vma_prot="rw-p")
    scene.result("user namespace, %s: pages of its own" % who, wrong)


def check_debugfs(scene):
    """What is not mounted is said, and how to mount it."""
    mount = "mount -t debugfs none /sys/kernel/debug"
    wrong = Wrong()
    scene.must("umount /sys/kernel/tracing; umount /sys/kernel/debug")
    a = scene.ask("--backend", "page_owner", "stack", 1000)
    wrong.answered(a, 77)
    wrong.says(a, "debugfs is not mounted: " + mount)
    a = scene.ask("--backend", "page_detective", "page", 1000)
    wrong.answered(a, 69)
    wrong.says(a, "needs debugfs: " + mount)
    a = scene.ask("doctor")
    wrong.answered(a)
    wrong.says(a, "tracefs is not mounted:\n", "sudo mount -t tracefs")
    a = scene.ask("doctor", "-v")
    wrong.answered(a)
    wrong.says(a, "debugfs is not mounted: " + mount)
    a = scene.ask("page", 1000, "--json")
    wrong.answered(a)
    wrong.unless(a.row().get("kind"), "other sources do not answer", a)
    scene.must(mount)
    a = scene.ask("--backend", "page_owner", "stack", 1000)
    wrong.answered(a)
    scene.result("debugfs is not mounted", wrong)


def check_lockdown(scene):
    """For confidentiality: memory is closed, and the files are not."""
    scene.must("mount -t securityfs none /sys/kernel/security\n"
               "echo confidentiality > /sys/kernel/security/lockdown")
    facts = scene.start("hold", 4)
    for source in ("bpf", "kcore"):
        wrong = Wrong()
        a = scene.ask("--backend", source, "page", facts["is"][0], "--json")
        wrong.lacks(a.row(), "no_access", "kind", "flags")
        a = scene.ask("--backend", source, "page", facts["is"][0])
        wrong.says(a, LOCKED)
        a = scene.ask("--backend", source, "task", facts["pid"])
        wrong.answered(a, 77)
        wrong.says(a, "cannot read the running kernel's memory", LOCKED)
        scene.result("lockdown: " + source, wrong)
    wrong = Wrong()
    a = scene.ask("virt", facts["pid"], "%x" % facts["vaddr"], "--fields",
                  "cheap,refcount", "--json")
    # No source can answer a field that was named explicitly.
    wrong.answered(a, 2)
    wrong.is_(a.row(), pfn=facts["is"][0], kind="anon", mapcount=1)
    wrong.lacks(a.row(), "no_access", "refcount")
    wrong.says(a, LOCKED)
    a = scene.ask("mappers", facts["is"][0], "--json")
    wrong.answered(a)
    wrong.unless(facts["pid"] in [row.get("pid") for row in a.rows()],
                 "it does not find who maps it", a)
    a = scene.ask("doctor")
    wrong.answered(a)
    wrong.says(a, LOCKED)
    scene.result("lockdown: the files of /proc", wrong)
    # pagedet does not report another cause if lockdown is not visible.
    scene.must("umount /sys/kernel/security")
    wrong = Wrong()
    for source in ("bpf", "kcore"):
        a = scene.ask("--backend", source, "page", 1000)
        wrong.says(a, "no lockdown for confidentiality")
    scene.result("lockdown: without securityfs", wrong)
    scene.end(facts)
