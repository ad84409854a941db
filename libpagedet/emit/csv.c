/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes CSV (RFC 4180) with one header line. Nothing is an empty field, a
 * missing answer is "?reason", a mask without bits is 0. Lines end with a
 * newline only, as the tools around a pipe expect. In strings, bytes that
 * control a terminal or are not UTF-8 become \xNN. A string that a spreadsheet
 * would take for a formula gets an apostrophe in front.
 */
#include <stdlib.h>

#include "emit/cell.h"
#include "emit/emitter.h"

#define NAMES 32
#define CHUNK 1024

struct csv {
	struct pdet_mask_text *mask[PDET_FIELDS]; /* by column */
	const char *name[PDET_FIELDS][NAMES]; /* names of enum values, by
				 * column */
	size_t row_room;	/* for a row without its strings */
	bool begun;		/* the header below has been written */
	unsigned n_header;
	uint8_t header[PDET_FIELDS + 1]; /* its fields, then whether it is
				 * grouped */
};

static char *put(char *p, const char *text)
{
	size_t len = strlen(text);

	memcpy(p, text, len);
	return p + len;
}

/* Whether a reader would split the text, or take it for a missing answer. */
static bool needs_quotes(const char *s, size_t len)
{
	return !len || *s == '?' || memchr(s, ',', len) ||
	       memchr(s, '"', len) || memchr(s, '\n', len) ||
	       memchr(s, '\r', len);
}

/* Whether the text starts like a formula in spreadsheets. */
static bool looks_like_formula(const char *s, size_t len)
{
	return len > 1 && memchr("=+-@\t\r", *s, 6);
}

static char *put_byte(char *p, unsigned char byte)
{
	static const char hex[] = "0123456789abcdef";

	*p++ = '\\';
	*p++ = 'x';
	*p++ = hex[byte >> 4];
	*p++ = hex[byte & 15];
	return p;
}

/* Writes the character at @s, or invalid bytes. Returns how many. */
static size_t put_character(char **p, const char *s, const char *end)
{
	uint32_t code;
	int n = pdet_utf8(s, end, &code), i;

	if (n > 0 && (pdet_is_harmless(code) || code == '\n' ||
		      code == '\t')) {
		if (code == '"')
			*(*p)++ = '"';
		memcpy(*p, s, (size_t)n);
		*p += n;
		return (size_t)n;
	}
	n = n < 0 ? -n : n;
	for (i = 0; i < n; i++)
		*p = put_byte(*p, (unsigned char)s[i]);
	return (size_t)n;
}

/* How many bytes are printed as they are. */
static size_t plain(const char *s, const char *end)
{
	const char *at = s;

	while (at < end && *at >= ' ' && *at <= '~' && *at != '"')
		at++;
	return (size_t)(at - s);
}

/* Gets its own room, and leaves @keep. */
char *pdet_csv_text(struct pdet_out *out, char *p, const char *s, size_t len,
		      size_t keep)
{
	const bool quotes = needs_quotes(s, len);
	const char *const end = s + len;
	const char *part;
	size_t n;

	p = pdet_out_room(out, p, keep + 3);
	if (quotes)
		*p++ = '"';
	if (looks_like_formula(s, len))
		*p++ = '\'';
	while (s < end) {
		p = pdet_out_room(out, p, keep + 4 * (CHUNK + 4) + 2);
		part = s + PDET_MIN((size_t)(end - s), (size_t)CHUNK);
		n = plain(s, part);
		memcpy(p, s, n);
		p += n;
		s += n;
		while (s < part)
			s += put_character(&p, s, end);
	}
	if (quotes)
		*p++ = '"';
	return p;
}

static char *put_reason(const struct pagedet_emitter *e, char *p,
			unsigned state)
{
	*p++ = '?';
	return e->query.grouped ? p : put(p, pdet_reason_name(state));
}

