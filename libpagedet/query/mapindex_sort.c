/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A radix sort for 16-byte entries that take far more room than the cache. One
 * step distributes all entries to some thousand buckets by the high bits of the
 * pfn. Then each bucket is sorted by itself, in the cache. Threads share both
 * steps. Each entry is moved only in these two steps.
 *
 * bench: index
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/large.h"
#include "base/team.h"
#include "query/mapindex_sort.h"

/* The number of write streams for which the TLB is large enough. */
#define MOST_BUCKET_BITS 12
#define BUCKET_ENTRIES 128
#define DIGIT_BITS 10
/* Up to this number of entries an insertion sort is faster. */
#define FEW 24

struct sorter {
	const struct pdet_mapping_chunk *chunk;
	size_t n_chunks;
	struct pdet_mapping *out;
	size_t total;
	unsigned shift;		/* a bucket is key >> shift */
	size_t n_buckets;
	unsigned n_shares;
	size_t *share;		/* [n_shares + 1] first chunk of each */
	size_t *place;		/* [n_shares][n_buckets]: first the count, later
				 * the place of the next entry */
	size_t *start;		/* [n_buckets + 1] in out */
	atomic_uint next_share;
	atomic_size_t next_bucket;
	atomic_bool no_memory;
};

/* --- distribution to buckets --- */

static void count_share(struct sorter *s, unsigned share)
{
	size_t *count = s->place + share * s->n_buckets;
	size_t c, i;

	for (c = s->share[share]; c < s->share[share + 1]; c++)
		for (i = 0; i < s->chunk[c].n; i++)
			count[s->chunk[c].data[i].key >> s->shift]++;
}

static void deal_share(struct sorter *s, unsigned share)
{
	size_t *place = s->place + share * s->n_buckets;
	size_t c, i;

	for (c = s->share[share]; c < s->share[share + 1]; c++) {
		const struct pdet_mapping *data = s->chunk[c].data;

		for (i = 0; i < s->chunk[c].n; i++)
			s->out[place[data[i].key >> s->shift]++] = data[i];
	}
}

static void count_work(void *arg, unsigned who)
{
	struct sorter *s = arg;
	unsigned share;

	(void)who;
	while ((share = atomic_fetch_add(&s->next_share, 1)) < s->n_shares)
		count_share(s, share);
}

static void deal_work(void *arg, unsigned who)
{
	struct sorter *s = arg;
	unsigned share;

	(void)who;
	while ((share = atomic_fetch_add(&s->next_share, 1)) < s->n_shares)
		deal_share(s, share);
}

/* Turns the count of each bucket and share into a place. */
static void lay_out(struct sorter *s)
{
	size_t at = 0, bucket, n, *place;
	unsigned share;

	for (bucket = 0; bucket < s->n_buckets; bucket++) {
		s->start[bucket] = at;
		for (share = 0; share < s->n_shares; share++) {
			place = &s->place[share * s->n_buckets + bucket];
			n = *place;
			*place = at;
			at += n;
		}
	}
	s->start[bucket] = at;
}

/* --- sorting of a bucket --- */

static void sort_few(struct pdet_mapping *a, size_t n)
{
	const unsigned shift = PDET_MAPPING_BLOCK_SHIFT;
	struct pdet_mapping e;
	size_t i, j;

	for (i = 1; i < n; i++) {
		e = a[i];
		for (j = i; j > 0 && a[j - 1].key >> shift > e.key >> shift;
		     j--)
			a[j] = a[j - 1];
		a[j] = e;
	}
}

static void sort_digit(const struct pdet_mapping *from,
		       struct pdet_mapping *to, size_t n, unsigned shift,
		       unsigned bits)
{
	const uint64_t mask = ((uint64_t)1 << bits) - 1;
	size_t count[1 << DIGIT_BITS], at = 0, c, i;

	memset(count, 0, (mask + 1) * sizeof(*count));
	for (i = 0; i < n; i++)
		count[from[i].key >> shift & mask]++;
	for (i = 0; i <= mask; i++) {
		c = count[i];
		count[i] = at;
		at += c;
	}
	for (i = 0; i < n; i++)
		to[count[from[i].key >> shift & mask]++] = from[i];
}

