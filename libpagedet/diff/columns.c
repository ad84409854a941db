/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares columns of two batches. Most of memory stays unchanged, so only rows
 * that may differ are compared one by one.
 */
#include <string.h>

#include "diff/diff.h"

#define DIFFERS 1
#define UNDECIDED 2

/* A column of both sides, starting with the first row to compare. */
struct pair {
	unsigned f;
	const uint64_t *a, *b;	/* values */
	const uint16_t *x, *y;	/* cells */
	uint32_t n;
};

/* Whether all cells, or values, equal the first one. */
static bool all_cells(const uint16_t *cell, uint32_t n)
{
	return n == 1 || !memcmp(cell, cell + 1, (n - 1) * sizeof(*cell));
}

static bool all_values(const uint64_t *value, uint32_t n)
{
	return n == 1 || !memcmp(value, value + 1, (n - 1) * sizeof(*value));
}

/* The common state of all cells, or -1. */
static int state_of(const uint16_t *cell, uint32_t n)
{
	const unsigned first = cell[0] & 0xff;
	unsigned other = 0;
	uint32_t i;

	if (all_cells(cell, n))
		return (int)first;
	for (i = 0; i < n; i++)
		other |= cell[i] ^ first;
	return other & 0xff ? -1 : (int)first;
}

static bool is_answer(int state)
{
	return state == PAGEDET_HAVE || state == PAGEDET_NONE;
}

static void mark_all(uint8_t *mark, uint32_t n, unsigned bit)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		mark[i] |= (uint8_t)bit;
}

void pdet_diff_count(struct pagedet_diff_totals *t, unsigned f,
		     uint32_t undecided, uint32_t n, unsigned why)
{
	t->undecided_in[f] += undecided;
	if (undecided && !t->why[f])
		t->why[f] = why;
	if (undecided < n)
		t->decided[f / 64] |= (uint64_t)1 << f % 64;
}

unsigned pdet_diff_reason(unsigned was, unsigned now)
{
	const unsigned a = was & 0xff, b = now & 0xff;

	return pdet_is_reason(a) ? a : pdet_is_reason(b) ? b :
				       PAGEDET_UNSUPPORTED;
}

/* Compares row by row, as diff/row.c does. */
static void mark_slowly(struct pdet_diff *d, unsigned f,
			struct pdet_diff_row was, struct pdet_diff_row now,
			uint32_t n, uint8_t *mark)
{
	const uint32_t first = was.at;
	uint32_t i, lost = 0;
	unsigned why = 0;

	for (i = 0; i < n; i++, was.at++, now.at++) {
		const int differ = pdet_diff_field(d, f, was, now);

		if (differ < 0 && !lost++)
			why = pdet_diff_reason(was.b->cell[f][first + i],
					       now.b->cell[f][now.at]);
		mark[i] |= differ > 0 ? DIFFERS : differ < 0 ? UNDECIDED : 0;
	}
	pdet_diff_count(&d->totals, f, lost, n, why);
}

static void mark_values(const struct pair *p, uint8_t *mark)
{
	uint32_t i;

	if (!memcmp(p->a, p->b, p->n * sizeof(*p->a)))
		return;
	for (i = 0; i < p->n; i++)
		mark[i] |= p->a[i] != p->b[i] ? DIFFERS : 0;
}

/* Whether one mask of known bits applies to all rows. */
static bool same_known(const struct pdet_batch *b, uint32_t at, uint32_t n,
		       unsigned f, uint64_t *ret)
{
	const unsigned k = pdet_known_field(f);

	*ret = UINT64_MAX;
	if (k == f || !pdet_batch_has(b, k))
		return true;
	*ret = b->value[k][at];
	return all_values(b->value[k] + at, n) &&
	       state_of(b->cell[k] + at, n) == PAGEDET_HAVE;
}

static void mark_mask(const struct pair *p, uint64_t both, uint8_t *mark)
{
	uint32_t i;

	if (!memcmp(p->a, p->b, p->n * sizeof(*p->a)))
		return;
	for (i = 0; i < p->n; i++)
		mark[i] |= (p->a[i] ^ p->b[i]) & both ? DIFFERS : 0;
}

/* Text is compared only if its id differs from the id in the row before. */
static bool mark_texts(const struct pair *p, const struct pdet_strtab *a,
		       const struct pdet_strtab *b, uint8_t *mark)
{
	uint64_t x = 0, y = 0;
	bool differ = false;
	uint32_t i;

	for (i = 0; i < p->n; i++) {
		if (p->a[i] != x || p->b[i] != y) {
			const char *s, *t;

			x = p->a[i];
			y = p->b[i];
			s = pdet_strtab_get(a, x, NULL);
			t = pdet_strtab_get(b, y, NULL);
			if (!s || !t)
				return false;
			differ = strcmp(s, t) != 0;
		}
		mark[i] |= differ ? DIFFERS : 0;
	}
	return true;
}

/* Equal kinds are equal, but two different kinds may be names of one thing. */
static uint32_t mark_kinds(struct pdet_diff *d, const struct pair *p,
			   struct pdet_diff_row was, struct pdet_diff_row now,
			   uint8_t *mark)
{
	uint32_t i, lost = 0;

	if (!memcmp(p->a, p->b, p->n * sizeof(*p->a)))
		return 0;
	for (i = 0; i < p->n; i++, was.at++, now.at++) {
		if (p->a[i] == p->b[i])
			continue;
		if (pdet_diff_field(d, p->f, was, now) > 0) {
			mark[i] |= DIFFERS;
		} else {
			mark[i] |= UNDECIDED;
			lost++;
		}
	}
	return lost;
}

