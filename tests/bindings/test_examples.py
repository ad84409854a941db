# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The examples in Python print what C prints."""
import json
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


def run(*command):
    environment = dict(
        os.environ, PAGEDET_LIBRARY=tree.library(),
        PYTHONPATH=os.path.join(tree.TOP, "bindings", "python"),
        PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run(command, capture_output=True, text=True,
                          env=environment, check=False)


def example(name, *arguments):
    return run(sys.executable, os.path.join(tree.EXAMPLES, name), *arguments)


def compiled(name, place):
    """A program of this directory or of the examples, linked with the library
    that is tested."""
    program = os.path.join(place, os.path.basename(name))
    library = tree.library()
    subprocess.run(
        tree.cc() + ["-std=gnu11", "-D_GNU_SOURCE",
                     "-I" + os.path.join(tree.TOP, "include"), "-o", program,
                     os.path.join(tree.TOP, name + ".c"), library,
                     "-Wl,-rpath," + os.path.dirname(library)], check=True)
    return program


class Twins(unittest.TestCase):
    def test_memory_summary(self):
        """memory_summary.py prints the same JSON as C, byte by byte"""
        with tempfile.TemporaryDirectory() as place:
            there = run(compiled("tests/bindings/summary", place), lab.root)
        here = example("memory_summary.py", lab.root)
        self.assertEqual((there.returncode, there.stderr), (0, ""))
        self.assertEqual((here.returncode, here.stderr), (0, ""))
        self.assertEqual(here.stdout, there.stdout)
        objects = [json.loads(line) for line in here.stdout.splitlines()]
        self.assertEqual(
            sum(one["pages"] for one in objects[:-1]),
            objects[-1]["total"]["pages"])
        self.assertIn("anon", [one.get("kind") for one in objects])

    def test_command(self):
        """memory_summary.py prints what the command prints"""
        command = os.path.join(tree.BUILD, "examples", "pagedet", "pagedet")
        if not os.path.exists(command):
            self.skipTest("there is no " + command)
        there = run(command, "--root", lab.root, "scan", "--by", "kind",
                    "--json")
        here = example("memory_summary.py", lab.root)
        self.assertEqual(here.stdout, there.stdout)

    def test_quickstart(self):
        """quickstart.py prints the fields that quickstart prints"""
        with tempfile.TemporaryDirectory() as place:
            there = run(compiled("examples/quickstart", place))
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

    def test_failure(self):
        """an example that cannot look says why and fails"""
        here = example("memory_summary.py", lab.root + "/none")
        self.assertEqual(here.returncode, 1)
        self.assertIn("/none", here.stderr)
        self.assertNotIn("Traceback", here.stderr)
