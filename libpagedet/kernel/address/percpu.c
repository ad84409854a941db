/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the offset of each processor. Processors that do not exist have no area
 * of their own.
 */
#include <errno.h>
#include <stdlib.h>

#include "kernel/address/percpu.h"

/* CONFIG_NR_CPUS is at most 8192. */
#define MOST 8192

int pdet_percpu_read(struct pdet_percpu *ret, struct pdet_space *space,
		     uint64_t offsets, uint64_t nr_cpu_ids)
{
	uint64_t *offset;
	uint32_t n = 1;
	int r = 0;

	ret->offset = NULL;
	ret->n = 0;
	if (!offsets)
		return -ENODATA;
	/* A kernel for one processor has a constant instead. */
	if (nr_cpu_ids)
		r = pdet_space_u32(space, nr_cpu_ids, &n);
	if (!r && (!n || n > MOST))
		r = -EBADMSG;
	if (r < 0)
		return r;
	offset = malloc(n * sizeof(*offset));
	if (!offset)
		return -ENOMEM;
	r = pdet_space_read(space, offsets, offset, n * sizeof(*offset));
	if (r < 0) {
		free(offset);
		return r;
	}
	ret->offset = offset;
	ret->n = n;
	return 0;
}

void pdet_percpu_free(struct pdet_percpu *p)
{
	free(p->offset);
	p->offset = NULL;
	p->n = 0;
}
