/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A cell that is not known has its reason in JSON and CSV, and "?" in text. */
#include "emit/cell.h"
#include "emit/kmap/cells.h"

/* More than a name of the kernel needs; a text may be cut to it. */
#define TEXT 1024

struct pdet_kmap_cell *pdet_kmap_put(struct pdet_kmap_row *row,
				     const char *name, uint64_t value,
				     int width)
{
	struct pdet_kmap_cell *c = &row->cell[row->n++];

	*c = (struct pdet_kmap_cell){ .name = name, .is = PDET_KMAP_NUMBER,
				      .state = PAGEDET_HAVE, .value = value,
				      .width = width };
	return c;
}

struct pdet_kmap_cell *pdet_kmap_put_text(struct pdet_kmap_row *row,
					  const char *name, const char *text,
					  unsigned state, int width)
{
	struct pdet_kmap_cell *c = pdet_kmap_put(row, name, 0, width);

	c->is = PDET_KMAP_WORDS;
	c->text = text;
	c->len = strlen(text);
	if (!c->len)
		c->state = state;
	return c;
}

/* A value that is not a text: at most PDET_DIGITS + 1 bytes. */
static size_t put_value(const struct pdet_kmap_cell *c, char *text)
{
	const bool minus = c->is == PDET_KMAP_SIGNED && c->value >> 63;
	char *p = text;

	if (c->is == PDET_KMAP_ADDRESS)
		return (size_t)(pdet_put_hex(p, c->value) - text);
	if (c->is == PDET_KMAP_BOOL) {
		strcpy(text, c->value ? "true" : "false");
		return strlen(text);
	}
	if (minus)
		*p++ = '-';
	return (size_t)(pdet_put_dec(p, minus ? -c->value : c->value) - text);
}

/* --- JSON --- */

void pdet_kmap_json(struct pagedet_emitter *e, const struct pdet_kmap_row *row)
{
	struct pdet_out *out = &e->out;
	char text[PDET_DIGITS + 2];
	const char *quote;
	unsigned i;
	bool bad;

	for (i = 0; i < row->n; i++) {
		const struct pdet_kmap_cell *c = &row->cell[i];

		pdet_out_str(out, i ? ",\"" : "\"");
		pdet_out_str(out, c->name);
		pdet_out_str(out, "\":");
		quote = c->is == PDET_KMAP_ADDRESS ? "\"" : "";
		if (c->state != PAGEDET_HAVE) {
			pdet_out_str(out, "null");
		} else if (c->is == PDET_KMAP_WORDS) {
			out->at = pdet_json_text(out, out->at, c->text, c->len,
						 0, &bad);
		} else {
			pdet_out_str(out, quote);
			pdet_out_put(out, text, put_value(c, text));
			pdet_out_str(out, quote);
		}
	}
}

void pdet_kmap_json_missing(struct pagedet_emitter *e,
			    const struct pdet_kmap_row *row)
{
	bool any = false;
	unsigned i;

	for (i = 0; i < row->n; i++) {
		if (!pdet_is_reason(row->cell[i].state))
			continue;
		pdet_out_str(&e->out, any ? ",\"" : ",\"missing\":{\"");
		pdet_out_str(&e->out, row->cell[i].name);
		pdet_out_str(&e->out, "\":\"");
		pdet_out_str(&e->out, pdet_reason_name(row->cell[i].state));
		pdet_out_str(&e->out, "\"");
		any = true;
	}
	pdet_out_str(&e->out, any ? "}" : "");
}

/* --- CSV --- */

void pdet_kmap_csv_head(struct pagedet_emitter *e,
			const struct pdet_kmap_row *row)
{
	unsigned i;

	for (i = 0; i < row->n; i++) {
		pdet_out_str(&e->out, i ? "," : "");
		pdet_out_str(&e->out, row->cell[i].name);
	}
}

void pdet_kmap_csv(struct pagedet_emitter *e, const struct pdet_kmap_row *row)
{
	struct pdet_out *out = &e->out;
	char text[PDET_DIGITS + 2];
	unsigned i;

	for (i = 0; i < row->n; i++) {
		const struct pdet_kmap_cell *c = &row->cell[i];

		pdet_out_str(out, i ? "," : "");
		if (pdet_is_reason(c->state)) {
			pdet_out_str(out, "?");
			pdet_out_str(out, pdet_reason_name(c->state));
		} else if (c->state != PAGEDET_HAVE) {
			continue;
		} else if (c->is == PDET_KMAP_WORDS) {
			out->at = pdet_csv_text(out, out->at, c->text, c->len,
						0);
		} else {
			pdet_out_put(out, text, put_value(c, text));
		}
	}
}

