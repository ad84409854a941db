# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Compares the findings about migrations with the injected faults."""
import collections
import json

# Rules that say nothing, and the one that says that nothing is wrong.
UNSURE = (13, 14)
FINE = 11

# How many of a rule's cases must be found, with full evidence.
RECALL = {1: 0.95, 2: 0.95, 3: 0.95, 4: 0.95, 9: 0.95, 11: 0.95,
          15: 0.95, 16: 0.95, 17: 0.95,
          5: 0.85, 6: 0.85, 7: 0.85, 10: 0.85}


class Case:
    """A page: what was done to it, and what was found."""

    def __init__(self, move, without, vaddr, finding, label):
        self.move, self.without, self.vaddr = move, without, vaddr
        self.finding = finding
        self.label = label
        self.rule = label["rule"] if label else FINE
        self.found = finding["rule"] if finding else None
        self.confidence = finding["confidence"] if finding else None

    @property
    def is_right(self):
        return self.found == self.rule

    @property
    def is_unsure(self):
        return self.found in UNSURE

    def __str__(self):
        return "migration %d%s, page %s: %s, but found %s (%s)%s" % (
            self.move, self.without and " (%s)" % self.without, self.vaddr,
            self.label["kind"] if self.label else "nothing was done to it",
            self.finding and self.finding["finding"], self.confidence,
            "; unknown: " + ", ".join(self.finding["unknown"])
            if self.finding and self.finding["unknown"] else "")


class Cases:
    def __init__(self, labels, findings):
        """Of the lines of two files."""
        self.moves, self.skipped = {}, []
        done = collections.defaultdict(dict)
        for line in map(json.loads, labels.splitlines()):
            if "without" in line:
                self.moves[line["move"]] = line
            elif "skipped" in line:
                self.skipped.append(line)
            else:
                done[line["move"]][line["vaddr"]] = line
        found = collections.defaultdict(dict)
        move = None
        for line in map(json.loads, findings.splitlines()):
            if "finding" not in line:
                move = line["move"]
            else:
                # what is asked for; of thousands all would be too much
                found[move][line["vaddr"]] = {
                    name: line[name] for name in
                    ("finding", "rule", "confidence", "unknown")}
        self.all = [
            Case(n, said["without"], vaddr, found[n].get(vaddr),
                 done[n].get(vaddr))
            for n, said in self.moves.items()
            for vaddr in sorted(set(found[n]) | set(done[n]))]
        self.lost = [n for n, said in self.moves.items()
                     if len(found[n]) != said["pages"]]

    def made(self):
        return [c for c in self.all if c.label]

    def wrong_alarms(self):
        """What is found where nothing was done."""
        return [c for c in self.all if not c.label and not c.is_right]

    def sure_and_wrong(self):
        return [c for c in self.all
                if c.confidence in ("certain", "high") and not c.is_right]

    def calibration(self):
        """A line for each confidence: how often it was right."""
        lines = []
        for name in ("certain", "high", "medium", "low"):
            said = [c for c in self.all if c.confidence == name]
            right = sum(c.is_right for c in said)
            lines.append("# %-8s%6d said,%6d right%s" % (
                name, len(said), right,
                said and "  %.3f" % (right / len(said)) or ""))
        return lines

    def withheld(self):
        """The share of migrations of which something was not known."""
        return sum(1 for m in self.moves.values() if m["without"]) / \
            len(self.moves)


class Tally:
    """Counts of one rule, with or without full evidence."""

    def __init__(self, cases, rule):
        of = [c for c in cases if c.rule == rule and c.label]
        said = [c for c in cases if c.found == rule and
                (c.label or rule != FINE)]
        self.cases = len(of)
        self.right = sum(c.is_right for c in of)
        self.unsure = sum(c.is_unsure for c in of)
        self.said = len(said)
        self.said_right = sum(c.is_right for c in said)

    @property
    def recall(self):
        return self.right / self.cases if self.cases else None

    @property
    def precision(self):
        return self.said_right / self.said if self.said else None

    def words(self):
        def share(x):
            return "-" if x is None else "%.3f" % x
        return "%6d%6d%7d%8s%11s" % (self.cases, self.right, self.unsure,
                                     share(self.recall),
                                     share(self.precision))


def table(cases):
    """Lines; and what does not reach the goals."""
    wrong = []
    lines = ["# rule |      with full evidence                 | with some of "
             "it withheld",
             "#      | cases right unsure  recall  precision |"
             " cases right unsure  recall  precision"]
    full = [c for c in cases if not c.without]
    less = [c for c in cases if c.without]
    for rule in sorted({c.rule for c in cases if c.label} |
                       {c.found for c in cases if c.found not in UNSURE}):
        a, b = Tally(full, rule), Tally(less, rule)
        lines.append("#  %3d |%s |%s" % (rule, a.words(), b.words()))
        goal = RECALL.get(rule)
        if goal and a.cases and a.recall < goal:
            wrong.append("rule %d: %d of %d found with full evidence, which "
                         "is below %.2f" % (rule, a.right, a.cases, goal))
    return lines, wrong


def check_kinds(report, cases, prefix=""):
    """Each kind of fault by itself, with all evidence."""
    wrong = collections.defaultdict(list)
    for case in cases.made():
        problems = wrong[case.label["kind"]]
        if not case.is_right or \
                case.confidence != case.label["confidence"]:
            problems.append("%s, not %s" % (case, case.label["confidence"]))
    kinds = {c.move: c.label["kind"] for c in cases.made()}
    for case in cases.wrong_alarms():
        wrong[kinds[case.move]].append(str(case))
    for n in cases.lost:
        wrong[kinds[n]].append("migration %d: not all is looked at" % n)
    for kind, problems in wrong.items():
        report.result(prefix + kind, problems)
    for skip in {(s["kind"], s["skipped"]) for s in cases.skipped}:
        report.skip(prefix + skip[0], skip[1])
