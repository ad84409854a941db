# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""A query that is running: rows, batches, columns, and what became of it."""
import collections
import ctypes
import errno

from . import _api
from ._columns import Columns
from ._emit import Emitter
from ._library import Error, decode, library
from ._lifetime import Hold, Owned
from ._row import Row
from ._schema import field_names, schema, state_name
from ._structs import namespace
from ._targets import items

Why = collections.namedtuple("Why", "state advice")

ROWS = 256                      # of a step, for those who take single rows


class Query:
    """Rows of one question, each step of them read when it is wanted.

    Iterating gives Row objects that are the caller's own. batches() and
    columns() give many rows at once. All of them take from the same stream.
    """

    def __init__(self, handle, target, owned, callback):
        self._handle = handle
        self._target = target
        self._owned = owned
        self._callback = callback
        self._ready = collections.deque()
        self._buffer = None
        self._columns = None

    # --- calls

    def _call(self, name, *arguments):
        """library().name(iterator, ...) and what it answers."""
        with self._handle.gate:
            return self._inside(name, *arguments)

    def _inside(self, name, *arguments):
        if self._owned.dropped():
            raise ValueError("the query is closed")
        result = getattr(library(), name)(self._owned.pointer, *arguments)
        error = self._callback.take()
        if error is not None:
            raise error
        if isinstance(result, int) and result < 0:
            raise self._handle.failure(result)
        return result

    def _step(self):
        """Before the next rows are read: views of the last ones end."""
        if self._columns is not None:
            self._columns.release()
            self._columns = None

    # --- rows

    def __iter__(self):
        return self

    def __next__(self):
        if not self._ready:
            self._fill()
        return self._ready.popleft()

    def _fill(self):
        size = schema().row_size
        if self._buffer is None:
            self._buffer = ctypes.create_string_buffer(size * ROWS)
        with self._handle.gate:
            self._step()
            rows = self._inside("pagedet_next", self._page(self._buffer),
                                ROWS)
            texts = {}
            for i in range(rows):
                data = ctypes.string_at(
                    ctypes.addressof(self._buffer) + i * size, size)
                row = Row(data, self._target)
                row._texts = self._row_texts(row, texts)
                self._ready.append(row)
        if not rows:
            raise StopIteration

    @staticmethod
    def _page(buffer):
        return ctypes.cast(buffer, ctypes.POINTER(_api.pagedet_page))

    def _row_texts(self, row, cache):
        """Texts live as long as the step, rows longer."""
        found = None
        for field in schema().texts:
            if row._state(field) != _api.PAGEDET_HAVE:
                continue
            number = row._raw(field)
            if number not in cache:
                cache[number] = self._string(number) or b""
            found = found or {}
            found[field.id] = cache[number]
        return found

    def _string(self, number):
        length = ctypes.c_size_t()
        place = self._inside("pagedet_string", number, ctypes.byref(length))
        return ctypes.string_at(place, length.value) if place else None

    def batches(self, rows=4096, numpy=None):
        """Steps of up to that many rows, in memory of their own: structured
        arrays of numpy if it is installed, else memoryviews of bytes, one row
        each. numpy=True or False decides."""
        with_numpy = want_numpy(numpy)
        size = schema().row_size
        while True:
            memory = bytearray(size * rows)
            buffer = (ctypes.c_char * len(memory)).from_buffer(memory)
            with self._handle.gate:
                self._take_ready()
                self._step()
                got = self._inside("pagedet_next", self._page(buffer), rows)
            if not got:
                return
            if with_numpy:
                yield with_numpy.frombuffer(memory, schema().dtype(), got)
            else:
                yield memoryview(memory)[:got * size].cast(
                    "B", shape=[got, size])

    def columns(self, numpy=None):
        """Steps as columns, without a copy: a mapping of field names to
        (values, cells). They are memory of the library: right until the next
        step, so copy() what is to stay."""
        with_numpy = want_numpy(numpy)
        while True:
            columns = _api.pagedet_columns(ctypes.sizeof(_api.pagedet_columns))
            with self._handle.gate:
                self._take_ready()
                self._step()
                if not self._inside("pagedet_next_columns",
                                    ctypes.byref(columns)):
                    return
                self._columns = Columns(columns, Hold(self._owned),
                                        with_numpy)
            yield self._columns

    def _take_ready(self):
        if self._ready:
            raise RuntimeError("single rows of the last step are still "
                               "waiting: take them first")

    # --- what belongs to the current step

    def string(self, number):
        """The text behind an id of this step, for batches() and columns()."""
        with self._handle.gate:
            text = self._string(int(number))
        if text is None:
            raise KeyError("no text %d in this step" % number)
        return decode(text)

    def stack(self, number):
        """The frames behind a stack id of this step, innermost first."""
        room = 64
        while True:
            frames = (ctypes.c_char_p * room)()
            with self._handle.gate:
                depth = self._inside("pagedet_stack", int(number), frames,
                                     room)
                if depth <= room:
                    return [decode(frame) for frame in frames[:depth]]
            room = depth

    def page_bytes(self, row):
        """The bytes of the page in a row of this step, or None."""
        length = ctypes.c_size_t()
        with self._handle.gate:
            place = self._inside("pagedet_page_bytes", row,
                                 ctypes.byref(length))
            return ctypes.string_at(place, length.value) if place else None

    # --- what becomes of it

    def fields(self):
        """Names of the fields that the rows carry."""
        bits = (ctypes.c_uint64 * 2)()
        self._call("pagedet_iter_fields", bits)
        return field_names(bits)

    def why(self, name):
        """Why nobody can answer a field here ("have": somebody can), and what
        would help."""
        number = schema().field(name).id
        with self._handle.gate:
            state = self._inside("pagedet_why", number)
            advice = self._inside("pagedet_why_advice", number)
        return Why(state_name(state), decode(advice))

    def coverage(self):
        """How much of the question was looked at so far, and what got lost."""
        out = _api.pagedet_coverage(ctypes.sizeof(_api.pagedet_coverage))
        self._call("pagedet_coverage", ctypes.byref(out))
        return namespace(
            out, lost={state_name(reason): count
                       for reason, count in enumerate(out.lost) if count},
            answered=field_names(out.answered),
            complete=bool(out.complete),
            stopped=errno.errorcode.get(out.stopped) if out.stopped else None)

    def mappers(self):
        """Of target mappers, after the last row: what was found per pfn."""
        found = []
        out = _api.pagedet_mappers(ctypes.sizeof(_api.pagedet_mappers))
        while True:
            with self._handle.gate:
                try:
                    self._inside("pagedet_mappers", len(found),
                                 ctypes.byref(out))
                except FileNotFoundError:
                    return found
                known = out.expected_state == _api.PAGEDET_HAVE
                seen = out.found_state == _api.PAGEDET_HAVE
                found.append(namespace(
                    out, expected=out.expected if known else None,
                    expected_state=state_name(out.expected_state),
                    found=out.found if seen else None,
                    found_state=state_name(out.found_state),
                    exact=out.mapcount_kind == _api.PAGEDET_MAPCOUNT_EXACT,
                    unread=out.unread[:out.n_unread]))

    def retarget(self, value):
        """Ask the same about other places: fast for one after the other."""
        places, count = items(self._target, value)
        with self._handle.gate:
            self._step()
            self._ready.clear()
            self._inside("pagedet_iter_retarget", places, count)
        return self

    def emit(self, out, format="json", **options):
        """Write what is left of the rows to a file or descriptor. Rows before
        a failure are written, too."""
        with Emitter(self._handle, out, format, **options) as emitter:
            try:
                emitter.all(self)
            except Error:
                emitter.finish()
                raise

    def emit_into(self, call):
        """For Emitter: call() with this query as argument."""
        self._take_ready()
        self._step()
        if self._owned.dropped():
            raise ValueError("the query is closed")
        try:
            call("pagedet_emit_all", self._owned.pointer)
        except Error:
            error = self._callback.take()
            if error is not None:
                raise error from None
            raise

    def to_text(self, format="json", **options):
        """What is left of the rows as bytes."""
        with Emitter(self._handle, None, format, **options) as emitter:
            emitter.all(self)
            emitter.finish()
            return emitter.text()

    def to_json_text(self, **options):
        """What is left of the rows, one JSON object a line."""
        return self.to_text("json", **options).decode()

    # --- the end

    def cancel(self):
        """Make the running step stop soon; from any thread."""
        self._owned.use()
        try:
            if self._owned.pointer is not None:
                library().pagedet_cancel(self._owned.pointer)
        finally:
            self._owned.unuse()

    def close(self):
        """End the query. Views of columns stay readable while they are
        held."""
        if self._columns is not None:
            self._columns.release()
            self._columns = None
        self._ready.clear()
        self._owned.drop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def want_numpy(wanted):
    """The module numpy, or None."""
    if wanted is False:
        return None
    try:
        import numpy
    except ImportError:
        if wanted:
            raise
        return None
    return numpy


def start(handle, target, query, callback, index):
    """pagedet_query(): the plan is made, nothing is read yet."""
    pointer = ctypes.POINTER(_api.pagedet_iter)()
    needs = (handle.owned,) + ((index.owned,) if index else ())
    with handle.gate:
        handle.check(library().pagedet_query(
            handle.pointer(), ctypes.byref(query), ctypes.byref(pointer)))
        owned = Owned(handle.gate, pointer, library().pagedet_iter_free,
                      needs, callback)
    return Query(handle, target, owned, callback)
