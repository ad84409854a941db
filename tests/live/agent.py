# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Runs the example migration_agent, and compares its report with the faults
that it injected."""
import contextlib
import json
import os
import re
import subprocess
import time

from pair import SECONDS

EQUAL, DIFFERENT, UNSURE, USAGE = 0, 1, 2, 64

# What each fault must be called, and how sure one may be: less where the
# hardware has no counters of its errors (EDAC), as most virtual hosts.
RULES = {
    "flip-bit": ("changed-after-send", {"medium", "high"}),
    "zero-page": ("changed-after-send", {"high"}),
    "swap-pages": ("misplaced", {"high"}),
    "shift-pages": ("misplaced", {"high"}),
    "punch-hole": ("missing-at-peer", {"certain"}),
    "older": ("stale-version", {"high"}),
    "write-file": ("write-untracked", {"low", "medium"}),
    "write-mapping": ("write-untracked", {"low", "medium"}),
    "source-hole": ("vanished-here", {"medium", "high"}),
    "early-hole": ("vanished-here", {"medium", "high"}),
}
# Harm by its time: what it is truly called, and whether the evidence can tell
# it. Nothing tracks writes from outside: what is written past the tracked
# mapping, and leaves no trace, looks like a lost dirty log, and so does what is
# sent wrongly, for the guest may write a page and restore it.
TIMES = {
    "sent": ({"changed-before-tap"}, False),
    "wire": ({"changed-after-send"}, True),
    "running": ({"write-untracked"}, False),
    "running-file": ({"write-untracked"}, True),
    "running-mapping": ({"write-untracked"}, True),
    # It had stopped, but what it had then was not read yet.
    "between": ({"write-untracked", "changed-here-after-stop"}, False),
    "between-file": ({"write-untracked", "changed-here-after-stop"}, True),
    "stopped": ({"changed-here-after-stop"}, True),
    "stopped-file": ({"changed-here-after-stop"}, True),
    "stopped-mapping": ({"changed-here-after-stop"}, True),
    "stored": ({"changed-after-send"}, True),
    "stored-file": ({"changed-after-send"}, True),
}
# By what becomes of the bytes: what else is true then, by time.
MEANS = {
    "bit": {"wire": {"bit-flip"}, "stored": {"bit-flip"}},
    "byte": {}, "word": {}, "sector": {}, "half": {}, "ones": {}, "noise": {},
    "turned": {},
    "zero": {"stored-file": {"missing-at-peer"}},
    "other": {name: {"misplaced"} for name in
              ("wire", "stored", "stored-file")},
}
# name: what it is truly called, and whether that can be told
HARMS = {time + "-" + means: (TIMES[time][0] | more.get(time, set()),
                              TIMES[time][1])
         for time in TIMES for means, more in MEANS.items()}


def called(name):
    """What harm of this name is truly called."""
    return {RULES[name][0]} if name in RULES else HARMS[name][0]


# What pages may be called that nobody harmed.
STALE = {"dirty-log-lost", "stale-version", "zero-page-race"}


def leftovers(process):
    """Directories of an agent; others of this machine have theirs."""
    return {os.path.join(top, name) for top in ("/tmp", "/dev/shm")
            for name in os.listdir(top)
            if name.startswith("migration_agent-%d-" % process.pid)}


def wait_for(process):
    """What it has said; one that does not end is told to, so that it can
    remove what it has made."""
    try:
        return [text.decode() for text in process.communicate(timeout=SECONDS)]
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.communicate(timeout=10)
        finally:
            process.kill()
        raise


class Run:
    """One run of the agent, and its report."""

    def __init__(self, agent, top, *words):
        self.top = top
        start = time.monotonic()
        p = subprocess.Popen([agent, "--report", top, *words],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.text, self.said = wait_for(p)
        self.seconds = time.monotonic() - start
        self.left = leftovers(p)
        self.status = p.returncode
        harm = [(name, int(page)) for name, page in re.findall(
            r"fault ([a-z-]+): page (\d+)", self.said)]
        # Pages that were written when the source may have stopped already.
        self.late = {page for name, page in harm if name == "late"}
        harm = [(name, page) for name, page in harm if name != "late"]
        # What was harmed on its way, and then passed once more.
        self.undone = {page for name, page in harm if name == "undone"}
        harm = [(name, page) for name, page in harm
                if page not in self.undone]
        self.harmed = {page: name for name, page in harm}
        pages = [page for _, page in harm]
        self.twice = {page for page in pages if pages.count(page) > 1}
        self.report = {}
        with contextlib.suppress(FileNotFoundError, ValueError):
            with open(os.path.join(top, "report.json")) as f:
                self.report = json.load(f)

    def problems(self, status):
        """What is wrong with every report alike."""
        if self.status != status or self.report.get("status") != status:
            yield "status %d, not %d; the report says %s\n%s%s" % (
                self.status, status, self.report.get("verdict"), self.said,
                self.text)
            return
        with open(os.path.join(self.top, "report.txt")) as f:
            if f.read() != self.text:
                yield "report.txt is not what was printed"
        with open(os.path.join(self.top, "report.html")) as f:
            page = f.read()
        if self.report["verdict"] not in page or "</html>" not in page:
            yield "report.html does not have the verdict"
        if re.search(r"https?://|<script", page):
            yield "report.html needs more than itself"
        for name in os.listdir(self.top):
            if name.endswith(".partial"):
                yield "%s is left" % name
        for path in self.left:
            yield "%s is left" % path

    def stale(self):
        """Pages that nobody harmed."""
        return [d for d in self.report.get("differences", [])
                if d["page"] not in self.harmed]

    def wrong_findings(self, rules=RULES):
        found = {d["page"]: d for d in self.report["differences"]}
        for page, name in self.harmed.items():
            d = found.get(page)
            if d is None:
                yield "%s: page %d is not found" % (name, page)
            elif page in self.late and \
                    d["finding"] == "changed-here-after-stop":
                continue
            elif (d["finding"] != rules[name][0] or
                  d["confidence"] not in rules[name][1]):
                yield "%s: page %d is called %s, %s" % (
                    name, page, d["finding"], d["confidence"])
        for d in self.stale():
            if d["finding"] not in STALE or d["confidence"] == "certain":
                yield "page %d, which nobody harmed, is called %s, %s" % (
                    d["page"], d["finding"], d["confidence"])


def check_join(report):
    """The same memory is compared, wherever it is."""
    blocks = {b["name"]: b for b in report["blocks"]}
    main = blocks.get("pc.ram") or blocks.get("ram")
    if not main or not main["compared"] or not main["source"]["hva"]:
        yield "the guest's memory is not found"
    for b in report["blocks"]:
        if not b["compared"] and not (b["source"].get("why") or
                                      b["destination"].get("why")):
            yield "%s is not compared, and not said why" % b["name"]
    pages = report["pages"]
    if pages["equal"] + pages["different"] != pages["compared"]:
        yield "%d pages, but %d compared" % (
            pages["equal"] + pages["different"], pages["compared"])
