# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""scripts/gen-api: the files in the tree are what it writes, and a header that
bindings cannot follow is refused with the line."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOP = os.environ["top_srcdir"]
GEN_API = os.path.join(TOP, "scripts", "gen-api")

HEADER = """\
/* Errors come from this closed list: EINVAL ENOENT ENOMEM. */
#ifndef PAGEDET_H
#define PAGEDET_H

#include <stdint.h>

#define PAGEDET_VERSION_MAJOR 1
#define PAGEDET_VERSION_MINOR 2
#define PAGEDET_VERSION_PATCH 3
#define PAGEDET_ALL ((uint64_t)-1) /* all of them */
#define PAGEDET_LOW(cell) ((unsigned)(cell) & 0xffu)

struct pagedet;

/* What there is. */
enum pagedet_thing {
\tPAGEDET_THING_A = 1,\t/* the first,
\t\t\t\t * in two lines */
\t/* and more */
\tPAGEDET_THING_B = 2
};

/* Words. */
struct pagedet_words {
\tuint64_t size;\t/* of this struct */
\tconst char *const *list; /* [nullable] [len: count]
\t\t\t\t * words */
\tuint64_t count;
\tuint32_t fixed[4];
\tconst uint32_t *more;
\tuint64_t n_more;
};

typedef int pagedet_told_fn(void *user, const char *text);

/**
 * pagedet_make - make one
 * In several
 * lines.
 * @words: [in,nullable] what
 *         it is made of
 * @fn: [in,nullable] told
 * @ret: [out] [owned: pagedet_free] the one
 * Return: 0, or a negative errno.
 * Errors: EINVAL no words; in them
 *         neither; ENOMEM.
 * Since: 1.2
 */
int pagedet_make(const struct pagedet_words *words, pagedet_told_fn *fn,
\t\t struct pagedet **ret);

/**
 * pagedet_again - make another
 * @ret: [out] [owned: pagedet_free]
 * Return: 0, or a negative errno.
 * Errors: as pagedet_make(); ENOENT there is none.
 * Since: 1.2
 */
int pagedet_again(struct pagedet **ret);

/**
 * pagedet_count - count the words
 * @words: [in,out] size is set by the caller; list [borrowed: forever]
 * @ret: [out,nullable] [len: 2] here and
 *       elsewhere
 * Errors: none.
 * Since: 1.2
 */
void pagedet_count(struct pagedet_words *words, uint64_t *ret);

/**
 * pagedet_name - what it is called
 * @pd: [in]
 * Return: the name; never NULL [borrowed: pagedet_free].
 * Errors: none.
 * Since: 1.2
 */
const char *pagedet_name(const struct pagedet *pd);

/**
 * pagedet_free - free it
 * @pd: [in,nullable]
 * Errors: none.
 * Since: 1.2
 */
void pagedet_free(struct pagedet *pd);

#endif
"""

