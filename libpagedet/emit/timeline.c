/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A row is an event: its time, what it is, the values of its keys, numbers. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "base/text/plural.h"
#include "emit/alloc_cells.h"
#include "emit/cell.h"
#include "emit/timeline.h"

static const char *const events[] = {
	[PAGEDET_EVENT_LOST] = "lost",
	[PAGEDET_EVENT_KMALLOC] = "kmalloc",
	[PAGEDET_EVENT_CACHE_ALLOC] = "kmem_cache_alloc",
	[PAGEDET_EVENT_KFREE] = "kfree",
	[PAGEDET_EVENT_CACHE_FREE] = "kmem_cache_free",
	[PAGEDET_EVENT_PAGE_ALLOC] = "mm_page_alloc",
	[PAGEDET_EVENT_PAGE_FREE] = "mm_page_free",
};

static const char *const effects[] = {
	[PAGEDET_EFFECT_LOST] = "events lost",
	[PAGEDET_EFFECT_ALLOCATED] = "allocated",
	[PAGEDET_EFFECT_ALLOCATED_AGAIN] = "allocated while allocated",
	[PAGEDET_EFFECT_FREED] = "freed",
	[PAGEDET_EFFECT_FREED_UNKNOWN] = "freed, not allocated in the trace",
	[PAGEDET_EFFECT_OBJECT_ALLOCATED] = "object allocated",
	[PAGEDET_EFFECT_OBJECT_AGAIN] = "object allocated while allocated",
	[PAGEDET_EFFECT_OBJECT_FREED] = "object freed",
	[PAGEDET_EFFECT_OBJECT_UNKNOWN] =
		"object freed, not allocated in the trace",
};

enum number { TIME, PFN, ORDER, ADDRESS, BYTES, LIFETIME, LOST, NUMBERS };

static const struct {
	const char *name;
	size_t width;		/* of the text */
} numbers[NUMBERS] = {
	[TIME] = { "time_ns", 16 }, [PFN] = { "pfn", 9 },
	[ORDER] = { "order", 5 }, [ADDRESS] = { "address", 18 },
	[BYTES] = { "bytes", 8 }, [LIFETIME] = { "lifetime_ns", 12 },
	[LOST] = { "lost", 6 },
};

struct emitting {
	struct pagedet_emitter *e;
	const struct pdet_emit_timeline *t;
	struct pdet_alloc_cells cells;
	struct pagedet_timeline_event row;
	uint64_t begin_ns;
};

static void str(struct emitting *s, const char *text)
{
	pdet_out_str(&s->e->out, text);
}

/* --- numbers --- */

static unsigned some(bool has)
{
	return has ? PAGEDET_HAVE : PAGEDET_NONE;
}

static bool is_hidden(const struct emitting *s, enum number n)
{
	return n == ADDRESS && !(s->e->options & PAGEDET_EMIT_POINTERS);
}

/* Returns the state. */
static unsigned get(const struct emitting *s, enum number n, uint64_t *ret)
{
	const struct pagedet_timeline_event *row = &s->row;
	const bool is_loss = row->kind == PAGEDET_EVENT_LOST;
	const uint64_t value[NUMBERS] = {
		[TIME] = row->ns, [PFN] = row->pfn, [ORDER] = row->order,
		[ADDRESS] = row->address, [BYTES] = row->bytes,
		[LIFETIME] = row->lifetime_ns, [LOST] = row->lost,
	};

	*ret = value[n];
	switch (n) {
	case TIME:
		return s->t->total.no_ns || row->ns == UINT64_MAX ?
			       PAGEDET_UNSUPPORTED : PAGEDET_HAVE;
	case PFN:
		return some(!is_loss);
	case ORDER:
		return some(!is_loss && !row->address);
	case ADDRESS:
		return row->address && is_hidden(s, n) ? PDET_STATE_HIDDEN :
							 some(row->address);
	case BYTES:
		return row->bytes_state;
	case LIFETIME:
		return row->lifetime_state;
	default:
		return is_loss && row->lost == UINT64_MAX ?
			       PAGEDET_UNSUPPORTED : some(is_loss);
	}
}

static char *put_number(char *to, enum number n, uint64_t v)
{
	return n == ADDRESS ? pdet_put_hex(to, v) : pdet_put_dec(to, v);
}

static void number(struct emitting *s, enum number n, uint64_t v)
{
	char digits[PDET_DIGITS], *end = put_number(digits, n, v);

	pdet_out_put(&s->e->out, digits, (size_t)(end - digits));
}

/* --- JSON --- */

