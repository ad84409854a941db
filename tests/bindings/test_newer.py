# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The Python layer on newer.c: fields that the header does not know, failures,
and all that callers do in the wrong order."""
import ctypes
import errno
import gc
import os
import shlex
import subprocess
import tempfile
import threading
import time
import unittest

try:
    import numpy
except ImportError:
    numpy = None

TOP = os.environ["top_srcdir"]
NO_NUMPY = "numpy is not installed for this python"
COLOUR = 57                     # a field that the header does not know


def setUpModule():
    global pagedet, newer, place
    place = tempfile.TemporaryDirectory()
    path = os.path.join(place.name, "libnewer.so")
    subprocess.run(
        shlex.split(os.environ.get("CC", "cc")) +
        ["-std=gnu11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-pthread",
         "-I" + os.path.join(TOP, "include"), "-o", path,
         os.path.join(TOP, "tests", "bindings", "newer.c")], check=True)
    os.environ["PAGEDET_LIBRARY"] = path
    import pagedet
    newer = ctypes.CDLL(path)


def tearDownModule():
    place.cleanup()


def count(name):
    return ctypes.c_uint.in_dll(newer, name).value


class Newer(unittest.TestCase):
    def setUp(self):
        self.pd = pagedet.open()

    def tearDown(self):
        """Whatever a test did: all is freed, once and in order."""
        self.pd.close()
        del self.pd
        gc.collect()
        self.assertEqual(count("newer_wrong"), 0)
        self.assertEqual(count("newer_iters"), 0)
        self.assertEqual(count("newer_handles"), 0)


class Schema(Newer):
    def test_new_field(self):
        """a field that this binding does not know has a value in each row"""
        self.assertEqual(pagedet.version(), "9.0.0")
        field = pagedet.field("colour")
        self.assertEqual((field.id, field.since, field.unit, field.text),
                         (COLOUR, "9.0", "nm", "a colour"))
        rows = list(self.pd.query(pfn=range(2, 20 - 8)))
        self.assertEqual([row["colour"] for row in rows],
                         [3 * pfn for pfn in range(2, 12)])
        self.assertEqual(rows[0].as_dict(), {
            "pfn": 2, "kind": "anon", "comm": "task-2", "colour": 6,
            "glow": ["bright"], "glow_unknown": ["dim"]})
        self.assertEqual(rows[0].source("colour"), "moon")

    def test_position(self):
        """fields have the order of the library's output, not of their ids"""
        order = ["pfn", "vaddr", "colour", "comm", "glow", "sure", "kind",
                 "pte", "map", "glow_known"]
        self.assertEqual([field.name for field in pagedet.fields()], order)
        self.assertEqual([field.position for field in pagedet.fields()],
                         list(range(10)))
        row, = self.pd.query(pfn=2)
        self.assertEqual(row.keys(), ["pfn", "colour", "comm", "glow", "sure",
                                      "kind"])
        self.assertEqual(list(row.as_dict()), [
            "pfn", "colour", "comm", "glow", "glow_unknown", "kind"])

    def test_known(self):
        """the library says which field has the known bits of another"""
        glow, sure = pagedet.field("glow"), pagedet.field("sure")
        self.assertEqual((glow.known, sure.known), (sure.id, sure.id))
        row = next(self.pd.query(pfn=3))
        self.assertEqual(row["glow"], ("dim", "bright"))
        self.assertIs(row.bit("glow", "bright"), True)
        self.assertIsNone(row.bit("glow", "dim"))
        self.assertEqual(row.unknown("glow"), ("dim",))
        self.assertIs(next(self.pd.query(pfn=4)).bit("glow", "bright"), False)

    def test_size(self):
        """what lies behind the end of a struct is not read"""
        from pagedet._structs import told
        info = pagedet.api.pagedet_field_info(
            size=pagedet.api.pagedet_field_info.unit.offset + 8,
            id=7, name=b"old", unit=b"nm", group=b"wild", text=b"wild")
        self.assertEqual([told(info, name, "-") for name in
                          ("id", "name", "unit", "group", "text")],
                         [7, "old", "nm", "-", "-"])
        part = pagedet.api.pagedet_part(built=1)
        for size, expected in ((4, 1), (3, None)):
            part.size = pagedet.api.pagedet_part.built.offset + size
            self.assertEqual(told(part, "built"), expected)

    def test_new_reason(self):
        """a reason that this binding does not know has its name"""
        row, = self.pd.query(pfn=3)
        self.assertEqual(row.missing("comm"), "moonlit")
        self.assertEqual(row.as_dict()["missing"], {"comm": "moonlit"})
        self.assertNotIn("comm", row)
        self.assertEqual(row.get("comm", "?"), "?")
        with self.assertRaises(pagedet.Unknown) as caught:
            row["comm"]
        self.assertEqual(caught.exception.reason, "moonlit")
        query = self.pd.query(pfn=3)
        self.assertEqual(query.why("comm"), ("moonlit", "wait for the moon"))
        self.assertEqual(query.fields(), {"pfn", "colour"})
        coverage = query.coverage()
        self.assertEqual(coverage.lost, {"moonlit": 3})
        self.assertEqual(coverage.answered, {"colour"})
        self.assertIs(coverage.complete, False)

    def test_not_asked(self):
        """what the library does not fill in was not asked for"""
        row, = self.pd.query(pfn=4)
        self.assertEqual(row.state("vaddr"), "not_asked")
        self.assertNotIn("vaddr", row.keys())
        self.assertNotIn("vaddr", row.as_dict())
        self.assertRaises(KeyError, lambda: row["no_such_field"])

    def test_pointers(self):
        """kernel addresses are not in as_dict() unless it is asked for them"""
        for target in ("mappers", "kaddr"):
            row, = self.pd.query(**{target: 40})
            self.assertEqual(row["vaddr"], 0xffff888000028000)
            self.assertNotIn("vaddr", row.as_dict())
            self.assertEqual(row.as_dict(pointers=True)["vaddr"],
                             "0xffff888000028000")
        # nobody maps the kernel into a task: this one was asked for
        row, = self.pd.query(pfn=40)
        self.assertEqual(row.as_dict()["vaddr"], "0xffff888000028000")

    def test_new_source(self):
        """a source that this binding does not know can be named"""
        self.assertEqual(self.pd.info().sources, {"moon"})
        self.pd.query(pfn=1, sources="moon,procfs").close()
        with self.assertRaises(ValueError):
            self.pd.query(pfn=1, sources="sun")

    def test_rows_stay(self):
        """rows keep their texts after the step, the query and the handle"""
        query = self.pd.query(pfn=(0, 12))
        rows = list(query)
        query.close()
        self.pd.close()
        self.assertEqual([row["comm"] for row in rows[::2]],
                         ["task-%d" % pfn for pfn in range(0, 12, 2)])

    def test_missing_function(self):
        """a function that the library lacks is said by name"""
        with self.assertRaises(pagedet.NotSupported) as caught:
            self.pd.query(pfn=1).to_json_text()
        self.assertEqual(caught.exception.errno, errno.ENOSYS)
        self.assertIn("pagedet_emit_all()", str(caught.exception))

    def test_any_byte(self):
        """text with a length may hold any byte"""
        with self.pd.emitter() as emitter:
            self.assertEqual(emitter.text(), b"a\0b")


