# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The library that was built, and /proc trees made from text."""
import os
import shlex
import subprocess
import tempfile

TOP = os.environ["top_srcdir"]
BUILD = os.environ["top_builddir"]
FIXTURES = os.path.join(TOP, "tests", "fixtures")
EXAMPLES = os.path.join(TOP, "bindings", "python", "examples")

# A machine of 64 pages, of which 17 are memory.
SCENARIO = """\
pages 64
zone node=0 name=DMA start=0 spanned=64 present=64
iomem 0 00000000-0003ffff System RAM
swap /dev/zram0 partition 1000 4 -2
cgroup 77 /work procs=7
cgroup 78 /work/deep procs=8
page 0+4 flags=reserved
page 4+4 flags=buddy
page 8+2 flags=uptodate,lru,anon,swapbacked,mmap,dirty count=1 cgroup=77
page 10 flags=uptodate,lru,mmap count=2 cgroup=78
page 11 flags=slab
page 12 flags=pgtable
folio 16 order=2 flags=uptodate,lru,anon,swapbacked,mmap,thp count=1 cgroup=77
task 7 comm=a(b)\\nc\\xff cgroup=/work
vma 7 400000-404000 rw-p 00000000 00:00 0
map 7 0x400000+2 pfn=8 exclusive
map 7 0x402000 swap=0:5
vma 7 500000-501000 r--p 00002000 08:01 4711 /lib/\udcffx
map 7 0x500000 pfn=10 file
vma 7 600000-604000 rw-p 00000000 00:00 0 [heap]
map 7 0x600000+4 pfn=16 exclusive
task 8 comm=other cgroup=/work/deep
vma 8 500000-501000 r--p 00002000 08:01 4711 /lib/\udcffx
map 8 0x500000 pfn=10 file
"""


def cc():
    return shlex.split(os.environ.get("CC", "cc"))


def library():
    """Path of the shared library to test."""
    path = os.environ.get("PAGEDET_TEST_LIBRARY") or \
        os.path.join(BUILD, ".libs", "libpagedet.so")
    assert os.path.exists(path), "there is no " + path
    return path


def use_library():
    """import pagedet, on that library."""
    os.environ["PAGEDET_LIBRARY"] = library()
    import pagedet
    from pagedet import _library, _schema
    # another test of this process may have used another library
    for cached in (_library.library, _schema.schema, _schema.value_name,
                   _schema.state_name, _schema.source_name, _schema.sources):
        cached.cache_clear()
    return pagedet


class Tree:
    """A directory with proc/ and sys/ as a scenario describes them."""

    def __init__(self, scenario=None, path=None):
        self._place = tempfile.TemporaryDirectory()
        self.root = os.path.join(self._place.name, "root")
        os.mkdir(self.root)
        if path is None:
            path = os.path.join(self._place.name, "scenario")
            with open(path, "wb") as file:
                file.write(os.fsencode(scenario))
        mkproc = os.path.join(BUILD, "tests", "fixtures", "mkproc")
        if not os.path.exists(mkproc):
            mkproc = os.path.join(self._place.name, "mkproc")
            subprocess.run(cc() + ["-std=gnu11", "-D_GNU_SOURCE",
                                   "-D_FILE_OFFSET_BITS=64", "-o", mkproc] +
                           [os.path.join(FIXTURES, name) for name in
                            ("mkproc.c", "mkproc-memory.c",
                             "mkproc-task.c")], check=True)
        subprocess.run([mkproc, path, self.root], check=True)

    def close(self):
        self._place.cleanup()
