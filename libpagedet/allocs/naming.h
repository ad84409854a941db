/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Names for call sites: from a kallsyms, from a vmlinux (vmlinux.c), or from
 * who knows the symbols of a dump. Names of another boot look as good as right
 * ones, so each site is checked.
 */
#ifndef PDET_ALLOCS_NAMING_H
#define PDET_ALLOCS_NAMING_H

#include "allocs/sites.h"
#include "pagedet.h"

/* Room for a name as the kernel prints it. */
#define PDET_NAMING_TEXT 1024

/* Who knows the symbols of a dump. */
struct pdet_namer {
	/* "function+0x10/0x40 [module]"; its length, or 0. */
	size_t (*name)(void *arg, uint64_t address, char text[], size_t size);
	/* The address of a symbol. */
	bool (*symbol)(void *arg, const char *name, uint64_t *ret);
	void *arg;
};

struct pdet_naming {
	bool has_names;
	struct pdet_trace_names names;
	const struct pdet_namer *namer; /* instead of these, or NULL */
	struct pdet_trace_marks marks;
	uint64_t impossible;	/* a site that cannot have its name; 0 none */
	uint64_t kaslr_offset;
	uint32_t kaslr;		/* as in struct pagedet_allocs_total */
	char text[PDET_NAMING_TEXT]; /* of the namer's last answer */
};

/* What is known of a site. */
struct pdet_named {
	const char *function, *module; /* valid until the next call */
	size_t function_len, module_len; /* 0: the kernel */
	uint64_t offset;	/* in the function */
};

/* pdet_naming_kallsyms - take a copy of /proc/kallsyms. */
int pdet_naming_kallsyms(struct pdet_naming *n, struct pdet_env *env,
			 const char *path);

/*
 * pdet_naming_beside - take over the kallsyms of the trace itself. It may hide
 * all, or be damaged: then there are no names.
 */
int pdet_naming_beside(struct pdet_naming *n, struct pdet_env *env,
		       struct pdet_text *text);

/*
 * pdet_naming_vmlinux - take the symbols of a vmlinux, moved as the kernel was
 * at boot. Names that are there already are dropped; they say how it was moved
 * if the trace does not. If nothing says it, there are no names, and the log
 * says why.
 */
int pdet_naming_vmlinux(struct pdet_naming *n, struct pdet_env *env,
			const char *path, struct pdet_sites *sites);

void pdet_naming_namer(struct pdet_naming *n, const struct pdet_namer *namer);

/* pdet_naming_find - name a site, and check that it can have the name. */
bool pdet_naming_find(struct pdet_naming *n, uint64_t site,
		      struct pdet_named *ret);

/* pdet_named_text - "function+0x10 [module]"; the length, perhaps cut. */
size_t pdet_named_text(const struct pdet_named *f, char *text, size_t size);

/* pdet_naming_check - -EBADMSG: the names are of another boot or kernel. */
int pdet_naming_check(const struct pdet_naming *n, struct pdet_env *env,
		      const struct pdet_trace_kernel *k, const char *trace);

void pdet_naming_free(struct pdet_naming *n);

#endif
