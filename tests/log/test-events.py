#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log procfs
"""Tests pagedet from-log with one event per line, whether a log is of this
boot, the log of a dump, and explain crash, which compares code with the disk.
"""
import lzma
import os
import shutil
import struct
import subprocess
import tempfile

from captures import Tap, build, command, top

tap = Tap()
# Use a folder on a disk. A file that is only in memory cannot be read past the
# page cache.
tmp = tempfile.mkdtemp(dir=build)


def run(*words, stdin=b""):
    r = subprocess.run([command, *words], input=stdin, capture_output=True,
                       check=False, timeout=120)
    return (r.returncode, r.stdout.decode(errors="replace"),
            r.stderr.decode(errors="replace"))


TEXT = b"""[   12.000001] BUG: Bad page state in process modprobe  pfn:81a09
[   12.000002] page: refcount:0 mapcount:0 mapping:00000000dead0001 index:0x7 pfn:0x81a09
[   12.000003] flags: 0xfff00000000014(referenced|dirty|node=0|zone=1|lastcpupid=0x7ff)
[   12.000004] raw: 00fff00000000014 dead000000000100 dead000000000122 00000000dead0001
[   12.000005] raw: 0007f00000000000 0000000000000000 00000000ffffffff 0000000000000000
[   12.000006] page dumped because: non-NULL mapping
[   12.000007] CPU: 1 PID: 58 Comm: modprobe Not tainted 6.1.0 #1
[   13.000001] Memory failure: 0xdfe2: recovery action for dirty LRU page: Recovered
[   14.000001] page: refcount:3 mapcount:1 mapping:00000000e71abb9a index:0x1 pfn:0x1a2b3
[   14.000002] aops:ext4_aops ino:3 dentry name:"x"
[   14.000003] flags: 0x20038(uptodate|dirty|lru|swapbacked|node=0|zone=0)
[   14.000004] raw: 0000000000020038 fffff873801efa08 fffff873801f64c8 ffff90a2c0e73570
[   14.000005] raw: 0000000000000001 0000000000000000 0000000300000000 0000000000000000
[   14.000006] page dumped because: a test
[   15.000001] prog[412]: segfault at 10 ip 000055d0c2a9b13d sp 00007ffc0a1b2c30 error 6 in prog[113d,55d0c2a9b000+1000]
[   15.000002] Code: 48 89 <8b> 00
"""
SHORT = """\
[   12.000001] bad page state: non-NULL mapping, pfn 530953 (0x81a09), modprobe[58], refcount 0, mapcount 0, flags referenced|dirty
[   13.000001] memory failure: dirty LRU page: Recovered, pfn 57314 (0xdfe2), flags dirty|lru|hwpoison
[   14.000001] dump page: a test, pfn 107187 (0x1a2b3), file, refcount 3, mapcount 1, flags uptodate|dirty|lru|swapbacked, ext4_aops "x"
[   15.000001] fault: write by the program, no page is present there: segfault at 10 ip 000055d0c2a9b13d sp 00007ffc0a1b2c30 error 6 in prog[113d,55d0c2a9b000+1000], prog[412], page at 0x0

the text does not say: kind, refcount, mapcount, memcg_path
"""
tap.equal("an event a line, and once what is not said",
          run("from-log", "--text-only", stdin=TEXT), (0, SHORT, ""))
tap.equal("terse with a filter",
          run("from-log", "--text-only", "--where", "report=memory_failure",
              stdin=TEXT)[1].splitlines()[0], SHORT.splitlines()[1])
status, out, said = run("from-log", "--text-only", "--details", stdin=TEXT)
tap.is_true("--details: all fields, and two lines about what is not said",
            status == 0 and "raw_flags" in out and
            out.count("the text does not say: ") == 1 and
            out.count("it does not always say: ") == 1 and
            "unsupported" not in out, out)
tap.is_true("and in which radix numbers are", "read as hex" in said, said)
tap.equal("a log without anything", run("from-log", stdin=b"usb 1-1: x\n"),
          (1, "", "pagedet: the log mentions no page\n"))

# --- the boot of a log ---

with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
    boot = f.read().strip().replace("-", "")
