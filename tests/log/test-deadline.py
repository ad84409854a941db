#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log
"""Tests deadlines of pagedet on a log that is long or still being written: the
command ends and says so, and its output so far is right.
"""
import json
import os
import shutil
import subprocess
import tempfile
import time

from captures import Tap, ask, command, top

# The limit in seconds, far more than any of these commands needs.
PATIENCE = 60
FIXTURE = os.path.join(top, "tests/fixtures/dump_page/6.12.117.log")

TEXT = ["from-log", "--json", "--text-only"]
CAME = b"the deadline passed first"

tap = Tap()
tmp = tempfile.mkdtemp()
with open(FIXTURE, "rb") as f:
    text = f.read()
_, right, _ = ask("from-log", "--text-only", FIXTURE)


def rows_of(out):
    return [json.loads(line) for line in out.decode().splitlines()]


def until(name, words, why, stdin=None, given=b""):
    """Rows of what is not told that no more comes."""
    begin = time.monotonic()
    with subprocess.Popen(
            [command] + words, stdin=stdin or subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        if given:
            p.stdin.write(given)
            p.stdin.flush()
        keep, p.stdin = p.stdin, None
        try:
            out, err = p.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
        if keep:
            keep.close()
    took = time.monotonic() - begin
    tap.is_true(name + ": it ends", took < PATIENCE, "%d s" % took)
    tap.equal(name + ": and cannot tell", p.returncode, 2)
    tap.is_true(name + ": and says why", why in err, err.decode())
    return rows_of(out)


rows = until("a pipe in which nothing is",
             TEXT + ["-", "--deadline", "0.3"], CAME, subprocess.PIPE)
tap.equal("it has no rows", rows, [])

# The last answer may be incomplete, and its row notes that.
rows = until("a pipe in which there is a log",
             TEXT + ["-", "--deadline", "5"], CAME, subprocess.PIPE, text)
tap.equal("what was said is right", rows[:-1], right[:len(right) - 1])

# pagedet does not guess the missing end of a line.
cut = text[:text.index(b"pfn:0x") + 7]
rows = until("a pipe in which half a line is",
             TEXT + ["-", "--deadline", "1"], CAME, subprocess.PIPE, cut)
tap.is_true("no page is made of half a number",
            all("partial" in row.get("notes", []) for row in rows), rows)

fifo = os.path.join(tmp, "fifo")
os.mkfifo(fifo)
rows = until("a FIFO into which nobody writes",
             TEXT + [fifo, "--deadline", "0.3"], CAME)
tap.equal("it has no rows either", rows, [])

# --- a log instead of a kernel ---

long = os.path.join(tmp, "long")
with open(long, "wb") as f:
    f.write(text + b"[    1.0] of nothing that is known here\n" * 100000 +
            text)
for words in (["scan", "--json"], ["page", hex(right[0]["pfn"]), "--json"],
              ["snapshot", os.path.join(tmp, "saved")]):
    rows = until(words[0] + " of a long log",
                 ["--from", long, "--deadline", "0.000001"] + words,
                 b"cannot read all of " + long.encode())
    tap.equal("no page is what it was before: " + words[0], rows, [])
tap.is_true("nothing is saved", not os.path.exists(words[-1]))
status, rows, said = ask("--from", long, "--deadline", str(PATIENCE), "scan")
tap.equal("in good time", (status, len(rows)),
          (0, len({row["pfn"] for row in right})))

shutil.rmtree(tmp)
tap.end()
