/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes JSON lines: one object per row, with the names of fields as keys. It
 * is built for speed: keys, names and masks are prepared texts, each row
 * requests room once, and nothing uses printf.
 */
#include <stdlib.h>

#include "emit/cell.h"
#include "emit/stack.h"

/*
 * Short prepared texts are copied in blocks of this size. Sources and targets
 * have that much slack.
 */
#define BLOCK 32

/* Strings are processed in pieces of this size. */
#define CHUNK 1024

#define NAMES 32

struct json_col {
	char key[BLOCK];	/* "name": */
	size_t key_len;
	enum pdet_stack_part part; /* of a row with stacks */
	/* by type, one of them */
	char (*name)[BLOCK];	/* of enum values below NAMES: "anon", */
	struct pdet_mask_text *mask;
};

struct json {
	struct json_col col[PDET_FIELDS];
	size_t row_room;	/* for a row without its strings */
};

/* The unknown values of a row. */
struct lost {
	unsigned n;
	struct {
		unsigned col;
		unsigned state;
		bool frames;	/* show its frames instead of the id */
	} cell[2 * PDET_FIELDS];
};

static void lose(struct lost *lost, unsigned col, unsigned state, bool frames)
{
	lost->cell[lost->n].col = col;
	lost->cell[lost->n].state = state;
	lost->cell[lost->n++].frames = frames;
}

/* Copies a prepared text of at most one block. */
static inline char *copy(char *p, const char *from, size_t len)
{
	memcpy(p, from, BLOCK);
	return p + len;
}

static inline char *copy_long(char *p, const char *from, size_t len)
{
	size_t i;

	for (i = 0; i < len; i += BLOCK)
		memcpy(p + i, from + i, BLOCK);
	return p + len;
}

static char *put(char *p, const char *text)
{
	size_t len = strlen(text);

	memcpy(p, text, len);
	return p + len;
}

static char *put_quoted(char *p, const char *name)
{
	*p++ = '"';
	p = put(p, name);
	*p++ = '"';
	return p;
}

/*
 * Objects and arrays have a comma after each part. The last comma becomes the
 * closing bracket.
 */
static char *put_close(char *p, char bracket)
{
	if (p[-1] == ',')
		p--;
	*p++ = bracket;
	return p;
}

static char *put_escape(char *p, uint32_t code)
{
	static const char hex[] = "0123456789abcdef";
	int shift;

	*p++ = '\\';
	switch (code) {
	case '"':
	case '\\':
		*p++ = (char)code;
		return p;
	case '\n':
		*p++ = 'n';
		return p;
	case '\t':
		*p++ = 't';
		return p;
	case '\r':
		*p++ = 'r';
		return p;
	}
	*p++ = 'u';
	for (shift = 12; shift >= 0; shift -= 4)
		*p++ = hex[code >> shift & 15];
	return p;
}

/* JSON is also read on terminals. */
static bool plain(uint32_t code)
{
	return code != '"' && code != '\\' && pdet_is_harmless(code);
}

/*
 * Writes the text between quotes. Gets its own room, and leaves @keep bytes for
 * the caller. *@bad is set if a part of the text is not UTF-8.
 */
char *pdet_json_text(struct pdet_out *out, char *p, const char *s, size_t len,
		      size_t keep, bool *bad)
{
	const char *end = s + len, *checked = s;
	uint32_t code;
	int n;

	p = pdet_out_room(out, p, keep + 2);
	*p++ = '"';
	while (s < end) {
		if (s >= checked) {
			/* A byte becomes at most six. */
			p = pdet_out_room(out, p, keep + 6 * CHUNK + BLOCK);
			checked = s + CHUNK;
		}
		if (plain((unsigned char)*s) && (unsigned char)*s < 0x80) {
			*p++ = *s++;
			continue;
		}
		n = pdet_utf8(s, end, &code);
		if (n < 0) {
			p = put(p, "\xef\xbf\xbd");
			n = -n;
			*bad = true;
		} else if (plain(code)) {
			memcpy(p, s, (size_t)n);
			p += n;
		} else {
			p = put_escape(p, code);
		}
		s += n;
	}
	*p++ = '"';
	return p;
}

static char *put_hex_bytes(struct pdet_out *out, char *p, const char *s,
			   size_t len, size_t keep)
{
	static const char hex[] = "0123456789abcdef";
	const char *end = s + len;

	p = pdet_out_room(out, p, keep + 2);
	*p++ = '"';
	for (; s < end; s++) {
		p = pdet_out_room(out, p, keep + 4);
		*p++ = hex[(unsigned char)*s >> 4];
		*p++ = hex[(unsigned char)*s & 15];
	}
	*p++ = '"';
	return p;
}