class Bulk(Newer):
    def test_memoryviews(self):
        """columns without numpy are memoryviews without a copy"""
        seen = []
        for columns in self.pd.query(pfn=(0, 12)).columns(numpy=False):
            self.assertEqual(list(columns), ["pfn", "vaddr", "kind", "comm",
                                             "colour", "glow", "sure"])
            view = columns["pfn"].values
            self.assertTrue(view.readonly)
            self.assertEqual((view.format, len(view)), ("Q", columns.rows))
            self.assertEqual(columns["pfn"].cells.format, "H")
            self.assertEqual(columns.have("comm"),
                             [pfn % 2 == 0 for pfn in view])
            seen += view
        self.assertEqual(seen, list(range(12)))

    def test_released(self):
        """memoryviews of a step that ended say so"""
        steps = self.pd.query(pfn=(0, 12)).columns(numpy=False)
        columns = next(steps)
        view, kept = columns["pfn"].values, columns.copy()
        next(steps)
        with self.assertRaises(ValueError):
            view[0]
        self.assertRaises(KeyError, lambda: columns["pfn"])
        self.assertEqual(list(kept["pfn"].values), list(range(8)))

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_arrays(self):
        """columns with numpy are arrays without a copy"""
        query = self.pd.query(pfn=(0, 12))
        steps = query.columns()
        columns = next(steps)
        values = columns["colour"].values
        self.assertEqual(values.dtype, numpy.uint64)
        self.assertFalse(values.flags.writeable)
        self.assertFalse(values.flags.owndata)
        self.assertEqual(values.tolist(), list(range(0, 24, 3)))
        self.assertEqual(columns["comm"].cells.dtype, numpy.uint16)
        self.assertEqual(columns.have("comm").tolist(), [True, False] * 4)
        kept = columns.copy()
        next(steps)
        self.assertEqual(kept["pfn"].values.tolist(), list(range(8)))
        self.assertEqual(kept["pfn"].cells.dtype, numpy.uint16)

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_arrays_outlive(self):
        """an array keeps its memory after everything was closed"""
        query = self.pd.query(pfn=(0, 8))
        values = next(query.columns())["pfn"].values
        query.close()
        self.pd.close()
        self.assertEqual(count("newer_iters"), 1)
        self.assertEqual(count("newer_handles"), 1)
        self.assertEqual(values.tolist(), list(range(8)))
        del values
        self.assertEqual(count("newer_iters"), 0)
        self.assertEqual(count("newer_handles"), 0)

    def test_slices_outlive(self):
        """a slice of a memoryview keeps its memory, too"""
        query = self.pd.query(pfn=(0, 8))
        part = next(query.columns(numpy=False))["pfn"].values[2:4]
        query.close()
        self.pd.close()
        self.assertEqual(list(part), [2, 3])
        self.assertEqual(count("newer_iters"), 1)
        del part
        self.assertEqual(count("newer_iters"), 0)

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_structured(self):
        """batches with numpy have the library's fields"""
        batches = list(self.pd.query(pfn=(0, 12)).batches())
        self.assertEqual([len(batch) for batch in batches], [8, 4])
        self.assertEqual(batches[0]["colour"].tolist(),
                         list(range(0, 24, 3)))
        self.assertEqual(batches[1]["pfn"].tolist(), [8, 9, 10, 11])
        self.assertEqual(batches[0]["kind"].dtype, numpy.uint32)
        self.assertEqual((batches[0]["cell"][:, COLOUR] & 255).tolist(),
                         [1] * 8)

    def test_bytes(self):
        """batches without numpy are rows of bytes"""
        batch = next(self.pd.query(pfn=(7, 3)).batches(numpy=False))
        size = ctypes.sizeof(pagedet.api.pagedet_page) + 16
        self.assertEqual(batch.shape, (3, size))
        offset = pagedet.field("pfn").offset
        flat = batch.cast("B")
        self.assertEqual([flat[i * size + offset] for i in range(3)],
                         [7, 8, 9])

    def test_strings_of_a_step(self):
        """texts of batches and columns are looked up in their step"""
        query = self.pd.query(pfn=(0, 12))
        steps = query.columns(numpy=False)
        number = next(steps)["comm"].values[2]
        self.assertEqual(query.string(number), "task-2")
        next(steps)
        self.assertRaises(KeyError, query.string, number)

    def test_mixed(self):
        """single rows that wait are not lost to a batch"""
        query = self.pd.query(pfn=(0, 12))
        next(query)
        self.assertRaises(RuntimeError, next, query.batches())
        self.assertRaises(RuntimeError, next, query.columns())
        self.assertEqual(len(list(query)), 11)