static void json_number(struct emitting *s, enum number n)
{
	const char *quote = n == ADDRESS ? "\"" : "";
	uint64_t v;
	const unsigned state = get(s, n, &v);

	str(s, n <= PFN ? "\"" : ",\"");
	str(s, numbers[n].name);
	str(s, "\":");
	if (state != PAGEDET_HAVE) {
		str(s, "null");
		return;
	}
	str(s, quote);
	number(s, n, v);
	str(s, quote);
}

static void json_missing(struct emitting *s)
{
	bool any = false;
	uint64_t v;
	unsigned n;

	pdet_cells_json_missing(&s->cells, &any);
	for (n = 0; n < NUMBERS; n++)
		if (pdet_is_reason(get(s, n, &v)))
			pdet_cells_json_reason(s->e, &any, numbers[n].name, "",
					       get(s, n, &v));
	str(s, any ? "}" : "");
}

static void json_row(struct emitting *s)
{
	unsigned n;

	str(s, "{");
	json_number(s, TIME);
	str(s, ",\"event\":\"");
	str(s, events[s->row.kind]);
	str(s, "\",\"effect\":\"");
	str(s, effects[s->row.effect]);
	str(s, "\",");
	pdet_cells_json(&s->cells);
	for (n = PFN; n < NUMBERS; n++)
		json_number(s, n);
	json_missing(s);
	str(s, "}\n");
}

static const struct pdet_cell_number of_total[] = {
#define NUMBER(name) { #name, offsetof(struct pagedet_timeline_total, name) }
	NUMBER(events), NUMBER(page_events), NUMBER(object_events),
	NUMBER(losses), NUMBER(rows), NUMBER(left_out), NUMBER(unplaced),
#undef NUMBER
}, of_trace[] = {
#define NUMBER(name) { #name, offsetof(struct pagedet_allocs_total, name) }
	NUMBER(begin_ns), NUMBER(end_ns),
	{ "lost_at_least", offsetof(struct pagedet_allocs_total, lost) },
	NUMBER(gaps), NUMBER(uncounted),
	/* "missing" of a row is an object. */
	{ "missing_events", offsetof(struct pagedet_allocs_total, missing) },
	NUMBER(cut_bytes), NUMBER(damaged), NUMBER(strange), NUMBER(disorder),
#undef NUMBER
};

/* Also what the trace lost, as a report has it. */
static void json_total(struct emitting *s)
{
	const struct pagedet_timeline_total *t = &s->t->total;
	struct pdet_out *out = &s->e->out;
	struct pagedet_allocs_total trace;
	bool bad;

	pdet_allocs_total(s->t->allocs, &trace);
	str(s, "{\"total\":{");
	pdet_cells_json_numbers(s->e, t, of_total, PDET_COUNT(of_total));
	str(s, ",");
	pdet_cells_json_numbers(s->e, &trace, of_trace, PDET_COUNT(of_trace));
	str(s, ",\"lost\":");
	if (trace.gaps || trace.uncounted)
		str(s, "null");
	else
		pdet_out_dec(out, trace.lost);
	str(s, trace.complete ? ",\"complete\":true,\"objects\":" :
				",\"complete\":false,\"objects\":");
	str(s, t->objects == PAGEDET_HAVE ? "\"placed\"" :
	       t->objects == PAGEDET_NOT_ASKED ? "\"not asked\"" : "null");
	if (s->t->why) {
		str(s, ",\"objects_why\":");
		out->at = pdet_json_text(out, out->at, s->t->why,
					 strlen(s->t->why), 0, &bad);
	}
	str(s, "}}\n");
}

/* --- CSV --- */

static void csv_number(struct emitting *s, enum number n)
{
	uint64_t v;
	const unsigned state = get(s, n, &v);

	if (state != PAGEDET_HAVE)
		pdet_cells_csv_reason(s->e, state);
	else
		number(s, n, v);
	str(s, n == LOST ? "\n" : ",");
}

static void csv_row(struct emitting *s)
{
	const char *effect = effects[s->row.effect];
	struct pdet_out *out = &s->e->out;
	unsigned n;

	csv_number(s, TIME);
	str(s, events[s->row.kind]);
	str(s, ",");
	out->at = pdet_csv_text(out, out->at, effect, strlen(effect), 0);
	str(s, ",");
	pdet_cells_csv(&s->cells);
	for (n = PFN; n < NUMBERS; n++)
		csv_number(s, n);
}

