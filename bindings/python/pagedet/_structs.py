# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Structs of the library as plain Python."""
import types

from ._library import decode


def told(struct, name, otherwise=None):
    """A member of a struct that the library hands out. How long that struct is
    says its size: an older library's may end before the member."""
    place = getattr(type(struct), name)
    if place.offset + place.size > struct.size:
        return otherwise
    value = getattr(struct, name)
    return decode(value) if isinstance(value, bytes) else value


def namespace(struct, **instead):
    """The members by name, text decoded; @instead replaces some. What only
    serves the C side is left out."""
    out = {}
    for name, *_ in struct._fields_:
        if name in ("size", "reserved") or name.startswith("n_"):
            continue
        value = instead.get(name) if name in instead else \
            getattr(struct, name)
        out[name] = decode(value) if isinstance(value, bytes) else value
    out.update(instead)
    return types.SimpleNamespace(**out)
