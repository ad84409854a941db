#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Memory for comparisons: 64 pages, each with bytes of its own, which are the
same in every process. Arguments move them: "copy:A:B" puts what is in page A
into page B, "exchange:A:B" both, "within:A:N" moves the bytes of page A by N
to its beginning. Prints pid and address, and waits for the end of its input."""
import ctypes
import mmap
import os
import random
import sys

PAGE = os.sysconf("SC_PAGESIZE")
PAGES = 64

old = random.Random(1).randbytes(PAGES * PAGE)
memory = mmap.mmap(-1, len(old), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory[:] = old


def move(start, end, shift=0):
    memory[end * PAGE:end * PAGE + PAGE - shift] = \
        old[start * PAGE + shift:(start + 1) * PAGE]


for word in sys.argv[1:]:
    how, a, b = word.split(":")
    if how == "within":
        move(int(a), int(a), int(b))
    else:
        move(int(a), int(b))
    if how == "exchange":
        move(int(b), int(a))
print(os.getpid(), "%x" % ctypes.addressof(ctypes.c_char.from_buffer(memory)),
      flush=True)
sys.stdin.read()
