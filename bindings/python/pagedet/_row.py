# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""One row, detached from the library."""
import struct

from . import _api
from ._schema import (bit_names, bit_number, named_bits, schema, source_name,
                      state_name, value_name)

_UNPACK = {4: struct.Struct("=I").unpack_from,
           8: struct.Struct("=Q").unpack_from}
_CELL = struct.Struct("=H").unpack_from
_CELLS = struct.Struct("=%dH" % _api.PAGEDET_FIELDS_MAX).unpack_from


class Unknown(KeyError):
    """No answer for this field in this row: .field, and why in .reason."""

    def __init__(self, field, reason):
        super().__init__(field, reason)
        self.field = field
        self.reason = reason

    def __str__(self):
        return "%s is not known: %s" % (self.field, self.reason)


class Row:
    """The answer about one page.

    row["pfn"] is the value, None where there is definitely nothing, and raises
    Unknown where there is no answer: zero is never "unknown". Values are int,
    str (enums, texts, "8:1" devices, "rw-p" protections) and tuples of names
    (flags, pte, notes, gfp).
    """

    __slots__ = ("_data", "_target", "_texts")

    def __init__(self, data, target):
        self._data = data       # bytes, as the library wrote them
        self._target = target   # of the query
        self._texts = None      # bytes of the texts of its ids

    def _cell(self, field):
        return _CELL(self._data, 2 * field.id)[0]

    def _state(self, field):
        return _api.PAGEDET_CELL_STATE(self._cell(field))

    def state(self, name):
        """"have", "none", "not_asked", or the reason why not."""
        return state_name(self._state(schema().field(name)))

    def missing(self, name):
        """Why there is no answer; None if there is one."""
        field = schema().field(name)
        state = self._state(field)
        if state in (_api.PAGEDET_HAVE, _api.PAGEDET_NONE):
            return None
        return state_name(state)

    def source(self, name):
        """Which source said so, or None."""
        return source_name(_api.PAGEDET_CELL_SOURCE(
            self._cell(schema().field(name))))

    def cell(self, name):
        """The cell itself: state in the low byte, source in the high one."""
        return self._cell(schema().field(name))

    def raw(self, name):
        """The number in the row, whatever it means; only where state() is
        "have"."""
        return self._raw(schema().field(name))

    def _raw(self, field):
        return _UNPACK[field.width](self._data, field.offset)[0]

    def __getitem__(self, name):
        field = schema().field(name)
        state = self._state(field)
        if state == _api.PAGEDET_HAVE:
            return self._value(field)
        if state == _api.PAGEDET_NONE:
            return None
        raise Unknown(field.name, state_name(state))

    def get(self, name, default=None):
        """The value, None where there is nothing, default if unknown."""
        try:
            return self[name]
        except Unknown:
            return default

    def _value(self, field):
        value = self._raw(field)
        kind = field.type
        if kind == "enum":
            return value_name(field.id, value) or value
        if kind == "mask":
            return bit_names(field, value)
        if kind == "string":
            return self._text(field)
        if kind == "list":
            return tuple(self._text(field).split("|"))
        if kind == "dev":
            return "%d:%d" % (value >> 32, value & 0xffffffff)
        if kind == "prot":
            return _prot(value)
        if kind == "signed":
            return _signed(value)
        return value

    def _text(self, field):
        return self._texts[field.id].decode("utf-8", "surrogateescape")

    def bit(self, name, bit):
        """True or False for one bit of a mask, None if it is not known:
        row.bit("flags", "dirty")."""
        field = schema().field(name)
        number = bit_number(field, bit)
        if self._state(field) != _api.PAGEDET_HAVE or \
                self._unknown_bits(field) >> number & 1:
            return None
        return bool(self._raw(field) >> number & 1)

    def _unknown_bits(self, field):
        known = schema().masks[field]
        if known is None or self._state(known) != _api.PAGEDET_HAVE:
            return 0
        return ~self._raw(known) & (1 << field.width * 8) - 1

    def unknown(self, name):
        """The names of the bits of a mask that could not be known."""
        return self._unknown(schema().field(name))

    def _unknown(self, field):
        return bit_names(field, self._unknown_bits(field) & named_bits(field))

    def keys(self):
        """The fields that were asked for, in the order of JSON output."""
        return [field.name for field in schema().fields.values()
                if self._state(field) != _api.PAGEDET_NOT_ASKED]

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, name):
        """The field has an answer, if only that there is nothing."""
        return name in schema().names and self.missing(name) is None

    def as_dict(self, pointers=False):
        """The object that JSON output has for this row, in its order: None is
        nothing there, "missing" holds the reasons, what was not asked is
        absent, and so are kernel addresses unless pointers is true."""
        out, missing = {}, {}
        cells = _CELLS(self._data)
        for field in schema().shown:
            state = _api.PAGEDET_CELL_STATE(cells[field.id])
            if state == _api.PAGEDET_NOT_ASKED:
                continue
            if state == _api.PAGEDET_HAVE:
                if pointers or not self._is_pointer(field):
                    self._into(out, field)
            elif state == _api.PAGEDET_NONE:
                out[field.name] = None
            else:
                missing[field.name] = state_name(state)
        if missing:
            out["missing"] = missing
        return out

    def _is_pointer(self, field):
        """Of all fields only these may be addresses of the kernel, and only
        where the query looks there: [vsyscall] of a task is high up, too."""
        if field.id not in (_api.PAGEDET_FIELD_VADDR,
                            _api.PAGEDET_FIELD_VMA_START,
                            _api.PAGEDET_FIELD_VMA_END) or \
                self._target not in ("kaddr", "mappers"):
            return False
        if self._target == "kaddr":
            return True
        kind = schema().fields[_api.PAGEDET_FIELD_MAP]
        if self._state(kind) == _api.PAGEDET_HAVE:
            return self._raw(kind) != _api.PAGEDET_MAP_USER
        return self._raw(field) >> 63 != 0

    def _into(self, out, field):
        value = self._value(field)
        if field.type in ("hex", "stack"):
            value = "0x%x" % value
        elif field.type == "mask":
            out[field.name] = list(value)
            unknown = self._unknown(field)
            if unknown:
                out[field.name + "_unknown"] = list(unknown)
            return
        elif field.type in ("string", "list"):
            raw = self._texts[field.id]
            text = raw.decode("utf-8", "replace")
            out[field.name] = text.split("|") if field.type == "list" else \
                text
            if text.encode() != raw:
                out[field.name + "_hex"] = raw.hex()
            return
        out[field.name] = value

    def __bytes__(self):
        return self._data

    def __repr__(self):
        return "<pagedet.Row %s>" % " ".join(
            "%s=%s" % (name, self[name] if name in self else "?")
            for name in self.keys())


def _signed(value):
    return value - (value >> 63 << 64)


def _prot(value):
    return "".join((
        "r" if value & _api.PAGEDET_PROT_READ else "-",
        "w" if value & _api.PAGEDET_PROT_WRITE else "-",
        "x" if value & _api.PAGEDET_PROT_EXEC else "-",
        "s" if value & _api.PAGEDET_PROT_SHARED else "p"))
