/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the number of resident pages of a process from its mm_struct
 * (include/linux/mm.h, get_mm_rss).
 */
#ifndef PDET_KERNEL_OBJECT_RSS_H
#define PDET_KERNEL_OBJECT_RSS_H

#include "kernel/address/percpu.h"
#include "kernel/types/fields.h"

struct pdet_rss {
	struct pdet_struct mm, counter;
	const struct pdet_percpu *percpu;
};

/* pdet_rss_init - returns false if the types lack something that is needed. The
 * caller keeps @percpu, which is needed since 6.2. */
bool pdet_rss_init(struct pdet_rss *r, const struct pdet_btf *btf,
		   const struct pdet_percpu *percpu);

/* pdet_rss_read - resident pages of the mm_struct at @mm. Returns a result of
 * memory/memory.h. */
int pdet_rss_read(struct pdet_space *space, const struct pdet_rss *r,
		  uint64_t mm, uint64_t *ret);

#endif
