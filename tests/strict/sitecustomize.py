# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""For every Python of the tests: JSON with a key twice is refused, because its
readers would lose one of the values."""
import json


def once(pairs):
    row = dict(pairs)
    if len(row) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError("twice in one object of JSON: " + ", ".join(sorted(
            {key for key in keys if keys.count(key) > 1})))
    return row


# What json.load() and json.loads() use.
json._default_decoder = json.JSONDecoder(object_pairs_hook=once)
