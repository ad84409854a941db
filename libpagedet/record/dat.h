/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes a trace.dat, version 7 (trace-cmd.dat.v7(5)), compressed by zstd, or
 * by zlib where that is missing. trace-cmd and KernelShark read it.
 */
#ifndef PDET_RECORD_DAT_H
#define PDET_RECORD_DAT_H

#include <stddef.h>

#include "base/io.h"

/* One processor. */
struct pdet_dat_cpu {
	uint32_t cpu;
	int fd;			/* of its pages, from offset 0 on */
	uint64_t bytes;		/* of them, a multiple of a page */
	const char *stats;	/* text of per_cpu/cpuN/stats */
};

/* A text, or the format of an event. */
struct pdet_dat_parts {
	uint32_t page;		/* bytes of a page */
	const char *clock;
	char boot[40];		/* boot_id of the kernel; "" not known */
	const struct pdet_dat_cpu *cpus;
	uint32_t n_cpus;
	struct pdet_text header_page, header_event, kallsyms, printk, threads;
	struct pdet_text *ftrace, *kmem; /* formats of events */
	uint32_t n_ftrace, n_kmem;
};

/*
 * pdet_dat_write - write it to @fd, a regular file, from offset 0 on. -ENOSYS:
 * no library compresses; -ENOMEM; -EIO it cannot be written; -ECANCELED.
 */
int pdet_dat_write(struct pdet_env *env, int fd,
		   const struct pdet_dat_parts *parts);

#endif
