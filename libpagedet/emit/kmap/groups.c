/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One row for each group, and the sums of all objects. */
#include <errno.h>
#include <stddef.h>

#include "emit/alloc_cells.h"
#include "emit/kmap/cells.h"
#include "emit/kmap/kmap.h"
#include "kmap/keys.h"

#define AT(name) offsetof(struct pagedet_kmap_group, name)

/* A table has room for some; of a comparison for those of both texts. */
static const struct {
	struct pdet_cell_number now, before;
	const char *grown;
	bool shown;
} numbers[] = {
#define CELL(name) { #name, AT(name) }
#define NUMBER(name, shown) { CELL(name), { NULL, 0 }, NULL, shown }
#define COMPARED(name, shown) { CELL(name), CELL(name##_before), \
		#name "_grown", shown }
	COMPARED(objects, true),
	COMPARED(bytes, true),
	NUMBER(nested, false),
	NUMBER(catch_all, false),
	COMPARED(live, true),
	COMPARED(live_bytes, false),
	NUMBER(freed, false),
	NUMBER(missed, true),
	NUMBER(unknown, true),
	NUMBER(accesses, false),
	COMPARED(reads, true),
	COMPARED(writes, true),
#undef COMPARED
#undef NUMBER
#undef CELL
};

static void put_numbers(struct pdet_kmap_row *row,
			const struct pagedet_kmap_group *g, bool compared)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(numbers); i++) {
		const bool both = compared && numbers[i].before.name;
		const bool shown = numbers[i].shown && (both || !compared);
		const uint64_t now = pdet_cell_value(g, &numbers[i].now);
		uint64_t before;

		pdet_kmap_put(row, numbers[i].now.name, now, shown ? 9 : 0);
		if (!both)
			continue;
		before = pdet_cell_value(g, &numbers[i].before);
		pdet_kmap_put(row, numbers[i].before.name, before, 0);
		pdet_kmap_put(row, numbers[i].grown, now - before,
			      shown ? 9 : 0)->is = PDET_KMAP_SIGNED;
	}
}

static void put_keys(struct pdet_kmap_row *row, const struct pdet_kmap *k,
		     const struct pagedet_kmap_group *g)
{
	struct pdet_kmap_cell *c;
	const uint32_t *by;
	unsigned i, n;

	by = pdet_kmap_keys(k, &n);
	for (i = 0; i < n; i++) {
		c = pdet_kmap_put(row, by[i] == PAGEDET_KMAP_LIFETIME ?
				  pdet_kmap_lifetime_name(k) :
				  pdet_kmap_key_name(by[i]), g->value[i],
				  i + 1 < n ? -24 : -1);
		c->state = g->state[i];
		if (!pdet_kmap_key_is_text(by[i]))
			continue;
		c->is = PDET_KMAP_WORDS;
		c->text = "";
		if (c->state == PAGEDET_HAVE)
			c->text = pdet_kmap_text(k, c->value, &c->len);
	}
}

/* Keys come first where order is free, and last where they end a line. */
static void fill(struct pdet_kmap_row *row, const struct pagedet_emitter *e,
		 const struct pdet_kmap *k, const struct pagedet_kmap_group *g,
		 bool compared)
{
	row->n = 0;
	if (e->format != &pdet_emit_text)
		put_keys(row, k, g);
	put_numbers(row, g, compared);
	if (e->format == &pdet_emit_text)
		put_keys(row, k, g);
}

/* --- the last line --- */

static void put_rest(struct pdet_kmap_row *row,
		     const struct pagedet_kmap_total *t)
{
	static const struct pdet_cell_number rest[] = {
#define REST(name) { #name, offsetof(struct pagedet_kmap_total, name) }
		REST(nested_bytes), REST(preallocated), REST(lines),
		REST(strange), REST(orphans), REST(dropped), REST(hashed),
		REST(unnamed), REST(filtered), REST(undecided),
#undef REST
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(rest); i++)
		pdet_kmap_put(row, rest[i].name, pdet_cell_value(t, &rest[i]),
			      0);
	pdet_kmap_put(row, "strange_line", t->strange_line, 0)->state =
		t->strange ? PAGEDET_HAVE : PAGEDET_NONE;
	pdet_kmap_put(row, "orphan_line", t->orphan_line, 0)->state =
		t->orphans ? PAGEDET_HAVE : PAGEDET_NONE;
}

