#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Runs a program for which the kernel lacks a system call: it says ENOSYS.

usage: without.py NUMBER PROGRAM WORDS...
"""
import ctypes
import os
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2
# of linux/filter.h and linux/seccomp.h
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ENOSYS = 0x7fff0000, 0x00050000 | 38


def main():
    code = b"".join(struct.pack("=HBBI", *i) for i in (
        (LOAD, 0, 0, 0),
        (IF_EQUAL, 0, 1, int(sys.argv[1])),
        (RETURN, 0, 0, ENOSYS),
        (RETURN, 0, 0, ALLOW)))
    text = ctypes.create_string_buffer(code)
    head = ctypes.create_string_buffer(
        struct.pack("@HP", 4, ctypes.addressof(text)))
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), zero, zero, zero) or \
            libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(FILTER), head, zero,
                       zero):
        print("without.py: no seccomp: " + os.strerror(ctypes.get_errno()),
              file=sys.stderr)
        return 77
    os.execv(sys.argv[2], sys.argv[2:])
    return 127


sys.exit(main())