/* Names joined by '|' become an array. */
static char *put_list(struct pdet_out *out, char *p, const char *s, size_t len,
		      size_t keep, bool *bad)
{
	const char *end = s + len, *bar;

	*p++ = '[';
	while (s < end) {
		bar = memchr(s, '|', (size_t)(end - s));
		if (!bar)
			bar = end;
		p = pdet_json_text(out, p, s, (size_t)(bar - s), keep, bad);
		*p++ = ',';
		s = bar < end ? bar + 1 : end;
	}
	return put_close(p, ']');
}

static char *put_string(struct pagedet_emitter *e, const struct json *j,
			const struct pdet_emit_col *c,
			const struct json_col *jc, char *p, const char *s,
			size_t len)
{
	bool bad = false;

	p = copy(p, jc->key, jc->key_len);
	if (c->type == PAGEDET_TYPE_LIST)
		p = put_list(&e->out, p, s, len, j->row_room, &bad);
	else
		p = pdet_json_text(&e->out, p, s, len, j->row_room, &bad);
	*p++ = ',';
	if (!bad)
		return p;
	/* Omit the quote and the colon behind it. */
	memcpy(p, jc->key, jc->key_len - 2);
	p = put(p + jc->key_len - 2, "_hex\":");
	p = put_hex_bytes(&e->out, p, s, len, j->row_room);
	*p++ = ',';
	return p;
}

/* Includes the unknown bits, with both keys. */
static void fill_mask(const struct pdet_emit_col *c,
		      const struct json_col *jc, struct pdet_mask_text *m)
{
	char *p = copy(m->text, jc->key, jc->key_len);

	*p++ = '[';
	p = pdet_put_mask(p, c->field, m->value, "\"", ',');
	p = put(p, "],");
	if (m->unknown) {
		*p++ = '"';
		p = put(p, c->name);
		p = put(p, "_unknown\":[");
		p = pdet_put_mask(p, c->field, m->unknown, "\"", ',');
		p = put(p, "],");
	}
	m->len = (uint32_t)(p - m->text);
}

static inline char *put_mask(const struct pdet_emit_col *c,
			     const struct json_col *jc, char *p,
			     uint64_t value, uint64_t unknown)
{
	struct pdet_mask_text *m = pdet_mask_slot(jc->mask, value, unknown);

	if (!m->len)
		fill_mask(c, jc, m);
	return copy_long(p, m->text, m->len);
}

static char *put_number_name(char *p, const struct pdet_emit_col *c,
			     uint64_t value)
{
	const char *name = pdet_value_name(c->field, value);

	*p++ = '"';
	p = name ? put(p, name) : pdet_put_dec(p, value);
	return put(p, "\",");
}

static inline char *put_value(const struct pdet_emit_col *c,
			      const struct json_col *jc, char *p, uint64_t v)
{
	p = copy(p, jc->key, jc->key_len);
	switch (c->type) {
	case PAGEDET_TYPE_ENUM:
		if (v < NAMES && jc->name[v][0])
			return copy(p, jc->name[v] + 1,
				    (unsigned char)jc->name[v][0]);
		return put_number_name(p, c, v);
	case PAGEDET_TYPE_HEX:
	case PAGEDET_TYPE_STACK:
		*p++ = '"';
		p = pdet_put_hex(p, v);
		*p++ = '"';
		break;
	case PAGEDET_TYPE_DEV:
		*p++ = '"';
		p = pdet_put_dev(p, v);
		*p++ = '"';
		break;
	case PAGEDET_TYPE_PROT:
		*p++ = '"';
		p = pdet_put_prot(p, v);
		*p++ = '"';
		break;
	case PAGEDET_TYPE_SIGNED:
		p = pdet_put_signed(p, v);
		break;
	default:
		p = pdet_put_dec(p, v);
	}
	*p++ = ',';
	return p;
}

static char *put_lost(const struct pagedet_emitter *e, char *p,
		      const struct lost *lost)
{
	unsigned i;

	p = put(p, "\"missing\":{");
	for (i = 0; i < lost->n; i++) {
		*p++ = '"';
		p = put(p, e->col[lost->cell[i].col].name);
		p = put(p, lost->cell[i].frames ? "_frames\":" : "\":");
		p = put_quoted(p, pdet_reason_name(lost->cell[i].state));
		*p++ = ',';
	}
	p = put_close(p, '}');
	*p++ = ',';
	return p;
}

