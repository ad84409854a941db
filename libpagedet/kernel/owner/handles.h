/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The stacks of the running kernel's page_owner by their numbers, as
 * page_owner_stacks/show_stacks_handles has them:
 *
 *    function+0xoff/0xsize [module]
 *   handle: N
 *   (empty line)
 */
#ifndef PDET_KERNEL_OWNER_HANDLES_H
#define PDET_KERNEL_OWNER_HANDLES_H

#include "base/io.h"
#include "base/pairs.h"
#include "base/text/text.h"

/* A zeroed one is empty. */
struct pdet_owner_handles {
	struct pdet_text text;
	struct pdet_pairs by;	/* index in list */
	struct {
		struct pdet_scan *data;
		size_t n, cap;
	} list;
};

/*
 * pdet_owner_handles_load - read the file at @path. Returns 0, or a negative
 * errno without an error text: -EBADMSG if it has another form.
 */
int pdet_owner_handles_load(struct pdet_owner_handles *h, const char *path);
/* pdet_owner_handles_parse - the same for text that is already in @h. */
int pdet_owner_handles_parse(struct pdet_owner_handles *h);
void pdet_owner_handles_free(struct pdet_owner_handles *h);

/* pdet_owner_handles_find - the lines of a stack, each with its newline. */
bool pdet_owner_handles_find(const struct pdet_owner_handles *h,
			     uint64_t handle, struct pdet_scan *ret);

#endif