static void sort_bucket(struct pdet_mapping *a, size_t n, unsigned top,
			struct pdet_mapping *tmp)
{
	const unsigned bits = top - PDET_MAPPING_BLOCK_SHIFT;
	const unsigned digits = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
	const unsigned width = digits ? (bits + digits - 1) / digits : 0;
	struct pdet_mapping *from = a, *to = tmp, *swap;
	unsigned i;

	for (i = 0; i < digits; i++) {
		sort_digit(from, to, n, PDET_MAPPING_BLOCK_SHIFT + i * width,
			   width);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != a)
		memcpy(a, from, n * sizeof(*a));
}

static void sort_work(void *arg, unsigned who)
{
	struct sorter *s = arg;
	struct pdet_mapping *tmp = NULL;
	size_t cap = 0, bucket, n;

	(void)who;
	while ((bucket = atomic_fetch_add(&s->next_bucket, 1)) <
	       s->n_buckets) {
		struct pdet_mapping *a = s->out + s->start[bucket];

		n = s->start[bucket + 1] - s->start[bucket];
		if (n <= FEW) {
			sort_few(a, n);
			continue;
		}
		if (n > cap) {
			free(tmp);
			cap = n + n / 2;
			tmp = pdet_large_alloc(cap * sizeof(*tmp));
		}
		if (!tmp) {
			atomic_store(&s->no_memory, true);
			return;
		}
		sort_bucket(a, n, s->shift, tmp);
	}
	free(tmp);
}

/* --- the whole sort --- */

/*
 * Makes shares of about equal numbers of entries. Shares end where chunks do.
 */
static void share_out(struct sorter *s)
{
	size_t c = 0, n = 0;
	unsigned share;

	for (share = 0; share < s->n_shares; share++) {
		s->share[share] = c;
		while (c < s->n_chunks &&
		       n < s->total / s->n_shares * (share + 1))
			n += s->chunk[c++].n;
	}
	s->share[s->n_shares] = s->n_chunks;
}

static void choose_buckets(struct sorter *s)
{
	unsigned key_bits = PDET_MAPPING_BLOCK_SHIFT, bits = 0;
	uint64_t any = 0;
	size_t c;

	for (c = 0; c < s->n_chunks; c++) {
		s->total += s->chunk[c].n;
		any |= s->chunk[c].bits;
	}
	while (key_bits < 64 && any >> key_bits)
		key_bits++;
	while (bits < MOST_BUCKET_BITS &&
	       s->total >> bits > BUCKET_ENTRIES)
		bits++;
	s->shift = PDET_MAX(PDET_MAPPING_BLOCK_SHIFT, key_bits - bits);
	s->n_buckets = (size_t)(any >> s->shift) + 1;
}

static int sort(struct sorter *s, unsigned threads)
{
	if (!s->out || !s->share || !s->place || !s->start)
		return -ENOMEM;
	share_out(s);
	pdet_team_run(threads, count_work, s);
	lay_out(s);
	atomic_store(&s->next_share, 0);
	pdet_team_run(threads, deal_work, s);
	pdet_team_run(threads, sort_work, s);
	return atomic_load(&s->no_memory) ? -ENOMEM : 0;
}

int pdet_mapping_sort(const struct pdet_mapping_chunk *chunks, size_t n_chunks,
		      unsigned threads, struct pdet_mapping **ret,
		      size_t *n_ret)
{
	struct sorter s = { .chunk = chunks, .n_chunks = n_chunks };
	int r;

	choose_buckets(&s);
	s.n_shares = threads;
	s.out = pdet_large_alloc(s.total * sizeof(*s.out));
	s.share = calloc(s.n_shares + 1, sizeof(*s.share));
	s.place = calloc(s.n_shares * s.n_buckets, sizeof(*s.place));
	s.start = calloc(s.n_buckets + 1, sizeof(*s.start));
	r = sort(&s, threads);
	free(s.share);
	free(s.place);
	free(s.start);
	if (r < 0) {
		free(s.out);
		return r;
	}
	*ret = s.out;
	*n_ret = s.total;
	return 0;
}
