# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The captures of tests/fixtures/page_detective, and queries of the command."""
import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

top = os.environ.get("top_srcdir", os.path.join(os.path.dirname(__file__),
                                                "../.."))
build = os.environ.get("top_builddir", top)
sys.path.insert(0, os.path.join(top, "tests"))

from wait import PATIENCE, wait_for  # noqa: E402

home = os.path.join(top, "tests/fixtures/page_detective")
command = os.path.join(build, "tools/pagedet/pagedet")

QUERY = re.compile(r'# query: (virt|phys) <- "([^"]*)"')


def query_of(path):
    """("virt", pid, address) or ("phys", address); None if it is neither."""
    with open(path, encoding="utf-8", errors="replace") as f:
        found = QUERY.match(f.readline())
    words = re.split(r"\s|\\[tn]", found[2].replace("\\0junk", ""))
    try:
        numbers = [int(w.lstrip("+"), 0) if not re.match(r"0\d", w) else
                   int(w, 8) for w in words if w]
    except ValueError:
        return None
    if any(n < 0 for n in numbers):
        return None
    if len(numbers) != (2 if found[1] == "virt" else 1):
        return None
    return (found[1], *numbers)


def captures(kind):
    """All with an end of that kind, by name."""
    found = sorted(glob.glob(os.path.join(home, "**", "*." + kind),
                             recursive=True))
    return {os.path.relpath(p, home)[:-len(kind) - 1]: p for p in found}


BLOCK = re.compile(r"Page Detective: (?=page: |head: |memcg:|aops:|raw: |"
                   r"(anon |ksm )?flags: )")


def as_module(text):
    """As the driver built as a module logs it: the core's lines have no prefix,
    and say why they are there."""
    lines = []
    for line in text.splitlines(keepends=True):
        new = BLOCK.sub("", line)
        behind_raw = lines and re.search("[ ;](raw|head): [0-9a-f]{16} ",
                                         lines[-1])
        if behind_raw and not re.search("[ ;](raw|head): ", new):
            stamp = re.match(r"[^\]]*\] |[^;]*;", lines[-1])[0]
            lines.append(stamp + "page dumped because: page detective\n")
        lines.append(new)
    return "".join(lines)


def truth(folder):
    """Ground truth by name, of the machine that a folder is from."""
    path = os.path.join(home, folder, "ground-truth.jsonl")
    if not os.path.exists(path):
        path = os.path.join(home, "ground-truth.jsonl")
    with open(path, encoding="utf-8") as f:
        return {o["name"]: o for o in map(json.loads, f)}


def ask(*words, binary=command, stdin=None, env=None, timeout=60):
    """Status, rows and what was said."""
    r = subprocess.run([binary, "--json", *words], capture_output=True,
                       input=stdin, env=env, timeout=timeout, check=False)
    rows = [json.loads(line) for line in r.stdout.splitlines()]
    return r.returncode, rows, r.stderr.decode(errors="replace")


def explain(path, pfn):
    """What is explained of a page by that log, and what was said beside it."""
    r = subprocess.run([command, "--from", path, "explain", "page", pfn],
                       capture_output=True, check=False)
    return (r.stdout.decode(errors="replace"),
            r.stderr.decode(errors="replace"))


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def is_true(self, name, good, *more):
        self.n += 1
        print(f"{'ok' if good else 'not ok'} {self.n} - {name}")
        if not good:
            self.failed += 1
            for text in more:
                print("# " + str(text).replace("\n", "\n# "))

    def equal(self, name, got, wanted):
        self.is_true(name, got == wanted, f"got    {got}", f"wanted {wanted}")

    def skip(self, name, why):
        self.n += 1
        print(f"ok {self.n} - {name} # SKIP {why}")

    def end(self):
        print(f"1..{self.n}")
        sys.exit(self.failed != 0)


WRITER = "page-detective-write"


def copy(program, place):
    """The command takes no helper that others may write to, and a clone may
    have been made with any umask."""
    shutil.copyfile(program, place)
    os.chmod(place, 0o755)


def installed(binary):
    """The helper that a command takes where none is beside it; None if there is
    none. Its folder is one of the texts in the command."""
    with open(binary, "rb") as f:
        texts = re.findall(rb"(?<=\0)/[ -~]+(?=\0)", f.read())
    for text in texts:
        path = os.path.join(os.fsdecode(text), WRITER)
        if os.access(path, os.X_OK):
            return path
    return None


class Driver:
    """A root with the driver of this folder, and the command beside it."""

    def __init__(self, tmp):
        self.tmp = tmp
        self.root = os.path.join(tmp, "root")
        self.binary = os.path.join(tmp, "pagedet")
        copy(command, self.binary)
        copy(os.path.join(top, "tests/log/page-detective-write"),
             os.path.join(tmp, WRITER))
        os.makedirs(os.path.join(self.root,
                                 "sys/kernel/debug/page_detective"))
        os.makedirs(os.path.join(self.root, "dev"))
        self.plan(None)

    def plan(self, capture, **more):
        if "hang" in more:
            self.forget()
        for name in ("asked", "next", "dev/kmsg"):
            with open(os.path.join(self.root, name), "w") as f:
                f.write("1" if name == "next" else "")
        with open(os.path.join(self.root, "plan.json"), "w") as f:
            json.dump({"capture": capture, **more}, f)

    @contextlib.contextmanager
    def without_writer(self):
        """No helper beside the command. Gives why another one is taken
        instead, or None."""
        here = os.path.join(self.tmp, WRITER)
        away = os.path.join(self.tmp, "elsewhere")
        os.rename(here, away)
        try:
            other = installed(self.binary)
            yield other and "one is installed here: " + other
        finally:
            os.rename(away, here)

    def forget(self):
        """Who hung before."""
        if os.path.exists(os.path.join(self.root, "pid")):
            os.unlink(os.path.join(self.root, "pid"))

    def who_hangs(self):
        """His pid, or None, as it is now."""
        try:
            with open(os.path.join(self.root, "pid")) as f:
                return int(f.read() or 0)
        except FileNotFoundError:
            return None

    def ask_until_it_hangs(self, *words):
        """Until a deadline, which ends who hangs: what ask() returns, whether
        that was in good time, and who hung. A deadline that came before he did
        tests nothing."""
        for seconds in (1, 4, 16, PATIENCE):
            end = time.monotonic() + seconds + PATIENCE
            answer = self.ask("--deadline", str(seconds), *words,
                              timeout=10 * PATIENCE)
            in_time = time.monotonic() < end
            pid = self.who_hangs()
            if pid:
                break
        return answer, in_time, pid

    def old(self, path):
        """Records that are there before the question."""
        with open(path, "rb") as f, \
             open(os.path.join(self.root, "dev/kmsg"), "ab") as kmsg:
            kmsg.write(b"".join(x for x in f if not x.startswith(b"#")))
        with open(os.path.join(self.root, "next"), "w") as f:
            f.write("100000")

    def asked(self):
        with open(os.path.join(self.root, "asked")) as f:
            return f.read().splitlines()

    def flags(self, words):
        """proc/kpageflags with these {pfn: word}; the rest is 0."""
        path = os.path.join(self.root, "proc/kpageflags")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            for pfn, word in words.items():
                f.seek(pfn * 8)
                f.write(word.to_bytes(8, sys.byteorder))
            f.truncate(8 << 20)

    def ask(self, *words, **more):
        return ask("--root", self.root, "--backend", "page_detective",
                   *words, binary=self.binary, **more)
