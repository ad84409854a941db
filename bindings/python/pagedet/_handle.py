# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The handle: one opened kernel, and what is made from it."""
import collections
import ctypes
import os
import weakref

from . import _api, _query, _schema
from ._emit import Emitter
from ._index import Index
from ._library import decode, failure, library
from ._lifetime import Gate, Owned
from ._progress import Callback
from ._schema import schema, source_bits, source_name, state_name, words
from ._structs import namespace
from ._targets import PAGES, PATHS, TARGETS, items

Ability = collections.namedtuple(
    "Ability", "field source can reason cost why advice")

COSTS = {
    _api.PAGEDET_COST_FREE: "free", _api.PAGEDET_COST_READ: "read",
    _api.PAGEDET_COST_LOOKUP: "lookup", _api.PAGEDET_COST_SWEEP: "sweep",
    _api.PAGEDET_COST_CONTENT: "content",
    _api.PAGEDET_COST_INTRUSIVE: "intrusive",
}
ORDERS = {"walk": _api.PAGEDET_ORDER_WALK, "any": _api.PAGEDET_ORDER_ANY}
FDS = {
    "kpageflags": _api.PAGEDET_FD_KPAGEFLAGS,
    "kpagecount": _api.PAGEDET_FD_KPAGECOUNT,
    "kpagecgroup": _api.PAGEDET_FD_KPAGECGROUP,
    "pagemap": _api.PAGEDET_FD_PAGEMAP, "maps": _api.PAGEDET_FD_MAPS,
}
LEVELS = {"error": _api.PAGEDET_LOG_ERROR, "warning": _api.PAGEDET_LOG_WARNING,
          "info": _api.PAGEDET_LOG_INFO, "debug": _api.PAGEDET_LOG_DEBUG}
OPTIONS = {
    "runs": _api.PAGEDET_Q_RUNS, "undecided": _api.PAGEDET_Q_UNDECIDED,
    "single_source": _api.PAGEDET_Q_SINGLE_SOURCE,
    "keep_strings": _api.PAGEDET_Q_KEEP_STRINGS,
    "unchecked": _api.PAGEDET_Q_UNCHECKED, "holes": _api.PAGEDET_Q_HOLES,
}


def pick(table, name, what):
    if name not in table:
        raise ValueError("%r is no %s; there are: %s"
                         % (name, what, ", ".join(table)))
    return table[name]


def nanoseconds(seconds):
    if seconds is None:
        return 0
    if seconds <= 0:
        raise ValueError("no time is left: %r" % seconds)
    return max(1, round(seconds * 1e9))


def path_or_none(path):
    return None if path is None else os.fsencode(path)


