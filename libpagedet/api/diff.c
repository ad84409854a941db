/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for differences between two answers. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/diff.h"
#include "snapshot/read.h"

const char *pagedet_change_name(uint32_t change)
{
	return pdet_change_name(change);
}

int pagedet_saved_query(struct pagedet *pd, struct pagedet_query *query)
{
	/* These members are set here. Later callers have more. */
	const size_t known = offsetof(struct pagedet_query, target) +
			     sizeof(query->target);
	const struct pdet_snapshot_about *about = NULL;
	size_t i;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	if (query->size < known)
		return pdet_fail(&pd->env, EINVAL, "the size of the query is "
						   "not set");
	for (i = 0; i < pd->n_backends; i++)
		if (pd->backends[i]->ops->saved)
			about = pdet_snapshot_about(
				pd->backends[i]->ops->saved(pd->backends[i]));
	if (!about)
		return pdet_fail(&pd->env, ENOENT, "the handle is not of a "
						   "snapshot");
	query->target = about->target;
	query->fields[0] = about->fields.bits[0];
	query->fields[1] = about->fields.bits[1];
	if (about->n_kept < about->n_items)
		return pdet_fail(&pd->env, EOVERFLOW, "cannot repeat the "
				 "query of the snapshot: it has only %zu of "
				 "%llu items",
				 about->n_kept,
				 (unsigned long long)about->n_items);
	query->items = about->items;
	query->n_items = about->n_items;
	query->path = about->path;
	query->where = about->where;
	return 0;
}

/* Copies the error text of the other handle to this one. */
static int words(struct pagedet_diff *diff, int r)
{
	if (r < 0 && !diff->was->env.error[0])
		pdet_take_words(&diff->was->env, &diff->now->env);
	return r < 0 ? -pdet_errno_closed(-r) : r;
}

/*
 * Whether the hashes have different keys. An unknown key may be equal to any
 * other.
 */
static int other_key(const struct pagedet_iter *const it[2], bool *ret)
{
	uint64_t key[2];
	unsigned i;
	int r;

	for (i = 0; i < 2; i++)
		if (!pdet_fields_has(&it[i]->it->plan.columns,
				     PAGEDET_FIELD_HASH))
			return 0;
	for (i = 0; i < 2; i++) {
		r = pagedet_hash_key_id(it[i]->pd, &key[i]);
		if (r < 0)
			return r;
	}
	*ret = key[0] != key[1] || !key[0];
	return 0;
}

static int make(struct pagedet_diff *diff, struct pagedet_iter *was,
		struct pagedet_iter *now, const struct pagedet_diff_options *o)
{
	const struct pagedet_iter *const it[2] = { was, now };
	struct pdet_diff_args args = {
		.env = &was->pd->env, .it = { was->it, now->it },
		.info = { &was->pd->info, &now->pd->info },
		.candidates = o->candidates, .max_rows = o->max_rows,
	};
	struct pagedet_info info = { .size = sizeof(info) };
	unsigned i;
	int r = 0;

	/* The key is known from then on. */
	for (i = 0; i < 2 && r == 0; i++)
		r = pagedet_info(it[i]->pd, &info);
	if (r == 0)
		r = other_key(it, &args.other_key);
	return r < 0 ? r : pdet_diff_new(&args, &diff->d);
}

int pagedet_diff(struct pagedet_iter *was, struct pagedet_iter *now,
		 const struct pagedet_diff_options *options,
		 struct pagedet_diff **ret)
{
	static const struct pagedet_diff_options defaults =
		PAGEDET_DIFF_OPTIONS_INIT;
	struct pagedet_diff_options o;
	struct pagedet_diff *diff;
	int r;

