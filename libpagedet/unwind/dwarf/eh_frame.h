/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * An index of .eh_frame by address, for files without the one that linkers
 * write (.eh_frame_hdr): static programs of many distributions.
 */
#ifndef PDET_UNWIND_DWARF_EH_FRAME_H
#define PDET_UNWIND_DWARF_EH_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* Addresses in the file, in the form of .eh_frame_hdr's table. */
struct pdet_eh_entry {
	int32_t ip, fde;
};

struct pdet_eh_frame {
	struct pdet_eh_entry *entries;	/* by ip, ascending */
	size_t n;
};

/* pdet_eh_frame_index - make the index of the bytes of a section that is at
 * @address, of a program whose addresses have @word bytes. It ends where the
 * section is damaged. Returns 0 or -ENOMEM. */
int pdet_eh_frame_index(const uint8_t *bytes, size_t size, uint64_t address,
			unsigned word, struct pdet_eh_frame *ret);

/* pdet_eh_frame_before - the last entry at or before @ip. NULL: there is
 * none. */
const struct pdet_eh_entry *pdet_eh_frame_before(const struct pdet_eh_frame *f,
						 int32_t ip);

#endif
