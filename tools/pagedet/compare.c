/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command compare PID ADDR[+LEN] PID ADDR: finds differing memory of two
 * processes, and explains it. It compares bytes if both sides have them. A
 * snapshot has only hashes, which need the same key.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/* Pages per read, on each side. */
#define WINDOW 1024u
/* If more pages differ, they are counted, but not explained. */
#define MOST 4096u
/* Time limit of the search for other mappings. */
#define MAPPERS_NS 2000000000u
#define MOST_BYTES ((uint64_t)1 << 46)
/* More pages are not looked at as a whole: that would take over 64 MiB. */
#define MOST_WHOLE ((uint64_t)1 << 20)

/* --- arguments --- */

static int parse_side(struct cli_job *job, int word, bool ranges)
{
	struct pagedet_item item = { 0, 1, 0, 0 };
	struct cli_name name = { NULL, NULL, NULL };
	const char *wrong;
	int status = cli_parse_pid(job, job->words[word], &item.pid,
				   &name.task);

	if (status)
		return status;
	if (name.task && job->with)
		return cli_usage("compare: '%s' is not a pid; with --with both "
				 "processes are named by number", name.task);
	wrong = ranges ? cli_range(job->words[word + 1], CLI_HEX, &item) :
			 cli_number(job->words[word + 1], CLI_HEX, &item.first);
	if (wrong)
		return cli_no_range(job, job->words[word + 1], CLI_HEX, wrong);
	cli_tell_radix(job, job->words[word + 1]);
	return cli_add_named(job, &item, &name);
}

int cli_parse_compare(struct cli_job *job)
{
	int status = parse_side(job, 0, true);

	return status ? status : parse_side(job, 2, false);
}

/* --- both sides --- */

static int open_peer(struct cli_comparing *c)
{
	struct pagedet_options o = c->job->open;
	int error;

	c->pd[CLI_PEER] = c->pd[CLI_HERE];
	if (!c->job->with)
		return CLI_ANSWERED;
	c->pd[CLI_PEER] = cli_new(c->job);
	if (!c->pd[CLI_PEER])
		return CLI_IO;
	o.files = strcmp(c->job->with, "live") ? &c->job->with : NULL;
	o.n_files = o.files ? 1 : 0;
	o.sources = 0;
	error = pagedet_open(c->pd[CLI_PEER], &o);
	return error ? cli_fail(c->pd[CLI_PEER], error) : CLI_ANSWERED;
}

static bool is_snapshot(struct pagedet *pd)
{
	struct pagedet_query saved = PAGEDET_QUERY_INIT;
	const int error = pagedet_saved_query(pd, &saved);

	return !error || error == -EOVERFLOW;
}

static int look_at_side(struct cli_comparing *c, unsigned side)
{
	struct pagedet_info info = { .size = sizeof(info) };
	int error = pagedet_info(c->pd[side], &info);

	if (!error)
		error = pagedet_hash_key_id(c->pd[side], &c->key[side]);
	if (error)
		return cli_fail(c->pd[side], error);
	c->live[side] = info.live;
	/* A snapshot may be of what ran. */
	c->frozen[side] = !info.live && !is_snapshot(c->pd[side]);
	if (c->page_size && c->page_size != info.page_size) {
		cli_say("compare: the two sides have pages of different sizes");
		return CLI_UNSURE;
	}
	c->page_size = info.page_size;
	return CLI_ANSWERED;
}

/*
 * Extends both ranges to whole pages. The offset in the page is the same for
 * both addresses.
 */
static int set_items(struct cli_comparing *c)
{
	const struct pagedet_item *here = &c->job->items[CLI_HERE];
	const struct pagedet_item *peer = &c->job->items[CLI_PEER];
	const uint64_t in = here->first % c->page_size;
	unsigned side;

	if (c->job->n_items != CLI_SIDES)
		return cli_usage("compare: several processes have that name: "
				 "give their pids");
	if (peer->first % c->page_size != in)
		return cli_usage("compare: the addresses have different "
				 "offsets in their pages");
	if (here->count > MOST_BYTES)
		return cli_usage("compare: the range is larger than 64 TiB");
	c->pages = (in + here->count - 1) / c->page_size + 1;
	for (side = 0; side < CLI_SIDES; side++) {
		c->item[side] = c->job->items[side];
		c->item[side].first -= in;
		c->item[side].count = c->pages * c->page_size;
		if (c->item[side].count - 1 > UINT64_MAX - c->item[side].first)
			return cli_usage("compare: the range goes past the "
					 "highest address");
	}
	return CLI_ANSWERED;
}

