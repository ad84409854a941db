/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A row is put together from several readings, and a page may become another
 * one between them. What no page can be is read again.
 */
#include <errno.h>
#include <stdlib.h>

#include "kernel/page/kpf.h"
#include "query/moment.h"
#include "schema/page_bytes.h"

#define F(name) PAGEDET_FIELD_##name

/* What changes faster than it is read is left after so many readings. */
#define TRIES 6
/* What a row says as often again, it does not say by chance. */
#define PROOF 2

/* What of a row can contradict the rest, or be contradicted. */
static const uint8_t states[] = {
	F(KIND), F(FLAGS), F(MAPCOUNT), F(REFCOUNT), F(MEMCG_INO),
};

bool pdet_moment_is_odd(const struct pdet_batch *b, uint32_t row)
{
	/* A kind that is not known contradicts nothing. */
	const uint64_t kind = pdet_batch_get(b, row, F(KIND),
					     PAGEDET_KIND_FREE);
	uint64_t flags = pdet_batch_get(b, row, F(FLAGS), 0);

	if (kind == PAGEDET_KIND_FREE &&
	    pdet_batch_state(b, row, F(KIND)) == PAGEDET_HAVE)
		flags |= KPF(BUDDY);
	return pdet_kpf_is_odd(flags) ||
	       (flags & KPF(BUDDY) &&
		(kind != PAGEDET_KIND_FREE ||
		 (int64_t)pdet_batch_get(b, row, F(MAPCOUNT), 0) > 0 ||
		 pdet_batch_get(b, row, F(MEMCG_INO), 0)));
}

static bool has(const struct pdet_batch *b, uint32_t row, unsigned field)
{
	return pdet_batch_state(b, row, field) == PAGEDET_HAVE;
}

/* The references that the caches and the filesystem of a page have. */
static uint64_t held_by_caches(const struct pdet_batch *b, uint32_t row,
			       uint64_t flags)
{
	const uint64_t kind = pdet_batch_get(b, row, F(KIND), 0);

	return (kind != PAGEDET_KIND_ANON || flags & KPF(SWAPCACHE)) +
	       !!(flags & KPF(PRIVATE));
}

/*
 * A mapping is a reference. If the counts of a small page of a task are from
 * two sources, it may have been mapped in between; or something else holds it.
 */
static bool is_uneven(const struct pdet_batch *b, uint32_t row)
{
	const uint64_t kind = pdet_batch_get(b, row, F(KIND), 0);
	const uint64_t flags = pdet_batch_get(b, row, F(FLAGS), 0);
	const uint64_t maps = pdet_batch_get(b, row, F(MAPCOUNT), 0);
	const uint64_t refs = pdet_batch_get(b, row, F(REFCOUNT), 0);

	if (!b->value[F(REFCOUNT)] || !b->value[F(MAPCOUNT)] ||
	    !has(b, row, F(REFCOUNT)) || !has(b, row, F(MAPCOUNT)) ||
	    b->cell[F(REFCOUNT)][row] == b->cell[F(MAPCOUNT)][row] ||
	    !has(b, row, F(FLAGS)) ||
	    flags & (KPF(COMPOUND_HEAD) | KPF(COMPOUND_TAIL) | KPF(HUGE)) ||
	    (kind != PAGEDET_KIND_ANON && kind != PAGEDET_KIND_FILE &&
	     kind != PAGEDET_KIND_SHMEM))
		return false;
	return refs < maps || refs - maps > held_by_caches(b, row, flags);
}

/* Whether it must be read again. */
static bool is_doubtful(const struct pdet_batch *b, uint32_t row)
{
	return pdet_moment_is_odd(b, row) || is_uneven(b, row);
}

void pdet_moment_drop_bytes(struct pdet_batch *b, uint32_t row)
{
	static const uint8_t fields[] = { F(CONTENT), F(HASH), F(ENTROPY) };
	unsigned i, f;

	pdet_page_bytes_drop(b->bytes, row);
	for (i = 0; i < PDET_COUNT(fields); i++) {
		f = fields[i];
		if (pdet_batch_state(b, row, f) == PAGEDET_HAVE)
			pdet_put_lost(b, row, f, PAGEDET_RACED,
				      b->cell[f][row] >> 8);
	}
}

/* The page of one frame, which somebody can be asked about. */
static bool can_be_read(const struct pdet_batch *b, uint32_t row)
{
	return pdet_batch_state(b, row, F(PFN)) == PAGEDET_HAVE &&
	       pdet_batch_get(b, row, F(PAGES), 1) == 1 &&
	       pdet_batch_get(b, row, F(AT), 0) != PAGEDET_AT_LOG;
}

static bool room(struct pdet_again *a, const struct pdet_batch *b,
		 const struct pdet_iter *it)
{
	if (!a->row)
		a->row = malloc(b->cap * sizeof(*a->row));
	if (!a->same)
		a->same = malloc(b->cap);
	return a->row && a->same &&
	       (a->batch.memory ||
		pdet_batch_init(&a->batch, &it->plan.columns, b->cap,
				it->q.string_bytes));
}

void pdet_again_free(struct pdet_again *a)
{
	pdet_batch_free(&a->batch);
	free(a->row);
	free(a->same);
}

static bool has_bits(const struct pdet_batch *b, uint32_t row, uint64_t bits)
{
	return pdet_batch_get(b, row, F(FLAGS), 0) & bits;
}

