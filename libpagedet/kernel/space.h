/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The kernel's own addresses, for one thread: reads at virtual addresses,
 * through the kernel's page tables or by a provider that knows them itself.
 * Results are those of memory/memory.h.
 */
#ifndef PDET_KERNEL_SPACE_H
#define PDET_KERNEL_SPACE_H

#include "kernel/paging.h"

#define PDET_SPACE_SLOTS 512

struct pdet_space {
	struct pdet_reader *reader;
	const struct pdet_paging *paging;
	/* What was translated lately, by page and by huge page. */
	struct pdet_space_slot {
		uint64_t start;	/* virtual */
		uint64_t size;	/* 0: empty */
		uint64_t addr;	/* physical */
	} slot[PDET_SPACE_SLOTS];
};

void pdet_space_init(struct pdet_space *s, struct pdet_reader *reader,
		     const struct pdet_paging *paging);

/* pdet_space_phys - where @va is, and how many bytes from there on lie behind
 * each other. */
int pdet_space_phys(struct pdet_space *s, uint64_t va, uint64_t *addr,
		    uint64_t *len);

/* pdet_space_read - all of it, or a failure. */
int pdet_space_read(struct pdet_space *s, uint64_t va, void *buf, size_t n);

/* pdet_space_view - the same, without a copy where the provider can: *ret is
 * @buf or somewhere else, valid until the next view. */
int pdet_space_view(struct pdet_space *s, uint64_t va, void *buf, size_t n,
		    const char **ret);

/* pdet_space_u64, ... - one number of the kernel's. */
int pdet_space_u64(struct pdet_space *s, uint64_t va, uint64_t *ret);
int pdet_space_u32(struct pdet_space *s, uint64_t va, uint32_t *ret);

/* pdet_space_text - up to the first NUL, which is put behind it; at most
 * @size - 1 bytes. Their number, or a failure. */
ssize_t pdet_space_text(struct pdet_space *s, uint64_t va, char *buf,
			size_t size);

#endif