static void put_about(struct pdet_kmap_row *row,
		      const struct pagedet_kmap_total *t)
{
	static const char *const dialects[] = {
		"", "linuxkit", "typed", "slab", "indexed"
	};

	pdet_kmap_put_text(row, "dialect", dialects[t->dialect], PAGEDET_NONE,
			   0);
	pdet_kmap_put_text(row, "index", t->dialect == PAGEDET_KMAP_INDEXED ?
			   "" : "jiffies", PAGEDET_UNSUPPORTED, 0);
	if (t->kaslr != PAGEDET_NONE)
		pdet_kmap_put(row, "kaslr_offset", t->kaslr_offset, 0)->state =
			t->kaslr;
	pdet_kmap_put(row, "cut", t->cut, 0)->is = PDET_KMAP_BOOL;
	pdet_kmap_put(row, "saturated", t->saturated, 0)->is = PDET_KMAP_BOOL;
	pdet_kmap_put(row, "complete", t->complete, 0)->is = PDET_KMAP_BOOL;
}

/* The sums have the same order in both. */
static void sums_of(const struct pagedet_kmap_total *t,
		    struct pagedet_kmap_group *ret)
{
	_Static_assert(AT(writes_before) - AT(objects) ==
		       offsetof(struct pagedet_kmap_total, writes_before) -
		       offsetof(struct pagedet_kmap_total, objects), "sums");
	memset(ret, 0, sizeof(*ret));
	memcpy(&ret->objects, &t->objects, AT(value) - AT(objects));
}

static void text_total(struct pagedet_emitter *e,
		       const struct pagedet_kmap_total *t,
		       const struct pdet_kmap_row *row)
{
	pdet_out_str(&e->out, t->complete ? "total:" : "read so far:");
	pdet_kmap_text_named(e, row);
	pdet_out_str(&e->out, "\n");
}

void pdet_emit_kmap_total(struct pagedet_emitter *e, const struct pdet_kmap *k)
{
	struct pagedet_kmap_group g;
	struct pagedet_kmap_total t;
	struct pdet_kmap_row row = { .n = 0 };

	pdet_kmap_total(k, &t);
	sums_of(&t, &g);
	put_numbers(&row, &g, t.compared);
	if (e->format == &pdet_emit_csv)
		return;
	if (e->format == &pdet_emit_text) {
		text_total(e, &t, &row);
		return;
	}
	put_rest(&row, &t);
	put_about(&row, &t);
	pdet_out_str(&e->out, "{\"total\":{");
	pdet_kmap_json(e, &row);
	pdet_kmap_json_missing(e, &row);
	pdet_out_str(&e->out, "}}\n");
}

int pdet_emit_kmap_check(const struct pagedet_emitter *e, struct pdet_env *env)
{
	return pdet_emitter_lists(e, env, "a KMAP");
}

int pdet_emit_kmap_groups(struct pagedet_emitter *e, struct pdet_env *env,
			  struct pdet_kmap *k, uint64_t max)
{
	static const struct pagedet_kmap_group none;
	struct pagedet_kmap_group g;
	struct pagedet_kmap_total t;
	struct pdet_kmap_row row;
	const int r = pdet_emit_kmap_check(e, env);

	if (r < 0)
		return r;
	pdet_kmap_total(k, &t);
	fill(&row, e, k, &none, t.compared);
	pdet_kmap_head(e, &row);
	for (; max && pdet_kmap_next_group(k, &g) == 1; max--) {
		fill(&row, e, k, &g, t.compared);
		pdet_kmap_emit(e, &row);
	}
	pdet_emit_kmap_total(e, k);
	return pdet_out_result(&e->out, env);
}
