/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decides whether a page that is gone and a page that appeared are the same.
 * Pages of files are matched by their place in the file, anonymous memory by
 * its bytes, and addresses by their frame. Only pairs without another candidate
 * are joined.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff.h"

#define F(name) PAGEDET_FIELD_##name
#define CHUNK 1024

/* Identifies a held page. */
struct candidate {
	struct pdet_place is;	/* a: the kind of sign; b, c: the sign */
	uint64_t more;
	size_t held;
	bool appeared;
};

enum sign { BY_FILE = 1, BY_HASH = 2, BY_FRAME = 3 };

struct pdet_diff_row pdet_diff_held_row(const struct pdet_diff *d, size_t i,
					unsigned side)
{
	const struct pdet_diff_row row = {
		&d->chunks.data[i / CHUNK][side], (uint32_t)(i % CHUNK)
	};

	return row;
}

static bool add_chunk(struct pdet_diff *d)
{
	struct pdet_batch (*pair)[2];

	if (!pdet_vec_reserve(&d->chunks, 1))
		return false;
	pair = &d->chunks.data[d->chunks.n];
	if (!pdet_batch_init(&(*pair)[0], &d->columns, CHUNK, SIZE_MAX / 2))
		return false;
	if (!pdet_batch_init(&(*pair)[1], &d->columns, CHUNK, SIZE_MAX / 2)) {
		pdet_batch_free(&(*pair)[0]);
		return false;
	}
	d->chunks.n++;
	return true;
}

static void keep_row(struct pdet_batch *to, struct pdet_diff_row row)
{
	const int64_t at = pdet_batch_grow(to, 1);

	if (row.b)
		pdet_batch_copy_row(to, (uint32_t)at, row.b, row.at);
}

bool pdet_diff_hold(struct pdet_diff *d, const struct pagedet_change *change,
		    struct pdet_diff_row was, struct pdet_diff_row now)
{
	struct pdet_batch *pair;

	if (!d->join || !(change->changes & (PDET_CHANGE(APPEARED) |
					     PDET_CHANGE(GONE))))
		return false;
	if (d->held.n == d->max_held ||
	    (d->held.n == d->chunks.n * CHUNK && !add_chunk(d)) ||
	    !pdet_vec_push(&d->held, *change)) {
		d->totals.spilled++;
		return false;
	}
	pair = d->chunks.data[d->chunks.n - 1];
	keep_row(&pair[0], was);
	keep_row(&pair[1], now);
	return true;
}

static bool have(struct pdet_diff_row r, unsigned f)
{
	return pdet_batch_has(r.b, f) &&
	       pdet_batch_state(r.b, r.at, f) == PAGEDET_HAVE;
}

static bool compares(const struct pdet_diff *d, unsigned f)
{
	return pdet_fields_has(&d->compare, f);
}

/* If many pages have the same bytes, the bytes do not identify a page. */
static bool is_zero(struct pdet_diff_row r)
{
	const char *text;

	if (!have(r, F(CONTENT)))
		return true;
	text = pdet_strtab_get(&r.b->strings, r.b->value[F(CONTENT)][r.at],
			       NULL);
	return !text || !strcmp(text, "zero");
}

/*
 * Many files may have the same bytes, so a page of a file is identified by its
 * place.
 */
static bool is_of_file(struct pdet_diff_row r)
{
	if (have(r, F(INODE)) || !have(r, F(KIND)))
		return true;
	switch (r.b->value[F(KIND)][r.at]) {
	case PAGEDET_KIND_FILE: case PAGEDET_KIND_SHMEM:
	case PAGEDET_KIND_HUGETLB:
		return true;
	default:
		return false;
	}
}

static bool sign_of(const struct pdet_diff *d, struct pdet_diff_row r,
		    struct candidate *c)
{
	const uint64_t *const *value = (const uint64_t *const *)r.b->value;

