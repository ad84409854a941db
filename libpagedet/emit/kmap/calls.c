/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One row for each pair of a caller and a function. */
#include "emit/kmap/calls.h"
#include "emit/kmap/cells.h"
#include "emit/kmap/kmap.h"

static void fill(struct pdet_kmap_row *row, const struct pagedet_kmap_call *c)
{
	row->n = 0;
	pdet_kmap_put(row, "count", c->count, 12);
	pdet_kmap_put_text(row, "from", c->from_name, PAGEDET_NONE, -40);
	pdet_kmap_put_text(row, "to", c->to_name, PAGEDET_NONE, -1);
}

static void put_total(struct pagedet_emitter *e,
		      const struct pagedet_kmap_calls_total *t)
{
	const bool is_text = e->format == &pdet_emit_text;
	struct pdet_kmap_row row = { .n = 0 };

	pdet_kmap_put(&row, "calls", t->calls, 1);
	pdet_kmap_put(&row, "count", t->count, 1);
	if (is_text) {
		pdet_out_str(&e->out, t->complete ? "total:" : "read so far:");
		pdet_kmap_text_named(e, &row);
		pdet_out_str(&e->out, "\n");
		return;
	}
	pdet_kmap_put(&row, "lines", t->lines, 0);
	pdet_kmap_put(&row, "strange", t->strange, 0);
	pdet_kmap_put(&row, "unnamed", t->unnamed, 0);
	pdet_kmap_put(&row, "dropped", t->dropped, 0);
	pdet_kmap_put(&row, "cut", t->cut, 0)->is = PDET_KMAP_BOOL;
	pdet_kmap_put(&row, "saturated", t->saturated, 0)->is = PDET_KMAP_BOOL;
	pdet_kmap_put(&row, "complete", t->complete, 0)->is = PDET_KMAP_BOOL;
	pdet_out_str(&e->out, "{\"total\":{");
	pdet_kmap_json(e, &row);
	pdet_out_str(&e->out, "}}\n");
}

int pdet_emit_kmap_calls(struct pagedet_emitter *e, struct pdet_env *env,
			 struct pdet_kmap_calls *c, uint64_t max)
{
	struct pagedet_kmap_call call = { .from_name = "", .to_name = "" };
	struct pagedet_kmap_calls_total t;
	struct pdet_kmap_row row;
	const int r = pdet_emit_kmap_check(e, env);

	if (r < 0)
		return r;
	fill(&row, &call);
	pdet_kmap_head(e, &row);
	for (; max && pdet_kmap_next_call(c, &call) == 1; max--) {
		fill(&row, &call);
		pdet_kmap_emit(e, &row);
	}
	pdet_kmap_calls_total(c, &t);
	if (e->format != &pdet_emit_csv)
		put_total(e, &t);
	return pdet_out_result(&e->out, env);
}
