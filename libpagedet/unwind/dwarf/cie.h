/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The head of the records of functions (LSB, "The Common Information Entry
 * Format"): in what form their addresses are, and the units of their
 * instructions.
 */
#ifndef PDET_UNWIND_DWARF_CIE_H
#define PDET_UNWIND_DWARF_CIE_H

#include "unwind/dwarf/frame_record.h"

/* The form that compilers use: distances of 4 bytes. */
#define PDET_FORM_PC_S4 0x1b

/* The part of a form that is the size; the rest says what it is relative to. */
#define PDET_FORM_SIZE 0x07

struct pdet_cie {
	uint64_t code;		/* unit of addresses */
	int64_t data;		/* unit of offsets */
	uint64_t ra;		/* the register of the return address */
	unsigned form;		/* of addresses; 0: absolute */
	bool signal;		/* its functions are where a handler returns
				 * to */
	bool sized;		/* the records say how long their own
				 * augmentation is */
	bool plain;		/* libunwind finds the instructions where they
				 * are */
	struct pdet_frame_rest instructions;
};

/* pdet_cie_read - read one of .eh_frame, without its length, of a program whose
 * addresses have @word bytes. Returns false if it is damaged, or its form is
 * not known. */
bool pdet_cie_read(struct pdet_frame_rest r, unsigned word,
		   struct pdet_cie *ret);

/* pdet_cie_address - read an address that is in @form. @at: where the process
 * has the next byte of *r. Sets r->bad if the form is not known. */
uint64_t pdet_cie_address(struct pdet_frame_rest *r, unsigned form,
			  unsigned word, uint64_t at);

#endif
