/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decides which rows of two snapshots can be left out of the comparison,
 * because they are alike.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "diff/alike.h"
#include "snapshot/format.h"
#include "snapshot/read.h"

#define F(name) PAGEDET_FIELD_##name

/* Marks of a row. */
#define DIFFERS 1		/* it may differ: make it */
#define UNDECIDED 2		/* something of it cannot be compared */

/* If the gap between two ranges has fewer rows, its rows are made as well. */
#define LEAST 32

/* The ranges of rows of two blocks that must be made. */
struct pair {
	size_t block[2];
	bool passed[2];
	uint32_t rows, n;
	struct made {
		uint32_t at, end;
	} *made;
};

struct side {
	struct pdet_iter *it;
	const struct pdet_snapshot *file;
	struct pdet_snapshot_block *block;
	struct pdet_fields fields; /* fields of the side */
	struct pdet_fields columns; /* columns of its rows */
	struct pdet_env env;
	struct pdet_cover cover; /* counts of rows that were left out */
};

struct pdet_alike {
	pthread_mutex_t lock;
	unsigned users;
	bool ended;
	struct side side[2];
	/* as in struct pdet_diff */
	struct pdet_fields compare, never;
	const uint8_t *never_why;
	bool same_counts;
	struct pdet_fields told; /* fields whose reason a row has given */
	struct pagedet_diff_totals totals; /* of rows that were left out */
	struct { struct pair *data; size_t n, cap; } pairs;
	size_t first;		/* both sides have passed the pairs before this
				 * one */
	uint8_t mark[PDET_SNAPSHOT_MAX_ROWS];
};

/* The same bit in eight marks, one byte per row. */
#define EACH(bit) (0x0101010101010101 * (uint64_t)(bit))

static void add_mark(uint8_t *mark, uint32_t n, unsigned bit)
{
	uint64_t some;
	uint32_t i;

	for (i = 0; i + sizeof(some) <= n; i += sizeof(some)) {
		memcpy(&some, mark + i, sizeof(some));
		some |= EACH(bit);
		memcpy(mark + i, &some, sizeof(some));
	}
	for (; i < n; i++)
		mark[i] |= (uint8_t)bit;
}

/* The number of rows that are UNDECIDED and have no other mark. */
static uint32_t count_marks(const uint8_t *mark, uint32_t n)
{
	uint32_t i, sum = 0;
	uint64_t some;

	for (i = 0; i + sizeof(some) <= n; i += sizeof(some)) {
		memcpy(&some, mark + i, sizeof(some));
		sum += (uint32_t)((some / UNDECIDED * EACH(1)) >> 56);
	}
	for (; i < n; i++)
		sum += mark[i] != 0;
	return sum;
}

/* --- runs --- */

/*
 * A field of both sides, and the field that its values depend on. In the rows
 * from at up to end, nothing changes.
 */
struct runs {
	unsigned f;
	uint32_t at, end;
	struct pdet_snapshot_runs value[2];
	struct pdet_snapshot_runs more[2]; /* valid if has_more */
	bool has_more[2];
};

static unsigned more_field(unsigned f)
{
	return f == F(MAPCOUNT) ? F(MAPCOUNT_KIND) : pdet_known_field(f);
}

static void set_end(struct runs *r)
{
	unsigned i;

	r->end = UINT32_MAX;
	for (i = 0; i < 2; i++) {
		r->end = PDET_MIN(r->end, r->value[i].end);
		if (r->has_more[i])
			r->end = PDET_MIN(r->end, r->more[i].end);
	}
}

static void first_run(const struct pdet_alike *a, unsigned f, bool values,
		      struct runs *r)
{
	const unsigned more = more_field(f);
	unsigned i;

	r->f = f;
	r->at = 0;
	for (i = 0; i < 2; i++) {
		const struct side *s = &a->side[i];

		r->has_more[i] = values && more != f &&
				 pdet_fields_has(&s->fields, more);
		pdet_snapshot_first_run(s->block, f, values, &r->value[i]);
		if (r->has_more[i])
			pdet_snapshot_first_run(s->block, more, true,
						&r->more[i]);
	}
	set_end(r);
}

