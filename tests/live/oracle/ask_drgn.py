# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Queries a dump of a 6.1 kernel with drgn; runs in an environment that has
it.

usage: ask_drgn.py DUMP VMLINUX

Prints JSON lines: {"pfn": ...} for each page, {"task": ...} for each task with
memory, {"bytes": ...} for some of the pages that a task maps.
"""
import json
import sys

import drgn
from drgn import FaultError, cast
from drgn.helpers.linux.mm import (
    PageDoubleMap, PageHead, PageSlab, PageTail, compound_head,
    compound_order, decode_page_flags, access_process_vm)
from drgn.helpers.linux.pid import for_each_task

# Bits of page.mapping.
ANON, DRIVER = 1, 2
# Bit of page.memcg_data.
KMEM = 2
# Bit of page.page_type, clear if the page has the type.
BUDDY = 0x80
# Read one page in this many through a task's page tables.
EVERY = 7
XA_NODE = 2


class Dump:
    def __init__(self, path, vmlinux):
        self.prog = drgn.Program()
        self.prog.set_core_dump(path)
        self.prog.load_debug_info([vmlinux])
        self.slab_type = self.prog.type("struct slab *")

    # --- pages ---

    def pages(self):
        page = self.prog["vmemmap_base"].value_()
        page = drgn.Object(self.prog, "struct page *", value=page)
        for pfn in range(self.prog["max_pfn"].value_()):
            try:
                yield self.page(pfn, page[pfn].address_of_())
            except FaultError as e:
                yield {"pfn": pfn, "fault": str(e)}

    def page(self, pfn, page):
        head = compound_head(page)
        tail = bool(PageTail(page))
        order = compound_order(head).value_()
        slab = bool(PageSlab(head))
        # A page type is a clear bit in a number that no mapcount reaches.
        typed = 0xf0000000 <= page.page_type.value_() < 0xffffff80
        said = {
            "pfn": pfn,
            "word": page.flags.value_(),
            "names": decode_page_flags(head),
            "own_names": decode_page_flags(page),
            "head": bool(PageHead(page)),
            "tail": tail,
            "head_pfn": pfn - (page - head).value_() if tail else pfn,
            "order": order,
            "refcount": head._refcount.counter.value_(),
            "slab": slab,
        }
        if typed and not page.page_type.value_() & BUDDY:
            said["buddy"] = page.private.value_()
        if slab:
            cache = cast(self.slab_type, head).slab_cache
            if cache:
                said["cache"] = cache.name.string_().decode()
            return said
        mapping = head.mapping.value_()
        # A page that a driver migrates itself does not use the mapcount.
        if not typed and mapping & 3 != DRIVER:
            said["mapcount"] = self.mapcount(page, head, mapping)
        if mapping and not mapping & 3:
            host = head.mapping.host
            said["inode"] = host.i_ino.value_() if host else None
            said["index"] = head.index.value_()
            said["huge"] = bool(order and self.is_huge(head))
        if mapping & ANON:
            said["anon"] = True
        self.add_memcg(said, head)
        return said

    def mapcount(self, page, head, mapping):
        """As the kernel of that time counts it."""
        count = page._mapcount.counter.value_() + 1
        order = compound_order(head).value_()
        huge = order and self.is_huge(head)
        if order and (mapping & ANON or huge):
            count += head[1].compound_mapcount.counter.value_() + 1
            count -= not huge and bool(PageDoubleMap(head))
        return count

    def is_huge(self, head):
        return head[1].compound_dtor.value_() == \
            self.prog["HUGETLB_PAGE_DTOR"].value_()

    def add_memcg(self, said, head):
        data = head.memcg_data.value_()
        if not data:
            said["memcg_ino"] = None
            return
        at = data & ~3
        if data & KMEM:
            group = drgn.Object(self.prog, "struct obj_cgroup *", at).memcg
        else:
            group = drgn.Object(self.prog, "struct mem_cgroup *", at)
        said["memcg_ino"] = group.css.cgroup.kn.id.value_()

    # --- tasks ---

    def tasks(self):
        for task in for_each_task(self.prog):
            mm = task.mm
            if not mm or task.pid != task.tgid:
                continue
            areas = sorted(self.areas(mm))
            yield {"task": task.pid.value_(),
                   "comm": task.comm.string_().decode("latin-1"),
                   "map_count": mm.map_count.value_(), "areas": areas}
            yield from self.some_bytes(task, areas)

    def areas(self, mm):
        root = mm.mm_mt.ma_root.value_()
        if root & 3 == XA_NODE and root > 4096:
            yield from self.node(root)
        elif root:
            yield self.area(root)

    def node(self, entry):
        """A node of the maple tree: its kind is in the address."""
        kind = entry >> 3 & 15
        node = drgn.Object(self.prog, "struct maple_node *", entry & ~255)
        part = node.ma64 if kind == 3 else node.mr64
        pivots, slots = part.pivot, part.slot
        n = slots.type_.length
        for i in range(n):
            slot = slots[i].value_()
            if slot and kind == 1 and slot & 3 != XA_NODE:
                yield self.area(slot)
            elif slot and kind != 1:
                yield from self.node(slot)
            # The last used slot reaches to the end of the node.
            if i + 1 < n and (i >= pivots.type_.length or
                              not pivots[i].value_() or
                              pivots[i].value_() == 2 ** 64 - 1):
                break

    def area(self, at):
        vma = drgn.Object(self.prog, "struct vm_area_struct *", at)
        flags = vma.vm_flags.value_()
        return [vma.vm_start.value_(), vma.vm_end.value_(),
                "".join(c if flags >> i & 1 else "-"
                        for i, c in enumerate("rwx")) +
                ("s" if flags & 0x80 else "p")]

    def some_bytes(self, task, areas):
        n = 0
        for start, end, _ in areas:
            for at in range(start, end, 4096):
                n += 1
                if n % EVERY:
                    continue
                try:
                    data = access_process_vm(task, at, 64)
                except FaultError:
                    continue
                yield {"bytes": data.hex(), "pid": task.pid.value_(),
                       "vaddr": at}


def main():
    dump = Dump(*sys.argv[1:3])
    for said in dump.pages():
        print(json.dumps(said))
    for said in dump.tasks():
        print(json.dumps(said))


main()