static char *put_sources(const struct pagedet_emitter *e,
			 const struct pdet_batch *b, uint32_t row, char *p)
{
	static const char key[] = "\"source\":{";
	char *start = p;
	const char *name;
	unsigned i, state;

	p = put(p, key);
	for (i = 0; i < e->n_col; i++) {
		const struct pdet_emit_col *c = &e->col[i];

		state = PAGEDET_CELL_STATE(pdet_col_cell(c, row));
		name = pdet_source_name(
			PAGEDET_CELL_SOURCE(pdet_col_cell(c, row)));
		if ((state != PAGEDET_HAVE && state != PAGEDET_NONE) || !name ||
		    pdet_emit_hidden(e, b, c, row))
			continue;
		p = put_quoted(p, c->name);
		*p++ = ':';
		p = put_quoted(p, name);
		*p++ = ',';
	}
	if (p == start + sizeof(key) - 1)
		return start;
	p = put_close(p, '}');
	*p++ = ',';
	return p;
}

/* Groups always have exactly their keys, so an unknown value is "?". */
static char *put_no_value(const struct pagedet_emitter *e,
			  const struct json_col *jc, char *p, unsigned col,
			  unsigned state, struct lost *lost)
{
	if (state == PAGEDET_NONE) {
		p = copy(p, jc->key, jc->key_len);
		return put(p, "null,");
	}
	if (e->query.grouped) {
		p = copy(p, jc->key, jc->key_len);
		return put(p, "\"?\",");
	}
	if (pdet_is_reason(state))
		lose(lost, col, state, false);
	return p;
}

static char *put_frames(struct pagedet_emitter *e, char *p, unsigned col,
			uint64_t id, struct lost *lost)
{
	const struct json *j = e->own;
	const char *frames[PDET_EMIT_FRAMES];
	int n = pdet_stack_frames(e, id, frames), i;
	bool bad;

	if (n < 0) {
		lose(lost, col, (unsigned)-n, true);
		return p;
	}
	p = put(p, "\"frames\":[");
	for (i = 0; i < n; i++) {
		p = pdet_json_text(&e->out, p, frames[i], strlen(frames[i]),
			     j->row_room, &bad);
		*p++ = ',';
	}
	p = put_close(p, ']');
	*p++ = ',';
	return p;
}

/* Writes the columns of one part of a row. */
static char *put_cols(struct pagedet_emitter *e, const struct pdet_batch *b,
		      uint32_t row, enum pdet_stack_part part, char *p,
		      struct lost *lost)
{
	const bool frames = e->options & PAGEDET_EMIT_STACKS &&
			    !e->query.grouped;
	const struct json *j = e->own;
	unsigned i, state;
	const char *s;
	size_t len;
	uint64_t v;

	for (i = 0; i < e->n_col; i++) {
		const struct pdet_emit_col *c = &e->col[i];
		const struct json_col *jc = &j->col[i];

		if (jc->part != part)
			continue;
		state = PAGEDET_CELL_STATE(pdet_col_cell(c, row));
		if (!PDET_LIKELY(state == PAGEDET_HAVE)) {
			p = put_no_value(e, jc, p, i, state, lost);
			continue;
		}
		v = pdet_col_value(c, row);
		if (jc->mask) {
			p = put_mask(c, jc, p, v, pdet_col_unknown(c, row));
		} else if (c->type == PAGEDET_TYPE_STRING ||
			   c->type == PAGEDET_TYPE_LIST) {
			s = pdet_strtab_get(&b->strings, v, &len);
			if (s)
				p = put_string(e, j, c, jc, p, s, len);
			else
				p = put_no_value(e, jc, p, i,
						 PAGEDET_NO_MEMORY, lost);
		} else if (PDET_LIKELY(!c->pointer) ||
			   !pdet_emit_hidden(e, b, c, row)) {
			p = put_value(c, jc, p, v);
			if (frames && c->type == PAGEDET_TYPE_STACK)
				p = put_frames(e, p, i, v, lost);
		} else if (e->query.grouped) {
			p = put(copy(p, jc->key, jc->key_len), "\"?\",");
		} else {
			lose(lost, i, PDET_STATE_HIDDEN, false);
		}
	}
	return p;
}

