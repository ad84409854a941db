# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The mapping index."""
import collections
import ctypes

from . import _api
from ._library import library
from ._lifetime import Owned
from ._schema import bit_names, schema
from ._structs import namespace

Mapping = collections.namedtuple("Mapping", "pid vaddr pte")


class Index:
    """Who maps a page, without another pass over the page tables."""

    def __init__(self, handle, pointer):
        self._handle = handle
        self.owned = Owned(handle.gate, pointer, library().pagedet_index_free,
                           (handle.owned,))

    def pointer(self):
        if self.owned.dropped():
            raise ValueError("the index is closed")
        return self.owned.pointer

    def find(self, pfn):
        """The mappings of one page, by pid and address."""
        room = 64
        while True:
            found = (_api.pagedet_mapping * room)()
            with self._handle.gate:
                count = library().pagedet_index_find(self.pointer(), pfn,
                                                     found, room)
            if count <= room:
                break
            room = count
        pte = schema().field("pte")
        return [Mapping(one.pid, one.vaddr, bit_names(pte, one.pte))
                for one in found[:count]]

    def info(self):
        """Size and completeness."""
        out = _api.pagedet_index_info(ctypes.sizeof(_api.pagedet_index_info))
        with self._handle.gate:
            self._handle.check(library().pagedet_index_info(
                self.pointer(), ctypes.byref(out)))
            return namespace(out, unread=out.unread[:out.n_unread])

    def close(self):
        """Free it, once the queries that use it have ended."""
        self.owned.drop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
