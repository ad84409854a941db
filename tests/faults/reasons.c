/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Asks for what follows from rows: explanations of pages, and checks of files.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "asking.h"
#include "faults.h"

/* Room for all possible evidence as bytes. */
#define SENT ((size_t)MAX_ITEMS * 8192)
#define ROOM ((size_t)MAX_FINDINGS * 4096 + MAX_ITEMS * 32)

static const char *text_of_evidence(const void *arg, uint64_t id)
{
	const struct pagedet_evidence *e = arg;

	return id < sizeof(e->texts) ? e->texts + id : NULL;
}

/* A page about which nothing is known has no row. */
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
		/* It always differs. */
		page.cell[PAGEDET_FIELD_TIME_NS] = PAGEDET_NOT_ASKED;
		ask_keep(a, &page, text_of_evidence, &e[i]);
	}
}

/* Serialises @pd's evidence and reads it again. */
static int send(struct answer *a, struct pagedet *pd,
		struct pagedet_evidence *e, unsigned n)
{
	static unsigned char bytes[SENT];
	uint64_t size = 0;
	int r;

	r = pagedet_evidence_save(pd, e, n, bytes, sizeof(bytes), &size);
	if (r < 0)
		return ask_failed(a, pd, r, "evidence_save");
	memset(e, 0, n * sizeof(*e));
	e[0].size = sizeof(e[0]);
	r = pagedet_evidence_load(pd, bytes, size, e, n);
	if (r < 0)
		return ask_failed(a, pd, r, "evidence_load");
	if ((unsigned)r != n)
		ask_broken(a, "not all evidence has come");
	return 0;
}

/* The peer is the saved machine, or the same one again. */
static int join(struct answer *a, const struct question *q, struct pagedet *pd,
		const struct pagedet_collect_options *o,
		struct pagedet_evidence *here)
{
	static struct pagedet_evidence e[MAX_ITEMS];
	struct pagedet_options open = PAGEDET_OPTIONS_INIT;
	struct pagedet *peer = NULL;
	int r;

	memset(e, 0, sizeof(e));
	e[0].size = sizeof(e[0]);
	if (q->file) {
		open.files = &q->file;
		open.n_files = 1;
		peer = pagedet_new();
		if (!peer)
			return ask_failed(a, NULL, -ENOMEM, "new");
		r = pagedet_open(peer, &open);
	} else {
		r = pagedet_dup(pd, &peer);
	}
	if (r < 0)
		ask_failed(a, peer ? peer : pd, r, "peer");
	if (r == 0) {
		r = pagedet_collect(peer, q->items, q->n_items, o, e);
		if (r < 0)
			ask_failed(a, peer, r, "collect");
	}
	if (r >= 0)
		r = send(a, peer, e, q->n_items);
	if (r >= 0 && pagedet_evidence_join(here, q->n_items, e) < 0)
		ask_broken(a, "what has come cannot be joined");
	pagedet_free(peer);
	return r;
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
	unsigned i;
	int r;

	memset(e, 0, sizeof(e));
	memset(f, 0, sizeof(f));
	e[0].size = sizeof(e[0]);
	f[0].size = sizeof(f[0]);
	o.target = q->target;
	o.options = q->collect;
	o.questions = PAGEDET_ASK_NOT_FREE | PAGEDET_ASK_PINNED |
		      PAGEDET_ASK_UNACCOUNTED | PAGEDET_ASK_POISONED;
	if (q->joins)
		o.questions = PAGEDET_ASK_MISMATCH;
	/* Enough for all, so that time does not matter. */
	o.mappers_ns = 60000000000u;
	r = pagedet_collect(pd, q->items, q->n_items, &o, e);
	if (r < 0)
		return ask_failed(a, pd, r, "collect");
	if (q->joins) {
		r = join(a, q, pd, &o, e);
		if (r < 0)
			return r;
	}
	/* The state of this process's pages always differs. */
	if (q->at != LIVE)
		keep_evidence(a, e, q->n_items);
	for (i = 0; i < q->n_items; i++)
		a->evidence[a->n_evidence++] = e[i];
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

/* --- is it still so? --- */

/* Members that are 0 while they are not known. */
static const struct {
	const char *name;
	size_t at, width;
} members[] = {
#define MEMBER(name) \
	{ #name, offsetof(struct pagedet_evidence, name), \
	  sizeof(((struct pagedet_evidence *)NULL)->name) }
	MEMBER(zero[PAGEDET_AS_NOW]), MEMBER(zero[PAGEDET_AS_AGAIN]),
	MEMBER(zero[PAGEDET_AS_PEER]), MEMBER(here_read), MEMBER(peer_read),
	MEMBER(track), MEMBER(file_ns), MEMBER(here_hole), MEMBER(peer_hole),
	MEMBER(extra_mappers), MEMBER(mappers), MEMBER(mapper_pid),
	MEMBER(counters_here), MEMBER(counters_peer), MEMBER(alloc_task),
	MEMBER(no_swap), MEMBER(here_frozen), MEMBER(peer_frozen),
#undef MEMBER
};

static uint64_t member(const struct pagedet_evidence *e, size_t i)
{
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (members[i].width == sizeof(wide))
		memcpy(&wide, (const char *)e + members[i].at, sizeof(wide));
	else
		memcpy(&narrow, (const char *)e + members[i].at,
		       sizeof(narrow));
	return wide | narrow;
}

/* Contents known now must have been known; others must have a reason. */
static bool is_true_hash(const struct pagedet_evidence *was,
			 const struct pagedet_evidence *is, unsigned version)
{
	const uint32_t a = was->hash_state[version];
	const uint32_t b = is->hash_state[version];
	bool known;

	/* An address that cannot be read again may have another page by now. */
	if (b == PAGEDET_RACED && !strstr(faults_what(), "/pagemap"))
		known = false;
	else
		known = b >= PAGEDET_UNSUPPORTED;
	/* Nothing is known of a page without a row. */
	if (version != PAGEDET_AS_AGAIN && b == PAGEDET_NOT_ASKED)
		known = true;
	return a == b || known;
}

static bool is_known(const struct pagedet_evidence *was,
		     const struct pagedet_evidence *is, size_t i)
{
	/* A new failure to read, with its reason, is allowed. */
	return !member(is, i) || member(is, i) == member(was, i) ||
	       ((members[i].at == offsetof(struct pagedet_evidence,
					   here_read) ||
		 members[i].at == offsetof(struct pagedet_evidence,
					   peer_read)) &&
		member(is, i) != PAGEDET_READ_DONE);
}

const char *untrue_evidence(const struct answer *all, const struct answer *now)
{
	static char words[128];
	unsigned i, k;

	for (i = 0; i < now->n_evidence; i++) {
		const struct pagedet_evidence *was = &all->evidence[i];
		const struct pagedet_evidence *is = &now->evidence[i];

		for (k = 0; k < 4; k++) {
			if (is_true_hash(was, is, k))
				continue;
			snprintf(words, sizeof(words), "evidence %u: hash %u "
				 "is %s, and was %s", i, k,
				 pagedet_state_name(is->hash_state[k]),
				 pagedet_state_name(was->hash_state[k]));
			return words;
		}
		for (k = 0; k < sizeof(members) / sizeof(*members); k++) {
			if (is_known(was, is, k))
				continue;
			snprintf(words, sizeof(words), "evidence %u: %s is "
				 "%llx, and was %llx", i, members[k].name,
				 (unsigned long long)member(is, k),
				 (unsigned long long)member(was, k));
			return words;
		}
	}
	return NULL;
}

/* --- checks --- */

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
