# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""A directory that boot/dump made, with the functions of truth/machine.py: a
machine at one moment, and its planter's output."""
import glob
import json
import os
import subprocess
import time


class Saved:
    with_owners = False

    def __init__(self, top, form):
        """@form: elf, kdump, the path of another form of the same dump, or
        root: not the dump, but the files of /proc and /sys beside it"""
        self.top = top
        self.form = form
        self.how = ["--root", top] if form == "root" else [
            "--from", form if "/" in form else
            os.path.join(top, "dump." + form)]
        with open(os.path.join(top, "info.json")) as f:
            self.info = json.load(f)
        self.cgroups = {line["path"]: line["inode"]
                        for line in self.lines("cgroups.jsonl")}

    def lines(self, name):
        with open(os.path.join(self.top, name)) as f:
            return list(map(json.loads, f))

    def place(self, path):
        return os.path.join(self.top, path.lstrip("/"))

    def read(self, path):
        try:
            with open(self.place(path), "rb") as f:
                return f.read()
        except OSError:
            return None

    def pread(self, *places):
        return [self.pread_one(*place) for place in places]

    def pread_one(self, path, offset, size):
        try:
            with open(self.place(path), "rb") as f:
                f.seek(offset)
                return f.read(size)
        except OSError:
            return None

    def glob(self, pattern):
        return [path[len(self.top):] for path in
                glob.glob(self.place(pattern))]

    def inode(self, path):
        """The saved file has another one; of cgroups they are known."""
        top = "/sys/fs/cgroup"
        return self.cgroups.get(path[len(top):] or "/") \
            if path.startswith(top) else None

    def run(self, argv, timeout):
        p = subprocess.run(argv[:1] + self.how + argv[1:],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=timeout)
        return p.stdout, p.stderr, p.returncode

    def time_ns(self):
        return time.time_ns()

    def release(self):
        return self.info["release"]

    def arch(self):
        return self.info["arch"]

    def is_live(self):
        return False

    def has_kernel(self):
        return self.form != "root"

    def names_data(self):
        return b" init_task\n" in self.read("/proc/kallsyms")

    def source(self):
        return "procfs" if self.form == "root" else "vmcore"

    def planter(self, path):
        port = Said(self.lines("truth.jsonl"))
        return port, port, lambda: None


class Said:
    """The planter, who says the same whenever asked: the words of the moment
    of the dump, and nothing of what changed in it."""

    def __init__(self, lines):
        self.said = []
        for line in lines:
            if not line.get("stable_across_dump", True):
                line = {"skip": line["name"],
                        "why": "changed while it was saved"}
            self.said.append(json.dumps(line).encode() + b"\n")
        self.said.append(b'{"ready": 0}\n')

    def __iter__(self):
        return iter(self.said)

    def write(self, request):
        pass

    def flush(self):
        pass
