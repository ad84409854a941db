/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the loaded module (kernel/module/) and the symbol of an address. */
#ifndef PDET_SYMBOL_MODULES_H
#define PDET_SYMBOL_MODULES_H

#include "kernel/types/fields.h"

#define PDET_MODULE_NAME 64
#define PDET_MODULE_SYMBOL 512

struct pdet_modules {
	uint64_t list;		/* address of the list head */
	struct pdet_struct module, memory, symbols;
	uint64_t memory_size;	/* size of one struct module_memory */
};

/* pdet_modules_init - @list is the address of "modules". Returns false if the
 * types lack something that is needed. */
bool pdet_modules_init(struct pdet_modules *m, const struct pdet_btf *btf,
		       uint64_t list);

struct pdet_module {
	uint64_t addr;		/* address of its struct module */
	char name[PDET_MODULE_NAME];
	uint64_t start, end;	/* the part that contains the address */
};

/* pdet_module_find - find the module that contains an address. Returns 0,
 * -ENOENT if there is none, or a result of memory/memory.h. */
int pdet_module_find(struct pdet_space *space, const struct pdet_modules *m,
		     uint64_t va, struct pdet_module *ret);

struct pdet_module_symbol {
	char name[PDET_MODULE_SYMBOL];
	uint64_t address;
	uint64_t size;		/* distance to the next symbol */
};

/* pdet_module_symbol - the symbol of the module at or before an address.
 * Returns as pdet_module_find(). */
int pdet_module_symbol(struct pdet_space *space, const struct pdet_modules *m,
		       const struct pdet_module *module, uint64_t va,
		       struct pdet_module_symbol *ret);

/* pdet_module_named - the address of the symbol of any module with this name.
 * Returns 0; -ENOENT if none has it; or a result of memory/memory.h: some
 * module or name could not be read, and no other one has it. */
int pdet_module_named(struct pdet_space *space, const struct pdet_modules *m,
		      const char *name, uint64_t *ret);

#endif
