# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Questions, and their expected answers."""
from errno import E2BIG, EINVAL, ERANGE, ESRCH

# text, errno
QUERIES = [
    ("", EINVAL), (" \n", EINVAL), ("bogus 1", EINVAL), ("pfn", EINVAL),
    ("pfn walk", EINVAL), ("pfn x", EINVAL), ("pfn 1 2 x", EINVAL),
    ("pfn -1", EINVAL), ("pfn 1+0", EINVAL), ("pfn 1+", EINVAL),
    ("pfn 0xffffffffffffffff+2", EINVAL), ("pfn 1+65537", E2BIG),
    ("pfn 0+65536 1", E2BIG), ("pfn 0x10000000000000000", ERANGE),
    ("phys", EINVAL), ("phys 0x", EINVAL), ("phys 1 2", EINVAL),
    ("phys 1 walk stay", EINVAL), ("phys 0x1ffffffffffffffff", ERANGE),
    ("virt", EINVAL), ("virt 1", EINVAL), ("virt x 1", EINVAL),
    ("virt 1 x", EINVAL), ("virt -1 0", EINVAL), ("virt 1 0 0", EINVAL),
    ("virt 4294967297 0", ERANGE), ("virt 99999 0x1000", ESRCH),
    ("virt 0 0x1000", ESRCH), ("virt 2 0x1000", EINVAL),
    ("virt 1 0xffff888000000000", ERANGE), ("x" * 100000, EINVAL),
]

# (file, text, errno, line in the log)
CLASSIC = [
    ("virt", "1", EINVAL, "Invalid virt file input"),
    ("virt", "1\n", EINVAL, "Invalid virt file input"),
    ("virt", "abc 0x1000", EINVAL, "Failed to parse pid"),
    ("virt", "-1 0", EINVAL, "Failed to parse pid"),
    ("virt", " 1 0x1000", EINVAL, "Failed to parse pid"),
    ("virt", "1 zzz", EINVAL, "Failed to parse virtual address"),
    ("virt", "1  0x1000", EINVAL, "Failed to parse virtual address"),
    ("virt", "1 0x1000 2", EINVAL, "Failed to parse virtual address"),
    ("virt", "1 0x1ffffffffffffffff", ERANGE,
     "Failed to parse virtual address"),
    ("virt", "99999 0x1000", EINVAL, "Task not found for PID 99999"),
    ("virt", "2 0x400000", EINVAL, "PID 2, can't get mm reference"),
    ("virt", "1 0xffff888000000000", EINVAL,
     "virt_addr[ffff888000000000] is above TASK_SIZE["),
    ("virt", "1 0x10000", EINVAL, "present[0]"),
    ("phys", "xyz", EINVAL, "Failed to parse physical address"),
    ("phys", "-1", EINVAL, "Failed to parse physical address"),
    ("phys", "0x200000 1", EINVAL, "Failed to parse physical address"),
    ("phys", "0x1ffffffffffffffff", ERANGE,
     "Failed to parse physical address"),
    ("phys", "1" * 200, EINVAL, None),
]

# (text, words of the answer)
EDGES = [
    ("phys 0", "state=have"), ("phys 0xfffffffffffffff", "state=nopage"),
    ("phys 0xffffffffffffffff", "state=nopage"),
    ("phys 0x100000000000", "state=nopage"),
    ("pfn 0xffffffffffffffff", "state=nopage"),
    ("pfn 0xfffffffffffff", "state=nopage"),
    ("pfn 0x20000000000000", "state=nopage"),
    ("virt 1 0", "state=notpresent"),
    ("virt 1 0x7fffffffefff", "state=notpresent"),
]

# (page made by user_cases.c, pattern the answer must match)
CASES = [
    ("alone", r"state=have (?s:.*)\nmaps .* user=1 .* complete=1\n"),
    ("forking", r"state=have (?s:.*)\nmaps .* complete=0\n"),
    ("thread_ended", r"state=have (?s:.*)\nmaps .* user=1 "),
    ("new_file", r"file=have .* dentry=new\b"),
    ("removed_file", r"file=have .* dentry=removed\b"),
    ("unnamed_file", r"file=have .* dentry=memfd:unnamed\b"),
    ("removed_cgroup", r"parent=(\d+)\n.* memcg_ino=\1 memcg_removed=1 "
     r"memcg=/testcg "),
]
GIGANTIC = [
    ("protected_huge", r"level=pud .*state=have .* order=18 mapcount=1 "
     r"(?s:.*)\nmaps .* user=1 "),
]
