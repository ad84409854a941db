/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Names from a vmlinux, for which the places of all calls must be known. */
#ifndef PDET_KMAP_PLACES_H
#define PDET_KMAP_PLACES_H

#include "allocs/naming.h"
#include "schema/watch.h"

/*
 * pdet_kmap_vmlinux - read the KMAP @path, which must be a regular file, for
 * the places of its calls, and take names as pdet_naming_vmlinux() does.
 */
int pdet_kmap_vmlinux(struct pdet_naming *n, struct pdet_env *env,
		      const char *path, const char *vmlinux,
		      struct pdet_watch *watch);

#endif
