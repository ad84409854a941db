# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""drgn's side, in an environment that has it. "scan" prints the ns that its
loop over pages took, the opening included, and how many there were.

usage: peer_drgn.py open|scan DUMP VMLINUX [PFN]
"""
import collections
import sys
import time

import drgn
from drgn.helpers.linux.mm import for_each_page, pfn_to_page


def words(page):
    return (page.flags.value_(), page._refcount.counter.value_(),
            page._mapcount.counter.value_())


def main():
    what, dump, vmlinux = sys.argv[1:4]
    start = time.monotonic_ns()
    prog = drgn.Program()
    prog.set_core_dump(dump)
    prog.load_debug_info([vmlinux])
    if what == "open":
        print(words(pfn_to_page(prog, int(sys.argv[4], 0))))
        return
    found = collections.Counter()
    for page in for_each_page(prog):
        found[words(page)] += 1
    print(time.monotonic_ns() - start, sum(found.values()))


main()
