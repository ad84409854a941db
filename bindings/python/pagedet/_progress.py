# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The progress callback of long calls."""
import collections
import ctypes
import types

from . import _api
from ._structs import told

Progress = collections.namedtuple("Progress", "done total rows elapsed_ns")

SEND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object,
                        ctypes.POINTER(_api.pagedet_progress))


class Callback:
    """The progress callback. There is always one, so that Ctrl-C is seen
    during long calls; what it raises comes out of the call that it stopped.

    It is a generator: Python may raise KeyboardInterrupt before the first
    line of a function, where no "try" of it is in force, and ctypes would
    lose it. A generator is resumed in the midst of its "try". The library
    hands it to its own send() as the user pointer.
    """

    def __init__(self, function):
        self.error = None
        self._answers = self._run(function)
        next(self._answers)
        self._send = SEND(types.GeneratorType.send)
        self.function = ctypes.cast(self._send, _api.pagedet_progress_fn)
        self.user = id(self._answers)

    def _run(self, function):
        answer = 0
        while True:
            try:
                while True:
                    progress = (yield answer).contents
                    answer = 0
                    if function is not None and function(Progress(*(
                            told(progress, name, 0)
                            for name in Progress._fields))):
                        answer = 1
            except GeneratorExit:
                return
            except BaseException as error:
                self.error = error
                answer = 1

    def take(self):
        error, self.error = self.error, None
        return error
