#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Writes the pages of a trace as a machine of big-endian byte order would.

    swap-trace.py DIRECTORY

The files cpuN.raw of the directory are replaced. header_page and the formats
stay, since they are texts.
"""
import glob
import re
import struct
import sys

PAGE, DATA = 4096, 16
FIELD = re.compile(r"field:(.*?)(\[\w*\])?;\s*offset:(\d+);\s*size:(\d+);")


def formats(directory):
    """The places of the numbers of each event, by its id."""
    ret = {}
    for name in glob.glob(directory + "/*.format"):
        with open(name, encoding="ascii") as f:
            text = f.read()
        ret[int(re.search(r"ID: (\d+)", text)[1])] = [
            (int(m[3]), int(m[4])) for m in FIELD.finditer(text)
            if int(m[4]) in (2, 4, 8)]
    return ret


def record(page, at, end, known):
    """Turns the numbers of a record around."""
    event = struct.unpack_from("<H", page, at)[0]
    for offset, size in known.get(event, ()):
        if at + offset + size <= end:
            place = slice(at + offset, at + offset + size)
            page[place] = page[place][::-1]


def swap(page, known):
    stamp, commit = struct.unpack_from("<QQ", page)
    struct.pack_into(">QQ", page, 0, stamp, commit)
    at, end = DATA, DATA + (commit & 0x3fffffff)
    while at + 4 <= end:
        head = struct.unpack_from("<I", page, at)[0]
        kind, delta = head & 31, head >> 5
        struct.pack_into(">I", page, at, kind << 27 | delta)
        if 1 <= kind <= 28:
            record(page, at + 4, at + 4 + 4 * kind, known)
            at += 4 + 4 * kind
            continue
        if kind == 29 and not delta:
            break
        word = struct.unpack_from("<I", page, at + 4)[0]
        struct.pack_into(">I", page, at + 4, word)
        if kind == 0:
            record(page, at + 8, at + 4 + word, known)
        at += 8 if kind >= 30 else 4 + (word + 3 & ~3)


def main():
    known = formats(sys.argv[1])
    for name in glob.glob(sys.argv[1] + "/cpu*.raw"):
        with open(name, "r+b") as f:
            data = bytearray(f.read())
            for at in range(0, len(data), PAGE):
                page = data[at:at + PAGE]
                swap(page, known)
                data[at:at + PAGE] = page
            f.seek(0)
            f.write(data)


main()
