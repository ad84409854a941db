/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes changes: for each place its old and new values, then the totals. JSON
 * has an object for each side, CSV a line for each field.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text/plural.h"
#include "emit/cell.h"
#include "emit/diff.h"
#include "emit/emitter.h"

#define F(name) PAGEDET_FIELD_##name

/* Longest value in text for people, in characters. */
#define SHOWN 160
#define CHANGE_WIDTH 10
#define PLACE_WIDTH 26

static void str(struct pdet_diff_emit *x, const char *text)
{
	pdet_out_str(&x->e->out, text);
}

static void dec(struct pdet_diff_emit *x, uint64_t value)
{
	pdet_out_dec(&x->e->out, value);
}

static bool has_bit(const uint64_t *set, unsigned f)
{
	return set[f / 64] >> f % 64 & 1;
}

static struct pdet_diff_row row_of(const struct pdet_diff_out *out, unsigned i,
				   unsigned side)
{
	const struct pdet_diff_row row = { &out->rows[side], i };

	return row;
}

/*
 * Whether a side has a row, which is needed to say something about the place.
 */
static bool is_row(const struct pdet_diff_emit *x, struct pdet_diff_row r)
{
	unsigned i;

	for (i = 0; i < x->n_place; i++)
		if (pdet_batch_state(r.b, r.at, x->place[i]))
			return true;
	return false;
}

/*
 * The row that shows the place: the new one, or the old one if there is no new
 * one.
 */
static struct pdet_diff_row placed(const struct pdet_diff_emit *x,
				   const struct pdet_diff_out *out, unsigned i)
{
	const struct pdet_diff_row now = row_of(out, i, 1);

	return is_row(x, now) ? now : row_of(out, i, 0);
}

/* --- values for people, and for CSV --- */

static void value_text(struct pdet_diff_row r, unsigned f, char *text,
		       size_t size)
{
	const unsigned known = pdet_known_field(f);
	const uint64_t value = r.b->value[f][r.at];
	const char *string = NULL;
	uint64_t bits = UINT64_MAX;
	size_t len = 0;

	if (known != f && pdet_batch_has(r.b, known) &&
	    pdet_batch_state(r.b, r.at, known) == PAGEDET_HAVE)
		bits = r.b->value[known][r.at];
	if (pdet_field_info(f)->type == PAGEDET_TYPE_STRING ||
	    pdet_field_info(f)->type == PAGEDET_TYPE_LIST)
		string = pdet_strtab_get(&r.b->strings, value, &len);
	pdet_format_cell(f, value, r.b->cell[f][r.at], bits, string, len, text,
			 size);
}

static void put_cell(struct pdet_diff_emit *x, struct pdet_diff_row r,
		     unsigned f)
{
	char text[SHOWN];

	value_text(r, f, text, sizeof(text));
	str(x, text);
}

/* " +dirty -lru": the bits that were set and cleared. */
static void put_bits(struct pdet_diff_emit *x, unsigned f, uint64_t bits,
		     const char *sign)
{
	char name[PDET_MASK_TEXT];

	for (; bits; bits &= bits - 1) {
		*pdet_put_mask(name, f, bits & -bits, "", ',') = '\0';
		str(x, sign);
		str(x, name);
	}
}

static uint64_t known_bits(struct pdet_diff_row r, unsigned f)
{
	return pdet_known_field(f) == f ? UINT64_MAX :
	       pdet_batch_get(r.b, r.at, pdet_known_field(f), UINT64_MAX);
}

static void put_mask(struct pdet_diff_emit *x, struct pdet_diff_row was,
		     struct pdet_diff_row now, unsigned f)
{
	const uint64_t a = was.b->value[f][was.at], b = now.b->value[f][now.at];
	const uint64_t both = known_bits(was, f) & known_bits(now, f);

	put_bits(x, f, b & ~a & both, " +");
	put_bits(x, f, a & ~b & both, " -");
}

/* --- text --- */

static void pad_to(struct pdet_diff_emit *x, size_t len, size_t width)
{
	pdet_out_pad(&x->e->out, len < width ? width - len : 1);
}

static void text_place(struct pdet_diff_emit *x, struct pdet_diff_row r)
{
	char text[PDET_DIFF_PLACE * 32], *p = text, *end = text + sizeof(text);
	unsigned i;

	for (i = 0; i < x->n_place; i++) {
		if (i)
			*p++ = ' ';
		value_text(r, x->place[i], p, (size_t)(end - p));
		p += strlen(p);
	}
	str(x, text);
	pad_to(x, (size_t)(p - text), PLACE_WIDTH);
}

