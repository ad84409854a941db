/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The list of its functions that a compiler at run time writes for perf
 * (tools/perf/Documentation/jit-interface.txt): lines of START SIZE NAME, the
 * numbers in hexadecimal. It is foreign text.
 */
#ifndef PDET_UNWIND_PERF_MAP_H
#define PDET_UNWIND_PERF_MAP_H

#include "base/io.h"

/* A name takes at most as many bytes. A longer one is not believed. */
#define PDET_PERF_NAME 4096

/* Lines of a file. All together take 48 MiB, 56 while they are indexed; the
 * text up to 64 MiB, and while it is read up to 128. */
#define PDET_PERF_LINES ((size_t)1 << 20)

struct pdet_perf_entry {
	uint64_t start, end;
	uint32_t name;		/* offset in the text */
	bool cut;		/* a later entry has a part of it */
};

struct pdet_perf_map {
	struct pdet_text text;
	struct {
		struct pdet_perf_entry *data;	/* in the order of the file */
		size_t n, cap;
	} entries;
	size_t bad;		/* lines that are not believed */
	/* Address bounds[i] and those up to the next bound are of entry
	 * owner[i]; UINT32_MAX: of none. */
	uint64_t *bounds;
	uint32_t *owner;
	size_t n_bounds;
};

/*
 * pdet_perf_map_parse - index m->text, which is at most 4 GiB and becomes the
 * map's own; the rest of *m is zero. Returns 0, -EFBIG if it has too many lines
 * or -ENOMEM. Free it in all cases.
 */
int pdet_perf_map_parse(struct pdet_perf_map *m);
void pdet_perf_map_free(struct pdet_perf_map *m);

/*
 * pdet_perf_map_find - the last entry that has an address, as compilers use
 * addresses again; NULL: none has it. If entry->cut is set, a later function
 * has a part of its code, and it may be gone.
 */
const struct pdet_perf_entry *pdet_perf_map_find(const struct pdet_perf_map *m,
						 uint64_t addr);

#endif