# what is replaced, by what, the line that is named, and the words
REFUSED = [
    ("pagedet_name - what it is called", "what it is called",
     " * what it is called", "one-line summary"),
    ("/**\n * pagedet_name -", "/*\n * pagedet_name -",
     "const char *pagedet_name", "has no /** comment"),
    (" * @fn: [in,nullable] told\n", "", "int pagedet_make",
     "parameter fn is not documented"),
    (" * @fn: [in,nullable] told\n", " * @fn: told\n", "@fn: told",
     "neither [in] nor [out]"),
    (" * @pd: [in]\n", " * @pd: [in]\n * @extra: [in]\n", "@extra",
     "has no parameter extra"),
    (" * @pd: [in]\n", " * @pd: [in] [len: many]\n", "[len: many]",
     "is no parameter"),
    (" * @pd: [in]\n", " * @pd: [in] [lent: many]\n", "[lent: many]",
     "no mark"),
    (" * Return: the name; never NULL [borrowed: pagedet_free].\n", "",
     "const char *pagedet_name", 'no "Return:"'),
    ("never NULL [borrowed: pagedet_free]", "never NULL",
     "Return: the name", "[owned: FUNCTION] or [borrowed: UNTIL]"),
    ("the name; never NULL", "the name", "Return: the name",
     '[nullable] or "never NULL"'),
    ("[borrowed: pagedet_free]", "[borrowed: pagedet_gone]",
     "const char *pagedet_name", "is no public function"),
    ("@ret: [out] [owned: pagedet_free] the one", "@ret: [out] the one",
     "@ret: [out] the one", "the pointer that comes out of ret"),
    ("[owned: pagedet_free] the one", "[owned: pagedet_drop] the one",
     "int pagedet_make", "is no public function"),
    ("@ret: [out] [owned: pagedet_free] the one", "@ret: [in] the one",
     "@ret: [in] the one", "looks like [out]"),
    ("@words: [in,nullable]", "@words: [out,nullable]", "@words",
     "nothing can come out of words"),
    (" * Errors: EINVAL no words; in them\n *         neither; ENOMEM.\n", "",
     "int pagedet_make", 'no "Errors:"'),
    ("EINVAL no words", "EBUSY no words", "Errors: EBUSY",
     "not in the closed list"),
    ("Errors: EINVAL no words; in them", "Errors: no words; in them",
     "Errors: no words", "names no errno"),
    ("as pagedet_make()", "as pagedet_made()", "int pagedet_again",
     "point to pagedet_made()"),
    (" * Since: 1.2\n */\nconst char", " */\nconst char",
     "const char *pagedet_name", 'no "Since:"'),
    (" * Since: 1.2\n */\nconst char", " * Since: soon\n */\nconst char",
     "Since: soon", "is no release"),
    ("PAGEDET_THING_B = 2", "PAGEDET_THING_B", "PAGEDET_THING_B",
     "has no value of its own"),
    ("uint32_t fixed[4];", "unsigned long fixed;", "unsigned long",
     "cannot be bound"),
    ("uint32_t fixed[4];", "uint32_t fixed : 4;", "fixed : 4",
     "cannot be bound"),
    ("[nullable] [len: count]", "[nullable] [len: many]", "*list;",
     "is no member"),
    ("uint64_t count;", "uint64_t count; /* [nullable] */", "[nullable] */",
     "is no pointer"),
    ("[nullable] [len: count]", "[out] [len: count]", "[out] [len: count]",
     "[nullable] and [len: MEMBER] only"),
    ("int pagedet_make(const struct pagedet_words *words,",
     "int pagedet_make(uint64_t words,", "@words: [in,nullable]",
     "is no pointer"),
    ("int pagedet_again(struct pagedet **ret);",
     "int pagedet_again(struct pagedet **ret, ...);", "int pagedet_again",
     "varargs"),
    ("int pagedet_again(struct pagedet **ret);",
     "int pagedet_again(struct pagedet **ret)\n{ return 0; }", "{ return",
     "functions with a body"),
    ("const char *pagedet_name(const struct pagedet *pd);",
     "const char *pagedet_name(struct pagedet_words pd);",
     "const char *pagedet_name(", "by value"),
    ("void pagedet_free(struct pagedet *pd);",
     "void pagedet_free(struct pagedex *pd);", "void pagedet_free",
     "struct pagedex is not declared"),
    ("#include <stdint.h>", "#ifdef WIDE", "#ifdef WIDE",
     "may be conditional"),
    ("((unsigned)(cell) & 0xffu)", "sizeof(cell)", "sizeof(cell)",
     "cannot follow"),
    ("void pagedet_free(struct pagedet *pd);\n\n#endif\n",
     "void pagedet_free(struct pagedet *pd)\n", "void pagedet_free",
     "ends inside a declaration"),
]


def gen_api(*arguments):
    return subprocess.run([sys.executable, GEN_API, *arguments], text=True,
                          capture_output=True, check=False)


