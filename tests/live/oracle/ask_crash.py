# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Queries a dump with crash. It gets one list of commands, because it takes
seconds to start. Each command's output goes to a file of its own."""
import os
import re
import subprocess

import peers

COMMANDS = """
kmem -m flags,_refcount,_mapcount,mapping,index,compound_head > pages
kmem -i > totals
kmem -s > slabs
kmem -v > areas
ps > tasks
"""
# The driver bit of page.mapping.
DRIVER = 2


class Crash:
    def __init__(self, dump, vmlinux, scratch):
        self.scratch = scratch
        self.run(dump, vmlinux, COMMANDS)
        # crash finds only some of the tasks. It does not know how 6.1 stores
        # their memory areas.
        self.run(dump, vmlinux, "".join(
            "set %s > task\nfiles > files-%s\n" % (pid, pid)
            for pid in self.tasks()))
        self.addresses = [at for first, last in re.findall(
            r" ([0-9a-f]{16}) - ([0-9a-f]{16}) ", self.read("areas"))
            for at in range(int(first, 16), int(last, 16), 4096)]
        self.inodes = dict(found for pid in self.tasks()
                           for found in self.find_inodes(pid))
        self.run(dump, vmlinux, "".join(
            ["vtop %x > at-%x\n" % (at, at) for at in self.addresses] +
            ["files -p %s > inode-%s\n" % (at, at) for at in self.inodes]))

    def tasks(self):
        return [pid for pid in re.findall(r"^[> ] +(\d+) ",
                                          self.read("tasks"), re.M)
                if pid != "0"]

    def find_inodes(self, pid):
        """(inode, path) of regular files; of those with odd names not."""
        return re.findall(
            r"^ *\d+ \w{16} \w{16} (\w{16}) REG +(/[^\n]*\w)"
            r"(?=\n *\d+ \w{16} |\n*\Z)", self.read("files-" + pid), re.M)

    def run(self, dump, vmlinux, commands):
        with open(os.path.join(self.scratch, "commands"), "w") as f:
            f.write(commands + "quit\n")
        p = subprocess.run(
            [peers.crash(), "-s", "-i", "commands", vmlinux, dump],
            cwd=self.scratch, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        if p.returncode:
            raise OSError("crash: " + p.stdout.decode("utf-8", "replace"))

    def read(self, name):
        with open(os.path.join(self.scratch, name),
                  encoding="utf-8", errors="replace") as f:
            return f.read()

    def pages(self):
        """All of them, in order. Two of the columns touch."""
        found = []
        first = None
        for line in self.read("pages").splitlines()[1:]:
            page, flags, counts, mapping, index, head = line.split()
            page = int(page, 16)
            first = page if first is None else first
            head = int(head)
            found.append({
                "pfn": (page - first) // 64, "word": int(flags, 16),
                "refcount": int(counts[:8], 16),
                "mapcount": int(counts[8:]) + 1, "index": int(index),
                # A page that a driver migrates itself does not use the
                # mapcount.
                "has_count": int(mapping, 16) & 3 != DRIVER,
                "head_pfn": (head - 1 - first) // 64 if head & 1 else None})
        return found

    def total(self, name):
        found = re.search(r"^ *%s +(\d+) " % name, self.read("totals"), re.M)
        return int(found.group(1))

    def slabs(self):
        """How many slabs each cache has. A name may be that of several."""
        found = {}
        for line in self.read("slabs").splitlines()[1:]:
            words = line.split(None, 6)
            if len(words) == 7:
                found[words[6]] = found.get(words[6], 0) + int(words[4])
        return found

    def translations(self):
        """(address, frame or None) of all that vmalloc has mapped."""
        for at in self.addresses:
            found = re.search(r"^%x +([0-9a-f]+) *$" % at,
                              self.read("at-%x" % at), re.M)
            yield at, int(found.group(1), 16) // 4096 if found else None

    def cached(self):
        """For each file its path, and the frames and indexes of its pages."""
        for at, path in self.inodes.items():
            yield path, [(int(physical, 16) // 4096, int(index, 16))
                         for physical, index in re.findall(
                             r"^\w{16} +(\w+) \w{16} +(\w+) +\d+ ",
                             self.read("inode-" + at), re.M)]