other = boot[:-1] + ("0" if boot[-1] != "0" else "1")
LINE = b"Memory failure: 0x1000: unhandlable page.\n"
cases = (
        ("nobody knows, and what to do", LINE, [], False, "(--now shows it)"),
        ("--now does not ask", LINE, ["--now"], True, None),
        ("--text-only asks nobody", LINE, ["--text-only"], False, None),
        ("this boot, by its id", f"-- Boot {boot} --\n".encode() + LINE, [],
         True, None),
        ("another boot, by its id", f"-- Boot {other} --\n".encode() + LINE,
         [], False, "of another boot"),
        ("another kernel", b"[    0.000000] Linux version 0.1 (x@y) (z) #1\n" +
         LINE, [], False, "of another boot"))
# Kernel memory also belongs to the running kernel.
if run("--backend", "bpf", "page", "1")[0] == 0:
    cases += (("by its memory", LINE, ["--backend", "bpf"], False,
               "nothing says whether"),)
for name, text, words, now, why in cases:
    status, out, said = run("from-log", *words, stdin=text)
    tap.is_true(name, status == 0 and ("    now, " in out) == now and
                ((why in said) if why else "boot" not in said),
                status, out, said)
    out = run("from-log", "--json", *words, stdin=text)[1]
    tap.equal(name + ", as JSON", out.count('"at":"now"'), int(now))

# --- the log of a dump ---

dump = os.path.join(tmp, "dump")
with open(dump, "wb") as f:
    with lzma.open(os.path.join(
            top, "tests/fixtures/vmcore/qemu.elf.xz")) as packed:
        f.write(packed.read())
log = run("--from", dump, "dmesg")[1]
tap.is_true("a dump has a log", log.count("\n") > 100, len(log))
own = run("--from", dump, "from-log", "--json", "--fields", "report,pfn,reason")
tap.equal("its own, and the same from standard input", own,
          run("--from", dump, "from-log", "--json", "--fields",
              "report,pfn,reason", "-", stdin=log.encode()))
tap.is_true("pages are mentioned in it, or none is",
            own[0] == (0 if own[1] else 1), own)

# --- the code of programs that faulted ---

text = os.path.join(tmp, "prog")
code = bytes((i * 37 + i // 251) % 256 for i in range(3 * 4096))


def put(path=text, data=code):
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def fault(at=0x113d, data=code, name="prog", more=""):
    words = " ".join([*(f"{b:02x}" for b in data[at - 10:at]),
                      *(f"<{b:02x}>" for b in data[at:at + 1]),
                      *(f"{b:02x}" for b in data[at + 1:at + 20])])
    path = os.path.join(tmp, "log")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{name}[412]: segfault at 10 ip 55d0c2a9b13d sp 7ffc0a1b "
                   f"error 4 in {name}[{at:x},55d0c2a9b000+1000]{more}\n")
        if at < len(data):
            file.write(f"Code: {words}\n")
    return path


def crash(*words):
    return run("explain", "crash", "--json", *words)


put()
if "disk" in crash("--file", text, fault())[1].partition("cannot tell")[2]:
    for n in range(3):
        tap.skip("code and disk", "the build is on no disk that can be "
                 "checked")
else:
    status, out, _ = crash("--file", text, fault())
    tap.is_true("the program ran what its file has", status == 1 and
                '"finding":"crash-text-intact"' in out and
                '"offset":4413' in out, status, out)
    flipped = bytearray(code)
    flipped[0x113f] ^= 4
    status, out, _ = crash("--file", text, fault(data=bytes(flipped)))
    tap.is_true("other bytes: cannot tell, but how many differ", status == 2 and
                '"finding":"crash-unknown"' in out and
                "1 of 30 bytes, 1 bit)" in out, status, out)
    status, out, _ = crash("--file", text, fault(at=0x1004))
    tap.is_true("code that begins in the page before", status == 1 and
                "the 24 bytes that ran" in out, status, out)
for name, path, why in (
        ("the file is shorter", fault(at=0x4000), "shorter"),
        ("a file that is not here", None, "not here")):
    words = ["--file", text, path] if path else [fault(name="nowhere_such")]
    status, out, _ = crash(*words)
    tap.is_true(name, status == 2 and why in out, status, out)
with open(fault(), encoding="ascii") as f:
    lines = f.read()
old = os.path.join(tmp, "old")
with open(old, "w", encoding="ascii") as f:
    f.write(lines.replace("[113d,", "["))
status, out, _ = crash("--file", text, old)
tap.is_true("an old line, of a file without program headers", status == 2 and
            "cannot be known" in out, status, out)


def elf(offset, filesz, size):
    """A file with one part that is code."""
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 183, 1, 0,
                       64, 0, 0, 64, 56, 1, 0, 0, 0)
    part = struct.pack("<IIQQQQQQ", 1, 5, offset, 0x400000, 0x400000, filesz,
                       filesz, 65536)
    return (head + part).ljust(size, b"\x90")


