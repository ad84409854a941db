/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The two hits of a write come one directly after the other, in the order of
 * the processor's slots, which is not known here.
 */
#include "breakpoint/hits.h"

/* The sum of a kind; -1: there is no room for it. */
static int64_t find(struct pdet_bp_hits *h, const uint64_t *key)
{
	static const uint8_t have[PDET_BP_KEYS] = { 1, 1, 1 };
	int64_t at;

	if (h->sums.n >= PDET_BP_MOST_HITS)
		return pdet_groups_get(&h->by, key, have);
	at = pdet_vec_reserve(&h->sums, 1) ?
		     pdet_groups_find(&h->by, key, have) : -1;
	if (at == (int64_t)h->sums.n)
		h->sums.data[h->sums.n++] = (struct pdet_bp_hit){ 0, 0 };
	h->no_memory |= at < 0;
	return at;
}

void pdet_bp_hits_sum(struct pdet_bp_hits *h, size_t piece, uint64_t ip,
		      uint64_t tid, const struct pdet_bp_hit *more)
{
	const uint64_t key[PDET_BP_KEYS] = { piece, ip, tid };
	const int64_t at = find(h, key);

	if (at < 0) {
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