/* --- text --- */

/* Unlike a count, what has grown has a sign. */
static size_t put_value_signed(const struct pdet_kmap_cell *c, char *text)
{
	if (c->is != PDET_KMAP_SIGNED || c->value >> 63)
		return put_value(c, text);
	*text = '+';
	return 1 + put_value(c, text + 1);
}

static void column(struct pagedet_emitter *e, const struct pdet_kmap_cell *c,
		   const char *text, size_t len, bool is_last)
{
	const size_t want = (size_t)(c->width < 0 ? -c->width : c->width);
	const size_t width = PDET_MAX(want, strlen(c->name));
	const size_t pad = len < width ? width - len : 0;

	if (c->width > 0)
		pdet_out_pad(&e->out, pad);
	pdet_out_put(&e->out, text, len);
	if (c->width < 0 && !is_last)
		pdet_out_pad(&e->out, pad);
	pdet_out_str(&e->out, is_last ? "\n" : " ");
}

static unsigned last_shown(const struct pdet_kmap_row *row)
{
	unsigned i, last = 0;

	for (i = 0; i < row->n; i++)
		if (row->cell[i].width)
			last = i;
	return last;
}

void pdet_kmap_text_head(struct pagedet_emitter *e,
			 const struct pdet_kmap_row *row)
{
	const unsigned last = last_shown(row);
	unsigned i;

	for (i = 0; i <= last; i++)
		if (row->cell[i].width)
			column(e, &row->cell[i], row->cell[i].name,
			       strlen(row->cell[i].name), i == last);
}

void pdet_kmap_text_row(struct pagedet_emitter *e,
			const struct pdet_kmap_row *row)
{
	const unsigned last = last_shown(row);
	char text[TEXT];
	unsigned i;

	for (i = 0; i <= last; i++) {
		const struct pdet_kmap_cell *c = &row->cell[i];
		struct pdet_cut cut = { text, sizeof(text), 0 };

		if (!c->width)
			continue;
		if (c->state != PAGEDET_HAVE)
			pdet_cut_str(&cut, c->state == PAGEDET_NONE ? "-" :
								      "?");
		else if (c->is == PDET_KMAP_WORDS)
			pdet_cut_plain(&cut, c->text, c->len);
		else
			cut.len = put_value_signed(c, text);
		column(e, c, text, PDET_MIN(cut.len, sizeof(text) - 1),
		       i == last);
	}
}

/* "1 object", "2 objects"; the others have no number. */
static size_t noun_len(const struct pdet_kmap_cell *c)
{
	const size_t len = strlen(c->name);

	return len - (c->value == 1 && c->name[len - 1] == 's');
}

void pdet_kmap_text_named(struct pagedet_emitter *e,
			  const struct pdet_kmap_row *row)
{
	char text[PDET_DIGITS + 2];
	unsigned i;

	for (i = 0; i < row->n; i++) {
		if (!row->cell[i].width)
			continue;
		pdet_out_str(&e->out, " ");
		pdet_out_put(&e->out, text,
			     put_value_signed(&row->cell[i], text));
		pdet_out_str(&e->out, " ");
		pdet_out_put(&e->out, row->cell[i].name,
			     noun_len(&row->cell[i]));
	}
}

/* --- any format --- */

void pdet_kmap_head(struct pagedet_emitter *e, const struct pdet_kmap_row *row)
{
	if (e->format == &pdet_emit_text) {
		pdet_kmap_text_head(e, row);
	} else if (e->format == &pdet_emit_csv) {
		pdet_kmap_csv_head(e, row);
		pdet_out_str(&e->out, "\n");
	}
}

void pdet_kmap_emit(struct pagedet_emitter *e, const struct pdet_kmap_row *row)
{
	if (e->format == &pdet_emit_text) {
		pdet_kmap_text_row(e, row);
	} else if (e->format == &pdet_emit_csv) {
		pdet_kmap_csv(e, row);
		pdet_out_str(&e->out, "\n");
	} else {
		pdet_out_str(&e->out, "{");
		pdet_kmap_json(e, row);
		pdet_kmap_json_missing(e, row);
		pdet_out_str(&e->out, "}\n");
	}
}
