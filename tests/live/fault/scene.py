# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""A guest in which something happens, and pagedet's answers there."""
import json
import shlex

# Seconds after which an answer does not come any more; a guest is slow, and its
# host may do other things.
PATIENCE = 120


class Answer:
    def __init__(self, words, out, err, how):
        self.words = words
        self.out = out.decode("utf-8", "replace")
        self.err = err.decode("utf-8", "replace")
        how, number = how.split()
        self.status = int(number) if how == "exit" else None
        self.signal = int(number) if how == "signal" else None

    def rows(self):
        """The objects of JSON; none where it is not that."""
        try:
            return [json.loads(line) for line in self.out.splitlines()]
        except ValueError:
            return []

    def row(self):
        """The only one, or an empty one."""
        rows = self.rows()
        return rows[0] if rows else {}

    def __str__(self):
        return "%s: status %s, signal %s\n%s%s" % (
            self.words, self.status, self.signal, self.out[-1500:],
            self.err[-1500:])


class Wrong(list):
    """What is wrong, in words; each is said with the answer that shows it."""

    def unless(self, good, what, answer=""):
        if not good:
            self.append("%s\n%s" % (what, answer) if answer else what)
        return good

    def answered(self, a, status=0):
        """It came to an end by itself, and with this status."""
        return self.unless(a.status == status,
                           "the status is not %d" % status, a)

    def says(self, a, *words):
        """stderr, or a note below a table, has these words."""
        for word in words:
            self.unless(word in a.err + a.out, "it does not say %r" % word, a)

    def is_(self, row, **values):
        for name, value in values.items():
            self.unless(row.get(name) == value, "%s is %r, not %r" % (
                name, row.get(name), value), row)

    def lacks(self, row, reason, *names):
        """The fields are missing for this reason, and have no value."""
        for name in names:
            self.unless(row.get("missing", {}).get(name) == reason,
                        "%s is not missing as %s" % (name, reason), row)
            self.unless(name not in row or row[name] is None,
                        "%s has a value" % name, row)


class Scene:
    def __init__(self, guest, report, pagedet):
        """@pagedet: its path in the guest"""
        self.guest, self.report, self.pagedet = guest, report, pagedet
        self.facts = 0

    def run(self, *argv, uid=0):
        return Answer(shlex.join(map(str, argv)),
                      *self.guest.run(*argv, uid=uid))

    def sh(self, command, uid=0):
        return self.run("sh", "-c", command, uid=uid)

    def must(self, command):
        """What makes the scene."""
        return self.guest.must_run("sh", "-ec", command).decode()

    def ask(self, *words, uid=0, by=()):
        """pagedet; @by: words before it, as of a program that runs it"""
        return self.run(*by, "timeout", "-s", "KILL", PATIENCE, self.pagedet,
                        *words, uid=uid)

    def start(self, *words):
        """A subject that stays, and what it says of itself."""
        self.facts += 1
        path = "/tmp/facts.%d" % self.facts
        self.must("rm -f %s; subject %s > %s 2>&1 &\n"
                  "n=0; until [ -s %s ] || [ $n = 600 ]; do\n"
                  "sleep 0.05; n=$((n + 1)); done" % (
                      path, shlex.join(map(str, words)), path, path))
        said = self.guest.read(path).decode()
        try:
            return json.loads(said)
        except ValueError:
            raise self.guest.qemu.failed("subject %s says nothing: %s" % (
                words, self.sh("dmesg | tail -5; ps | grep subject; "
                               "cat /proc/$(pidof subject)/stack").out))

    def end(self, facts):
        """Returns when its memory is gone."""
        self.must("kill -9 %d; n=0\n"
                  "while [ -s /proc/%d/maps ] && [ $n -lt 600 ]; do\n"
                  "sleep 0.05; n=$((n + 1)); done" % (facts["pid"],
                                                    facts["pid"]))

    def has(self, path):
        return self.sh("[ -e %s ]" % shlex.quote(path)).status == 0

    def result(self, name, wrong):
        self.report.result(name, wrong)

    def skip(self, name, why):
        self.report.skip(name, why)
