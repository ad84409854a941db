/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The border for rows. Only this file makes rows from columns, and gets the
 * data that their ids stand for.
 */
#include <errno.h>
#include <string.h>

#include "api/arguments.h"
#include "emit/emit.h"
#include "query/stacks.h"
#include "schema/page_bytes.h"

/* Gets the batch that still has rows. Returns 1, or 0 at the end. */
static int current(struct pagedet_iter *it)
{
	int r;

	if (it->batch && it->cursor < it->batch->n)
		return 1;
	it->cursor = 0;
	it->batch = NULL;
	r = pdet_iter_step(it->it, &it->batch);
	return r < 0 ? -pdet_errno_closed(-r) : r;
}

void pdet_show_columns(struct pagedet_iter *it)
{
	const struct pdet_iter *inner = it->it;
	const struct pdet_fields *shown = inner->q.grouped ?
		&inner->out.have : &inner->plan.wanted;
	unsigned f;

	pdet_fields_for(f, shown) {
		const struct pagedet_field_info *info = pdet_field_info(f);
		struct pdet_shown *to = &it->shown[it->n_shown];

		if (!inner->q.grouped &&
		    !pdet_fields_has(&inner->plan.columns, f))
			continue;
		it->n_shown++;
		to->field = (uint8_t)f;
		to->narrow = info->width < sizeof(uint64_t);
		to->old = info->offset + info->width > it->row_size;
		to->offset = info->offset;
		it->old_rows |= to->old;
	}
}

/* Writes one column to @n rows of the caller's stride. */
static void put_column(const struct pagedet_iter *it,
		       const struct pdet_shown *shown, unsigned char *rows,
		       uint32_t n)
{
	const uint64_t *value = it->batch->value[shown->field] + it->cursor;
	const uint16_t *cell = it->batch->cell[shown->field] + it->cursor;
	const size_t stride = it->row_size;
	const size_t at = shown->field * sizeof(*cell);
	uint32_t i;

	for (i = 0; i < n; i++, rows += stride) {
		uint32_t narrow = (uint32_t)value[i];

		memcpy(rows + at, &cell[i], sizeof(*cell));
		if (shown->narrow)
			memcpy(rows + shown->offset, &narrow, sizeof(narrow));
		else
			memcpy(rows + shown->offset, &value[i],
			       sizeof(*value));
	}
}

/* Writes one row, without a loop inside the loop over columns. */
static void put_row(const struct pagedet_iter *it, unsigned char *row)
{
	const struct pdet_shown *shown = it->shown;
	const struct pdet_shown *end = shown + it->n_shown;
	const struct pdet_batch *b = it->batch;
	const uint32_t at = it->cursor;

	for (; shown < end; shown++) {
		const uint64_t *value = b->value[shown->field] + at;
		const uint32_t narrow = (uint32_t)*value;

		memcpy(row + shown->field * sizeof(uint16_t),
		       b->cell[shown->field] + at, sizeof(uint16_t));
		if (shown->narrow)
			memcpy(row + shown->offset, &narrow, sizeof(narrow));
		else
			memcpy(row + shown->offset, value, sizeof(*value));
	}
}

/* Columns past the caller's row are OLD_ROW. */
static void put_old_row(const struct pagedet_iter *it, unsigned field,
			unsigned char *rows, uint32_t n)
{
	const uint16_t cell = PDET_CELL(PAGEDET_OLD_ROW,
					PAGEDET_SOURCE_NOBODY);
	uint32_t i;

	for (i = 0; i < n; i++, rows += it->row_size)
		memcpy(rows + field * sizeof(cell), &cell, sizeof(cell));
}

static void put_rows(const struct pagedet_iter *it, unsigned char *rows,
		     uint32_t n)
{
	const struct pdet_shown *shown = it->shown;

	for (; shown < it->shown + it->n_shown; shown++)
		if (shown->old)
			put_old_row(it, shown->field, rows, n);
		else
			put_column(it, shown, rows, n);
}

int pagedet_next(struct pagedet_iter *it, struct pagedet_page *rows,
		 uint32_t n)
{
	unsigned char *out = (unsigned char *)rows;
	int r;

	if (!n)
		return pdet_fail(&it->pd->env, EINVAL, "no room for a row");
	r = current(it);
	if (r <= 0)
		return r;
	n = PDET_MIN(n, it->batch->n - it->cursor);
	n = PDET_MIN(n, (uint32_t)INT32_MAX);
	memset(out, 0, (size_t)n * it->row_size);
	if (n == 1 && !it->old_rows)
		put_row(it, out);
	else
		put_rows(it, out, n);
	it->step = it->cursor;
	it->cursor += n;
	return (int)n;
}

