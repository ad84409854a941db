/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Flags have two columns: their number, and the names that the trace tells. */
#include "allocs/keys.h"
#include "emit/alloc_cells.h"
#include "emit/cell.h"

static void str(const struct pdet_alloc_cells *c, const char *text)
{
	pdet_out_str(&c->e->out, text);
}

static bool is_number(uint32_t key)
{
	return !pdet_alloc_key_is_text(key);
}

static const char *text_of(const struct pdet_alloc_cells *c, unsigned i,
			   size_t *len)
{
	*len = 0;
	return pdet_allocs_text(c->a, c->value[i], len);
}

/* Bits of flags can be seen in hexadecimal numbers only. */
static void key_number(const struct pdet_alloc_cells *c, unsigned i)
{
	struct pdet_out *out = &c->e->out;

	if (c->by[i] != PAGEDET_ALLOC_GFP) {
		pdet_out_dec(out, c->value[i]);
		return;
	}
	out->at = pdet_out_room(out, out->at, PDET_DIGITS);
	out->at = pdet_put_hex(out->at, c->value[i]);
}

static bool names_of(const struct pdet_alloc_cells *c, unsigned i,
		     char text[PDET_GFP_TEXT], size_t *len)
{
	return c->state[i] == PAGEDET_HAVE &&
	       pdet_allocs_gfp(c->a, c->value[i], text, len);
}

/* --- JSON --- */

void pdet_cells_json_numbers(struct pagedet_emitter *e, const void *row,
			     const struct pdet_cell_number *numbers, size_t n)
{
	size_t k;

	for (k = 0; k < n; k++) {
		pdet_out_str(&e->out, k ? ",\"" : "\"");
		pdet_out_str(&e->out, numbers[k].name);
		pdet_out_str(&e->out, "\":");
		pdet_out_dec(&e->out, pdet_cell_value(row, &numbers[k]));
	}
}

static void json_name(const struct pdet_alloc_cells *c, const char *name)
{
	str(c, "\"");
	str(c, name);
	str(c, "\":");
}

static void json_flags(const struct pdet_alloc_cells *c, unsigned i)
{
	struct pdet_out *out = &c->e->out;
	char text[PDET_GFP_TEXT];
	size_t len;
	bool bad;

	json_name(c, "gfp_names");
	if (names_of(c, i, text, &len))
		out->at = pdet_json_text(out, out->at, text, len, 0, &bad);
	else
		str(c, "null");
	str(c, ",");
}

void pdet_cells_json(const struct pdet_alloc_cells *c)
{
	struct pdet_out *out = &c->e->out;
	const char *text;
	unsigned i;
	size_t len;
	bool bad;

	for (i = 0; i < c->n_by; i++) {
		json_name(c, pdet_alloc_key_name(c->by[i]));
		if (c->state[i] != PAGEDET_HAVE) {
			str(c, "null");
		} else if (is_number(c->by[i])) {
			pdet_out_dec(out, c->value[i]);
		} else {
			text = text_of(c, i, &len);
			out->at = pdet_json_text(out, out->at, text, len, 0,
						 &bad);
		}
		str(c, ",");
		if (c->by[i] == PAGEDET_ALLOC_GFP)
			json_flags(c, i);
	}
}

void pdet_cells_json_reason(struct pagedet_emitter *e, bool *any,
			    const char *name, const char *ending,
			    unsigned state)
{
	pdet_out_str(&e->out, *any ? ",\"" : ",\"missing\":{\"");
	pdet_out_str(&e->out, name);
	pdet_out_str(&e->out, ending);
	pdet_out_str(&e->out, "\":\"");
	pdet_out_str(&e->out, pdet_reason_name(state));
	pdet_out_str(&e->out, "\"");
	*any = true;
}

void pdet_cells_json_missing(const struct pdet_alloc_cells *c, bool *any)
{
	char text[PDET_GFP_TEXT];
	unsigned i;
	size_t len;

	for (i = 0; i < c->n_by; i++) {
		if (pdet_is_reason(c->state[i]))
			pdet_cells_json_reason(c->e, any,
					       pdet_alloc_key_name(c->by[i]),
					       "", c->state[i]);
		if (c->by[i] == PAGEDET_ALLOC_GFP &&
		    c->state[i] != PAGEDET_NONE && !names_of(c, i, text, &len))
			pdet_cells_json_reason(c->e, any, "gfp_names", "",
					       PAGEDET_UNSUPPORTED);
	}
}