class Failures(Newer):
    def test_text_and_advice(self):
        """a failure has errno, words and advice, and is of Python's class"""
        with self.assertRaises(PermissionError) as caught:
            pagedet.open(root="/closed")
        error = caught.exception
        self.assertIsInstance(error, pagedet.Error)
        self.assertEqual(error.errno, errno.EACCES)
        self.assertEqual(error.strerror,
                         "cannot read /closed: permission denied")
        self.assertEqual(error.advice, "needs CAP_SYS_ADMIN")
        self.assertEqual(str(error), "cannot read /closed: permission denied "
                         "(needs CAP_SYS_ADMIN)")

    def test_files(self):
        """several files reach the library, one may stand alone"""
        with self.assertRaises(pagedet.Damaged) as caught:
            pagedet.open(files=["/a", "/b"])
        self.assertEqual(caught.exception.strerror, "/b")
        pagedet.open(files="/a").close()

    def test_no_field(self):
        """a field that is none"""
        with self.assertRaises(FileNotFoundError) as caught:
            self.pd.query(pfn=1, fields="nonsense")
        self.assertEqual(str(caught.exception), "no field 'nonsense'")
        self.assertRaises(KeyError, pagedet.field, "nonsense")

    def test_rows_before(self):
        """rows before a failure are delivered"""
        query = self.pd.query(pfn=(0, 20))
        rows = []
        with self.assertRaises(OSError) as caught:
            for row in query:
                rows.append(row)
        self.assertEqual(caught.exception.errno, errno.EIO)
        self.assertEqual(len(rows), 8)

    def test_deadline(self):
        """a deadline that passed is a TimeoutError"""
        self.assertRaises(TimeoutError, next,
                          self.pd.query(pfn=1, deadline=0.001))
        self.assertRaises(ValueError, self.pd.query, pfn=1, deadline=0)

    def test_progress_cancels(self):
        """what progress answers, if true, cancels"""
        seen = []

        def progress(told):
            seen.append(told)
            return told.done >= 8
        query = self.pd.query(pfn=(0, 12), progress=progress)
        with self.assertRaises(pagedet.Cancelled) as caught:
            list(query)
        self.assertEqual(caught.exception.errno, errno.ECANCELED)
        self.assertEqual([(told.done, told.total) for told in seen],
                         [(0, 12), (8, 12)])

    def test_progress_raises(self):
        """what progress raises comes out of the query"""
        for error in (ZeroDivisionError, KeyboardInterrupt):
            def progress(_):
                raise error
            query = self.pd.query(pfn=1, progress=progress)
            self.assertRaises(error, next, query)
            self.assertRaises(error, self.pd.index, progress=progress)

    def test_cancel(self):
        """another thread cancels"""
        query = self.pd.query(scan=True)
        query.retarget((20, 10 ** 9))
        timer = threading.Timer(0.05, query.cancel)
        timer.start()
        with self.assertRaises(pagedet.Cancelled):
            for _ in query:
                pass
        timer.join()
        self.assertEqual(query.coverage().stopped, "ECANCELED")
        query.close()
        query.cancel()

    def test_places(self):
        """places that are none are refused before the library is asked"""
        for target in ({"pfn": -1}, {"pfn": 2 ** 64}, {"pfn": range(4, 1)},
                       {"pfn": range(0, 9, 2)}, {"scan": 4},
                       {"kaddr": (1, "slab")}, {"task": 2 ** 32},
                       {"planet": 3}):
            with self.assertRaises(ValueError, msg=target):
                self.pd.query(**target)
        for target in ({}, {"pfn": 1, "task": 1}, {"pfn": "12"},
                       {"pfn": 1.5}, {"pfn": 1, "pages": 2}):
            with self.assertRaises(TypeError, msg=target):
                self.pd.query(**target)