class Described(unittest.TestCase):
    """What a small header becomes."""

    @classmethod
    def setUpClass(cls):
        with tempfile.NamedTemporaryFile("w", suffix=".h") as file:
            file.write(HEADER)
            file.flush()
            done = gen_api("--json", "--header", file.name)
            cls.again = gen_api("--json", "--header", file.name)
            cls.python = gen_api("--python", "--header", file.name)
        assert done.returncode == 0, done.stderr
        cls.text = done.stdout
        cls.api = json.loads(done.stdout)
        cls.functions = {f["name"]: f for f in cls.api["functions"]}

    def test_same_twice(self):
        """gen-api writes the same twice"""
        self.assertEqual(self.text, self.again.stdout)

    def test_constants(self):
        """constants, macros and enums have their values and comments"""
        self.assertEqual(self.api["version"], "1.2.3")
        self.assertEqual(self.api["errnos"], ["EINVAL", "ENOENT", "ENOMEM"])
        self.assertEqual(self.api["constants"][-1], {
            "name": "PAGEDET_ALL", "value": 2 ** 64 - 1,
            "comment": "all of them"})
        self.assertEqual(self.api["macros"][0]["params"], ["cell"])
        enum, = self.api["enums"]
        self.assertEqual(enum["comment"], "What there is.")
        self.assertEqual(enum["constants"], [
            {"name": "PAGEDET_THING_A", "value": 1,
             "comment": "the first, in two lines"},
            {"name": "PAGEDET_THING_B", "value": 2, "comment": "",
             "above": "and more"}])

    def test_structs(self):
        """members have type, array length and the member that counts them"""
        struct, = self.api["structs"]
        members = {m["name"]: m for m in struct["members"]}
        self.assertEqual(list(members), ["size", "list", "count", "fixed",
                                         "more", "n_more"])
        self.assertEqual(members["list"], {
            "name": "list", "type": "const char *const *", "base": "char",
            "pointers": 2, "const": True, "nullable": True, "len": "count",
            "comment": "words"})
        self.assertEqual(members["count"]["counts"], "list")
        self.assertEqual(members["fixed"]["array"], 4)
        self.assertEqual(members["more"]["len"], "n_more")
        self.assertNotIn("nullable", members["more"])
        self.assertNotIn("counts", members["size"])
        self.assertEqual(self.api["opaque"], ["pagedet"])
        callback, = self.api["callbacks"]
        self.assertEqual(callback["name"], "pagedet_told_fn")
        self.assertEqual([p["type"] for p in callback["params"]],
                         ["void *", "const char *"])

    def test_functions(self):
        """functions have all that their comments say"""
        make = self.functions["pagedet_make"]
        self.assertEqual(make["summary"], "make one")
        self.assertEqual(make["description"], "In several lines.")
        self.assertEqual(make["since"], "1.2")
        words, told, ret = make["params"]
        self.assertEqual(words["direction"], "in")
        self.assertTrue(words["nullable"])
        self.assertEqual(words["text"], "what it is made of")
        self.assertEqual(told["base"], "pagedet_told_fn")
        self.assertEqual(ret["direction"], "out")
        self.assertEqual(ret["owned"], "pagedet_free")
        self.assertEqual(ret["pointers"], 2)
        self.assertEqual(make["errors"], [
            {"errno": "EINVAL", "cause": "no words; in them neither"},
            {"errno": "ENOMEM", "cause": ""}])
        self.assertNotIn("nullable", ret)
        words, ret = self.functions["pagedet_count"]["params"]
        self.assertEqual((words["direction"], words["borrowed"]),
                         ("inout", "forever"))
        self.assertEqual(ret, {
            "name": "ret", "type": "uint64_t *", "base": "uint64_t",
            "pointers": 1, "const": False, "direction": "out",
            "nullable": True, "len": "2", "text": "here and elsewhere"})
        name = self.functions["pagedet_name"]
        self.assertEqual(name["return"]["borrowed"], "pagedet_free")
        self.assertEqual(name["return"]["text"], "the name; never NULL.")
        self.assertEqual(name["errors"], [])

    def test_errors_of_another(self):
        """errors of another function are spelled out"""
        self.assertEqual(self.functions["pagedet_again"]["errors"], [
            {"errno": "EINVAL", "cause": "no words; in them neither",
             "as": "pagedet_make"},
            {"errno": "ENOMEM", "cause": "", "as": "pagedet_make"},
            {"errno": "ENOENT", "cause": "there is none"}])

    def test_python(self):
        """the Python layer has the same constants and macros"""
        module = {}
        exec(self.python.stdout, module)
        self.assertEqual(module["PAGEDET_ALL"], 2 ** 64 - 1)
        self.assertEqual(module["PAGEDET_LOW"](0x1234), 0x34)
        self.assertEqual(module["PAGEDET_THING_B"], 2)
        self.assertEqual(set(module["FUNCTIONS"]), set(self.functions))


