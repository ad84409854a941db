# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The examples in Python print what C prints."""
import ctypes
import json
import mmap
import os
import subprocess
import sys
import tempfile
import unittest

import tree


def setUpModule():
    global lab
    lab = tree.Tree(path=os.path.join(tree.FIXTURES, "6.12.117-lab",
                                      "scenario"))


def tearDownModule():
    lab.close()


def run(*command, stdout=subprocess.PIPE):
    environment = dict(
        os.environ, PAGEDET_LIBRARY=tree.library(),
        PYTHONPATH=os.path.join(tree.TOP, "bindings", "python"),
        PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE,
                          text=True, env=environment, check=False)


def example(name, *arguments):
    return run(sys.executable, os.path.join(tree.EXAMPLES, name), *arguments)


def compiled(name, place):
    """An example in C, linked with the library that is tested."""
    program = os.path.join(place, name)
    library = tree.library()
    subprocess.run(
        tree.cc() + ["-std=gnu11", "-D_GNU_SOURCE",
                     "-I" + os.path.join(tree.TOP, "include"), "-o", program,
                     os.path.join(tree.TOP, "examples", name + ".c"), library,
                     "-Wl,-rpath," + os.path.dirname(library)], check=True)
    return program


class Twins(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.summary = compiled("memory-summary", cls.place.name)
        cls.quickstart = compiled("quickstart", cls.place.name)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def test_memory_summary(self):
        """memory_summary.py prints the same JSON as C, byte by byte"""
        there = run(self.summary, "--json", lab.root)
        here = example("memory_summary.py", lab.root)
        self.assertEqual((there.returncode, there.stderr), (0, ""))
        self.assertEqual((here.returncode, here.stderr), (0, ""))
        self.assertEqual(here.stdout, there.stdout)
        objects = [json.loads(line) for line in here.stdout.splitlines()]
        self.assertEqual(
            sum(one["pages"] for one in objects[:-1]),
            objects[-1]["total"]["pages"])
        self.assertIn("anon", [one.get("kind") for one in objects])

    def test_table(self):
        """the table of memory-summary has the counts of its JSON"""
        table = run(self.summary, lab.root)
        self.assertEqual((table.returncode, table.stderr), (0, ""))
        *rows, last = [line.split() for line in table.stdout.splitlines()]
        self.assertEqual(rows[0], ["kind", "pages", "MiB"])
        self.assertEqual(last[1:4], ["pages", "looked", "at,"])
        said = [json.loads(line) for line in
                run(self.summary, "--json", lab.root).stdout.splitlines()]
        self.assertEqual(
            rows[1:], [[one["kind"], str(one["pages"]),
                        "%.1f" % (one["bytes"] / 2 ** 20)]
                       for one in said[:-1]])

    def test_command(self):
        """memory_summary.py prints what the command prints"""
        command = os.path.join(tree.BUILD, "tools/pagedet/pagedet")
        if not os.path.exists(command):
            self.skipTest("there is no " + command)
        there = run(command, "--root", lab.root, "scan", "--by", "kind",
                    "--json")
        here = example("memory_summary.py", lab.root)
        self.assertEqual(here.stdout, there.stdout)

    def test_quickstart(self):
        """quickstart.py prints the fields that quickstart prints"""
        there = run(self.quickstart)
        here = example("quickstart.py")
        self.assertEqual(here.returncode, there.returncode,
                         here.stderr + there.stdout)
        if there.returncode:
            self.skipTest("not on this kernel: " + there.stdout)
        c, python = [self.fields(text.stdout) for text in (there, here)]
        self.assertEqual(c, python)

    def fields(self, text):
        """The fields of the line of JSON, and whether a pfn came before."""
        *before, last = text.splitlines()
        said = json.loads(last)
        if before:
            self.assertEqual(before, ["pfn %d" % said["pfn"]])
        names = set(said) | set(said.get("missing", {}))
        return len(before), {name for name in names - {"missing"}
                             if not name.endswith("_unknown")}

    def test_same_page(self):
        """quickstart.py prints the same JSON as quickstart for one page"""
        page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE |
                         mmap.MAP_ANONYMOUS)
        page[0] = 1
        place = [str(os.getpid()), hex(ctypes.addressof(
            ctypes.c_char.from_buffer(page)))]
        for _ in range(50):
            there = run(self.quickstart, *place)
            if there.returncode:
                self.skipTest("not on this kernel: " + there.stdout)
            here = example("quickstart.py", *place)
            # the kernel may move the page or age it at any time: what is
            # to compare is what C says before and after
            if run(self.quickstart, *place).stdout == there.stdout:
                break
        else:
            self.skipTest("the page does not keep still")
        self.assertEqual((here.returncode, here.stderr), (0, ""))
        self.assertEqual(here.stdout, there.stdout)
        said = json.loads(here.stdout.splitlines()[-1])
        self.assertEqual((said["pid"], said["vaddr"]),
                         (os.getpid(), place[1]))
        self.assertIn("present", said["pte"])

    def test_usage(self):
        """memory-summary refuses what it does not know"""
        for arguments in (("-x",), ("--json", "-x"), ("--json", "/", "/")):
            done = run(self.summary, *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("usage:", done.stderr)

    def test_failure(self):
        """an example that cannot look says why and fails"""
        for done in (example("memory_summary.py", lab.root + "/none"),
                     run(self.summary, "--json", lab.root + "/none")):
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("/none", done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_full(self):
        """a disk that is full is not a success"""
        with open("/dev/full", "w") as full:
            for command in (
                    (self.summary, "--json", lab.root),
                    (sys.executable, os.path.join(
                        tree.EXAMPLES, "memory_summary.py"), lab.root)):
                done = run(*command, stdout=full)
                self.assertEqual(done.returncode, 1, command)
                self.assertIn("Input/output error", done.stderr)
                self.assertNotIn("Traceback", done.stderr)
