/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One processor's pages of the ring buffer, in a file, as a stream. */
#ifndef PDET_TRACE_PAGES_H
#define PDET_TRACE_PAGES_H

#include "base/codec/codec.h"
#include "trace/merge.h"
#include "trace/ring.h"

struct pdet_trace_pages {
	struct pdet_trace_stream s;
	struct pdet_env *env;
	const struct pdet_ring_layout *layout;
	const struct pdet_kmem_layouts *known;
	struct pdet_codec *codec; /* NULL: not compressed */
	int fd;
	struct {
		struct pdet_kmem_event *data;
		size_t n, cap;
	} decoded;		/* what the piece has */
	unsigned char *bytes;	/* what is read */
	size_t at, n, cap;	/* of it: not decoded yet; read; room */
	uint64_t chunks;	/* compressed: not read yet, of */
	bool begun;		/* compressed: these are known */
	bool counted;		/* there are stats, which count */
	uint64_t lost;		/* that they count */
	uint64_t page_lost, page_gaps; /* that the pages tell */
	uint64_t wanted, events; /* that there should be; that there were */
};

/*
 * pdet_trace_pages_begin - a stream of the pages between two offsets of @fd,
 * which must stay open meanwhile. A rest that is not a whole page counts as
 * damaged. The caller may then set codec: there is a number of chunks, and each
 * has the sizes of its compressed bytes and of the pages that they are.
 */
void pdet_trace_pages_begin(struct pdet_trace_pages *p, struct pdet_env *env,
			    uint16_t cpu, const struct pdet_ring_layout *layout,
			    const struct pdet_kmem_layouts *known, int fd,
			    uint64_t offset, uint64_t end);

void pdet_trace_pages_end(struct pdet_trace_pages *p);

#endif