/* Describes a page that appeared, or one that is gone. */
static void text_one_side(struct pdet_diff_emit *x, struct pdet_diff_row r,
			  bool now)
{
	if (!pdet_batch_has(r.b, F(KIND)))
		return;
	str(x, "kind ");
	str(x, now ? "none -> " : "");
	put_cell(x, r, F(KIND));
	str(x, now ? "" : " -> none");
}

static void text_fields(struct pdet_diff_emit *x, struct pdet_diff_row was,
			struct pdet_diff_row now,
			const struct pagedet_change *c)
{
	unsigned i, f, n = 0;

	for (i = 0; i < PDET_FIELDS; i++) {
		f = pdet_field_at(i);
		if (!has_bit(c->fields, f))
			continue;
		str(x, n++ ? ", " : "");
		str(x, pdet_field_info(f)->name);
		if (pdet_field_info(f)->type == PAGEDET_TYPE_MASK &&
		    pdet_batch_state(was.b, was.at, f) == PAGEDET_HAVE &&
		    pdet_batch_state(now.b, now.at, f) == PAGEDET_HAVE) {
			put_mask(x, was, now, f);
			continue;
		}
		str(x, " ");
		put_cell(x, was, f);
		str(x, " -> ");
		put_cell(x, now, f);
	}
}

static void text(struct pdet_diff_emit *x, const struct pdet_diff_out *out,
		 uint32_t i)
{
	const struct pagedet_change *c = &out->change[i];
	const struct pdet_diff_row was = row_of(out, i, 0);
	const struct pdet_diff_row now = row_of(out, i, 1);
	const char *name = pdet_change_name(c->change);

	str(x, name);
	pad_to(x, strlen(name), CHANGE_WIDTH);
	text_place(x, placed(x, out, i));
	if (c->pages > 1) {
		dec(x, c->pages);
		str(x, " pages: ");
	}
	if (!is_row(x, was) || !is_row(x, now))
		text_one_side(x, placed(x, out, i), is_row(x, now));
	else
		text_fields(x, was, now, c);
	str(x, "\n");
}

static void text_header(struct pdet_diff_emit *x)
{
	size_t len = 0;
	unsigned i;

	str(x, "change");
	pad_to(x, 6, CHANGE_WIDTH);
	for (i = 0; i < x->n_place; i++) {
		const char *name = pdet_field_info(x->place[i])->name;

		str(x, i ? " " : "");
		str(x, name);
		len += strlen(name) + (i != 0);
	}
	pad_to(x, len, PLACE_WIDTH);
	str(x, "what\n");
}

/* --- JSON --- */

static void json_number(struct pdet_diff_emit *x, const char *key, uint64_t n)
{
	str(x, ",\"");
	str(x, key);
	str(x, "\":");
	dec(x, n);
}

static void json_side(struct pdet_diff_emit *x, struct pdet_diff_row r,
		      const struct pagedet_change *c, bool whole)
{
	struct pdet_out *out = &x->e->out;
	struct pdet_fields show = { { c->fields[0], c->fields[1] } };
	unsigned i;

	if (!is_row(x, r)) {
		str(x, "null");
		return;
	}
	for (i = 0; i < x->n_place; i++)
		if (!has_bit(c->fields, x->place[i]))
			pdet_fields_remove(&show, x->place[i]);
	if (whole) {
		show = x->d->compare;
		pdet_fields_join(&show, &x->d->never);
	}
	pdet_emit_bind(x->e, r.b);
	out->at = pdet_json_object(x->e, r.b, r.at, &show, out->at);
}

/* Writes a part of the place, unless it is not known. */
static void json_place(struct pdet_diff_emit *x, struct pdet_diff_row r,
		       unsigned f)
{
	const bool number = pdet_field_info(f)->type == PAGEDET_TYPE_NUMBER;
	const unsigned state = pdet_batch_state(r.b, r.at, f);
	char text[SHOWN];

	if (state != PAGEDET_HAVE && state != PAGEDET_NONE)
		return;
	str(x, ",\"");
	str(x, pdet_field_info(f)->name);
	str(x, "\":");
	if (state == PAGEDET_NONE) {
		str(x, "null");
	} else if (number) {
		dec(x, r.b->value[f][r.at]);
	} else {
		value_text(r, f, text, sizeof(text));
		str(x, "\"");
		str(x, text);
		str(x, "\"");
	}
}

