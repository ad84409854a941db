/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * An index of .debug_frame by address: the only table of programs in Go, and of
 * C code that was compiled without .eh_frame.
 */
#ifndef PDET_UNWIND_DEBUG_FRAME_H
#define PDET_UNWIND_DEBUG_FRAME_H

#include "unwind/dwarf/frame_record.h"

struct pdet_debug_entry {
	uint64_t ip;		/* in the file */
	uint32_t fde;		/* offset in the section */
};

struct pdet_debug_frame {
	uint8_t *bytes;		/* of the section */
	size_t size;
	bool narrow;		/* addresses have 4 bytes, or else 8 */
	struct pdet_debug_entry *entries; /* by ip, ascending */
	size_t n;
};

/* pdet_debug_frame_index - make the index of ret->bytes, which
 * pdet_debug_frame_free() frees. It ends where the section is damaged. Returns
 * 0 or -ENOMEM. */
int pdet_debug_frame_index(struct pdet_debug_frame *ret);
void pdet_debug_frame_free(struct pdet_debug_frame *f);

/* pdet_debug_frame_get - what a function at @ip of a file needs. @base: where a
 * process has the file's address 0. Returns false if there is none. */
bool pdet_debug_frame_get(const struct pdet_debug_frame *f, uint64_t ip,
			  uint64_t base, struct pdet_frame_pair *ret);

#endif