	pdet_clear(&now->pd->env);
	pdet_clear(&was->pd->env);
	r = pdet_check_struct(&was->pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_diff_options");
	if (r < 0)
		return r;
	if (o.row_size < sizeof(uint16_t) * PAGEDET_FIELDS_MAX)
		return pdet_fail(&was->pd->env, EINVAL, "a row of %llu bytes "
				 "has no room for its cells",
				 (unsigned long long)o.row_size);
	if (was == now)
		return pdet_fail(&was->pd->env, EINVAL, "an iterator cannot be "
				 "compared with itself: make two");
	diff = calloc(1, sizeof(*diff));
	if (!diff)
		return pdet_fail(&was->pd->env, ENOMEM, "no memory");
	diff->was = was->pd;
	diff->now = now->pd;
	diff->row_size = o.row_size;
	r = words(diff, make(diff, was, now, &o));
	if (r < 0) {
		free(diff);
		return r;
	}
	*ret = diff;
	return 0;
}

int pdet_diff_more(struct pagedet_diff *diff)
{
	int r;

	pdet_clear(&diff->now->env);
	pdet_clear(&diff->was->env);
	diff->out = NULL;
	diff->cursor = 0;
	r = pdet_diff_step(diff->d, &diff->out);
	return words(diff, r);
}

/* Writes one row to the caller's memory. */
static void put_row(const struct pagedet_diff *diff, const struct pdet_batch *b,
		    uint32_t at, unsigned char *row)
{
	const uint16_t old = PDET_CELL(PAGEDET_OLD_ROW, PAGEDET_SOURCE_NOBODY);
	unsigned f;

	memset(row, 0, diff->row_size);
	pdet_fields_for(f, &b->have) {
		const struct pagedet_field_info *info = pdet_field_info(f);
		const uint64_t value = b->value[f][at];
		const uint32_t narrow = (uint32_t)value;
		const uint16_t cell = b->cell[f][at];
		const bool fits = info->offset + info->width <= diff->row_size;

		if (!(cell & 0xff))
			continue;
		memcpy(row + f * sizeof(cell), fits ? &cell : &old,
		       sizeof(cell));
		if (fits && info->width < sizeof(value))
			memcpy(row + info->offset, &narrow, sizeof(narrow));
		else if (fits)
			memcpy(row + info->offset, &value, sizeof(value));
	}
}

int pagedet_diff_next(struct pagedet_diff *diff,
		      struct pagedet_change *changes, struct pagedet_page *was,
		      struct pagedet_page *now, uint32_t n)
{
	struct pagedet_page *const rows[2] = { was, now };
	uint32_t i;
	unsigned side;
	int r;

	if (!n)
		return pdet_fail(&diff->was->env, EINVAL,
				 "no room for a change");
	if (!diff->out || diff->cursor == diff->out->n) {
		r = pdet_diff_more(diff);
		if (r <= 0)
			return r;
	}
	n = PDET_MIN(n, diff->out->n - diff->cursor);
	memcpy(changes, diff->out->change + diff->cursor,
	       n * sizeof(*changes));
	for (side = 0; side < 2; side++)
		for (i = 0; rows[side] && i < n; i++)
			put_row(diff, &diff->out->rows[side], diff->cursor + i,
				(unsigned char *)rows[side] +
				i * diff->row_size);
	diff->cursor += n;
	return (int)n;
}

const char *pagedet_diff_string(const struct pagedet_diff *diff, uint32_t now,
				uint64_t id, size_t *len)
{
	size_t n;

	if (!diff->out || now > 1)
		return NULL;
	return pdet_strtab_get(&diff->out->rows[now].strings, id,
			       len ? len : &n);
}

int pagedet_diff_totals(const struct pagedet_diff *diff,
			struct pagedet_diff_totals *ret)
{
	struct pagedet_diff_totals t = diff->d->totals;

	t.size = ret->size;
	return pdet_answer_struct(&diff->was->env, ret, &t, sizeof(t));
}

void pagedet_diff_free(struct pagedet_diff *diff)
{
	if (!diff)
		return;
	pdet_diff_free(diff->d);
	free(diff);
}
