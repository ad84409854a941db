/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Loaded modules (kernel/module/): which one an address is in, and under which
 * of its symbols. */
#ifndef PDET_KERNEL_MODULES_H
#define PDET_KERNEL_MODULES_H

#include "kernel/fields.h"

#define PDET_MODULE_NAME 64
#define PDET_MODULE_SYMBOL 512

struct pdet_modules {
	uint64_t list;		/* address of its head */
	struct pdet_struct module, memory, symbols;
	uint64_t memory_size;	/* bytes of one part */
};

/* pdet_modules_init - @list is the address of "modules". False: the types do
 * not say enough. */
bool pdet_modules_init(struct pdet_modules *m, const struct pdet_btf *btf,
		       uint64_t list);

struct pdet_module {
	uint64_t addr;		/* of its struct module */
	char name[PDET_MODULE_NAME];
	uint64_t start, end;	/* of the part around the address */
};

/* pdet_module_find - whose memory has an address. 0, -ENOENT none has, or a
 * result of memory/memory.h. */
int pdet_module_find(struct pdet_space *space, const struct pdet_modules *m,
		     uint64_t va, struct pdet_module *ret);

struct pdet_module_symbol {
	char name[PDET_MODULE_SYMBOL];
	uint64_t address;
	uint64_t size;		/* up to the next one */
};

/* pdet_module_symbol - the one at or before an address in the module. The
 * same. */
int pdet_module_symbol(struct pdet_space *space, const struct pdet_modules *m,
		       const struct pdet_module *module, uint64_t va,
		       struct pdet_module_symbol *ret);

#endif
