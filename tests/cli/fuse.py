# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""A filesystem in a process (include/uapi/linux/fuse.h)."""
import ctypes
import os
import struct
import sys
import time

LOOKUP, GETATTR, OPEN, READ, STATFS, INIT, OPENDIR = 1, 3, 14, 15, 17, 26, 27
IOCTL = 39
ENOENT, ENOTTY, ENOSYS = 2, 25, 38
# of requests that want no answer
SILENT = {2, 36, 42}


def open_device():
    return os.open("/dev/fuse", os.O_RDWR)


def mount_device(fd, name, path):
    """Raises OSError."""
    options = "fd=%d,rootmode=40000,user_id=0,group_id=0" % fd
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(name.encode(), os.fsencode(path), b"fuse", 0,
                  options.encode()):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def mount(name, path):
    """A descriptor of its requests. Exits with 77 where there is no FUSE."""
    try:
        fd = open_device()
        mount_device(fd, name, path)
    except OSError as e:
        print(e.strerror)
        sys.exit(77)
    return fd


def init():
    """The answer to INIT."""
    return struct.pack("=4IHHIIHHII6I", 7, 31, 65536, 0, 16, 8, 65536, 1,
                       0, 0, 0, 0, 0, 0, 0, 0, 0, 0)[:64]


def serve(fd, answer, given_up=lambda: False):
    """Serves until it is unmounted, also if it will be mounted later, unless
    that is given up. answer(op, node, body) returns bytes, or the number of an
    error."""
    while not given_up():
        try:
            request = os.read(fd, 1 << 17)
        except PermissionError:
            time.sleep(0.01)
            continue
        except OSError:
            return
        _, op, unique, node = struct.unpack_from("=IIQQ", request)
        if op in SILENT:
            continue
        said = answer(op, node, request[40:])
        error, data = (-said, b"") if isinstance(said, int) else (0, said)
        try:
            os.write(fd, struct.pack("=IiQ", 16 + len(data), error,
                                     unique) + data)
        except FileNotFoundError:
            pass        # nobody waits for it any more