/* Writes the mask, and the column of its unknown bits. */
static void fill_mask(const struct pdet_emit_col *c, struct pdet_mask_text *m)
{
	char *p = m->text;

	if (m->value)
		p = pdet_put_mask(p, c->field, m->value, "", '|');
	else
		*p++ = '0';
	*p++ = ',';
	if (c->known < PDET_FIELDS) {
		p = pdet_put_mask(p, c->field, m->unknown, "", '|');
		*p++ = ',';
	}
	m->len = (uint32_t)(p - m->text);
}

static char *put_mask(const struct pagedet_emitter *e,
		      const struct pdet_emit_col *c,
		      struct pdet_mask_text *mask, uint32_t row, char *p)
{
	uint64_t value = pdet_col_value(c, row);
	uint64_t unknown = pdet_col_unknown(c, row);
	struct pdet_mask_text *m = pdet_mask_slot(mask, value, unknown);
	unsigned state = pdet_col_known_state(c, row);

	if (!m->len)
		fill_mask(c, m);
	memcpy(p, m->text, m->len);
	p += m->len;
	if (c->known == PDET_FIELDS || state == PAGEDET_HAVE)
		return p;
	/* The comma after an empty list of unknown bits. */
	p = put_reason(e, p - 1, state);
	*p++ = ',';
	return p;
}

static char *put_value(const struct pdet_emit_col *c,
		       const char *const *names, char *p, uint64_t v)
{
	const char *name;

	switch (c->type) {
	case PAGEDET_TYPE_ENUM:
		name = v < NAMES ? names[v] : NULL;
		return name ? put(p, name) : pdet_put_dec(p, v);
	case PAGEDET_TYPE_HEX:
	case PAGEDET_TYPE_STACK:
		return pdet_put_hex(p, v);
	case PAGEDET_TYPE_DEV:
		return pdet_put_dev(p, v);
	case PAGEDET_TYPE_PROT:
		return pdet_put_prot(p, v);
	case PAGEDET_TYPE_SIGNED:
		return pdet_put_signed(p, v);
	default:
		return pdet_put_dec(p, v);
	}
}

static char *put_cell(struct pagedet_emitter *e, const struct pdet_batch *b,
		      unsigned col, uint32_t row, char *p)
{
	const struct csv *csv = e->own;
	const struct pdet_emit_col *c = &e->col[col];
	unsigned state = PAGEDET_CELL_STATE(pdet_col_cell(c, row));
	const char *s;
	size_t len;

	if (state != PAGEDET_HAVE) {
		if (state != PAGEDET_NONE)
			p = put_reason(e, p, state);
		*p++ = ',';
		if (c->known == PDET_FIELDS)
			return p;
		if (state != PAGEDET_NONE)
			p = put_reason(e, p, state);
	} else if (csv->mask[col]) {
		return put_mask(e, c, csv->mask[col], row, p);
	} else if (c->type == PAGEDET_TYPE_STRING ||
		   c->type == PAGEDET_TYPE_LIST) {
		s = pdet_strtab_get(&b->strings, pdet_col_value(c, row), &len);
		if (s)
			p = pdet_csv_text(&e->out, p, s, len, csv->row_room);
		else
			p = put_reason(e, p, PAGEDET_NO_MEMORY);
	} else if (PDET_LIKELY(!c->pointer) ||
		   !pdet_emit_hidden(e, b, c, row)) {
		p = put_value(c, csv->name[col], p, pdet_col_value(c, row));
	} else {
		p = put_reason(e, p, PDET_STATE_HIDDEN);
	}
	*p++ = ',';
	return p;
}

static char *put_bytes(const struct pagedet_emitter *e,
		       const struct pdet_batch *b, uint32_t row, char *p)
{
	uint64_t bytes;
	const unsigned state = pdet_emit_bytes(e, b, row, &bytes);

	if (state == PAGEDET_HAVE)
		return pdet_put_dec(p, bytes);
	return pdet_is_reason(state) ? put_reason(e, p, state) : p;
}

