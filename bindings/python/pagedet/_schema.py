# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What a row is, asked of the library at run time.

A newer library has more fields than this binding was written for; they are
found here and work like all others.
"""
import collections
import functools

from . import _api
from ._library import decode, library
from ._structs import told

Field = collections.namedtuple(
    "Field", "id name type unit group since text offset width position known")

TYPES = {
    _api.PAGEDET_TYPE_NUMBER: "number", _api.PAGEDET_TYPE_HEX: "hex",
    _api.PAGEDET_TYPE_ENUM: "enum", _api.PAGEDET_TYPE_MASK: "mask",
    _api.PAGEDET_TYPE_STRING: "string", _api.PAGEDET_TYPE_LIST: "list",
    _api.PAGEDET_TYPE_STACK: "stack", _api.PAGEDET_TYPE_DEV: "dev",
    _api.PAGEDET_TYPE_PROT: "prot", _api.PAGEDET_TYPE_SIGNED: "signed",
}
TEXTS = ("string", "list")


class Schema:
    """All fields, in the order of the output: .fields by id, .names by name,
    .row_size of a row. .masks has the field that says which bits of a field
    are known, or None; .shown are the fields without those."""

    def __init__(self):
        infos = [library().pagedet_field(number)
                 for number in range(_api.PAGEDET_FIELDS_MAX)]
        fields = [self._field(info.contents) for info in infos if info]
        fields.sort(key=lambda field: (field.position, field.id))
        self.fields = {field.id: field for field in fields}
        self.names = {field.name: field for field in fields}
        end = max(field.offset + field.width for field in fields)
        self.row_size = (end + 7) // 8 * 8
        self.masks = {field: self.fields.get(field.known)
                      if field.known != field.id else None
                      for field in fields}
        known = {field for field in self.masks.values() if field}
        self.shown = [field for field in fields if field not in known]
        self.texts = [field for field in fields if field.type in TEXTS]

    @staticmethod
    def _field(info):
        known = {name: told(info, name) for name in Field._fields}
        known["type"] = TYPES.get(known["type"], "number")
        return Field(**known)

    def field(self, name):
        """A field by name or id."""
        found = self.fields.get(name) if isinstance(name, int) else \
            self.names.get(name)
        if found is None:
            raise KeyError("there is no field %r" % (name,))
        return found

    def dtype(self):
        """numpy's description of a row."""
        import numpy
        names, formats, offsets = ["cell"], [], [0]
        formats.append((numpy.uint16, (_api.PAGEDET_FIELDS_MAX,)))
        for field in sorted(self.fields.values(), key=lambda f: f.offset):
            names.append(field.name)
            formats.append("u%d" % field.width)
            offsets.append(field.offset)
        return numpy.dtype({"names": names, "formats": formats,
                            "offsets": offsets, "itemsize": self.row_size})


@functools.lru_cache(maxsize=None)
def schema():
    return Schema()


@functools.lru_cache(maxsize=None)
def value_name(field, value):
    """The name of an enum's value or a mask's bit, or None."""
    return decode(library().pagedet_value_name(field, value))


@functools.lru_cache(maxsize=None)
def state_name(state):
    return decode(library().pagedet_state_name(state)) or "state%d" % state


@functools.lru_cache(maxsize=None)
def source_name(source):
    return decode(library().pagedet_source_name(source))


@functools.lru_cache(maxsize=None)
def sources():
    """Every source: {name: number}."""
    found = {}
    for number in range(32):
        name = source_name(number)
        if name:
            found[name] = number
    return found


def source_bits(names):
    """PAGEDET_SOURCE_BIT()s of "procfs,bpf" or a list of names."""
    bits = 0
    for name in words(names):
        if name not in sources():
            raise ValueError("there is no source %r" % name)
        bits |= _api.PAGEDET_SOURCE_BIT(sources()[name])
    return bits


@functools.lru_cache(maxsize=4096)
def bit_names(field, value):
    """The names of the bits that are set, lowest first."""
    return tuple(value_name(field.id, bit) or "bit%d" % bit
                 for bit in range(field.width * 8) if value >> bit & 1)


@functools.lru_cache(maxsize=None)
def named_bits(field):
    """The bits of a mask that have names."""
    return sum(1 << bit for bit in range(field.width * 8)
               if value_name(field.id, bit))


@functools.lru_cache(maxsize=None)
def bit_number(field, name):
    for bit in range(field.width * 8):
        if value_name(field.id, bit) == name or name == "bit%d" % bit:
            return bit
    raise KeyError("%s has no bit %r" % (field.name, name))


def field_names(bits):
    """The names in a set of fields, as pagedet_query.fields."""
    return frozenset(field.name for field in schema().fields.values()
                     if bits[field.id // 64] >> field.id % 64 & 1)


def words(value):
    """"a,b" or ["a", "b"] or None as a list."""
    if value is None:
        return []
    if isinstance(value, str):
        return [word for word in value.split(",") if word]
    return list(value)
