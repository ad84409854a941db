# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Who may call the library now, and when its objects are freed.

The library wants one thread at a time for a handle and all that was made from
it, and iterators, indexes and emitters freed before the handle. Python frees
in any order, on any thread and in the midst of a callback, so neither is left
to it.
"""
import collections
import os
import threading

_forks = 0


def _forked():
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_forked)


class Gate:
    """Lets one thread in; what is to be freed waits until nobody is inside."""

    def __init__(self):
        self._lock = threading.Lock()
        self._inside = None
        self._forks = _forks
        self._waiting = collections.deque()

    def foreign(self):
        """The handle is that of a parent process."""
        return self._forks != _forks

    def __enter__(self):
        if self.foreign():
            raise RuntimeError("this handle belongs to the parent process: "
                               "open one after fork")
        if self._inside == threading.get_ident():
            raise RuntimeError("called from a callback of the same handle")
        self._lock.acquire()
        self._inside = threading.get_ident()
        return self

    def __exit__(self, *_):
        self._free_waiting()
        self._inside = None
        self._lock.release()
        self._idle()

    def later(self, free):
        """Call free() now, or as soon as the library is left."""
        self._waiting.append(free)
        self._idle()

    def _idle(self):
        while self._waiting and not self.foreign() and \
                self._lock.acquire(blocking=False):
            self._inside = threading.get_ident()
            self._free_waiting()
            self._inside = None
            self._lock.release()

    def _free_waiting(self):
        while self._waiting:
            self._waiting.popleft()()


class Owned:
    """One object of the library, freed once: when it was dropped and nothing
    that needs it is left."""

    def __init__(self, gate, pointer, free, needs=(), keep=None):
        self.pointer = pointer
        self.keep = keep        # what the library points to meanwhile
        self._gate = gate
        self._free = free
        self._needs = needs
        self._users = 0
        self._dropped = False
        self._lock = threading.RLock()
        for other in needs:
            other.use()

    def use(self):
        with self._lock:
            self._users += 1

    def unuse(self):
        with self._lock:
            self._users -= 1
        self._settle()

    def drop(self):
        with self._lock:
            self._dropped = True
        self._settle()

    __del__ = drop

    def dropped(self):
        return self._dropped

    def _settle(self):
        with self._lock:
            if self._users or not self._dropped or self.pointer is None:
                return
            pointer, self.pointer = self.pointer, None

        def free(keep=self.keep, needs=self._needs):
            self._free(pointer)
            del keep
            for other in needs:
                other.unuse()
        self._gate.later(free)


class Hold:
    """Keeps an object of the library as long as this one lives."""

    def __init__(self, owned):
        self._owned = owned
        owned.use()

    def __del__(self):
        self._owned.unuse()
