# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Filesystems in images: makes and mounts them, and copies them as a crash
would leave them.

Blocks larger than a page need Linux 6.12 and xfs: whether the kernel mounts
them is tried. An image is a sparse file in memory below a loop device. The file
thus has exactly the contents of the disk.
"""
import mmap
import os
import shutil
import subprocess
import tempfile
import time

import oracle

EXT4 = "ext4"


def run(*command):
    p = subprocess.run(command, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    if p.returncode:
        raise OSError("%s: %s" % (" ".join(command), p.stdout.decode()))
    return p.stdout.decode()


def unmount(where):
    """Waits until the last file there is closed."""
    for _ in range(20):
        if not subprocess.run(["umount", where],
                              stderr=subprocess.DEVNULL).returncode:
            return
        time.sleep(0.1)
    subprocess.run(["umount", "-l", where])


class Kind:
    """How a filesystem is made and mounted."""

    def __init__(self, name, fstype, mkfs, options="", mib=64, over=False):
        self.name = name
        self.fstype = fstype
        self.mkfs = mkfs
        self.options = options
        self.mib = mib
        self.over = over
        self.journals_data = "data=journal" in options
        # pagedet follows none of btrfs, and says so of each file
        self.has_journal = fstype != "btrfs"

    def is_here(self):
        return shutil.which(self.mkfs[0]) is not None

    def can_mount(self):
        top = tempfile.mkdtemp(prefix="pagedet-judged.")
        mounted = None
        try:
            mounted = Mounted(self, top)
        except OSError:
            return False
        finally:
            if mounted:
                mounted.end()
            shutil.rmtree(top, ignore_errors=True)
        return True


def ext4_kinds():
    for size in ("1024", "2048", "4096"):
        for mode in ("ordered", "writeback", "journal"):
            yield Kind("ext4 %s %s" % (size, mode), EXT4,
                       ["mke2fs", "-qFt", "ext4", "-b", size],
                       "commit=300,data=" + mode)
    for size in ("1024", "4096"):
        yield Kind("ext4 %s fast_commit" % size, EXT4,
                   ["mke2fs", "-qFt", "ext4", "-b", size, "-O",
                    "fast_commit"], "commit=300")
        yield Kind("ext4 %s nodelalloc" % size, EXT4,
                   ["mke2fs", "-qFt", "ext4", "-b", size],
                   "commit=300,nodelalloc")
    yield Kind("ext3 4096", EXT4, ["mke2fs", "-qFt", "ext3", "-b", "4096"],
               "commit=300")


def all_kinds():
    kinds = list(ext4_kinds())
    for size in (1024, 4096, 16384, 65536):
        kind = Kind("xfs %u" % size, "xfs",
                    ["mkfs.xfs", "-q", "-f", "-b", "size=%u" % size], mib=320)
        if size <= mmap.PAGESIZE or (kind.is_here() and kind.can_mount()):
            kinds.append(kind)
    kinds.append(Kind("btrfs", "btrfs", ["mkfs.btrfs", "-q", "-f"], mib=160))
    kinds.append(Kind("overlay on ext4", EXT4,
                      ["mke2fs", "-qFt", "ext4", "-b", "4096"], "commit=300",
                      over=True))
    kinds.append(Kind("overlay on xfs", "xfs", ["mkfs.xfs", "-q", "-f"],
                      mib=320, over=True))
    return [k for k in kinds if k.is_here()]


class Mounted:
    """One of them, in a directory. Ends with end()."""

    def __init__(self, kind, top):
        self.kind = kind
        self.loop = None
        self.mounts = []
        try:
            self.make(top)
        except OSError:
            self.end()
            raise

    def make(self, top):
        kind = self.kind
        self.store = os.path.join(top, "store")
        self.mount("none", self.store, "size=1G", "-t", "tmpfs")
        self.image = os.path.join(self.store, "image")
        self.base = os.path.join(top, "base")
        self.dir = self.base
        with open(self.image, "wb") as f:
            f.truncate(kind.mib << 20)
        run(*kind.mkfs, self.image)
        self.loop = run("losetup", "-f", "--show", self.image).strip()
        self.mount(self.loop, self.base, kind.options)
        self.below = self.base
        if kind.over:
            self.mount_over(top)

    def mount(self, device, where, options, *more):
        os.makedirs(where, exist_ok=True)
        command = ["mount", *more]
        if options:
            command += ["-o", options]
        run(*command, device, where)
        self.mounts.append(where)

    def mount_over(self, top):
        for name in ("lower", "upper", "work"):
            os.mkdir(os.path.join(self.base, name))
        with open(os.path.join(self.base, "lower", "f0"), "wb") as f:
            f.write(os.urandom(30000))
        run("sync", "-f", self.base)
        self.dir = os.path.join(top, "over")
        self.mount("overlay", self.dir, ",".join(
            "%sdir=%s" % (name, os.path.join(self.base, name))
            for name in ("lower", "upper", "work")), "-t", "overlay")

    def real(self, name):
        """The file that has the pages of a file here."""
        if not self.kind.over:
            return os.path.join(self.dir, name)
        for layer in ("upper", "lower"):
            path = os.path.join(self.base, layer, name)
            if os.path.exists(path):
                return path
        return None

    def writes(self):
        """That the disk has seen; it changes when something is written."""
        name = os.path.basename(self.loop)
        with open("/sys/block/%s/stat" % name) as f:
            words = f.read().split()
        return words[4], words[8]

    def limit(self, spare):
        """The disk has room for @spare more bytes of new blocks. Beyond them
        writes fail. None: there is room enough."""
        fs = os.statvfs(self.store)
        used = (fs.f_blocks - fs.f_bfree) * fs.f_frsize
        run("mount", "-o", "remount,size=%s" % (
            "1G" if spare is None else used + spare), self.store)

    def works(self):
        """Whether it has not shut down."""
        try:
            for name in os.listdir(self.dir):
                path = self.real(name)
                if os.path.isfile(path):
                    list(oracle.extents(path))
        except OSError:
            return False
        return True

    def end(self):
        for where in reversed(self.mounts[1:]):
            unmount(where)
        if self.loop:
            subprocess.run(["losetup", "-d", self.loop])
        if self.mounts:
            subprocess.run(["umount", "-l", self.store])


class Crashed:
    """What a crash now would leave, once the journal was replayed."""

    def __init__(self, mounted, top):
        self.copy = os.path.join(top, "copy")
        self.point = os.path.join(top, "crashed")
        self.loop = None
        self.fstype = mounted.kind.fstype
        run("cp", "--sparse=auto", mounted.image, self.copy)

    def mount(self):
        os.makedirs(self.point, exist_ok=True)
        self.loop = run("losetup", "-f", "--show", self.copy).strip()
        run("mount", *(["-o", "nouuid"] if self.fstype == "xfs" else []),
            self.loop, self.point)

    def files(self):
        """Path by inode number."""
        found = {}
        for top, _, names in os.walk(self.point):
            for name in names:
                path = os.path.join(top, name)
                found[os.lstat(path).st_ino] = path
        return found

    def end(self):
        if self.loop:
            subprocess.run(["umount", self.point])
            subprocess.run(["losetup", "-d", self.loop])
            self.loop = None
