#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: image
"""Tests dumps of a kernel with endless lists. Every command must end at most one
second after its deadline. It may use only a little more memory than for the
unchanged dump. See endless.c. Prints TAP.

usage: endless.py [WHAT...]     WHAT of those that endless prints; default: all
"""
import concurrent.futures
import json
import lzma
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.environ.get("top_srcdir", ".")
BUILD = os.environ.get("top_builddir", ".")
PAGEDET = os.path.join(BUILD, "tools/pagedet/pagedet")
ENDLESS = os.path.join(BUILD, "tests/dumps/endless")
FIXTURE = os.path.join(TOP, "tests/fixtures/vmcore/qemu.elf.xz")
TRACE = os.path.join(TOP, "tests/fixtures/traces/raw-6.12-x86_64")
# A report about a page of the dump.
LOG = '''[    1.000000] page: refcount:1 mapcount:0 mapping:0000000000000000 \
index:0x0 pfn:0x5db0
[    1.000000] flags: 0x0(node=0|zone=0)
[    1.000000] page dumped because: test
'''

SANITIZED = bool(os.environ.get("PDET_SANITIZE"))
DEADLINE = 1
AFTER = 1 if not SANITIZED else 20      # seconds
MORE = 64 << 10                         # KiB
STATUSES = (0, 1, 2, 65, 69)

# Arguments of each command, without its name. DUMP, OUT, SAVED, TRACE and LOG
# are files. Commands of two files take no --from.
# Addresses belong to the dumped machine: see tests/fixtures/README.md.
ARGUMENTS = {
    "page": ["23984 --fields everything", "5120 1 --fields user_maps"],
    "phys": ["1400000+65536 --fields all"],
    "virt": ["74 [heap]", "mkpages", "74 0+80000000 --fields all"],
    "task": ["74 --fields everything", "1 --by kind,vma_name", "mkpages",
             "74 --stacks", "74 --stacks=both",
             "74 --stacks=both --folded"],
    "file": ["/mnt/ext4/clean.bin", "/mnt/tmpfs/tmpfile-a --by kind"],
    "tree": ["/ --fields path,pfn", "/ --by path"],
    "mount": ["/ --fields all", "/mnt/ext4 --summary"],
    "block": ["7:0 0+100"],
    "cgroup": ["/", "/batch.slice/job-17.scope --summary"],
    "kaddr": ["linux_banner+0 --fields all", "ffffc90000000000",
              "ffffffffc0000000 --fields all", "init_task --fields kernel_maps",
              "ffff922740141000 ffff922740141400 --fields object,object_state"],
    "from-log": ["", "LOG --now --details"],
    "scan": ["--fields everything", "--by kind,memcg_path", "--by path",
             "--where user_maps>1 --by user_maps",
             "--by kernel_maps", "--by slab_cache",
             "--runs --fields kind,user_maps"],
    "top": ["process", "cgroup", "file", "slab", "kind"],
    "mappers": ["23984", "5120+64 --stacks", "/mnt/ext4/clean.bin"],
    "stack": ["23984+32"],
    "explain": ["page 23984", "page 23984 --why pinned",
                "page 23984 --why free,migrate,reclaim,charge,poison,leak",
                "/mnt/ext4/clean.bin", "mismatch 74 400000"],
    "check": ["clean /mnt/ext4/clean.bin", "committed /mnt/ext4/clean.bin"],
    "snapshot": ["OUT scan --fields all", "OUT task 74",
                 "OUT tree / --fields path,pfn"],
    "diff": ["SAVED DUMP", "DUMP DUMP"],
    "compare": ["74 400000+65536 --with DUMP 74 400000"],
    "owners": ["", "--mixed"],
    "kmem": ["report DUMP", "live TRACE --verify", "report TRACE --by module"],
    "kmap": ["report DUMP"],
    "map": ["-o OUT", "SAVED DUMP -o OUT"],
    "tasks": ["", "--json"],
    "dmesg": ["", "--json"],
    "doctor": [""],
}


class Results:
    def __init__(self):
        self.number = self.failed = 0
        self.lock = threading.Lock()

    def __call__(self, name, wrong):
        with self.lock:
            self.number += 1
            self.failed += bool(wrong)
            print("%sok %d - %s" % ("not " if wrong else "", self.number,
                                    name))
            for words in wrong[:20]:
                print("# " + words)
            sys.stdout.flush()


class Answer:
    """What a command said, and what it took."""

    def __init__(self, words, limit):
        start = time.monotonic()
        with tempfile.TemporaryFile() as said:
            self.status = subprocess.run(
                [ENDLESS, "--", "timeout", str(limit), PAGEDET] + words,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=said).returncode
            self.seconds = time.monotonic() - start
            said.seek(0)
            self.said, _, kib = said.read().decode(
                errors="replace").strip().rpartition("\n")
            self.kib = int(kib)


def commands():
    """Those that the command itself lists."""
    text = subprocess.run([PAGEDET, "help"], stdout=subprocess.PIPE,
                          check=True).stdout.decode()
    text = text[text.index("\nCommands\n"):text.index("\nOptions")]
    return re.findall(r"^  ([a-z][a-z-]*) ", text, re.M)


