# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The kernel's words and the names of their bits, from its documentation
(admin-guide/mm/pagemap.rst) - written down a second time on purpose."""
import glob
import os
import struct

# /proc/kpageflags; kernel-page-flags.h
KPF = {
    "locked": 0, "error": 1, "referenced": 2, "uptodate": 3, "dirty": 4,
    "lru": 5, "active": 6, "slab": 7, "writeback": 8, "reclaim": 9,
    "buddy": 10, "mmap": 11, "anon": 12, "swapcache": 13, "swapbacked": 14,
    "compound_head": 15, "compound_tail": 16, "huge": 17, "unevictable": 18,
    "hwpoison": 19, "nopage": 20, "ksm": 21, "thp": 22, "offline": 23,
    "zero_page": 24, "idle": 25, "pgtable": 26, "reserved": 32,
    "mlocked": 33, "private": 35, "private_2": 36, "owner_private": 37,
    "arch": 38, "arch_2": 41, "arch_3": 42,
}
# what bit 34 is called depends on the page and the kernel
BIT34 = ("owner_2", "mappedtodisk", "anon_exclusive")
FLAGS = list(KPF) + list(BIT34) + ["uncached"]

# /proc/PID/pagemap
PTE = {"soft_dirty": 55, "exclusive": 56, "uffd_wp": 57, "guard": 58,
       "file": 61, "swapped": 62, "present": 63}
PTE_NAMES = ("present swapped guard migration hwpoison device file zero "
             "exclusive soft_dirty uffd_wp written young dirty write "
             "exec").split()

KINDS = ("free anon file shmem hugetlb slab pgtable zero reserved offline "
         "zsmalloc device kernel hole uninit unknown untouched "
         "unmapped").split()

# Flags that come and go while nobody does anything to the page.
RESTLESS = {"locked", "referenced", "active", "lru", "idle", "reclaim",
            "writeback"}


def read_word(path, index):
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        data = os.pread(fd, 8, index * 8)
    except OSError:
        return None
    finally:
        os.close(fd)
    return struct.unpack("=Q", data)[0] if len(data) == 8 else None


def pagemap(pid, addr):
    return read_word("/proc/%d/pagemap" % pid, addr >> 12)


def pfn_of(word):
    if word is None or not word >> 63:
        return None
    return word & (1 << 55) - 1 or None


def kpage(pfn):
    """(flags, count, cgroup) of a page, read now."""
    return tuple(read_word("/proc/kpage" + name, pfn)
                 for name in ("flags", "count", "cgroup"))


def zones_of(pfn):
    """Names of the zones whose span has this page."""
    found, name, spanned = [], None, 0
    with open("/proc/zoneinfo") as f:
        for line in f:
            words = line.split()
            if line.startswith("Node "):
                name, spanned = words[3], 0
            elif words[0] == "spanned":
                spanned = int(words[1])
            elif words[0] == "start_pfn:":
                start = int(words[1])
                if start <= pfn < start + spanned:
                    found.append(name)
    return found


def block_pages():
    """Pages of a memory block of sysfs; None without memory blocks."""
    try:
        with open("/sys/devices/system/memory/block_size_bytes") as f:
            return int(f.read(), 16) >> 12
    except OSError:
        return None


def gaps():
    """(first, last) of frames between memory blocks: there is no memory, but
    the kpage files have words."""
    pages = block_pages()
    if not pages:
        return []
    blocks = sorted(int(path.rsplit("memory", 1)[1]) for path in
                    glob.glob("/sys/devices/system/memory/memory[0-9]*"))
    return [((a + 1) * pages, b * pages - 1)
            for a, b in zip(blocks, blocks[1:]) if b > a + 1]


def node_of(pfn):
    """The node that has the page's memory block, by sysfs."""
    block = pfn // block_pages()
    nodes = glob.glob("/sys/devices/system/node/node[0-9]*/memory%d" % block)
    return int(nodes[0].split("/")[5][len("node"):]) if nodes else None


def cgroup_inodes(path):
    """Inodes of the directories that this may be the path of."""
    found = []
    for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/memory",
                "/sys/fs/cgroup/unified"):
        try:
            found.append(os.stat(top + path).st_ino)
        except OSError:
            pass
    return found
