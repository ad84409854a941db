#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Make the vmlinux of a trace: functions, and a call in front of each site.

usage: trace-vmlinux.py KALLSYMS SITES OFFSET OUT [debug] [x86_64|arm64]

SITES has JSON lines with "site": an address. The file's addresses are those of
the trace less OFFSET. With "debug" it has no code, as a file for debuggers.
"""
import json
import struct
import sys

kallsyms, sites, offset, out = sys.argv[1:5]
debug = "debug" in sys.argv
arm64 = "arm64" in sys.argv
offset = int(offset, 0)
with open(kallsyms, encoding="ascii") as f:
    functions = [(int(w[0], 16) - offset, w[2]) for w in map(str.split, f)
                 if len(w) == 3 and w[1] in "tT"]
functions.sort()
with open(sites, encoding="utf-8") as f:
    calls = [int(s["site"], 0) - offset for s in map(json.loads, f)
             if str(s.get("site")).startswith("0x")]
first = functions[0][0] & ~0xffff
end = (functions[-1][0] & ~0xffff) + 0x20000
code = bytearray(end - first)
for at in calls:
    if not first <= at < end:
        continue
    to = functions[0][0] - at
    if arm64:
        struct.pack_into("<I", code, at - first - 4,
                         0x94000000 | (to + 4) >> 2 & 0x3ffffff)
    else:
        struct.pack_into("<Bi", code, at - first - 5, 0xe8, to)

functions += [(first, "_text"), (first, "_stext"), (end - 16, "_etext")]
strings, symbols = bytearray(1), bytearray(24)
for address, name in functions + [(end, "_end")]:
    symbols += struct.pack("<IBBHQQ", len(strings), 0x10, 0,
                           2 if name == "_end" else 1, address, 0)
    strings += name.encode() + b"\0"
names = b"\0.text\0.bss\0.symtab\0.strtab\0.shstrtab\0"
body, sections = bytearray(64), bytearray(64)


def section(name, kind, flags, address, data, size, link=0, entry=0):
    """Add a section."""
    while len(body) % 16:
        body.append(0)
    sections.extend(struct.pack(
        "<IIQQQQIIQQ", names.index(b"\0" + name + b"\0") + 1, kind, flags,
        address, len(body), size, link, 0, 16, entry))
    body.extend(data)


section(b".text", 8 if debug else 1, 6, first, b"" if debug else code,
        len(code))
section(b".bss", 8, 3, end, b"", 16)
section(b".symtab", 2, 0, 0, symbols, len(symbols), 4, 24)
section(b".strtab", 3, 0, 0, strings, len(strings))
section(b".shstrtab", 3, 0, 0, names, len(names))
while len(body) % 16:
    body.append(0)
body[:64] = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 2,
                        183 if arm64 else 62, 1, first, 0, len(body), 0, 64, 0,
                        0, 64, 6, 5)
with open(out, "wb") as f:
    f.write(body + sections)
