/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Converts a record of page_owner's text to fields of a row. */
#ifndef PDET_KERNEL_OWNER_COLUMNS_H
#define PDET_KERNEL_OWNER_COLUMNS_H

#include "kernel/owner/text.h"
#include "schema/batch.h"

/* Facts of a record's stack; the same in every capture and in dumps. */
struct pdet_owner_stack {
	uint64_t id;		/* hash of the frames; 0: no stack */
	const char *allocator;	/* NULL: the stack does not show it */
	bool unknown;		/* the text has only the number of the stack */
};

/* pdet_owner_stack_of - @frames is in the form of pdet_owner_frames(). */
struct pdet_owner_stack pdet_owner_stack_of(const char *frames, size_t n);

/* pdet_owner_fields - all fields that a record can have. */
struct pdet_fields pdet_owner_fields(void);

/* pdet_owner_put - put the fields of the record that are in @want. */
void pdet_owner_put(struct pdet_batch *b, uint32_t row,
		    const struct pdet_fields *want,
		    const struct pdet_owner_record *r,
		    const struct pdet_owner_stack *stack, unsigned source);

#endif
