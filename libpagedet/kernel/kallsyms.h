/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The kernel's own table of symbols, as it lies in memory (Linux
 * kernel/kallsyms.c, scripts/kallsyms.c): names compressed by a table of 256
 * tokens, addresses as offsets of 32 bits.
 */
#ifndef PDET_KERNEL_KALLSYMS_H
#define PDET_KERNEL_KALLSYMS_H

#include "kernel/kallsyms_names.h"
#include "kernel/space.h"

struct pdet_kallsyms {
	uint32_t n;		/* symbols */
	uint8_t *names;		/* compressed, one after the other */
	size_t names_len;
	uint32_t *at;		/* in names: where symbol i begins */
	uint64_t *address;	/* of symbol i */
	bool ascending;		/* they are; else the table is damaged */
	struct pdet_kallsyms_tokens tokens;
};

/*
 * pdet_kallsyms_read - where the tables are is in VMCOREINFO since 6.0. 0, or
 * negative errno with words in @env.
 */
int pdet_kallsyms_read(struct pdet_kallsyms *ret, struct pdet_env *env,
		       struct pdet_space *space,
		       const struct pdet_vmcoreinfo *info);
void pdet_kallsyms_free(struct pdet_kallsyms *k);

/* pdet_kallsyms_name - of symbol @i, without its type; its length. @type may
 * be NULL. */
size_t pdet_kallsyms_name(const struct pdet_kallsyms *k, uint32_t i,
			  char name[PDET_SYMBOL_NAME], char *type);

/* pdet_kallsyms_find - the addresses of @n symbols, in one pass over all; the
 * first one of each name. */
void pdet_kallsyms_find(const struct pdet_kallsyms *k, struct pdet_symbol *s,
			size_t n);

/* pdet_kallsyms_pick - the same of tables that are not kept, for who needs no
 * other symbol: less time, and a tenth of the memory. At most
 * PDET_KALLSYMS_PICKED. 0, or negative errno. */
#define PDET_KALLSYMS_PICKED 7
int pdet_kallsyms_pick(struct pdet_space *space,
		       const struct pdet_vmcoreinfo *info,
		       struct pdet_symbol *symbols, size_t n);

/* pdet_kallsyms_at - the symbol at or before an address; of several at one the
 * one that the kernel would name, but no mark of where a section begins or
 * ends if there is another. False if there is none. */
bool pdet_kallsyms_at(const struct pdet_kallsyms *k, uint64_t address,
		      uint32_t *ret);

#endif
