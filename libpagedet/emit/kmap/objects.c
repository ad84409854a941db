/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * One row for each object. Accesses are a list in JSON, lines of their own in
 * text, and in CSV each access repeats its object.
 */
#include "emit/cell.h"
#include "emit/kmap/cells.h"
#include "emit/kmap/kmap.h"

struct emitting {
	struct pagedet_emitter *e;
	struct pdet_kmap *k;
	unsigned dialect;
	bool accesses;
};

static const char *const ends[] = { "live", "freed", "missed", "unknown" };
static const char *const origins[] = {
	"call", "unknown", "preallocated", "catch_all"
};

static void str(struct emitting *s, const char *text)
{
	pdet_out_str(&s->e->out, text);
}

static unsigned if_has(const struct emitting *s, unsigned dialect)
{
	return s->dialect < dialect ? PAGEDET_UNSUPPORTED : PAGEDET_NONE;
}

static void put_address(struct emitting *s, struct pdet_kmap_row *row,
			const struct pagedet_kmap_object *o)
{
	struct pdet_kmap_cell *c = pdet_kmap_put(row, "address", o->address,
						 0);

	c->is = PDET_KMAP_ADDRESS;
	if (o->hidden)
		c->state = PAGEDET_UNSUPPORTED;
	else if (!(s->e->options & PAGEDET_EMIT_POINTERS))
		c->state = PDET_STATE_HIDDEN;
	if (s->e->options & PAGEDET_EMIT_POINTERS)
		c->width = 18;
}

static void put_times(struct emitting *s, struct pdet_kmap_row *row,
		      const struct pagedet_kmap_object *o)
{
	uint64_t lifetime = 0;
	const unsigned state = pdet_kmap_lifetime_of(s->k, &lifetime);

	pdet_kmap_put(row, "alloc_index", o->alloc_index, 0);
	if (!o->free_index)
		pdet_kmap_put(row, "free_index", 0, 0)->state = PAGEDET_NONE;
	else
		pdet_kmap_put(row, "free_index", o->free_index, 0);
	pdet_kmap_put(row, pdet_kmap_lifetime_name(s->k), lifetime, 0)->state =
		state;
}

static void put_free(struct emitting *s, struct pdet_kmap_row *row,
		     const struct pagedet_kmap_object *o)
{
	const unsigned replaced = o->end == PAGEDET_KMAP_MISSED ?
				  if_has(s, PAGEDET_KMAP_INDEXED) :
				  PAGEDET_NONE;
	struct pdet_kmap_cell *nested;

	pdet_kmap_put_text(row, "free_site", o->free_site_name,
			   o->end == PAGEDET_KMAP_LIVE ? PAGEDET_NONE :
							 PAGEDET_UNSUPPORTED,
			   0);
	nested = pdet_kmap_put(row, "nested", o->nested, 0);
	nested->is = PDET_KMAP_BOOL;
	if (!pdet_kmap_nested_told(s->k))
		nested->state = PAGEDET_UNSUPPORTED;
	pdet_kmap_put_text(row, "replaced_by", o->replaced_by, replaced, 0);
}

static void fill(struct emitting *s, const struct pagedet_kmap_object *o,
		 struct pdet_kmap_row *row)
{
	struct pdet_kmap_cell *pid;

	row->n = 0;
	pdet_kmap_put_text(row, "site", o->site_name, PAGEDET_UNSUPPORTED,
			   -34);
	pdet_kmap_put_text(row, "type", o->type,
			   if_has(s, PAGEDET_KMAP_TYPED), -13);
	pdet_kmap_put(row, "bytes", o->bytes, 8);
	put_address(s, row, o);
	pdet_kmap_put_text(row, "freed", o->origin == PAGEDET_KMAP_CATCH_ALL ?
			   "" : ends[o->end], PAGEDET_NONE, -7);
	pdet_kmap_put(row, "reads", o->reads, 8);
	pdet_kmap_put(row, "writes", o->writes, 8);
	pdet_kmap_put(row, "access_count", o->accesses, 0);
	pdet_kmap_put_text(row, "origin", origins[o->origin], PAGEDET_NONE, 0);
	pid = pdet_kmap_put(row, "pid", (uint64_t)o->pid, 7);
	/* An interrupt has a name, "hardirq" or "softirq". */
	if (o->pid < 0)
		pid->state = *o->command ? PAGEDET_NONE : PAGEDET_UNSUPPORTED;
	pdet_kmap_put_text(row, "command", o->command, o->pid < 0 ?
			   PAGEDET_UNSUPPORTED : PAGEDET_NONE, -15);
	pdet_kmap_put_text(row, "cache", o->cache,
			   if_has(s, PAGEDET_KMAP_SLAB),
			   s->dialect < PAGEDET_KMAP_SLAB ? 0 : -16);
	put_times(s, row, o);
	put_free(s, row, o);
}