static void next_run(struct runs *r)
{
	unsigned i;

	r->at = r->end;
	for (i = 0; i < 2; i++) {
		pdet_snapshot_pass(&r->value[i], r->at);
		if (r->has_more[i])
			pdet_snapshot_pass(&r->more[i], r->at);
	}
	set_end(r);
}

static bool same_values(const struct pdet_snapshot_runs *x,
			const struct pdet_snapshot_runs *y, uint32_t n)
{
	return x->value == y->value && (n == 1 || x->stride == y->stride);
}

/* Whether every row knows some bit of a mask on both sides. */
static bool any_known(const struct pdet_alike *a, const struct runs *r)
{
	const unsigned f = pdet_known_field(r->f);
	uint64_t both = UINT64_MAX;
	unsigned i;

	for (i = 0; i < 2; i++) {
		const struct pdet_snapshot_runs *known = &r->more[i];

		if (f == r->f ||
		    !pdet_fields_has(&a->side[i].columns, f))
			continue;
		if (!r->has_more[i] || known->state != PAGEDET_HAVE ||
		    (known->stride && r->end - r->at > 1))
			return false;
		both &= known->value;
	}
	return both;
}

/* As pdet_diff_counts(), for a run. */
static bool counts_mean_the_same(const struct pdet_alike *a,
				 const struct runs *r)
{
	bool have[2];
	unsigned i;

	for (i = 0; i < 2; i++)
		have[i] = r->has_more[i] && r->more[i].state == PAGEDET_HAVE;
	if (have[0] && have[1])
		return same_values(&r->more[0], &r->more[1], r->end - r->at);
	return !have[0] && !have[1] && a->same_counts;
}

static bool is_decided(const struct runs *r)
{
	return r->value[0].state <= PAGEDET_NONE &&
	       r->value[1].state <= PAGEDET_NONE;
}

/*
 * The result of pdet_diff_field() for all rows of a run: 0, or UNDECIDED.
 * DIFFERS means that the rows must be compared one by one.
 */
static unsigned judge(const struct pdet_alike *a, const struct runs *r)
{
	const struct pdet_snapshot_runs *x = &r->value[0], *y = &r->value[1];

	if (!is_decided(r))
		return UNDECIDED;
	if (x->state != y->state)
		return DIFFERS;
	if (x->state == PAGEDET_NONE)
		return 0;
	if (x->text)
		return strcmp(x->text, y->text) ? DIFFERS : 0;
	if (!same_values(x, y, r->end - r->at))
		return DIFFERS;
	if (r->f == F(MAPCOUNT))
		return counts_mean_the_same(a, r) ? 0 : DIFFERS;
	if (pdet_field_info(r->f)->type == PAGEDET_TYPE_MASK)
		return any_known(a, r) ? 0 : DIFFERS;
	return 0;
}

/* The reason is taken from the first row with the field. */
static void tell(struct pdet_alike *a, unsigned f, uint32_t at)
{
	if (pdet_fields_has(&a->told, f))
		return;
	pdet_fields_add(&a->told, f);
	a->mark[at] |= DIFFERS;
}

static bool mark_field(struct pdet_alike *a, unsigned f, uint32_t rows)
{
	bool undecided = false;
	struct runs r;
	unsigned mark;

	for (first_run(a, f, true, &r);; next_run(&r)) {
		mark = judge(a, &r);
		if (mark)
			add_mark(a->mark + r.at, r.end - r.at, mark);
		if (mark & UNDECIDED) {
			undecided = true;
			tell(a, f, r.at);
		}
		if (r.end == rows)
			return undecided;
	}
}

