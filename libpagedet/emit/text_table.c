/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes several rows as a table. Chooses columns and widths, and cuts cells so
 * that each row fits into a line of the terminal.
 */
#include <errno.h>
#include <stdlib.h>

#include "emit/text.h"

#define BETWEEN 2		/* blanks between columns */
#define NARROWEST 12		/* no column is cut further */

static const char ellipsis[] = "...";

#define ELLIPSIS (sizeof(ellipsis) - 1)

/*
 * Writes a letter for each set bit. A bit without a letter, which later rows
 * may have, gets its name.
 */
static uint32_t lay_letters(const struct pdet_text *t, unsigned col,
			    const struct pdet_view *v, char *text)
{
	uint64_t bits = v->value & t->alarm[col], odd = 0;
	char *p = text, letter;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		for (; bits; bits &= bits - 1) {
			letter = pdet_text_letter(v->field,
					(unsigned)__builtin_ctzll(bits));
			if (letter)
				*p++ = letter;
			else
				odd |= bits & -bits;
		}
		bits = v->value & ~t->alarm[col];
	}
	if (odd && p > text)
		*p++ = ',';
	p = pdet_put_mask(p, v->field, odd, "", ',');
	if (!v->value)
		*p++ = '0';
	return (uint32_t)(p - text);
}

/* Bad news comes first, so that a cut cannot remove it. */
static size_t lay_mask(struct pdet_text *t, unsigned col,
		       const struct pdet_view *v)
{
	struct pdet_mask_text *m = pdet_mask_slot(t->mask[col], v->value, 0);
	uint64_t alarm = v->value & t->alarm[col];
	char *p = m->text;

	if (!m->len && t->letters[col]) {
		m->len = lay_letters(t, col, v, m->text);
	} else if (!m->len) {
		p = pdet_put_mask(p, v->field, alarm, "", ',');
		if (alarm && alarm != v->value)
			*p++ = ',';
		p = pdet_put_mask(p, v->field, v->value & ~alarm, "", ',');
		if (!v->value)
			*p++ = '0';
		m->len = (uint32_t)(p - m->text);
	}
	memcpy(t->scratch, m->text, m->len);
	t->scratch_len = m->len;
	return m->len;
}

/* Writes one cell of the table to the scratch. Returns its width. */
static size_t lay_cell(struct pagedet_emitter *e,
		       const struct pdet_text_col *tc,
		       const struct pdet_view *v)
{
	struct pdet_text *t = e->own;
	char *p = t->scratch;

	if (v->state != PAGEDET_HAVE) {
		t->scratch_len = 0;
		return tc->part == PDET_TEXT_VALUE ?
		       pdet_text_cell(e, v, PDET_CELL_TABLE) : 0;
	}
	if (t->mask[tc->col])
		return lay_mask(t, tc->col, v);
	switch (tc->part) {
	case PDET_TEXT_VALUE:
		if (e->col[tc->col].type != PAGEDET_TYPE_NUMBER)
			return pdet_text_cell(e, v, PDET_CELL_TABLE);
		p = pdet_put_dec(p, v->value);
		break;
	case PDET_TEXT_HEX:
		p = pdet_put_hex(p, v->value);
		break;
	case PDET_TEXT_SIZE:
		p = pdet_put_size(p, v->value * e->query.page_size);
		break;
	default:
		p = pdet_put_share(p, v->value, t->total);
	}
	t->scratch_len = (size_t)(p - t->scratch);
	return t->scratch_len;
}

static void add(struct pdet_text *t, unsigned col, enum pdet_text_part part,
		const char *head, unsigned type)
{
	struct pdet_text_col *tc = &t->table[t->n_table++];

	tc->col = col;
	tc->part = part;
	tc->head = head;
	tc->width = strlen(head);
	tc->right = type == PAGEDET_TYPE_NUMBER ||
		    type == PAGEDET_TYPE_SIGNED || type == PAGEDET_TYPE_HEX ||
		    part == PDET_TEXT_SIZE;
	if (part == PDET_TEXT_HEX)
		tc->right = false;
	tc->shrink = type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST ||
		     type == PAGEDET_TYPE_MASK;
}

/*
 * The footer reports columns without answers. If more rows may come, a column
 * is left out only if no source can answer it in this query.
 */
static bool left_out(const struct pagedet_emitter *e, unsigned col, bool ended)
{
	const struct pdet_text *t = e->own;
	unsigned f = e->col[col].field;

	if (!t->folded || e->query.grouped || f == PAGEDET_FIELD_PFN)
		return false;
	if (ended)
		return pdet_text_says_nothing(t, col) ||
		       pdet_text_says_unknown(t, col);
	return pdet_text_says_unknown(t, col) && e->query.why &&
	       pdet_is_reason(e->query.why(e->query.user, f));
}

