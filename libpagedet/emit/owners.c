/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes groups of page_owner's records as JSON lines, as CSV, or as text with
 * one line per group and its stack below.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "emit/cell.h"
#include "emit/emitter.h"
#include "emit/owners.h"

/* blocks, times, pages, what they have grown by, bytes */
#define NUMBERS 5

struct emitting {
	struct pagedet_emitter *e;
	struct pdet_owners *o;
	const uint32_t *by;
	unsigned n_by;
	const char **frames;
	uint32_t n_frames, cap;
	struct pagedet_owner_group group;
	/* of a line of text */
	size_t number[NUMBERS];	/* width of each number */
	unsigned n_numbers;	/* of which the line already has so many */
	size_t gap;		/* blanks in front of a part */
	bool below;		/* the terminal has no room for times beside */
	size_t at;		/* columns that the line already has */
};

#define GAP "    "
/* "12345.678 s .. 12345.678 s" */
#define TIMES 26
/* A number, where there is no limit. */
#define WIDE 12

/* --- parts --- */

/* Returns false without memory. */
static bool get_frames(struct emitting *s, uint64_t id)
{
	int n = pdet_owners_stack(s->o, id, s->frames, s->cap);

	if (n > (int)s->cap) {
		const char **more = realloc(s->frames,
					    (size_t)n * sizeof(*more));

		if (!more)
			return false;
		s->frames = more;
		s->cap = (uint32_t)n;
		n = pdet_owners_stack(s->o, id, s->frames, s->cap);
	}
	s->n_frames = n > 0 ? (uint32_t)n : 0;
	return n != -ENOMEM;
}

static void str(struct emitting *s, const char *text)
{
	pdet_out_str(&s->e->out, text);
}

static void hex(struct emitting *s, uint64_t value)
{
	struct pdet_out *out = &s->e->out;

	out->at = pdet_out_room(out, out->at, PDET_DIGITS);
	out->at = pdet_put_hex(out->at, value);
}

static void dec(struct emitting *s, uint64_t value)
{
	pdet_out_dec(&s->e->out, value);
}

/* Files with stacks count only pages. */
static bool has_times(const struct emitting *s)
{
	return s->group.times || !s->group.pages;
}

static bool has_ns(const struct emitting *s)
{
	return s->group.oldest_ns <= s->group.newest_ns;
}

/* --- JSON --- */

static void json_text(struct emitting *s, const char *text, size_t len,
		      bool *bad)
{
	struct pdet_out *out = &s->e->out;

	out->at = pdet_json_text(out, out->at, text, len, 0, bad);
}

static void json_key(struct emitting *s, const char *name)
{
	str(s, "\"");
	str(s, name);
	str(s, "\":");
}

/* Names joined by '|' become an array. */
static void json_list(struct emitting *s, const char *text, size_t len)
{
	const char *end = text + len, *bar;
	bool bad;

	str(s, "[");
	for (; text < end; text = bar + 1) {
		bar = memchr(text, '|', (size_t)(end - text));
		if (!bar)
			bar = end;
		json_text(s, text, (size_t)(bar - text), &bad);
		if (bar < end)
			str(s, ",");
	}
	str(s, "]");
}

static void json_string(struct emitting *s, uint32_t key, uint64_t id)
{
	static const char digits[] = "0123456789abcdef";
	bool bad = false;
	const char *text;
	size_t len = 0, i;

	text = pdet_owners_text(s->o, id, &len);
	if (key == PAGEDET_OWNER_GFP) {
		json_list(s, text, len);
		return;
	}
	json_text(s, text, len, &bad);
	if (!bad)
		return;
	str(s, ",\"");
	str(s, pdet_owner_key_name(key));
	str(s, "_hex\":\"");
	for (i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)text[i];
		const char pair[2] = { digits[c >> 4], digits[c & 15] };

		pdet_out_put(&s->e->out, pair, 2);
	}
	str(s, "\"");
}

