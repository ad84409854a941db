/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The row of a table for unwinding that is about an address: where the
 * registers of the caller are. The bytes may be hostile.
 */
#ifndef PDET_UNWIND_DWARF_CFI_H
#define PDET_UNWIND_DWARF_CFI_H

#include "unwind/dwarf/frame_record.h"

/* By the numbers that DWARF gives to the registers of 32-bit x86. */
enum { PDET_X86_AX, PDET_X86_CX, PDET_X86_DX, PDET_X86_BX, PDET_X86_SP,
       PDET_X86_BP, PDET_X86_SI, PDET_X86_DI, PDET_X86_IP, PDET_X86_REGS };

/* Those of x86-64, of which libunwind knows no more. */
#define PDET_CFI_X86_64 17

/* Those of arm64 have 32 numbers, and pc another one. */
#define PDET_CFI_REGS 33

enum pdet_cfi {
	PDET_CFI_NONE,		/* as the convention of calls says */
	PDET_CFI_UNDEFINED,
	PDET_CFI_SAME,
	PDET_CFI_AT,		/* in memory, at the CFA and n */
	PDET_CFI_IS,		/* it is the CFA and n */
	PDET_CFI_IN,		/* in register n */
	PDET_CFI_AT_CODE,	/* in memory, where an expression says */
	PDET_CFI_IS_CODE	/* what an expression says */
};

struct pdet_cfi_rule {
	enum pdet_cfi is;
	int64_t n;
	struct pdet_frame_rest code;
};

struct pdet_cfi_row {
	/* The canonical frame address: the register and n, or IS_CODE. */
	struct pdet_cfi_rule cfa;
	uint64_t cfa_register;
	struct pdet_cfi_rule reg[PDET_CFI_REGS];
	uint64_t ra;		/* the register of the return address */
	bool signal;		/* the function is where a handler returns to */
	bool signature;		/* of arm64: the return address has one */
};

/*
 * pdet_cfi_row - find the row for @ip in the CIE and the FDE of a function,
 * both in the form of .eh_frame and without their lengths, of a program whose
 * addresses have @word bytes. @at: the address of the process that has the
 * first byte of @fde. The row is valid as long as both are. Returns 0, -ENOENT
 * if the function has no such address, -EBADMSG if one is damaged, or -ENOTSUP
 * if its form is not known.
 */
int pdet_cfi_row(struct pdet_frame_rest cie, struct pdet_frame_rest fde,
		 uint64_t at, uint64_t ip, unsigned word,
		 struct pdet_cfi_row *ret);

/*
 * pdet_cfi_check - read all instructions of both, and say whether libunwind may
 * follow them. Returns 0, -EBADMSG if they are damaged, if the return address
 * or another register is in a register that has no number below
 * PDET_CFI_X86_64, if an expression is not safe, if a row has no CFA, or if
 * libunwind would read other instructions than these, or -ENOTSUP if their form
 * is not known.
 */
int pdet_cfi_check(struct pdet_frame_rest cie, struct pdet_frame_rest fde,
		   uint64_t at, unsigned word);

#endif
