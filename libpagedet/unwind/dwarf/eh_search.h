/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the records of a function in the memory of a process. */
#ifndef PDET_UNWIND_DWARF_EH_SEARCH_H
#define PDET_UNWIND_DWARF_EH_SEARCH_H

#include "unwind/dwarf/frame_record.h"

struct pdet_eh_memory {
	/* Reads all bytes. Returns 0 or a negative errno. */
	int (*read)(void *arg, uint64_t addr, void *buf, size_t n);
	void *arg;
};

/*
 * pdet_eh_search - find the address of the record that may be about @ip, in the
 * index at @header (.eh_frame_hdr). Returns 0, -ENOENT if it has none, -ENOTSUP
 * if its form is not known, or the error of a read.
 */
int pdet_eh_search(const struct pdet_eh_memory *m, uint64_t header, uint64_t ip,
		   uint64_t *fde);

/* pdet_eh_records - read that record, and the CIE that it leads to. Returns 0,
 * -EBADMSG if one is damaged, or the error of a read. */
int pdet_eh_records(const struct pdet_eh_memory *m, uint64_t fde,
		    struct pdet_frame_pair *ret);

/* pdet_eh_cie - the address of the CIE of a pair that was read from @fde. */
uint64_t pdet_eh_cie(const struct pdet_frame_pair *p, uint64_t fde);

#endif
