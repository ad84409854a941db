# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Changes files at random, by a seed."""
import ctypes
import errno
import mmap
import os

LIBC = ctypes.CDLL(None, use_errno=True)
KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE = 1, 2, 16
NAMES = ["f%u" % i for i in range(6)]
LONGEST = 200000


def fallocate(fd, mode, at, n):
    if LIBC.fallocate(fd, mode, ctypes.c_long(at), ctypes.c_long(n)):
        raise OSError(ctypes.get_errno(), "fallocate")


class Actor:
    """Does things in one directory; says what it did."""

    def __init__(self, random, where):
        self.random = random
        self.where = where
        self.did = []

    def path(self, name):
        return os.path.join(self.where, name)

    def span(self, align=1):
        at = self.random.randrange(0, LONGEST, align)
        if self.random.random() < 0.5:
            at -= at % 1024
        longest = self.random.choice((10, 1024, 4096, 20000, 100000))
        n = max(self.random.randrange(0, longest + 1, align), align)
        return at, n

    def data(self, n):
        if self.random.random() < 0.1:
            return bytes(n)
        return self.random.randbytes(n)

    def write(self, fd):
        at, n = self.span()
        os.pwrite(fd, self.data(n), at)
        return at, n

    def append(self, fd):
        _, n = self.span()
        os.pwrite(fd, self.data(n), os.fstat(fd).st_size)
        return n

    def punch(self, fd):
        at, n = self.span()
        fallocate(fd, PUNCH_HOLE | KEEP_SIZE, at, n)
        return at, n

    def zero(self, fd):
        at, n = self.span()
        fallocate(fd, ZERO_RANGE | self.random.choice((0, KEEP_SIZE)), at, n)
        return at, n

    def allocate(self, fd):
        at, n = self.span()
        fallocate(fd, self.random.choice((0, KEEP_SIZE)), at, n)
        return at, n

    def fsync(self, fd):
        os.fsync(fd)

    def fdatasync(self, fd):
        os.fdatasync(fd)

    def write_out(self, fd):
        LIBC.sync_file_range(fd, ctypes.c_long(0), ctypes.c_long(0), 7)

    def truncate(self, fd):
        size = os.fstat(fd).st_size
        n = self.random.choice((self.random.randrange(LONGEST), size // 2,
                                size - size % 4096, size + 1))
        os.ftruncate(fd, n)
        return n

    def store(self, fd):
        size = os.fstat(fd).st_size
        if not size:
            return None
        at = self.random.randrange(size)
        n = min(self.random.choice((1, 500, 9000)), size - at)
        data = self.data(n)
        # A disk without room answers a store with SIGBUS.
        child = os.fork()
        if not child:
            with mmap.mmap(fd, size) as there:
                there[at:at + n] = data
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            raise OSError(errno.ENOSPC, "store")
        return at, n

    def direct(self, fd):
        at, n = self.span(4096)
        other = os.open("/proc/self/fd/%d" % fd, os.O_RDWR | os.O_DIRECT)
        try:
            with mmap.mmap(-1, n) as there:
                there[:] = self.data(n)
                os.pwritev(other, [there], at - at % 4096)
        finally:
            os.close(other)
        return at, n

    def read(self, fd):
        at, n = self.span()
        os.pread(fd, n, at)
        return at, n

    def drop(self, fd):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)

    FILE = [("write", 8), ("append", 3), ("punch", 3), ("zero", 1),
            ("allocate", 1), ("fsync", 6), ("fdatasync", 2), ("write_out", 2),
            ("truncate", 2), ("store", 2), ("direct", 2), ("read", 1),
            ("drop", 1)]

    def on_file(self, name):
        what = self.random.choices([w for w, _ in self.FILE],
                                   [n for _, n in self.FILE])[0]
        fd = os.open(self.path(name), os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self.did.append((what, name, getattr(self, what)(fd)))
        except OSError as e:
            # such as what this filesystem does not do
            self.did.append((what, name, str(e)))
        finally:
            os.close(fd)

    def on_names(self):
        there = [n for n in NAMES if os.path.exists(self.path(n))]
        old = self.random.choice(there or [None])
        new = self.random.choice(NAMES)
        what = self.random.choice(("rename", "unlink", "link"))
        try:
            if what == "rename":
                os.rename(self.path(old), self.path(new))
            elif what == "unlink":
                os.unlink(self.path(old))
            else:
                os.link(self.path(old), self.path(new))
        except (OSError, TypeError) as e:
            new = str(e)
        self.did.append((what, old, new))

    def sync(self):
        fd = os.open(self.where, os.O_RDONLY)
        LIBC.syncfs(fd)
        os.close(fd)
        self.did.append(("syncfs",))

    def go(self, names=True):
        """@names: it may also rename, link and unlink."""
        if names and self.random.random() < 0.08:
            self.on_names()
        elif self.random.random() < 0.02:
            self.sync()
        else:
            self.on_file(self.random.choice(NAMES))
