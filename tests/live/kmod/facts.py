# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Checks whether an answer about a planted page is true."""
import re

from words import KPF, RESTLESS

WIDE = ("locked referenced uptodate dirty lru active writeback reclaim "
        "swapbacked unevictable mlocked").split()


def is_here(plant):
    return plant.pfn is not None and not plant.is_poisoned


def differ(name, is_said, truth):
    return [] if is_said == truth else ["%s is %r, and %r is true" % (
        name, is_said, truth)]


def check_flags(plant, said):
    if said is None:
        return []
    word = int(said, 16)
    wrong = []
    # The bits that this kernel's own file leaves unknown do not matter.
    unknown = set(plant.expect.get("flags_unknown", [])) - {"ksm"} | RESTLESS
    tail = word >> KPF["compound_tail"] & 1
    for name, bit in KPF.items():
        if name in unknown or (tail and name in WIDE):
            continue
        if name in plant.expect.get("flags_set", []) and not word >> bit & 1:
            wrong.append("flag %s is not in %#x" % (name, word))
        if name in plant.expect.get("flags_clear", []) and word >> bit & 1:
            wrong.append("flag %s is in %#x" % (name, word))
    return wrong


def check_file(plant, page, in_log):
    wrong = []
    if plant.file is None:
        return differ("file", page.get("file", "none"), "none")
    if not plant.file:
        return []
    wrong += differ("file", page.get("file"), "have")
    if "dev" in page:
        wrong += differ("dev", page["dev"], plant.file["dev"])
    wrong += differ("ino", page.get("ino"), str(plant.file["inode"]))
    wrong += differ("index", page.get("index"), hex(plant.file["index"]))
    name = plant.file["path"].rsplit("/", 1)[1]
    return wrong + differ("dentry", page.get("dentry"),
                          shown_name(name) if in_log else name)


CONTENT = {"zero": "zero", "data": "data", "text": "data", "byte:0x41": "data"}


def check_content(plant, page, in_log):
    if plant.name == "secretmem":
        return differ("content", page.get("content"),
                      None if in_log else "unreadable")
    if plant.is_poisoned:
        return differ("content", page.get("content"),
                      None if in_log else "poisoned")
    truth = CONTENT.get(plant.expect.get("content"))
    return differ("content", page.get("content"), truth) if truth else []


def check_page(plant, a, in_log):
    """What is said of the page itself."""
    e, page = plant.expect, a.page
    wrong = differ("pfn", a.pfn, plant.pfn)
    if plant.is_io:
        return wrong + differ("state", page.get("state"), "nopage")
    wrong += differ("state", page.get("state"), "have")
    wrong += check_flags(plant, page.get("kpageflags"))
    if "order" in e:
        wrong += differ("order", page.get("order"), str(e["order"]))
    if "refcount" in e:
        wrong += differ("refcount", page.get("refcount"), str(e["refcount"]))
    if "mapcount" in e and not in_log:
        wrong += differ("mapcount", page.get("mapcount"), str(e["mapcount"]))
    if "memcg_ino" in e and not in_log:
        wrong += differ("memcg_ino", page.get("memcg_ino"),
                        str(e["memcg_ino"]))
    if "memcg_path" in e:
        wrong += differ("memcg", page.get("memcg"), e["memcg_path"])
    if e["kind"] in ("anon", "file", "shmem"):
        wrong += differ("anon", page.get("anon"),
                        str(int(e["kind"] == "anon")))
    if e["kind"] == "hugetlb":
        wrong += differ("hugetlb", page.get("what", "HugeTLB" if
                        page.get("hugetlb") == "1" else None), "HugeTLB")
    return wrong + check_file(plant, page, in_log) + \
        check_content(plant, page, in_log)


def chain_of(path):
    found = []
    while path:
        found.append(path)
        path = path.rpartition("/")[0]
    return found + ["/"]


def shown_name(name):
    """A name in the log, whose control characters are none of ours."""
    return re.sub(r"[\x00-\x1f\x7f]", "?", name)


def check_mappers(plant, a, in_log):
    """Who maps it; only the planter's own are known of every page."""
    wrong = []
    if not plant.pid or plant.vaddr is None or plant.is_io:
        return wrong
    found = {(pid, addr) for pid, addr, _ in a.mappers}
    if plant.mappers:
        wrong += differ("mappers", found, set(plant.mappers))
    elif not plant.is_poisoned and (plant.pid, plant.page) not in found:
        wrong.append("its own mapping is not in %r" % (found,))
    wrong += differ("number of mappings", a.counts[1], len(a.mappers))
    vma = plant.vma()
    if vma and not plant.is_poisoned:
        truth = vma[6].replace("\\012", "\n") or "[anon]"
        names = {name for pid, addr, name in a.mappers
                 if (pid, addr) == (plant.pid, plant.page)}
        wrong += differ("vma", names,
                        {shown_name(truth) if in_log else truth})
    return wrong


def check_kernel(plant, a):
    if plant.is_io or a.counts is None:
        return []
    wrong = differ("kernel mappings", a.counts[0], len(a.kernel))
    # The kernel may remove failed memory from its direct map.
    if plant.is_poisoned:
        return wrong
    return wrong + differ("direct mappings", a.kernel.count("direct"),
                          0 if plant.name == "secretmem" else 1)


def check(plant, a, in_log=False):
    wrong = check_page(plant, a, in_log)
    if plant.is_io:
        return wrong
    wrong += check_mappers(plant, a, in_log) + check_kernel(plant, a)
    if in_log and "memcg_path" in plant.expect:
        wrong += differ("cgroups", a.chain,
                        chain_of(plant.expect["memcg_path"]))
    return wrong
