/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Who read and wrote which piece. A processor that cannot tell reads alone hits
 * two breakpoints by a write, and one by a read.
 */
#ifndef PDET_BREAKPOINT_HITS_H
#define PDET_BREAKPOINT_HITS_H

#include "base/groups.h"
#include "breakpoint/slots.h"

/* Different kinds of hits that are kept; more of them are only counted. */
#define PDET_BP_MOST_HITS (1u << 20)

struct pdet_bp_hit {
	uint64_t reads, writes;
};

struct pdet_bp_hits {
	struct pdet_groups by;	/* piece, instruction, thread */
	struct {
		struct pdet_bp_hit *data;
		size_t n, cap;
	} sums;			/* by group */
	uint64_t dropped;	/* hits beyond the most kinds */
	bool no_memory;
};

/* The last hit of a piece on a processor that may be the half of a write. */
struct pdet_bp_half {
	struct pdet_bp_sample sample;
	enum pdet_bp_kind kind;
	bool is;
};

/*
 * pdet_bp_hits_add - count a hit of a breakpoint of two on @piece. @half: of
 * this piece on this processor.
 */
void pdet_bp_hits_add(struct pdet_bp_hits *h, struct pdet_bp_half *half,
		      size_t piece, enum pdet_bp_kind kind,
		      const struct pdet_bp_sample *sample);

/* pdet_bp_hits_end - count what is left: no other half will come. */
void pdet_bp_hits_end(struct pdet_bp_hits *h, struct pdet_bp_half *half,
		      size_t piece);

/* pdet_bp_hits_count - count a hit whose kind is known alone. */
void pdet_bp_hits_count(struct pdet_bp_hits *h, size_t piece,
			enum pdet_bp_kind kind,
			const struct pdet_bp_sample *sample);

/* pdet_bp_hits_sum - add hits that were counted. */
void pdet_bp_hits_sum(struct pdet_bp_hits *h, size_t piece, uint64_t ip,
		      uint64_t tid, const struct pdet_bp_hit *more);

/* The values of a group. */
enum { PDET_BP_PIECE, PDET_BP_IP, PDET_BP_TID, PDET_BP_KEYS };

void pdet_bp_hits_init(struct pdet_bp_hits *h);
void pdet_bp_hits_free(struct pdet_bp_hits *h);

#endif