	memset(&c->is, 0, sizeof(c->is));
	c->more = 0;
	if (d->by == PAGEDET_DIFF_BY_ADDRESS) {
		c->is.a = BY_FRAME;
		c->is.b = have(r, F(PFN)) ? value[F(PFN)][r.at] : 0;
		return have(r, F(PFN));
	}
	if (compares(d, F(DEV)) && compares(d, F(INODE)) &&
	    compares(d, F(INDEX)) && have(r, F(DEV)) && have(r, F(INODE)) &&
	    have(r, F(INDEX))) {
		c->is.a = BY_FILE;
		c->is.b = value[F(DEV)][r.at];
		c->is.c = value[F(INODE)][r.at];
		c->more = value[F(INDEX)][r.at];
		return true;
	}
	if (!d->by_hash || !have(r, F(HASH)) || is_zero(r) || is_of_file(r))
		return false;
	c->is.a = BY_HASH;
	c->is.b = value[F(HASH)][r.at];
	c->is.c = value[F(KIND)][r.at];
	return true;
}

static int by_sign(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	const int order = pdet_place_cmp(&x->is, &y->is);

	if (order)
		return order;
	if (x->more != y->more)
		return x->more < y->more ? -1 : 1;
	return x->held < y->held ? -1 : x->held > y->held;
}

static bool same_sign(const struct candidate *x, const struct candidate *y)
{
	return !pdet_place_cmp(&x->is, &y->is) && x->more == y->more;
}

/*
 * Joins a page that is gone with one that appeared if no other page has the
 * same sign. All pages must have been seen to know that.
 */
static bool belong(struct pdet_diff *d, const struct candidate *c, size_t n)
{
	if (n != 2 || c[0].appeared == c[1].appeared)
		return false;
	return c->is.a == BY_FILE ||
	       (d->told_apart && !d->error &&
		pdet_seen_single(&d->side[0].seen, c->is.b) &&
		pdet_seen_single(&d->side[1].seen, c->is.b));
}

/*
 * A frame at another address may hold another page now. But a page of a file
 * stays the same page, whatever its bytes are.
 */
static bool contradict(const struct pdet_diff *d, const struct candidate *c)
{
	const struct candidate *gone = &c[c[0].appeared];
	const struct candidate *here = &c[c[1].appeared];
	const struct pdet_diff_row was = pdet_diff_held_row(d, gone->held, 0);
	const struct pdet_diff_row now = pdet_diff_held_row(d, here->held, 1);

	return gone->is.a != BY_FILE &&
	       ((compares(d, F(HASH)) &&
		 pdet_diff_field(d, F(HASH), was, now) == 1) ||
		(compares(d, F(KIND)) &&
		 pdet_diff_field(d, F(KIND), was, now) == 1));
}

int pdet_diff_pair(struct pdet_diff *d)
{
	struct { struct candidate *data; size_t n, cap; } list = { 0 };
	struct candidate c;
	size_t i, end;

	d->mate = calloc(d->held.n, sizeof(*d->mate));
	if (!d->mate)
		return -ENOMEM;
	for (i = 0; i < d->held.n; i++) {
		c.appeared = d->held.data[i].change == PAGEDET_CHANGE_APPEARED;
		c.held = i;
		if (sign_of(d, pdet_diff_held_row(d, i, c.appeared), &c) &&
		    !pdet_vec_push(&list, c)) {
			pdet_vec_free(&list);
			free(d->mate);
			d->mate = NULL;
			return -ENOMEM;
		}
	}
	if (list.n)
		qsort(list.data, list.n, sizeof(*list.data), by_sign);
	for (i = 0; i < list.n; i = end) {
		const struct candidate *group = &list.data[i];

		end = i + 1;
		while (end < list.n && same_sign(group, &list.data[end]))
			end++;
		if (end - i == 1)
			continue;
		if (!belong(d, group, end - i) || contradict(d, group)) {
			d->totals.ambiguous += end - i;
			continue;
		}
		d->mate[group[0].held] = group[1].held + 1;
		d->mate[group[1].held] = group[0].held + 1;
	}
	pdet_vec_free(&list);
	return 0;
}

void pdet_diff_join_free(struct pdet_diff *d)
{
	size_t i;

	for (i = 0; i < d->chunks.n; i++) {
		pdet_batch_free(&d->chunks.data[i][0]);
		pdet_batch_free(&d->chunks.data[i][1]);
	}
	pdet_vec_free(&d->chunks);
	pdet_vec_free(&d->held);
	free(d->mate);
}
