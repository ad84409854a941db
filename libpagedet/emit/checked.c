/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes the verdicts of a check: one JSON object, CSV line or text line for
 * each. The last one is the verdict on the whole check.
 */
#include "base/text/plural.h"
#include "emit/cell.h"
#include "emit/checked.h"
#include "emit/emitter.h"

struct emitting {
	struct pagedet_emitter *e;
	struct pdet_checked *c;
	bool unknown;		/* of some pages; others may violate it */
	uint64_t listed;	/* pages that violate it, in the lines so far */
};

static void str(struct emitting *s, const char *text)
{
	pdet_out_str(&s->e->out, text);
}

static void dec(struct emitting *s, uint64_t value)
{
	pdet_out_dec(&s->e->out, value);
}

static const char *why_of(const struct emitting *s,
			  const struct pagedet_verdict *v)
{
	const char *why = pdet_checked_text(s->c, v->why);

	return why ? why : "";
}

static void json_text(struct emitting *s, const char *key, const char *text)
{
	struct pdet_out *out = &s->e->out;
	bool bad;

	str(s, ",\"");
	str(s, key);
	str(s, "\":");
	out->at = pdet_json_text(out, out->at, text, strlen(text), 0, &bad);
}

static void json_number(struct emitting *s, const char *key, uint64_t value)
{
	str(s, ",\"");
	str(s, key);
	str(s, "\":");
	dec(s, value);
}

static void json(struct emitting *s, const struct pagedet_verdict *v,
		 bool whole)
{
	str(s, "{\"check\":\"");
	str(s, pdet_checked_name(s->c));
	str(s, "\"");
	json_text(s, "path", pdet_checked_path(s->c));
	json_text(s, "verdict", pdet_verdict_name(v->verdict));
	json_number(s, "first", v->first);
	json_number(s, "pages", v->pages);
	json_text(s, "why", why_of(s, v));
	json_text(s, "cause", pdet_cause_name(v->cause));
	if (whole) {
		json_number(s, "looked_at", v->looked_at);
		json_number(s, "violations", v->violations);
		str(s, ",\"whole\":true");
	}
	str(s, "}\n");
}

static void csv(struct emitting *s, const struct pagedet_verdict *v, bool whole)
{
	struct pdet_out *out = &s->e->out;
	const char *path = pdet_checked_path(s->c), *why = why_of(s, v);

	str(s, pdet_checked_name(s->c));
	str(s, ",");
	out->at = pdet_csv_text(out, out->at, path, strlen(path), 0);
	str(s, ",");
	str(s, pdet_verdict_name(v->verdict));
	str(s, ",");
	dec(s, v->first);
	str(s, ",");
	dec(s, v->pages);
	str(s, ",");
	out->at = pdet_csv_text(out, out->at, why, strlen(why), 0);
	str(s, ",");
	str(s, pdet_cause_name(v->cause));
	str(s, whole ? ",1\n" : ",0\n");
}

static void plain(struct emitting *s, const char *text)
{
	char buf[1024];
	struct pdet_cut cut = { buf, sizeof(buf), 0 };

	pdet_cut_plain(&cut, text, strlen(text));
	pdet_out_put(&s->e->out, buf, PDET_MIN(cut.len, sizeof(buf)));
}

/* How many violate it, of how many, and whether that is all. */
static void put_violations(struct emitting *s, const struct pagedet_verdict *v)
{
	const bool reads = s->c->kind == PAGEDET_CHECK_STABLE;
	const bool of_them = v->violations <= v->looked_at;
	const uint64_t n = of_them ? v->looked_at : v->violations;

	if (!v->violations)
		return;
	str(s, s->unknown ? ": at least " : ": ");
	dec(s, v->violations);
	if (of_them) {
		str(s, " of ");
		dec(s, n);
	}
	str(s, reads ? " read" : " page");
	str(s, pdet_plural(n));
	str(s, reads ? " under writeback" : of_them ? " looked at" : "");
	if (!reads && s->listed < v->violations) {
		str(s, ", ");
		dec(s, s->listed);
		str(s, " are listed");
	}
}

static void text(struct emitting *s, const struct pagedet_verdict *v,
		 bool whole)
{
	const char *why = why_of(s, v);

	if (!whole) {
		str(s, "  ");
		str(s, pdet_verdict_name(v->verdict));
		if (v->pages) {
			str(s, v->pages == 1 ? "  page " : "  pages ");
			dec(s, v->first);
			if (v->pages > 1) {
				str(s, "+");
				dec(s, v->pages);
			}
		}
	} else {
		str(s, pdet_checked_name(s->c));
		str(s, " ");
		plain(s, pdet_checked_path(s->c));
		str(s, *pdet_checked_path(s->c) ? ": " : "");
		str(s, pdet_verdict_name(v->verdict));
		put_violations(s, v);
	}
	if (*why && (!whole || v->verdict != PAGEDET_VIOLATED)) {
		str(s, whole ? ": " : "  ");
		plain(s, why);
	}
	str(s, "\n");
}

int pdet_emit_checked(struct pagedet_emitter *e, struct pdet_env *env,
		      struct pdet_checked *c)
{
	void (*one)(struct emitting *s, const struct pagedet_verdict *v,
		    bool whole) = json;
	struct emitting s = { .e = e, .c = c };
	const int r = pdet_emitter_lists(e, env, "assertions");
	struct pagedet_verdict v;

	if (r < 0)
		return r;
	if (e->format == &pdet_emit_csv) {
		one = csv;
		str(&s, "check,path,verdict,first,pages,why,cause,whole\n");
	} else if (e->format == &pdet_emit_text) {
		one = text;
	}
	while (pdet_checked_next(c, &v)) {
		s.unknown |= v.verdict == PAGEDET_CANNOT_TELL;
		s.listed += v.violations;
		one(&s, &v, false);
	}
	pdet_checked_whole(c, &v);
	one(&s, &v, true);
	return pdet_out_result(&e->out, env);
}