/* Pages that were torn must be compared row by row. */
static void mark_torn(struct pdet_alike *a, const struct side *s, uint32_t rows)
{
	struct pdet_snapshot_runs r;

	if (!pdet_fields_has(&s->fields, F(NOTES)))
		return;
	for (pdet_snapshot_first_run(s->block, F(NOTES), true, &r);;
	     pdet_snapshot_pass(&r, r.end)) {
		if (r.state == PAGEDET_HAVE &&
		    (r.stride || r.value & PAGEDET_NOTE(PAGEDET_NOTE_TORN)))
			add_mark(a->mark + r.at, r.end - r.at, DIFFERS);
		if (r.end == rows)
			return;
	}
}

/* Both blocks claim the same frames in ascending order. */
static bool same_frames(const struct pdet_alike *a,
			const struct pdet_snapshot_place *place)
{
	uint64_t next = place->first;
	struct runs r;

	for (first_run(a, F(PFN), true, &r);; next_run(&r)) {
		const struct pdet_snapshot_runs *x = &r.value[0];
		const uint32_t n = r.end - r.at;

		if (x->state != PAGEDET_HAVE ||
		    r.value[1].state != PAGEDET_HAVE ||
		    !same_values(x, &r.value[1], n) || x->value < next ||
		    (n > 1 && x->stride != 1) || x->value > place->last ||
		    n - 1 > place->last - x->value)
			return false;
		next = x->value + n;
		if (r.end == place->rows)
			return next == place->last + 1;
	}
}

/* --- rows to make, and rows to leave out --- */

static bool add_made(struct pair *p, uint32_t at, uint32_t end, size_t *cap)
{
	struct made *more;

	if (p->n && at - p->made[p->n - 1].end < LEAST) {
		p->made[p->n - 1].end = end;
		return true;
	}
	if (p->n == *cap) {
		more = pdet_vec_grow(p->made, cap, sizeof(*more));
		if (!more)
			return false;
		p->made = more;
	}
	p->made[p->n++] = (struct made){ at, end };
	return true;
}

/* Turns marked rows into ranges. */
static bool find_made(const uint8_t *mark, struct pair *p)
{
	uint32_t row = 0, at;
	size_t cap = 0;
	uint64_t some;

	while (row < p->rows) {
		if (row + sizeof(some) <= p->rows) {
			memcpy(&some, mark + row, sizeof(some));
			if (!(some & EACH(DIFFERS))) {
				row += sizeof(some);
				continue;
			}
		}
		if (!(mark[row] & DIFFERS)) {
			row++;
			continue;
		}
		for (at = row; row < p->rows && mark[row] & DIFFERS; row++)
			;
		if (!add_made(p, at, row, &cap))
			return false;
	}
	return true;
}

/*
 * The number of rows among @at .. @end - 1 that are left out. *@i becomes the
 * first range that is not before them.
 */
static uint32_t left_of(const struct pair *p, uint32_t at, uint32_t end,
			uint32_t *i)
{
	uint32_t left = end - at;

	while (*i < p->n && p->made[*i].at < end) {
		const struct made *m = &p->made[*i];

		if (m->end > at)
			left -= PDET_MIN(m->end, end) - PDET_MAX(m->at, at);
		if (m->end > end)
			break;
		++*i;
	}
	return left;
}

static uint32_t all_left(const struct pair *p)
{
	uint32_t none = 0;

	return left_of(p, 0, p->rows, &none);
}

/*
 * Some fields cannot be compared in some rows. Counts such rows among the rows
 * left out, and keeps the first reason, because its row may come later.
 */
static uint32_t count_undecided(const struct pdet_alike *a,
				const struct pair *p, unsigned f,
				unsigned *why)
{
	uint32_t undecided = 0, i = 0;
	struct runs r;

	for (first_run(a, f, false, &r);; next_run(&r)) {
		if (!is_decided(&r)) {
			undecided += left_of(p, r.at, r.end, &i);
			if (!*why)
				*why = pdet_diff_reason(r.value[0].state,
							r.value[1].state);
		}
		if (r.end == p->rows)
			return undecided;
	}
}