static bool json_stack(struct emitting *s, uint64_t id)
{
	bool bad;
	uint32_t i;

	str(s, "\"");
	hex(s, id);
	str(s, "\",\"frames\":[");
	if (!get_frames(s, id))
		return false;
	for (i = 0; i < s->n_frames; i++) {
		if (i)
			str(s, ",");
		json_text(s, s->frames[i], strlen(s->frames[i]), &bad);
	}
	str(s, "]");
	return true;
}

static bool json_value(struct emitting *s, unsigned i)
{
	const uint32_t key = s->by[i], state = s->group.state[i];
	const uint64_t value = s->group.value[i];

	json_key(s, pdet_owner_key_name(key));
	if (state == PAGEDET_NONE)
		str(s, "null");
	else if (state != PAGEDET_HAVE)
		str(s, "\"?\"");
	else if (key == PAGEDET_OWNER_STACK)
		return json_stack(s, value);
	else if (key == PAGEDET_OWNER_SLAB)
		str(s, value ? "true" : "false");
	else if (pdet_owner_key_is_text(key))
		json_string(s, key, value);
	else
		dec(s, value);
	return true;
}

static void json_number(struct emitting *s, const char *name, uint64_t value)
{
	str(s, ",");
	json_key(s, name);
	dec(s, value);
}

static bool json_group(struct emitting *s)
{
	const struct pagedet_owner_group *g = &s->group;
	unsigned i;

	str(s, "{");
	for (i = 0; i < s->n_by; i++) {
		if (i)
			str(s, ",");
		if (!json_value(s, i))
			return false;
	}
	if (pdet_owners_mixed(s->o))
		json_number(s, "blocks", g->blocks);
	if (has_times(s))
		json_number(s, "times", g->times);
	json_number(s, "pages", g->pages);
	json_number(s, "bytes", g->bytes);
	if (has_ns(s)) {
		json_number(s, "oldest_ns", g->oldest_ns);
		json_number(s, "newest_ns", g->newest_ns);
	}
	if (pdet_owners_compared(s->o)) {
		if (has_times(s))
			json_number(s, "times_before", g->times_before);
		json_number(s, "pages_before", g->pages_before);
	}
	if (!has_times(s))
		str(s, ",\"missing\":{\"times\":\"unsupported\"}");
	str(s, "}\n");
	return true;
}

/* --- CSV --- */

static void csv_head(struct emitting *s)
{
	unsigned i;

	for (i = 0; i < s->n_by; i++) {
		str(s, pdet_owner_key_name(s->by[i]));
		str(s, s->by[i] == PAGEDET_OWNER_STACK ? ",frames," : ",");
	}
	if (pdet_owners_mixed(s->o))
		str(s, "blocks,");
	str(s, "times,pages,bytes,oldest_ns,newest_ns");
	if (pdet_owners_compared(s->o))
		str(s, ",times_before,pages_before");
	str(s, "\n");
}

/* A frame may contain anything if a text is not from a kernel. */
static void csv_frame(struct emitting *s, const char *frame)
{
	const char *quote;

	while ((quote = strchr(frame, '"'))) {
		pdet_out_put(&s->e->out, frame, (size_t)(quote - frame));
		str(s, "\"\"");
		frame = quote + 1;
	}
	str(s, frame);
}

/* Writes the functions of a stack, joined by ';'. */
static bool csv_frames(struct emitting *s, uint64_t id)
{
	uint32_t i;

	if (!get_frames(s, id))
		return false;
	str(s, "\"");
	for (i = 0; i < s->n_frames; i++) {
		if (i)
			str(s, ";");
		csv_frame(s, s->frames[i]);
	}
	str(s, "\"");
	return true;
}

