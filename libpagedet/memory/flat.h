/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The flattened form of makedumpfile: a dump as a stream of chunks, each with
 * the place where it belongs (makedumpfile.h, struct makedumpfile_header and
 * struct makedumpfile_data_header). QEMU writes it, too. Where chunks overlap,
 * the later one holds.
 */
#ifndef PDET_MEMORY_FLAT_H
#define PDET_MEMORY_FLAT_H

#include "base/env.h"
#include "base/overlay.h"

/* Bytes before the first chunk; the first are the magic. */
#define PDET_FLAT_HEAD 4096

struct pdet_flat {
	int fd;
	uint64_t size;		/* of the dump, not of the stream */
	int lost;		/* 0: the stream has an end; -EIO it was cut;
				 * -EBADMSG it is damaged in the middle */
	/* Chunks that continue each other, in the order of the stream. */
	struct pdet_flat_run {
		uint64_t first;
		uint64_t last;
		uint64_t begun;	/* number of its first chunk */
		uint64_t ended;	/* and of its last one */
		uint64_t chunks;
		uint32_t mark;	/* its first one */
		uint32_t n_marks;
	} *run;
	size_t n_runs, cap_runs;
	/* Every so many chunks of a run: where they belong and stand. */
	struct pdet_flat_mark {
		uint64_t offset;
		uint64_t at;
	} *mark;
	size_t n_marks;
	unsigned step;		/* one of 1 << step chunks has a mark */
	struct pdet_overlay pieces; /* of runs */
};

/* Where the last read ended: the chunk that was found is used again. */
struct pdet_flat_cursor {
	uint64_t first;
	uint64_t last;		/* first > last: none */
	uint64_t at;		/* of the first byte, in the stream */
};

#define PDET_FLAT_CURSOR { 1, 0, 0 }

/* pdet_flat_open - reads the heads of all chunks of a file of @stream bytes.
 * Fails with words. */
int pdet_flat_open(struct pdet_flat *flat, struct pdet_env *env, int fd,
		   uint64_t stream);
void pdet_flat_close(struct pdet_flat *flat);

/* pdet_flat_read - all @n bytes of the dump from @offset on; what no chunk
 * has is zero if the stream has its end, else the failure that it is. */
int pdet_flat_read(const struct pdet_flat *flat, struct pdet_flat_cursor *c,
		   void *buf, size_t n, uint64_t offset);

/* pdet_flat_next - from @offset on, the first byte of the dump that a chunk
 * has; its size: none. */
uint64_t pdet_flat_next(const struct pdet_flat *flat, uint64_t offset);

/* pdet_flat_peek - the first bytes of the dump, if one of the first chunks has
 * them. How many. */
size_t pdet_flat_peek(int fd, void *buf, size_t n);

#endif