/* Counts cells as settle() of stage.c does for the rows that are made. */
static void cover_field(struct side *s, const struct pair *p, unsigned f,
			uint32_t left)
{
	struct pdet_cover *cover = &s->cover;
	const unsigned why = s->it->plan.why[f];
	struct pdet_snapshot_runs r;
	uint32_t n, i = 0;

	if (!pdet_fields_has(&s->fields, f)) {
		if (f == F(PAGES)) {
			pdet_fields_add(&cover->answered, f);
		} else if (left) {
			cover->any_lost = true;
			cover->lost[why != PAGEDET_HAVE ? why :
					  PAGEDET_UNSUPPORTED] += left;
		}
		return;
	}
	for (pdet_snapshot_first_run(s->block, f, false, &r);;
	     pdet_snapshot_pass(&r, r.end)) {
		n = left_of(p, r.at, r.end, &i);
		if (n && r.state <= PAGEDET_NONE) {
			pdet_fields_add(&cover->answered, f);
		} else if (n) {
			cover->any_lost = true;
			cover->lost[r.state] += n;
		}
		if (r.end == p->rows)
			return;
	}
}

static void count_left(struct pdet_alike *a, const struct pair *p,
		       const struct pdet_fields *undecided)
{
	struct pagedet_diff_totals *t = &a->totals;
	const uint32_t left = all_left(p);
	uint32_t row = 0, i, n = 0;
	unsigned f, side, why;

	if (!left)
		return;
	for (i = 0; i <= p->n; i++) {
		const uint32_t end = i < p->n ? p->made[i].at : p->rows;

		n += count_marks(a->mark + row, end - row);
		row = i < p->n ? p->made[i].end : row;
	}
	t->compared += left;
	t->undecided += n;
	t->same += left - n;
	pdet_fields_for(f, &a->never)
		pdet_diff_count(t, f, left, left, a->never_why[f]);
	pdet_fields_for(f, &a->compare) {
		why = 0;
		n = pdet_fields_has(undecided, f) ?
			count_undecided(a, p, f, &why) : 0;
		pdet_diff_count(t, f, n, left, why);
	}
	for (side = 0; side < 2; side++) {
		a->side[side].cover.visited += left;
		/* pdet_iter_count() expects this for the progress report. */
		atomic_fetch_add_explicit(&a->side[side].it->done, left,
					  memory_order_relaxed);
		pdet_fields_for(f, &a->side[side].columns)
			cover_field(&a->side[side], p, f, left);
	}
}

/* --- blocks --- */

static bool load(struct side *s, size_t block)
{
	if (!s->block)
		s->block = pdet_snapshot_block_new();
	/* The code that makes the rows reports the error. */
	return s->block && pdet_snapshot_load(s->file, &s->env, block,
					      &s->fields, s->block) == 0;
}

static int compare_blocks(struct pdet_alike *a, struct pair *p)
{
	const struct pdet_snapshot_place *place =
		&pdet_snapshot_places(a->side[0].file)->data[p->block[0]];
	struct pdet_fields undecided = { { 0, 0 } };
	unsigned f, side;
	size_t none = 0;

	p->rows = place->rows;
	if (!load(&a->side[0], p->block[0]) ||
	    !load(&a->side[1], p->block[1]) || !same_frames(a, place))
		return add_made(p, 0, p->rows, &none) ? 0 : -ENOMEM;
	memset(a->mark, pdet_fields_empty(&a->never) ? 0 : UNDECIDED, p->rows);
	pdet_fields_for(f, &a->compare)
		if (mark_field(a, f, p->rows))
			pdet_fields_add(&undecided, f);
	for (side = 0; side < 2; side++)
		mark_torn(a, &a->side[side], p->rows);
	if (!find_made(a->mark, p))
		return -ENOMEM;
	count_left(a, p, &undecided);
	return 0;
}

/*
 * The block of @s that has exactly the frames of @is, or -1 if there is none.
 */
