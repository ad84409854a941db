# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The Python layer on the library that was built: trees whose truth is known,
and pages of our own."""
import ctypes
import json
import mmap
import os
import unittest

import tree

try:
    import numpy
except ImportError:
    numpy = None

NO_NUMPY = "numpy is not installed for this python"


def setUpModule():
    global pagedet, small
    pagedet = tree.use_library()
    small = tree.Tree(tree.SCENARIO)


def tearDownModule():
    small.close()


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


class Fixture(unittest.TestCase):
    def setUp(self):
        self.pd = pagedet.open(root=small.root)

    def tearDown(self):
        self.pd.close()

    def test_kinds(self):
        """pages of a tree have the kinds that it says"""
        kinds = {}
        for row in self.pd.query(pfn=range(0, 64), fields="pfn,kind"):
            kinds[row["pfn"]] = row["kind"]
        self.assertEqual(list(kinds), list(range(64)))
        self.assertEqual(
            [kinds[pfn] for pfn in (0, 4, 8, 10, 11, 12, 13, 16, 19, 63)],
            ["reserved", "free", "anon", "file", "slab", "pgtable", "hole",
             "anon", "anon", "hole"])

    def test_three_answers(self):
        """a value, nothing, and not known are three things"""
        row, = self.pd.query(pfn=8, fields="all")
        self.assertEqual(row["mapcount"], 1)
        self.assertEqual(row["memcg_ino"], 77)
        self.assertIsNone(row["index"])
        self.assertEqual(row.state("index"), "none")
        self.assertIsNone(row.missing("index"))
        self.assertIn(row.missing("alloc_pid"),
                      ("unsupported", "no_kernel", "not_built"))
        with self.assertRaises(pagedet.Unknown) as caught:
            row["alloc_pid"]
        self.assertEqual(caught.exception.reason, row.missing("alloc_pid"))
        self.assertEqual(row.source("flags"), "procfs")
        self.assertIn("dirty", row["flags"])
        self.assertIs(row.bit("flags", "dirty"), True)
        self.assertIs(row.bit("flags", "writeback"), False)
        self.assertFalse(set(row["flags"]) & set(row.unknown("flags")))
        for name in row.unknown("flags"):
            self.assertIsNone(row.bit("flags", name))

    def test_same_as_json(self):
        """as_dict() is what JSON output says, key by key in its order"""
        targets = ({"scan": True}, {"scan": True, "holes": True},
                   {"pfn": [0, 8, range(10, 13)]},
                   {"phys": (0x8000, 4096)}, {"task": [7, 8]},
                   {"virt": (7, 0x3ff000, 0x6000)},
                   {"virt": (7, 0xffffffffff600000)}, {"cgroup": "/work"},
                   {"scan": True, "runs": True}, {"mappers": [10, 8]})
        for target in targets:
            for fields in ("cheap", "all", "everything"):
                with self.subTest(target=target, fields=fields):
                    rows = [row.as_dict() for row in
                            self.pd.query(fields=fields, **target)]
                    said = lines(self.pd.query(
                        fields=fields, **target).to_json_text())
                    if "mappers" in target:
                        said = said[:-2]        # their summaries
                    self.assertTrue(rows)
                    for row in rows + said:
                        row.pop("time_ns", None)
                    self.assertEqual(rows, said)
                    self.assertEqual([json.dumps(row) for row in rows],
                                     [json.dumps(row) for row in said])

    def test_texts(self):
        """texts keep every byte"""
        rows = {row["vaddr"]: row for row in
                self.pd.query(task=7, fields="vaddr,comm,vma,pte,pfn,swap_type,"
                              "swap_offset")}
        file = rows[0x500000]
        self.assertEqual(file["comm"], "a(b)\nc\udcff")
        self.assertEqual(file["vma_name"], "/lib/\udcffx")
        self.assertEqual(os.fsencode(file["vma_name"]), b"/lib/\xffx")
        self.assertEqual(file["vma_prot"], "r--p")
        self.assertEqual(file.as_dict()["vma_name"], "/lib/\ufffdx")
        self.assertEqual(file.as_dict()["vma_name_hex"], b"/lib/\xffx".hex())
        self.assertEqual(rows[0x600000]["vma_name"], "[heap]")
        self.assertIn("swapped", rows[0x402000]["pte"])
        self.assertIsNone(rows[0x402000]["pfn"])
        self.assertEqual(rows[0x402000]["swap_offset"], 5)

    def test_columns_are_rows(self):
        """columns and batches have the same values and cells as rows"""
        fields = "pfn,kind,flags,mapcount,memcg_ino,alloc_pid"
        rows = list(self.pd.query(scan=True, fields=fields))
        with self.pd.query(scan=True, fields=fields) as query:
            names = query.fields()
            self.assertGreaterEqual(names, set(fields.split(",")))
        for use_numpy in (False, True) if numpy else (False,):
            found = []
            for columns in self.pd.query(scan=True, fields=fields).columns(
                    numpy=use_numpy):
                for i in range(columns.rows):
                    found.append({name: (int(column.values[i]),
                                         int(column.cells[i]))
                                  for name, column in columns.items()
                                  if name != "time_ns"})
            wanted = [{name: (row.raw(name), row.cell(name))
                       for name in found[0]} for row in rows]
            self.assertEqual(found, wanted)

    @unittest.skipUnless(numpy, NO_NUMPY)
    def test_structured(self):
        """structured arrays count what rows count"""
        batches = [batch.copy() for batch in
                   self.pd.query(scan=True, fields="pfn,kind").batches(16)]
        rows = numpy.concatenate(batches)
        kind = pagedet.api.PAGEDET_KIND_ANON
        self.assertEqual(rows["pfn"][rows["kind"] == kind].tolist(),
                         [8, 9, 16, 17, 18, 19])

    def test_filter_and_groups(self):
        """filters and groups reach the library"""
        rows = list(self.pd.query(scan=True, where="kind=anon",
                                  fields="pfn"))
        self.assertEqual([row["pfn"] for row in rows], [8, 9, 16, 17, 18, 19])
        groups = {row["kind"]: row["pages"] for row in
                  self.pd.query(scan=True, by="kind")}
        self.assertEqual(groups, {
            "anon": 6, "reserved": 4, "free": 4, "file": 1, "slab": 1,
            "pgtable": 1})
        holes = {row["kind"]: row["pages"] for row in
                 self.pd.query(scan=True, by="kind", holes=True)}
        self.assertEqual(holes, dict(groups, hole=47))
        with self.assertRaises(ValueError) as caught:
            self.pd.query(scan=True, where="kind=")
        self.assertTrue(caught.exception.strerror)
        self.assertEqual(
            len(list(self.pd.query(scan=True, limit=5, fields="pfn"))), 5)

    def test_total(self):
        """groups without keys are one row: the sum"""
        row, = self.pd.query(scan=True, by=[])
        self.assertEqual(row["pages"], 17)
        self.assertEqual(lines(self.pd.query(scan=True, by=[])
                               .to_json_text())[-1]["total"]["pages"], 17)

    def test_same_with_threads(self):
        """two threads give the rows of one, in the same order"""
        self.assertEqual(
            [row["pfn"] for row in self.pd.query(scan=True, fields="pfn")],
            [row["pfn"] for row in self.pd.query(scan=True, fields="pfn",
                                                 threads=2)])

    def test_coverage(self):
        """coverage says what was looked at"""
        query = self.pd.query(scan=True, fields="pfn,kind")
        rows = len(list(query))
        coverage = query.coverage()
        self.assertTrue(coverage.complete)
        self.assertIsNone(coverage.stopped)
        self.assertEqual(coverage.rows, rows)
        self.assertGreaterEqual(coverage.answered, {"pfn", "kind"})

    def test_mappers(self):
        """the mappings of a page, their summary, and the index"""
        query = self.pd.query(mappers=[10, 8], fields="pfn,map,pid,vaddr,pte")
        rows = [(row["pfn"], row["pid"], row["vaddr"]) for row in query]
        self.assertEqual(sorted(rows), [
            (8, 7, 0x400000), (10, 7, 0x500000), (10, 8, 0x500000)])
        ten, eight = query.mappers()
        self.assertEqual((ten.pfn, ten.found, ten.expected), (10, 2, 2))
        self.assertEqual((eight.pfn, eight.found, eight.unread), (8, 1, []))
        with self.pd.index() as index:
            self.assertEqual([(one.pid, one.vaddr) for one in index.find(10)],
                             [(7, 0x500000), (8, 0x500000)])
            self.assertEqual(index.find(11), [])
            self.assertEqual(index.info().mappings, 8)
            self.assertEqual(index.info().tasks, 2)
            again = self.pd.query(mappers=10, index=index, fields="pid")
            self.assertEqual([row["pid"] for row in again], [7, 8])
        told = []
        with self.pd.index(threads=2, sources="procfs", deadline=60,
                           progress=told.append, progress_every=1e-9) as two:
            self.assertEqual([(one.pid, one.vaddr) for one in two.find(10)],
                             [(7, 0x500000), (8, 0x500000)])
        self.assertTrue(told)
        self.assertEqual({one.total for one in told}, {2})
        with self.assertRaises(pagedet.NotSupported):
            self.pd.index(sources="vmcore")

    def test_retarget(self):
        """one query for many look-ups"""
        query = self.pd.query(pfn=8, fields="pfn,kind")
        self.assertEqual([row["kind"] for row in query], ["anon"])
        for pfn, kind in ((4, "free"), (11, "slab"), (8, "anon")):
            row, = query.retarget(pfn)
            self.assertEqual((row["pfn"], row["kind"]), (pfn, kind))

    def test_ask(self):
        """ask says which item a row answers"""
        rows = list(self.pd.query(pfn=[11, 4], fields="ask,pfn"))
        self.assertEqual([(row["ask"], row["pfn"]) for row in rows],
                         [(0, 11), (1, 4)])

    def test_not_there(self):
        """what is not there is an exception of Python's"""
        with self.assertRaises(ProcessLookupError):
            list(self.pd.query(task=4242))
        with self.assertRaises(FileNotFoundError):
            self.pd.query(cgroup="/none")
        with self.assertRaises(FileNotFoundError) as caught:
            pagedet.open(root=small.root + "/none")
        self.assertIn("/none", str(caught.exception))
        with self.assertRaises(pagedet.NotSupported):
            self.pd.query(kaddr=0xffff888000000000)

    def test_survey(self):
        """the survey has every field with every source"""
        survey = self.pd.survey()
        fields = {ability.field for ability in survey}
        self.assertEqual(fields, {field.name for field in pagedet.fields()})
        can = {(ability.field, ability.source): ability
               for ability in survey}
        self.assertTrue(can["flags", "procfs"].can)
        self.assertIsNone(can["flags", "procfs"].reason)
        self.assertFalse(can["slab_cache", "procfs"].can)
        self.assertTrue(can["slab_cache", "procfs"].reason)
        said = [(one["field"], one["source"], one["can"])
                for one in lines(self.emitted_survey())]
        self.assertEqual(said, [(one.field, one.source, one.can)
                                for one in survey])

    def emitted_survey(self):
        with self.pd.emitter() as emitter:
            emitter.survey()
            emitter.finish()
            return emitter.text().decode()

    def test_info(self):
        """info says what was opened"""
        info = self.pd.info()
        self.assertEqual(info.page_size, 4096)
        self.assertEqual(info.max_pfn, 64)
        self.assertIn("procfs", info.sources)

    def test_why(self):
        """why a field cannot be answered is known before the first row"""
        query = self.pd.query(scan=True, fields="kind,alloc_pid")
        self.assertEqual(query.why("kind").state, "have")
        self.assertEqual(query.why("inode").state, "not_asked")
        state = query.why("alloc_pid").state
        row = next(query)
        self.assertEqual(row.missing("alloc_pid"), state)

    def test_dup(self):
        """a second handle gives the same answers"""
        with self.pd.dup() as other:
            self.pd.close()
            row, = other.query(pfn=8, fields="pfn,kind")
            self.assertEqual(row["kind"], "anon")

    def test_emit_to_file(self):
        """rows go to a file behind what is already in it"""
        path = os.path.join(small.root, "out")
        with open(path, "w") as file:
            file.write("[\n")
            self.pd.query(pfn=8, fields="pfn,kind").emit(file)
        with open(path) as file:
            self.assertEqual(file.readline(), "[\n")
            self.assertEqual(json.loads(file.readline())["kind"], "anon")
        os.unlink(path)

    def test_emit_cancelled(self):
        """rows before a failure are written"""
        path = os.path.join(small.root, "out")
        with open(path, "w") as file:
            query = self.pd.query(task=[7, 8], fields="vaddr",
                                  progress=lambda told: told.rows > 0,
                                  progress_every=1e-9)
            self.assertRaises(pagedet.Cancelled, query.emit, file)
        with open(path) as file:
            said = lines(file.read())
        os.unlink(path)
        whole = lines(self.pd.query(task=[7, 8],
                                    fields="vaddr").to_json_text())
        self.assertTrue(said)
        self.assertEqual(said, whole[:len(said)])

    def test_schema_of_header(self):
        """today's row is the row of the header"""
        self.assertEqual(ctypes.sizeof(pagedet.api.pagedet_page),
                         pagedet._schema.schema().row_size)
        for field in pagedet.fields():
            member = getattr(pagedet.api.pagedet_page, field.name)
            self.assertEqual((member.offset, member.size),
                             (field.offset, field.width))

    def test_position_and_known(self):
        """each field has its place, masks the field of their known bits"""
        fields = pagedet.fields()
        self.assertEqual([field.position for field in fields],
                         list(range(len(fields))))
        known = {field.name: pagedet.field(field.known).name
                 for field in fields if field.known != field.id}
        self.assertEqual(known, {"flags": "flags_known",
                                 "pte": "pte_known"})


