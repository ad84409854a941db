# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Reads the bytes of pages in an ELF dump: a dump proves something only if it
has the bytes that the planter saw."""
import struct

PT_LOAD = 1
PAGE = 4096


class Dump:
    """As QEMU writes it: physical addresses are in the program headers."""

    def __init__(self, path):
        self.file = open(path, "rb")
        head = self.file.read(64)
        offset, = struct.unpack_from("<Q", head, 32)
        size, n = struct.unpack_from("<HH", head, 54)
        self.loads = []
        for i in range(n):
            self.file.seek(offset + i * size)
            kind, _, start, _, first, length = struct.unpack(
                "<IIQQQQ", self.file.read(40))
            if kind == PT_LOAD:
                self.loads.append((first, length, start))

    def page(self, pfn):
        """Its bytes, or None where there is no memory."""
        for first, length, start in self.loads:
            if first <= pfn * PAGE < first + length:
                self.file.seek(start + pfn * PAGE - first)
                return self.file.read(PAGE)
        return None


def fingerprint(page):
    """64-bit FNV-1a"""
    total = 0xcbf29ce484222325
    for byte in page:
        total = (total ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return total


def check(report, field, path):
    dump = Dump(path)
    for plant in field.plants.values():
        said = plant.word("fnv1a64")
        if said is None:
            continue
        page = dump.page(plant.pfn)
        report.result("content: " + plant.name,
                      [] if page and fingerprint(page) == said else
                      ["the dump has other bytes at %#x" % plant.pfn])