class Order(Newer):
    """Wrong order and wrong time: an exception, never a crash."""

    def test_use_after_close(self):
        """a closed query, handle, index or emitter says that it is closed"""
        query = self.pd.query(pfn=(0, 12))
        index = self.pd.index()
        emitter = self.pd.emitter()
        steps = query.columns(numpy=False)
        next(steps)
        query.close()
        index.close()
        emitter.close()
        for call in (query.coverage, query.fields, lambda: next(query),
                     lambda: next(steps), lambda: query.retarget(1),
                     lambda: query.why("pfn"), lambda: query.string(1),
                     lambda: index.find(1), emitter.text, emitter.finish,
                     lambda: self.pd.emitter().all(query)):
            self.assertRaises(ValueError, call)
        self.pd.close()
        self.assertRaises(ValueError, self.pd.info)
        self.assertRaises(ValueError, self.pd.query, pfn=1)
        self.assertRaises(ValueError, self.pd.emitter)
        for closed in (query, index, emitter, self.pd):
            closed.close()

    def test_handle_first(self):
        """closing the handle ends what was made from it"""
        query = self.pd.query(pfn=(0, 12))
        next(query)
        index = self.pd.index()
        self.pd.close()
        self.assertEqual(count("newer_handles"), 0)
        self.assertRaises(ValueError, next, query)
        self.assertRaises(ValueError, index.find, 1)

    def test_with(self):
        """with frees query and handle"""
        with pagedet.open() as pd, pd.query(pfn=1) as query:
            self.assertEqual(next(query)["pfn"], 1)
            self.assertEqual(count("newer_handles"), 2)
        self.assertEqual(count("newer_handles"), 1)
        self.assertEqual(count("newer_iters"), 0)

    def test_index_in_use(self):
        """an index is freed after the query that uses it"""
        index = self.pd.index()
        query = self.pd.query(mappers=1, index=index)
        index.close()
        del index
        gc.collect()
        self.assertEqual(next(query)["pfn"], 1)

    def test_cycle(self):
        """the collector may free handle and queries in any order"""
        for _ in range(20):
            pd = pagedet.open()
            ring = {"pd": pd}
            ring["query"] = pd.query(scan=True,
                                     progress=lambda told, r=ring: bool(r) < 0)
            ring["index"] = pd.index()
            ring["row"] = next(ring["query"])
            ring["ring"] = ring
            pd.ring = ring
            del pd, ring
        gc.collect()
        self.assertEqual(count("newer_handles"), 1)

    def test_from_callback(self):
        """a callback that calls back is refused"""
        found = []

        def progress(_):
            try:
                self.pd.info()
            except RuntimeError as error:
                found.append(str(error))
        list(self.pd.query(pfn=1, progress=progress))
        self.assertIn("called from a callback of the same handle", found)

    def test_dropped_in_callback(self):
        """a query that is dropped in a callback is freed after the call"""
        other = [self.pd.query(pfn=1)]

        def progress(_):
            other.clear()
            self.assertEqual(count("newer_iters"), 2)
        query = self.pd.query(pfn=1, progress=progress)
        next(query)
        self.assertEqual(other, [])
        self.assertEqual(count("newer_iters"), 1)

    def test_threads(self):
        """threads that share a handle wait for each other"""
        found = []

        def work(first):
            for _ in range(20):
                found.append(len(list(self.pd.query(pfn=(first, 5)))))
        threads = [threading.Thread(target=work, args=(20 + i,))
                   for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [5] * 80)

    def test_fork(self):
        """a child process is told that the handle is its parent's"""
        query = self.pd.query(pfn=(0, 12))
        next(query)
        child = os.fork()
        if not child:
            status = 1
            try:
                self.pd.info()
            except RuntimeError:
                query.close()
                self.pd.close()
                with pagedet.open() as mine:
                    status = 0 if mine.info().live else 2
            os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]),
                         0)
        self.assertEqual(len(list(query)), 11)