static void fill_access(const struct pagedet_kmap_access *a,
			struct pdet_kmap_row *row, const char *names[4])
{
	struct pdet_kmap_cell *pid;

	row->n = 0;
	pdet_kmap_put(row, names[0], a->reads, 14);
	pdet_kmap_put(row, names[1], a->writes, 8);
	pid = pdet_kmap_put(row, names[2], (uint64_t)a->pid, 7);
	if (a->pid < 0)
		pid->state = PAGEDET_UNSUPPORTED;
	pdet_kmap_put_text(row, names[3], a->site_name, PAGEDET_UNSUPPORTED,
			   -1);
}

/* --- formats --- */

static const char *access_names[4] = { "reads", "writes", "pid", "site" };
static const char *csv_access_names[4] = {
	"access_reads", "access_writes", "access_pid", "access_site"
};

static void json_accesses(struct emitting *s)
{
	struct pagedet_kmap_access a;
	struct pdet_kmap_row row;
	bool any = false;

	str(s, ",\"accesses\":[");
	for (; pdet_kmap_next_access(s->k, &a) == 1; any = true) {
		fill_access(&a, &row, access_names);
		str(s, any ? ",{" : "{");
		pdet_kmap_json(s->e, &row);
		pdet_kmap_json_missing(s->e, &row);
		str(s, "}");
	}
	str(s, "]");
}

static void json_object(struct emitting *s, const struct pdet_kmap_row *row)
{
	str(s, "{");
	pdet_kmap_json(s->e, row);
	if (s->accesses)
		json_accesses(s);
	pdet_kmap_json_missing(s->e, row);
	str(s, "}\n");
}

static void csv_accesses(struct emitting *s, const struct pdet_kmap_row *row)
{
	struct pagedet_kmap_access a;
	struct pdet_kmap_row access;
	bool any = false;

	for (; pdet_kmap_next_access(s->k, &a) == 1; any = true) {
		fill_access(&a, &access, csv_access_names);
		pdet_kmap_csv(s->e, row);
		str(s, ",");
		pdet_kmap_csv(s->e, &access);
		str(s, "\n");
	}
	if (any)
		return;
	pdet_kmap_csv(s->e, row);
	str(s, ",,,,\n");
}

static void csv_head(struct emitting *s, const struct pdet_kmap_row *row)
{
	struct pagedet_kmap_access none = { .site_name = "" };
	struct pdet_kmap_row access;

	pdet_kmap_csv_head(s->e, row);
	if (s->accesses) {
		str(s, ",");
		fill_access(&none, &access, csv_access_names);
		pdet_kmap_csv_head(s->e, &access);
	}
	str(s, "\n");
}

static void csv_object(struct emitting *s, const struct pdet_kmap_row *row)
{
	if (s->accesses) {
		csv_accesses(s, row);
		return;
	}
	pdet_kmap_csv(s->e, row);
	str(s, "\n");
}

static void text_object(struct emitting *s, const struct pdet_kmap_row *row)
{
	struct pagedet_kmap_access a;
	struct pdet_kmap_row access;

	pdet_kmap_text_row(s->e, row);
	while (s->accesses && pdet_kmap_next_access(s->k, &a) == 1) {
		fill_access(&a, &access, access_names);
		pdet_kmap_text_row(s->e, &access);
	}
}

/* What comes before the first object, if there is one. */
static void head(struct emitting *s)
{
	static const struct pagedet_kmap_object none = {
		.site_name = "", .free_site_name = "", .type = "",
		.cache = "", .command = "", .replaced_by = "",
	};
	struct pdet_kmap_row row;

	fill(s, &none, &row);
	if (s->e->format == &pdet_emit_csv)
		csv_head(s, &row);
	else if (s->e->format == &pdet_emit_text)
		pdet_kmap_text_head(s->e, &row);
}

static void emit(struct emitting *s, const struct pagedet_kmap_object *o)
{
	const bool csv = s->e->format == &pdet_emit_csv;
	const bool text = s->e->format == &pdet_emit_text;
	struct pdet_kmap_row row;

	fill(s, o, &row);
	if (csv)
		csv_object(s, &row);
	else if (text)
		text_object(s, &row);
	else
		json_object(s, &row);
}

int pdet_emit_kmap(struct pagedet_emitter *e, struct pdet_env *env,
		   struct pdet_kmap *k, bool accesses, uint64_t max)
{
	struct emitting s = { .e = e, .k = k, .accesses = accesses };
	struct pagedet_kmap_total t;
	struct pagedet_kmap_object o;
	int r = pdet_emit_kmap_check(e, env);

	if (r < 0)
		return r;
	pdet_kmap_total(k, &t);
	s.dialect = t.dialect;
	head(&s);
	while ((r = pdet_kmap_next(k, env, &o)) == 1) {
		if (!max)
			continue;
		max--;
		emit(&s, &o);
	}
	if (r < 0)
		return r;
	pdet_emit_kmap_total(e, k);
	return pdet_out_result(&e->out, env);
}
