/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the kernel's own symbol table from memory (Linux kernel/kallsyms.c,
 * scripts/kallsyms.c). Names are compressed with a table of 256 tokens;
 * addresses are 32-bit offsets.
 */
#ifndef PDET_SYMBOL_KALLSYMS_H
#define PDET_SYMBOL_KALLSYMS_H

#include "kernel/address/space.h"
#include "symbol/kallsyms_names.h"

/* Where an x86_64 kernel's image can be, and no module. */
#define PDET_X86_IMAGE 0xffffffff80000000u
#define PDET_X86_IMAGE_END 0xffffffffa0000000u

struct pdet_kallsyms {
	uint32_t n;		/* number of symbols */
	uint8_t *names;		/* compressed, one after the other */
	size_t names_len;
	uint32_t *at;		/* offset of each name in names */
	uint64_t *address;	/* of each symbol */
	bool ascending;		/* addresses are in ascending order; otherwise
				 * the table is damaged */
	struct pdet_kallsyms_tokens tokens;
};

/*
 * pdet_kallsyms_read - VMCOREINFO has the addresses of the tables since 6.0;
 * before, they are searched for. 0, or a negative errno with an error text in
 * @env.
 */
int pdet_kallsyms_read(struct pdet_kallsyms *ret, struct pdet_env *env,
		       struct pdet_space *space,
		       const struct pdet_vmcoreinfo *info);
void pdet_kallsyms_free(struct pdet_kallsyms *k);

/* pdet_kallsyms_name - the name of symbol @i without its type. Returns its
 * length. @type may be NULL. */
size_t pdet_kallsyms_name(const struct pdet_kallsyms *k, uint32_t i,
			  char name[PDET_SYMBOL_NAME], char *type);

/* pdet_kallsyms_find - find the addresses of @n symbols in one pass. The first
 * symbol of each name counts. */
void pdet_kallsyms_find(const struct pdet_kallsyms *k, struct pdet_symbol *s,
			size_t n);

/* pdet_kallsyms_pick - the same without keeping the tables. It takes less time
 * and a tenth of the memory. At most PDET_KALLSYMS_PICKED symbols. Returns 0,
 * or a negative errno. */
#define PDET_KALLSYMS_PICKED 7
int pdet_kallsyms_pick(struct pdet_space *space,
		       const struct pdet_vmcoreinfo *info,
		       struct pdet_symbol *symbols, size_t n);

/* pdet_kallsyms_at - find the symbol at or before an address. If several have
 * the same address, it is the one that the kernel would print; a section mark
 * is used only if there is nothing else. Returns false if there is none. */
bool pdet_kallsyms_at(const struct pdet_kallsyms *k, uint64_t address,
		      uint32_t *ret);

#endif
