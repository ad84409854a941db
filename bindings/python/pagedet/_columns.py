# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The rows of a step as columns, in the library's own memory."""
import collections
import collections.abc
import ctypes

from . import _api
from ._schema import schema

Column = collections.namedtuple("Column", "values cells")

READ_ONLY = "the columns of a step end with the next step"


class Columns(collections.abc.Mapping):
    """{field name: Column(values, cells)} of .rows rows.

    Without a copy: the memory is the library's. It holds these rows until the
    next step of the query; memoryviews are released then and say so, arrays
    of numpy show other rows. copy() is for what is to stay.
    """

    def __init__(self, columns, hold, numpy):
        self.rows = columns.rows
        self._numpy = numpy
        self._views = []
        self._columns = {}
        for i in range(columns.n_columns):
            column = columns.columns[i]
            name = schema().field(int(column.field)).name
            self._columns[name] = Column(
                self._view(column.value, ctypes.c_uint64, "Q", hold),
                self._view(column.cell, ctypes.c_uint16, "H", hold))

    def _view(self, pointer, kind, code, hold):
        array = (kind * self.rows).from_address(
            ctypes.cast(pointer, ctypes.c_void_p).value)
        array.hold = hold       # the query stays as long as its memory is seen
        if self._numpy:
            view = self._numpy.frombuffer(array, kind)
            view.flags.writeable = False
            return view
        view = memoryview(array).cast("B").cast(code).toreadonly()
        self._views.append(view)
        return view

    def __getitem__(self, name):
        return self._columns[name]

    def __iter__(self):
        return iter(self._columns)

    def __len__(self):
        return len(self._columns)

    def have(self, name):
        """Which rows have an answer: a mask for numpy, else a list."""
        cells = self._columns[name].cells
        if self._numpy:
            return cells & 0xff == _api.PAGEDET_HAVE
        return [_api.PAGEDET_CELL_STATE(cell) == _api.PAGEDET_HAVE
                for cell in cells]

    def copy(self):
        """The same columns in memory of their own, as a dict."""
        if self._numpy:
            return {name: Column(column.values.copy(), column.cells.copy())
                    for name, column in self.items()}
        return {name: Column(duplicate(column.values),
                             duplicate(column.cells))
                for name, column in self.items()}

    def release(self):
        """End the views, as the next step is about to begin."""
        for view in self._views:
            try:
                view.release()
            except BufferError:
                pass            # in use by what was made from it
        self._views = []
        self._columns = {}


def duplicate(view):
    return memoryview(bytes(view)).cast(view.format)