static int64_t block_of(const struct side *s,
			const struct pdet_snapshot_place *is)
{
	const struct pdet_snapshot_places *places =
		pdet_snapshot_places(s->file);
	size_t low = 0, high = places->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (places->data[mid].first < is->first)
			low = mid + 1;
		else
			high = mid;
	}
	return low < places->n && places->data[low].first == is->first &&
	       places->data[low].last == is->last &&
	       places->data[low].rows == is->rows ? (int64_t)low : -1;
}

static bool is_over(const struct pdet_iter *it)
{
	return atomic_load_explicit(&it->stopped, memory_order_relaxed) ||
	       (it->q.deadline_ns &&
		pdet_clock_ns(CLOCK_MONOTONIC) >= it->q.deadline_ns);
}

/* Gets the pair with this block. *@ret is NULL if there is none. */
static int pair_of(struct pdet_alike *a, unsigned side, size_t block,
		   struct pair **ret)
{
	const struct side *s = &a->side[side];
	size_t low = a->first, high = a->pairs.n;
	struct pair p = { .n = 0 };
	int64_t other;
	int r;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (a->pairs.data[mid].block[side] < block)
			low = mid + 1;
		else
			high = mid;
	}
	*ret = low < a->pairs.n ? &a->pairs.data[low] : NULL;
	if (*ret && (*ret)->block[side] == block)
		return 0;
	other = *ret ? -1 : block_of(&a->side[!side],
				     &pdet_snapshot_places(s->file)->
					     data[block]);
	*ret = NULL;
	/* A side that must stop is asked for rows, and reports it. */
	if (other < 0 || is_over(a->side[!side].it))
		return 0;
	if (!pdet_vec_reserve(&a->pairs, 1))
		return -ENOMEM;
	p.block[side] = block;
	p.block[!side] = (size_t)other;
	r = compare_blocks(a, &p);
	if (r < 0) {
		free(p.made);
		return r;
	}
	*ret = &a->pairs.data[a->pairs.n++];
	**ret = p;
	return 0;
}

/* A side has got its rows of a pair. */
static void pass(struct pdet_alike *a, unsigned side, struct pair *p)
{
	struct pair *all = a->pairs.data;

	p->passed[side] = true;
	while (a->first < a->pairs.n && all[a->first].passed[0] &&
	       all[a->first].passed[1]) {
		free(all[a->first].made);
		all[a->first++].made = NULL;
	}
	if (a->first <= a->pairs.n / 2)
		return;
	a->pairs.n -= a->first;
	memmove(all, all + a->first, a->pairs.n * sizeof(*all));
	a->first = 0;
}

static void next_made(const struct pair *p, uint64_t *at, uint64_t *end)
{
	uint32_t low = 0, high = p->n;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (p->made[mid].end <= *at)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < p->n) {
		*at = PDET_MAX(*at, p->made[low].at);
		*end = p->made[low].end;
	} else {
		*at = *end = p->rows;
	}
}

int pdet_alike_rows(struct pdet_alike *a, unsigned side, size_t block,
		    uint64_t *at, uint64_t *end)
{
	struct pair *p = NULL;
	int r = 0;

	pthread_mutex_lock(&a->lock);
	if (!a->ended)
		r = pair_of(a, side, block, &p);
	if (p) {
		next_made(p, at, end);
		if (*at == p->rows)
			pass(a, side, p);
	}
	pthread_mutex_unlock(&a->lock);
	return r;
}

/* --- life cycle --- */

/* Blocks have ascending frames, and do not overlap. */
static bool ascend(const struct pdet_snapshot *file)
{
	const struct pdet_snapshot_places *places = pdet_snapshot_places(file);
	const uint32_t want = PDET_SNAPSHOT_ALL_PFN | PDET_SNAPSHOT_SORTED;
	size_t i;

	for (i = 0; i < places->n; i++) {
		const struct pdet_snapshot_place *p = &places->data[i];

		if (p->first > p->last || p->last == UINT64_MAX ||
		    (i && p->first <= p[-1].last))
			return false;
	}
	return (pdet_snapshot_end(file)->flags & want) == want;
}

