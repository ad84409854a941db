# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The shared library: found on first use, and its failures as exceptions."""
import ctypes
import ctypes.util
import errno
import functools
import os
import types

from . import _api


class Error(OSError):
    """A call that failed: .errno, what went wrong in .strerror, and what would
    help in .advice ("" if there is nothing to say)."""

    advice = ""

    def __str__(self):
        text = self.strerror or os.strerror(self.errno)
        return "%s (%s)" % (text, self.advice) if self.advice else text


class Invalid(Error, ValueError):
    """EINVAL, E2BIG: the question itself is wrong."""


class NotFound(Error, FileNotFoundError):
    """ENOENT"""


class NoProcess(Error, ProcessLookupError):
    """ESRCH"""


class NoAccess(Error, PermissionError):
    """EACCES: a privilege is missing"""


class NotSupported(Error):
    """ENOTSUP, ENOSYS: nobody here can do it; .advice may say who could."""


class Damaged(Error):
    """EBADMSG: a file is of no known kind or damaged"""


class Timeout(Error, TimeoutError):
    """ETIMEDOUT: the deadline passed first. Rows so far are right, coverage()
    says what is missing."""


class Cancelled(Error):
    """ECANCELED: by cancel() or the progress callback. Rows so far are
    right."""


class Again(Error, BlockingIOError):
    """EAGAIN: not known yet"""


CLASSES = {
    errno.EINVAL: Invalid, errno.E2BIG: Invalid, errno.ENOENT: NotFound,
    errno.ESRCH: NoProcess, errno.EACCES: NoAccess,
    errno.ENOTSUP: NotSupported, errno.ENOSYS: NotSupported,
    errno.EBADMSG: Damaged, errno.ETIMEDOUT: Timeout,
    errno.ECANCELED: Cancelled, errno.EAGAIN: Again,
}


def failure(code, text="", advice=""):
    """The exception for an errno."""
    error = CLASSES.get(code, Error)(code, text or os.strerror(code))
    error.advice = advice
    return error


def decode(text):
    """Bytes of the library as text; what is no UTF-8 survives os.fsencode."""
    return os.fsdecode(text) if text is not None else None


def candidates():
    named = os.environ.get("PAGEDET_LIBRARY")
    if named:
        return [named]
    return [name for name in (ctypes.util.find_library("pagedet"),
                              "libpagedet.so.0", "libpagedet.so") if name]


def missing(name, since):
    def call(*_):
        raise failure(errno.ENOSYS, "this libpagedet has no %s(): it needs "
                      "release %s or newer" % (name, since))
    return call


@functools.lru_cache(maxsize=None)
def library():
    """The functions of the shared library, with their prototypes."""
    problem = "libpagedet is not installed"
    for name in candidates():
        try:
            shared = ctypes.CDLL(name)
            break
        except OSError as error:
            problem = str(error)
    else:
        raise ImportError("cannot load libpagedet: %s; PAGEDET_LIBRARY may "
                          "name the file" % problem)
    functions = types.SimpleNamespace()
    for name, (result, arguments, since) in _api.FUNCTIONS.items():
        try:
            function = getattr(shared, name)
        except AttributeError:
            setattr(functions, name, missing(name, since))
            continue
        function.restype = result
        function.argtypes = arguments
        setattr(functions, name, function)
    return functions
