# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The kernel's words and the names of their bits, from its documentation
(admin-guide/mm/pagemap.rst). They are written here independently on purpose."""
import struct

import machine

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
# The name of bit 34 depends on the page and the kernel.
BIT34 = ("owner_2", "mappedtodisk", "anon_exclusive")
FLAGS = list(KPF) + list(BIT34) + ["uncached"]

# Bits of /proc/PID/pagemap.
PTE = {"soft_dirty": 55, "exclusive": 56, "uffd_wp": 57, "guard": 58,
       "file": 61, "swapped": 62, "present": 63}
PTE_NAMES = ("present swapped guard migration hwpoison device file zero "
             "exclusive soft_dirty uffd_wp written young dirty write "
             "exec").split()

KINDS = ("free anon file shmem hugetlb slab pgtable zero reserved offline "
         "zsmalloc device kernel hole uninit unknown untouched "
         "unmapped").split()

# These flags belong to a whole folio. Kernels before 6.9 show the word of a
# tail page itself, in which these bits are never set.
FOLIO_WIDE = sum(1 << KPF[name] for name in (
    "locked error referenced uptodate dirty lru active writeback reclaim "
    "swapcache swapbacked unevictable mlocked private private_2 "
    "owner_private").split())

# The kernel changes these flags even if no program touches the page.
RESTLESS = {"locked", "referenced", "active", "lru", "idle", "reclaim",
            "writeback"}


def unpack(data):
    return struct.unpack("=Q", data)[0] if data and len(data) == 8 else None


def read_word(path, index):
    return unpack(machine.there.pread((path, index * 8, 8))[0])


def pagemap(pid, addr):
    return read_word("/proc/%d/pagemap" % pid, addr >> 12)


def pfn_of(word):
    if word is None or not word >> 63:
        return None
    return word & (1 << 55) - 1 or None


def of_folio(flags, head_flags):
    """The word of a tail with what its head's word says of the folio."""
    if head_flags is None or not flags >> KPF["compound_tail"] & 1:
        return flags
    return flags & ~FOLIO_WIDE | head_flags & FOLIO_WIDE


def kpage(pfn, head):
    """(flags, count, cgroup) of a page of a folio, read now; where no page is,
    which above all memory is the end of the files, nothing is counted."""
    flags, count, head_flags, cgroup = map(unpack, machine.there.pread(
        *(("/proc/kpage" + name, at * 8, 8)
          for name, at in (("flags", pfn), ("count", pfn), ("flags", head),
                           ("cgroup", head)))))
    nopage = 1 << KPF["nopage"]
    if flags is None or flags & nopage:
        return nopage, None, 0
    return of_folio(flags, head_flags), count, cgroup


def spans_of(pfn):
    """(node, zone) where the zone's span has this page."""
    found, place, spanned = [], None, 0
    for line in machine.there.read("/proc/zoneinfo").decode().splitlines():
        words = line.split()
        if line.startswith("Node "):
            place, spanned = (int(words[1].rstrip(",")), words[3]), 0
        elif words[0] == "spanned":
            spanned = int(words[1])
        elif words[0] == "start_pfn:":
            start = int(words[1])
            if start <= pfn < start + spanned:
                found.append(place)
    return found


def zones_of(pfn):
    """Names of the zones whose span has this page."""
    return [zone for _, zone in spans_of(pfn)]


def block_pages():
    """Pages of a memory block of sysfs; None without memory blocks."""
    size = machine.there.read("/sys/devices/system/memory/block_size_bytes")
    return size and int(size, 16) >> 12


def gaps():
    """(first, last) of frames between memory blocks: there is no memory, but
    the kpage files have words."""
    pages = block_pages()
    if not pages:
        return []
    blocks = sorted(
        int(path.rsplit("memory", 1)[1]) for path in
        machine.there.glob("/sys/devices/system/memory/memory[0-9]*"))
    return [((a + 1) * pages, b * pages - 1)
            for a, b in zip(blocks, blocks[1:]) if b > a + 1]


def node_of(pfn):
    """The node that has the page's memory block, by sysfs; without memory
    blocks, the one whose zones have it."""
    pages = block_pages()
    if not pages:
        nodes = {node for node, _ in spans_of(pfn)}
        return nodes.pop() if len(nodes) == 1 else None
    block = pfn // pages
    nodes = machine.there.glob(
        "/sys/devices/system/node/node[0-9]*/memory%d" % block)
    return int(nodes[0].split("/")[5][len("node"):]) if nodes else None


def cgroup_inodes(path):
    """Inodes of the directories that this may be the path of."""
    found = (machine.there.inode(top + path) for top in
             ("/sys/fs/cgroup", "/sys/fs/cgroup/memory",
              "/sys/fs/cgroup/unified"))
    return [inode for inode in found if inode is not None]
