/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The tables of the kernel's symbols, as they lie in memory (Linux
 * kernel/kallsyms.c): where they are, and what they count from.
 */
#ifndef PDET_KERNEL_KALLSYMS_TABLES_H
#define PDET_KERNEL_KALLSYMS_TABLES_H

#include "kernel/kallsyms_names.h"
#include "kernel/space.h"

/* The symbol whose address VMCOREINFO has, too. */
#define PDET_KALLSYMS_KNOWN "_stext"

/* How addresses are written; the kernel does not say. */
enum pdet_kallsyms_coding {
	PDET_KALLSYMS_ABSOLUTE_PERCPU, /* below 0: from the base; else the
					* address */
	PDET_KALLSYMS_FROM_BASE,
	PDET_KALLSYMS_FROM_ITSELF,
	PDET_KALLSYMS_CODINGS
};

struct pdet_kallsyms_tables {
	uint64_t names, num_syms, token_table, token_index, offsets;
	bool has_base;		/* none since offsets count from themselves */
	uint64_t base_at;	/* where it is */
	uint64_t stext;		/* the address that is known from elsewhere */
	/* what is read there */
	uint32_t n;
	uint64_t base;
	enum pdet_kallsyms_coding coding;
};

/* pdet_kallsyms_find_tables - where they are is in VMCOREINFO since 6.0. False:
 * it does not say. */
bool pdet_kallsyms_find_tables(struct pdet_kallsyms_tables *t,
			       const struct pdet_vmcoreinfo *info);

/* All of these: 0, or negative errno. */
int pdet_kallsyms_read_tables(struct pdet_kallsyms_tables *t,
			      struct pdet_space *space);

/* pdet_kallsyms_read_tokens - free(ret->text) afterwards, after a failure, too;
 * @ret is empty before. */
int pdet_kallsyms_read_tokens(struct pdet_kallsyms_tokens *ret,
			      struct pdet_space *space,
			      const struct pdet_kallsyms_tables *t);

/* Names, as far as they are read. */
struct pdet_kallsyms_bytes {
	uint8_t *data;
	size_t n, cap;
	uint64_t addr;		/* of the first */
};

/* pdet_kallsyms_read_names - a piece more, as room there is; -EBADMSG behind
 * where names can be. */
int pdet_kallsyms_read_names(struct pdet_kallsyms_bytes *b,
			     struct pdet_space *space,
			     const struct pdet_kallsyms_tables *t);

/* pdet_kallsyms_find_coding - by _stext, whose number and offset those are.
 * False: none of them gives its address. */
bool pdet_kallsyms_find_coding(struct pdet_kallsyms_tables *t, uint32_t i,
			       int32_t offset);
uint64_t pdet_kallsyms_decode(const struct pdet_kallsyms_tables *t, uint32_t i,
			      int32_t offset);

#endif