/* Whether rows of a side may be left out because nobody else needs them. */
static bool may_leave(const struct pdet_diff *d, const struct pdet_diff_side *s)
{
	const struct pdet_iter *it = s->it;
	const struct pdet_fields *there;

	if (!it->saved || it->q.target != PAGEDET_TARGET_SCAN || it->filter ||
	    it->q.limit || s->gathered || s->seen.once)
		return false;
	there = &pdet_snapshot_about(it->saved)->fields;
	return pdet_fields_has(there, F(PFN)) &&
	       !(d->compare.bits[0] & ~there->bits[0]) &&
	       !(d->compare.bits[1] & ~there->bits[1]) &&
	       !pdet_fields_has(&d->compare, F(USER_MAPS)) &&
	       ascend(it->saved);
}

struct pdet_alike *pdet_alike_begin(struct pdet_diff *d)
{
	struct pdet_alike *a;
	unsigned i, k;

	/* A picture needs all rows. */
	if (d->same || d->by != PAGEDET_DIFF_BY_PFN ||
	    !may_leave(d, &d->side[0]) || !may_leave(d, &d->side[1]))
		return NULL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	if (pthread_mutex_init(&a->lock, NULL)) {
		free(a);
		return NULL;
	}
	a->users = 3;
	a->compare = d->compare;
	a->never = d->never;
	a->never_why = d->never_why;
	a->same_counts = d->same_counts;
	for (i = 0; i < 2; i++) {
		struct side *s = &a->side[i];

		s->it = d->side[i].it;
		s->file = s->it->saved;
		s->env = *s->it->env;
		s->env.log = NULL;
		s->columns = s->it->plan.columns;
		for (k = 0; k < 2; k++)
			s->fields.bits[k] = s->columns.bits[k] &
				pdet_snapshot_about(s->file)->fields.bits[k];
		pdet_walk_saved_leave(s->it->walk, a, i);
	}
	return a;
}

void pdet_alike_count(struct pdet_alike *a, struct pdet_diff *d)
{
	struct pagedet_diff_totals *to = &d->totals, from;
	struct pdet_cover cover[2];
	unsigned i;

	pthread_mutex_lock(&a->lock);
	from = a->totals;
	memset(&a->totals, 0, sizeof(a->totals));
	for (i = 0; i < 2; i++) {
		cover[i] = a->side[i].cover;
		pdet_cover_clear(&a->side[i].cover);
	}
	pthread_mutex_unlock(&a->lock);
	to->compared += from.compared;
	to->same += from.same;
	to->undecided += from.undecided;
	for (i = 0; i < PDET_FIELDS; i++) {
		to->undecided_in[i] += from.undecided_in[i];
		to->why[i] = to->why[i] ? to->why[i] : from.why[i];
	}
	/* Do not hold a->lock here: a walk takes its own lock first. */
	for (i = 0; i < 2; i++) {
		to->decided[i] |= from.decided[i];
		d->side[i].rows += from.compared;
		d->side[i].it->rows += from.compared;
		pdet_iter_count(d->side[i].it, &cover[i]);
	}
}

static void leave(struct pdet_alike *a)
{
	const bool last = !--a->users;

	pthread_mutex_unlock(&a->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&a->lock);
	free(a);
}

void pdet_alike_end(struct pdet_alike *a)
{
	unsigned i;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->ended = true;
	for (i = 0; i < 2; i++)
		pdet_snapshot_block_free(a->side[i].block);
	for (; a->first < a->pairs.n; a->first++)
		free(a->pairs.data[a->first].made);
	pdet_vec_free(&a->pairs);
	leave(a);
}

void pdet_alike_free(struct pdet_alike *a)
{
	pthread_mutex_lock(&a->lock);
	leave(a);
}