class Tree(unittest.TestCase):
    """The files that are checked in."""

    def test_no_drift(self):
        """bindings/ is what scripts/gen-api makes of the public header"""
        done = gen_api("--check")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_drift_is_seen(self):
        """gen-api --check fails when a comment of the header changes"""
        text = subprocess.run(
            [os.path.join(TOP, "scripts", "whole-header"),
             os.path.join(TOP, "include", "pagedet.h")],
            capture_output=True, text=True, check=True).stdout
        changed = text.replace("- make a handle", "- make one handle")
        self.assertNotEqual(text, changed)
        with tempfile.NamedTemporaryFile("w", suffix=".h") as file:
            file.write(changed)
            file.flush()
            done = gen_api("--check", "--header", file.name)
        self.assertEqual(done.returncode, 1)
        self.assertIn("make one handle", done.stdout)
        self.assertIn("run scripts/gen-api", done.stderr)

    def test_missing_files_are_drift(self):
        """gen-api --check fails when the files are not there"""
        with tempfile.TemporaryDirectory() as empty:
            done = gen_api("--check", "--top", empty, "--header",
                           os.path.join(TOP, "include", "pagedet.h"))
        self.assertEqual(done.returncode, 1)


class Refused(unittest.TestCase):
    """A header that bindings cannot follow."""

    def test_line_of_a_part(self):
        """gen-api names file and line where a part of the header is wrong"""
        start = HEADER.index("/* What there is. */")
        end = HEADER.index("/* Words. */")
        part = ('/* Part of it. */\n#ifndef PAGEDET_H\n#error "no"\n#endif\n'
                + HEADER[start:end])
        head = (HEADER[:start] + '#include "parts/thing.h"\n\n'
                + HEADER[end:])
        bad = part.replace("\tPAGEDET_THING_B = 2", "\tPAGEDET_THING_B = f()")
        self.assertNotEqual(part, bad)
        with tempfile.TemporaryDirectory() as top:
            path = os.path.join(top, "parts", "thing.h")
            os.mkdir(os.path.dirname(path))
            header = os.path.join(top, "whole.h")
            for name, text in ((header, head), (path, part)):
                with open(name, "w") as file:
                    file.write(text)
            done = gen_api("--json", "--header", header)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, "w") as file:
                file.write(bad)
            done = gen_api("--json", "--header", header)
            self.assertEqual(done.returncode, 1)
            line = bad[:bad.index("f()")].count("\n") + 1
            self.assertTrue(done.stderr.startswith("%s:%d: " % (path, line)),
                            done.stderr)
            # and of a line past the part
            with open(path, "w") as file:
                file.write(part)
            with open(header, "w") as file:
                file.write(head.replace("struct pagedet_words {",
                                        "union pagedet_words {"))
            done = gen_api("--json", "--header", header)
            self.assertEqual(done.returncode, 1)
            line = head[:head.index("struct pagedet_words {")].count("\n") + 1
            self.assertTrue(done.stderr.startswith("%s:%d: " % (header, line)),
                            done.stderr)
            os.unlink(path)
            done = gen_api("--json", "--header", header)
            self.assertEqual(done.returncode, 2)
            self.assertIn("parts/thing.h", done.stderr)


def add_refusal(number, old, new, place, words):
    def test(self):
        self.assertIn(old, HEADER)
        text = HEADER.replace(old, new)
        with tempfile.NamedTemporaryFile("w", suffix=".h") as file:
            file.write(text)
            file.flush()
            done = gen_api("--json", "--header", file.name)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn(words, done.stderr)
        self.assertIn(place, HEADER if place not in text else text)
        lines = [n for n, line in enumerate(text.split("\n"), 1)
                 if place in line]
        named = int(done.stderr.split(":")[1])
        self.assertIn(named, lines, done.stderr)
    test.__doc__ = "gen-api refuses, with its line: " + words
    setattr(Refused, "test_%02d" % number, test)


for n, refusal in enumerate(REFUSED):
    add_refusal(n, *refusal)
