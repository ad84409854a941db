/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The lines of a KMAP: one for an object, and behind it indented ones for the
 * accesses to it. A line fits its dialect as a whole, or not at all.
 */
#ifndef PDET_KMAP_LINE_H
#define PDET_KMAP_LINE_H

#include "base/text/text.h"
#include "pagedet.h"

/* The codes that stand where an address should. */
#define PDET_KMAP_PREALLOCATED 0xfeedbeefu
#define PDET_KMAP_MISSED 0xdeadbeefu
#define PDET_KMAP_NESTED 0xfedbeefu
/* The number of a type; no kernel has code there. */
#define PDET_KMAP_MOST_TYPES 64u

/* An address as it is printed. */
struct pdet_kmap_place {
	uint64_t address;
	bool hidden;		/* something else is printed instead */
	bool hashed;		/* only 32 bits of a hash */
};

struct pdet_kmap_line {
	struct pdet_kmap_place site, va, free_site;
	uint64_t bytes, alloc_index, free_index;
	int64_t pid;
	/* Empty if the dialect does not have them. */
	struct pdet_scan type, command, cache, replaced_by;
};

struct pdet_kmap_access {
	struct pdet_kmap_place site;
	uint64_t reads, writes;
	int64_t pid;		/* -1: not told */
};

/* pdet_kmap_is_access - whether a line is one of an access, by its begin. */
bool pdet_kmap_is_access(struct pdet_scan line);

/* pdet_kmap_numbers - what all dialects have in common: all but the texts.
 * False: the line is not of an object. */
bool pdet_kmap_numbers(struct pdet_scan line, struct pdet_kmap_line *ret);

/* pdet_kmap_object_line - false: it cannot be of an object of the dialect. */
bool pdet_kmap_object_line(struct pdet_scan line, unsigned dialect,
			   struct pdet_kmap_line *ret);

/* pdet_kmap_access_line - false: it cannot be of an access of the dialect. */
bool pdet_kmap_access_line(struct pdet_scan line, unsigned dialect,
			   struct pdet_kmap_access *ret);

/*
 * pdet_kmap_dialect - the dialect of the first line of @text that has the
 * numbers of an object; 0: there is no such line, it fits no dialect, or most
 * of the next ones fit another.
 */
unsigned pdet_kmap_dialect(struct pdet_scan text);

#endif
