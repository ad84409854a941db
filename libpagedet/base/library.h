/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Loads functions of optional libraries on first use. Start-up loads none of
 * them, and none must be installed. A statically linked program cannot load
 * libraries: the same source is then built with PDET_LINKED and calls the
 * functions that are linked in.
 *
 *   struct pdet_library lib = { 0 };
 *   if (!pdet_library_open(&lib, "libz.so.1")) ...
 *   inflate = PDET_FUNCTION(&lib, inflate);
 *   if (*lib.why) ...
 */
#ifndef PDET_BASE_LIBRARY_H
#define PDET_BASE_LIBRARY_H

#include <stdbool.h>

/* libtool builds objects for libpagedet.so with PIC, and those for libpagedet.a
 * without it. */
#if defined(PDET_LINKED_WITHOUT_PIC) && !defined(PIC)
#define PDET_LINKED 1
#endif

struct pdet_library {
	void *handle;
	char why[160];		/* why it cannot be used; "" if it can */
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

/* pdet_library_open - load the file @name, which includes the ABI version:
 * "libz.so.1". Returns false and sets lib->why on failure. */
bool pdet_library_open(struct pdet_library *lib, const char *name);
void pdet_library_close(struct pdet_library *lib);

/*
 * pdet_library_function - NULL, with lib->why set, if the library lacks @name.
 */
void *pdet_library_function(struct pdet_library *lib, const char *name);

#define PDET_FUNCTION(lib, name) \
	((__typeof__(&(name)))pdet_library_function(lib, #name))

#endif

#endif
