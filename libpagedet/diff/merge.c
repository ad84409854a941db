/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Merges two sides by place, and delivers held pages at the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diff/alike.h"
#include "diff/diff.h"

/* Rows whose columns are compared together, so that they stay in the cache. */
#define CHUNK_ROWS 4096
#define OUT_ROWS (2 * CHUNK_ROWS)

#define DEFAULT_HELD ((uint64_t)1 << 18)
#define DEFAULT_ROWS ((uint64_t)1 << 22)

/* --- the output --- */

static void copy_out(struct pdet_batch *to, struct pdet_diff_row row)
{
	const int64_t at = pdet_batch_grow(to, 1);

	if (row.b)
		pdet_batch_copy_row(to, (uint32_t)at, row.b, row.at);
}

static void say(struct pdet_diff *d, const struct pagedet_change *c,
		struct pdet_diff_row was, struct pdet_diff_row now)
{
	struct pagedet_change *out = &d->out.change[d->out.n];
	uint32_t changes = c->changes;
	unsigned i;

	d->totals.first[c->change]++;
	for (; changes; changes &= changes - 1)
		d->totals.changes[__builtin_ctz(changes)]++;
	if (pdet_diff_joins(d, c, was, now)) {
		out[-1].changes |= c->changes;
		for (i = 0; i < 2; i++)
			out[-1].undecided[i] |= c->undecided[i];
		out[-1].pages++;
		return;
	}
	d->totals.events[c->change]++;
	copy_out(&d->out.rows[0], was);
	copy_out(&d->out.rows[1], now);
	*out = *c;
	out->pages = 1;
	d->out.n++;
}

/* The last change waits for the next step, because more pages may join it. */
static void keep_last(struct pdet_diff *d)
{
	unsigned i;

	d->keeps = d->last.change && d->out.n > 1 &&
		   (!d->merged || d->drained < d->held.n);
	if (!d->keeps)
		return;
	d->kept = d->out.change[--d->out.n];
	for (i = 0; i < 2; i++) {
		pdet_batch_clear(&d->kept_row[i], 0);
		copy_out(&d->kept_row[i],
			 (struct pdet_diff_row){ &d->out.rows[i], d->out.n });
	}
}

/* Ids of texts must not be reused. */
static void begin_out(struct pdet_diff *d)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct pdet_batch *rows = &d->out.rows[i];

		pdet_batch_clear(rows, pdet_strtab_next(&rows->strings));
		if (d->keeps)
			copy_out(rows, (struct pdet_diff_row){
				 &d->kept_row[i], 0 });
	}
	d->out.change[0] = d->kept;
	d->out.n = d->keeps;
	if (!d->keeps)
		d->last.change = 0;
	d->keeps = false;
}

static void take(struct pdet_diff *d, const struct pagedet_change *c,
		 struct pdet_diff_row was, struct pdet_diff_row now)
{
	if (!pdet_diff_hold(d, c, was, now))
		say(d, c, was, now);
}

/* --- both sides, one place --- */

static void tell_same(struct pdet_diff *d, struct pdet_diff_row row)
{
	if (d->same && pdet_batch_get(row.b, row.at, PAGEDET_FIELD_KIND,
				      PAGEDET_KIND_UNKNOWN) !=
			       PAGEDET_KIND_HOLE)
		d->same(d->same_arg, row.b->value[PAGEDET_FIELD_PFN][row.at],
			1);
}

static void one_place(struct pdet_diff *d, struct pdet_diff_row was,
		      struct pdet_diff_row now, uint8_t mark)
{
	struct pagedet_change c;

	memset(&c, 0, sizeof(c));
	if (mark & 1)
		pdet_diff_compare(d, was, now, 0, &c);
	if (c.changes) {
		take(d, &c, was, now);
		return;
	}
	d->totals.same += !(mark & 2);
	d->totals.undecided += mark >> 1 & 1;
	tell_same(d, now);
}

/* Compares @n places that both sides have. */
static void compare_rows(struct pdet_diff *d, uint32_t n)
{
	struct pdet_diff_row was = { d->side[0].b, d->side[0].at };
	struct pdet_diff_row now = { d->side[1].b, d->side[1].at };
	static const uint8_t none[8];
	uint8_t mark[CHUNK_ROWS];
	uint32_t i, plain[2] = { 0, 0 };

	pdet_diff_mark(d, was, now, n, mark);
	d->totals.compared += n;
	for (i = 0; i < n; i++) {
		/* Tests eight rows at a time, because most have no mark. */
		if (i + sizeof(none) <= n && !d->same &&
		    !memcmp(mark + i, none, sizeof(none))) {
			plain[0] += sizeof(none);
			i += sizeof(none) - 1;
			continue;
		}
		if (!(mark[i] & 1) && !d->same) {
			plain[mark[i] >> 1]++;
			continue;
		}
		was.at = d->side[0].at + i;
		now.at = d->side[1].at + i;
		one_place(d, was, now, mark[i]);
	}
	d->totals.same += plain[0];
	d->totals.undecided += plain[1];
}