static void json(struct pdet_diff_emit *x, const struct pdet_diff_out *out,
		 uint32_t i)
{
	const struct pagedet_change *c = &out->change[i];
	const struct pdet_diff_row at = placed(x, out, i);
	const struct pdet_diff_row was = row_of(out, i, 0);
	const struct pdet_diff_row now = row_of(out, i, 1);
	const bool whole = !is_row(x, was) || !is_row(x, now);
	uint32_t also = c->changes & ~(1u << c->change);
	unsigned k;

	str(x, "{\"change\":\"");
	str(x, pdet_change_name(c->change));
	str(x, "\"");
	for (k = 0; also; also &= also - 1) {
		str(x, k++ ? "\",\"" : ",\"also\":[\"");
		str(x, pdet_change_name((uint32_t)__builtin_ctz(also)));
	}
	str(x, k ? "\"]" : "");
	for (k = 0; k < x->n_place; k++)
		json_place(x, at, x->place[k]);
	json_number(x, "pages", c->pages);
	str(x, ",\"was\":");
	json_side(x, was, c, whole);
	str(x, ",\"now\":");
	json_side(x, now, c, whole);
	str(x, "}\n");
}

/* --- CSV --- */

static void csv_reason(struct pdet_diff_emit *x, unsigned state)
{
	str(x, "?");
	str(x, pdet_reason_name(state));
}

/* As in other CSV, bits are between bars, and nothing is an empty field. */
static void csv_value(struct pdet_diff_emit *x, struct pdet_diff_row r,
		      unsigned f)
{
	const unsigned state = pdet_batch_state(r.b, r.at, f);
	struct pdet_out *out = &x->e->out;
	char text[PDET_MASK_TEXT] = "";
	const char *string = text;
	size_t len;

	if (state == PAGEDET_NONE || state == PAGEDET_NOT_ASKED)
		return;
	if (state != PAGEDET_HAVE) {
		csv_reason(x, state);
		return;
	}
	switch (pdet_field_info(f)->type) {
	case PAGEDET_TYPE_NUMBER:
		dec(x, r.b->value[f][r.at]);
		return;
	case PAGEDET_TYPE_MASK:
		*pdet_put_mask(text, f, r.b->value[f][r.at], "", '|') = '\0';
		str(x, *text ? text : "0");
		return;
	case PAGEDET_TYPE_STRING:
	case PAGEDET_TYPE_LIST:
		string = pdet_strtab_get(&r.b->strings, r.b->value[f][r.at],
					 &len);
		break;
	default:
		value_text(r, f, text, SHOWN);
		len = strlen(text);
		break;
	}
	if (string)
		out->at = pdet_csv_text(out, out->at, string, len, 0);
	else
		csv_reason(x, PAGEDET_NO_MEMORY);
}

static void csv_line(struct pdet_diff_emit *x, const struct pdet_diff_out *out,
		     uint32_t i, int f)
{
	const struct pdet_diff_row at = placed(x, out, i);
	unsigned k, side;

	str(x, pdet_change_name(out->change[i].change));
	str(x, ",");
	for (k = 0; k < x->n_place; k++) {
		csv_value(x, at, x->place[k]);
		str(x, ",");
	}
	str(x, f < 0 ? "" : pdet_field_info((unsigned)f)->name);
	for (side = 0; side < 2; side++) {
		str(x, ",");
		if (f >= 0)
			csv_value(x, row_of(out, i, side), (unsigned)f);
	}
	str(x, ",");
	dec(x, out->change[i].pages);
	str(x, "\n");
}

static void csv(struct pdet_diff_emit *x, const struct pdet_diff_out *out,
		uint32_t i)
{
	const struct pagedet_change *c = &out->change[i];
	bool any = false;
	unsigned k, f;

	for (k = 0; k < PDET_FIELDS; k++) {
		f = pdet_field_at(k);
		if (!has_bit(c->fields, f))
			continue;
		any = true;
		csv_line(x, out, i, (int)f);
	}
	/*
	 * If one side does not have the place, writes the values of the other
	 * side.
	 */
	if (!any)
		csv_line(x, out, i, pdet_batch_has(&out->rows[0], F(KIND)) ?
				    F(KIND) : -1);
}

static void csv_header(struct pdet_diff_emit *x)
{
	unsigned i;

	str(x, "change");
	for (i = 0; i < x->n_place; i++) {
		str(x, ",");
		str(x, pdet_field_info(x->place[i])->name);
	}
	str(x, ",field,was,now,pages\n");
}

