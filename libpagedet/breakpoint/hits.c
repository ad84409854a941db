/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The two hits of a write come one directly after the other, in the order of
 * the processor's slots, which is not known here.
 */
#include "breakpoint/hits.h"

void pdet_bp_hits_sum(struct pdet_bp_hits *h, size_t piece, uint64_t ip,
		      uint64_t tid, const struct pdet_bp_hit *more)
{
	static const uint8_t have[PDET_BP_KEYS] = { 1, 1, 1 };
	const uint64_t key[PDET_BP_KEYS] = { piece, ip, tid };
	int64_t at;

	if (h->sums.n >= PDET_BP_MOST_HITS) {
		h->dropped += more->reads + more->writes;
		return;
	}
	at = pdet_groups_find(&h->by, key, have);
	if (at == (int64_t)h->sums.n &&
	    !pdet_vec_push(&h->sums, (struct pdet_bp_hit){ 0, 0 }))
		at = -1;
	if (at < 0) {
		h->no_memory = true;
		h->dropped += more->reads + more->writes;
		return;
	}
	h->sums.data[at].reads += more->reads;
	h->sums.data[at].writes += more->writes;
}

void pdet_bp_hits_count(struct pdet_bp_hits *h, size_t piece,
			enum pdet_bp_kind kind,
			const struct pdet_bp_sample *sample)
{
	const bool is_write = kind == PDET_BP_WRITE;

	pdet_bp_hits_sum(h, piece, sample->ip, sample->tid,
			 &(struct pdet_bp_hit){ !is_write, is_write });
}

static bool are_one(const struct pdet_bp_half *half, enum pdet_bp_kind kind,
		    const struct pdet_bp_sample *sample)
{
	return half->is && half->kind != kind &&
	       half->sample.ip == sample->ip && half->sample.tid == sample->tid;
}

void pdet_bp_hits_end(struct pdet_bp_hits *h, struct pdet_bp_half *half,
		      size_t piece)
{
	if (half->is)
		pdet_bp_hits_count(h, piece, half->kind, &half->sample);
	half->is = false;
}

void pdet_bp_hits_add(struct pdet_bp_hits *h, struct pdet_bp_half *half,
		      size_t piece, enum pdet_bp_kind kind,
		      const struct pdet_bp_sample *sample)
{
	if (are_one(half, kind, sample)) {
		pdet_bp_hits_count(h, piece, PDET_BP_WRITE, sample);
		half->is = false;
		return;
	}
	pdet_bp_hits_end(h, half, piece);
	*half = (struct pdet_bp_half){ *sample, kind, true };
}

void pdet_bp_hits_init(struct pdet_bp_hits *h)
{
	h->by.n_keys = PDET_BP_KEYS;
}

void pdet_bp_hits_free(struct pdet_bp_hits *h)
{
	pdet_groups_free(&h->by);
	pdet_vec_free(&h->sums);
}
