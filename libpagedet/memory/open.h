/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Opens a memory by the provider that knows its files. */
#ifndef PDET_MEMORY_OPEN_H
#define PDET_MEMORY_OPEN_H

#include "memory/memory.h"

/* All providers that this library was built with. NULL marks the end. */
extern const struct pdet_memory_ops *const pdet_memories[];

/*
 * pdet_memory_open - open memory with the first provider that knows the files.
 * If the headers have no VMCOREINFO, that of @vmcoreinfo is used; if it is NULL
 * or not valid, the function searches memory for one. On success the machine is
 * known. On failure the error text continues a sentence that begins with the
 * name of the file: "it is ...".
 */
int pdet_memory_open(struct pdet_env *env, const int *fds, size_t n,
		     const char *vmcoreinfo, size_t len,
		     struct pdet_memory **ret);
void pdet_memory_close(struct pdet_memory *m);

/* pdet_memory_open_live - the running kernel's memory, from the first of
 * @sources (PAGEDET_SOURCE_BIT()s) that works. The error text is that of the
 * first failure. */
int pdet_memory_open_live(struct pdet_env *env, uint32_t sources,
			  struct pdet_memory **ret);

#endif