static void choose(struct pagedet_emitter *e, bool ended)
{
	struct pdet_text *t = e->own;
	unsigned i;

	t->n_table = 0;
	for (i = 0; i < e->n_col; i++) {
		const struct pdet_emit_col *c = &e->col[i];
		const bool count = e->query.grouped && i + 1 == e->n_col;

		t->out_of_table[i] = left_out(e, i, ended);
		if (t->out_of_table[i] || t->same[i] || t->no_room[i])
			continue;
		add(t, i, PDET_TEXT_VALUE, c->name, c->type);
		if (!t->no_hex &&
		    !strcmp(pdet_field_info(c->field)->unit, "pfn"))
			add(t, i, PDET_TEXT_HEX, "hex", c->type);
		if (!count)
			continue;
		if (!pdet_emit_counts_others(e))
			add(t, i, PDET_TEXT_SIZE, "size", c->type);
		/* A share of a part would pass for one of the whole. */
		if (t->total && !t->in_part)
			add(t, i, PDET_TEXT_SHARE, "share", c->type);
	}
}

static size_t sum(const struct pdet_text *t)
{
	size_t total = t->n_table ? (t->n_table - 1) * BETWEEN : 0;
	unsigned i;

	for (i = 0; i < t->n_table; i++)
		total += t->table[i].width;
	return total;
}

static size_t least(const struct pdet_text_col *tc)
{
	return PDET_MAX(strlen(tc->head), (size_t)NARROWEST);
}

/* Narrows the widest columns first, evenly. */
static bool narrow(struct pdet_text *t, size_t width)
{
	struct pdet_text_col *widest;
	size_t next, take;
	unsigned i;

	while (sum(t) > width) {
		widest = NULL;
		next = 0;
		for (i = 0; i < t->n_table; i++) {
			struct pdet_text_col *tc = &t->table[i];

			if (!tc->shrink || tc->width <= least(tc))
				continue;
			if (!widest || tc->width > widest->width) {
				next = widest ? widest->width : 0;
				widest = tc;
			} else {
				next = PDET_MAX(next, tc->width);
			}
		}
		if (!widest)
			return false;
		take = PDET_MIN(sum(t) - width, widest->width - least(widest));
		if (next < widest->width)
			take = PDET_MIN(take, widest->width - next);
		else
			take = 1;
		widest->width -= take;
	}
	return true;
}

static const char *total_label(const struct pdet_text *t)
{
	return t->in_part ? "at least" : "total";
}

static struct pdet_view all_pages(const struct pdet_text *t)
{
	return (struct pdet_view){
		.value = t->total,
		.field = PAGEDET_FIELD_PAGES,
		.state = PAGEDET_HAVE,
	};
}

static void room_for_total(struct pagedet_emitter *e)
{
	struct pdet_text *t = e->own;
	struct pdet_view all = all_pages(t);
	unsigned k;
	size_t wide;

	t->table[0].width = PDET_MAX(t->table[0].width,
				     strlen(total_label(t)));
	for (k = 0; k < t->n_table; k++) {
		if (t->table[k].col + 1 < e->n_col)
			continue;
		wide = lay_cell(e, &t->table[k], &all);
		t->table[k].width = PDET_MAX(t->table[k].width, wide);
	}
}

bool pdet_table_try(struct pagedet_emitter *e, bool ended, bool cut)
{
	struct pdet_text *t = e->own;
	struct pdet_view row[PDET_FIELDS];
	bool fits = true;
	unsigned k;
	size_t i;

	choose(e, ended);
	if (!t->n_table) {
		t->folded = false;
		choose(e, ended);
	}
	for (i = 0; i < t->n_held; i++) {
		pdet_text_row(e, i, row);
		for (k = 0; k < t->n_table; k++) {
			struct pdet_text_col *tc = &t->table[k];
			size_t wide = lay_cell(e, tc, &row[tc->col]);

			tc->width = PDET_MAX(tc->width, wide);
		}
	}
	if (e->query.grouped && e->n_col > 1)
		room_for_total(e);
	if (e->width)
		fits = cut ? narrow(t, e->width) : sum(t) <= e->width;
	t->table_width = sum(t);
	return fits;
}

/* These fields are long, and a single page is not shown as a table. */
static bool make_masks(struct pagedet_emitter *e)
{
	struct pdet_text *t = e->own;
	unsigned i;

	for (i = 0; i < e->n_col; i++) {
		if (e->col[i].type != PAGEDET_TYPE_MASK)
			continue;
		t->mask[i] = calloc(PDET_MASK_SLOTS, sizeof(*t->mask[i]));
		if (!t->mask[i])
			return false;
	}
	return true;
}

