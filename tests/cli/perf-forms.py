#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Writes a perf.data in the other forms that perf has.

    perf-forms.py FORM FROM TO [COPIES]

pipe     as perf record -o - writes it
packed   as perf record -z: compressed records (by the program zstd)
sized    the same with the records of Linux 6.16, which have a length
big      as a machine of big-endian byte order
sampled  as perf record -c 100: one event of 100
killed   as perf leaves it that was killed: without what comes last
lost     with losses, which both kinds of records tell
gap      with a loss of 700 events in front of a sample; prints its place, time
         and processor
endless  without rounds, and long enough that they are missed
round    the same events as one round of perf over its buffers: first all of one
         processor, then all of the next one. COPIES (300) make it longer
rounds   two such rounds of half the copies each, with the end of a round between
         them and another one behind
"""
import re
import struct
import subprocess
import sys

FIELD = re.compile(r"field:(.*?)(\[\w*\])?;\s*offset:(\d+);\s*size:(\d+);")
SAMPLE, ROUND, ATTR, TRACING, PACKED, SIZED = 9, 68, 64, 66, 81, 83
LOST, LOST_SAMPLES = 2, 13


class Perf:
    """A perf.data of a machine of little-endian byte order, in its parts."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.whole = f.read()
        head = struct.unpack_from("<8sQQQQQQQQQQQQ", self.whole)
        self.each, attrs, n_attrs, data, n_data = head[2:7]
        self.bits = head[9:13]
        self.attrs = []
        for at in range(attrs, attrs + n_attrs, self.each):
            attr = self.whole[at:at + self.each - 16]
            ids, n = struct.unpack_from("<QQ", self.whole, at + self.each - 16)
            self.attrs.append((attr, self.whole[ids:ids + n]))
        self.records = list(self.split(self.whole[data:data + n_data]))
        # Tracing data is the first feature that perf writes.
        at, n = struct.unpack_from("<QQ", self.whole, data + n_data)
        self.tracing = self.whole[at:at + n]

    @staticmethod
    def split(data):
        at = 0
        while at < len(data):
            size = struct.unpack_from("<H", data, at + 6)[0]
            yield data[at:at + size]
            at += size

    def file(self, order="<", period=None, tracing=True):
        """Puts the parts together again."""
        magic = b"PERFILE2" if order == "<" else b"2ELIFREP"
        ids_at, ids = 104, b"".join(i for _, i in self.attrs)
        attrs_at = ids_at + len(ids)
        attrs = b""
        at = ids_at
        for attr, own in self.attrs:
            if period:
                attr = attr[:16] + struct.pack(order + "Q", period) + attr[24:]
            attrs += attr + struct.pack(order + "QQ", at, len(own))
            at += len(own)
        data_at = attrs_at + len(attrs)
        data = b"".join(self.records)
        tail_at = data_at + len(data)
        tail = struct.pack(order + "QQ", tail_at + 16, len(self.tracing))
        return struct.pack(order + "QQQQQQQQQQQQ", 104, self.each, attrs_at,
                           len(attrs), data_at, len(data), 0, 0,
                           2 * tracing, 0, 0, 0).join((magic, b"")) + \
            ids + attrs + data + (tail + self.tracing if tracing else b"")

    def pipe(self):
        ret = b"PERFILE2" + struct.pack("<Q", 16)
        for attr, ids in self.attrs:
            ret += struct.pack("<IHH", ATTR, 0, 8 + len(attr) + len(ids))
            ret += attr + ids
        size = len(self.tracing) + 7 & ~7
        ret += struct.pack("<IHHI", TRACING, 0, 12, size)
        ret += self.tracing.ljust(size, b"\0")
        return ret + b"".join(self.records)

    def pack(self, sized):
        """Records begin and end anywhere in the compressed ones."""
        packed = subprocess.run(["zstd", "-q", "-c", "-"], check=True,
                                input=b"".join(self.records),
                                stdout=subprocess.PIPE).stdout
        self.records = []
        for at in range(0, len(packed), 5000):
            piece = packed[at:at + 5000]
            if sized:
                piece = struct.pack("<Q", len(piece)) + piece
                piece = piece.ljust(len(piece) + 7 & ~7, b"\0")
            kind = SIZED if sized else PACKED
            self.records.append(struct.pack("<IHH", kind, 0, 8 + len(piece)) +
                                piece)

    def swap(self):
        """Turns everything around that is a number."""
        self.tracing, known = swap_tracing(self.tracing)
        self.attrs = [(swap_attr(attr), swap(ids, "Q" * (len(ids) // 8)))
                      for attr, ids in self.attrs]
        self.records = [swap_record(r, known) for r in self.records]


def swap(data, form):
    """Turns the numbers at the beginning around."""
    n = struct.calcsize("<" + form)
    return struct.pack(">" + form, *struct.unpack_from("<" + form, data)) + \
        data[n:]


def swap_attr(attr):
    attr = swap(attr, "IIQQQQ")
    flags = struct.unpack_from("<Q", attr, 40)[0]
    flags = int(f"{flags:064b}"[::-1], 2)
    return attr[:40] + struct.pack(">Q", flags) + attr[48:]


def swap_tracing(data):
    """Returns the data, and where the numbers of each event are."""
    out, known, at = bytearray(data), {}, 10

    def number(form):
        nonlocal at
        value = struct.unpack_from("<" + form, data, at)[0]
        struct.pack_into(">" + form, out, at, value)
        at += struct.calcsize(form)
        return value

    def skip(form):
        nonlocal at
        size = number(form)
        at += size

    def learn(text):
        event = int(re.search(r"ID: (\d+)", text)[1])
        known[event] = [(int(m[3]), int(m[4])) for m in FIELD.finditer(text)
                        if int(m[4]) in (2, 4, 8)]

    at = data.index(b"\0", at) + 1
    out[at] = 1
    at += 2
    number("I")
    for name in b"header_page\0", b"header_event\0":
        at += len(name)
        skip("Q")
    for _ in range(number("I")):
        skip("Q")
    for _ in range(number("I")):
        at = data.index(b"\0", at) + 1
        for _ in range(number("I")):
            size = number("Q")
            learn(data[at:at + size].decode())
            at += size
    skip("I")
    skip("I")
    if at < len(data):
        number("Q")
    return bytes(out), known


def swap_record(record, known):
    kind = struct.unpack_from("<I", record)[0]
    record = bytearray(swap(record, "IHH"))
    if kind == SAMPLE:
        # IP, TID, TIME, ID, CPU, PERIOD, and RAW with its size
        record[8:] = swap(record[8:], "QIIQQIIQI")
        event = struct.unpack_from("<H", record, 60)[0]
        for offset, size in known[event]:
            place = slice(60 + offset, 60 + offset + size)
            record[place] = record[place][::-1]
    elif kind == 1:
        record[8:] = swap(record[8:], "IIQQQ")
    elif kind == 3:
        # Behind the name: TID, TIME, ID, CPU
        record[8:16] = swap(record[8:16], "II")
        record[-32:] = swap(record[-32:], "IIQQII")
    return bytes(record)


def later(record, i):
    """A sample with its time, which is behind IP and TID."""
    ns = struct.unpack_from("<Q", record, 24)[0]
    return record[:24] + struct.pack("<Q", ns + i * 10 ** 9) + record[32:]


def buffers(perf, copies):
    """The samples of each processor, whose buffers are read one after the other.
    Behind the time of a sample there are ID and CPU."""
    own = {}
    for r in perf.records:
        if r[0] == SAMPLE:
            own.setdefault(struct.unpack_from("<I", r, 40)[0], []).append(r)
    for cpu in sorted(own):
        one = bytearray(b"".join(own[cpu]))
        times, at = [], 0
        for r in own[cpu]:
            times.append((at + 24, struct.unpack_from("<Q", r, 24)[0]))
            at += len(r)
        for i in copies:
            for at, ns in times:
                struct.pack_into("<Q", one, at, ns + i * 10 ** 9)
            yield bytes(one)


def places(kind, order):
    """Where the values of a sample of this kind are, each in 8 bytes."""
    found, at = {}, 0
    for name, bit in order:
        if kind >> bit & 1:
            found[name] = at
            at += 8
    return found, at


def gap(perf):
    """The kernel writes a loss when there is room again, for the next sample:
    that was timed before."""
    attr = perf.attrs[0][0]
    kind, flags = struct.unpack_from("<QxxxxxxxxQ", attr, 24)
    assert flags >> 18 & 1, "other records have no values at their end"
    at, _ = places(kind, (("identifier", 16), ("ip", 0), ("tid", 1),
                          ("time", 2), ("addr", 3), ("id", 6), ("stream", 9),
                          ("cpu", 7)))
    end, size = places(kind, (("tid", 1), ("time", 2), ("id", 6),
                              ("stream", 9), ("cpu", 7), ("identifier", 16)))

    def value(record, name):
        return struct.unpack_from("<Q", record, 8 + at[name])[0]

    samples = [i for i, r in enumerate(perf.records) if r[0] == SAMPLE]
    for n, i in enumerate(samples[50:], 50):
        next_one = perf.records[i]
        if samples[n - 1] == i - 1 and value(next_one, "cpu") == \
                value(perf.records[i - 1], "cpu"):
            break
    values = bytearray(size)
    for name, where in end.items():
        struct.pack_into("<Q", values, where, value(next_one, name) +
                         (300 if name == "time" else 0))
    perf.records.insert(i, struct.pack("<IHHQQ", LOST, 0, 24 + size, 0, 700) +
                        bytes(values))
    print(n, value(next_one, "time"), value(next_one, "cpu"))


def main():
    form, perf = sys.argv[1], Perf(sys.argv[2])
    if form in ("packed", "sized"):
        perf.pack(form == "sized")
    elif form == "big":
        perf.swap()
    elif form == "lost":
        perf.records[-1:-1] = [
            struct.pack("<IHHQQ", LOST, 0, 24, 0, 700),
            struct.pack("<IHHQ", LOST_SAMPLES, 0, 16, 1000),
            struct.pack("<IHHQ", LOST_SAMPLES, 0x8000, 16, 5)]
    elif form == "gap":
        gap(perf)
    elif form == "endless":
        perf.records = [later(r, i) for i in range(300)
                        for r in perf.records if r[0] == SAMPLE]
    elif form in ("round", "rounds"):
        copies = int(sys.argv[4]) if len(sys.argv) > 4 else 300
        parts = [range(copies)]
        end = []
        if form == "rounds":
            parts = [range(copies // 2), range(copies // 2, copies)]
            end = [struct.pack("<IHH", ROUND, 0, 8)]
        perf.records = [r for part in parts
                        for r in list(buffers(perf, part)) + end]
    if form == "pipe":
        data = perf.pipe()
    elif form == "big":
        data = perf.file(">")
    elif form == "sampled":
        data = perf.file(period=100)
    else:
        data = perf.file(tracing=form != "killed")
    with open(sys.argv[3], "wb") as f:
        f.write(data)


main()
