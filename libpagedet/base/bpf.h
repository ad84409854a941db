/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* bpf(2), and the instructions of its programs. */
#ifndef PDET_BASE_BPF_H
#define PDET_BASE_BPF_H

#include <linux/bpf.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Only GPL programs may call what traces and reads kernel memory. */
#define PDET_BPF_LICENSE "Dual BSD/GPL"

#define PDET_INSN(code, dst, src, off, imm) \
	{ (code), (dst), (src), (off), (imm) }
#define PDET_INSN_REG(to, from) \
	PDET_INSN(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define PDET_INSN_CALL(helper) PDET_INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define PDET_INSN_EXIT PDET_INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* pdet_bpf - the system call. */
static inline long pdet_bpf(enum bpf_cmd cmd, union bpf_attr *attr, size_t size)
{
	return syscall(SYS_bpf, cmd, attr, size);
}

#endif
