/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A row is a finding, and the values of the group of its first allocation. */
#include <errno.h>

#include "allocs/verdict.h"
#include "emit/alloc_cells.h"
#include "emit/alloc_findings.h"
#include "emit/cell.h"

struct emitting {
	struct pagedet_emitter *e;
	struct pdet_allocs *a;
	struct pdet_alloc_cells cells;
	struct pagedet_alloc_finding f;
	uint64_t findings, allowed, lost;
	bool uncounted;
};

/* A number of a finding, which may not be known. */
struct number {
	const char *name;
	uint64_t value;
	uint32_t state;
};

#define NUMBERS 3

static void numbers_of(const struct pagedet_alloc_finding *f,
		       struct number ret[NUMBERS])
{
	ret[0] = (struct number){ "cpu", f->cpu, f->cpu_state };
	ret[1] = (struct number){ "times", f->times, f->times_state };
	ret[2] = (struct number){ "first", f->first_ns, f->first_state };
}

static void str(struct emitting *s, const char *text)
{
	pdet_out_str(&s->e->out, text);
}

static void count(struct emitting *s)
{
	s->allowed += s->f.verdict == PAGEDET_JUDGED_ALLOWED;
	s->findings += s->f.verdict != PAGEDET_JUDGED_ALLOWED;
	if (s->f.found != PAGEDET_FOUND_LOST)
		return;
	s->lost += s->f.times;
	s->uncounted |= s->f.times_state != PAGEDET_HAVE;
}

/* --- JSON --- */

static void json_member(struct emitting *s, const char *name,
			const char *value)
{
	str(s, ",\"");
	str(s, name);
	str(s, "\":\"");
	str(s, value);
	str(s, "\"");
}

static void json_row(struct emitting *s)
{
	struct number n[NUMBERS];
	bool any = false;
	unsigned i;

	numbers_of(&s->f, n);
	str(s, "{");
	pdet_cells_json(&s->cells);
	str(s, "\"finding\":\"");
	str(s, pdet_found_name(s->f.found));
	str(s, "\"");
	for (i = 0; i < NUMBERS; i++) {
		str(s, ",\"");
		str(s, n[i].name);
		str(s, n[i].state == PAGEDET_HAVE ? "\":" : "\":null");
		if (n[i].state == PAGEDET_HAVE)
			pdet_out_dec(&s->e->out, n[i].value);
	}
	json_member(s, "verdict", pdet_found_verdict(s->f.verdict));
	json_member(s, "why", pdet_found_why(&s->f));
	pdet_cells_json_missing(&s->cells, &any);
	for (i = 0; i < NUMBERS; i++)
		if (pdet_is_reason(n[i].state))
			pdet_cells_json_reason(s->e, &any, n[i].name, "",
					       n[i].state);
	str(s, any ? "}}\n" : "}\n");
}

static void json_total(struct emitting *s)
{
	const char *release = pdet_allocs_release(s->a);
	struct pdet_out *out = &s->e->out;
	bool bad;

	str(s, "{\"total\":{\"findings\":");
	pdet_out_dec(out, s->findings);
	str(s, ",\"allowed\":");
	pdet_out_dec(out, s->allowed);
	str(s, s->uncounted ? ",\"lost\":null" : ",\"lost\":");
	if (!s->uncounted)
		pdet_out_dec(out, s->lost);
	str(s, *release ? ",\"release\":" : ",\"release\":null");
	if (*release)
		out->at = pdet_json_text(out, out->at, release,
					 strlen(release), 0, &bad);
	str(s, "}}\n");
}

/* --- CSV --- */

static void csv_row(struct emitting *s)
{
	struct number n[NUMBERS];
	unsigned i;

	numbers_of(&s->f, n);
	pdet_cells_csv(&s->cells);
	str(s, pdet_found_name(s->f.found));
	for (i = 0; i < NUMBERS; i++) {
		str(s, ",");
		if (n[i].state == PAGEDET_HAVE)
			pdet_out_dec(&s->e->out, n[i].value);
		else
			pdet_cells_csv_reason(s->e, n[i].state);
	}
	str(s, ",");
	str(s, pdet_found_verdict(s->f.verdict));
	str(s, "\n");
}

static void csv_head(struct emitting *s)
{
	pdet_cells_csv_head(&s->cells);
	str(s, "finding,cpu,times,first,verdict\n");
}

/* --- text --- */

static void right(struct emitting *s, size_t width, const char *text)
{
	pdet_out_right(&s->e->out, width, text, strlen(text));
}

static void dec(char to[PDET_DIGITS], uint64_t value)
{
	*pdet_put_dec(to, value) = '\0';
}

static void first(const struct emitting *s, char to[2 * PDET_DIGITS])
{
	*(pdet_allocs_counts_ns(s->a) ? pdet_put_seconds(to, s->f.first_ns) :
					pdet_put_dec(to, s->f.first_ns)) = '\0';
}

static void text_row(struct emitting *s)
{
	const struct pagedet_alloc_finding *f = &s->f;
	char times[PDET_DIGITS + 1], cpu[PDET_DIGITS] = "-";
	char when[2 * PDET_DIGITS] = "?";

	dec(times, f->times);
	if (f->times_state != PAGEDET_HAVE)
		strcpy(times, "?");
	if (f->cpu_state == PAGEDET_HAVE)
		dec(cpu, f->cpu);
	if (f->first_state == PAGEDET_HAVE)
		first(s, when);
	right(s, 9, pdet_found_name(f->found));
	right(s, 4, cpu);
	right(s, 9, times);
	right(s, 18, when);
	right(s, 8, pdet_found_verdict(f->verdict));
	str(s, pdet_found_why(f));
	if (f->state[0] == PAGEDET_NONE) {
		str(s, "\n");
		return;
	}
	str(s, ";");
	pdet_cells_text(&s->cells);
}

static void text_head(struct emitting *s)
{
	right(s, 9, "finding");
	right(s, 4, "cpu");
	right(s, 9, "times");
	right(s, 18, pdet_allocs_counts_ns(s->a) ? "first (s)" : "first");
	right(s, 8, "verdict");
	str(s, "why;");
	pdet_cells_text_head(&s->cells);
}

/* --- */

static void begin(struct emitting *s)
{
	if (s->e->format == &pdet_emit_text)
		text_head(s);
	else if (s->e->format == &pdet_emit_csv)
		csv_head(s);
}

static void row(struct emitting *s)
{
	if (s->e->format == &pdet_emit_text)
		text_row(s);
	else if (s->e->format == &pdet_emit_csv)
		csv_row(s);
	else
		json_row(s);
}

int pdet_emit_alloc_findings(struct pagedet_emitter *e, struct pdet_env *env,
			     struct pdet_allocs *a)
{
	struct emitting s = { .e = e, .a = a, .cells = { .e = e, .a = a } };
	const int r = pdet_emitter_lists(e, env, "findings");
	size_t i;

	if (r < 0)
		return r;
	s.cells.by = pdet_allocs_keys(a, &s.cells.n_by);
	s.cells.value = s.f.value;
	s.cells.state = s.f.state;
	for (i = 0; pdet_allocs_finding(a, i, &s.f); i++) {
		count(&s);
		if (!i)
			begin(&s);
		row(&s);
	}
	if (e->format == &pdet_emit_csv && !i)
		begin(&s);
	else if (e->format != &pdet_emit_text && e->format != &pdet_emit_csv)
		json_total(&s);
	return pdet_out_result(&e->out, env);
}
