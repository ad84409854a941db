/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads the pieces of an image. Parts of it may not be in a dump. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "symbol/scan.h"

#define PAGE 4096
/* Limits: no image is larger, and none has a larger hole. */
#define MOST_PIECES 256
#define MOST_EMPTY 16

/* Read a piece; unreadable parts become zeros. *any: a part was readable. */
static int read_chunk(struct pdet_space *space, uint64_t addr, char *data,
		      size_t n, bool *any)
{
	size_t i;
	int r = pdet_space_read(space, addr, data, n);

	*any = !r;
	for (i = 0; r && i < n; i += PAGE) {
		r = pdet_space_read(space, addr + i, data + i,
				    PDET_MIN(n - i, (size_t)PAGE));
		if (r == -ENOMEM || r == -EACCES || r == -ETIMEDOUT)
			return r;
		if (r)
			memset(data + i, 0, PDET_MIN(n - i, (size_t)PAGE));
		*any |= !r;
		r = 1;
	}
	return 0;
}

int pdet_scan(struct pdet_space *space, const struct pdet_vmcoreinfo *info,
	      int (*look)(void *arg, uint64_t addr, const char *data),
	      void *arg)
{
	const size_t n = PDET_SCAN_PIECE + PDET_SCAN_OVERLAP;
	unsigned i, empty = 0;
	uint64_t addr;
	char *data;
	bool any;
	int r = 0;

	if (!pdet_vmcoreinfo_symbol(info, "_stext", &addr))
		return -ENODATA;
	data = malloc(n);
	if (!data)
		return -ENOMEM;
	addr &= -(uint64_t)PAGE;
	for (i = 0; !r && i < MOST_PIECES && empty < MOST_EMPTY; i++) {
		r = read_chunk(space, addr, data, n, &any);
		empty = any ? 0 : empty + 1;
		if (!r && any)
			r = look(arg, addr, data);
		addr += PDET_SCAN_PIECE;
	}
	free(data);
	return r;
}
