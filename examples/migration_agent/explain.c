/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Explains differing pages. Each side collects what its kernel knows. The
 * destination's evidence comes as bytes, as over a network. evidence.c adds
 * what only the agent knows. Then it applies the library's rules.
 */
#include <stdlib.h>
#include <string.h>

#include "agent.h"

#define COLLECT_NS 10000000000u
#define MAPPERS_NS 1000000000u

/* --- evidence of each kernel --- */

static int trouble(struct agent *a, const char *what, const char *why)
{
	thawed(a);
	if (!a->trouble[0])
		snprintf(a->trouble, sizeof(a->trouble), "%s: %s", what, why);
	return AGENT_UNSURE;
}

static int collect(struct agent *a, int side, struct pagedet_evidence *e,
		   uint64_t n)
{
	struct pagedet_collect_options o = PAGEDET_COLLECT_OPTIONS_INIT;
	struct pagedet_item *items = calloc(n, sizeof(*items));
	char what[64];
	uint64_t i;
	int r;

	if (!items)
		return trouble(a, "evidence", "no memory");
	o.deadline_ns = COLLECT_NS;
	o.mappers_ns = MAPPERS_NS;
	/* A running destination has changed its contents. */
	if (side == SOURCE || !a->went_on)
		o.options = PAGEDET_COLLECT_CONTENT;
	o.questions = PAGEDET_ASK_MISMATCH;
	for (i = 0; i < n; i++) {
		items[i].first = join_hva(a, a->differences[i].page, side);
		items[i].count = 1;
		items[i].pid = (uint32_t)a->vm[side].pid;
	}
	e->size = sizeof(*e);
	r = pagedet_collect(a->pd, items, n, &o, e);
	free(items);
	if (r >= 0)
		return 0;
	snprintf(what, sizeof(what), "the %s cannot be looked at",
		 a->vm[side].name);
	return trouble(a, what, pagedet_error(a->pd));
}

/* The other host would send these bytes: check them in the same way. */
static int over_the_wire(struct agent *a, struct pagedet_evidence *e,
			 uint64_t n)
{
	uint64_t size;
	void *bytes;
	int r;

	r = pagedet_evidence_save(a->pd, e, n, NULL, 0, &size);
	bytes = r ? NULL : malloc(size);
	if (!bytes)
		return trouble(a, "evidence", r ? pagedet_error(a->pd) :
			       "no memory");
	r = pagedet_evidence_save(a->pd, e, n, bytes, size, &size);
	memset(e, 0, n * sizeof(*e));
	e->size = sizeof(*e);
	if (!r)
		r = pagedet_evidence_load(a->pd, bytes, size, e, n);
	free(bytes);
	return r == (int)n ? 0 : trouble(a, "evidence of the destination",
					 pagedet_error(a->pd));
}

/* --- the bytes --- */

static int bytes_of(const struct agent *a, int side, uint64_t page, void *to)
{
	const void *kept;

	if (side == SOURCE || !a->went_on)
		return look_bytes(a, side, page, to);
	kept = quick_bytes(a, page);
	if (kept)
		memcpy(to, kept, PAGE_BYTES);
	return kept ? 0 : -1;
}

static void compare(struct agent *a, struct difference *d,
		    struct pagedet_evidence *e)
{
	unsigned char bytes[SIDES][PAGE_BYTES];
	int side;

	d->how.size = sizeof(d->how);
	for (side = 0; side < SIDES; side++)
		if (bytes_of(a, side, d->page, bytes[side]) < 0)
			return;
	if (pagedet_compare_bytes(bytes[SOURCE], bytes[DESTINATION],
				  PAGE_BYTES, &d->how))
		return;
	d->compared = true;
	d->from = (unsigned)d->how.first / 16 * 16;
	if (d->from > PAGE_BYTES - HEX_BYTES)
		d->from = PAGE_BYTES - HEX_BYTES;
	for (side = 0; side < SIDES; side++)
		memcpy(d->bytes[side], bytes[side] + d->from, HEX_BYTES);
	e->compared = PAGEDET_YES;
	e->bits = d->how.bits;
	e->bytes = d->how.bytes;
	e->shape = d->how.shape;
}

/* --- the whole --- */

static int list(struct agent *a)
{
	uint64_t i, n = a->n_different + a->n_lost;

	if (n > MAX_EXPLAINED)
		n = MAX_EXPLAINED;
	a->differences = calloc(n ? n : 1, sizeof(*a->differences));
	a->evidence = calloc(n ? n : 1, sizeof(*a->evidence));
	if (!a->differences || !a->evidence)
		return trouble(a, "evidence", "no memory");
	for (i = 0; i < a->pages && a->n_differences < n; i++)
		if (pagedet_seen_equal(&a->now[SOURCE][i],
				       &a->now[DESTINATION][i]) != PAGEDET_YES)
			a->differences[a->n_differences++].page = i;
	return 0;
}

static int gather(struct agent *a)
{
	const uint64_t n = a->n_differences;
	struct pagedet_evidence *peer = calloc(n, sizeof(*peer));
	uint64_t i;
	int status;

	if (!peer)
		return trouble(a, "evidence", "no memory");
	status = collect(a, SOURCE, a->evidence, n);
	if (!status)
		status = collect(a, DESTINATION, peer, n);
	if (!status)
		status = over_the_wire(a, peer, n);
	if (!status && pagedet_evidence_join(a->evidence, n, peer) < 0)
		status = trouble(a, "evidence", "the two sides do not fit");
	free(peer);
	for (i = 0; !status && i < n; i++)
		compare(a, &a->differences[i], &a->evidence[i]);
	thawed(a);
	if (!status && evidence_add(a))
		status = trouble(a, "evidence", "no memory");
	return status;
}

static int ask(struct agent *a)
{
	const uint64_t n = a->n_differences, room = n * (4096 + 32);
	uint64_t i;
	int r;

	a->findings = calloc(n, sizeof(*a->findings));
	a->arena = malloc(room);
	if (!a->findings || !a->arena)
		return trouble(a, "findings", "no memory");
	a->findings->size = sizeof(*a->findings);
	r = pagedet_explain(a->evidence, n, a->arena, room, a->findings, n);
	if (r < 0)
		return trouble(a, "findings", "the evidence was refused");
	a->n_findings = (uint64_t)r;
	for (i = 0; i < a->n_findings; i++)
		a->differences[a->findings[i].evidence].finding =
			&a->findings[i];
	return 0;
}

/* Some harm shows in no single page. */
static int look_at_whole(struct agent *a)
{
	const int n = pagedet_patterns(a->now[SOURCE], a->now[DESTINATION],
				       a->pages, a->map, a->versions,
				       a->patterns, PATTERNS, NULL);

	if (n < 0)
		return trouble(a, "the difference", strerror(-n));
	a->n_patterns = (unsigned)n < PATTERNS ? (unsigned)n : PATTERNS;
	return 0;
}

int explain(struct agent *a)
{
	int status = list(a);

	fault_explaining(a);
	if (!status && a->n_differences)
		status = gather(a);
	else
		thawed(a);
	if (!status && a->n_differences)
		status = look_at_whole(a);
	if (!status && a->n_differences)
		status = ask(a);
	return status;
}
