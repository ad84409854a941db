# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Finds the truth about a file without the interfaces that the command uses.

Cached pages: mincore; for partly cached pages cachestat. Dirty pages: flags in
/proc/kpageflags; for partly dirty ones cachestat. Cached bytes: read(); for
partly cached pages a read that does not wait. Disk: O_DIRECT for clean pages;
otherwise, or if O_DIRECT reads the cache, the image at the places of filefrag.
After a crash: a copy of the image, mounted.
"""
import array
import ctypes
import fcntl
import mmap
import os
import re
import struct
import subprocess

PAGE = mmap.PAGESIZE
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                      ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
PART = 512
CACHESTAT = 451
DIRTY, WRITEBACK, TAIL = 1 << 4, 1 << 8, 1 << 16
GETVERSION = 0x80087601
FIEMAP = 0xC020660B
# of FIEMAP
UNKNOWN, DELALLOC, ENCODED = 2, 4, 8
NOT_PLAIN = ENCODED | 0x80 | 0x100 | 0x200 | 0x400
UNWRITTEN = 0x800
# of sync_file_range()
WAIT_BEFORE = 1


def cachestat(fd, page):
    """How much of a page is cached, dirty, under writeback."""
    span = (ctypes.c_uint64 * 2)(page * PAGE, PAGE)
    got = (ctypes.c_uint64 * 5)()
    if LIBC.syscall(CACHESTAT, fd, span, got, 0):
        raise OSError(ctypes.get_errno(), "cachestat")
    return got[0], got[1], got[2]


def parts(fd, page):
    """(offset, bytes) of what is up to date in it."""
    buf = bytearray(PART)
    for at in range(page * PAGE, (page + 1) * PAGE, PART):
        try:
            n = os.preadv(fd, [buf], at, os.RWF_NOWAIT)
        except BlockingIOError:
            continue
        yield at - page * PAGE, bytes(buf[:n])


class Cached:
    """Pages of a file: which there are, and which of them are dirty."""

    def __init__(self, path):
        fd = os.open(path, os.O_RDONLY)
        self.size = os.fstat(fd).st_size
        self.pages = {}
        self.parts = {}     # of pages that are cached in part
        n = -(-self.size // PAGE)
        if n:
            self.look(fd, n)
        os.close(fd)

    def look(self, fd, n):
        at = LIBC.mmap(None, n * PAGE, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
        resident = ctypes.create_string_buffer(n)
        LIBC.mincore(at, n * PAGE, resident)
        there = [i for i in range(n) if resident.raw[i] & 1]
        for i in there:
            ctypes.string_at(at + i * PAGE, 1)
        with open("/proc/self/pagemap", "rb", 0) as f:
            f.seek(at // PAGE * 8)
            entries = struct.unpack("=%uQ" % n, f.read(n * 8))
        with open("/proc/kpageflags", "rb", 0) as f:
            for i in there:
                self.pages[i] = self.is_dirty(f, entries[i] & (1 << 55) - 1)
        LIBC.munmap(at, n * PAGE)
        for i in set(range(n)) - set(there):
            cached, dirty, writeback = cachestat(fd, i)
            if cached:
                self.pages[i] = bool(dirty or writeback)
                self.parts[i] = list(parts(fd, i))

    @staticmethod
    def is_dirty(f, pfn):
        while True:
            f.seek(pfn * 8)
            flags = struct.unpack("=Q", f.read(8))[0]
            if not flags & TAIL:
                return bool(flags & (DIRTY | WRITEBACK))
            pfn -= 1

    def __eq__(self, other):
        return (self.size, self.pages, self.parts) == (
            other.size, other.pages, other.parts)

    def read(self, path):
        """Of each page that is cached, (offset, bytes)."""
        fd = os.open(path, os.O_RDONLY)
        found = {i: self.parts.get(i) or [(0, os.pread(fd, PAGE, i * PAGE))]
                 for i in self.pages}
        os.close(fd)
        return found


def extents(path):
    """FIEMAP: (logical, physical, bytes, flags)."""
    room = 1000
    buf = array.array("B", struct.pack("=QQIIII", 0, 1 << 62, 0, 0, room, 0) +
                      bytes(56 * room))
    fd = os.open(path, os.O_RDONLY)
    fcntl.ioctl(fd, FIEMAP, buf)
    os.close(fd)
    n = struct.unpack_from("=I", buf, 20)[0]
    for i in range(n):
        yield struct.unpack_from("=QQQ16xI", buf, 32 + 56 * i)


def chunks(image):
    """Of a btrfs on one device: (logical, bytes, physical)."""
    text = subprocess.run(
        ["btrfs", "inspect-internal", "dump-tree", "-t", "chunk", image],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    logical = None
    for line in text.splitlines():
        m = re.search(r"FIRST_CHUNK_TREE CHUNK_ITEM (\d+)", line)
        if m:
            logical = int(m[1])
        m = re.search(r"length (\d+) owner", line)
        if m:
            n = int(m[1])
        m = re.search(r"stripe 0 devid \d+ offset (\d+)", line)
        if m and logical is not None:
            yield logical, n, int(m[1])


class Disk:
    """What the disk has of a file, where FIEMAP says."""

    def __init__(self, path, mounted):
        self.parts = []
        self.plain = True
        maps = list(chunks(mounted.image)) if mounted.kind.fstype == "btrfs" \
            else [(0, 1 << 62, 0)]
        with open(mounted.image, "rb") as image:
            for logical, physical, n, flags in extents(path):
                if flags & NOT_PLAIN:
                    self.plain = False
                elif not flags & (UNWRITTEN | DELALLOC | UNKNOWN):
                    for base, length, at in maps:
                        if base <= physical < base + length:
                            image.seek(physical - base + at)
                    self.parts.append((logical, image.read(n)))

    def page(self, i, size):
        got = bytearray(min(PAGE, size - i * PAGE))
        for at, data in self.parts:
            begin = max(at, i * PAGE)
            end = min(at + len(data), i * PAGE + len(got))
            if begin < end:
                got[begin - i * PAGE:end - i * PAGE] = data[begin - at:
                                                            end - at]
        return bytes(got)


def read_direct(path, i):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, PAGE) as buf:
            try:
                n = os.preadv(fd, [buf], i * PAGE)
            except OSError:
                # It tells once of a write that failed before.
                n = os.preadv(fd, [buf], i * PAGE)
            return buf[:n]
    finally:
        os.close(fd)


def same(cached, there):
    return all(there[at:at + len(data)] == data for at, data in cached)


class Failures:
    """Which files the kernel told of a failed write, since this was made. A
    file description that is open since then is told of each once
    (Documentation/filesystems/vfs.rst, errseq_t)."""

    def __init__(self, paths):
        self.open = {path: os.open(path, os.O_RDWR) for path in paths}
        self.failed = set()

    def has(self, path):
        # waits for writes, begins none, and reports
        if LIBC.sync_file_range(self.open[path], ctypes.c_long(0),
                                ctypes.c_long(0), WAIT_BEFORE):
            self.failed.add(path)
        return path in self.failed

    def end(self):
        for fd in self.open.values():
            os.close(fd)


class Truth:
    """Of one file, before it is asked about, and later what else there is."""

    def __init__(self, path, mounted):
        self.path = path
        self.mounted = mounted
        self.cached = Cached(path)
        st = os.stat(path)
        self.ino = st.st_ino
        self.version = self.generation(path)
        self.disk_map = Disk(path, mounted)

    @staticmethod
    def generation(path):
        fd = os.open(path, os.O_RDONLY)
        buf = bytearray(8)
        try:
            fcntl.ioctl(fd, GETVERSION, buf)
        except OSError:
            pass
        os.close(fd)
        return bytes(buf[:4])

    def stands_still(self):
        return self.cached == Cached(self.path)

    def clean(self):
        return not any(self.cached.pages.values())

    def absent(self):
        return not self.cached.pages

    def on_disk(self):
        """None: it cannot be seen."""
        contents = self.cached.read(self.path)
        if not self.disk_map.plain:
            return None
        for i, dirty in self.cached.pages.items():
            if dirty or self.mounted.kind.journals_data:
                there = self.disk_map.page(i, self.cached.size)
            else:
                there = read_direct(self.path, i)
            if not same(contents[i], there):
                return False
        return True

    def committed(self, left):
        """@left: files that a crash leaves, by their numbers."""
        path = left.get(self.ino)
        if not path or self.generation(path) != self.version or \
                os.stat(path).st_size != self.cached.size:
            return False
        contents = self.cached.read(self.path)
        with open(path, "rb") as f:
            for i in self.cached.pages:
                f.seek(i * PAGE)
                if not same(contents[i], f.read(PAGE)):
                    return False
        return True
