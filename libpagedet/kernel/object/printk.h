/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the kernel's log from memory. Since 5.10 it is a ring buffer with
 * descriptors (kernel/printk/printk_ringbuffer.h). Since 3.5 it was a buffer of
 * consecutive records (kernel/printk/printk.c of 5.9, struct printk_log).
 */
#ifndef PDET_KERNEL_OBJECT_PRINTK_H
#define PDET_KERNEL_OBJECT_PRINTK_H

#include "kernel/text/vmcoreinfo.h"
#include "kernel/types/fields.h"

/* One record; @text is valid until the next one. */
struct pdet_printk_record {
	uint64_t seq;
	uint64_t time_ns;	/* since boot */
	uint32_t level, facility;
	const char *text;
	size_t len;
};

struct pdet_printk_visit {
	/* Any value but 0 ends the walk. */
	int (*record)(void *arg, const struct pdet_printk_record *record);
	void *arg;
	uint64_t lost;		/* number of records that are damaged, or were
				 * being written */
};

/*
 * pdet_printk_each - visit the records, oldest first; addresses and offsets
 * come from VMCOREINFO. Returns 0, or the result of a visit. -ENODATA:
 * VMCOREINFO lacks the log. Otherwise a result of memory/memory.h.
 */
int pdet_printk_each(struct pdet_space *space,
		     const struct pdet_vmcoreinfo *info,
		     struct pdet_printk_visit *visit);

#endif
