#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""A filesystem in a process, with one file, "f".

usage: fuse-file.py DIR [TEXT NUMBER...]

Serves until it is unmounted. Exits with 77 where there is no FUSE
(include/uapi/linux/fuse.h). With a file TEXT, "f" is like a file of procfs,
which has no size; the NUMBERs are its answers to the ioctl of /proc/allocinfo
that asks which lines it has, one after the other.
"""
import os
import struct
import sys

sys.dont_write_bytecode = True

import fuse  # noqa: E402
from fuse import (ENOENT, ENOSYS, ENOTTY, GETATTR, INIT, IOCTL,  # noqa: E402
                  LOOKUP, OPEN, OPENDIR, READ, STATFS)

LIKE_PROC = len(sys.argv) > 2
if LIKE_PROC:
    with open(sys.argv[2], "rb") as f:
        DATA = f.read()
else:
    DATA = b"from a server\n" * 1000
ROOT, FILE = 1, 2
CONTENT = 0x8008a600
# of a file of procfs
numbers = [int(arg) for arg in sys.argv[3:]]


def attr(node):
    size, mode, links = (0 if LIKE_PROC else len(DATA), 0o100644, 1) \
        if node == FILE else (0, 0o040755, 2)
    return struct.pack("=6Q10I", node, size, 8, 0, 0, 0, 0, 0, 0, mode, links,
                       0, 0, 0, 4096, 0)


def answer(op, node, body):
    """Bytes, or the number of an error."""
    if op == INIT:
        return fuse.init()
    if op == LOOKUP:
        if body.rstrip(b"\0") != b"f":
            return ENOENT
        return struct.pack("=4QII", FILE, 0, 3600, 3600, 0, 0) + attr(FILE)
    if op == GETATTR:
        return struct.pack("=QII", 3600, 0, 0) + attr(node)
    if op == STATFS:
        return struct.pack("=5Q4I24x", 9, 0, 0, 2, 0, 4096, 255, 4096, 0)
    if op in (OPEN, OPENDIR):
        flags = 0 if op == OPENDIR else 1 if LIKE_PROC else 2
        return struct.pack("=QII", 1, flags, 0)
    if op == READ:
        _, offset, size = struct.unpack_from("=QQI", body)
        return DATA[offset:offset + size]
    if op == IOCTL:
        if struct.unpack_from("=QII", body)[2] != CONTENT or not numbers:
            return ENOTTY
        return struct.pack("=iIIIQ", 0, 0, 0, 0, numbers.pop(0))
    return ENOSYS


if __name__ == "__main__":
    fuse.serve(fuse.mount("fuse-file", sys.argv[1]), answer)
