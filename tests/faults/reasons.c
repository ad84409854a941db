/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Asks for what follows from rows: why a page is as it is, and whether a file
 * is as it should be. */
#include <string.h>

#include "asking.h"

#define ROOM ((size_t)MAX_FINDINGS * 4096 + MAX_ITEMS * 32)

static const char *text_of_evidence(const void *arg, uint64_t id)
{
	const struct pagedet_evidence *e = arg;

	return id < sizeof(e->texts) ? e->texts + id : NULL;
}

/* Of a page of which nothing came to be known there is none. */
static bool has_row(const struct pagedet_page *page)
{
	static const struct pagedet_page nothing;

	return memcmp(page, &nothing, sizeof(nothing));
}

static void keep_evidence(struct answer *a, const struct pagedet_evidence *e,
			  unsigned n)
{
	struct pagedet_page page;
	unsigned i;

	for (i = 0; i < n; i++) {
		memcpy(&page, e[i].here, sizeof(page));
		if (!has_row(&page))
			continue;
		/* it differs every time */
		page.cell[PAGEDET_FIELD_TIME_NS] = PAGEDET_NOT_ASKED;
		ask_keep(a, &page, text_of_evidence, &e[i]);
	}
}

static void keep_findings(struct answer *a, const struct pagedet_finding *f,
			  int n)
{
	int i;

	for (i = 0; i < n; i++)
		a->finding[a->n_findings++] = (struct found_cause){
			f[i].evidence, f[i].question, f[i].rule,
			f[i].confidence
		};
}

int ask_explain(struct answer *a, const struct question *q, struct pagedet *pd)
{
	static struct pagedet_evidence e[MAX_ITEMS];
	static struct pagedet_finding f[MAX_FINDINGS];
	static char room[ROOM];
	struct pagedet_collect_options o = PAGEDET_COLLECT_OPTIONS_INIT;
	int r;

	memset(e, 0, sizeof(e));
	memset(f, 0, sizeof(f));
	e[0].size = sizeof(e[0]);
	f[0].size = sizeof(f[0]);
	o.target = q->target;
	o.questions = PAGEDET_ASK_NOT_FREE | PAGEDET_ASK_PINNED |
		      PAGEDET_ASK_UNACCOUNTED | PAGEDET_ASK_POISONED;
	/* Enough for all, so that nothing is a matter of time. */
	o.mappers_ns = 60000000000u;
	r = pagedet_collect(pd, q->items, q->n_items, &o, e);
	if (r < 0)
		return ask_failed(a, pd, r, "collect");
	keep_evidence(a, e, q->n_items);
	r = pagedet_explain(e, q->n_items, room, sizeof(room), f,
			    MAX_FINDINGS);
	if (r < 0)
		ask_broken(a, "what was collected cannot be explained");
	else if (r > MAX_FINDINGS)
		ask_broken(a, "more findings than there is room for");
	else
		keep_findings(a, f, r);
	a->ended = true;
	return 0;
}

int ask_check(struct answer *a, const struct question *q, struct pagedet *pd)
{
	struct pagedet_check check = PAGEDET_CHECK_INIT;
	struct pagedet_verdict v = { .size = sizeof(v) };
	struct pagedet_checked *checked = NULL;
	int r;

	check.path = q->path;
	check.kind = q->check;
	r = pagedet_check(pd, &check, &checked);
	if (r < 0)
		return ask_failed(a, pd, r, "check");
	while (pagedet_checked_next(checked, &v) == 1)
		if (v.why && !pagedet_checked_text(checked, v.why))
			ask_broken(a, "a verdict has no words");
	if (pagedet_checked_whole(checked, &v) < 0)
		ask_broken(a, "a check has no verdict");
	if (v.verdict == PAGEDET_CANNOT_TELL && v.cause == PAGEDET_CAUSE_NONE)
		ask_broken(a, "it cannot be told, and not why");
	a->verdict = v.verdict;
	a->ended = true;
	pagedet_checked_free(checked);
	return 0;
}