/* --- totals --- */

static bool totals_only(const struct pdet_diff_emit *x)
{
	return x->e->options & PAGEDET_EMIT_TOTALS;
}

static bool has_room(const struct pdet_diff_emit *x)
{
	return !totals_only(x) && (!x->e->limit || x->n < x->e->limit);
}

static uint64_t sum(const uint64_t by_change[PAGEDET_CHANGE_MAX])
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < PAGEDET_CHANGE_MAX; i++)
		n += by_change[i];
	return n;
}

static void json_counts(struct pdet_diff_emit *x)
{
	const struct pagedet_diff_totals *t = &x->d->totals;
	unsigned i;

	for (i = 1; pdet_change_name(i); i++) {
		if (!t->changes[i])
			continue;
		str(x, "{\"change\":\"");
		str(x, pdet_change_name(i));
		str(x, "\"");
		json_number(x, "pages", t->first[i]);
		json_number(x, "bytes", t->first[i] * x->page_size);
		json_number(x, "all", t->changes[i]);
		json_number(x, "changes", t->events[i]);
		str(x, "}\n");
	}
}

/* The last object, also of a list: it tells what was not compared. */
static void json_total(struct pdet_diff_emit *x)
{
	const struct pagedet_diff_totals *t = &x->d->totals;
	unsigned i, n = 0;

	str(x, "{\"total\":{\"pages\":");
	dec(x, sum(t->first));
	json_number(x, "bytes", sum(t->first) * x->page_size);
	json_number(x, "changes", sum(t->events));
	json_number(x, "compared", t->compared);
	json_number(x, "same", t->same);
	json_number(x, "undecided", t->undecided);
	json_number(x, "unmatched", t->unmatched);
	json_number(x, "unplaced", t->unplaced);
	json_number(x, "ambiguous", t->ambiguous);
	json_number(x, "spilled", t->spilled);
	str(x, ",\"missing\":{");
	for (i = 0; i < PDET_FIELDS; i++)
		if (has_bit(t->fields, i) && !has_bit(t->decided, i) &&
		    t->why[i]) {
			str(x, n++ ? ",\"" : "\"");
			str(x, pdet_field_info(i)->name);
			str(x, "\":\"");
			str(x, pdet_reason_name(t->why[i]));
			str(x, "\"");
		}
	str(x, "}}}\n");
}

static void json_end(struct pdet_diff_emit *x)
{
	if (totals_only(x))
		json_counts(x);
	json_total(x);
}

static void text_total(struct pdet_diff_emit *x, const char *name, uint64_t n,
		       const char *more)
{
	char text[PDET_DIGITS + 1];

	str(x, name);
	pad_to(x, strlen(name), 2 * CHANGE_WIDTH);
	*pdet_put_dec(text, n) = '\0';
	pdet_out_pad(&x->e->out, CHANGE_WIDTH - PDET_MIN(strlen(text),
				(size_t)CHANGE_WIDTH));
	str(x, text);
	str(x, "  ");
	*pdet_put_size(text, n * x->page_size) = '\0';
	pdet_out_pad(&x->e->out, CHANGE_WIDTH - PDET_MIN(strlen(text),
				(size_t)CHANGE_WIDTH));
	str(x, text);
	str(x, *more ? "  " : "");
	str(x, more);
	str(x, "\n");
}

static void text_totals(struct pdet_diff_emit *x)
{
	static const char *const by[] = {
		[PAGEDET_DIFF_BY_PFN] = "frame",
		[PAGEDET_DIFF_BY_ADDRESS] = "address",
		[PAGEDET_DIFF_BY_FILE] = "place in the file",
	};
	const struct pagedet_diff_totals *t = &x->d->totals;
	char events[48];
	unsigned i;

	if (!totals_only(x) && sum(t->first))
		str(x, "\n");
	for (i = 1; pdet_change_name(i); i++) {
		if (!t->first[i])
			continue;
		snprintf(events, sizeof(events), "in %llu change%s",
			 (unsigned long long)t->events[i],
			 pdet_plural(t->events[i]));
		text_total(x, pdet_change_name(i), t->first[i],
			   t->events[i] < t->first[i] ? events : "");
	}
	text_total(x, "no change", t->same, "");
	if (t->undecided)
		text_total(x, "undecided", t->undecided,
			   "some of their fields cannot be compared");
	if (t->unmatched)
		text_total(x, "unmatched", t->unmatched,
			   "on one side only: what that means is not known");
	str(x, "compared by ");
	str(x, by[x->d->by]);
	str(x, "\n");
	for (i = 0; i < PDET_FIELDS; i++) {
		if (!has_bit(t->fields, i) || has_bit(t->decided, i) ||
		    !t->why[i])
			continue;
		str(x, pdet_field_info(i)->name);
		str(x, " is not compared: ");
		str(x, pdet_state_text(t->why[i]));
		str(x, "\n");
	}
}