class Rest(Newer):
    def test_retarget(self):
        """retarget asks about another place, nothing of the last is left"""
        query = self.pd.query(pfn=(0, 12))
        self.assertEqual(next(query)["pfn"], 0)
        self.assertEqual([row["pfn"] for row in query.retarget(40)], [40])
        self.assertEqual([row["pfn"] for row in query.retarget((50, 2))],
                         [50, 51])
        with self.assertRaises(pagedet.Invalid):
            query.retarget((1, 0))

    def test_limit(self):
        """limit ends the rows"""
        self.assertEqual(len(list(self.pd.query(scan=True, limit=3))), 3)

    def test_index(self):
        """all mappings of a page, however many"""
        with self.pd.index() as index:
            found = index.find(5)
        self.assertEqual(len(found), 100)
        self.assertEqual(found[99], (99, 99 << 12, ()))

    def test_index_options(self):
        """what an index is made with reaches the library"""
        seen = []
        options = pagedet.api.pagedet_index_options.in_dll(newer,
                                                           "newer_index")
        self.pd.index().close()
        self.assertEqual((options.threads, options.deadline_ns,
                          options.progress_ns, options.sources), (1, 0, 0, 0))
        self.pd.index(threads=2, deadline=3, sources="moon",
                      progress=seen.append, progress_every=0.5).close()
        self.assertEqual((options.threads, options.deadline_ns,
                          options.progress_ns, options.sources),
                         (2, 3000000000, 500000000, 1 << 10))
        self.assertEqual(seen, [pagedet.Progress(2, 7, 0, 0)])
        self.assertRaises(pagedet.Cancelled, self.pd.index,
                          progress=lambda told: told.done == 2)
        self.assertRaises(TimeoutError, self.pd.index, deadline=0.001)

    def test_group(self):
        """grouping is asked for, with fields or without"""
        fields = ctypes.c_uint64.in_dll(newer, "newer_group_by")
        for by, expected in ((None, 0), ([], 1), ("kind", 2),
                             (["kind", "comm"], 3)):
            self.pd.query(scan=True, by=by).close()
            self.assertEqual(fields.value, expected)

    def test_log(self):
        """what the library says reaches the log function"""
        said = []
        self.pd.set_log(lambda *words: said.append(words), "info")
        self.pd.query(pfn=1).close()
        self.pd.set_log(None)
        self.pd.query(pfn=1).close()
        self.assertEqual(said, [("info", "planned")])

    def test_descriptor(self):
        """a descriptor is handed in by number or file"""
        with open(os.devnull) as file:
            self.pd.add_fd("pagemap", file, pid=3)
            self.assertEqual(count("newer_descriptor"),
                             4 << 16 | 3 << 8 | file.fileno())
            self.pd.add_fd("kpageflags", file.fileno())
            self.assertEqual(count("newer_descriptor"),
                             1 << 16 | file.fileno())

    def test_parts(self):
        """the optional parts are listed"""
        self.assertEqual(pagedet.parts(), [("zstd", "dumps", True),
                                           ("moon", "light", False)])

    def test_interrupted(self):
        """Ctrl-C ends a step, though no progress was asked for"""
        import signal
        query = self.pd.query(scan=True)
        query.retarget((20, 10 ** 9))

        def interrupt():
            time.sleep(0.05)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        thread = threading.Thread(target=interrupt)
        with self.assertRaises(KeyboardInterrupt):
            thread.start()
            for _ in query:
                pass
        thread.join()


