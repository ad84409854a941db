# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""A guest with the functions of truth/machine.py, so that the same tests can
examine its pages from outside."""
import functools
import os


class There:
    asked = "procfs"
    with_owners = False

    def __init__(self, guest, programs):
        """@programs: those of here that the guest has in its /bin"""
        self.guest = guest
        self.programs = {path: "/bin/" + os.path.basename(path)
                         for path in programs}

    def read(self, path):
        try:
            return self.guest.read(path)
        except OSError:
            return None

    def pread(self, *places):
        return self.guest.pread(*places)

    def glob(self, pattern):
        return self.guest.glob(pattern)

    def inode(self, path):
        out, _, how = self.guest.run("stat", "-c", "%i", path)
        return int(out) if how == "exit 0" else None

    def run(self, argv, timeout):
        out, err, how = self.guest.run(
            self.programs.get(argv[0], argv[0]), *argv[1:])
        how, number = how.split()
        return out, err, int(number) if how == "exit" else -int(number)

    def time_ns(self):
        return self.guest.time_ns()

    @functools.lru_cache(None)
    def release(self):
        return self.guest.must_run("uname", "-r").decode().strip()

    def arch(self):
        return self.guest.arch

    def is_live(self):
        return True

    def has_kernel(self):
        return True

    @functools.lru_cache(None)
    def names_data(self):
        return b" init_task\n" in self.read("/proc/kallsyms")

    def source(self):
        return self.asked

    def planter(self, path):
        port = self.guest.plant()
        return port, port, lambda: None
