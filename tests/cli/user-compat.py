#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
"""User stacks of 32-bit programs: their functions are those that sleep, in
this order, and gdb shows the same addresses. Tables that are hostile end in
time, and the frames before them are kept."""

import functools
import os
import struct
import sys
import time

sys.dont_write_bytecode = True
from userprograms import (CC, CHAIN, NO_TABLE, TABLE_LESS,  # noqa: E402
                          Broken, Missing, Program, build, check_naps,
                          check_table_less, compile_naps, cut, run_all,
                          same_as_gdb, test, whole)
from userstack import ask, has_chain, stacks  # noqa: E402

CROSS = "i686-linux-gnu-gcc"
# The C library for programs that the cross compiler links.
LIBRARY = "/usr/i686-linux-gnu/lib"
DAMAGED = "the table for unwinding is damaged"
FORM = "the table for unwinding has an unknown form"
MORE = "there are more frames"
STACK = "the stack is damaged"
# Seconds, also on a busy machine.
SOON = 20


@functools.cache
def compiler():
    """The first one that builds 32-bit programs that run here."""
    for one in ([*CC, "-m32"], [CROSS]):
        try:
            path = compile_naps("-static", compiler=one)
        except Missing:
            continue
        try:
            with Program(path) as p:
                p.said()
        except OSError as e:
            raise Missing("this kernel runs no 32-bit programs") from e
        return one
    raise Missing("no compiler builds 32-bit programs")


def narrow(*flags):
    return compile_naps(*flags, compiler=compiler())


def check(*flags, how="plain", chain=CHAIN, gdb=True):
    path = narrow("-static", *flags)
    return check_naps(path, path, how, chain=chain, gdb=gdb)


# --- how it is compiled ---

@test("a static program")
def static():
    return check()


@test("a dynamic program")
def dynamic():
    loader = os.path.join(LIBRARY, "ld-linux.so.2")
    if not os.path.exists(loader):
        raise Missing("there is no 32-bit C library")
    path = narrow(f"-Wl,--dynamic-linker={loader}", f"-Wl,-rpath={LIBRARY}")
    return check_naps(path)


@test("a static program at a random address")
def static_pie():
    return check_naps(narrow("-static-pie", "-fPIE"))


@test("with frame pointers")
def frame_pointers():
    return check("-fno-omit-frame-pointer")


@test("without optimization")
def plain():
    return check("-O0")


@test("a stack that is aligned")
def aligned():
    return check("-mstackrealign", "-mpreferred-stack-boundary=5")


@test("stripped")
def stripped():
    path = narrow("-static", "-fomit-frame-pointer")
    build(["strip"], path)
    with Program(path) as p:
        frames = p.stack()
        return whole(frames, [None] * 5) + same_as_gdb(p.pid, frames)


@test("without section headers")
def no_sections():
    path = narrow("-static", "-Wl,--eh-frame-hdr")
    build(["strip"], path)
    with open(path, "rb") as f:
        data = bytearray(f.read())
    struct.pack_into("<I", data, 0x20, 0)
    struct.pack_into("<3H", data, 0x2e, 40, 0, 0)
    with open(path, "wb") as f:
        f.write(data)
    # gdb guesses then.
    with Program(path) as p:
        frames = p.stack()
        return whole(frames, [None] * 5) + (
            [] if len(frames) > 6 else [str(frames)])


@test("only .debug_frame")
def debug_frame():
    return check("-g", *TABLE_LESS)


@test("only a compressed .debug_frame")
def debug_frame_compressed():
    return check("-g", "-gz=zlib", *TABLE_LESS)


@test("only .debug_frame, version 4")
def debug_frame_4():
    return check("-gdwarf-4", *TABLE_LESS)


@test("no table")
def no_table():
    return check_table_less(narrow("-static", *TABLE_LESS))


# --- where it sleeps ---

@test("10,000 frames")
def deep():
    with Program(narrow("-static"), "deep") as p:
        frames = p.stack()
        return cut(frames, MORE) + (
            [] if len(frames) == 129 and
            has_chain(frames, [*CHAIN, *["deep"] * 100]) else [str(frames)])


def check_handler(how, chain, name=None, gdb=True):
    with Program(narrow("-static"), how) as p:
        frames = p.stack()
        signals = [f for f in frames if f["type"] == "signal"]
        right = len(signals) == 1 and signals[0].get("function") == name
        return whole(frames, [*CHAIN, "handle", name]) + whole(
            frames, chain) + (
            [] if right else [f"not one frame of a signal: {frames}"]) + (
            same_as_gdb(p.pid, frames) if gdb else [])


@test("a handler on a stack of its own")
def stack():
    return check_handler("stack", ["raised", "stack", "main"],
                         "__kernel_sigreturn")


@test("a handler that returns to code without a table")
def restorer():
    # gdb does not cross it.
    return check_handler("restorer", ["raised", "restorer", "main"],
                         "naps_restorer", gdb=False)


@test("a handler with more arguments that returns to such code")
def restorer_rt():
    return check_handler("restorer-rt", ["raised", "restorer", "main"],
                         "naps_restorer_rt", gdb=False)


@test("a system call without the vdso")
def int80():
    return check(how="int80", chain=["int80", "main"])


@test("a system call by the vdso")
def vdso():
    with Program(narrow("-static")) as p:
        first = p.stack()[0]
        return [] if first["type"] == "vdso" and first.get(
            "function") == "__kernel_vsyscall" else [str(first)]


@test("a thread that is stopped")
def stopped():
    with Program(narrow("-static")) as p:
        frames = p.stack()
        answer = stacks(p.pid, "--stop")[p.pid]
        text = ask("task", str(p.pid), "--stacks=user", "--fields", "pid",
                   "--where", "kind=reserved")
        return same_as_gdb(p.pid, frames) + (
            [] if answer.get("user_stack") == frames else [str(answer)]) + (
            [] if "middle+0x" in text else [text])