char *pdet_json_object(struct pagedet_emitter *e, const struct pdet_batch *b,
		       uint32_t row, const struct pdet_fields *only, char *p)
{
	struct json *j = e->own;
	struct lost lost = { .n = 0 };
	unsigned i;

	p = pdet_out_room(&e->out, p, j->row_room);
	/* A part that was not written is omitted. */
	for (i = 0; i < e->n_col; i++)
		if (!pdet_fields_has(only, e->col[i].field))
			j->col[i].part = PDET_STACK_ALLOC;
	*p++ = '{';
	p = put_cols(e, b, row, PDET_STACK_PAGE, p, &lost);
	if (lost.n)
		p = put_lost(e, p, &lost);
	for (i = 0; i < e->n_col; i++)
		j->col[i].part = PDET_STACK_PAGE;
	return put_close(p, '}');
}

/*
 * Writes the part as an object of its own. It is null if all columns are
 * nothing, and omitted if none is wanted.
 */
static char *put_object(struct pagedet_emitter *e, const struct pdet_batch *b,
			uint32_t row, enum pdet_stack_part part,
			const char *key, char *p, struct lost *lost)
{
	const struct json *j = e->own;
	bool any = false, says = false;
	unsigned i;

	for (i = 0; i < e->n_col; i++) {
		if (j->col[i].part != part)
			continue;
		any = true;
		says |= PAGEDET_CELL_STATE(pdet_col_cell(&e->col[i], row)) !=
			PAGEDET_NONE;
	}
	if (!any)
		return p;
	p = put(put_quoted(p, key), says ? ":{" : ":null");
	if (says)
		p = put_close(put_cols(e, b, row, part, p, lost), '}');
	*p++ = ',';
	return p;
}

/* Of a group, which has no other reasons. */
static char *put_bytes(char *p, uint64_t bytes, unsigned state)
{
	p = put(p, "\"bytes\":");
	if (state == PAGEDET_HAVE)
		return pdet_put_dec(p, bytes);
	p = put(p, "null");
	if (!pdet_is_reason(state))
		return p;
	p = put(p, ",\"missing\":{\"bytes\":");
	return put(put_quoted(p, pdet_reason_name(state)), "}");
}

static char *put_row(struct pagedet_emitter *e, const struct pdet_batch *b,
		     uint32_t row, char *p)
{
	const struct json *j = e->own;
	struct lost lost;
	unsigned state;
	uint64_t bytes;

	lost.n = 0;
	p = pdet_out_room(&e->out, p, j->row_room);
	*p++ = '{';
	p = put_cols(e, b, row, PDET_STACK_PAGE, p, &lost);
	if (e->options & PAGEDET_EMIT_STACKS) {
		p = put_object(e, b, row, PDET_STACK_ALLOC, "alloc", p, &lost);
		p = put_object(e, b, row, PDET_STACK_FREE, "free", p, &lost);
	}
	if (lost.n)
		p = put_lost(e, p, &lost);
	if (e->query.grouped) {
		state = pdet_emit_bytes(e, b, row, &bytes);
		p = put_bytes(p, bytes, state);
	} else if (e->options & PAGEDET_EMIT_SOURCES) {
		p = put_sources(e, b, row, p);
	}
	p = put_close(p, '}');
	*p++ = '\n';
	return p;
}

static void json_batch(struct pagedet_emitter *e, const struct pdet_batch *b)
{
	char *p = e->out.at;
	uint32_t row;

	for (row = 0; row < b->n; row++)
		p = put_row(e, b, row, p);
	e->out.at = p;
}

static void forget(struct json *j)
{
	unsigned i;

	for (i = 0; i < PDET_FIELDS; i++) {
		free(j->col[i].name);
		free(j->col[i].mask);
	}
	memset(j, 0, sizeof(*j));
}

/* The first byte of each slot is the length of its text. */
static bool prepare_names(const struct pdet_emit_col *c, struct json_col *jc)
{
	const char *name;
	unsigned v;
	char *p;

	jc->name = calloc(NAMES + 1, sizeof(*jc->name));
	if (!jc->name)
		return false;
	for (v = 0; v < NAMES; v++) {
		name = pdet_value_name(c->field, v);
		if (!name || strlen(name) > BLOCK - 4)
			continue;
		p = put_quoted(jc->name[v] + 1, name);
		*p++ = ',';
		jc->name[v][0] = (char)(p - jc->name[v] - 1);
	}
	return true;
}