int pagedet_next_columns(struct pagedet_iter *it, struct pagedet_columns *ret)
{
	struct pdet_fields shown = it->it->plan.wanted;
	struct pagedet_columns c = { .size = sizeof(c) };
	size_t n = 0;
	unsigned i;
	int r = pdet_check_answer(&it->pd->env, ret);

	if (r < 0)
		return r;
	r = current(it);
	if (r <= 0)
		return r;
	if (it->it->q.grouped)
		shown = it->batch->have;
	for (i = 0; i < PDET_FIELDS; i++) {
		unsigned f = pdet_field_at(i);

		if (!pdet_fields_has(&shown, f) || !it->batch->value[f])
			continue;
		it->columns[n].field = f;
		it->columns[n].reserved = 0;
		it->columns[n].value = it->batch->value[f] + it->cursor;
		it->columns[n].cell = it->batch->cell[f] + it->cursor;
		n++;
	}
	c.rows = it->batch->n - it->cursor;
	c.n_columns = n;
	c.columns = it->columns;
	pdet_answer_struct(&it->pd->env, ret, &c, sizeof(c));
	it->step = it->cursor;
	it->cursor = it->batch->n;
	return (int)c.rows;
}

const char *pagedet_string(const struct pagedet_iter *it, uint64_t id,
			   size_t *len)
{
	const char *text = NULL;

	if (it->batch)
		text = pdet_strtab_get(&it->batch->strings, id, len);
	return text ? text : pdet_strtab_get(&it->it->kept, id, len);
}

int pagedet_stack(const struct pagedet_iter *it, uint64_t id,
		  const char **frames, uint32_t n)
{
	int r = pdet_stacks_get(it->it, id, frames, n);

	if (r >= 0)
		return r;
	r = -pdet_errno_closed(-r);
	if (r == -ENOENT)
		return pdet_fail(&it->pd->env, ENOENT, "no open source has a "
				 "stack 0x%llx",
				 (unsigned long long)id);
	errno = -r;
	return pdet_fail_errno(&it->pd->env, "cannot read the stack 0x%llx",
			       (unsigned long long)id);
}

const void *pagedet_page_bytes(const struct pagedet_iter *it, uint64_t row,
			       size_t *len)
{
	const struct pdet_batch *b = it->batch;
	const char *bytes;

	if (!b || row >= it->cursor - it->step)
		return NULL;
	/* Keeping the strings until all rows are known would take gigabytes. */
	if (it->it->ordered || it->it->run || it->it->q.grouped) {
		pdet_fail(&it->pd->env, ENOTSUP,
			  "sorted rows, runs and groups have no bytes");
		return NULL;
	}
	bytes = pdet_page_bytes_of(b->bytes, it->step + (uint32_t)row);
	if (bytes)
		*len = b->bytes->page_size;
	return bytes;
}

int pagedet_format(const struct pagedet_iter *it,
		   const struct pagedet_page *row, uint32_t field, char *text,
		   size_t size)
{
	const unsigned char *bytes = (const unsigned char *)row;
	const struct pagedet_field_info *info = pdet_field_info(field);
	unsigned known_field;
	uint64_t value = 0, known = ~(uint64_t)0;
	const char *string = NULL;
	size_t len = 0;
	uint16_t cell;

	if (!info || info->offset + info->width > it->row_size)
		return pdet_fail(&it->pd->env, ENOENT, "there is no field %u",
				 field);
	memcpy(&cell, bytes + field * sizeof(cell), sizeof(cell));
	known_field = pdet_known_field(field);
	if (info->width == sizeof(uint64_t)) {
		memcpy(&value, bytes + info->offset, sizeof(value));
	} else {
		uint32_t narrow;

		memcpy(&narrow, bytes + info->offset, sizeof(narrow));
		value = narrow;
	}
	if (known_field == PAGEDET_FIELD_FLAGS_KNOWN && known_field != field)
		known = row->flags_known;
	else if (known_field == PAGEDET_FIELD_PTE_KNOWN && known_field != field)
		known = row->pte_known;
	if (info->type == PAGEDET_TYPE_STRING ||
	    info->type == PAGEDET_TYPE_LIST)
		string = pagedet_string(it, value, &len);
	return (int)pdet_format_cell(field, value, cell, known, string, len,
				     text, size);
}
