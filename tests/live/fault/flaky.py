# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Tests a failing disk: the page cache can still be read, and no query waits
for the disk."""
from scene import Wrong

SECTORS = 65536
POINT = "/flaky"


def dm(scene, what, *table):
    return scene.must("subject dm %s flaky %d %s" % (
        what, SECTORS, " ".join(map(str, table)))).strip()


def make(scene):
    """A file that is cached, and one that is on the disk only."""
    n = scene.must("cat /sys/class/zram-control/hot_add").strip()
    disk = "/dev/zram" + n
    scene.must("echo %dK > /sys/block/zram%s/disksize\n"
               "mke2fs -b 4096 %s > /dev/null 2>&1" % (SECTORS // 2, n, disk))
    device = dm(scene, "create", "flakey", disk, 0, 1000, 0)
    scene.must("mkdir -p %s\n"
               "mount -t ext4 %s %s\n"
               "dd if=/dev/zero of=%s/cached bs=4096 count=8 2> /dev/null\n"
               "dd if=/dev/zero of=%s/cold bs=4096 count=8 2> /dev/null\n"
               "sync; echo 3 > /proc/sys/vm/drop_caches\n"
               "cat %s/cached > /dev/null; ls -l %s/cold > /dev/null" % (
                   POINT, device, POINT, POINT, POINT, POINT, POINT))
    return disk, device


def check(scene):
    if not scene.has("/dev/mapper/control"):
        scene.skip("flaky", "there is no device mapper")
        return
    disk, device = make(scene)
    before = {row["index"]: row["pfn"] for row in scene.ask(
        "file", POINT + "/cached", "--json").rows()}
    # The disk fails from now on.
    dm(scene, "load", "flakey", disk, 0, 0, 1000)
    wrong = Wrong()
    scene.must("dd if=/dev/zero of=%s/cached bs=4096 count=2 conv=notrunc "
               "2> /dev/null" % POINT)
    a = scene.ask("file", POINT + "/cached", "--json")
    check_cached(wrong, a, before, {0, 1})
    scene.result("flaky disk: dirty pages", wrong)
    wrong = Wrong()
    # The kernel gives up and marks the pages clean.
    synced = scene.sh("sync %s/cached" % POINT)
    wrong.unless(synced.status == 1, "it was written", synced)
    a = scene.ask("file", POINT + "/cached", "--json")
    check_cached(wrong, a, before, set())
    for source in ("bpf", "kcore"):
        a = scene.ask("--backend", source, "page", before[0], "--fields",
                      "cheap,index,inode,content", "--json")
        wrong.answered(a)
        wrong.is_(a.row(), kind="file", index=0, content="zero")
    scene.result("flaky disk: after the failure", wrong)
    check_cold(scene)
    wrong = Wrong()
    for words in ("mount " + POINT, "tree " + POINT, "block %s 0+8" % device):
        a = scene.ask(*words.split(), "--summary")
        wrong.unless(a.status in (0, 1, 2, 74), "no answer", a)
        wrong.unless(a.status == 0 or a.err, "no reason", a)
    scene.result("flaky disk: all of it", wrong)
    # umount does not wait for the disk either.
    scene.sh("umount %s" % POINT)


def check_cached(wrong, a, before, dirty):
    wrong.answered(a)
    rows = {row["index"]: row for row in a.rows()}
    wrong.unless({n: row["pfn"] for n, row in rows.items()} == before,
                 "not the pages that are cached: %s" % before, a)
    for n, row in rows.items():
        wrong.is_(row, kind="file", path=POINT + "/cached")
        wrong.unless(("dirty" in row["flags"]) == (n in dirty),
                     "dirty, or not", row)


def check_cold(scene):
    """No page of it is cached, and looking does not read any."""
    wrong = Wrong()
    a = scene.ask("file", POINT + "/cold", "--json")
    wrong.answered(a, 1)
    wrong.says(a, "no page of it is cached")
    read = scene.sh("cat %s/cold > /dev/null" % POINT)
    wrong.unless(read.status == 1, "it can be read", read)
    # A page whose read failed may stay in the cache, but is not up to date.
    a = scene.ask("file", POINT + "/cold", "--json")
    wrong.unless(a.status in (0, 1), "no answer", a)
    for row in a.rows():
        wrong.unless("uptodate" not in (row.get("flags") or []),
                     "up to date with what could not be read", row)
    scene.result("flaky disk: what is not cached", wrong)


def make_dm(scene, name, point):
    """An ext4 with a file, on a disk that does what it is told later."""
    n = scene.must("cat /sys/class/zram-control/hot_add").strip()
    disk = "/dev/zram" + n
    scene.must("echo %dK > /sys/block/zram%s/disksize\n"
               "mke2fs -b 4096 %s > /dev/null 2>&1" % (SECTORS // 2, n, disk))
    device = scene.must("subject dm create %s %d flakey %s 0 1000 0" % (
        name, SECTORS, disk)).strip()
    scene.must("mkdir -p %s\n"
               "mount -t ext4 %s %s\n"
               "dd if=/dev/zero of=%s/f bs=4096 count=8 conv=fsync "
               "2> /dev/null" % (point, device, point, point))
    return disk, device


def check_lost(scene):
    """A disk that drops what is written, and says that all went well."""
    if not scene.has("/dev/mapper/control"):
        scene.skip("lost writes", "there is no device mapper")
        return
    disk, _ = make_dm(scene, "lost", "/lost")
    wrong = Wrong()
    wrong.answered(scene.ask("check", "clean", "/lost/f"))
    wrong.answered(scene.ask("check", "disk", "/lost/f"))
    scene.result("lost writes: before", wrong)
    scene.must("subject dm load lost %d flakey %s 0 0 1000 1 drop_writes" % (
        SECTORS, disk))
    wrong = Wrong()
    synced = scene.sh("dd if=/dev/urandom of=/lost/f bs=4096 count=2 "
                      "conv=notrunc,fsync 2> /dev/null")
    wrong.unless(synced.status == 0, "fsync failed", synced)
    wrong.answered(scene.ask("check", "clean", "/lost/f"))
    scene.result("lost writes: fsync says that all went well", wrong)
    wrong = Wrong()
    a = scene.ask("check", "disk", "/lost/f", "--json")
    wrong.answered(a, 1)
    rows = a.rows() or [{}]
    wrong.is_(rows[0], verdict="violated", first=0, pages=2)
    # pagedet cannot tell whether the pages are clean without cachestat.
    wrong.unless(rows[0].get("cause") in ("lost_write", "different"),
                 "another cause", a)
    wrong.is_(rows[-1], whole=True, violations=2)
    wrong.answered(scene.ask("check", "disk", "/lost/f", "2+6"))
    scene.result("lost writes: the disk tells", wrong)
    scene.sh("umount /lost")


def check_harness(scene):
    """The example program, on a disk that it makes fail."""
    if not scene.has("/dev/mapper/control"):
        scene.skip("journal_harness", "there is no device mapper")
        return
    n = scene.must("cat /sys/class/zram-control/hot_add").strip()
    scene.must("echo %dK > /sys/block/zram%s/disksize\n"
               "mke2fs -b 4096 /dev/zram%s > /dev/null 2>&1" % (
                   SECTORS // 2, n, n))
    wrong = Wrong()
    a = scene.sh("/bin/journal_harness --flaky /dev/zram" + n)
    wrong.unless(a.status == 0 and "SKIP" not in a.out, "it failed", a)
    for line in ("that drops writes: disk violated",
                 "that drops writes: errors holds",
                 "that refuses writes: disk violated",
                 "that refuses writes: errors violated"):
        wrong.unless(any(said.startswith("ok ") and line in said
                         for said in a.out.splitlines()), line, a)
    left = scene.sh("ls /sys/kernel/tracing/instances /dev/mapper").out
    wrong.unless("pagedet" not in left and "harness" not in left,
                 "left behind: %s" % left)
    scene.result("journal_harness: a disk that fails", wrong)


def traced(row, device):
    """The verdict is about writeback of that file, and says what failed."""
    return row.get("cause") == "error" and \
        "writeback of inode" in row.get("why", "") and \
        device in row["why"] and "Input/output error" in row["why"]


def check_below(scene, disk, when):
    """Of a disk that another device holds: whose errors are elsewhere."""
    wrong = Wrong()
    a = scene.ask("check", "errors", "--since", "/mark", disk, "--json")
    wrong.answered(a, 2)
    wrong.unless(a.rows() and a.rows()[-1].get("cause") == "filesystem",
                 "another cause", a)
    scene.result("failed writes: of the disk below, " + when, wrong)


def check_errors(scene):
    """A disk that refuses to write: who was told, and who else was not."""
    if not scene.has("/dev/mapper/control"):
        scene.skip("failed writes", "there is no device mapper")
        return
    disk, device = make_dm(scene, "errors", "/errors")
    number = scene.must("sed -n 's,^[0-9]* [0-9]* \\([0-9:]*\\) / /errors .*,"
                        "\\1,p' /proc/self/mountinfo").strip()
    make_dm(scene, "sound", "/sound")
    wrong = Wrong()
    wrong.answered(scene.ask("check", "mark", "/mark"))
    for path in ("/errors/f", "/errors", device, "/sound/f"):
        wrong.answered(scene.ask("check", "errors", "--since", "/mark", path))
    scene.result("failed writes: before there is none", wrong)
    check_below(scene, disk, "before")
    scene.must("subject dm load errors %d flakey %s 0 0 1000 1 error_writes" % (
        SECTORS, disk))
    wrong = Wrong()
    synced = scene.sh("dd if=/dev/urandom of=/errors/f bs=4096 count=2 "
                      "conv=notrunc,fsync 2> /dev/null")
    wrong.unless(synced.status, "fsync went well", synced)
    wrong.answered(scene.ask("check", "clean", "/errors/f"))
    scene.result("failed writes: fsync tells, and then all is clean", wrong)
    wrong = Wrong()
    for path in ("/errors/f", "/errors", device):
        a = scene.ask("check", "errors", "--since", "/mark", path, "--json")
        wrong.answered(a, 1)
        wrong.unless(any(traced(row, number) for row in a.rows()),
                     "no error was traced", a)
    scene.result("failed writes: they were traced", wrong)
    check_below(scene, disk, "after")
    wrong = Wrong()
    wrong.answered(scene.ask("check", "errors", "--since", "/mark",
                             "/sound/f"))
    wrong.answered(scene.ask("check", "errors", "--since", "/mark", "/sound"))
    scene.result("failed writes: another filesystem had none", wrong)
    wrong = Wrong()
    wrong.answered(scene.ask("check", "unmark", "/mark"))
    left = scene.sh("ls /sys/kernel/tracing/instances").out
    wrong.unless(not left.strip(), "left behind: %s" % left)
    wrong.answered(scene.ask("check", "errors", "--since", "/mark",
                             "/sound/f"), 2)
    scene.result("failed writes: the watch has ended", wrong)
    scene.sh("umount /errors; umount /sound")
