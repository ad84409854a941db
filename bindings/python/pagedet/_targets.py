# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""How places are said in Python: numbers, ranges, tuples and lists of them."""
import os

from . import _api

TO_END = _api.PAGEDET_TO_END

TARGETS = {
    "pfn": _api.PAGEDET_TARGET_PFN, "phys": _api.PAGEDET_TARGET_PHYS,
    "virt": _api.PAGEDET_TARGET_VIRT, "task": _api.PAGEDET_TARGET_TASK,
    "file": _api.PAGEDET_TARGET_FILE, "tree": _api.PAGEDET_TARGET_TREE,
    "mount": _api.PAGEDET_TARGET_MOUNT, "block": _api.PAGEDET_TARGET_BLOCK,
    "cgroup": _api.PAGEDET_TARGET_CGROUP, "kaddr": _api.PAGEDET_TARGET_KADDR,
    "log": _api.PAGEDET_TARGET_LOG, "scan": _api.PAGEDET_TARGET_SCAN,
    "mappers": _api.PAGEDET_TARGET_MAPPERS,
}
PATHS = ("file", "tree", "mount", "block", "cgroup", "log")
PAGES = ("file", "block")
KADDR = {"any": _api.PAGEDET_KADDR_ANY, "memory": _api.PAGEDET_KADDR_MEMORY,
         "page": _api.PAGEDET_KADDR_PAGE, "folio": _api.PAGEDET_KADDR_FOLIO}


def number(value):
    value = value.__index__()
    if not 0 <= value <= 0xffffffffffffffff:
        raise ValueError("%d does not fit into 64 bits" % value)
    return value


def pid_number(value):
    value = number(value)
    if value > 0xffffffff:
        raise ValueError("%d is no process id" % value)
    return value


def span(value):
    """7, range(7, 9) or (7, 2) as first and count."""
    if isinstance(value, range):
        if value.step != 1 or not value:
            raise ValueError("%r is no run of places" % value)
        return number(value.start), len(value)
    if isinstance(value, tuple):
        first, count = value
        return number(first), number(count)
    return number(value), 1


def item(target, value):
    """One item of a query: first, count, pid, flags."""
    if target == "virt":
        pid, address, *length = value
        return (number(address), number(*length) if length else 1,
                pid_number(pid), 0)
    if target == "task":
        if not isinstance(value, tuple):
            return 0, TO_END, pid_number(value), 0
        pid, address, length = value
        return number(address), number(length), pid_number(pid), 0
    if target == "kaddr":
        address, what = value if isinstance(value, tuple) else (value, "any")
        if what not in KADDR:
            raise ValueError("%r is none of: %s" % (what, ", ".join(KADDR)))
        return number(address), 1, 0, KADDR[what]
    first, count = span(value)
    return first, count, 0, 0


def items(target, value):
    """The C array of items: a list has several, anything else is one."""
    single = isinstance(value, (tuple, range)) or \
        hasattr(value, "__index__")
    if isinstance(value, (str, bytes)):
        raise TypeError("%s: numbers are wanted, not %r" % (target, value))
    found = [item(target, one) for one in ([value] if single else value)]
    return (_api.pagedet_item * len(found))(*found), len(found)


def path_bytes(path):
    return os.fsencode(path)
