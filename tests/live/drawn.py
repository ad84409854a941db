# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Migrations with harm that a seed draws, and what may be said of it."""
import collections
import random
import subprocess
import tempfile

from agent import (DIFFERENT, EQUAL, HARMS, STALE, UNSURE, Run,
                   called)
from pair import SECONDS

MODES = ("precopy", "multifd", "postcopy", "ignore-shared", "xbzrle")
MEMORY = ("anon", "memfd", "file")
ANY_MEMORY = ("flip-bit", "zero-page", "swap-pages", "shift-pages", "older")
OF_FILE = ("punch-hole", "write-file", "write-mapping", "source-hole",
           "early-hole")
# What stands between both does it, or knows what was sent.
BY_TAP = ("sent", "wire", "between")
# Faults after which nothing can be told.
END = ("resume", "kill-early", "kill-source", "kill-destination")
# Harm that is done to pages of the source.
AT_SOURCE = ("write-file", "write-mapping", "source-hole", "early-hole")
TIMES_AT_SOURCE = ("running-", "between-", "stopped-")
SURE = ("high", "certain")
# Of what can be told, this much is called rightly, at least so surely.
TOLD = 0.8
# Of fewer kinds, what they share says little.
FEWEST_KINDS = 10
BETTER = ("medium", "high", "certain")
# Of a message that is printed.
LINES = 6


def kinds():
    """Every mode with the kinds of memory that it takes."""
    return [(mode, ram) for mode in MODES for ram in MEMORY
            if mode != "ignore-shared" or ram == "file"]


class Tally:
    """What was found in all runs."""

    def __init__(self):
        self.runs = 0
        self.said = collections.Counter()
        self.right = collections.Counter()
        self.counts = collections.Counter()
        # Of each kind that can be told: whether it was.
        self.told = collections.defaultdict(list)
        self.problems = collections.defaultdict(list)

    def wrong(self, what, run, words, why):
        first, *more = str(why).splitlines()
        self.problems[what].append("\n  ".join(
            ["run %d: %s" % (run, first), *more[:LINES], " ".join(words)]))

    def add(self, d, is_right):
        self.said[d["confidence"]] += 1
        self.right[d["confidence"]] += is_right
        return is_right

    def lines(self):
        for confidence in ("certain", "high", "medium", "low", "cannot tell"):
            n = self.said[confidence]
            if n:
                yield "# %-12s%6d said,%6d right" % (confidence, n,
                                                     self.right[confidence])
        for what, n in sorted(self.counts.items()):
            yield "# %s: %d" % (what, n)
        for name, told in sorted(self.told.items()):
            if not all(told):
                yield "# %s: %d of %d called rightly" % (
                    name, sum(told), len(told))

    def check_told(self):
        """Each kind counts alike, however many pages it harms."""
        if len(self.told) < FEWEST_KINDS:
            print("# only %d kinds that can be told" % len(self.told))
            return
        share = sum(sum(told) / len(told) for told in self.told.values()) / \
            len(self.told)
        print("# %.0f %% of %d kinds that can be told" % (
            100 * share, len(self.told)))
        if share < TOLD:
            self.problems[ENOUGH].append("%.0f %%" % (100 * share))

    def report(self, report, name, checks):
        print("\n".join(["# %s: %d migrations" % (name, self.runs),
                         *self.lines()]))
        for what in checks:
            report.say("%s: %s" % (name, what), self.problems[what])


ENDED = "every run ends as it should"
NO_ALARM = "pages without a fault are not accused"
SURE_RIGHT = "what is high or certain is right"
ALL_FOUND = "every fault is found"
ADVICE = "no advice lets a damaged side go on"
INTACT = "what is proven of a side is so"
ENOUGH = "what can be told is called rightly"


def run(tally, n, words, agent, judge):
    """Runs the agent once. One that does not end is one that is wrong."""
    with tempfile.TemporaryDirectory() as top:
        try:
            judge(Run(agent, top, *words))
        except subprocess.TimeoutExpired:
            tally.wrong(ENDED, n, words, "no end after %d s" % SECONDS)
    tally.runs += 1
    if n % 50 == 49:
        print("# %d done" % (n + 1), flush=True)


def is_of_file(name):
    return name in OF_FILE or name in HARMS and ("-file-" in name or
                                                 "-mapping-" in name)


def words_of(names):
    """The options that do this harm."""
    harms = [name for name in names if name in HARMS]
    faults = [name for name in names if name not in HARMS]
    return [*(["--fault", ",".join(faults)] if faults else []),
            *(["--harm", ",".join(harms)] if harms else [])]


def is_alike(name):
    """What was at the source when it stopped looks as if it came from there."""
    return name.endswith("-ones") and name.startswith(("running-", "between-"))


def without_alike(names):
    """Of pages that become alike, one is left."""
    first = next(filter(is_alike, names), None)
    return [name for name in names
            if not first or name == first or not name.endswith("-ones")]