static void csv_batch(struct pagedet_emitter *e, const struct pdet_batch *b)
{
	const struct csv *csv = e->own;
	char *p = e->out.at;
	uint32_t row;
	unsigned i;

	for (row = 0; row < b->n; row++) {
		p = pdet_out_room(&e->out, p, csv->row_room);
		for (i = 0; i < e->n_col; i++)
			p = put_cell(e, b, i, row, p);
		if (e->query.grouped) {
			p = put_bytes(e, b, row, p);
			*p++ = '\n';
		} else if (e->n_col) {
			p[-1] = '\n';
		}
	}
	e->out.at = p;
}

static void put_header(struct pagedet_emitter *e)
{
	unsigned i;

	for (i = 0; i < e->n_col; i++) {
		if (i)
			pdet_out_str(&e->out, ",");
		pdet_out_str(&e->out, e->col[i].name);
		if (e->col[i].known == PDET_FIELDS)
			continue;
		pdet_out_str(&e->out, ",");
		pdet_out_str(&e->out, e->col[i].name);
		pdet_out_str(&e->out, "_unknown");
	}
	if (e->query.grouped)
		pdet_out_str(&e->out, ",bytes");
	if (e->n_col)
		pdet_out_str(&e->out, "\n");
}

static bool csv_begin(struct pagedet_emitter *e)
{
	struct csv *csv = e->own;
	uint8_t header[PDET_FIELDS + 1] = { 0 };
	unsigned i, v;

	csv->row_room = 64;
	for (i = 0; i < PDET_FIELDS; i++) {
		free(csv->mask[i]);
		csv->mask[i] = NULL;
	}
	for (i = 0; i < e->n_col; i++) {
		header[i] = (uint8_t)e->col[i].field;
		csv->row_room += 2 * PDET_DIGITS;
		for (v = 0; v < NAMES; v++)
			csv->name[i][v] =
				e->col[i].type == PAGEDET_TYPE_ENUM ?
				pdet_value_name(e->col[i].field, v) : NULL;
		if (e->col[i].type != PAGEDET_TYPE_MASK)
			continue;
		csv->mask[i] = calloc(PDET_MASK_SLOTS,
				      sizeof(*csv->mask[i]));
		if (!csv->mask[i])
			return false;
		csv->row_room += sizeof(csv->mask[i]->text);
	}
	header[e->n_col] = e->query.grouped;
	/* A second query with the same columns continues the table. */
	if (csv->begun && csv->n_header == e->n_col &&
	    !memcmp(csv->header, header, sizeof(header)))
		return true;
	csv->begun = true;
	csv->n_header = e->n_col;
	memcpy(csv->header, header, sizeof(header));
	put_header(e);
	return true;
}

/* Totals and summaries are not rows of this table. */
static void csv_end(struct pagedet_emitter *e, const struct pdet_emit_end *end)
{
	(void)e;
	(void)end;
}

static void out_text(struct pdet_out *out, const char *text, char after)
{
	if (text && *text)
		out->at = pdet_csv_text(out, out->at, text, strlen(text), 1);
	pdet_out_put(out, &after, 1);
}

static void csv_ability(struct pagedet_emitter *e, const char *field,
			const char *source, const struct pagedet_ability *a)
{
	static const char header[] = "field,source,can,why,advice\n";
	struct csv *csv = e->own;
	struct pdet_out *out = &e->out;

	if (!csv->begun)
		pdet_out_str(out, header);
	csv->begun = true;
	out_text(out, field, ',');
	out_text(out, source, ',');
	pdet_out_str(out, a->can ? "true," : "false,");
	out_text(out, a->why, ',');
	out_text(out, a->advice, '\n');
}

static void csv_free(struct pagedet_emitter *e)
{
	struct csv *csv = e->own;
	unsigned i;

	for (i = 0; i < PDET_FIELDS; i++)
		free(csv->mask[i]);
}

const struct pdet_emit_format pdet_emit_csv = {
	.size = sizeof(struct csv),
	.begin = csv_begin,
	.batch = csv_batch,
	.end = csv_end,
	.ability = csv_ability,
	.free = csv_free,
};