/* --- comparison --- */

struct window {
	unsigned char *bytes[CLI_SIDES];
	struct pagedet_seen *seen[CLI_SIDES];
	uint64_t first, n;	/* number of pages */
};

static int read_side(const struct cli_comparing *c, struct window *w,
		     unsigned side)
{
	struct pagedet_look_options o = PAGEDET_LOOK_OPTIONS_INIT;
	struct pagedet_item item = c->item[side];
	int error;

	item.first += w->first * c->page_size;
	item.count = w->n * c->page_size;
	o.bytes = w->bytes[side];
	o.bytes_size = w->n * c->page_size;
	o.deadline_ns = cli_deadline_left(c->job);
	error = pagedet_look(c->pd[side], &item, 1, &o, w->seen[side], w->n);
	return error ? cli_fail(c->pd[side], error) : CLI_ANSWERED;
}

static bool has_bytes(const struct window *w, unsigned side, uint64_t i)
{
	return w->seen[side][i].bits & PAGEDET_SEEN_BYTES;
}

static uint32_t is_equal(const struct cli_comparing *c, const struct window *w,
			 uint64_t i)
{
	const uint64_t at = i * c->page_size;

	if (has_bytes(w, CLI_HERE, i) && has_bytes(w, CLI_PEER, i))
		return memcmp(w->bytes[CLI_HERE] + at, w->bytes[CLI_PEER] + at,
			      c->page_size) ? PAGEDET_NO : PAGEDET_YES;
	if (c->key[CLI_HERE] != c->key[CLI_PEER])
		return PAGEDET_DUNNO;
	return pagedet_seen_equal(&w->seen[CLI_HERE][i], &w->seen[CLI_PEER][i]);
}

static void keep(struct cli_comparing *c, const struct window *w, uint64_t i,
		 bool unsure)
{
	const uint64_t at = i * c->page_size;
	struct cli_unlike *u;
	unsigned side;

	if (c->n == MOST)
		return;
	u = &c->unlike[c->n++];
	u->page = w->first + i;
	u->unsure = unsure;
	u->how.size = sizeof(u->how);
	for (side = 0; side < CLI_SIDES; side++)
		u->seen[side] = w->seen[side][i];
	u->compared = has_bytes(w, CLI_HERE, i) && has_bytes(w, CLI_PEER, i) &&
		      !pagedet_compare_bytes(w->bytes[CLI_HERE] + at,
					     w->bytes[CLI_PEER] + at,
					     c->page_size, &u->how);
}

static void compare_window(struct cli_comparing *c, const struct window *w)
{
	uint64_t i;

	for (i = 0; i < w->n; i++) {
		const uint32_t same = is_equal(c, w, i);

		c->equal += same == PAGEDET_YES;
		c->different += same == PAGEDET_NO;
		c->unknown += same == PAGEDET_DUNNO;
		if (same != PAGEDET_YES)
			keep(c, w, i, same == PAGEDET_DUNNO);
	}
}

/* @all has room for all pages if @whole, otherwise for those of a window. */
static int walk(struct cli_comparing *c, struct window *w,
		struct pagedet_seen **all, bool whole)
{
	int status = CLI_ANSWERED;
	unsigned side;

	for (w->first = 0; w->first < c->pages && !status; w->first += w->n) {
		w->n = c->pages - w->first < WINDOW ? c->pages - w->first :
						      WINDOW;
		for (side = 0; side < CLI_SIDES; side++)
			w->seen[side] = all[side] + (whole ? w->first : 0);
		status = read_side(c, w, CLI_HERE);
		if (!status)
			status = read_side(c, w, CLI_PEER);
		if (!status)
			compare_window(c, w);
		if (!status && cli_must_stop(c->job)) {
			cli_say("%s: looked at %llu of %llu page%s",
				cli_stop_words(), (unsigned long long)w->first,
				(unsigned long long)c->pages,
				cli_plural(c->pages));
			return CLI_UNSURE;
		}
	}
	return status;
}

/* What is seen of all pages is kept if they are not too many. */
static uint64_t keep_pages(const struct cli_comparing *c)
{
	const bool is_whole = c->key[CLI_HERE] == c->key[CLI_PEER] &&
			      c->pages <= MOST_WHOLE;

	return is_whole && c->pages > WINDOW ? c->pages : WINDOW;
}

