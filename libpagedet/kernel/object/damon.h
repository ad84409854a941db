/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads what a thread of DAMON monitors (include/linux/damon.h): the settings
 * in force, whatever was written into its files since. For kernels since 5.18.
 */
#ifndef PDET_KERNEL_OBJECT_DAMON_H
#define PDET_KERNEL_OBJECT_DAMON_H

#include "base/vec.h"
#include "kernel/types/fields.h"

struct pdet_damon_types {
	struct pdet_struct task, kthread, context, target, pid, upid;
	uint64_t physical, virtual, fixed; /* of enum damon_ops_id */
};

struct pdet_damon_context {
	bool is_physical;	/* it monitors physical memory; otherwise
				 * each target is a process */
	bool is_tuned;		/* the kernel changes the intervals */
	uint64_t unit;		/* bytes of one unit of its addresses */
	uint64_t sample_us, interval_us;
	struct {
		uint32_t *data;	/* pid in the first namespace; 0: the process
				 * has ended */
		size_t n, cap;
	} targets;		/* none for physical memory */
};

/* pdet_damon_types_init - returns false if the types lack something that is
 * needed. */
bool pdet_damon_types_init(struct pdet_damon_types *t,
			   const struct pdet_btf *btf);

/*
 * pdet_damon_context_read - read what the thread with this task_struct
 * monitors. Returns 0, and the caller frees the targets with pdet_vec_free();
 * -ENOTSUP: it monitors in a way that is not known; -EBADMSG: it is not a
 * thread of DAMON; -ENOMEM; or another result of memory/memory.h.
 */
int pdet_damon_context_read(struct pdet_space *space,
			    const struct pdet_damon_types *t, uint64_t task,
			    struct pdet_damon_context *ret);

#endif