class Lab(unittest.TestCase):
    """All of the memory of a captured machine."""

    def test_every_row(self):
        """each run of a captured kernel: as_dict() is what JSON says"""
        captured = tree.Tree(path=os.path.join(
            tree.FIXTURES, "6.12.117-lab", "scenario"))
        self.addCleanup(captured.close)
        with pagedet.open(root=captured.root) as pd:
            rows = [row.as_dict() for row in
                    pd.query(scan=True, fields="all", runs=True)]
            said = lines(pd.query(scan=True, fields="all",
                                  runs=True).to_json_text())
            pages = sum(columns.rows for columns in
                        pd.query(scan=True, fields="pfn,kind").columns())
        for row in rows + said:
            row.pop("time_ns", None)
        self.assertEqual(rows, said)
        self.assertGreater(len(rows), 1000)
        self.assertEqual(sum(row["pages"] for row in rows), pages)


class Live(unittest.TestCase):
    """A page of our own on the running kernel."""

    def setUp(self):
        self.page = mmap.mmap(-1, 2 * mmap.PAGESIZE, mmap.MAP_PRIVATE |
                              mmap.MAP_ANONYMOUS)
        self.page[0] = 1
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.page))
        try:
            self.pd = pagedet.open()
        except pagedet.NotSupported as error:
            self.skipTest(str(error))

    def tearDown(self):
        self.pd.close()

    def test_own_page(self):
        """a page that we wrote to is ours, its neighbour is not there yet"""
        rows = list(self.pd.query(
            virt=(os.getpid(), self.address, 2 * mmap.PAGESIZE),
            fields="cheap"))
        self.assertEqual([row["vaddr"] for row in rows],
                         [self.address, self.address + mmap.PAGESIZE])
        self.assertIs(rows[0].bit("pte", "present"), True)
        self.assertEqual(rows[1]["kind"], "untouched")
        self.assertIsNone(rows[1]["pfn"])
        if rows[0].missing("pfn"):
            self.assertEqual(rows[0].missing("pfn"), "no_access")
            self.skipTest("page frame numbers are hidden from this user: "
                          "no_access, as it says")
        self.assertEqual(rows[0]["kind"], "anon")
        same, = self.pd.query(pfn=rows[0]["pfn"], fields="cheap,mapcount")
        self.assertEqual((same["kind"], same["mapcount"]), ("anon", 1))


class Cleared(unittest.TestCase):
    """The rules of lifetime, on the real library."""

    def test_arrays_outlive(self):
        """columns keep their memory after everything was closed"""
        pd = pagedet.open(root=small.root)
        query = pd.query(pfn=range(8, 13), fields="pfn")
        part = next(query.columns(numpy=False))["pfn"].values[1:3]
        query.close()
        pd.close()
        self.assertEqual(list(part), [9, 10])

    def test_closed(self):
        """closed objects say so"""
        pd = pagedet.open(root=small.root)
        query = pd.query(pfn=8)
        pd.close()
        self.assertRaises(ValueError, next, query)
        self.assertRaises(ValueError, pd.info)
