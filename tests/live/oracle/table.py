# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Compares the answers of two programs, field by field."""
import collections


class Table:
    def __init__(self, who):
        self.who = who
        self.agreed = collections.Counter()
        self.differ = collections.defaultdict(list)

    def add(self, field, where, ours, theirs):
        if ours == theirs:
            self.agreed[field] += 1
            return
        where = "%#x" % where if isinstance(where, int) else where
        self.differ[field].append("%s: %s, but %s says %s" % (
            where, ours, self.who, theirs))

    def fields(self):
        return list(dict.fromkeys(list(self.agreed) + list(self.differ)))

    def show(self):
        print("# %-32s%10s%10s" % (self.who, "agree", "differ"))
        for field in self.fields():
            print("# %-32s%10d%10d" % (field, self.agreed[field],
                                       len(self.differ[field])))

    def results(self):
        """For each field its name and what is wrong."""
        for field in self.fields():
            yield "%s: %s" % (self.who, field), self.differ[field]