static bool csv_value(struct emitting *s, unsigned i)
{
	const uint32_t key = s->by[i], state = s->group.state[i];
	const uint64_t value = s->group.value[i];
	struct pdet_out *out = &s->e->out;
	const char *text;
	size_t len = 0;

	if (state != PAGEDET_HAVE) {
		str(s, state == PAGEDET_NONE ? "" : "?");
		if (key == PAGEDET_OWNER_STACK)
			str(s, ",");
	} else if (key == PAGEDET_OWNER_STACK) {
		hex(s, value);
		str(s, ",");
		return csv_frames(s, value);
	} else if (pdet_owner_key_is_text(key)) {
		text = pdet_owners_text(s->o, value, &len);
		out->at = pdet_csv_text(out, out->at, text, len, 0);
	} else {
		dec(s, value);
	}
	return true;
}

static bool csv_group(struct emitting *s)
{
	const struct pagedet_owner_group *g = &s->group;
	unsigned i;

	for (i = 0; i < s->n_by; i++) {
		if (!csv_value(s, i))
			return false;
		str(s, ",");
	}
	if (pdet_owners_mixed(s->o)) {
		dec(s, g->blocks);
		str(s, ",");
	}
	if (has_times(s))
		dec(s, g->times);
	else
		str(s, "?unsupported");
	str(s, ",");
	dec(s, g->pages);
	str(s, ",");
	dec(s, g->bytes);
	str(s, ",");
	if (has_ns(s))
		dec(s, g->oldest_ns);
	str(s, ",");
	if (has_ns(s))
		dec(s, g->newest_ns);
	if (pdet_owners_compared(s->o)) {
		str(s, ",");
		dec(s, g->times_before);
		str(s, ",");
		dec(s, g->pages_before);
	}
	str(s, "\n");
	return true;
}

/* --- text --- */

static void column(struct emitting *s, const char *text)
{
	const size_t len = strlen(text);
	const size_t wide = s->number[s->n_numbers++] + !!s->at;

	pdet_out_pad(&s->e->out, len < wide ? wide - len : !!s->at);
	str(s, text);
	s->at += PDET_MAX(len + !!s->at, wide);
}

/* Begins a part of a line. If there is no room for it, it is on the next. */
static void part(struct emitting *s, size_t columns, bool below)
{
	const size_t width = s->e->width;
	size_t gap = s->gap;

	if (below ||
	    (width && s->at > strlen(GAP) && s->at + gap + columns > width)) {
		str(s, "\n");
		s->at = 0;
		gap = strlen(GAP);
	}
	pdet_out_pad(&s->e->out, gap);
	s->at += gap + columns;
}

static void text_head(struct emitting *s)
{
	s->at = s->n_numbers = 0;
	if (pdet_owners_mixed(s->o))
		column(s, "blocks");
	column(s, "times");
	column(s, "pages");
	if (pdet_owners_compared(s->o))
		column(s, "grown by");
	column(s, "bytes");
	part(s, strlen("allocated"), s->below);
	str(s, "allocated\n");
}

/* Unlike 1 MB, users can add up 1048576. */
static void text_number(struct emitting *s, uint64_t value, bool known)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)value);
	column(s, known ? buf : "?");
}

/* The oldest and newest age, which tell whether memory grows. */
static void print_when(const struct emitting *s, char ret[64])
{
	snprintf(ret, 64, has_ns(s) ? "%.3f s .. %.3f s" : "      ?",
		 (double)s->group.oldest_ns / 1e9,
		 (double)s->group.newest_ns / 1e9);
}

static void text_when(struct emitting *s)
{
	char buf[64];

	print_when(s, buf);
	part(s, strlen(buf), s->below);
	str(s, buf);
}

static void text_plain(struct emitting *s, const char *text, size_t len)
{
	char plain[1024];
	struct pdet_cut cut = { plain, sizeof(plain), 0 };

	pdet_cut_plain(&cut, text, len);
	pdet_out_put(&s->e->out, plain, PDET_MIN(cut.len, sizeof(plain)));
}