/* Handles a row that the other side lacks. */
static void one_sided(struct pdet_diff *d, unsigned side)
{
	struct pdet_diff_row row[2] = { { NULL, 0 }, { NULL, 0 } };
	struct pagedet_change c;

	row[side].b = d->side[side].b;
	row[side].at = d->side[side].at;
	pdet_diff_compare(d, row[0], row[1], 0, &c);
	if (c.changes) {
		take(d, &c, row[0], row[1]);
		return;
	}
	tell_same(d, row[side]);
	if (d->told_apart && pdet_diff_there(d, row[side]) == PDET_THERE_NO)
		d->totals.same++;
	else
		d->totals.unmatched++;
}

/* --- the merge --- */

/* The number of rows with consecutive frames, counted from the current one. */
static uint32_t series(const struct pdet_diff_side *s, uint32_t most)
{
	const uint64_t *pfn = s->b->value[PAGEDET_FIELD_PFN] + s->at;
	uint32_t low = 1, high = PDET_MIN(s->b->n - s->at, most);

	/*
	 * Frames ascend: if frame i is the first one plus i, there is no gap.
	 */
	while (low < high) {
		const uint32_t mid = high - (high - low) / 2;

		if (pfn[mid - 1] - pfn[0] == mid - 1)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

static int order_of(const struct pdet_diff *d)
{
	const struct pdet_diff_side *a = &d->side[0], *b = &d->side[1];
	struct pdet_place x = { 0, 0, 0 }, y = { 0, 0, 0 };

	if (a->ended || b->ended)
		return a->ended ? 1 : -1;
	x.a = a->gathered ? a->place.a :
			    a->b->value[PAGEDET_FIELD_PFN][a->at];
	y.a = b->gathered ? b->place.a :
			    b->b->value[PAGEDET_FIELD_PFN][b->at];
	if (a->gathered && b->gathered) {
		x = a->place;
		y = b->place;
	}
	return pdet_place_cmp(&x, &y);
}

/* A side may lack what it could not see. */
static void check_cover(struct pdet_diff *d)
{
	if (!d->side[0].partial && !d->side[1].partial)
		return;
	d->told_apart = false;
	d->notes |= PAGEDET_DIFF_PARTIAL;
}

/*
 * Gets the next rows of both sides. Returns 1, 0 at the end, or negative errno.
 */
static int more_rows(struct pdet_diff *d)
{
	int more = 0, r;
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct pdet_diff_side *s = &d->side[i];

		/* A gathered row stays current until it is used. */
		r = s->gathered && s->b ? 1 : pdet_side_next(s);
		if (r < 0)
			return r;
		more |= r;
	}
	check_cover(d);
	return more;
}

static void pass(struct pdet_diff_side *s, uint32_t n)
{
	s->at += n;
	if (s->gathered)
		s->b = NULL;
}

/*
 * A side has failed. Held pages are delivered first, and their caller must not
 * find an error text.
 */
static void keep_words(struct pdet_diff *d)
{
	unsigned i;

	for (i = 0; i < 2; i++)
		if (!d->words.error[0])
			pdet_take_words(&d->words, d->side[i].it->env);
}

static int merge(struct pdet_diff *d)
{
	struct pdet_diff_side *a = &d->side[0], *b = &d->side[1];
	uint32_t n;
	int order, r;

	while (d->out.n <= OUT_ROWS - CHUNK_ROWS) {
		r = more_rows(d);
		if (r <= 0)
			return r;
		order = order_of(d);
		if (order) {
			one_sided(d, order > 0);
			pass(order > 0 ? b : a, 1);
			continue;
		}
		n = 1;
		if (!a->gathered && !b->gathered) {
			n = series(a, CHUNK_ROWS);
			n = series(b, n);
		}
		compare_rows(d, n);
		pass(a, n);
		pass(b, n);
	}
	return 1;
}

/* --- held pages --- */

static void say_pair(struct pdet_diff *d, size_t gone, size_t here)
{
	const struct pdet_diff_row was = pdet_diff_held_row(d, gone, 0);
	const struct pdet_diff_row now = pdet_diff_held_row(d, here, 1);
	const unsigned f = d->by == PAGEDET_DIFF_BY_PFN ? PAGEDET_FIELD_PFN :
							  PAGEDET_FIELD_VADDR;
	const bool file = d->by == PAGEDET_DIFF_BY_PFN &&
		pdet_batch_has(was.b, PAGEDET_FIELD_INODE) &&
		pdet_batch_state(was.b, was.at, PAGEDET_FIELD_INODE) ==
			PAGEDET_HAVE;
	struct pagedet_change c;

	pdet_diff_compare(d, was, now, file ? PDET_CHANGE(MIGRATED) :
					      PDET_CHANGE(MOVED), &c);
	c.fields[f / 64] |= (uint64_t)1 << f % 64;
	say(d, &c, was, now);
}

static int drain(struct pdet_diff *d)
{
	struct pdet_diff_row row[2];
	size_t i, mate;
	unsigned side;
	bool here;

	if (d->held.n && !d->mate && pdet_diff_pair(d) < 0)
		return pdet_fail(d->env, ENOMEM, "cannot compare: no memory");
	for (; d->drained < d->held.n && d->out.n < OUT_ROWS; d->drained++) {
		i = d->drained;
		mate = d->mate[i];
		here = d->held.data[i].change == PAGEDET_CHANGE_APPEARED;
		if (mate && here)
			say_pair(d, mate - 1, i);
		if (mate)
			continue;
		for (side = 0; side < 2; side++) {
			row[side] = pdet_diff_held_row(d, i, side);
			/* A row that a side lacks has no cells. */
			if (!pdet_batch_state(row[side].b, row[side].at,
					      PAGEDET_FIELD_PFN))
				row[side].b = NULL;
		}
		say(d, &d->held.data[i], row[0], row[1]);
	}
	return 0;
}

/* --- life cycle --- */

static int gather(struct pdet_diff *d)
{
	unsigned i;
	int r = 0;

	for (i = 0; i < 2 && r == 0; i++) {
		if (d->side[i].gathered)
			r = pdet_side_gather(&d->side[i]);
		else
			pdet_side_cover(&d->side[i]);
	}
	check_cover(d);
	return r;
}

static void add_up(struct pdet_diff *d)
{
	struct pagedet_diff_totals *t = &d->totals;
	unsigned i;

	if (d->alike)
		pdet_alike_count(d->alike, d);
	for (i = 0; i < 2; i++)
		t->rows[i] = d->side[i].rows;
	t->unplaced = d->side[0].unplaced + d->side[1].unplaced;
	t->by = d->by;
	t->notes = d->notes;
	t->complete = d->merged && !d->error &&
		      !(d->notes & PAGEDET_DIFF_PARTIAL) &&
		      d->drained == d->held.n;
	for (i = 0; i < 2; i++)
		t->fields[i] = d->compare.bits[i] | d->never.bits[i];
}

int pdet_diff_step(struct pdet_diff *d, const struct pdet_diff_out **ret)
{
	int r = 0;

	begin_out(d);
	if (!d->begun)
		d->alike = pdet_alike_begin(d);
	d->begun = true;
	if (!d->merged) {
		r = merge(d);
		d->merged = r <= 0;
		d->error = r < 0 ? r : 0;
		if (r < 0)
			keep_words(d);
		if (d->merged)
			check_cover(d);
	}
	if (d->merged)
		r = drain(d);
	keep_last(d);
	add_up(d);
	/* Deliver what there is first. */
	if (r < 0 && !d->out.n)
		return r;
	*ret = &d->out;
	if (d->out.n)
		return 1;
	if (d->error)
		pdet_take_words(d->env, &d->words);
	return d->error;
}

static bool init_out(struct pdet_diff *d)
{
	unsigned i;

	for (i = 0; i < 2; i++)
		if (!pdet_batch_init(&d->out.rows[i], &d->columns, OUT_ROWS,
				     SIZE_MAX / 2) ||
		    !pdet_batch_init(&d->kept_row[i], &d->columns, 1,
				     SIZE_MAX / 2))
			return false;
	return true;
}

int pdet_diff_new(const struct pdet_diff_args *args, struct pdet_diff **ret)
{
	struct pdet_diff_args a = *args;
	struct pdet_diff *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return pdet_fail(args->env, ENOMEM, "no memory");
	d->env = args->env;
	d->page_size = args->it[0]->page_size;
	d->max_held = args->candidates ? args->candidates : DEFAULT_HELD;
	if (!a.max_rows)
		a.max_rows = DEFAULT_ROWS;
	r = pdet_diff_prepare(d, &a);
	d->out.change = calloc(OUT_ROWS, sizeof(*d->out.change));
	if (r == 0 && (!d->out.change || !init_out(d)))
		r = pdet_fail(args->env, ENOMEM, "no memory");
	if (r == 0)
		r = gather(d);
	if (r < 0) {
		pdet_diff_free(d);
		return r;
	}
	add_up(d);
	*ret = d;
	return 0;
}

void pdet_diff_free(struct pdet_diff *d)
{
	unsigned i;

	if (!d)
		return;
	pdet_alike_end(d->alike);
	for (i = 0; i < 2; i++) {
		pdet_side_free(&d->side[i]);
		pdet_batch_free(&d->out.rows[i]);
		pdet_batch_free(&d->kept_row[i]);
	}
	pdet_diff_join_free(d);
	free(d->out.change);
	free(d);
}
