/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes groups of allocations as JSON lines, as CSV, or as a table. */
#include <errno.h>

#include "allocs/keys.h"
#include "emit/allocs.h"
#include "emit/cell.h"
#include "emit/emitter.h"

struct emitting {
	struct pagedet_emitter *e;
	struct pdet_allocs *a;
	const uint32_t *by;
	unsigned n_by;
	bool compared;
	struct pagedet_alloc_group group;
	struct pagedet_allocs_total total;
};

/* What the group does not have is computed. */
#define WASTE SIZE_MAX

/* A comparison has some numbers three times. */
enum side { NOW, BEFORE, GROWN, SIDES };

static const char *const endings[] = { "", "_before", "_grown" };

/*
 * Numbers of a group. The table shows some of them, and that of a comparison
 * those that it has of both traces. Bytes can be unknown.
 */
static const struct {
	const char *name;
	size_t at, before;	/* before 0: not compared */
	bool shown, is_bytes;
} numbers[] = {
#define AT(name) offsetof(struct pagedet_alloc_group, name)
#define NUMBER(name, shown, is_bytes) \
	{ #name, AT(name), 0, shown, is_bytes }
#define COMPARED(name, is_bytes) \
	{ #name, AT(name), AT(name##_before), true, is_bytes }
	COMPARED(times, false),
	NUMBER(requested, true, true),
	COMPARED(allocated, true),
	{ "waste", WASTE, WASTE, true, false },
	NUMBER(unsized, false, false),
	NUMBER(freed, false, false),
	COMPARED(live, false),
	COMPARED(live_bytes, true),
	NUMBER(replaced, true, false),
	NUMBER(failed, false, false),
	NUMBER(cross_cpu, true, false),
	NUMBER(mismatched, false, false),
	NUMBER(less, false, false),
	NUMBER(lifetime_ns, false, false),
#undef COMPARED
#undef NUMBER
};

static unsigned sides(const struct emitting *s, size_t i)
{
	return s->compared && numbers[i].before ? SIDES : 1;
}

static uint64_t waste(uint64_t allocated, uint64_t requested)
{
	return allocated - PDET_MIN(allocated, requested);
}

/* Of GROWN it is the difference, which may be negative. */
static uint64_t number(const struct emitting *s, size_t i, unsigned side)
{
	const struct pagedet_alloc_group *g = &s->group;
	uint64_t v;

	if (side == GROWN)
		return number(s, i, NOW) - number(s, i, BEFORE);
	if (numbers[i].at == WASTE)
		return side == NOW ?
			       waste(g->allocated, g->requested) :
			       waste(g->allocated_before, g->requested_before);
	memcpy(&v, (const char *)g + (side == NOW ? numbers[i].at :
						    numbers[i].before),
	       sizeof(v));
	return v;
}

/* Whether nothing that the number would sum up is known. */
static bool is_unknown(const struct emitting *s, size_t i, unsigned side)
{
	const struct pagedet_alloc_group *g = &s->group;

	if (numbers[i].at == AT(lifetime_ns))
		return s->total.no_ns;
	if (!numbers[i].is_bytes)
		return false;
	if (side != BEFORE && g->unsized && g->unsized == g->times)
		return true;
	return side != NOW && g->unsized_before &&
	       g->unsized_before == g->times_before;
}

/* Whether a sum of bytes lacks some. */
static bool is_partial(const struct emitting *s, size_t i, unsigned side)
{
	return numbers[i].is_bytes &&
	       ((side != BEFORE && s->group.unsized) ||
		(side != NOW && s->group.unsized_before));
}

static bool is_negative(uint64_t value, unsigned side)
{
	return side == GROWN && value >> 63;
}

static void str(struct emitting *s, const char *text)
{
	pdet_out_str(&s->e->out, text);
}

static bool is_number(uint32_t key)
{
	return !pdet_alloc_key_is_text(key);
}

static const char *text_of(const struct emitting *s, unsigned i, size_t *len)
{
	*len = 0;
	return pdet_allocs_text(s->a, s->group.value[i], len);
}

static void put_number(struct emitting *s, size_t i, unsigned side)
{
	const uint64_t v = number(s, i, side);

	str(s, is_negative(v, side) ? "-" : "");
	pdet_out_dec(&s->e->out, is_negative(v, side) ? -v : v);
}

/* Bits of flags can be seen in hexadecimal numbers only. */
static void key_number(struct emitting *s, unsigned i)
{
	struct pdet_out *out = &s->e->out;

	if (s->by[i] != PAGEDET_ALLOC_GFP) {
		pdet_out_dec(out, s->group.value[i]);
		return;
	}
	out->at = pdet_out_room(out, out->at, PDET_DIGITS);
	out->at = pdet_put_hex(out->at, s->group.value[i]);
}

/* Flags have two columns: the number, and these names. */
static bool names_of(const struct emitting *s, unsigned i,
		     char text[PDET_GFP_TEXT], size_t *len)
{
	return s->group.state[i] == PAGEDET_HAVE &&
	       pdet_allocs_gfp(s->a, s->group.value[i], text, len);
}

/* --- JSON --- */

static void json_name(struct emitting *s, const char *before,
		      const char *name, unsigned side)
{
	str(s, before);
	str(s, "\"");
	str(s, name);
	str(s, endings[side]);
	str(s, "\":");
}

static void json_key(struct emitting *s, const char *before, const char *name)
{
	json_name(s, before, name, NOW);
}

static void json_flags(struct emitting *s, unsigned i)
{
	struct pdet_out *out = &s->e->out;
	char text[PDET_GFP_TEXT];
	size_t len;
	bool bad;

	json_key(s, "", "gfp_names");
	if (names_of(s, i, text, &len))
		out->at = pdet_json_text(out, out->at, text, len, 0, &bad);
	else
		str(s, "null");
	str(s, ",");
}

static void json_value(struct emitting *s, unsigned i)
{
	struct pdet_out *out = &s->e->out;
	const char *text;
	size_t len;
	bool bad;

	json_key(s, "", pdet_alloc_key_name(s->by[i]));
	if (s->group.state[i] != PAGEDET_HAVE) {
		str(s, "null");
	} else if (is_number(s->by[i])) {
		pdet_out_dec(out, s->group.value[i]);
	} else {
		text = text_of(s, i, &len);
		out->at = pdet_json_text(out, out->at, text, len, 0, &bad);
	}
	str(s, ",");
	if (s->by[i] == PAGEDET_ALLOC_GFP)
		json_flags(s, i);
}

static void json_numbers(struct emitting *s)
{
	unsigned side;
	size_t k;

	for (k = 0; k < PDET_COUNT(numbers); k++)
		for (side = 0; side < sides(s, k); side++) {
			json_name(s, k || side ? "," : "", numbers[k].name,
				  side);
			if (is_unknown(s, k, side))
				str(s, "null");
			else
				put_number(s, k, side);
		}
}

static void json_reason(struct emitting *s, bool *any, const char *name,
			unsigned side, unsigned state)
{
	json_name(s, *any ? "," : ",\"missing\":{", name, side);
	str(s, "\"");
	str(s, pdet_reason_name(state));
	str(s, "\"");
	*any = true;
}

static void json_missing(struct emitting *s)
{
	char text[PDET_GFP_TEXT];
	bool any = false;
	unsigned i, side;
	size_t k, len;

	for (i = 0; i < s->n_by; i++) {
		if (pdet_is_reason(s->group.state[i]))
			json_reason(s, &any, pdet_alloc_key_name(s->by[i]),
				    NOW, s->group.state[i]);
		if (s->by[i] == PAGEDET_ALLOC_GFP &&
		    !names_of(s, i, text, &len))
			json_reason(s, &any, "gfp_names", NOW,
				    PAGEDET_UNSUPPORTED);
	}
	for (k = 0; k < PDET_COUNT(numbers); k++)
		for (side = 0; side < sides(s, k); side++)
			if (is_unknown(s, k, side))
				json_reason(s, &any, numbers[k].name, side,
					    PAGEDET_UNSUPPORTED);
	str(s, any ? "}" : "");
}

static void json_group(struct emitting *s)
{
	unsigned i;

	str(s, "{");
	for (i = 0; i < s->n_by; i++)
		json_value(s, i);
	json_numbers(s);
	json_missing(s);
	str(s, "}\n");
}

struct rest {
	const char *name;
	size_t at;
};

static void json_rest(struct emitting *s, const struct rest *rest, size_t n)
{
	uint64_t v;
	size_t k;

	for (k = 0; k < n; k++) {
		memcpy(&v, (const char *)&s->total + rest[k].at, sizeof(v));
		json_key(s, ",", rest[k].name);
		pdet_out_dec(&s->e->out, v);
	}
}

/* What is in no group, and what the sums do not have in them. */
static void json_total(struct emitting *s)
{
	const struct pagedet_allocs_total *t = &s->total;
	static const struct rest rest[] = {
#define REST(name) { #name, offsetof(struct pagedet_allocs_total, name) }
		REST(groups), REST(events), REST(other), REST(freed_unknown),
		REST(pages_unknown), REST(freed_nothing), REST(early),
		REST(begin_ns), REST(end_ns), REST(lost), REST(gaps),
		REST(uncounted), REST(missing), REST(cut_bytes), REST(damaged),
		REST(strange), REST(disorder), REST(sites), REST(unnamed),
	}, compared[] = {
		REST(begin_before_ns), REST(end_before_ns), REST(unmatched),
#undef REST
	};

	str(s, "{\"total\":{");
	json_numbers(s);
	json_rest(s, rest, PDET_COUNT(rest));
	if (s->compared)
		json_rest(s, compared, PDET_COUNT(compared));
	if (t->kaslr == PAGEDET_HAVE) {
		json_key(s, ",", "kaslr_offset");
		pdet_out_dec(&s->e->out, t->kaslr_offset);
	} else if (t->kaslr != PAGEDET_NONE) {
		str(s, ",\"kaslr_offset\":null");
	}
	json_key(s, ",", "complete");
	str(s, t->complete ? "true" : "false");
	json_missing(s);
	str(s, "}}\n");
}

/* --- CSV --- */

static void csv_head(struct emitting *s)
{
	unsigned i, side;
	size_t k;

	for (i = 0; i < s->n_by; i++) {
		str(s, pdet_alloc_key_name(s->by[i]));
		str(s, s->by[i] == PAGEDET_ALLOC_GFP ? ",gfp_names," : ",");
	}
	for (k = 0; k < PDET_COUNT(numbers); k++)
		for (side = 0; side < sides(s, k); side++) {
			str(s, k || side ? "," : "");
			str(s, numbers[k].name);
			str(s, endings[side]);
		}
	str(s, "\n");
}

static void csv_reason(struct emitting *s, unsigned state)
{
	if (!pdet_is_reason(state))
		return;
	str(s, "?");
	str(s, pdet_reason_name(state));
}

static void csv_flags(struct emitting *s, unsigned i)
{
	struct pdet_out *out = &s->e->out;
	char text[PDET_GFP_TEXT];
	size_t len;

	if (names_of(s, i, text, &len))
		out->at = pdet_csv_text(out, out->at, text, len, 0);
	else
		csv_reason(s, PAGEDET_UNSUPPORTED);
	str(s, ",");
}

static void csv_value(struct emitting *s, unsigned i)
{
	struct pdet_out *out = &s->e->out;
	const char *text;
	size_t len;

	if (s->group.state[i] != PAGEDET_HAVE) {
		csv_reason(s, s->group.state[i]);
	} else if (is_number(s->by[i])) {
		key_number(s, i);
	} else {
		text = text_of(s, i, &len);
		out->at = pdet_csv_text(out, out->at, text, len, 0);
	}
	str(s, ",");
	if (s->by[i] == PAGEDET_ALLOC_GFP)
		csv_flags(s, i);
}

static void csv_group(struct emitting *s)
{
	unsigned i, side;
	size_t k;

	for (i = 0; i < s->n_by; i++)
		csv_value(s, i);
	for (k = 0; k < PDET_COUNT(numbers); k++)
		for (side = 0; side < sides(s, k); side++) {
			str(s, k || side ? "," : "");
			if (is_unknown(s, k, side))
				csv_reason(s, PAGEDET_UNSUPPORTED);
			else
				put_number(s, k, side);
		}
	str(s, "\n");
}

/* --- text --- */

#define WIDTH 10

static void column(struct emitting *s, const char *text, size_t len)
{
	pdet_out_pad(&s->e->out, len < WIDTH ? WIDTH - len : 0);
	pdet_out_put(&s->e->out, text, len);
	str(s, " ");
}

static bool is_shown(const struct emitting *s, size_t k)
{
	return s->compared ? numbers[k].before : numbers[k].shown;
}

static void text_head(struct emitting *s)
{
	unsigned i;
	size_t k;

	for (k = 0; k < PDET_COUNT(numbers); k++) {
		if (is_shown(s, k))
			column(s, numbers[k].name, strlen(numbers[k].name));
		if (s->compared && is_shown(s, k))
			column(s, "grown by", strlen("grown by"));
	}
	for (i = 0; i < s->n_by; i++) {
		str(s, " ");
		str(s, pdet_alloc_key_name(s->by[i]));
	}
	str(s, "\n");
}

static void text_plain(struct emitting *s, const char *text, size_t len)
{
	char plain[1024];
	struct pdet_cut cut = { plain, sizeof(plain), 0 };

	pdet_cut_plain(&cut, text, len);
	pdet_out_put(&s->e->out, plain, PDET_MIN(cut.len, sizeof(plain)));
}

static bool has_frames(const struct emitting *s, unsigned i)
{
	return s->by[i] == PAGEDET_ALLOC_STACK &&
	       s->group.state[i] == PAGEDET_HAVE;
}

/* A line for each, the innermost first. */
static void text_frames(struct emitting *s, unsigned i)
{
	size_t len, n;
	const char *text = text_of(s, i, &len);

	while (len) {
		for (n = 0; n < len && text[len - n - 1] != ';'; n++)
			;
		str(s, "        ");
		text_plain(s, text + len - n, n);
		str(s, "\n");
		len -= n + (n < len);
	}
}

static void text_value(struct emitting *s, unsigned i)
{
	char flags[PDET_GFP_TEXT];
	const char *text;
	size_t len;

	str(s, " ");
	if (has_frames(s, i)) {
		str(s, "stack");
	} else if (s->group.state[i] != PAGEDET_HAVE) {
		str(s, s->group.state[i] == PAGEDET_NONE ? "-" : "?");
	} else if (s->by[i] == PAGEDET_ALLOC_GFP &&
		   names_of(s, i, flags, &len)) {
		pdet_out_put(&s->e->out, flags, len);
	} else if (is_number(s->by[i])) {
		key_number(s, i);
	} else {
		text = text_of(s, i, &len);
		text_plain(s, text, len);
	}
}

/* Unlike 1 MB, users can add up 1048576. A sum that lacks some has a +. */
static void text_number(struct emitting *s, size_t k, unsigned side)
{
	const uint64_t v = number(s, k, side);
	char digits[PDET_DIGITS + 2], *end = digits;

	if (is_unknown(s, k, side)) {
		*end++ = '?';
	} else {
		if (side == GROWN)
			*end++ = is_negative(v, side) ? '-' : '+';
		end = pdet_put_dec(end, is_negative(v, side) ? -v : v);
		if (is_partial(s, k, side))
			*end++ = '+';
	}
	column(s, digits, (size_t)(end - digits));
}

static void text_numbers(struct emitting *s)
{
	size_t k;

	for (k = 0; k < PDET_COUNT(numbers); k++) {
		if (is_shown(s, k))
			text_number(s, k, NOW);
		if (s->compared && is_shown(s, k))
			text_number(s, k, GROWN);
	}
}

static void text_group(struct emitting *s)
{
	unsigned i;

	text_numbers(s);
	for (i = 0; i < s->n_by; i++)
		text_value(s, i);
	str(s, "\n");
	for (i = 0; i < s->n_by; i++)
		if (has_frames(s, i))
			text_frames(s, i);
}

static void text_total(struct emitting *s)
{
	const struct pagedet_allocs_total *t = &s->total;

	text_numbers(s);
	str(s, t->complete ? " total of " : " read so far of ");
	pdet_out_dec(&s->e->out, t->groups);
	str(s, t->groups == 1 ? " group\n" : " groups\n");
}

static void emit_total(struct emitting *s)
{
	/* The sums have the same order in both. */
	_Static_assert(AT(live_bytes_before) - AT(times) ==
		       offsetof(struct pagedet_allocs_total,
				live_bytes_before) -
		       offsetof(struct pagedet_allocs_total, times),
		       "sums");
	memset(&s->group, 0, sizeof(s->group));
	memcpy(&s->group.times, &s->total.times,
	       AT(value) - AT(times));
	s->n_by = 0;
	if (s->e->format == &pdet_emit_text)
		text_total(s);
	else if (s->e->format != &pdet_emit_csv)
		json_total(s);
}

int pdet_emit_allocs(struct pagedet_emitter *e, struct pdet_env *env,
		     struct pdet_allocs *a, uint64_t max)
{
	struct emitting s = { .e = e, .a = a };
	void (*group)(struct emitting *s) = json_group;

	if (e->format == &pdet_emit_svg || e->format->rows_only)
		return pdet_fail(env, EINVAL, "groups of allocations can be "
				 "written as text, JSON or CSV only");
	s.by = pdet_allocs_keys(a, &s.n_by);
	s.compared = pdet_allocs_compared(a);
	pdet_allocs_total(a, &s.total);
	if (e->format == &pdet_emit_csv) {
		group = csv_group;
		csv_head(&s);
	} else if (e->format == &pdet_emit_text) {
		group = text_group;
		text_head(&s);
	}
	for (; max && pdet_allocs_next(a, &s.group) == 1; max--)
		group(&s);
	emit_total(&s);
	return pdet_out_result(&e->out, env);
}
