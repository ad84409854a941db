/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The records of a perf.data, one after the other, compressed or not. */
#ifndef PDET_TRACE_PERF_RECORDS_H
#define PDET_TRACE_PERF_RECORDS_H

#include "base/codec/decoder.h"
#include "trace/merge.h"

/* Bytes that are read, of which a part is not used yet. */
struct pdet_records_window {
	unsigned char *bytes;
	size_t at, n;
};

struct pdet_records {
	struct pdet_env *env;
	struct pdet_trace_stream *s; /* has the offset and the end, and gets
				 * the loss */
	int fd;
	bool big_endian;
	struct pdet_records_window file, unpacked;
	struct pdet_decoder *decoder; /* NULL until one is needed */
	const unsigned char *packed; /* not decompressed yet */
	size_t n_packed;
	bool more;		/* the decoder has more than there was room
				 * for */
};

/* What all records begin with. */
#define PDET_RECORD_HEAD 8

/* pdet_records_begin - only @r->s, fd, env and big_endian are set. -ENOMEM. */
int pdet_records_begin(struct pdet_records *r);
void pdet_records_end(struct pdet_records *r);

/*
 * pdet_records_next - the next record, which stays until the next call. Returns
 * 1; 0 at the end, or where what follows is not a record, which is counted as
 * damaged; a negative errno if the input cannot be read.
 */
int pdet_records_next(struct pdet_records *r, const unsigned char **record,
		      uint32_t *size);

/* pdet_records_here - the offset behind the record; and read on elsewhere. */
uint64_t pdet_records_here(const struct pdet_records *r);
void pdet_records_seek(struct pdet_records *r, uint64_t offset);

#endif
