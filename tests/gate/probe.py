#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What this machine and its kernel do, found by doing it: for who reads why a
test failed. Run alone it prints that."""
import ctypes
import glob
import mmap
import os
import platform
import re
import struct
import sys
import tempfile

PAGE = mmap.PAGESIZE
GUARD_INSTALL = 102     # of madvise(2), since 6.13
# Bits of a word of pagemap (Documentation/admin-guide/mm/pagemap.rst).
SOFT_DIRTY, EXCLUSIVE, GUARD, PRESENT = 55, 56, 58, 63
INITIAL_PID_NAMESPACE = 0xEFFFFFFC

libc = ctypes.CDLL(None, use_errno=True)


def text(path):
    """A small file; None: it is not there, or closed."""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return None


class Memory:
    """One page of anonymous memory."""

    def __init__(self):
        self.map = mmap.mmap(-1, PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        byte = ctypes.c_char.from_buffer(self.map)
        self.address = ctypes.addressof(byte)

    def bits(self):
        """Its word of pagemap."""
        with open("/proc/self/pagemap", "rb", buffering=0) as f:
            f.seek(self.address // PAGE * 8)
            return struct.unpack("=Q", f.read(8))[0]

    def has(self, bit):
        return bool(self.bits() >> bit & 1)


def zero_page():
    m = Memory()
    ctypes.string_at(m.address, 1)
    if not m.has(PRESENT):
        return "none: it is not there"
    return "no, a page of its own" if m.has(EXCLUSIVE) else "yes"


def soft_dirty():
    m = Memory()
    m.map[0] = 1
    return "yes" if m.has(SOFT_DIRTY) else "no"


def guard():
    m = Memory()
    if libc.madvise(ctypes.c_void_p(m.address), ctypes.c_size_t(PAGE),
                    GUARD_INSTALL):
        return "no: %s" % os.strerror(ctypes.get_errno())
    return "yes, and pagemap %s" % ("shows it" if m.has(GUARD) else
                                    "does not show it")


def device():
    """Whether maps names the device that stat does."""
    with tempfile.NamedTemporaryFile() as f:
        f.write(b"x")
        f.flush()
        m = mmap.mmap(f.fileno(), 1, mmap.MAP_PRIVATE)
        number = os.fstat(f.fileno()).st_dev
        wanted = "%02x:%02x" % (os.major(number), os.minor(number))
        for line in (text("/proc/self/maps") or "").splitlines():
            if line.endswith(f.name):
                m.close()
                seen = line.split()[3]
                return "the same" if seen == wanted else \
                    "%s, but %s in maps" % (wanted, seen)
    return "the file is not in maps"


def processors():
    return "%d, of which we may use %d; %s" % (
        os.cpu_count() or 0, len(os.sched_getaffinity(0)),
        "load " + " ".join("%.2f" % n for n in os.getloadavg()))


def stolen():
    """Of the time since boot."""
    ticks = [int(n) for n in text("/proc/stat").split("\n")[0].split()[1:9]]
    return "%.1f %%" % (100 * ticks[7] / max(sum(ticks), 1))


def memory():
    kb = dict(re.findall(r"^(\w+): +(\d+) kB$", text("/proc/meminfo"),
                         re.MULTILINE))
    return ", ".join("%s %d MB" % (name, int(kb.get(name, 0)) >> 10)
                     for name in ("MemTotal", "MemAvailable", "SwapTotal"))


def is_chosen(setting):
    """Of "always [madvise] never"."""
    return (re.search(r"\[(\w+)\]", setting or "") or [None, "none"])[1]


def huge_pages():
    top = "/sys/kernel/mm/transparent_hugepage/"
    sizes = ["%s %s" % (re.search(r"hugepages-(\w+)/", path)[1], chosen)
             for path in sorted(glob.glob(top + "hugepages-*/enabled"))
             for chosen in [is_chosen(text(path))] if chosen != "never"]
    return ", ".join([is_chosen(text(top + "enabled"))] + sizes)


def ksm():
    top = "/sys/kernel/mm/ksm/"
    names = ("run", "max_page_sharing", "use_zero_pages", "pages_shared")
    if text(top + "run") is None:
        return "no"
    return ", ".join("%s %s" % (name, text(top + name)) for name in names)


def named(pattern):
    """How many tasks have such a name."""
    return sum(bool(re.match(pattern, text(path) or ""))
               for path in glob.glob("/proc/[0-9]*/comm"))


def namespace():
    inode = os.stat("/proc/self/ns/pid").st_ino
    return "the first" if inode == INITIAL_PID_NAMESPACE else "another one"


def modules():
    if not os.path.exists("/proc/modules"):
        return "the kernel has none"
    return "may not be loaded" if text(
        "/proc/sys/kernel/modules_disabled") == "1" else "may be loaded"


def cgroups():
    found = re.findall(r"^\S+ \S+ (cgroup2?) (\S+)", text("/proc/mounts"),
                       re.MULTILINE)
    names = {"version 2" if kind == "cgroup2" else "memory of version 1"
             for kind, options in found
             if kind == "cgroup2" or "memory" in options.split(",")}
    return ", ".join(sorted(names)) or "not mounted"


def options():
    """What the kernel was started with that changes what pages do."""
    return " ".join(re.findall(
        r"(?<!\S)\S*(?:page|kaslr|slab|slub|cgroup|init_on|kfence|module|"
        r"mem|psi|swap|deferred)\S*", text("/proc/cmdline"))) or "nothing"


FACTS = (
    ("kernel", lambda: "%s %s" % (platform.release(), platform.machine())),
    ("started with", options),
    ("user", lambda: "%d" % os.geteuid()),
    ("processors", processors),
    ("time stolen by the host", stolen),
    ("memory", memory),
    ("zero page on a read", zero_page),
    ("soft-dirty bits", soft_dirty),
    ("guard pages", guard),
    ("device of a file", device),
    ("transparent huge pages", huge_pages),
    ("KSM", ksm),
    ("DAMON's threads", lambda: named("kdamond")),
    ("udevd", lambda: named(r"(systemd-)?udevd") and "runs" or "no"),
    ("pid namespace", namespace),
    ("modules", modules),
    ("cgroups", cgroups),
    ("page_owner", lambda: "on" if os.path.exists(
        "/sys/kernel/debug/page_owner") else "no"),
    ("vm.memfd_noexec", lambda: text("/proc/sys/vm/memfd_noexec")),
)


def facts():
    """(name, what is so), of all; what cannot be told says why."""
    for name, find in FACTS:
        try:
            found = find()
        except Exception as e:
            found = "cannot be told: %s" % e
        yield name, "not there" if found is None else str(found)


def lines():
    return ["%s: %s" % fact for fact in facts()]


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