static bool json_begin(struct pagedet_emitter *e)
{
	struct json *j = e->own;
	const bool stacks = e->options & PAGEDET_EMIT_STACKS &&
			    !e->query.grouped;
	unsigned i;

	forget(j);
	j->row_room = 8 * BLOCK;
	for (i = 0; i < e->n_col; i++) {
		const struct pdet_emit_col *c = &e->col[i];
		struct json_col *jc = &j->col[i];
		const char *key = stacks ? pdet_stack_key(c->field, &jc->part) :
					   c->name;
		char *p = put_quoted(jc->key, key);

		*p++ = ':';
		jc->key_len = (size_t)(p - jc->key);
		/*
		 * This is needed twice: for key and value, and for name and
		 * reason or source.
		 */
		j->row_room += 6 * BLOCK;
		if (c->type == PAGEDET_TYPE_MASK) {
			jc->mask = calloc(PDET_MASK_SLOTS,
					  sizeof(*jc->mask));
			j->row_room += sizeof(jc->mask->text);
			if (!jc->mask)
				return false;
		} else if (c->type == PAGEDET_TYPE_ENUM) {
			if (!prepare_names(c, jc))
				return false;
		}
	}
	return true;
}

static void put_missing(struct pdet_out *out, const char *name,
			unsigned state, bool first)
{
	pdet_out_str(out, first ? ",\"missing\":{\"" : ",\"");
	pdet_out_str(out, name);
	pdet_out_str(out, "\":\"");
	pdet_out_str(out, pdet_reason_name(state));
	pdet_out_str(out, "\"");
}

static void put_mappers(struct pdet_out *out, const struct pagedet_mappers *m)
{
	const char *kind = pdet_value_name(PAGEDET_FIELD_MAPCOUNT_KIND,
					   m->mapcount_kind);
	const bool unseen = pdet_is_reason(m->found_state);
	const bool lost = pdet_is_reason(m->expected_state);
	/* The meaning of the count is unknown, as for a captured folio. */
	const bool vague = m->expected_state == PAGEDET_HAVE && !kind;
	uint64_t i;

	pdet_out_str(out, "{\"pfn\":");
	pdet_out_dec(out, m->pfn);
	if (m->more) {
		pdet_out_str(out, ",\"more\":");
		pdet_out_dec(out, m->more);
	}
	if (!unseen) {
		pdet_out_str(out, ",\"found\":");
		pdet_out_dec(out, m->found);
	}
	if (m->expected_state == PAGEDET_HAVE) {
		pdet_out_str(out, ",\"expected\":");
		pdet_out_dec(out, m->expected);
	} else if (!lost) {
		pdet_out_str(out, ",\"expected\":null");
	}
	if (kind) {
		pdet_out_str(out, ",\"mapcount_kind\":\"");
		pdet_out_str(out, kind);
		pdet_out_str(out, "\"");
	} else if (!lost && !vague) {
		pdet_out_str(out, ",\"mapcount_kind\":null");
	}
	if (!unseen && m->shared) {
		pdet_out_str(out, ",\"shared\":");
		pdet_out_dec(out, m->shared);
	}
	pdet_out_str(out, ",\"unread\":[");
	for (i = 0; i < m->n_unread; i++) {
		if (i)
			pdet_out_str(out, ",");
		pdet_out_dec(out, m->unread[i]);
	}
	pdet_out_str(out, "]");
	if (unseen)
		put_missing(out, "found", m->found_state, true);
	if (lost)
		put_missing(out, "expected", m->expected_state, !unseen);
	if ((lost && !kind) || vague)
		put_missing(out, "mapcount_kind", lost ? m->expected_state :
			    PAGEDET_UNSUPPORTED, !unseen && !lost);
	pdet_out_str(out, unseen || lost || vague ? "}}\n" : "}\n");
}

/* Says that the sums are those of a part. */
static void put_part(struct pdet_out *out, const struct pdet_emit_end *end)
{
	pdet_out_str(out, ",\"complete\":false,\"visited\":");
	pdet_out_dec(out, end->visited);
	pdet_out_str(out, ",\"wanted\":");
	if (end->wanted)
		pdet_out_dec(out, end->wanted);
	else
		pdet_out_str(out, "null");
}

