# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Asks about public reports, retold in tests/fixtures/public-reports, and
compares the rows with facts: what a field must be, or that it is missing.
"""
import os
import shutil
import tempfile

from captures import Tap, ask, explain, top

HOME = os.path.join(top, "tests/fixtures/public-reports")
HASHED = "are hashed"
UNTRUE = "knows it"     # "no source that is open here knows it"

tap = Tap()
tmp = tempfile.mkdtemp()


class Is:
    """What a field must be, by a function; what, for the report of a test."""

    def __init__(self, what, good):
        self.what, self.good = what, good

    def __repr__(self):
        return self.what


MISSING = Is("missing", lambda row, field: field in row.get("missing", {}))
CORRUPT = Is("corrupt", lambda row, field:
             row.get("missing", {}).get(field) == "corrupt")


def has(*words):
    return Is(f"has {words}", lambda row, field:
              all(word in (row.get(field) or ()) for word in words))


def lacks(*words):
    return Is(f"does not have {words}", lambda row, field:
              not any(word in (row.get(field) or ()) for word in words))


def missing_or(*values):
    """The text leaves it open whether that can be known."""
    return Is(f"missing, or of {values}", lambda row, field:
              row.get(field) in values or MISSING.good(row, field))


def flag_not_clear(flag):
    return Is(f"{flag} is not clear", lambda row, field:
              flag in row["flags"] or flag in row.get("flags_unknown", []))


def wrong_of(row, right):
    bad = {}
    for field, is_right in right.items():
        for one in is_right if isinstance(is_right, tuple) else (is_right,):
            good = one.good(row, field) if isinstance(one, Is) else \
                row.get(field) == one
            if not good:
                bad[field] = (row.get(field), one)
    return bad


def check(name, path, rights, status=0, said=(), unsaid=(), options=()):
    got, rows, err = ask("from-log", "--text-only", *options, path)
    if len(rows) != len(rights):
        tap.is_true(f"{name}: the rows", False, rows, err)
        return
    tap.equal(f"{name}: what they say",
              [wrong_of(a, b) for a, b in zip(rows, rights)],
              [{}] * len(rights))
    tap.equal(f"{name}: the status", got, status)
    tap.is_true(f"{name}: what is said beside them",
                all(w in err for w in said) and
                not any(w in err for w in (UNTRUE, *unsaid)), err)


def case(name, *rights, **more):
    check(name, os.path.join(HOME, name), rights, **more)


def text(name, log, *rights, **more):
    path = os.path.join(tmp, "log")
    with open(path, "w", encoding="utf-8") as f:
        f.write(log)
    check(name, path, rights, **more)


def explains(name, pfn, said=(), unsaid=()):
    path = os.path.join(HOME, name)
    out = "".join(explain(path, pfn))
    tap.is_true(f"{name}: explain", all(w in out for w in said) and
                not any(w in out for w in (UNTRUE, *unsaid)), out)


def owned(name, pfn, **right):
    """What page_owner's lines behind a block say."""
    _, rows, _ = ask("--from", os.path.join(HOME, name), "stack", pfn)
    tap.equal(f"{name}: who allocated it",
              [{field: row["alloc"].get(field) for field in right}
               for row in rows], [right])


def end():
    shutil.rmtree(tmp)
    tap.end()
