/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Why pages differ. Each side gathers what its kernel knows; what the
 * destination knows comes as bytes, as it would over a network; what only the
 * agent knows - what was sent, who stood still - is added. Then the library's
 * rules are asked.
 */
#include <stdlib.h>
#include <string.h>

#include "agent.h"

#define COLLECT_NS 10000000000u
#define MAPPERS_NS 1000000000u

/* --- what each kernel knows --- */

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

/* The other host would send these bytes; they are checked as if it had. */
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

/* --- what the agent knows --- */

static uint32_t yes_no(bool yes)
{
	return yes ? PAGEDET_YES : PAGEDET_NO;
}

static void set_hash(const struct agent *a, struct pagedet_evidence *e,
		     unsigned version, uint64_t hash, uint64_t ns)
{
	e->hash[version] = hash;
	e->hash_key[version] = a->hash_key;
	e->hash_ns[version] = ns;
	e->hash_state[version] = PAGEDET_HAVE;
	e->zero[version] = yes_no(hash == a->hash_zero);
}

/* What was seen when both stood still, where the evidence lacks it. */
static void add_look(const struct agent *a, struct pagedet_evidence *e,
		     unsigned version, const struct seen *s, uint64_t ns)
{
	if (s->look == LOOK_NOTHING || s->look == LOOK_LOST)
		return;
	if (s->look == LOOK_ABSENT)
		e->zero[version] = PAGEDET_YES;
	else if (e->hash_state[version] != PAGEDET_HAVE)
		set_hash(a, e, version, s->hash, ns);
}

static void add_sent(const struct agent *a, struct pagedet_evidence *e,
		     uint64_t page)
{
	const struct sent *s = &a->versions.sent[page];

	if (!a->tapped || a->tap_why[0] || s->unknown)
		return;
	if (!s->times) {
		e->hash_state[PAGEDET_AS_SENT] = PAGEDET_NONE;
		return;
	}
	set_hash(a, e, PAGEDET_AS_SENT, s->hash, s->time_ns);
	/* All that was sent was loaded: what is not there now was there. */
	e->peer_discarded = yes_no(s->dropped ||
		(e->zero[PAGEDET_AS_SENT] == PAGEDET_NO &&
		 a->now[DESTINATION][page].look == LOOK_ABSENT));
}

static void add_version(const struct agent *a, struct pagedet_evidence *e,
			uint64_t page)
{
	const struct seen *peer = &a->now[DESTINATION][page];

	if (peer->look != LOOK_DATA && peer->look != LOOK_ZERO)
		return;
	if (versions_have(&a->versions, page, peer->hash))
		e->earlier = PAGEDET_YES;
	else if (a->tapped && !a->tap_why[0] && !a->versions.full)
		e->earlier = PAGEDET_NO;
}

/* Where is at the source what each page that differs has at the destination? */
static int find_places(const struct agent *a, struct places *p)
{
	uint64_t i;

	if (places_new(p, a->n_differences))
		return -1;
	for (i = 0; i < a->n_differences; i++) {
		const struct seen *peer =
			&a->now[DESTINATION][a->differences[i].page];

		if (peer->look == LOOK_DATA)
			places_ask(p, peer->hash);
	}
	places_sort(p);
	for (i = 0; i < a->pages; i++)
		if (a->now[SOURCE][i].look == LOOK_DATA)
			places_seen(p, i, a->now[SOURCE][i].hash);
	return 0;
}

/* Does another page of the source have what this one has at the destination?
 * The page itself has not, or it would not differ. */
static void add_place(const struct agent *a, struct pagedet_evidence *e,
		      uint64_t page, const struct places *places)
{
	const struct seen *peer = &a->now[DESTINATION][page];
	const struct place *place;

	if (peer->look != LOOK_DATA)
		return;
	place = places_find(places, peer->hash);
	e->same_as_other = yes_no(place->n);
	if (!place->n)
		return;
	e->same_as = place->last;
	e->unique = yes_no(place->n == 1);
}

static uint32_t moved(const struct agent *a)
{
	if (a->after.sum != a->before.sum)
		return PAGEDET_YES;
	return a->before.known && a->after.known ? PAGEDET_NO : PAGEDET_DUNNO;
}

static void add_file(const struct agent *a, struct pagedet_evidence *e,
		     uint64_t page)
{
	const struct block *b = join_block(a, page);

	if (!b->written_ns)
		return;
	e->file_ns = b->written_ns;
	if (!e->hash_ns[PAGEDET_AS_SENT])
		return;
	if (b->written_ns < e->hash_ns[PAGEDET_AS_SENT])
		e->file_written = PAGEDET_NO;
	else if (b->others_ns >= e->hash_ns[PAGEDET_AS_SENT])
		e->file_written = PAGEDET_YES;
}

static void add(const struct agent *a, struct pagedet_evidence *e,
		uint64_t page, const struct places *places)
{
	e->id = page;
	e->mode = a->o.mode;
	e->one_host = PAGEDET_YES;
	e->here_frozen = (uint32_t)a->vm[SOURCE].frozen;
	e->peer_frozen = (uint32_t)a->vm[DESTINATION].frozen;
	e->peer_complete = PAGEDET_YES;
	/* Only a library inside of QEMU could arm it. */
	e->track = PAGEDET_WRITES_NOT_ARMED;
	e->counters_here = e->counters_peer = moved(a);
	add_look(a, e, PAGEDET_AS_NOW, &a->now[SOURCE][page],
		 a->first_look_ns);
	add_look(a, e, PAGEDET_AS_AGAIN, &a->again[page], a->second_look_ns);
	add_look(a, e, PAGEDET_AS_PEER, &a->now[DESTINATION][page],
		 a->first_look_ns);
	add_sent(a, e, page);
	add_version(a, e, page);
	add_place(a, e, page, places);
	add_file(a, e, page);
}

static int add_all(struct agent *a)
{
	struct places places;
	uint64_t i;

	if (find_places(a, &places))
		return trouble(a, "evidence", "no memory");
	versions_sort(&a->versions);
	for (i = 0; i < a->n_differences; i++)
		add(a, &a->evidence[i], a->differences[i].page, &places);
	places_free(&places);
	return 0;
}

/* --- the bytes --- */

static void compare(struct agent *a, struct difference *d,
		    struct pagedet_evidence *e)
{
	unsigned char bytes[SIDES][PAGE_BYTES];
	int side;

	d->how.size = sizeof(d->how);
	for (side = 0; side < SIDES; side++)
		if (look_bytes(a, side, d->page, bytes[side]) < 0)
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

/* --- all of it --- */

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
		if (look_equal(&a->now[SOURCE][i],
			       &a->now[DESTINATION][i]) <= 0)
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
	return status ? status : add_all(a);
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

int explain(struct agent *a)
{
	int status = list(a);

	fault_explaining(a);
	if (!status && a->n_differences)
		status = gather(a);
	else
		thawed(a);
	if (!status && a->n_differences)
		status = ask(a);
	return status;
}