class Places(unittest.TestCase):
    def test_items(self):
        """numbers, ranges, tuples and lists become items"""
        from pagedet._targets import TO_END, items

        def said(target, value):
            array, n = items(target, value)
            return [(one.first, one.count, one.pid, one.flags)
                    for one in array[:n]]
        self.assertEqual(said("pfn", 7), [(7, 1, 0, 0)])
        self.assertEqual(said("pfn", (7, 2)), [(7, 2, 0, 0)])
        self.assertEqual(said("pfn", [7, range(3, 9), (1, 2)]),
                         [(7, 1, 0, 0), (3, 6, 0, 0), (1, 2, 0, 0)])
        self.assertEqual(said("pfn", []), [])
        self.assertEqual(said("phys", (0x1000, 64)), [(0x1000, 64, 0, 0)])
        self.assertEqual(said("virt", (3, 0x1000)), [(0x1000, 1, 3, 0)])
        self.assertEqual(said("virt", [(3, 0x1000, 9), (4, 0)]),
                         [(0x1000, 9, 3, 0), (0, 1, 4, 0)])
        self.assertEqual(said("task", 3), [(0, TO_END, 3, 0)])
        self.assertEqual(said("task", [3, (4, 16, 32)]),
                         [(0, TO_END, 3, 0), (16, 32, 4, 0)])
        self.assertEqual(said("kaddr", (5, "folio")), [(5, 1, 0, 3)])
