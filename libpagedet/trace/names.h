/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The functions of the kernel that was traced, from a copy of its
 * /proc/kallsyms: a trace has addresses only.
 */
#ifndef PDET_TRACE_NAMES_H
#define PDET_TRACE_NAMES_H

#include "base/env.h"

struct pdet_trace_function {
	uint64_t address;
	uint32_t name, module;	/* offsets in the text; module 0: the kernel */
	uint16_t name_len, module_len;
};

struct pdet_trace_names {
	char *text;
	struct {
		struct pdet_trace_function *data;
		size_t n, cap;
	} functions;		/* by address */
};

/*
 * pdet_trace_names_read - take over @text, which was read with malloc(), and
 * find its functions. -EBADMSG: it is not a kallsyms; -EACCES: all addresses in
 * it are 0, as a user without privilege sees them; -ENOMEM.
 */
int pdet_trace_names_read(struct pdet_trace_names *n, char *text, size_t len);

/* pdet_trace_names_find - the function that has @address, or NULL. */
const struct pdet_trace_function *
pdet_trace_names_find(const struct pdet_trace_names *n, uint64_t address);

/* pdet_trace_names_address - where a function of the kernel is. */
bool pdet_trace_names_address(const struct pdet_trace_names *n,
			      const char *name, uint64_t *ret);

/* What a trace tells of the kernel's text. Zeroed: nothing. */
struct pdet_trace_kernel {
	char symbol[32];	/* the symbol at its beginning */
	uint64_t address, end;
};

/* pdet_trace_names_fit - false: they are of another boot, or kernel. */
bool pdet_trace_names_fit(const struct pdet_trace_names *n,
			  const struct pdet_trace_kernel *k);

void pdet_trace_names_free(struct pdet_trace_names *n);

#endif