class Asking:
    def __init__(self, scratch, dump, saved):
        self.scratch, self.dump, self.saved = scratch, dump, saved
        self.log = os.path.join(scratch, "log")
        with open(self.log, "w") as f:
            f.write(LOG)

    def words(self, command, arguments, who):
        files = {"DUMP": self.dump, "SAVED": self.saved, "LOG": self.log,
                 "TRACE": TRACE,
                 "OUT": os.path.join(self.scratch, "out.%d" % who)}
        two = command == "diff" or command == "map" and "DUMP" in arguments
        option = [] if two else ["--from", self.dump]
        return option + [command] + \
            [files.get(word, word) for word in arguments.split()]


def wrong_with(answer, whole):
    if answer.status not in STATUSES and answer.status != whole.status:
        yield "status %d, of the whole dump %d: %s" % (
            answer.status, whole.status, answer.said[-300:])
    if answer.seconds > DEADLINE + AFTER:
        yield "%.1f s" % answer.seconds
    if not SANITIZED and answer.kib > whole.kib + MORE:
        yield "%d KiB, of the whole dump %d KiB" % (answer.kib, whole.kib)


def ask(asking, case, whole):
    """A machine with other work gets a second chance."""
    wrong = []
    for _ in range(3):
        command, arguments = case
        words = asking.words(command, arguments, threading.get_ident())
        words += ["--deadline", str(DEADLINE)]
        answer = Answer(words, DEADLINE + AFTER + 60)
        wrong = list(wrong_with(answer, whole))
        if answer.seconds <= DEADLINE + AFTER:
            break
    return ["%s %s: %s" % (command, arguments, words) for words in wrong]


def check_stopped(result, asking, name, command):
    """A list that is cut short at the deadline is a part of the answer."""
    answer = Answer(asking.words(command, "", 0) + ["--deadline", "0.05"], 60)
    wrong = []
    if answer.status != 2:
        wrong.append("status %d" % answer.status)
    if "the deadline passed first: looked at " not in answer.said:
        wrong.append(answer.said[-300:])
    result(name, wrong)


def interrupt(words, seconds):
    """Presses Ctrl-C after a time. Returns the exit status, what was said, and
    for how long the command went on."""
    p = subprocess.Popen(
        [PAGEDET] + words, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        # A shell's background job, which this may be part of, ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(seconds)
    p.send_signal(signal.SIGINT)
    start = time.monotonic()
    said = p.communicate()[1].decode(errors="replace")
    return p.returncode, said, time.monotonic() - start


def check_interrupted(result, asking, command):
    """Before the command walks the list, and after it, the signal only ends
    the process. A machine with other work gets a second chance."""
    status, said, after = 0, "", 0
    for seconds in (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4):
        status, said, after = interrupt(asking.words(command, "", 0), seconds)
        if status != -signal.SIGINT and after <= AFTER:
            break
    wrong = []
    if status != 2:
        wrong.append("status %d" % status)
    if "interrupted: looked at " not in said:
        wrong.append(said[-300:])
    if after > AFTER:
        wrong.append("it went on for %.1f s" % after)
    result("%s: interrupted" % command, wrong)


def main():
    result = Results()
    cases = [(command, arguments) for command in ARGUMENTS
             for arguments in ARGUMENTS[command]]
    result("every command is asked", [
        "'%s' is not in the table of this test" % command
        for command in commands() if command not in ARGUMENTS])
    whats = subprocess.run([ENDLESS], stdout=subprocess.PIPE,
                           check=True).stdout.decode().split()
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(2) as team:
        whole = os.path.join(scratch, "whole")
        saved = os.path.join(scratch, "saved")
        with lzma.open(FIXTURE) as f, open(whole, "wb") as to:
            shutil.copyfileobj(f, to)
        subprocess.run([PAGEDET, "--from", whole, "snapshot", saved, "scan"],
                       check=True)
        asking = Asking(scratch, whole, saved)
        before = dict(zip(cases, team.map(
            lambda case: Answer(asking.words(*case, threading.get_ident()),
                                600), cases)))
        result("of the dump as it is", [
            "%s %s: status %d: %s" % (case + (a.status, a.said[-300:]))
            for case, a in before.items() if a.status not in STATUSES + (64, 66)])
        if os.environ.get("PDET_VERBOSE"):
            for case, a in before.items():
                print("# %s %s: %d, %.2f s, %d KiB: %s" % (
                    case + (a.status, a.seconds, a.kib, a.said.strip()[-200:])))
        for what in sys.argv[1:] or whats:
            copy = os.path.join(scratch, "copy")
            made = subprocess.run([ENDLESS, what, whole, copy],
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            if made.returncode:
                result(what, [made.stdout.decode()])
                continue
            asking = Asking(scratch, copy, saved)
            start = time.monotonic()
            result("endless " + what, [line for lines in team.map(
                lambda case: ask(asking, case, before[case]), cases)
                for line in lines])
            print("# %.1f s" % (time.monotonic() - start))
            if what == "tasks":
                check_stopped(result, asking, "tasks: a part", "tasks")
                check_interrupted(result, asking, "tasks")
            if what == "log":
                check_stopped(result, asking, "dmesg: a part", "dmesg")
                check_interrupted(result, asking, "dmesg")
    print("1..%d" % result.number)
    sys.exit(result.failed != 0)


main()