# arm64 has pages of 4, 16 or 64 KiB, and its log does not say which.
for name, where, length, offset in (
        ("of 4 KiB", (0x1000, 0x2f00), 0x3000, 0x1754),
        ("of 64 KiB", (0x21000, 0xe000), 0x10000, 0x20754),
        ("of any size", (0x20000, 0x10000), 0x10000, 0x20754)):
    put(data=elf(*where, 0x40000))
    with open(old, "w", encoding="ascii") as f:
        f.write("prog[412]: unhandled level 2 translation fault (11) at 0x10, "
                f"esr 0x92000006, in prog[400000+{length:x}]\n"
                "pc : [<0000000000400754>] lr : [<0000007f9b6d9a00>] "
                "pstate: 60000000\n")
    status, out, _ = crash("--file", text, old)
    tap.is_true("arm64: the place in the file, pages " + name,
                f'"offset":{offset}' in out, status, out)
put()
tap.equal("a log without a fault", crash("/dev/null")[0], 1)
status, out, said = run("explain", "crash", "--why", "free", old)
tap.equal("options of other questions", (status, out), (64, ""))


# --- a program that faults now ---

child = subprocess.Popen(["python3", "-c",
                          "import ctypes; ctypes.string_at(0)"],
                         stderr=subprocess.DEVNULL)
child.wait()
mine = [line for line in run("dmesg")[1].splitlines(True)
        if f"[{child.pid}]: segfault at 0 " in line]
if not mine:
    tap.skip("a program that has faulted", "the kernel did not log it")
else:
    status, out, said = run("from-log", stdin=mine[0].encode())
    tap.is_true("a program that has faulted",
                status == 0 and f"[{child.pid}], page at 0x0\n    now: it has "
                "ended" in out and "boot" not in said, status, out, said)
    later = mine[0].replace("[", "[9", 1)
    tap.is_true("of a line that this kernel did not write nothing is said",
                "now:" not in run("from-log", stdin=later.encode())[1], later)
tap.equal("of another machine there are no files here",
          run("explain", "crash", "--from", dump, old)[0], 64)


def damaged():
    """What the disk has changes below a file that is cached."""
    image, mount = os.path.join(tmp, "image"), os.path.join(tmp, "mount")
    os.mkdir(mount)
    with open(image, "wb") as file:
        file.truncate(8 << 20)
    if subprocess.run(["mke2fs", "-qFt", "ext4", image], check=False,
                      capture_output=True).returncode or \
       subprocess.run(["mount", "-o", "loop", image, mount], check=False,
                      capture_output=True).returncode:
        return False
    try:
        inside = os.path.join(mount, "prog")
        put(inside)
        subprocess.run(["sync", "-f", inside], check=True)
        with open(image, "r+b") as file:
            place = file.read().find(code)
            file.seek(place + 0x1200)
            file.write(bytes([code[0x1200] ^ 1]))
            file.flush()
            os.fsync(file.fileno())
        status, out, _ = crash("--file", inside, fault())
        tap.is_true("a cached page that is not what the disk has",
                    status == 0 and
                    '"finding":"crash-text-damaged"' in out and
                    '"confidence":"none"' not in out and
                    "; the program ran the cached bytes" in out,
                    status, out, place)
    finally:
        subprocess.run(["umount", mount], check=True)
    return True


if os.geteuid() or not shutil.which("mke2fs") or not damaged():
    tap.skip("a cached page that is not what the disk has",
             "needs root, mke2fs and loop devices")

shutil.rmtree(tmp)
tap.end()
