# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What a run that failed may have left on the machine: directories and files of
tests, what is mounted there, and loop devices on them."""
import contextlib
import fcntl
import glob
import os
import re
import shutil
import subprocess

PLACES = os.environ.get("GATE_PLACES", "/tmp:/var/tmp:/dev/shm").split(":")
# As mkdtemp(3) and Python's tempfile name what tests and examples make.
OURS = re.compile(
    r"(migration_agent-(\d+-)?|journal_harness-|pagedet\.|"
    r"pagedet-(driver-|ask-|base\.|key-|log-|ext4-|vmlinux\.|test\.|plant\.|"
    r"inject\.|lab\.|kmem\.|tracing\.|judged\.)|"
    r"test_(emit|collect|log_boot)\.|tap-run\.)"
    r"[A-Za-z0-9_]{6}([a-z0-9_]{2})?$")


def listing():
    return {os.path.join(place, name) for place in PLACES
            if os.path.isdir(place) for name in os.listdir(place)
            if OURS.match(name)}


def text_of(path):
    """Nothing if it is gone, or not for us."""
    try:
        with open(path, "rb") as f:
            return os.fsdecode(f.read())
    except OSError:
        return ""


def link_of(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def is_mine(path):
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except OSError:
        return False


def words_of_processes():
    """What any process has open, was started with, or has mounted in a
    namespace of its own."""
    ours = link_of("/proc/self/ns/mnt")
    for process in glob.glob("/proc/[0-9]*"):
        yield text_of(process + "/cmdline")
        yield text_of(process + "/environ")
        yield text_of(process + "/maps")
        if link_of(process + "/ns/mnt") not in (ours, ""):
            yield text_of(process + "/mountinfo")
        for path in glob.glob(process + "/fd/*") + [process + "/cwd",
                                                    process + "/root"]:
            yield link_of(path)


def unescaped(word):
    """mountinfo has blanks and the like as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), word)


def mounted_below(path):
    """Where something is mounted, the last first."""
    points = [unescaped(line.split()[4]) for line in
              text_of("/proc/self/mountinfo").splitlines()]
    return [point for point in reversed(points)
            if point == path or point.startswith(path + "/")]


def loop_devices(path):
    """Devices that still have a file there."""
    for name in glob.glob("/sys/block/loop*/loop/backing_file"):
        if (text_of(name).rstrip("\n") + "/").startswith(path + "/"):
            yield "/dev/" + name.split("/")[3]


def quietly(*command):
    with contextlib.suppress(OSError):
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)


def remove_path(path):
    """Nothing is removed where something is still mounted. A link is removed,
    and not what it leads to."""
    path = os.path.join(os.path.realpath(os.path.dirname(path)),
                        os.path.basename(path))
    for point in mounted_below(path):
        quietly("umount", "-l", point)
    for device in loop_devices(path):
        quietly("losetup", "-d", device)
    if mounted_below(path):
        return
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(path)


class Places:
    """Directories that all tests of the machine share, and what was there
    before this gate began. While another gate of this user runs, nothing is
    removed: it may be that one's."""

    def __init__(self):
        self.before = listing()
        top = os.path.join(os.environ.get("XDG_CACHE_HOME") or
                           os.path.expanduser("~/.cache"), "pagedet")
        os.makedirs(top, exist_ok=True)
        self.lock = open(os.path.join(top, "gate.lock"), "w")
        fcntl.flock(self.lock, fcntl.LOCK_SH)

    def clean(self):
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            fcntl.flock(self.lock, fcntl.LOCK_SH)
            return
        new = list(filter(is_mine, listing() - self.before))
        used = "\0".join(words_of_processes()) if new else ""
        for path in sorted(new):
            if path not in used:
                remove_path(path)
        fcntl.flock(self.lock, fcntl.LOCK_SH)