static void csv_totals(struct pdet_diff_emit *x)
{
	const struct pagedet_diff_totals *t = &x->d->totals;
	unsigned i;

	str(x, "change,pages,bytes,changes\n");
	for (i = 1; pdet_change_name(i); i++) {
		if (!t->first[i])
			continue;
		str(x, pdet_change_name(i));
		str(x, ",");
		dec(x, t->first[i]);
		str(x, ",");
		dec(x, t->first[i] * x->page_size);
		str(x, ",");
		dec(x, t->events[i]);
		str(x, "\n");
	}
}

/* --- entry points --- */

/* Finds the fields that name a place, among those present. */
static void set_place(struct pdet_diff_emit *x)
{
	static const unsigned fields[][PDET_DIFF_PLACE] = {
		[PAGEDET_DIFF_BY_PFN] = { F(PFN), F(PFN), F(PFN) },
		[PAGEDET_DIFF_BY_ADDRESS] = { F(PID), F(VADDR), F(VADDR) },
		[PAGEDET_DIFF_BY_FILE] = { F(DEV), F(INODE), F(INDEX) },
	};
	unsigned i;

	x->n_place = 0;
	for (i = 0; i < PDET_DIFF_PLACE; i++) {
		const unsigned f = fields[x->d->by][i];

		if (i && f == fields[x->d->by][i - 1])
			break;
		if (pdet_fields_has(&x->d->columns, f))
			x->place[x->n_place++] = f;
	}
}

int pdet_emit_diff_begin(struct pdet_diff_emit *x, struct pdet_env *env)
{
	struct pdet_emit_query q;
	int r;

	set_place(x);
	if (x->e->format == &pdet_emit_snapshot)
		return pdet_fail(env, EINVAL, "cannot save changes: a snapshot "
				 "holds rows");
	if (x->e->format == &pdet_emit_svg) {
		if (x->d->by != PAGEDET_DIFF_BY_PFN)
			return pdet_fail(env, EINVAL, "cannot draw a picture: "
					 "only frames have a place in memory");
		if (x->d->begun)
			return pdet_fail(env, EINVAL, "cannot draw a picture: "
					 "some changes were read already");
		if (!pdet_diff_picture_begin(x))
			return pdet_fail(env, ENOMEM, "cannot emit: no memory");
		return 0;
	}
	if (x->e->format == &pdet_emit_json) {
		memset(&q, 0, sizeof(q));
		q.fields = x->d->columns;
		q.page_size = x->page_size;
		r = pdet_emit_begin(x->e, env, &q);
		if (r < 0)
			return r;
	} else if (!totals_only(x) && x->e->format == &pdet_emit_csv) {
		csv_header(x);
	}
	return pdet_out_result(&x->e->out, env);
}

int pdet_emit_diff_step(struct pdet_diff_emit *x, struct pdet_env *env,
			const struct pdet_diff_out *out, uint32_t first)
{
	uint32_t i;

	if (x->picture) {
		pdet_diff_picture_step(x, out);
		return pdet_out_result(&x->e->out, env);
	}
	if (!totals_only(x) && x->e->format == &pdet_emit_text &&
	    !x->e->begun) {
		x->e->begun = true;
		text_header(x);
	}
	for (i = first; i < out->n && has_room(x); i++, x->n++) {
		if (x->e->format == &pdet_emit_json)
			json(x, out, i);
		else if (x->e->format == &pdet_emit_csv)
			csv(x, out, i);
		else
			text(x, out, i);
	}
	return pdet_out_result(&x->e->out, env);
}

int pdet_emit_diff_end(struct pdet_diff_emit *x, struct pdet_env *env)
{
	if (x->picture)
		pdet_diff_picture_end(x);
	else if (x->e->format == &pdet_emit_text)
		text_totals(x);
	else if (x->e->format == &pdet_emit_json)
		json_end(x);
	else if (totals_only(x))
		csv_totals(x);
	x->e->open = false;
	return pdet_out_result(&x->e->out, env);
}