static void csv_head(struct emitting *s)
{
	unsigned n;

	str(s, numbers[TIME].name);
	str(s, ",event,effect,");
	pdet_cells_csv_head(&s->cells);
	for (n = PFN; n < NUMBERS; n++) {
		str(s, numbers[n].name);
		str(s, n == LOST ? "\n" : ",");
	}
}

/* --- text --- */

#define SECONDS 14
#define EVENT 16
#define EFFECT 25

static void left(struct emitting *s, size_t width, const char *text)
{
	const size_t len = strlen(text);

	str(s, text);
	pdet_out_pad(&s->e->out, len < width ? width - len : 0);
}

/* Since the first event of the trace. */
static void text_seconds(struct emitting *s)
{
	const bool early = s->row.ns < s->begin_ns;
	const uint64_t ns = early ? s->begin_ns - s->row.ns :
				    s->row.ns - s->begin_ns;
	char text[2 * PDET_DIGITS + 1], *end = text;
	uint64_t v;

	if (get(s, TIME, &v) != PAGEDET_HAVE) {
		*end++ = '?';
	} else {
		if (early)
			*end++ = '-';
		end = pdet_put_seconds(end, ns);
	}
	pdet_out_right(&s->e->out, SECONDS, text, (size_t)(end - text));
}

static void text_number(struct emitting *s, enum number n)
{
	char digits[PDET_DIGITS], *end = digits;
	uint64_t v;
	const unsigned state = get(s, n, &v);

	if (state == PAGEDET_HAVE)
		end = put_number(digits, n, v);
	else
		*end++ = state == PAGEDET_NONE ? '-' : '?';
	pdet_out_right(&s->e->out, numbers[n].width, digits,
		       (size_t)(end - digits));
}

static void text_row(struct emitting *s)
{
	char lost[48];
	uint64_t v;
	unsigned n;

	text_seconds(s);
	for (n = TIME; n < LOST; n++)
		if (!is_hidden(s, n))
			text_number(s, n);
	left(s, EVENT, events[s->row.kind]);
	str(s, " ");
	if (get(s, LOST, &v) == PAGEDET_HAVE) {
		snprintf(lost, sizeof(lost), "%llu event%s lost",
			 (unsigned long long)v, pdet_plural(v));
		left(s, EFFECT, lost);
	} else {
		left(s, EFFECT, effects[s->row.effect]);
	}
	pdet_cells_text(&s->cells);
}

static void text_head(struct emitting *s)
{
	unsigned n;

	pdet_out_right(&s->e->out, SECONDS, "seconds", strlen("seconds"));
	for (n = TIME; n < LOST; n++)
		if (!is_hidden(s, n))
			pdet_out_right(&s->e->out, numbers[n].width,
				       numbers[n].name,
				       strlen(numbers[n].name));
	left(s, EVENT, "event");
	str(s, " ");
	left(s, EFFECT, "effect");
	pdet_cells_text_head(&s->cells);
}

static void text_total(struct emitting *s)
{
	const struct pagedet_timeline_total *t = &s->t->total;
	struct pdet_out *out = &s->e->out;

	pdet_out_dec(out, t->page_events);
	str(s, t->page_events == 1 ? " event of pages" : " events of pages");
	if (t->objects == PAGEDET_HAVE) {
		str(s, ", ");
		pdet_out_dec(out, t->object_events);
		str(s, " of objects");
	} else {
		str(s, ", and objects are not shown");
	}
	str(s, "\n");
}

/* --- */

static void total(struct emitting *s)
{
	if (s->e->format == &pdet_emit_text)
		text_total(s);
	else if (s->e->format != &pdet_emit_csv)
		json_total(s);
}

int pdet_emit_timeline(struct pagedet_emitter *e, struct pdet_env *env,
		       const struct pdet_emit_timeline *t)
{
	struct emitting s = { .e = e, .t = t };
	void (*row)(struct emitting *s) = json_row;
	uint64_t rest = t->max;
	const int r = pdet_emitter_lists(e, env, "a timeline");

	if (r < 0)
		return r;
	s.cells = (struct pdet_alloc_cells){ .e = e, .a = t->allocs,
					     .value = s.row.value,
					     .state = s.row.state };
	s.cells.by = pdet_allocs_keys(t->allocs, &s.cells.n_by);
	s.begin_ns = pdet_allocs_begin_ns(t->allocs);
	if (e->format == &pdet_emit_csv) {
		row = csv_row;
		csv_head(&s);
	} else if (e->format == &pdet_emit_text) {
		row = text_row;
		text_head(&s);
	}
	for (; rest && t->next(t->arg, &s.row) == 1; rest--)
		row(&s);
	total(&s);
	return pdet_out_result(&e->out, env);
}
