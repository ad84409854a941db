#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Plays the files of a Memorizer kernel in debugfs: memorizer.py DIR KIND...

DIR gets a filesystem in a process (include/uapi/linux/fuse.h) with the
switches, the clears and the text of one generation. Objects are made, accessed
and freed by lines that are written to DIR/event:

  alloc PLACE BYTES	access PLACE WRITES READS	free PLACE

and only what Memorizer would count then counts. DIR/log tells what was done,
one word a line: on, off, printed, cleared, streamed. KIND is linuxkit, slab,
6.6.3 or 6.6.30, and may be followed by:

  flat	      no directory memorizer/	    without FILE  a file less
  stubborn    a clear is refused once	    holds N       memory for N objects
  mute	      kmap gives an error	    endless       kmap does not end
  patient     who writes an event while Memorizer is off waits until it is on

Serves until it is unmounted. Exits with 77 where there is no FUSE.
"""
import errno
import os
import re
import struct
import sys

sys.dont_write_bytecode = True

import fuse  # noqa: E402

LOOKUP, GETATTR, SETATTR, OPEN, READ, WRITE, STATFS, RELEASE, INIT, OPENDIR, \
    INTERRUPT = 1, 3, 4, 14, 15, 16, 17, 18, 26, 27, 36
# of requests that want no answer: forget and batch_forget
SILENT = {2, 42}
DIRECT_IO = 1

OLD = {"memorizer_enabled": "enabled", "memorizer_log_access": "accesses",
       "print_live_obj": "live", "show_stats": "stats", "kmap": "kmap",
       "clear_printed_list": "clear_printed"}
SLAB = dict(OLD, clear_dead_objs="clear_dead", cfg_log_on="calls",
            stack_trace_on="frames", cfgmap="cfgmap",
            global_table="global_table")
NAMES = {
    "linuxkit": dict(OLD, clear_object_list="clear_dead"),
    "slab": SLAB,
    "6.6.3": dict(SLAB, kmap_stream="stream"),
    "6.6.30": {
        "memorizer_enabled": "enabled", "log_accesses_enabled": "accesses",
        "log_live_enabled": "live", "stats": "stats", "kmap": "kmap",
        "kmap_stream": "stream", "clear_dead_objects": "clear_dead",
        "clear_printed_objects": "clear_printed",
        "clear_function_calls": "clear_calls", "function_calls": "cfgmap",
        "log_calls_enabled": "calls", "log_frames_enabled": "frames",
        "allocations": "kmap", "accesses": "kmap",
        "global_table": "global_table"},
}
BOOLS = {"accesses", "live", "calls", "frames"}
# Of all objects.
BASE = 0xffff888000000000
SITE, FREE_SITE, ACCESS = 0xffffffff81000010, 0xffffffff81000020, \
    0xffffffff81000030


class Kernel:
    """What Memorizer knows."""

    def __init__(self, kind, words):
        self.kind = kind
        self.words = words
        self.names = dict(NAMES[kind])
        for i, word in enumerate(words):
            if word == "without":
                del self.names[words[i + 1]]
        self.holds = int(words[words.index("holds") + 1]) \
            if "holds" in words else 1 << 60
        self.is_number = kind.startswith("6.6")
        self.switch = {"enabled": 0, "accesses": 0, "live": 1, "calls": 0,
                       "frames": 0}
        self.objects = []
        self.log = []
        self.index = 0
        self.failed = 0
        self.refuses = "stubborn" in words
        self.change = self.turned_on = lambda: None

    # --- what happens in it ---

    def next_index(self):
        self.index += 1
        return self.index

    def event(self, line):
        word, address, *numbers = line.split()
        address = BASE + int(address, 16)
        if word == "alloc" and self.switch["enabled"]:
            if len(self.objects) >= self.holds:
                self.failed += 1
                return
            self.objects.append({
                "address": address, "bytes": int(numbers[0]), "freed": 0,
                "index": self.next_index(), "printed": False, "access": []})
        live = [o for o in self.objects
                if o["address"] == address and not o["freed"]]
        if word == "access" and live and self.switch["accesses"]:
            live[-1]["access"].append(tuple(map(int, numbers)))
        if word == "free" and live and self.switch["enabled"]:
            live[-1]["freed"] = self.next_index()
            self.change()

    # --- what is printed ---

    def line(self, o):
        text = "%016x,7,%016x,%d,%d,%d,%016x" % (
            SITE, o["address"], o["bytes"], o["index"], o["freed"],
            FREE_SITE if o["freed"] else 0)
        text += {"linuxkit": ",tester\n"}.get(
            self.kind, ",KMALLOC,tester,kmalloc-64" +
            (",\n" if self.is_number else "\n"))
        if o["access"]:
            numbers = tuple(map(sum, zip(*o["access"])))
            text += ("  %016x,%d,%d,7\n" if self.is_number else
                     "  %016x,7,%d,%d\n") % ((ACCESS,) + numbers)
        o["printed"] = True
        return text

    def kmap(self):
        if self.kind == "6.6.30":
            self.switch["enabled"] = 0
        self.log.append("printed")
        if "endless" in self.words:
            return None
        has_switch = "print_live_obj" in self.names or \
            "log_live_enabled" in self.names
        return "".join(self.line(o) for o in self.objects if o["freed"] or
                       self.switch["live"] or not has_switch)

    def stream(self):
        """The next object that was freed, which is forgotten."""
        for o in self.objects:
            if o["freed"]:
                self.objects.remove(o)
                self.log.append("streamed")
                return self.line(o)
        return ""

    def clear(self, only_printed):
        # An early one, which has nothing to clear, is not refused: nothing
        # would be read again.
        if self.refuses and only_printed and any(
                o["freed"] and o["printed"] for o in self.objects):
            self.refuses = False
            return errno.EBUSY
        self.objects = [o for o in self.objects if not o["freed"] or
                        (only_printed and not o["printed"])]
        self.log.append("cleared")
        return 0

    # --- files ---

    def read(self, name):
        what = self.names[name]
        if what == "enabled":
            value = self.switch[what]
            if not self.is_number:
                return "NY"[value] + "\n"
            return "%d - memorizer %s\n" % (value if value < 4 else 3, [
                "disabled", "enabled, all processes"][value] if value < 2
                else "enabled, no irq, proc root = %d" % value)
        if what in BOOLS:
            return "NY"[self.switch[what]] + "\n"
        if what == "kmap":
            return self.kmap()
        if what == "stats":
            return "    Live Objects:\t%16d\n" % len(
                [o for o in self.objects if not o["freed"]])
        return ""

    def write(self, name, text):
        """0, or the number of an error."""
        what = self.names[name]
        if what == "enabled" and self.is_number:
            if not re.fullmatch(r"\d+", text) or \
                    (self.kind == "6.6.3" and int(text) > 3):
                return errno.EINVAL
            self.switch[what] = int(text)
        elif what in BOOLS or what == "enabled":
            # Only the first letter counts.
            self.switch[what] = int(text[:1] in "1yY")
        elif what in ("clear_dead", "clear_printed"):
            return self.clear(what == "clear_printed")
        elif what in ("cfgmap", "clear_calls"):
            self.log.append("cleared calls")
        else:
            return errno.EINVAL
        if what == "enabled":
            self.log.append("on" if self.switch[what] else "off")
            if self.switch[what]:
                self.turned_on()
        return 0


class Files:
    """The filesystem: directories, files of the kernel, event and log."""

    def __init__(self, kernel, fd):
        self.kernel = kernel
        self.fd = fd
        flat = "flat" in kernel.words
        self.paths = ["", "event", "log"] + ([] if flat else ["memorizer"])
        self.paths += [n if flat else "memorizer/" + n for n in kernel.names]
        self.open = {}
        self.handle = 0
        self.waiting = []	# reads of the stream: (unique, size)
        self.rest = ""		# of an object that was read in part
        self.late = []		# events: (unique, node, body)
        kernel.change = self.serve_stream
        kernel.turned_on = self.serve_late

    def name(self, node):
        return self.paths[node - 1].split("/")[-1]

    def is_stream(self, node):
        return self.kernel.names.get(self.name(node)) == "stream"

    def is_dir(self, node):
        return self.paths[node - 1] in ("", "memorizer")

    def attr(self, node):
        mode, links = (0o040755, 2) if self.is_dir(node) else (0o100644, 1)
        return struct.pack("=6Q10I", node, 0, 0, 0, 0, 0, 0, 0, 0, mode,
                           links, 0, 0, 0, 4096, 0)

    def send(self, unique, said):
        failed = isinstance(said, int)
        data = b"" if failed else said
        try:
            os.write(self.fd, struct.pack(
                "=IiQ", 16 + len(data), -said if failed else 0, unique) +
                data)
        except OSError:
            pass	# who asked has ended

    def serve_stream(self):
        while self.waiting:
            self.rest = self.rest or self.kernel.stream()
            if not self.rest:
                return
            unique, size = self.waiting.pop(0)
            self.send(unique, self.rest[:size].encode())
            self.rest = self.rest[size:]

    def serve_late(self):
        late, self.late = self.late, []
        for unique, node, body in late:
            self.send(unique, self.write(unique, node, body))

    def interrupt(self, unique):
        for queue in self.waiting, self.late:
            for one in queue:
                if one[0] == unique:
                    queue.remove(one)
                    self.send(unique, errno.EINTR)
                    return

    def text_of(self, node):
        name = self.name(node)
        if name == "log":
            return "".join(w + "\n" for w in self.kernel.log)
        return "" if name == "event" or self.is_stream(node) else \
            self.kernel.read(name)

    def lookup(self, node, name):
        path = (self.paths[node - 1] + "/" if node > 1 else "") + name
        if path not in self.paths:
            return errno.ENOENT
        found = self.paths.index(path) + 1
        return struct.pack("=4QII", found, 0, 0, 0, 0, 0) + self.attr(found)

    def read(self, unique, node, body):
        handle, offset, size = struct.unpack_from("=QQI", body)
        if self.is_stream(node):
            self.waiting.append((unique, size))
            self.serve_stream()
            return None
        if "mute" in self.kernel.words and self.name(node) == "kmap":
            return errno.EIO
        if handle in self.open and self.open[handle] is None:
            return b"%016x,7,%016x,8,1,0,0,a\n" % (SITE, offset)
        return self.open.get(handle, "").encode()[offset:offset + size]

    def write(self, unique, node, body):
        _, _, size = struct.unpack_from("=QQI", body)
        text = body[40:40 + size].decode().strip()
        if self.name(node) == "event":
            if "patient" in self.kernel.words and \
                    not self.kernel.switch["enabled"]:
                self.late.append((unique, node, body))
                return None
            for line in text.splitlines():
                self.kernel.event(line)
            failed = 0
        else:
            failed = self.kernel.write(self.name(node), text)
        return failed or struct.pack("=II", size, 0)

    def answer(self, op, unique, node, body):
        """Bytes, the number of an error, or None: later."""
        if op == INIT:
            return struct.pack("=4IHHIIHHII6I", 7, 31, 65536, 0, 16, 8, 65536,
                               1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)[:64]
        if op == LOOKUP:
            return self.lookup(node, body.rstrip(b"\0").decode())
        if op in (GETATTR, SETATTR):
            return struct.pack("=QII", 0, 0, 0) + self.attr(node)
        if op == STATFS:
            return struct.pack("=5Q4I24x", 9, 0, 0, 2, 0, 4096, 255, 4096, 0)
        if op == OPENDIR:
            return struct.pack("=QII", 0, 0, 0)
        if op == OPEN:
            self.handle += 1
            flags, = struct.unpack_from("=I", body)
            if flags & os.O_ACCMODE == os.O_RDONLY:
                self.open[self.handle] = self.text_of(node)
            return struct.pack("=QII", self.handle, DIRECT_IO, 0)
        if op == RELEASE:
            self.open.pop(struct.unpack_from("=Q", body)[0], None)
            return b""
        if op == READ:
            return self.read(unique, node, body)
        if op == WRITE:
            return self.write(unique, node, body)
        return errno.ENOSYS

    def serve(self):
        while True:
            try:
                request = os.read(self.fd, 1 << 18)
            except OSError:
                return
            _, op, unique, node = struct.unpack_from("=IIQQ", request)
            if op == INTERRUPT:
                self.interrupt(struct.unpack_from("=Q", request, 40)[0])
                continue
            if op in SILENT:
                continue
            said = self.answer(op, unique, node, request[40:])
            if said is not None:
                self.send(unique, said)


if __name__ == "__main__":
    fd = fuse.mount("memorizer", sys.argv[1])
    Files(Kernel(sys.argv[2], sys.argv[3:]), fd).serve()
