/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes a row as labelled lines, one field per line, with related fields
 * together. It serves answers about one page, and terminals too narrow for a
 * table.
 */
#include "emit/stack.h"
#include "emit/text.h"

void pdet_record_lay_out(struct pagedet_emitter *e)
{
	struct pdet_text *t = e->own;
	unsigned i;

	t->label_width = 0;
	for (i = 0; i < e->n_col; i++)
		t->label_width = PDET_MAX(t->label_width,
					  strlen(e->col[i].name));
}

/* In a long answer, fields without a value share one line. */
static bool listed(const struct pdet_text *t, const struct pdet_view *v)
{
	return t->folded && v->state != PAGEDET_HAVE &&
	       v->state != PDET_STATE_HIDDEN;
}

static void put_label(struct pagedet_emitter *e, const char *label)
{
	const struct pdet_text *t = e->own;

	pdet_text_colour(e, PDET_DIM);
	pdet_out_str(&e->out, label);
	pdet_text_colour(e, PDET_RESET);
	pdet_out_pad(&e->out, t->label_width + 2 - strlen(label));
}

/* Writes one line per function, below the id. */
static void put_frames(struct pagedet_emitter *e, uint64_t id)
{
	const struct pdet_text *t = e->own;
	const char *frames[PDET_EMIT_FRAMES];
	int n = pdet_stack_frames(e, id, frames), i;
	char plain[1024];

	for (i = 0; i < n; i++) {
		struct pdet_cut cut = { plain, sizeof(plain), 0 };

		pdet_cut_plain(&cut, frames[i], strlen(frames[i]));
		pdet_out_pad(&e->out, t->label_width + 4);
		pdet_out_put(&e->out, plain, PDET_MIN(cut.len, sizeof(plain)));
		pdet_out_str(&e->out, "\n");
	}
	if (n >= 0)
		return;
	pdet_out_pad(&e->out, t->label_width + 4);
	pdet_out_str(&e->out, "? ");
	pdet_out_str(&e->out, pdet_reason_name((unsigned)-n));
	pdet_out_str(&e->out, "\n");
}

static void put_field(struct pagedet_emitter *e, unsigned col,
		      const struct pdet_view *v)
{
	struct pdet_text *t = e->own;
	bool alarm = pdet_text_alarm(t, col, v);
	const char *source = pdet_source_name(v->source);

	pdet_text_cell(e, v, PDET_CELL_RECORD);
	put_label(e, e->col[col].name);
	if (alarm)
		pdet_text_colour(e, PDET_RED);
	if (e->col[col].type == PAGEDET_TYPE_MASK)
		pdet_text_words(e, t->scratch, t->scratch_len,
				t->label_width + 2, t->label_width + 2);
	else
		pdet_out_put(&e->out, t->scratch, t->scratch_len);
	if (alarm)
		pdet_text_colour(e, PDET_RESET);
	if (e->options & PAGEDET_EMIT_SOURCES && source &&
	    (v->state == PAGEDET_HAVE || v->state == PAGEDET_NONE)) {
		pdet_text_colour(e, PDET_DIM);
		pdet_out_str(&e->out, "  [");
		pdet_out_str(&e->out, source);
		pdet_out_str(&e->out, "]");
		pdet_text_colour(e, PDET_RESET);
	}
	pdet_out_str(&e->out, "\n");
	if (e->options & PAGEDET_EMIT_STACKS && v->state == PAGEDET_HAVE &&
	    e->col[col].type == PAGEDET_TYPE_STACK)
		put_frames(e, v->value);
}

/*
 * "-  swap_type swap_offset", "?  memcg_path": the sign is the label. The first
 * of these lists follows an empty line.
 */
static void put_list(struct pagedet_emitter *e, const struct pdet_view *row,
		     bool none, bool *first)
{
	const struct pdet_text *t = e->own;
	char names[PDET_FIELDS * 24];
	struct pdet_cut cut = { names, sizeof(names), 0 };
	unsigned i;

	for (i = 0; i < e->n_col; i++) {
		if (!listed(t, &row[i]) ||
		    (row[i].state == PAGEDET_NONE) != none)
			continue;
		if (cut.len)
			pdet_cut_put(&cut, " ", 1);
		pdet_cut_str(&cut, e->col[i].name);
	}
	if (!cut.len)
		return;
	if (!*first && t->spaced)
		pdet_out_str(&e->out, "\n");
	*first = true;
	put_label(e, none ? "-" : "?");
	pdet_text_words(e, names, PDET_MIN(cut.len, sizeof(names)),
			t->label_width + 2, t->label_width + 2);
	pdet_out_str(&e->out, "\n");
}

static bool same_group(const struct pagedet_emitter *e, unsigned a, unsigned b)
{
	return !strcmp(pdet_field_info(e->col[a].field)->group,
		       pdet_field_info(e->col[b].field)->group);
}

/*
 * Orders columns by the first field of their group. Fields about the row itself
 * come last.
 */
static unsigned group_order(const struct pagedet_emitter *e, unsigned *ret)
{
	bool done[PDET_FIELDS] = { false };
	unsigned i, k, pass, n = 0;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < e->n_col; i++) {
			const char *group =
				pdet_field_info(e->col[i].field)->group;

			if (done[i] || (!pass && !strcmp(group, "row")))
				continue;
			for (k = i; k < e->n_col; k++) {
				if (done[k] || !same_group(e, i, k))
					continue;
				done[k] = true;
				ret[n++] = k;
			}
		}
	}
	return n;
}

/*
 * With stacks, the allocation comes before the free, and each long stack comes
 * after its other fields.
 */
static unsigned stack_order(const struct pagedet_emitter *e, unsigned *ret)
{
	enum pdet_stack_part part, of;
	unsigned i, last, n = 0;

	for (part = PDET_STACK_PAGE; part <= PDET_STACK_FREE; part++)
		for (last = 0; last < 2; last++)
			for (i = 0; i < e->n_col; i++) {
				(void)pdet_stack_key(e->col[i].field, &of);
				if (of == part &&
				    (e->col[i].type == PAGEDET_TYPE_STACK) ==
					    last)
					ret[n++] = i;
			}
	return n;
}

void pdet_record_row(struct pagedet_emitter *e, const struct pdet_view *row)
{
	const struct pdet_text *t = e->own;
	unsigned order[PDET_FIELDS], n, i, last = 0;
	bool first = true;

	n = e->options & PAGEDET_EMIT_STACKS ? stack_order(e, order) :
					       group_order(e, order);
	if (t->begun)
		pdet_out_str(&e->out, "\n");
	for (i = 0; i < n; i++) {
		unsigned col = order[i];

		if (listed(t, &row[col]))
			continue;
		if (!first && t->spaced && !same_group(e, last, col))
			pdet_out_str(&e->out, "\n");
		put_field(e, col, &row[col]);
		first = false;
		last = col;
	}
	if (!t->folded)
		return;
	put_list(e, row, true, &first);
	put_list(e, row, false, &first);
}