/* Names joined by '|' may be longer than a line. */
static void text_list(struct emitting *s, const char *text, size_t len)
{
	const char *end = text + len, *bar;
	const size_t width = s->e->width, start = strlen(GAP GAP);
	size_t at = s->at - len, n;

	for (; text < end; text += n) {
		bar = memchr(text, '|', (size_t)(end - text));
		n = bar ? (size_t)(bar - text) + 1 : (size_t)(end - text);
		if (width && at > start && at + n > width) {
			str(s, "\n" GAP GAP);
			at = start;
		}
		text_plain(s, text, n);
		at += n;
	}
	s->at = at;
}

/* The text of a key's value; it is in @buf, or kept by the groups. */
static const char *print_value(const struct emitting *s, unsigned i,
			       char buf[PDET_DIGITS], size_t *len)
{
	const uint32_t key = s->by[i], state = s->group.state[i];
	const uint64_t value = s->group.value[i];
	const char *text;

	*len = 1;
	if (state != PAGEDET_HAVE)
		return state == PAGEDET_NONE ? "-" : "?";
	if (pdet_owner_key_is_text(key)) {
		text = pdet_owners_text(s->o, value, len);
		if (*len)
			return text;
		text = key == PAGEDET_OWNER_GFP ? "0" : "''";
		*len = strlen(text);
		return text;
	}
	*len = (size_t)((key == PAGEDET_OWNER_STACK ?
			 pdet_put_hex(buf, value) :
			 pdet_put_dec(buf, value)) - buf);
	return buf;
}

static void text_value(struct emitting *s, unsigned i)
{
	const uint32_t key = s->by[i];
	char buf[PDET_DIGITS];
	size_t len;
	const char *text = print_value(s, i, buf, &len);

	part(s, strlen(pdet_owner_key_name(key)) + 1 + len, false);
	str(s, pdet_owner_key_name(key));
	str(s, " ");
	if (key == PAGEDET_OWNER_GFP)
		text_list(s, text, len);
	else
		text_plain(s, text, len);
}

static void print_growth(const struct emitting *s, char ret[32])
{
	const uint64_t now = s->group.pages, was = s->group.pages_before;

	snprintf(ret, 32, "%c%llu", now < was ? '-' : '+',
		 (unsigned long long)(now < was ? was - now : now - was));
}

static void text_growth(struct emitting *s)
{
	char buf[32];

	print_growth(s, buf);
	column(s, buf);
}

static bool text_group(struct emitting *s)
{
	bool stack = false;
	unsigned i;
	uint32_t f;

	s->at = s->n_numbers = 0;
	if (pdet_owners_mixed(s->o))
		text_number(s, s->group.blocks, true);
	text_number(s, s->group.times, has_times(s));
	text_number(s, s->group.pages, true);
	if (pdet_owners_compared(s->o))
		text_growth(s);
	text_number(s, s->group.bytes, true);
	text_when(s);
	for (i = 0; i < s->n_by; i++)
		text_value(s, i);
	str(s, "\n");
	for (i = 0; i < s->n_by; i++) {
		if (s->by[i] != PAGEDET_OWNER_STACK)
			continue;
		stack = true;
		s->n_frames = 0;
		if (s->group.state[i] == PAGEDET_HAVE &&
		    !get_frames(s, s->group.value[i]))
			return false;
		for (f = 0; f < s->n_frames; f++) {
			str(s, "        ");
			text_plain(s, s->frames[f], strlen(s->frames[f]));
			str(s, "\n");
		}
	}
	if (stack)
		str(s, "\n");
	return true;
}

/* --- the columns of a terminal --- */

/* What the lines need. */
struct need {
	size_t number[NUMBERS];
	size_t when, keys;	/* the longest of them */
};

static void widen(size_t *width, size_t len)
{
	*width = PDET_MAX(*width, len);
}

static size_t digits(uint64_t value)
{
	char buf[PDET_DIGITS];

	return (size_t)(pdet_put_dec(buf, value) - buf);
}

