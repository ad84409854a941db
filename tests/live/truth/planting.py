# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Starts the planter, reads its output, and verifies it."""
import glob
import json
import os
import subprocess

import machine
from words import FLAGS, KPF, PTE, of_folio, pfn_of


class Plant:
    def __init__(self, said):
        self.said = said
        self.name = said["name"]
        self.pid = said.get("pid")
        self.vaddr = said.get("vaddr") and int(said["vaddr"], 16)
        self.expect = said["expect"]
        self.mappers = [(pid, int(addr, 16))
                        for pid, addr in self.expect.get("mappers", [])]
        self.file = self.expect.get("file", False)

    def word(self, key):
        value = self.said.get(key)
        return None if value is None else int(value, 16)

    @property
    def page(self):
        return self.vaddr and self.vaddr & ~0xfff

    @property
    def pfn(self):
        return self.word("pfn")

    @property
    def is_poisoned(self):
        """The entry looks as if it were swapped out, and names the page."""
        return "hwpoison" in self.expect.get("pte_set", [])

    @property
    def has_page(self):
        """Whether the entry maps something."""
        return "present" in self.expect.get("pte_set", []) or self.is_io

    @property
    def is_shown(self):
        """Whether the entry can be seen: pagemap leaves out what is no
        memory."""
        return machine.there.source() != "procfs" or not self.is_io

    @property
    def is_io(self):
        return self.expect.get("io", False)

    def vma(self):
        """The line of maps as (start, end, prot, offset, dev, inode, name)."""
        line = self.said.get("vma")
        if not line:
            return None
        parts = line.split(None, 5)
        start, end = (int(x, 16) for x in parts[0].split("-"))
        major, minor = (int(x, 16) for x in parts[3].split(":"))
        return (start, end, parts[1], int(parts[2], 16),
                "%d:%d" % (major, minor), int(parts[4]),
                parts[5] if len(parts) > 5 else "")


def program(path, here, scratch):
    """The planter that was built, or one built now."""
    if os.access(path, os.X_OK):
        return path
    out = os.path.join(scratch, "planter")
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O2",
                    "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-o", out] +
                   sorted(glob.glob(os.path.join(here, "planter*.c"))),
                   check=True)
    return out


class Field:
    """Everything that was planted; the planter lives as long as this."""

    def __init__(self, path, report, keep):
        self.output, self.input, self.end = machine.there.planter(path)
        self.plants = {}
        self.skipped = {}
        self.facts = {}
        self.keep = keep and open(keep, "wb")
        self.listen()
        if self.keep:
            self.keep.close()
            self.keep = None
        for name, why in self.skipped.items():
            report.skip(name, why)

    def listen(self):
        for line in self.output:
            if self.keep:
                self.keep.write(line)
            said = json.loads(line)
            if "name" in said:
                self.plants[said["name"]] = Plant(said)
            elif "skip" in said:
                self.skipped[said["skip"]] = said["why"]
            elif "planter" in said:
                self.facts = said
            elif "ready" in said:
                return
        raise SystemExit("Bail out! the planter ended early")

    def again(self):
        """Makes everything true again and reads all words anew."""
        self.input.write(b"again\n")
        self.input.flush()
        self.listen()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.end()


def doubts(plant):
    """Where what is said of a plant and the kernel's words differ."""
    e = plant.expect
    wrong = []
    flags, pagemap = plant.word("kpageflags"), plant.word("pagemap")
    if flags is not None:
        flags = of_folio(flags, plant.word("head_kpageflags"))
        names = {name for name, bit in KPF.items() if flags >> bit & 1}
        names |= set(e.get("flags_unknown", []))
        for name in e.get("flags_set", []):
            if name not in names:
                wrong.append("flag %s is not in %#x" % (name, flags))
        for name in e.get("flags_clear", []):
            # The idle flag may be stale until somebody reads the idle bitmap.
            if name in names and name != "idle" and \
                    name not in e.get("flags_unknown", []):
                wrong.append("flag %s is in %#x" % (name, flags))
    elif e.get("flags_set") and "pfn" in plant.said and plant.pfn is None:
        wrong.append("there is no page")
    if pagemap is not None and not plant.is_io:
        for name, bit in PTE.items():
            is_set = pagemap >> bit & 1
            if name == "swapped":
                is_set = is_set and not pagemap >> 58 & 1 and \
                    not plant.is_poisoned
            if is_set and name in e.get("pte_clear", []):
                wrong.append("%s is in %#x" % (name, pagemap))
            if not is_set and name in e.get("pte_set", []):
                wrong.append("%s is not in %#x" % (name, pagemap))
    pfn = pfn_of(pagemap)
    if pfn is not None and e.get("pfn", pfn) != pfn:
        wrong.append("pfn %#x, but the entry says %#x" % (e["pfn"], pfn))
    cgroup = "head_kpagecgroup" if "head_kpagecgroup" in plant.said else \
        "kpagecgroup"
    for key, word in (("mapcount", "kpagecount"), ("order", "folio_order"),
                      ("memcg_ino", cgroup)):
        if key in e and e[key] != plant.said.get(word):
            wrong.append("%s: %s said, %s read" % (key, e[key],
                                                   plant.said.get(word)))
    if set(e.get("flags_set", []) + e.get("flags_clear", [])) - set(FLAGS):
        wrong.append("a flag has no name")
    return wrong
