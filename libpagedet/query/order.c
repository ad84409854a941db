/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the first rows by one field in bounded memory. It keeps twice as many
 * rows as are wanted. When this number is reached, or there is no room for
 * another text, it drops the worse half. From then on, it does not copy rows
 * that come after the last row of the better half.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "query/order.h"

struct pdet_order {
	struct pdet_batch kept;
	struct pdet_batch other; /* receives the better half */
	uint32_t *place;	/* the rows of kept, for sorting */
	unsigned by;
	bool down, text;
	uint64_t flip;		/* gives numbers in two's complement the order
				 * of others */
	uint32_t n;		/* rows wanted */
	bool full;		/* row n - 1 of kept is the limit */
	size_t max_text;	/* for the text of wanted rows */
	size_t slack;		/* room for the text of rows that may be dropped
				 * again */
	uint8_t *lost;		/* for each row of kept, the lost texts */
	uint8_t *other_lost;
};

/* Limit of text while rows are added. */
static size_t room(const struct pdet_order *o)
{
	return o->slack > SIZE_MAX - o->max_text ? SIZE_MAX :
						   o->max_text + o->slack;
}

struct pdet_order *pdet_order_new(const struct pdet_fields *columns,
				  unsigned by, bool down, uint32_t n,
				  size_t max_text)
{
	struct pdet_order *o = calloc(1, sizeof(*o));
	const unsigned type = pdet_field_info(by)->type;

	if (!o)
		return NULL;
	o->by = by;
	o->down = down;
	o->text = type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST;
	o->flip = type == PAGEDET_TYPE_SIGNED ? (uint64_t)1 << 63 : 0;
	o->n = n;
	o->max_text = max_text;
	/* Sorting is expensive if many rows with little text are wanted. */
	o->slack = PDET_MAX(max_text, (size_t)64 * n);
	o->place = malloc((size_t)2 * n * sizeof(*o->place));
	o->lost = malloc((size_t)2 * n * sizeof(*o->lost));
	o->other_lost = malloc((size_t)2 * n * sizeof(*o->other_lost));
	if (o->place && o->lost && o->other_lost &&
	    pdet_batch_init(&o->kept, columns, 2 * n, room(o)) &&
	    pdet_batch_init(&o->other, columns, 2 * n, max_text)) {
		pdet_batch_clear(&o->kept, 1);
		return o;
	}
	pdet_order_free(o);
	return NULL;
}

void pdet_order_free(struct pdet_order *o)
{
	if (!o)
		return;
	pdet_batch_free(&o->kept);
	pdet_batch_free(&o->other);
	free(o->place);
	free(o->lost);
	free(o->other_lost);
	free(o);
}

/*
 * Cells with an answer come first, then those that are nothing, and then those
 * with a reason.
 */
static unsigned rank(unsigned state)
{
	return state == PAGEDET_HAVE ? 0 : state == PAGEDET_NONE ? 1 : 2;
}

static int compare_text(const struct pdet_batch *a, uint64_t x,
			const struct pdet_batch *b, uint64_t y)
{
	const char *s = pdet_strtab_get(&a->strings, x, NULL);
	const char *t = pdet_strtab_get(&b->strings, y, NULL);

	return strcmp(s ? s : "", t ? t : "");
}

static int compare_rows(const struct pdet_order *o, const struct pdet_batch *a,
			uint32_t i, const struct pdet_batch *b, uint32_t j)
{
	const unsigned x = rank(pdet_batch_state(a, i, o->by));
	const unsigned y = rank(pdet_batch_state(b, j, o->by));
	const uint64_t v = a->value[o->by] ? a->value[o->by][i] : 0;
	const uint64_t w = b->value[o->by] ? b->value[o->by][j] : 0;
	int order;

	if (x != y)
		return x < y ? -1 : 1;
	if (x)
		return 0;
	order = o->text ? compare_text(a, v, b, w) :
		((v ^ o->flip) > (w ^ o->flip)) -
		((v ^ o->flip) < (w ^ o->flip));
	return o->down ? -order : order;
}

static int by_order(const void *a, const void *b, void *data)
{
	const struct pdet_order *o = data;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const int order = compare_rows(o, &o->kept, x, &o->kept, y);

	return order ? order : (x > y) - (x < y);
}

/*
 * Keeps only the best rows, at most as many as are wanted. Their texts are kept
 * as long as there is room, and the texts of the best rows come first.
 */
static void sort(struct pdet_order *o, uint64_t string_base)
{
	const uint32_t n = PDET_MIN(o->kept.n, o->n);
	struct pdet_batch swap;
	uint8_t *lost;
	uint32_t i;

	for (i = 0; i < o->kept.n; i++)
		o->place[i] = i;
	qsort_r(o->place, o->kept.n, sizeof(*o->place), by_order, o);
	pdet_batch_clear(&o->other, string_base);
	pdet_batch_grow(&o->other, n);
	o->other.strings.max = o->max_text;
	for (i = 0; i < n; i++)
		o->other_lost[i] = (uint8_t)(o->lost[o->place[i]] +
			pdet_batch_copy_row(&o->other, i, &o->kept,
					    o->place[i]));
	swap = o->kept;
	o->kept = o->other;
	o->other = swap;
	o->kept.strings.max = room(o);
	lost = o->lost;
	o->lost = o->other_lost;
	o->other_lost = lost;
	o->full = n == o->n;
}

/* Returns false if not all of its texts fit. */
static bool put_row(struct pdet_order *o, const struct pdet_batch *b,
		    uint32_t row)
{
	uint8_t *lost = &o->lost[o->kept.n];

	pdet_batch_grow(&o->kept, 1);
	*lost = (uint8_t)pdet_batch_copy_row(&o->kept, o->kept.n - 1, b, row);
	return !*lost;
}

/* Whether the row comes after all wanted rows. */
static bool is_late(const struct pdet_order *o, const struct pdet_batch *b,
		    uint32_t row)
{
	return o->full && compare_rows(o, b, row, &o->kept, o->n - 1) >= 0;
}

/*
 * If there is no room for a text, worse rows may use the room. They are dropped
 * if that frees many bytes at a time.
 */
static void add_row(struct pdet_order *o, const struct pdet_batch *b,
		    uint32_t row)
{
	if (put_row(o, b, row) || o->kept.strings.len < o->max_text ||
	    o->kept.strings.len - o->max_text < o->slack / 4)
		return;
	pdet_batch_cut(&o->kept, o->kept.n - 1);
	sort(o, 1);
	if (!is_late(o, b, row))
		put_row(o, b, row);
}

void pdet_order_add(struct pdet_order *o, const struct pdet_batch *b)
{
	uint32_t row;

	for (row = 0; row < b->n; row++) {
		if (is_late(o, b, row))
			continue;
		if (o->kept.n == 2 * o->n) {
			sort(o, 1);
			if (is_late(o, b, row))
				continue;
		}
		add_row(o, b, row);
	}
}

struct pdet_batch *pdet_order_take(struct pdet_order *o, uint64_t string_base)
{
	sort(o, string_base);
	return &o->kept;
}

uint64_t pdet_order_lost(const struct pdet_order *o)
{
	uint64_t lost = 0;
	uint32_t i;

	for (i = 0; i < o->kept.n; i++)
		lost += o->lost[i];
	return lost;
}
