#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs log snapshot
"""Commands that are suggested can be pasted into a shell: whatever files,
tasks, cgroups and filters are called, the shell runs pagedet and nothing else,
and pagedet gets the names as they are. The suggestion asks the same source as
the command that failed."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

TOP = os.environ["top_srcdir"]
BUILD = os.environ["top_builddir"]
PAGEDET = os.environ.get("PAGEDET", f"{BUILD}/tools/pagedet/pagedet")
# A shell that takes them for code runs the program "ran".
NAMES = ["plain", "a b", "a'b", "a$(ran)", "a`ran`", "a;ran", "a|ran", "a&ran",
         "a'$(ran)'b", "a';ran;'b", "a\"$(ran)\"b", "a\\$(ran)", "#a ~b*",
         "a PFN;ran", "a\nran", "a\x1b[2J", "-x;ran"]
WORST = ["a'$(ran)'b"]
# What stands for a name that cannot be shown, or that would be an option.
INSTEAD = {"FILE", "PATH", "NAME", "PID", "DIR", "SOURCE",
           "EXPR and EXPR", "LIST"}
# Commands that ask no source.
NO_SOURCE = {"help", "kmem", "owners"}
FAULT = ("[   12.345678] x[55]: segfault at 0 ip 0000000000401000 sp "
         "00007ffd1c0f0 error 4 in x[400000+1000] likely on CPU 0 (core 0, "
         "socket 0)\n[   12.345700] Code: 00 00 <48> 8b 00\n")

count = 0
failed = False


def result(good, name, *why):
    global count, failed
    count += 1
    shown = name.encode("unicode_escape").decode().replace("#", "\\#")
    print(f"{'ok' if good else 'not ok'} {count} - {shown}", flush=True)
    if not good:
        failed = True
        for line in why:
            print("# " + str(line).replace("\n", "\n# "))


def unsafe(name):
    return any(c < " " or c == "\x7f" for c in name)


# --- the shell ---

class Shell:
    """Knows two programs: both only write down how they were called."""

    def __init__(self, folder):
        self.bin = os.path.join(folder, "bin")
        self.ran = os.path.join(folder, "ran")
        self.calls = os.path.join(folder, "calls")
        os.mkdir(self.bin)
        # Without a program of coreutils: PATH has only these.
        self.add("ran", f"echo ran > '{self.ran}'")
        for name in ("pagedet", "xz", "zstd", "gunzip"):
            self.add(name, f"{{ printf 'CALL\\0'; for a; do printf '%s\\0' "
                           f"\"$a\"; done; }} >> '{self.calls}'")

    def add(self, name, text):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, stat.S_IRWXU)

    def paste(self, *texts):
        """Returns the arguments of each call, and whether nothing else ran."""
        for path in (self.ran, self.calls):
            if os.path.exists(path):
                os.unlink(path)
        empty = os.path.join(self.bin, "..", "empty")
        os.makedirs(empty, exist_ok=True)
        # A surrogate is a byte of a name.
        subprocess.run(["/bin/sh", "-c", 'for a; do (eval "$a"); done', "sh",
                        *(text.encode("utf-8", "surrogateescape")
                          for text in texts)],
                       env={"PATH": self.bin}, cwd=empty, check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        calls = []
        if os.path.exists(self.calls):
            with open(self.calls, "rb") as f:
                for call in f.read().split(b"CALL\0")[1:]:
                    calls.append([a.decode("utf-8", "surrogateescape")
                                  for a in call.split(b"\0")[:-1]])
        # It may have written files as well.
        return calls, not os.path.exists(self.ran) and not os.listdir(empty)


def end_of(text, closing):
    """The end of the command that @text begins with, as people see it."""
    quoted = escaped = False
    for i, c in enumerate(text):
        if c == "'" and closing == "'":
            return i
        if escaped or (c == "\\" and not quoted):
            escaped = not escaped
        elif c == "'":
            quoted = not quoted
        elif not quoted and (c in ";)\n" or text[i:i + 2] in (", ", " (")):
            return i
    return len(text)


COMMAND = re.compile(r"(?:(?<=: )|(?<=['(]))"
                     r"(?:(?:pagedet|xz|zstd|gunzip) )")


def commands(text):
    """The commands in a text: each with the rest of its line."""
    at = 0
    while True:
        found = COMMAND.search(text, at)
        if not found:
            return
        before = text[found.start() - 1]
        rest = text[found.start():]
        end = end_of(rest, before if before == "'" else "")
        yield rest[:end], text[found.start() - 1:].split("\n")[0]
        at = found.start() + max(end, 1)


# --- the command ---

def ask(arguments, **more):
    """Returns what it says, on both outputs."""
    said = subprocess.run([PAGEDET, *arguments], check=False, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **more)
    if said.returncode < 0:
        result(False, f"{arguments}: ends by signal {-said.returncode}")
    return (said.stderr + b"\n" + said.stdout).decode("utf-8",
                                                      "surrogateescape")


def options_of(words):
    """The options that name the source, with their values."""
    kept = ("--from", "--root", "--backend", "--vmlinux", "--btf",
            "--vmcoreinfo")
    return [(words[i], words[i + 1]) for i in range(len(words) - 1)
            if words[i] in kept]


def is_as(call, wanted, name):
    """Whether a call has these options, or what stands for their values."""
    got = options_of(call)
    return len(got) == len(wanted) and all(
        o == w and (v == x or (unsafe(x) and v in INSTEAD))
        for (o, v), (w, x) in zip(got, wanted))


class Case:
    """A mistake. @has: the name must be an argument of some suggestion."""

    def __init__(self, words, has=True, same=True, least=1):
        self.words, self.has, self.same = words, has, same
        self.least = least


def check(shell, case, name):
    said = ask(case.words)
    what = "pagedet " + " ".join(case.words)
    wanted = options_of(case.words)
    seen, has = 0, False
    for command, rest in commands(said):
        calls, alone = shell.paste(command)
        if len(calls) != 1 or not alone:
            result(False, f"{what}: one command", said, command, calls)
            return
        if not shell.paste(rest, rest[1:], command + "'")[1]:
            result(False, f"{what}: no code", said, rest)
            return
        if calls[0][:1] == ["help"]:
            continue
        seen += 1
        has |= any(a in (name, "./" + name) or
                   (name in a and a.startswith("--")) or
                   ((unsafe(name) or name.startswith("-")) and a in INSTEAD)
                   for a in calls[0])
        if case.same and calls[0][0] not in NO_SOURCE and \
                not is_as(calls[0], wanted, name):
            result(False, f"{what}: the same source", said, calls)
            return
    result(seen >= case.least and (has or not case.has), what, said)


# --- the mistakes ---

def of_source(option, name, page):
    """Mistakes in questions to a source that @name names."""
    def to(*words, **more):
        return Case([option, name, *words], **more)
    lives = option == "--root"  # a snapshot has no tasks, and any field
    some = [
        to(),
        to("virt", "12", "400000-401000"),
        to("explain", page, "--why", "free"),
        to("scan", "--pid", "17"),
    ]
    # How a name is quoted does not depend on the mistake.
    return some if name not in WORST else some + [
        to("pid"),
        to("leaks"),
        to("owner"),
        to("top", "12"),
        to("top", "--by", "cgroup"),
        to("top", "memory"),
        to("top", "rss"),
        to("tasks", "other"),
        to("tasks", "--where", "pid=1"),
        to("task", "othr", least=0, has=False),
        to("task", "nobody-here", least=lives, has=lives),
        to("task", "12", "heap"),
        to("page", "ffff888000000000"),
        to("page", "1-5"),
        to("page", "abc"),
        to("scan", "anon"),
        to("scan", "17"),
        to("scan", "-p", "17"),
        to("scan", "--where", "swapped", least=lives, has=lives),
        to("scan", "--by", "vaddr", least=lives, has=lives),
        to("scan", "--where", "maps_pid=1", least=0, has=False),
        to("map", "--json"),
        to("check", "dirty", "x"),
        to("mappers", "12", least=0, has=False),
        to("cgroup"),
        to("explain", page, "--why", "migrate", least=0, has=False),
        to("explain", page, "--why", "leak", least=0, has=False),
        to("explain", page, "--why", "reclaim", "--json", "--alternatives",
           least=0, has=False),
        to("explain", page, "12345678abcd"),
        # The option may stand behind the mistake.
        Case(["scan", "--pid", "17", option, name]),
        Case(["scan", "--pid", "17", f"{option}={name}"], same=False),
    ]


def of_argument(name):
    """Mistakes with a name as an argument."""
    return [
        Case(["tasks", "--", name]),
        Case(["virt", "--", name, "400000-401000"]),
        Case(["file", "--", name, "1-5"]),
        Case(["page", "--where", name, "--where", name, "1"], least=0,
             has=False),
    ]


def of_file(name):
    """A file that is named in place of a command."""
    return [Case(["--", name], same=False), Case(["scan", "--", name])]


def main():
    folder = tempfile.mkdtemp(prefix="pagedet-paste.")
    try:
        shell = Shell(folder)
        here = os.path.join(folder, "here")
        os.mkdir(here)
        os.chdir(here)
        machine = os.path.join(folder, "machine")
        subprocess.run([f"{BUILD}/tests/fixtures/mkproc",
                        f"{TOP}/tests/golden/cli-machine.scenario", machine],
                       check=True)
        page = str(0x100)
        for name in NAMES:
            if not name.startswith("-"):
                os.rename(machine, name)
                for case in of_source("--root", name, page):
                    check(shell, case, name)
                named(shell, name)
                os.rename(name, machine)
            for case in of_argument(name):
                check(shell, case, name)
            files(shell, machine, name, page)
        print(f"1..{count}")
    finally:
        shutil.rmtree(folder)
    return failed


def rename_task(root, old, new):
    """Calls task 13 by another name, of at most 15 bytes."""
    for folder in ("proc/13", "proc/13/task/13"):
        for file in ("comm", "stat", "status"):
            path = os.path.join(root, folder, file)
            if not os.path.exists(path):
                continue
            with open(path, "rb") as f:
                text = f.read()
            with open(path, "wb") as f:
                f.write(text.replace(old.encode(), new.encode()))


def named(shell, name):
    """A task or a cgroup of that name, which is mistyped."""
    rename_task(name, "other", name)
    for near in (name, name + "x"):
        check(shell, Case(["--root", name, "--", near], least=0, has=False),
              name)
    rename_task(name, name, "other")
    for near in (name + "x", name):
        base = os.path.join(name, "sys/fs/cgroup/a")
        os.makedirs(os.path.join(base, name), exist_ok=True)
        for path in (os.path.join(name, "sys/fs/cgroup"), base,
                     os.path.join(base, name)):
            with open(os.path.join(path, "cgroup.procs"), "w",
                      encoding="ascii"):
                pass
        check(shell, Case(["--root", name, "cgroup", "/a/" + near],
                          least=0, has=False), name)
        check(shell, Case(["--root", name, "task", near], least=0,
                          has=False), name)
        check(shell, Case(["--root", name, "--", near], least=0, has=False),
              name)


def files(shell, machine, name, page):
    """Files of that name: a snapshot, a log, a compressed dump."""
    path = "./" + name
    ask(["--root", machine, "snapshot", "saved"])
    os.rename("saved", path)
    for case in of_file(name):
        check(shell, case, name)
    if not name.startswith("-"):
        for case in of_source("--from", name, page):
            check(shell, case, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(FAULT)
    for case in of_file(name):
        check(shell, case, name)
    check(shell, Case(["from-log", "--", name]), name)
    check(shell, Case(["explain", "--file", name], least=0, has=False), name)
    os.unlink(path)


sys.exit(main())
