/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Functions of outside libraries that are loaded when they are needed first,
 * so that a start waits for none of them and none must be installed. Where a
 * program is linked statically nothing can be loaded: there the same source
 * is built with PDET_LINKED and takes the functions that are linked.
 *
 *   struct pdet_library lib = { 0 };
 *   if (!pdet_library_open(&lib, "libz.so.1")) ...
 *   inflate = PDET_FUNCTION(&lib, inflate);
 *   if (*lib.why) ...
 */
#ifndef PDET_BASE_LIBRARY_H
#define PDET_BASE_LIBRARY_H

#include <stdbool.h>

/* libtool builds the objects of libpagedet.so with PIC and those of
 * libpagedet.a without. */
#if defined(PDET_LINKED_WITHOUT_PIC) && !defined(PIC)
#define PDET_LINKED 1
#endif

struct pdet_library {
	void *handle;
	char why[160];		/* it cannot be used; "" if it can */
};

#ifdef PDET_LINKED

static inline bool pdet_library_open(struct pdet_library *lib,
				     const char *name)
{
	(void)lib;
	(void)name;
	return true;
}

static inline void pdet_library_close(struct pdet_library *lib)
{
	(void)lib;
}

#define PDET_FUNCTION(lib, name) ((void)(lib), &(name))

#else

/* pdet_library_open - @name is that of the file with its ABI: "libz.so.1".
 * False: lib->why says why not. */
bool pdet_library_open(struct pdet_library *lib, const char *name);
void pdet_library_close(struct pdet_library *lib);

/* pdet_library_function - NULL, and why, if there is none of that name. */
void *pdet_library_function(struct pdet_library *lib, const char *name);

#define PDET_FUNCTION(lib, name) \
	((__typeof__(&(name)))pdet_library_function(lib, #name))

#endif

#endif
