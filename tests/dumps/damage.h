/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Damages a copy of a dump in one way, and restores it. */
#ifndef TESTS_DUMPS_DAMAGE_H
#define TESTS_DUMPS_DAMAGE_H

#include "dump_map.h"

enum damage_kind {
	DAMAGE_HEAD,		/* headers, notes, bitmaps, descriptors, chunk
				 * headers */
	DAMAGE_BODY,		/* memory, anywhere */
	DAMAGE_USED,		/* memory that answers need */
	DAMAGE_CUT,
	DAMAGE_KINDS
};

#define DAMAGE_BYTES 64

struct touched;

struct damage {
	struct dump_map map;	/* of the whole dump */
	int whole, copy;
	/* The kind of damage. */
	enum damage_kind kind;
	const char *what;
	uint64_t place;		/* in the file; also where it is truncated */
	uint64_t n;
	unsigned char bytes[DAMAGE_BYTES], before[DAMAGE_BYTES];
};

const char *damage_name(enum damage_kind kind);

/* Makes the copy again. A failure ends the program. */
void damage_open(struct damage *d, const char *dump, const char *copy);
void damage_close(struct damage *d);

/* damage_choose - choose the damage by @seed; kinds alternate with @i. */
void damage_choose(struct damage *d, const struct touched *t, uint64_t seed,
		   unsigned i);
void damage_do(struct damage *d);
void damage_undo(struct damage *d);

/* damage_say - describe the damage. */
void damage_say(const struct damage *d, char *buf, size_t size);

#endif
