# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The machine whose pages are examined: this one, unless @there is set to
another object with the same functions."""
import glob
import os
import platform
import subprocess
import time


class Here:
    asked = "procfs"
    # True if page_owner is queried as well.
    with_owners = False

    def read(self, path):
        """A whole file, or None."""
        try:
            with open(path, "rb") as f:
                return f.read()
        except OSError:
            return None

    def pread(self, *places):
        """For each (path, offset, size) the bytes, or None."""
        return [self.pread_one(*place) for place in places]

    @staticmethod
    def pread_one(path, offset, size):
        try:
            fd = os.open(path, os.O_RDONLY)
        except OSError:
            return None
        try:
            return os.pread(fd, size, offset)
        except OSError:
            return None
        finally:
            os.close(fd)

    def glob(self, pattern):
        return glob.glob(pattern)

    def inode(self, path):
        """The number, or None."""
        try:
            return os.stat(path).st_ino
        except OSError:
            return None

    def run(self, argv, timeout):
        """(stdout, stderr, exit status)"""
        p = subprocess.run(argv, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=timeout)
        return p.stdout, p.stderr, p.returncode

    def time_ns(self):
        return time.time_ns()

    def release(self):
        return platform.release()

    def arch(self):
        return platform.machine()

    def is_live(self):
        """Whether the kernel can be asked by calls."""
        return True

    def has_kernel(self):
        """Whether there is more than some files of /proc and /sys."""
        return True

    def names_data(self):
        """Whether the kernel says where its data are."""
        return b" init_task\n" in self.read("/proc/kallsyms")

    def source(self):
        """Who answers what claims.tsv expects of procfs."""
        return self.asked

    def planter(self, path):
        """Starts it; a file to read its lines from, one to write to, and a
        function that ends it."""
        p = subprocess.Popen([path], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)

        def end():
            p.stdin.close()
            p.wait()
        return p.stdout, p.stdin, end


there = Here()