/* Without gaps. */
static size_t keys_of(const struct emitting *s)
{
	char buf[PDET_DIGITS];
	size_t sum = 0, len;
	unsigned i;

	for (i = 0; i < s->n_by; i++) {
		print_value(s, i, buf, &len);
		sum += strlen(pdet_owner_key_name(s->by[i])) + 1 + len;
	}
	return sum;
}

static void add_need(const struct emitting *s, struct need *n)
{
	const struct pagedet_owner_group *g = &s->group;
	char buf[64];
	unsigned i = 0;

	if (pdet_owners_mixed(s->o))
		widen(&n->number[i++], digits(g->blocks));
	widen(&n->number[i++], digits(g->times));
	widen(&n->number[i++], digits(g->pages));
	if (pdet_owners_compared(s->o)) {
		print_growth(s, buf);
		widen(&n->number[i++], strlen(buf));
	}
	widen(&n->number[i], digits(g->bytes));
	print_when(s, buf);
	widen(&n->when, strlen(buf));
	widen(&n->keys, keys_of(s));
}

/* The width of all numbers, with a blank between them. */
static size_t sum_of(const size_t *number, unsigned n)
{
	size_t sum = n - 1;

	while (n--)
		sum += number[n];
	return sum;
}

/* Looks at all lines first, and returns to the first one. */
static void measure(struct emitting *s, uint64_t max, struct need *ret)
{
	const size_t at = pdet_owners_at(s->o);

	for (; max && pdet_owners_next(s->o, &s->group) == 1; max--)
		add_need(s, ret);
	pdet_owners_return(s->o, at);
}

/*
 * Numbers are wide where there is room for it. If not all of a line fits, they
 * are as wide as they must be; then times, or keys, are below.
 */
static void lay_out(struct emitting *s, uint64_t max)
{
	const unsigned n = 3 + pdet_owners_mixed(s->o) +
			   pdet_owners_compared(s->o);
	const size_t width = s->e->width, five = strlen("times");
	struct need need = { { 0 }, strlen("allocated"), 0 };
	size_t gaps = 1 + s->n_by, numbers;
	unsigned i;

	for (i = 0; i < NUMBERS; i++) {
		s->number[i] = WIDE;
		need.number[i] = five;
	}
	s->gap = strlen(GAP);
	if (!width)
		return;
	if (pdet_owners_mixed(s->o))
		need.number[0] = strlen("blocks");
	if (pdet_owners_compared(s->o))
		need.number[n - 2] = strlen("grown by");
	measure(s, max, &need);
	numbers = sum_of(s->number, n);
	if (numbers + PDET_MAX(need.when, TIMES) + need.keys + gaps * s->gap <=
	    width)
		return;
	memcpy(s->number, need.number, sizeof(s->number));
	s->gap = 2;
	s->below = sum_of(s->number, n) + s->gap + need.when > width;
}

int pdet_emit_owners(struct pagedet_emitter *e, struct pdet_env *env,
		     struct pdet_owners *o, uint64_t max)
{
	struct emitting s = { .e = e, .o = o };
	bool (*group)(struct emitting *s) = json_group;
	bool ok = true;

	if (e->format == &pdet_emit_svg)
		return pdet_fail(env, EINVAL,
				 "cannot draw a picture: groups have no place in memory");
	if (e->format->rows_only)
		return pdet_fail(env, EINVAL, "cannot save owners: a snapshot "
				 "holds rows of pages");
	s.by = pdet_owners_keys(o, &s.n_by);
	if (e->format == &pdet_emit_csv) {
		group = csv_group;
		csv_head(&s);
	} else if (e->format == &pdet_emit_text) {
		group = text_group;
		lay_out(&s, max);
		text_head(&s);
	}
	for (; ok && max && pdet_owners_next(o, &s.group) == 1; max--)
		ok = group(&s);
	free(s.frames);
	return ok ? pdet_out_result(&e->out, env) :
		    pdet_fail(env, ENOMEM, "cannot emit: no memory");
}
