/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The pages of one processor in a file, many at a time: as they are, or
 * unpacked. Another thread may read ahead.
 */
#ifndef PDET_TRACE_CHUNKS_H
#define PDET_TRACE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/codec/codec.h"

struct pdet_chunk {
	unsigned char *data;
	size_t n, cap;
};

/* Zeroed but for where the pages are. */
struct pdet_chunks {
	int fd;
	uint64_t offset, end;	/* what is not read yet */
	uint32_t page;		/* bytes of a page */
	bool big_endian;
	/*
	 * NULL: as they are. Else there is a number of chunks, and each has the
	 * sizes of its packed bytes and of the pages that they are.
	 */
	struct pdet_codec *codec;
	uint64_t left;		/* packed: chunks not read yet, of */
	bool begun;		/* packed: these are known */
	bool damaged;		/* the rest is not what it should be */
};

/*
 * pdet_chunks_next - read the next pages. Returns 1; 0 at the end, or damaged
 * is set; -ENOMEM, or the error of a read.
 */
int pdet_chunks_next(struct pdet_chunks *c, struct pdet_chunk *ret);

#endif
