# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What is this page of Linux memory?

    import pagedet

    with pagedet.open() as pd:
        for row in pd.query(pfn=[0x1234], fields="cheap"):
            print(row["kind"], row.missing("memcg_path"), row.as_dict())

Only the standard library is needed; batches() and columns() of a query give
arrays of numpy where it is installed. PAGEDET_LIBRARY names the shared library
if the system does not find it. bindings/README.md says more.
"""
import collections

from . import _api as api
from ._emit import Emitter
from ._handle import Ability, Handle, open_handle
from ._index import Index, Mapping
from ._library import (Again, Cancelled, Damaged, Error, Invalid, NoAccess,
                       NoProcess, NotFound, NotSupported, Timeout, decode,
                       library)
from ._progress import Progress
from ._query import Query, Why
from ._row import Row, Unknown
from ._schema import Field, schema
from ._structs import told
from ._targets import TO_END

__all__ = [
    "Ability", "Again", "Cancelled", "Damaged", "Emitter", "Error", "Field",
    "Handle", "Index", "Invalid", "Mapping", "NoAccess", "NoProcess",
    "NotFound", "NotSupported", "Part", "Progress", "Query", "Row", "TO_END",
    "Timeout", "Unknown", "Why", "api", "field", "fields", "open", "parts",
    "version",
]

Part = collections.namedtuple("Part", "name purpose built")


def open(root=None, sources=None, files=None, vmlinux=None, btf=None,
         vmcoreinfo=None, hash_key=None, libexec_dir=None, page_size=0):
    """Open the running kernel, or a file instead; a split dump has several.

    root: read /proc and /sys below it. sources: allow just these, "procfs" or
    a list. page_size: of the machine that wrote the log in files. The rest is
    extra information and never required.
    """
    return open_handle(root, sources, files, vmlinux, btf, vmcoreinfo,
                       hash_key, libexec_dir, page_size)


def version():
    """Version of the library that is running."""
    return decode(library().pagedet_version())


def parts():
    """The optional parts of the library, built in or not."""
    found = []
    while True:
        part = library().pagedet_part(len(found))
        if not part:
            return found
        part = part.contents
        found.append(Part(told(part, "name"), told(part, "purpose"),
                          bool(told(part, "built"))))


def fields():
    """Every field that the library has, in the order of the output."""
    return list(schema().fields.values())


def field(name):
    """One of them, by name."""
    return schema().field(name)
