/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One query with the target OBJECTS; its field ask is the number of a live. */
#include <errno.h>

#include "api/kmem/live.h"
#include "query/query.h"

struct asking {
	const struct pdet_live_question *q;
	const struct pdet_live *objects, *pages;
	size_t n_objects, n_pages;
};

/* The columns by field. */
struct columns {
	const struct pagedet_column *of[PDET_FIELDS];
};

static bool get(const struct columns *c, uint32_t field, int row, uint64_t *ret)
{
	const struct pagedet_column *of = c->of[field];

	if (!of || PAGEDET_CELL_STATE(of->cell[row]) != PAGEDET_HAVE)
		return false;
	*ret = of->value[row];
	return true;
}

static int take(const struct asking *a, const struct columns *c, int i)
{
	struct pdet_live_row row = { .state = 0 };
	uint64_t ask, v;

	if (!get(c, PAGEDET_FIELD_ASK, i, &ask))
		return 0;
	row.is_page = ask >= a->n_objects;
	row.live = row.is_page ? &a->pages[ask - a->n_objects] :
				 &a->objects[ask];
	if (get(c, PAGEDET_FIELD_OBJECT_STATE, i, &v))
		row.state = (unsigned)v;
	row.has_page = get(c, PAGEDET_FIELD_HEAD_PFN, i, &row.head) &&
		       get(c, PAGEDET_FIELD_ORDER, i, &v);
	if (row.has_page)
		row.order = (unsigned)v;
	else
		row.has_page = get(c, PAGEDET_FIELD_PFN, i, &row.head);
	return a->q->take(a->q->arg, &row);
}

static int drain(const struct asking *a, struct pagedet_iter *it)
{
	struct pagedet_columns all = { .size = sizeof(all) };
	struct columns c;
	int i, n, r = 0;
	uint64_t k;

	while (r == 0 && (n = pagedet_next_columns(it, &all)) != 0) {
		memset(&c, 0, sizeof(c));
		for (k = 0; n > 0 && k < all.n_columns; k++)
			c.of[all.columns[k].field] = &all.columns[k];
		for (i = 0, r = PDET_MIN(n, 0); i < n && r == 0; i++)
			r = take(a, &c, i);
	}
	return r;
}

static int not_here(struct pagedet *pd, const struct pdet_allocs *a,
		    bool any_boot)
{
	if (pdet_allocs_hides(a))
		return pdet_fail(&pd->env, EBADMSG, "the trace does not tell "
				 "where its objects are: its addresses are "
				 "hashed");
	if (any_boot || (pdet_allocs_streams(a) && !pdet_allocs_path(a)))
		return pdet_fail(&pd->env, EBADMSG, "the trace can be read "
				 "only once: save it to a file");
	pdet_fail(&pd->env, EBADMSG, "the trace is not known to be of the "
		  "kernel that is asked");
	pdet_advise(&pd->env, "--now asks that kernel all the same; if the "
		    "trace is of another boot, the answer is about other "
		    "memory");
	return -EBADMSG;
}

int pdet_ask_live(struct pagedet *pd, struct pagedet_allocs *allocs,
		  const struct pdet_live_question *question)
{
	const struct pagedet_verify_options *o = question->options;
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct asking a = { .q = question };
	struct pagedet_iter *it;
	int r;

	a.objects = pdet_allocs_live(allocs->a, false, &a.n_objects);
	a.pages = pdet_allocs_live(allocs->a, true, &a.n_pages);
	q.target = PAGEDET_TARGET_OBJECTS;
	q.allocs = allocs;
	q.deadline_ns = o->deadline_ns;
	q.progress = o->progress;
	q.progress_user = o->progress_user;
	q.progress_ns = o->progress_ns;
	q.options = o->any_boot ? PAGEDET_Q_ANY_BOOT : 0;
	pdet_want(&q, PAGEDET_FIELD_ASK);
	pdet_want(&q, PAGEDET_FIELD_OBJECT_STATE);
	if (question->pages) {
		pdet_want(&q, PAGEDET_FIELD_PFN);
		pdet_want(&q, PAGEDET_FIELD_HEAD_PFN);
		pdet_want(&q, PAGEDET_FIELD_ORDER);
	}
	r = pdet_query(pd, &q, question->verifies, &it);
	if (r < 0)
		return r;
	if (question->here_only && it->it->text_only)
		r = not_here(pd, allocs->a, o->any_boot);
	else if (!question->check_only)
		r = drain(&a, it);
	pagedet_iter_free(it);
	return r;
}