/* The first odd row from @row on; b->n: none is. */
static uint32_t next_odd(const struct pdet_batch *b, uint32_t row)
{
	for (; row < b->n; row++)
		/* most rows are neither */
		if ((((has_bits(b, row, KPF(BUDDY) | KPF(SLAB)) ||
		       pdet_batch_get(b, row, F(KIND), 0) ==
		       PAGEDET_KIND_FREE) && pdet_moment_is_odd(b, row)) ||
		     is_uneven(b, row)) && can_be_read(b, row))
			break;
	return row;
}

/* How many rows are odd; a->row has them. */
static uint32_t list_odd(struct pdet_again *a, const struct pdet_batch *b,
			 uint32_t row)
{
	uint32_t n = 0;

	for (; row < b->n; row = next_odd(b, row + 1)) {
		a->same[n] = 0;
		a->row[n++] = row;
	}
	return n;
}

/* All that sources say of a page, but its bytes, and what takes a walk of its
 * own. */
static struct pdet_fields readable(const struct pdet_plan *plan)
{
	struct pdet_fields fields = { { 0, 0 } };
	unsigned i;

	for (i = 0; i < plan->n_steps; i++)
		pdet_fields_join(&fields, &plan->steps[i].fields);
	pdet_fields_remove(&fields, F(USER_MAPS));
	pdet_fields_remove(&fields, F(KERNEL_MAPS));
	pdet_fields_remove(&fields, F(CONTENT));
	pdet_fields_remove(&fields, F(HASH));
	pdet_fields_remove(&fields, F(ENTROPY));
	fields.bits[0] &= plan->columns.bits[0];
	fields.bits[1] &= plan->columns.bits[1];
	return fields;
}

/* A kind that the walk knew is not what follows from the flags. */
static bool is_of_walk(const struct pdet_batch *b, uint32_t row)
{
	const uint64_t kind = pdet_batch_get(b, row, F(KIND),
					     PAGEDET_KIND_FREE);

	return kind != PAGEDET_KIND_FREE &&
	       kind != pdet_kpf_kind(pdet_batch_get(b, row, F(FLAGS), 0));
}

/* The first @n of the list, into a batch of their own. */
static int read_again(struct pdet_worker *k, const struct pdet_batch *b,
		      const struct pdet_fields *fields, uint32_t n)
{
	struct pdet_batch *sub = &k->again.batch;
	unsigned f;
	uint32_t i;

	pdet_batch_clear(sub, 1);
	pdet_batch_grow(sub, n);
	for (i = 0; i < n; i++) {
		pdet_batch_copy_row(sub, i, b, k->again.row[i]);
		pdet_fields_for(f, fields)
			if (f != F(KIND) || !is_of_walk(b, k->again.row[i]))
				sub->cell[f][i] = PAGEDET_NOT_ASKED;
	}
	return pdet_chain_fill(k, sub, fields);
}

/* A source may say nothing more than when the row was made. */
static bool is_said(const struct pdet_batch *b, uint32_t row, unsigned field)
{
	return pdet_batch_state(b, row, field) != PAGEDET_NOT_ASKED;
}

static bool is_same(const struct pdet_batch *a, uint32_t row,
		    const struct pdet_batch *b, uint32_t at)
{
	unsigned i, f;

	for (i = 0; i < PDET_COUNT(states); i++) {
		f = states[i];
		if (is_said(b, at, f) && (a->cell[f][row] != b->cell[f][at] ||
					  a->value[f][row] != b->value[f][at]))
			return false;
	}
	return true;
}

/* Takes what was read of the first @n of the list; how many of them are not
 * settled, which the list has now. */
static uint32_t take(struct pdet_again *a, struct pdet_batch *b,
		     const struct pdet_fields *fields, uint32_t n)
{
	uint32_t i, row, left = 0;
	uint8_t same;
	unsigned f;

	for (i = 0; i < n; i++) {
		row = a->row[i];
		same = is_same(b, row, &a->batch, i) ? a->same[i] + 1 : 0;
		if (!same)
			pdet_moment_drop_bytes(b, row);
		pdet_fields_for(f, fields)
			if (is_said(&a->batch, i, f))
				pdet_batch_copy_cell(b, row, &a->batch, i, f);
		pdet_chain_take_notes(b, row, &a->batch, i);
		if (!is_doubtful(b, row) || same == PROOF)
			continue;
		a->row[left] = row;
		a->same[left++] = same;
	}
	return left;
}

int pdet_moment_again(struct pdet_worker *k, struct pdet_batch *b)
{
	struct pdet_again *a = &k->again;
	struct pdet_fields fields;
	uint32_t first, n, i;
	int r, tries;

	if (!b->value[F(FLAGS)] && !b->value[F(KIND)])
		return 0;
	first = next_odd(b, 0);
	if (first == b->n)
		return 0;
	if (!room(a, b, k->it))
		return -ENOMEM;
	n = list_odd(a, b, first);
	fields = readable(&k->it->plan);
	for (tries = 0; n && tries < TRIES; tries++) {
		r = read_again(k, b, &fields, n);
		if (r < 0)
			return r;
		n = take(a, b, &fields, n);
	}
	for (i = 0; i < n; i++)
		pdet_put_note(b, a->row[i], PAGEDET_NOTE_TORN);
	/* notes that are shown are counted when all are there */
	if (!b->value[F(NOTES)])
		k->cover.torn += n;
	return 1;
}
