# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Rows as text, by the library's own writers."""
import ctypes

from . import _api
from ._library import failure, library
from ._lifetime import Owned

FORMATS = {"text": _api.PAGEDET_FORMAT_TEXT, "json": _api.PAGEDET_FORMAT_JSON,
           "csv": _api.PAGEDET_FORMAT_CSV, "arrow": _api.PAGEDET_FORMAT_ARROW}


class Emitter:
    """Writes rows, surveys and groups to a file, a descriptor or memory.

    As a context it finishes what it holds back, unless an exception passes.
    """

    def __init__(self, handle, out=None, format="json", colour=False,
                 sources=False, pointers=False, width=0, stacks=False):
        if format not in FORMATS:
            raise ValueError("%r is none of: %s"
                             % (format, ", ".join(FORMATS)))
        self._handle = handle
        self._file = None
        options = _api.pagedet_emit_options(
            ctypes.sizeof(_api.pagedet_emit_options), FORMATS[format],
            (_api.PAGEDET_EMIT_COLOUR if colour else 0) |
            (_api.PAGEDET_EMIT_SOURCES if sources else 0) |
            (_api.PAGEDET_EMIT_POINTERS if pointers else 0) |
            (_api.PAGEDET_EMIT_STACKS if stacks else 0),
            self._descriptor(out), width)
        pointer = ctypes.POINTER(_api.pagedet_emitter)()
        with handle.gate:
            handle.check(library().pagedet_emitter_new(
                handle.pointer(), ctypes.byref(options),
                ctypes.byref(pointer)))
            self._owned = Owned(handle.gate, pointer,
                                library().pagedet_emitter_free,
                                (handle.owned,))
        handle.made(self)

    def _descriptor(self, out):
        if out is None:
            return -1
        if hasattr(out, "__index__"):
            return out.__index__()
        self._file = out        # keeps it open
        out.flush()
        return out.fileno()

    def _call(self, name, *arguments):
        if self._owned.dropped():
            raise ValueError("the emitter is closed")
        self._handle.check(getattr(library(), name)(
            self._owned.pointer, *arguments))

    def all(self, query):
        """Write what is left of a query."""
        with self._handle.gate:
            query.emit_into(self._call)

    def survey(self):
        """Write what every source can answer here."""
        with self._handle.gate:
            self._call("pagedet_emit_survey", self._handle.pointer())

    def finish(self):
        """Write what is held back."""
        with self._handle.gate:
            if self._owned.dropped():
                raise ValueError("the emitter is closed")
            code = library().pagedet_emitter_finish(self._owned.pointer)
        if code < 0:
            raise failure(-code)    # the handle has no words for this call

    def text(self):
        """The bytes so far, of an emitter that writes to memory."""
        length = ctypes.c_size_t()
        with self._handle.gate:
            if self._owned.dropped():
                raise ValueError("the emitter is closed")
            place = library().pagedet_emitter_text(self._owned.pointer,
                                                   ctypes.byref(length))
            return ctypes.string_at(place, length.value)

    def close(self):
        self._owned.drop()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.finish()
        finally:
            self.close()
