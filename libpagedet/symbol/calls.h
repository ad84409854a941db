/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds by how much a kernel was moved at boot (KASLR), from return addresses
 * of that boot: in the right place each of them is directly behind a call.
 */
#ifndef PDET_SYMBOL_CALLS_H
#define PDET_SYMBOL_CALLS_H

#include "symbol/vmlinux.h"

/* Fewer return addresses prove nothing. */
#define PDET_CALLS_LEAST 8

struct pdet_calls {
	uint16_t machine;	/* EM_* */
	struct pdet_vmlinux_code code;
	const struct pdet_kallsyms *symbols; /* as in the file */
};

/* pdet_calls_can - false: instructions of this machine are not known here. */
bool pdet_calls_can(uint16_t machine);

/*
 * pdet_calls_fit - whether all of @site, moved back by @by, that are then in
 * the code are behind calls. *n is how many are in the code.
 */
bool pdet_calls_fit(const struct pdet_calls *c, const uint64_t *site,
		    size_t n_sites, uint64_t by, size_t *n);

/*
 * pdet_calls_find - the only offset that fits. -ENOENT: none does; -E2BIG:
 * several do.
 */
int pdet_calls_find(const struct pdet_calls *c, const uint64_t *site,
		    size_t n_sites, uint64_t *ret);

#endif