static bool has_data(const struct pagedet_seen *s)
{
	return s->state == PAGEDET_SEEN_DATA;
}

static int by_hash(const void *a, const void *b)
{
	const struct pagedet_elsewhere *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Whether another page here has what a page has at the peer. */
static int find_places(struct cli_comparing *c, const struct pagedet_seen *here)
{
	struct pagedet_elsewhere *found = calloc(c->n + 1, sizeof(*found));
	const struct pagedet_elsewhere *is;
	uint64_t i, n = 0;

	if (!found)
		return cli_fail_errno("compare");
	for (i = 0; i < c->n; i++)
		if (has_data(&c->unlike[i].seen[CLI_PEER]))
			found[n++].hash = c->unlike[i].seen[CLI_PEER].hash;
	pagedet_seen_find(here, c->pages, found, n);
	for (i = 0; i < c->n; i++) {
		struct cli_unlike *u = &c->unlike[i];
		const struct pagedet_elsewhere key = {
			.hash = u->seen[CLI_PEER].hash
		};

		is = u->unsure || !has_data(&u->seen[CLI_PEER]) ? NULL :
			bsearch(&key, found, n, sizeof(key), by_hash);
		if (!is)
			continue;
		u->elsewhere = is->n ? PAGEDET_YES : PAGEDET_NO;
		u->unique = is->n == 1 ? PAGEDET_YES : PAGEDET_NO;
		u->at = is->last;
	}
	free(found);
	return CLI_ANSWERED;
}

static int look_at_whole(struct cli_comparing *c, struct pagedet_seen **all)
{
	uint8_t *of = calloc(c->pages, sizeof(*of));
	uint64_t i;
	int n;

	if (!of)
		return cli_fail_errno("compare");
	n = pagedet_patterns(all[CLI_HERE], all[CLI_PEER], c->pages, NULL, NULL,
			     c->patterns, CLI_PATTERNS, of);
	c->n_patterns = n < 0 ? 0 : (unsigned)n;
	for (i = 0; n > 0 && i < c->n; i++) {
		struct cli_unlike *u = &c->unlike[i];
		const unsigned is = of[u->page];

		if (is && c->patterns[is - 1].kind != PAGEDET_PATTERN_OTHER)
			u->pattern = &c->patterns[is - 1];
	}
	free(of);
	return n < 0 ? cli_fail(c->pd[CLI_HERE], n) :
		       find_places(c, all[CLI_HERE]);
}

static int compare(struct cli_comparing *c)
{
	const uint64_t kept = keep_pages(c);
	struct pagedet_seen *all[CLI_SIDES];
	struct window w = { .n = 0 };
	int status = CLI_IO;
	unsigned side;
	bool room;

	c->unlike = calloc(MOST, sizeof(*c->unlike));
	room = c->unlike != NULL;
	for (side = 0; side < CLI_SIDES; side++) {
		w.bytes[side] = malloc(WINDOW * c->page_size);
		all[side] = calloc(kept, sizeof(**all));
		room = room && w.bytes[side] && all[side];
	}
	if (room)
		status = walk(c, &w, all, kept >= c->pages);
	else
		cli_fail_errno("compare");
	if (!status && kept >= c->pages &&
	    c->key[CLI_HERE] == c->key[CLI_PEER])
		status = look_at_whole(c, all);
	for (side = 0; side < CLI_SIDES; side++) {
		free(w.bytes[side]);
		free(all[side]);
	}
	return status;
}

/* --- explanation --- */

static int collect(const struct cli_comparing *c, unsigned side,
		   struct pagedet_evidence *e)
{
	struct pagedet_collect_options o = PAGEDET_COLLECT_OPTIONS_INIT;
	struct pagedet_item *items = calloc(c->n, sizeof(*items));
	uint64_t i;
	int r;

	if (!items)
		return cli_fail_errno("compare");
	for (i = 0; i < c->n; i++) {
		items[i] = c->item[side];
		items[i].first += c->unlike[i].page * c->page_size;
		items[i].count = 1;
	}
	o.mappers_ns = c->live[side] ? MAPPERS_NS : 0;
	o.deadline_ns = cli_deadline_left(c->job);
	o.options = c->live[side] ? PAGEDET_COLLECT_FILE : 0;
	o.questions = PAGEDET_ASK_MISMATCH;
	e->size = sizeof(*e);
	/* A snapshot has only the data that was saved. */
	r = is_snapshot(c->pd[side]) ? 0 :
	    pagedet_collect(c->pd[side], items, c->n, &o, e);
	free(items);
	return r < 0 ? cli_fail(c->pd[side], r) : CLI_ANSWERED;
}

static void add(const struct cli_comparing *c, const struct cli_unlike *u,
		struct pagedet_evidence *e)
{
	pagedet_seen_evidence(&u->seen[CLI_HERE], PAGEDET_AS_NOW,
			      c->key[CLI_HERE], e);
	pagedet_seen_evidence(&u->seen[CLI_PEER], PAGEDET_AS_PEER,
			      c->key[CLI_PEER], e);
	e->id = u->page;
	/* Nothing was collected from a snapshot, not even the question. */
	e->questions = PAGEDET_ASK_MISMATCH;
	e->differences = c->different + c->unknown;
	if (u->elsewhere) {
		e->same_as_other = u->elsewhere;
		e->same_as = u->at;
		e->unique = u->unique;
	}
	if (!c->job->with)
		e->one_host = PAGEDET_YES;
	if (c->frozen[CLI_HERE])
		e->here_frozen = PAGEDET_YES;
	if (c->frozen[CLI_PEER])
		e->peer_frozen = PAGEDET_YES;
	if (!u->compared)
		return;
	e->compared = PAGEDET_YES;
	e->bits = u->how.bits;
	e->bytes = u->how.bytes;
	e->shape = u->how.shape;
}

static int ask(struct cli_comparing *c)
{
	const uint64_t room = c->n * (4096 + 32);
	int n, i;

	c->findings = calloc(c->n, sizeof(*c->findings));
	c->arena = malloc(room);
	if (!c->findings || !c->arena)
		return cli_fail_errno("compare");
	c->findings->size = sizeof(*c->findings);
	n = pagedet_explain(c->evidence, c->n, c->arena, room, c->findings,
			    c->n);
	if (n < 0)
		return cli_fail(c->pd[CLI_HERE], n);
	for (i = 0; i < n && (uint64_t)i < c->n; i++) {
		struct cli_unlike *u = &c->unlike[c->findings[i].evidence];

		/* There is nothing to explain, or to send. */
		if (!cli_is_nowhere(u))
			u->finding = &c->findings[i];
	}
	return CLI_ANSWERED;
}

static int explain(struct cli_comparing *c)
{
	struct pagedet_evidence *peer = calloc(c->n, sizeof(*peer));
	int status = CLI_ANSWERED;
	uint64_t i;

	c->evidence = calloc(c->n, sizeof(*c->evidence));
	if (!c->evidence || !peer)
		status = cli_fail_errno("compare");
	if (!status)
		status = collect(c, CLI_HERE, c->evidence);
	if (!status)
		status = collect(c, CLI_PEER, peer);
	if (!status)
		pagedet_evidence_join(c->evidence, c->n, peer);
	free(peer);
	for (i = 0; !status && i < c->n; i++)
		add(c, &c->unlike[i], &c->evidence[i]);
	return status ? status : ask(c);
}

/* --- the command --- */

static int judge(const struct cli_comparing *c)
{
	if (c->key[CLI_HERE] != c->key[CLI_PEER] && c->unknown &&
	    !c->job->quiet)
		cli_say("a snapshot has hashes, not bytes, and the hashes of "
			"the two sides were made with different keys "
			"(--hash-key)");
	if (c->unknown)
		return CLI_UNSURE;
	return c->different ? CLI_NO : CLI_ANSWERED;
}

static int run(struct cli_comparing *c)
{
	int status = open_peer(c);
	unsigned side;

	for (side = 0; side < CLI_SIDES && !status; side++)
		status = look_at_side(c, side);
	if (!status)
		status = set_items(c);
	cli_interrupt_asked(true);
	if (!status)
		status = compare(c);
	if (!status && c->n)
		status = explain(c);
	cli_interrupt_asked(false);
	if (!status)
		status = cli_compare_emit(c);
	return status ? status : judge(c);
}

int cli_run_compare(struct cli_job *job, struct pagedet *pd)
{
	struct cli_comparing c = { .job = job, .pd = { pd, NULL } };
	const int status = run(&c);

	if (c.pd[CLI_PEER] != pd)
		pagedet_free(c.pd[CLI_PEER]);
	free(c.unlike);
	free(c.evidence);
	free(c.findings);
	free(c.arena);
	return status;
}