static void json_end(struct pagedet_emitter *e, const struct pdet_emit_end *end)
{
	struct pdet_out *out = &e->out;
	size_t i;

	for (i = 0; i < end->n_mappers; i++)
		put_mappers(out, &end->mappers[i]);
	if (!e->query.grouped)
		return;
	pdet_out_str(out, "{\"total\":{\"");
	pdet_out_str(out, e->counted);
	pdet_out_str(out, "\":");
	pdet_out_dec(out, end->pages);
	pdet_out_str(out, ",");
	out->at = pdet_out_room(out, out->at, 8 * BLOCK);
	out->at = pdet_emit_counts_others(e) ?
		put_bytes(out->at, end->bytes, end->bytes_state) :
		put_bytes(out->at, end->pages * e->query.page_size,
			  PAGEDET_HAVE);
	pdet_out_str(out, ",\"undecided\":");
	pdet_out_dec(out, end->undecided);
	if (end->spilled) {
		pdet_out_str(out, ",\"spilled\":");
		pdet_out_dec(out, end->spilled);
	}
	if (!end->complete)
		put_part(out, end);
	pdet_out_str(out, "}}\n");
}

static void out_text(struct pdet_out *out, const char *key, const char *text)
{
	bool bad = false;

	pdet_out_str(out, key);
	out->at = pdet_json_text(out, out->at, text ? text : "",
			   text ? strlen(text) : 0, BLOCK, &bad);
}

static void json_ability(struct pagedet_emitter *e, const char *field,
			 const char *source, const struct pagedet_ability *a)
{
	struct pdet_out *out = &e->out;

	out_text(out, "{\"field\":", field);
	out_text(out, ",\"source\":", source);
	pdet_out_str(out, a->can ? ",\"can\":true" : ",\"can\":false");
	out_text(out, ",\"why\":", a->why);
	out_text(out, ",\"advice\":", a->advice);
	if (a->tier) {
		pdet_out_str(out, ",\"tier\":");
		pdet_out_dec(out, a->tier);
	}
	pdet_out_str(out, "}\n");
}

static void json_number(struct pdet_out *out, const char *key, uint64_t value)
{
	char digits[PDET_DIGITS];

	pdet_out_str(out, key);
	pdet_out_str(out, "\"");
	pdet_out_put(out, digits,
		     (size_t)(pdet_put_hex(digits, value) - digits));
	pdet_out_str(out, "\"");
}

static void json_frame(struct pdet_out *out, const struct pagedet_frame *f,
		       const char *comma)
{
	pdet_out_str(out, comma);
	out_text(out, "{\"type\":", pdet_frame_type_name(f->type));
	if (f->address)
		json_number(out, ",\"address\":", f->address);
	if (f->function) {
		out_text(out, ",\"function\":", f->function);
		json_number(out, ",\"offset\":", f->offset);
	}
	if (f->function && f->bytes)
		json_number(out, ",\"size\":", f->bytes);
	if (f->module)
		out_text(out, ",\"module\":", f->module);
	if (f->build_id)
		out_text(out, ",\"build_id\":", f->build_id);
	if (f->file_address)
		json_number(out, ",\"file_address\":", f->file_address);
	if (f->why)
		out_text(out, ",\"why\":", f->why);
	pdet_out_str(out, "}");
}

static void json_thread(struct pagedet_emitter *e,
			const struct pdet_emit_thread *t)
{
	struct pdet_out *out = &e->out;
	uint32_t i;

	pdet_out_str(out, "{\"pid\":");
	pdet_out_dec(out, t->pid);
	pdet_out_str(out, ",\"tid\":");
	pdet_out_dec(out, t->tid);
	if (t->has_kernel && !t->reason) {
		pdet_out_str(out, ",\"kernel_stack\":[");
		for (i = 0; i < t->n; i++)
			out_text(out, i ? "," : "", t->frames[i]);
		pdet_out_str(out, "]");
	}
	if (t->has_user && !t->user_reason) {
		pdet_out_str(out, ",\"user_stack\":[");
		for (i = 0; i < t->n_user; i++)
			json_frame(out, &t->user[i], i ? "," : "");
		pdet_out_str(out, "]");
	}
	if (t->stopped)
		pdet_out_str(out, ",\"perturbed\":true");
	if (t->reason)
		out_text(out, ",\"missing\":{\"kernel_stack\":", t->reason);
	if (t->user_reason)
		out_text(out, t->reason ? ",\"user_stack\":" :
			 ",\"missing\":{\"user_stack\":", t->user_reason);
	pdet_out_str(out, t->reason || t->user_reason ? "}}\n" : "}\n");
}

static void json_free(struct pagedet_emitter *e)
{
	forget(e->own);
}

const struct pdet_emit_format pdet_emit_json = {
	.size = sizeof(struct json),
	.begin = json_begin,
	.batch = json_batch,
	.end = json_end,
	.thread = json_thread,
	.ability = json_ability,
	.free = json_free,
};