class Draw:
    """One migration with faults, of a seed."""

    def __init__(self, seed, n):
        draw = random.Random("%d of %d" % (n, seed))
        self.mode, self.ram = draw.choice(kinds())
        self.tap = draw.random() >= 0.1
        names = [name for name in (*ANY_MEMORY, *OF_FILE, *HARMS)
                 if (self.ram != "anon" or not is_of_file(name)) and
                 (self.tap or name.split("-")[0] not in BY_TAP)]
        self.faults = without_alike(draw.sample(names, draw.randint(1, 4)))
        if draw.random() < 0.1:
            self.faults[-1] = draw.choice(END)
        self.goes_on = draw.random() < 0.25 and not self.ends()
        self.words = [
            "--mode", self.mode, "--ram", self.ram, "--memory", "48M",
            "--bandwidth", draw.choice(("32M", "64M", "256M")),
            "--seed", str(draw.randrange(1 << 32)),
            *["--no-tap"] * (not self.tap), *["--go-on"] * self.goes_on,
            *words_of(self.faults)]

    def ends(self):
        return next((name for name in END if name in self.faults), None)

    def status(self, r):
        """The exit status, and why nothing can be told, if so."""
        if self.ends():
            return UNSURE
        found = r.report.get("differences", [])
        if any(d.get("confidence") == "cannot tell" for d in found):
            return UNSURE
        return DIFFERENT if found else EQUAL


class Each(Draw):
    """One kind of harm, and all evidence."""

    def __init__(self, seed, n):
        names = [*ANY_MEMORY, *OF_FILE, *HARMS]
        name = names[n % len(names)]
        self.mode, self.ram, self.tap, self.goes_on = \
            "precopy", "memfd", True, False
        self.faults = [name]
        self.words = ["--mode", self.mode, "--ram", self.ram, "--memory",
                      "48M", "--seed", str(seed + n), *words_of([name])]


def is_unseen(draw, name):
    """A destination that goes on is let go before the source is read: harm
    that was done when it had stopped looks like an earlier write from
    outside."""
    return draw.goes_on and name.startswith("stopped-")


def is_packed(draw, name):
    """What is sent again is sent as what has changed: its hash is not
    known."""
    return draw.mode == "xbzrle" and name == "older"


def can_be_told(draw, name):
    return draw.tap and not draw.ends() and not is_unseen(draw, name) and \
        not is_packed(draw, name) and (name not in HARMS or HARMS[name][1])


def is_right(draw, d, r):
    """Whether what is said about a page is so."""
    name = r.harmed.get(d["page"])
    if name is None:
        return d["finding"] in STALE
    return d["finding"] in called(name) or (
        d["page"] in r.late and d["finding"] == "changed-here-after-stop") or (
        is_unseen(draw, name) and d["finding"] == "write-untracked")


def side_of(name):
    return "source" if name in AT_SOURCE or name.startswith(
        TIMES_AT_SOURCE) else "destination"


def judge_sides(tally, n, draw, d, side):
    """What is proven of a page's two sides. One of them is damaged."""
    for is_intact, of in ((d["here_intact"], "source"),
                          (d["peer_intact"], "destination")):
        if is_intact is not None and is_intact == (of == side):
            tally.wrong(INTACT, n, draw.words,
                        "page %d: the %s is damaged, and the %s is %s" % (
                            d["page"], side, of,
                            "right" if is_intact else "wrong"))


def judge_advice(tally, n, draw, r, found):
    """A side with a fault that was found must not go on. What is said with a
    finding is about its page alone. What nobody harmed was left behind, at the
    destination."""
    sides = {d["page"]: side_of(r.harmed.get(d["page"], "")) for d in found}
    said = [(r.report, set(sides.values()))]
    said += [(d, {sides[d["page"]]}) for d in found]
    for advice, damaged in said:
        if advice["lets_run"] in damaged:
            tally.wrong(ADVICE, n, draw.words, "the %s is damaged: %s" % (
                advice["lets_run"], advice["advice"]))
    for d in found:
        if d["page"] not in r.twice:
            judge_sides(tally, n, draw, d, sides[d["page"]])


def judge_found(tally, n, draw, r):
    """What is said of pages."""
    found = [d for d in r.report["differences"] if "finding" in d]
    for d in found:
        # Two faults in a page may have any name.
        if d["page"] in r.twice or d["finding"] == "not-frozen":
            continue
        name = r.harmed.get(d["page"])
        right = tally.add(d, is_right(draw, d, r))
        if name and can_be_told(draw, name):
            tally.told[name].append(right and (
                d["confidence"] in BETTER or
                d["likely_confidence"] in BETTER))
        why = "page %d (%s) is called %s, %s" % (
            d["page"], name or "no fault", d["finding"], d["confidence"])
        if not right and d["confidence"] in SURE:
            tally.wrong(SURE_RIGHT, n, draw.words, why)
        if not right and not name and d["confidence"] != "cannot tell":
            tally.wrong(NO_ALARM, n, draw.words, why)
    judge_advice(tally, n, draw, r, found)


def judge_missed(tally, n, draw, r):
    """Faults of which nothing is said."""
    found = {d["page"] for d in r.report["differences"]}
    tally.counts["faults made"] += len(r.harmed)
    missed = [page for page in r.harmed if page not in found]
    if draw.goes_on and len(missed) <= r.report["migration"]["changed_since"]:
        tally.counts["of them, in pages that the report counts as changed "
                     "after they were read early"] += len(missed)
        return
    for page in missed:
        tally.wrong(ALL_FOUND, n, draw.words, "%s: page %d" % (
            r.harmed[page], page))


def judge_drawn(tally, n, draw, r):
    for problem in r.problems(draw.status(r)):
        tally.wrong(ENDED, n, draw.words, problem)
        return
    if draw.mode == "ignore-shared":
        if r.report["differences"] and not draw.ends():
            tally.wrong(ENDED, n, draw.words, "one memory differs from itself")
        return
    judge_found(tally, n, draw, r)
    if draw.ends():
        tally.counts["migrations that a machine ended, or changed"] += 1
    else:
        judge_missed(tally, n, draw, r)