bool pdet_table_lay_out(struct pagedet_emitter *e, bool ended)
{
	if (!make_masks(e)) {
		e->out.error = ENOMEM;
		return false;
	}
	return pdet_table_try(e, ended, false) || pdet_text_fit(e, ended);
}

/* Skips @n characters. */
static size_t characters(const char *text, size_t len, size_t n)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((text[i] & 0xc0) != 0x80 && !n--)
			break;
	return i;
}

/* Cuts a path at its start, and anything else at its end. */
static void put_cut(struct pdet_out *out, const char *text, size_t len,
		    size_t wide, size_t room)
{
	size_t keep = room - ELLIPSIS, at;

	if (*text == '/') {
		at = characters(text, len, wide - keep);
		pdet_out_str(out, ellipsis);
		pdet_out_put(out, text + at, len - at);
	} else {
		pdet_out_put(out, text, characters(text, len, keep));
		pdet_out_str(out, ellipsis);
	}
}

/* The width of a cell that is cut if the line has no room. */
static size_t cut_to(const struct pdet_text_col *tc, size_t wide, long slack)
{
	const long least_room = (long)PDET_MIN(tc->width, (size_t)NARROWEST);
	const long room = (long)tc->width + slack;

	return PDET_MIN(wide, (size_t)PDET_MAX(room, least_room));
}

/*
 * Writes the scratch in its column. A cell wider than the column moves the
 * rest, if the line has room. If not, the next cells that can do it give way.
 */
static void put_cell(struct pagedet_emitter *e, unsigned k, size_t wide,
		     const char *colour, long *slack)
{
	struct pdet_text *t = e->own;
	const struct pdet_text_col *tc = &t->table[k];
	size_t shown = wide, pad;

	if (tc->shrink && e->width)
		shown = cut_to(tc, wide, *slack);
	pad = shown < tc->width ? tc->width - shown : 0;
	if (e->width && *slack < 0) {
		const size_t back = PDET_MIN(pad, (size_t)-*slack);

		pad -= back;
		*slack += (long)back;
	}
	if (shown > tc->width)
		*slack -= (long)(shown - tc->width);
	if (k)
		pdet_out_pad(&e->out, BETWEEN);
	if (tc->right)
		pdet_out_pad(&e->out, pad);
	if (colour)
		pdet_text_colour(e, colour);
	if (shown < wide)
		put_cut(&e->out, t->scratch, t->scratch_len, wide, shown);
	else
		pdet_out_put(&e->out, t->scratch, t->scratch_len);
	if (colour)
		pdet_text_colour(e, PDET_RESET);
	if (!tc->right && k + 1 < t->n_table)
		pdet_out_pad(&e->out, pad);
}

static long spare(const struct pagedet_emitter *e)
{
	const struct pdet_text *t = e->own;

	return e->width > t->table_width ? (long)(e->width - t->table_width) :
					   0;
}

static void put_word(struct pagedet_emitter *e, unsigned k, const char *word,
		     const char *colour)
{
	struct pdet_text *t = e->own;
	long slack = 0;

	t->scratch_len = strlen(word);
	memcpy(t->scratch, word, t->scratch_len);
	put_cell(e, k, t->scratch_len, colour, &slack);
}

void pdet_table_head(struct pagedet_emitter *e)
{
	const struct pdet_text *t = e->own;
	unsigned k;

	for (k = 0; k < t->n_table; k++)
		put_word(e, k, t->table[k].head, PDET_BOLD);
	pdet_out_str(&e->out, "\n");
}

void pdet_table_row(struct pagedet_emitter *e, const struct pdet_view *row)
{
	const struct pdet_text *t = e->own;
	long slack = spare(e);
	size_t wide;
	unsigned k;

	for (k = 0; k < t->n_table; k++) {
		const struct pdet_text_col *tc = &t->table[k];

		wide = lay_cell(e, tc, &row[tc->col]);
		put_cell(e, k, wide,
			 pdet_text_colour_of(e, tc->col, &row[tc->col]),
			 &slack);
	}
	pdet_out_str(&e->out, "\n");
}

void pdet_table_total(struct pagedet_emitter *e)
{
	const struct pdet_text *t = e->own;
	struct pdet_view all = all_pages(t);
	long slack = spare(e);
	size_t wide;
	unsigned k;

	put_word(e, 0, total_label(t), NULL);
	for (k = 1; k < t->n_table; k++) {
		if (t->table[k].col + 1 < e->n_col) {
			put_word(e, k, "", NULL);
			continue;
		}
		wide = lay_cell(e, &t->table[k], &all);
		put_cell(e, k, wide, NULL, &slack);
	}
	pdet_out_str(&e->out, "\n");
}
