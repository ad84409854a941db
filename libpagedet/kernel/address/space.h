/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads at kernel virtual addresses, for one thread: through the kernel's page
 * tables, or by a provider that translates itself. Results are those of
 * memory/memory.h.
 */
#ifndef PDET_KERNEL_ADDRESS_SPACE_H
#define PDET_KERNEL_ADDRESS_SPACE_H

#include "kernel/address/paging.h"

#define PDET_SPACE_SLOTS 512

struct pdet_space {
	struct pdet_reader *reader;
	const struct pdet_paging *paging;
	/* Recent translations, by page and by huge page. */
	struct pdet_space_slot {
		uint64_t start;	/* virtual */
		uint64_t size;	/* 0: empty */
		uint64_t addr;	/* physical */
	} slot[PDET_SPACE_SLOTS];
};

void pdet_space_init(struct pdet_space *s, struct pdet_reader *reader,
		     const struct pdet_paging *paging);

/* pdet_space_phys - the physical address of @va, and the number of contiguous
 * bytes from there. */
int pdet_space_phys(struct pdet_space *s, uint64_t va, uint64_t *addr,
		    uint64_t *len);

/* pdet_space_read - read all @n bytes, or fail. */
int pdet_space_read(struct pdet_space *s, uint64_t va, void *buf, size_t n);

/* pdet_space_view - the same, without a copy if the provider can. *ret is @buf
 * or other memory, valid until the next view. */
int pdet_space_view(struct pdet_space *s, uint64_t va, void *buf, size_t n,
		    const char **ret);

/* pdet_space_gather - read many small pieces at once through the provider.
 * -ENOSYS: the provider cannot. */
int pdet_space_gather(struct pdet_space *s, struct pdet_gather *pieces,
		      size_t n, const char **ret);

/* pdet_space_u64, pdet_space_u32 - read one number. */
int pdet_space_u64(struct pdet_space *s, uint64_t va, uint64_t *ret);
int pdet_space_u32(struct pdet_space *s, uint64_t va, uint32_t *ret);

/* pdet_space_text - read a string up to its NUL, at most @size - 1 bytes. The
 * result always ends with a NUL. Returns its length, or a failure. */
ssize_t pdet_space_text(struct pdet_space *s, uint64_t va, char *buf,
			size_t size);

#endif
