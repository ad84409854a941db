/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Locates the kernel's symbol tables in memory (Linux kernel/kallsyms.c), and
 * decodes their offsets.
 */
#ifndef PDET_SYMBOL_KALLSYMS_TABLES_H
#define PDET_SYMBOL_KALLSYMS_TABLES_H

#include "kernel/address/space.h"
#include "symbol/kallsyms_names.h"

/* A symbol whose address VMCOREINFO also has. */
#define PDET_KALLSYMS_KNOWN "_stext"

/* The encoding of addresses, which the kernel does not export. */
enum pdet_kallsyms_coding {
	PDET_KALLSYMS_ABSOLUTE_PERCPU, /* if it is below 0, relative to the
				        * base; otherwise the address itself */
	PDET_KALLSYMS_FROM_BASE,
	PDET_KALLSYMS_FROM_ITSELF,
	PDET_KALLSYMS_CODINGS
};

struct pdet_kallsyms_tables {
	uint64_t names, num_syms, token_table, token_index, offsets;
	bool has_base;		/* older kernels; newer offsets are
				 * self-relative */
	uint64_t base_at;	/* address of the base */
	uint64_t stext;		/* address from VMCOREINFO */
	/* read from there */
	uint32_t n;
	uint64_t base;
	enum pdet_kallsyms_coding coding;
};

/* pdet_kallsyms_find_tables - find the tables. VMCOREINFO has their addresses
 * since 6.0. Returns false if it does not have them. */
bool pdet_kallsyms_find_tables(struct pdet_kallsyms_tables *t,
			       const struct pdet_vmcoreinfo *info);

/* The functions below return 0, or a negative errno. */
int pdet_kallsyms_read_tables(struct pdet_kallsyms_tables *t,
			      struct pdet_space *space);

/* pdet_kallsyms_read_tokens - @ret must be empty. The caller frees ret->text,
 * also after a failure. */
int pdet_kallsyms_read_tokens(struct pdet_kallsyms_tokens *ret,
			      struct pdet_space *space,
			      const struct pdet_kallsyms_tables *t);

/* Names read so far. */
struct pdet_kallsyms_bytes {
	uint8_t *data;
	size_t n, cap;
	uint64_t addr;		/* address of the first byte */
};

/* pdet_kallsyms_read_names - read another piece into the buffer. Returns
 * -EBADMSG if the piece is beyond the last possible name. */
int pdet_kallsyms_read_names(struct pdet_kallsyms_bytes *b,
			     struct pdet_space *space,
			     const struct pdet_kallsyms_tables *t);

/* pdet_kallsyms_find_coding - detect the encoding from _stext's index and
 * offset. Returns false if no encoding gives its address. */
bool pdet_kallsyms_find_coding(struct pdet_kallsyms_tables *t, uint32_t i,
			       int32_t offset);
uint64_t pdet_kallsyms_decode(const struct pdet_kallsyms_tables *t, uint32_t i,
			      int32_t offset);

#endif
