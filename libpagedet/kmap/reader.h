/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads a KMAP of any size once: each object with all accesses to it. What
 * cannot be of the dialect is counted, and never makes an object or an access.
 */
#ifndef PDET_KMAP_READER_H
#define PDET_KMAP_READER_H

#include "base/codec/text_stream.h"
#include "base/vec.h"
#include "kmap/line.h"
#include "schema/watch.h"

/* Accesses that are kept of one object. */
#define PDET_KMAP_MOST_ACCESSES ((size_t)1 << 18)
/* Bytes of the texts of one object; longer ones are strange. */
#define PDET_KMAP_TEXTS 1024

/* What was read, and what was not understood. */
struct pdet_kmap_seen {
	uint64_t lines;
	uint64_t strange, strange_line;
	uint64_t orphans, orphan_line;
	uint64_t dropped;
	uint64_t hashed;	/* places */
	bool cut, saturated;
};

struct pdet_kmap_object {
	struct pdet_kmap_line line; /* its texts stay until the next object */
	uint64_t reads, writes, n_accesses;
	struct {
		struct pdet_kmap_access *data;
		size_t n, cap;
	} accesses;		/* perhaps fewer than n_accesses */
};

struct pdet_kmap_reader {
	struct pdet_text_stream *stream;
	struct pdet_watch *watch; /* may be NULL */
	unsigned dialect;	/* 0: no text yet, or none at all */
	struct pdet_kmap_seen seen;
	struct pdet_kmap_object object;
	char *block;
	struct pdet_scan rest;	/* of the block */
	char texts[PDET_KMAP_TEXTS];
	bool has_object, skips;	/* inside a line that is too long */
};

/*
 * pdet_kmap_reader_open - open @path and find the dialect. -EBADMSG: it is not
 * a KMAP; or as pdet_text_stream_open() and pdet_text_stream_block().
 */
int pdet_kmap_reader_open(struct pdet_kmap_reader *r, struct pdet_env *env,
			  const char *path, struct pdet_watch *watch);

/* pdet_kmap_reader_start - the same, of a stream, which it closes later. */
int pdet_kmap_reader_start(struct pdet_kmap_reader *r, struct pdet_env *env,
			   struct pdet_text_stream *stream,
			   struct pdet_watch *watch);

void pdet_kmap_reader_close(struct pdet_kmap_reader *r);

/*
 * pdet_kmap_read - read the next object. Returns 1; 0 at the end, or if the
 * watch has stopped it; or a negative errno.
 */
int pdet_kmap_read(struct pdet_kmap_reader *r, struct pdet_env *env);

/* pdet_kmap_add - add without a wrap; sets *@saturated if there was none. */
static inline uint64_t pdet_kmap_add(uint64_t a, uint64_t b, bool *saturated)
{
	uint64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	*saturated = true;
	return UINT64_MAX;
}

#endif
