/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Loads optional libraries. Only this file calls dlopen. */
#include <dlfcn.h>
#include <stdio.h>

#include "base/library.h"

#ifndef PDET_LINKED
/* Copy the text: the next dl call overwrites it. */
static void note_why(struct pdet_library *lib)
{
	const char *why = dlerror();

	snprintf(lib->why, sizeof(lib->why), "%s", why ? why : "unknown");
}

bool pdet_library_open(struct pdet_library *lib, const char *name)
{
	lib->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!lib->handle)
		note_why(lib);
	return lib->handle;
}

void pdet_library_close(struct pdet_library *lib)
{
	if (lib->handle)
		dlclose(lib->handle);
	lib->handle = NULL;
}

void *pdet_library_function(struct pdet_library *lib, const char *name)
{
	void *function = dlsym(lib->handle, name);

	if (!function)
		note_why(lib);
	return function;
}
#endif