# --- tables and stacks that are hostile ---

# f() sleeps. What each test adds to its table comes first.
HOSTILE = """
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined eip
	call	f
	hlt
	.cfi_endproc
	.size	_start, .-_start
	.type	f, @function
f:
	.cfi_startproc
{}
	mov	$4, %eax
	mov	$1, %ebx
	mov	$newline, %ecx
	mov	$1, %edx
	int	$0x80
again:	mov	$29, %eax
	int	$0x80
	jmp	again
	.cfi_endproc
	.size	f, .-f
	.data
newline: .byte	10
"""


def assemble(code):
    with open("hostile.S", "w", encoding="utf-8") as f:
        f.write(HOSTILE.format(code))
    build(compiler(), "-nostdlib", "-static", "-o", "hostile", "hostile.S")
    return os.path.abspath("hostile")


def kept(path, why, functions=("f",)):
    """The stack ends after these functions, in time."""
    with Program(path) as p:
        begin = time.monotonic()
        frames = p.stack()
        took = time.monotonic() - begin
    names = [f["function"] for f in frames if "function" in f]
    problems = [] if names == list(functions) else [f"{names}: {frames}"]
    if took > SOON:
        problems.append(f"it took {took:.1f} s")
    if why:
        return problems + cut(frames, why)
    return problems + ([f"{frames[-1]} is the end"] if "why" in frames[-1]
                       else [])


def escape(*values):
    return "\t.cfi_escape " + ", ".join(map(str, values)) + "\n"


CASES = {
    "nothing odd": ("", None, ("f", "_start")),
    # DW_CFA_offset_extended of register 2**27 - 1.
    "a register of a large number": (
        escape(5, 0xff, 0xff, 0xff, 0x3f, 0), None, ("f", "_start")),
    # DW_CFA_remember_state
    "states without an end": (escape(*[0x0a] * 5000), FORM, ("f",)),
    "a state that was not remembered": (escape(0x0b), DAMAGED, ("f",)),
    # DW_CFA_def_cfa esp, 0, and DW_CFA_val_expression eip: DW_OP_breg8 0
    "a frame that leads to itself": (
        escape(0x0c, 4, 0) + escape(0x16, 8, 2, 0x78, 0), STACK, ("f", "f")),
    # DW_CFA_def_cfa esp, 1: each frame is a higher one.
    "frames without an end": (
        escape(0x0c, 4, 1) + escape(0x16, 8, 2, 0x78, 0), MORE, ("f",) * 128),
    # DW_CFA_def_cfa_expression: DW_OP_dup
    "an expression of nothing": (escape(0x0f, 1, 0x12), DAMAGED, ("f",)),
    # DW_OP_lit0 17 times
    "an expression of too much": (
        escape(0x0f, 17, *[0x30] * 17), DAMAGED, ("f",)),
    # DW_OP_skip -3
    "an expression that jumps": (
        escape(0x0f, 3, 0x2f, 0xfd, 0xff), FORM, ("f",)),
    # DW_OP_lit0, DW_OP_deref
    "memory that is not there": (
        escape(0x0f, 2, 0x30, 0x06), "memory that is needed cannot be read",
        ("f",)),
    # DW_CFA_def_cfa of register 20
    "a register that is not there": (
        escape(0x0c, 20, 0), "a register that is needed is not known", ("f",)),
    "an instruction that is not there": (escape(0x3f), FORM, ("f",)),
    "an instruction that is cut": (
        # DW_CFA_def_cfa_expression of 100 bytes
        escape(0x0f, 100), DAMAGED, ("f",)),
    "a number without an end": (
        escape(0x0e, *[0xff] * 40), DAMAGED, ("f",)),
}


def add_case(name):
    @test(name)
    def case():
        code, why, functions = CASES[name]
        return kept(assemble(code), why, functions)


for each in CASES:
    add_case(each)


@test("an .eh_frame that is cut")
def cut_table():
    path = assemble("")
    with open(path, "rb") as f:
        data = bytearray(f.read())
    # The length of the first CIE.
    at = data.find(b"\x00\x00\x00\x00\x01zR\0")
    if at < 4:
        raise Broken("there is no CIE")
    struct.pack_into("<I", data, at - 4, 0x7fffffff)
    with open(path, "wb") as f:
        f.write(data)
    return kept(path, NO_TABLE)


BECOMES = """
#include <unistd.h>
static volatile int one;
int main(int argc, char **argv)
{
	if (argc < 3)
		write(1, "\\n", 1);
	usleep(100);
	execl(argv[1], argv[1], argv[0], "again", (char *)0);
	return 1 + one;
}
"""


@test("a program that becomes one of 64 bits, and back, all the time")
def becomes():
    with open("becomes.c", "w", encoding="utf-8") as f:
        f.write(BECOMES)
    build(CC, "-w", "-O2", "-o", "wide", "becomes.c")
    build(compiler(), "-w", "-O2", "-static", "-o", "narrow", "becomes.c")
    ways = [os.path.abspath(name) for name in ("wide", "narrow")]
    problems, whole_ones = [], 0
    with Program(*ways) as p:
        p.said()
        for _ in range(40):
            answer = stacks(p.pid).get(p.pid, {})
            frames = answer.get("user_stack", [])
            whole_ones += bool(frames)
            mixed = {f.get("module") for f in frames} >= set(ways)
            # There is a moment in which it has neither.
            if mixed or not ("user_stack" in answer or "missing" in answer):
                problems.append(str(answer))
    print(f"# {whole_ones} of 40 stacks were read")
    return problems


if __name__ == "__main__":
    run_all()
