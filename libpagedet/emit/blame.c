/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A row is numbers, and the values of a group: of a block, the group that holds
 * most of it. */
#include <errno.h>
#include <stddef.h>

#include "emit/alloc_cells.h"
#include "emit/blame.h"
#include "emit/cell.h"

static const struct pdet_cell_number of_block[] = {
#define NUMBER(name) { #name, offsetof(struct pagedet_blame_block, name) }
	NUMBER(first_pfn), NUMBER(free), NUMBER(movable),
	NUMBER(perhaps_free), NUMBER(held), NUMBER(explained),
	NUMBER(holders), NUMBER(holder_pages),
#undef NUMBER
}, of_holder[] = {
#define NUMBER(name) { #name, offsetof(struct pagedet_blame_holder, name) }
	NUMBER(blocks), NUMBER(blocks_alone), NUMBER(pages),
	NUMBER(pages_alone), NUMBER(objects), NUMBER(bytes),
#undef NUMBER
}, of_total[] = {
#define NUMBER(name) { #name, offsetof(struct pagedet_blame_total, name) }
	NUMBER(block_pages), NUMBER(blocks), NUMBER(blocks_held),
	NUMBER(blocks_explained), NUMBER(free), NUMBER(movable),
	NUMBER(perhaps_free), NUMBER(held), NUMBER(explained), NUMBER(used),
	NUMBER(unverified), NUMBER(holders),
#undef NUMBER
};

struct emitting {
	struct pagedet_emitter *e;
	const struct pdet_emit_blame *b;
	struct pdet_alloc_cells cells;
	const struct pdet_cell_number *numbers;
	size_t n;
	const void *row;
	struct pagedet_blame_block block;
	struct pagedet_blame_holder holder;
};

static void str(struct emitting *s, const char *text)
{
	pdet_out_str(&s->e->out, text);
}

static void json_row(struct emitting *s)
{
	bool any = false;

	str(s, "{");
	pdet_cells_json(&s->cells);
	pdet_cells_json_numbers(s->e, s->row, s->numbers, s->n);
	pdet_cells_json_missing(&s->cells, &any);
	str(s, any ? "}}\n" : "}\n");
}

static void csv_row(struct emitting *s)
{
	size_t k;

	pdet_cells_csv(&s->cells);
	for (k = 0; k < s->n; k++) {
		str(s, k ? "," : "");
		pdet_out_dec(&s->e->out,
			     pdet_cell_value(s->row, &s->numbers[k]));
	}
	str(s, "\n");
}

/* --- text --- */

#define WIDTH 9

static void column(struct emitting *s, size_t k, const char *text, size_t len)
{
	pdet_out_right(&s->e->out,
		       PDET_MAX((size_t)WIDTH, strlen(s->numbers[k].name)),
		       text, len);
}

static void text_row(struct emitting *s)
{
	char digits[PDET_DIGITS], *end;
	size_t k;

	for (k = 0; k < s->n; k++) {
		end = pdet_put_dec(digits,
				   pdet_cell_value(s->row, &s->numbers[k]));
		column(s, k, digits, (size_t)(end - digits));
	}
	pdet_cells_text(&s->cells);
}

static void head(struct emitting *s)
{
	const bool text = s->e->format == &pdet_emit_text;
	size_t k;

	if (!text)
		pdet_cells_csv_head(&s->cells);
	for (k = 0; k < s->n; k++) {
		const char *name = s->numbers[k].name;

		if (text)
			column(s, k, name, strlen(name));
		else
			str(s, k ? "," : "");
		str(s, text ? "" : name);
	}
	if (text)
		pdet_cells_text_head(&s->cells);
	else
		str(s, "\n");
}

/* --- */

static int next(struct emitting *s)
{
	return s->b->blocks ? s->b->next_block(s->b->arg, &s->block) :
			      s->b->next_holder(s->b->arg, &s->holder);
}

static void text_total(struct emitting *s)
{
	const struct pagedet_blame_total *t = &s->b->total;
	struct pdet_out *out = &s->e->out;

	str(s, "explained ");
	pdet_out_dec(out, t->explained);
	str(s, " of ");
	pdet_out_dec(out, t->held);
	str(s, " held pages, and ");
	pdet_out_dec(out, t->blocks_explained);
	str(s, " of ");
	pdet_out_dec(out, t->blocks_held);
	str(s, t->blocks_held == 1 ? " held block\n" : " held blocks\n");
}

static void total(struct emitting *s)
{
	if (s->e->format == &pdet_emit_text) {
		text_total(s);
	} else if (s->e->format != &pdet_emit_csv) {
		str(s, "{\"total\":{");
		pdet_cells_json_numbers(s->e, &s->b->total, of_total,
					PDET_COUNT(of_total));
		str(s, "}}\n");
	}
}

int pdet_emit_blame(struct pagedet_emitter *e, struct pdet_env *env,
		    const struct pdet_emit_blame *b)
{
	struct emitting s = { .e = e, .b = b };
	void (*row)(struct emitting *s) = json_row;
	uint64_t left = b->max;
	const int r = pdet_emitter_lists(e, env, "blame");

	if (r < 0)
		return r;
	s.cells = (struct pdet_alloc_cells){ .e = e, .a = b->allocs };
	s.cells.by = pdet_allocs_keys(b->allocs, &s.cells.n_by);
	s.block.size = sizeof(s.block);
	s.holder.size = sizeof(s.holder);
	s.numbers = b->blocks ? of_block : of_holder;
	s.n = b->blocks ? PDET_COUNT(of_block) : PDET_COUNT(of_holder);
	s.row = b->blocks ? (void *)&s.block : (void *)&s.holder;
	s.cells.value = b->blocks ? s.block.value : s.holder.value;
	s.cells.state = b->blocks ? s.block.state : s.holder.state;
	if (e->format == &pdet_emit_csv)
		row = csv_row;
	else if (e->format == &pdet_emit_text)
		row = text_row;
	if (row != json_row)
		head(&s);
	for (; left && next(&s) == 1; left--)
		row(&s);
	total(&s);
	return pdet_out_result(&e->out, env);
}
