/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The functions of the kernel that was traced, from a copy of its
 * /proc/kallsyms or from its vmlinux: a trace has addresses only.
 */
#ifndef PDET_TRACE_NAMES_H
#define PDET_TRACE_NAMES_H

#include "base/env.h"
#include "symbol/kallsyms.h"

struct pdet_trace_function {
	uint64_t address;
	uint32_t name, module;	/* offsets in the text; module 0: the kernel */
	uint16_t name_len, module_len;
};

/* Symbols at the borders of the kernel's image. */
enum { PDET_MARK_TEXT, PDET_MARK_STEXT, PDET_MARK_ETEXT, PDET_MARK_END,
       PDET_MARK_INIT, PDET_MARK_INIT_END, PDET_MARK_X86, PDET_MARKS };
extern const char *const pdet_trace_mark[PDET_MARKS];

/* Where they are; 0: not known. */
struct pdet_trace_marks {
	uint64_t at[PDET_MARKS];
};

/*
 * pdet_trace_marks_allow - false: no call that returns can have the return
 * address @site, if the function that has it begins at @function (0: none has
 * it). So the names are not those of the boot that was traced.
 */
bool pdet_trace_marks_allow(const struct pdet_trace_marks *m, uint64_t site,
			    uint64_t function);

struct pdet_trace_names {
	char *text;
	struct pdet_trace_marks marks;
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

/*
 * pdet_trace_names_take - the same of the symbols of a vmlinux, which stay.
 * -ENOMEM.
 */
int pdet_trace_names_take(struct pdet_trace_names *n,
			  const struct pdet_kallsyms *symbols);

/* pdet_trace_names_find - the function that has @address, or NULL. */
const struct pdet_trace_function *
pdet_trace_names_find(const struct pdet_trace_names *n, uint64_t address);

/* What a trace tells of the kernel's text. Zeroed: nothing. */
struct pdet_trace_kernel {
	char symbol[32];	/* the symbol at its beginning */
	uint64_t address, end;
};

/* pdet_trace_names_fit - false: they are of another boot, or kernel. */
bool pdet_trace_names_fit(const struct pdet_trace_names *n,
			  const struct pdet_trace_kernel *k);

/* pdet_trace_names_symbol - the address of a function of the kernel itself. */
bool pdet_trace_names_symbol(const struct pdet_trace_names *n, const char *name,
			     uint64_t *ret);

void pdet_trace_names_free(struct pdet_trace_names *n);

#endif