/*
 * Compares a column that has an answer in all rows of both sides. Returns false
 * if each row must be compared by itself. *@lost gets the number of rows that
 * cannot be compared at all.
 */
static bool mark_answered(struct pdet_diff *d, const struct pair *p,
			  struct pdet_diff_row was, struct pdet_diff_row now,
			  uint8_t *mark, uint32_t *lost)
{
	uint64_t known[2];

	*lost = 0;
	switch (pdet_field_info(p->f)->type) {
	case PAGEDET_TYPE_STRING:
	case PAGEDET_TYPE_LIST:
		return mark_texts(p, &was.b->strings, &now.b->strings, mark);
	case PAGEDET_TYPE_MASK:
		if (!same_known(was.b, was.at, p->n, p->f, &known[0]) ||
		    !same_known(now.b, now.at, p->n, p->f, &known[1]) ||
		    !(known[0] & known[1]))
			return false;
		mark_mask(p, known[0] & known[1], mark);
		return true;
	case PAGEDET_TYPE_ENUM:
		*lost = mark_kinds(d, p, was, now, mark);
		return true;
	default:
		mark_values(p, mark);
		return true;
	}
}

/* Whether all counts have the same meaning on both sides. */
static bool same_counts(const struct pdet_diff *d, const struct pair *p,
			struct pdet_diff_row was, struct pdet_diff_row now)
{
	uint32_t i;

	for (i = 0; i < p->n; i++, was.at++, now.at++)
		if ((p->x[i] & 0xff) == PAGEDET_HAVE &&
		    (p->y[i] & 0xff) == PAGEDET_HAVE &&
		    !pdet_diff_counts(d, was, now))
			return false;
	return true;
}

/*
 * Whether values can be compared directly, within the bits of *@both. This is
 * also for columns that have an answer only in some rows.
 */
static bool is_plain(const struct pdet_diff *d, const struct pair *p,
		     struct pdet_diff_row was, struct pdet_diff_row now,
		     uint64_t *both)
{
	const unsigned type = pdet_field_info(p->f)->type;
	uint64_t known[2];

	*both = UINT64_MAX;
	if (p->f == PAGEDET_FIELD_MAPCOUNT)
		return same_counts(d, p, was, now);
	if (type == PAGEDET_TYPE_MASK) {
		if (!same_known(was.b, was.at, p->n, p->f, &known[0]) ||
		    !same_known(now.b, now.at, p->n, p->f, &known[1]))
			return false;
		*both = known[0] & known[1];
		return *both != 0;
	}
	return p->f != PAGEDET_FIELD_KIND && type != PAGEDET_TYPE_STRING &&
	       type != PAGEDET_TYPE_LIST;
}

/* As mark_slowly(), for such values. */
static void mark_plain(struct pdet_diff *d, const struct pair *p,
		       uint64_t both, uint8_t *mark)
{
	uint32_t i, lost = 0;
	unsigned why = 0;

	for (i = 0; i < p->n; i++) {
		const unsigned x = p->x[i] & 0xff, y = p->y[i] & 0xff;

		if (x == PAGEDET_HAVE && y == PAGEDET_HAVE) {
			mark[i] |= (p->a[i] ^ p->b[i]) & both ? DIFFERS : 0;
		} else if (is_answer((int)x) && is_answer((int)y)) {
			mark[i] |= x != y ? DIFFERS : 0;
		} else {
			if (!lost++)
				why = pdet_diff_reason(x, y);
			mark[i] |= UNDECIDED;
		}
	}
	pdet_diff_count(&d->totals, p->f, lost, p->n, why);
}

static void mark_column(struct pdet_diff *d, unsigned f,
			struct pdet_diff_row was, struct pdet_diff_row now,
			uint32_t n, uint8_t *mark)
{
	const struct pair p = {
		f, was.b->value[f] + was.at, now.b->value[f] + now.at,
		was.b->cell[f] + was.at, now.b->cell[f] + now.at, n
	};
	const int x = state_of(p.x, n), y = state_of(p.y, n);
	uint64_t both;
	uint32_t lost;

	if (x == PAGEDET_HAVE && y == PAGEDET_HAVE &&
	    (f != PAGEDET_FIELD_MAPCOUNT || same_counts(d, &p, was, now)) &&
	    mark_answered(d, &p, was, now, mark, &lost)) {
		pdet_diff_count(&d->totals, f, lost, n, PAGEDET_UNSUPPORTED);
	} else if (x == PAGEDET_NONE && y == PAGEDET_NONE) {
		pdet_diff_count(&d->totals, f, 0, n, 0);
	} else if ((x >= 0 && !is_answer(x)) || (y >= 0 && !is_answer(y))) {
		mark_all(mark, n, UNDECIDED);
		pdet_diff_count(&d->totals, f, n, n,
				pdet_diff_reason(p.x[0], p.y[0]));
	} else if (is_plain(d, &p, was, now, &both)) {
		mark_plain(d, &p, both, mark);
	} else {
		mark_slowly(d, f, was, now, n, mark);
	}
}

void pdet_diff_mark(struct pdet_diff *d, struct pdet_diff_row was,
		    struct pdet_diff_row now, uint32_t n, uint8_t *mark)
{
	unsigned f;

	memset(mark, 0, n);
	pdet_fields_for(f, &d->never) {
		mark_all(mark, n, UNDECIDED);
		pdet_diff_count(&d->totals, f, n, n, d->never_why[f]);
	}
	pdet_fields_for(f, &d->compare)
		mark_column(d, f, was, now, n, mark);
}
