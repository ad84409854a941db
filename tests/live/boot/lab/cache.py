# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Keeps files between runs, below ${XDG_CACHE_HOME:-~/.cache}/pagedet/lab. An
entry is a directory that is complete or does not exist. Two runs that want the
same one wait for each other."""
import contextlib
import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
import time

TOP = os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
    "pagedet", "lab")


# seconds that another process may read an entry which must go
PATIENCE = 600
# Directories of entries that this process reads, until it ends.
held = {}


@contextlib.contextmanager
def locked(name):
    os.makedirs(os.path.join(TOP, "locks"), exist_ok=True)
    path = os.path.join(TOP, "locks", name.replace("/", "-"))
    with open(path, "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def digest(*parts):
    """A short name for contents: of bytes, strings, and files by path."""
    sum_ = hashlib.sha256()
    for part in parts:
        if isinstance(part, os.PathLike):
            with open(part, "rb") as f:
                part = f.read()
        elif isinstance(part, str):
            part = part.encode()
        sum_.update(b"%d\n" % len(part) + part)
    return sum_.hexdigest()[:16]


def entry(room, name, key, make, only=False):
    """The directory TOP/room/name-key; @make fills it if it is not there.
    With @only, entries of the same name with other keys are dropped then. It
    stays while this process does."""
    room = os.path.join(TOP, room)
    path = os.path.join(room, "%s-%s" % (name, key))
    with locked(os.path.basename(room) + "-" + name):
        if os.path.isdir(path):
            hold(path)
            return path
        os.makedirs(room, exist_ok=True)
        half = ".new-%s@" % name
        # Remove the leftovers of a process that was killed while it made this
        # entry.
        drop(room, lambda other: other.startswith(half))
        with tempfile.TemporaryDirectory(prefix=half, dir=room) as scratch:
            new = os.path.join(scratch, "entry")
            os.mkdir(new)
            make(new)
            os.rename(new, path)
        hold(path)
        if only:
            mine = os.path.basename(path)
            drop(room, lambda other: other != mine and
                 other.rsplit("-", 1)[0] == name)
    return path


def forget(room, name):
    """Entries of this name are made anew when they are next wanted."""
    room = os.path.join(TOP, room)
    with locked(os.path.basename(room) + "-" + name):
        if os.path.isdir(room):
            drop(room, lambda other: other.rpartition("-")[0] == name,
                 PATIENCE)


def hold(path):
    if path not in held:
        held[path] = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(held[path], fcntl.LOCK_SH)


def is_read(path, seconds):
    """Whether another process does, and goes on with it for so long."""
    if path in held:
        os.close(held.pop(path))
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        until = time.monotonic() + seconds
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            if time.monotonic() >= until:
                return True
            time.sleep(0.2)
    finally:
        os.close(fd)


def drop(room, is_it, seconds=0):
    """What is read stays; who has time waits for the end of that."""
    for name in filter(is_it, os.listdir(room)):
        path = os.path.join(room, name)
        if not is_read(path, seconds):
            shutil.rmtree(path, ignore_errors=True)
        elif seconds:
            print("# %s stays: it is read" % path, file=sys.stderr)
