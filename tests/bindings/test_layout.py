# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The generated ctypes layer against the C compiler: sizes, offsets, values."""
import ctypes
import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest

TOP = os.environ["top_srcdir"]
INCLUDE = os.path.join(TOP, "include")


def setUpModule():
    global api, description
    # the generated file alone: it needs no library
    module = {}
    path = os.path.join(TOP, "bindings", "python", "pagedet", "_api.py")
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), module)
    api = module
    with open(os.path.join(TOP, "bindings", "pagedet-api.json")) as file:
        description = json.load(file)


def probe(lines):
    """What a C program prints that has these statements."""
    text = ("#include <stdio.h>\n#include <stddef.h>\n"
            "#include <pagedet.h>\nint main(void)\n{\n%s\nreturn 0;\n}\n"
            % "\n".join(lines))
    with tempfile.TemporaryDirectory() as place:
        program = os.path.join(place, "probe")
        subprocess.run(
            shlex.split(os.environ.get("CC", "cc")) +
            ["-x", "c", "-", "-I" + INCLUDE, "-o", program],
            input=text, text=True, check=True)
        return subprocess.run([program], capture_output=True, text=True,
                              check=True).stdout.splitlines()


class Layout(unittest.TestCase):
    def test_structs(self):
        """every struct has the size and offsets that C gives it"""
        lines, expected = [], []
        for struct in description["structs"]:
            name = struct["name"]
            here = api[name]
            lines.append('printf("%s %%zu\\n", sizeof(struct %s));'
                         % (name, name))
            expected.append("%s %d" % (name, ctypes.sizeof(here)))
            for member in struct["members"]:
                inside = member["name"]
                lines.append(
                    'printf("%s.%s %%zu %%zu\\n", offsetof(struct %s, %s), '
                    'sizeof(((struct %s *)0)->%s));'
                    % (name, inside, name, inside, name, inside))
                place = getattr(here, inside)
                expected.append("%s.%s %d %d" % (name, inside, place.offset,
                                                 place.size))
        self.assertGreater(len(expected), 100)
        self.assertEqual(probe(lines), expected)

    def test_constants(self):
        """every constant has the value that C gives it"""
        names = [entry["name"] for entry in description["constants"]]
        for enum in description["enums"]:
            names += [entry["name"] for entry in enum["constants"]]
        lines = ['printf("%s %%llu\\n", (unsigned long long)%s);'
                 % (name, name) for name in names]
        self.assertEqual(probe(lines),
                         ["%s %d" % (name, api[name]) for name in names])
        self.assertGreater(len(names), 200)

    def test_macros(self):
        """every macro with parameters computes what C computes"""
        lines, expected = [], []
        for macro in description["macros"]:
            if macro["params"] is None:
                continue
            for value in (0, 1, 7, 31):
                lines.append('printf("%s %%llu\\n", (unsigned long long)'
                             '%s(%d));' % (macro["name"], macro["name"],
                                           value))
                expected.append("%s %d" % (macro["name"],
                                           api[macro["name"]](value)))
        self.assertEqual(probe(lines), expected)
        self.assertGreater(len(expected), 8)

    def test_all_functions(self):
        """every function of the header is there"""
        found = subprocess.run(
            shlex.split(os.environ.get("CC", "cc")) +
            ["-E", "-P", "-x", "c", os.path.join(INCLUDE, "pagedet.h")],
            capture_output=True, text=True, check=True).stdout
        declared = set(re.findall(r"\b(pagedet_\w+)\s*\(", found)) - {
            entry["name"] for entry in description["callbacks"]}
        self.assertEqual(declared, set(api["FUNCTIONS"]))
