/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A record of page_owner's text as fields of a row. */
#ifndef PDET_KERNEL_OWNER_COLUMNS_H
#define PDET_KERNEL_OWNER_COLUMNS_H

#include "kernel/owner_text.h"
#include "schema/batch.h"

/* What its stack is; the same in every capture and in dumps. */
struct pdet_owner_stack {
	uint64_t id;		/* hash of the frames; 0: it has none */
	const char *allocator;	/* NULL: the stack does not tell */
};

/* pdet_owner_stack_of - @frames as pdet_owner_frames() makes them. */
struct pdet_owner_stack pdet_owner_stack_of(const char *frames, size_t n);

/* pdet_owner_fields - all that a record may say. */
struct pdet_fields pdet_owner_fields(void);

/* pdet_owner_put - the fields of @want that are among them. */
void pdet_owner_put(struct pdet_batch *b, uint32_t row,
		    const struct pdet_fields *want,
		    const struct pdet_owner_record *r,
		    const struct pdet_owner_stack *stack, unsigned source);

#endif
