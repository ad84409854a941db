/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The flattened form of makedumpfile, which QEMU writes too: a dump as a stream
 * of chunks, each with its offset (makedumpfile.h, struct makedumpfile_header
 * and struct makedumpfile_data_header). Where chunks overlap, the later one
 * wins.
 */
#ifndef PDET_MEMORY_FLAT_H
#define PDET_MEMORY_FLAT_H

#include "base/env.h"
#include "base/overlay.h"

/* Bytes before the first chunk; they begin with the magic. */
#define PDET_FLAT_HEAD 4096

/* The head of a chunk in the file, big-endian. Both are all ones at the end of
 * the stream. */
struct pdet_flat_head {
	uint64_t offset;
	uint64_t size;
};

struct pdet_flat {
	int fd;
	uint64_t size;		/* of the dump, not of the stream */
	int lost;		/* 0: the stream is complete; -EIO: it was cut;
				 * -EBADMSG: it is damaged in the middle */
	/* Runs of chunks that continue each other, in stream order. */
	struct pdet_flat_run {
		uint64_t first;
		uint64_t last;
		uint64_t begun;	/* number of its first chunk */
		uint64_t ended;	/* number of its last chunk */
		uint64_t chunks;
		uint32_t mark;	/* index of its first mark */
		uint32_t n_marks;
	} *run;
	size_t n_runs, cap_runs;
	/*
	 * Marks at regular chunks of a run: offset in the dump, and position in
	 * the stream.
	 */
	struct pdet_flat_mark {
		uint64_t offset;
		uint64_t at;
	} *mark;
	size_t n_marks;
	unsigned step;		/* one of 1 << step chunks has a mark */
	struct pdet_overlay pieces; /* index into runs */
};

/* The chunk of the last read, which the next read tries first. */
struct pdet_flat_cursor {
	uint64_t first;
	uint64_t last;		/* first > last: none */
	uint64_t at;		/* position of its first byte in the stream */
};

#define PDET_FLAT_CURSOR { 1, 0, 0 }

void pdet_flat_close(struct pdet_flat *flat);

/* pdet_flat_read - read all @n bytes of the dump at @offset. Bytes without a
 * chunk are zero if the stream is complete; otherwise the read fails with
 * flat->lost. */
int pdet_flat_read(const struct pdet_flat *flat, struct pdet_flat_cursor *c,
		   void *buf, size_t n, uint64_t offset);

/* pdet_flat_next - the first byte from @offset on that has a chunk. If there is
 * none, the size of the dump. */
uint64_t pdet_flat_next(const struct pdet_flat *flat, uint64_t offset);

/* pdet_flat_peek - copy the first bytes of the dump, if one of the first chunks
 * has them. Returns their number. */
size_t pdet_flat_peek(int fd, void *buf, size_t n);

#endif
