/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Searches a kernel's image in its memory, piece by piece. */
#ifndef PDET_SYMBOL_SCAN_H
#define PDET_SYMBOL_SCAN_H

#include "kernel/address/space.h"

/* Bytes searched at once, and how many of them the next piece has, too. */
#define PDET_SCAN_PIECE ((size_t)1 << 20)
#define PDET_SCAN_OVERLAP 512

/*
 * pdet_scan - call @look for each piece from _stext on, with
 * PDET_SCAN_PIECE + PDET_SCAN_OVERLAP bytes at @addr. Bytes that cannot be
 * read are 0. A result other than 0 ends the search. Returns it, 0, or a result
 * of memory/memory.h.
 */
int pdet_scan(struct pdet_space *space, const struct pdet_vmcoreinfo *info,
	      int (*look)(void *arg, uint64_t addr, const char *data),
	      void *arg);

#endif