class Handle:
    """One opened kernel: the running one, a dump, a snapshot or a text.

    Its calls wait for each other; dup() is for working in parallel. close()
    ends the queries made from it.
    """

    def __init__(self, pointer):
        self.gate = Gate()
        if not pointer:
            raise MemoryError("no memory for a handle")
        self.owned = Owned(self.gate, pointer, library().pagedet_free)
        self._made = weakref.WeakSet()

    # --- for the other parts of this package

    def pointer(self):
        if self.owned.dropped():
            raise ValueError("the handle is closed")
        return self.owned.pointer

    def failure(self, code):
        """The exception for a negative errno, with the library's words."""
        return failure(-code, decode(library().pagedet_error(self.pointer())),
                       decode(library().pagedet_advice(self.pointer())))

    def check(self, code):
        if code < 0:
            raise self.failure(code)
        return code

    def made(self, child):
        """close() closes @child first."""
        self._made.add(child)
        return child

    # --- opening

    def open(self, options):
        with self.gate:
            self.check(library().pagedet_open(self.pointer(),
                                              ctypes.byref(options)))

    def dup(self):
        """A second handle on the same kernel, for another thread."""
        pointer = ctypes.POINTER(_api.pagedet)()
        with self.gate:
            self.check(library().pagedet_dup(self.pointer(),
                                             ctypes.byref(pointer)))
        return Handle(pointer)

    def add_fd(self, kind, fd, pid=0):
        """Hand in a descriptor opened by somebody with more privilege. It is
        duplicated: the caller keeps its own."""
        fd = fd if hasattr(fd, "__index__") else fd.fileno()
        with self.gate:
            self.check(library().pagedet_add_fd(
                self.pointer(), pick(FDS, kind, "kind of descriptor"), pid,
                fd))

    def set_log(self, function, level="warning"):
        """Call function(level, text) with what the library says; None is
        silence. What it raises is printed and lost."""
        names = {number: name for name, number in LEVELS.items()}

        def call(_, number, text):
            function(names.get(number, "debug"), decode(text))
        callback = _api.pagedet_log_fn(call) if function else \
            _api.pagedet_log_fn()
        with self.gate:
            library().pagedet_set_log(self.pointer(), callback, None,
                                      pick(LEVELS, level, "level"))
            self.owned.keep = callback

    # --- what is known

    def info(self):
        """Page size, architecture, release ... of the opened kernel."""
        out = _api.pagedet_info(ctypes.sizeof(_api.pagedet_info))
        with self.gate:
            self.check(library().pagedet_info(self.pointer(),
                                              ctypes.byref(out)))
            return namespace(
                out, live=bool(out.live), big_endian=bool(out.big_endian),
                sources=frozenset(
                    name for name, number in _schema.sources().items()
                    if out.sources & _api.PAGEDET_SOURCE_BIT(number)))

    def survey(self, fields=None, sources=None):
        """Which source can answer which field here, or why not."""
        found = []
        names = words(fields) or schema().names
        for field in [schema().field(name) for name in names]:
            for name in words(sources) or _schema.sources():
                number = pick(_schema.sources(), name, "source")
                found.append(self._ability(field, number))
        return found

    def _ability(self, field, source):
        out = _api.pagedet_ability(ctypes.sizeof(_api.pagedet_ability))
        with self.gate:
            self.check(library().pagedet_survey(
                self.pointer(), field.id, source, ctypes.byref(out)))
            can = bool(out.can)
            return Ability(field.name, source_name(source), can,
                           None if can else state_name(out.reason),
                           COSTS.get(out.cost) if can else None,
                           decode(out.why), decode(out.advice))

    # --- asking

    def query(self, *, fields="cheap", where=None, by=None, pages=None,
              index=None, order="walk", threads=1, deadline=None, limit=0,
              sources=None, string_bytes=0, progress=None,
              progress_every=None, **target):
        """Ask. One target names the pages:

        pfn, phys, mappers   7, range(7, 9), (first, count), or a list of them
        virt                 (pid, address[, bytes]), or a list of them
        task                 pid, (pid, address, bytes), or a list of them
        file, block          path; pages= names page offsets as pfn does
        tree, mount, cgroup, log   path
        scan                 True: every page of memory
        kaddr                address, (address, "page"), or a list of them

        fields: names and groups, "a,b" or a list. where: a filter. by: fields
        to count by. runs, undecided, holes, single_source, keep_strings,
        unchecked: True. deadline, progress_every: seconds. progress: called
        with (done, total, rows, elapsed_ns); what it answers, if true, cancels.
        """
        query = _api.pagedet_query()
        library().pagedet_query_init(
            ctypes.byref(query), ctypes.sizeof(query), schema().row_size)
        options = self._query_options(target)
        if len(target) != 1:
            raise TypeError("query() takes one target, not %s"
                            % (", ".join(target) or "none"))
        (name, place), = target.items()
        query.target = pick(TARGETS, name, "target")
        self._place(query, name, place, pages)
        self._fields(query, fields, by)
        query.options |= options
        query.where = where.encode() if where is not None else None
        query.order = pick(ORDERS, order, "order")
        query.threads = threads
        query.deadline_ns = nanoseconds(deadline)
        query.limit = limit
        query.sources = source_bits(sources)
        query.string_bytes = string_bytes
        query.progress_ns = nanoseconds(progress_every)
        if index is not None:
            query.index = index.pointer()
        callback = Callback(progress)
        query.progress = callback.function
        query.progress_user = callback.user
        return self.made(_query.start(self, name, query, callback, index))

    @staticmethod
    def _query_options(target):
        bits = 0
        for name, bit in OPTIONS.items():
            if target.pop(name, False):
                bits |= bit
        return bits

    @staticmethod
    def _place(query, name, place, pages):
        if name in PATHS:
            query.path = os.fsencode(place)
            place = pages if name in PAGES else None
        elif name == "scan":
            if place is not True:
                raise ValueError("scan=True is every page of memory; pfn=... "
                                 "are some")
            place = None
        elif pages is not None:
            raise TypeError("pages= is for file and block")
        if place is not None:
            query.items, query.n_items = items(name, place)

    def _fields(self, query, fields, by):
        # groups count pages: their fields are the keys
        names = words(by if by is not None else fields)
        if names:
            with self.gate:
                self.check(library().pagedet_fields_parse(
                    self.pointer(), ",".join(names).encode(),
                    ctypes.byref(query)))
        if by is not None:
            query.options |= _api.PAGEDET_Q_GROUP
            numbers = [schema().field(name).id for name in words(by)]
            if numbers:
                query.group_by = (ctypes.c_uint32 * len(numbers))(*numbers)
                query.n_group_by = len(numbers)

    def index(self, threads=1, deadline=None, sources=None, progress=None,
              progress_every=None):
        """One pass over the page tables of every task: who maps a page, asked
        many times. What progress is told of are tasks."""
        callback = Callback(progress)
        options = _api.pagedet_index_options(
            ctypes.sizeof(_api.pagedet_index_options), nanoseconds(deadline),
            callback.function, callback.user, nanoseconds(progress_every),
            threads, source_bits(sources))
        pointer = ctypes.POINTER(_api.pagedet_index)()
        with self.gate:
            code = library().pagedet_index_new(
                self.pointer(), ctypes.byref(options), ctypes.byref(pointer))
            error = callback.take()
            if error is None:
                self.check(code)
        index = self.made(Index(self, pointer))
        if error is not None:
            index.close()       # there is none, if the error was heard
            raise error
        return index

    def emitter(self, out=None, format="json", **options):
        """Where rows of several queries become text: a file, a descriptor, or
        memory if out is None."""
        return Emitter(self, out, format, **options)

    # --- the end

    def close(self):
        """Close what was made from the handle, then the handle. Arrays that
        are still held keep their memory."""
        for child in list(self._made):
            child.close()
        self.owned.drop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def open_handle(root, sources, files, vmlinux, btf, vmcoreinfo, hash_key,
                libexec_dir, page_size):
    options = _api.pagedet_options()
    library().pagedet_options_init(ctypes.byref(options),
                                   ctypes.sizeof(options))
    paths = [os.fsencode(path) for path in (
        [files] if isinstance(files, (str, bytes, os.PathLike)) else
        files or [])]
    if paths:
        options.files = (ctypes.c_char_p * len(paths))(*paths)
        options.n_files = len(paths)
    options.root = path_or_none(root)
    options.vmlinux = path_or_none(vmlinux)
    options.btf = path_or_none(btf)
    options.vmcoreinfo = path_or_none(vmcoreinfo)
    options.hash_key = path_or_none(hash_key)
    options.libexec_dir = path_or_none(libexec_dir)
    options.sources = source_bits(sources)
    options.page_size = page_size
    handle = Handle(library().pagedet_new())
    try:
        handle.open(options)
    except BaseException:
        handle.close()
        raise
    return handle