/* --- CSV --- */

void pdet_cells_csv_head(const struct pdet_alloc_cells *c)
{
	unsigned i;

	for (i = 0; i < c->n_by; i++) {
		str(c, pdet_alloc_key_name(c->by[i]));
		str(c, c->by[i] == PAGEDET_ALLOC_GFP ? ",gfp_names," : ",");
	}
}

void pdet_cells_csv_reason(struct pagedet_emitter *e, unsigned state)
{
	if (!pdet_is_reason(state))
		return;
	pdet_out_str(&e->out, "?");
	pdet_out_str(&e->out, pdet_reason_name(state));
}

static void csv_flags(const struct pdet_alloc_cells *c, unsigned i)
{
	struct pdet_out *out = &c->e->out;
	char text[PDET_GFP_TEXT];
	size_t len;

	if (names_of(c, i, text, &len))
		out->at = pdet_csv_text(out, out->at, text, len, 0);
	else if (c->state[i] != PAGEDET_NONE)
		pdet_cells_csv_reason(c->e, PAGEDET_UNSUPPORTED);
	str(c, ",");
}

void pdet_cells_csv(const struct pdet_alloc_cells *c)
{
	struct pdet_out *out = &c->e->out;
	const char *text;
	unsigned i;
	size_t len;

	for (i = 0; i < c->n_by; i++) {
		if (c->state[i] != PAGEDET_HAVE) {
			pdet_cells_csv_reason(c->e, c->state[i]);
		} else if (is_number(c->by[i])) {
			key_number(c, i);
		} else {
			text = text_of(c, i, &len);
			out->at = pdet_csv_text(out, out->at, text, len, 0);
		}
		str(c, ",");
		if (c->by[i] == PAGEDET_ALLOC_GFP)
			csv_flags(c, i);
	}
}

/* --- text --- */

static void text_plain(const struct pdet_alloc_cells *c, const char *text,
		       size_t len)
{
	char plain[1024];
	struct pdet_cut cut = { plain, sizeof(plain), 0 };

	pdet_cut_plain(&cut, text, len);
	pdet_out_put(&c->e->out, plain, PDET_MIN(cut.len, sizeof(plain)));
}

static bool has_frames(const struct pdet_alloc_cells *c, unsigned i)
{
	return c->by[i] == PAGEDET_ALLOC_STACK && c->state[i] == PAGEDET_HAVE;
}

/* A line for each, the innermost first. */
static void text_frames(const struct pdet_alloc_cells *c, unsigned i)
{
	size_t len, n;
	const char *text = text_of(c, i, &len);

	while (len) {
		for (n = 0; n < len && text[len - n - 1] != ';'; n++)
			;
		str(c, "        ");
		text_plain(c, text + len - n, n);
		str(c, "\n");
		len -= n + (n < len);
	}
}

static void text_value(const struct pdet_alloc_cells *c, unsigned i)
{
	char flags[PDET_GFP_TEXT];
	const char *text;
	size_t len;

	str(c, " ");
	if (has_frames(c, i)) {
		str(c, "stack");
	} else if (c->state[i] != PAGEDET_HAVE) {
		str(c, c->state[i] == PAGEDET_NONE ? "-" : "?");
	} else if (c->by[i] == PAGEDET_ALLOC_GFP &&
		   names_of(c, i, flags, &len)) {
		pdet_out_put(&c->e->out, flags, len);
	} else if (is_number(c->by[i])) {
		key_number(c, i);
	} else {
		text = text_of(c, i, &len);
		text_plain(c, text, len);
	}
}

void pdet_cells_text_head(const struct pdet_alloc_cells *c)
{
	unsigned i;

	for (i = 0; i < c->n_by; i++) {
		str(c, " ");
		str(c, pdet_alloc_key_name(c->by[i]));
	}
	str(c, "\n");
}

void pdet_cells_text(const struct pdet_alloc_cells *c)
{
	unsigned i;

	for (i = 0; i < c->n_by; i++)
		text_value(c, i);
	str(c, "\n");
	for (i = 0; i < c->n_by; i++)
		if (has_frames(c, i))
			text_frames(c, i);
}
