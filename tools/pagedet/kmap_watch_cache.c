/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * kmap watch --cache: objects of a slab cache, drawn at random, each with a
 * watch of its own. As many watches run at once as there are breakpoints. With
 * --sample each object has a slice of time, and then another one is drawn.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kmap_watch.h"

#define DEFAULT_SLICE_NS 1000000000u
/* Draws until one is not watched already, and still there. */
#define TRIES 64

/* --- arguments --- */

static int take_part(struct cli_kmap_caching *c)
{
	const char *plus = c->job->watch_at ? strchr(c->job->watch_at, '+') :
					      NULL;
	char text[24] = "";
	const size_t len = plus ? (size_t)(plus - c->job->watch_at) :
		c->job->watch_at ? strlen(c->job->watch_at) : 0;
	const char *wrong = NULL;

	if (!c->job->watch_at)
		return CLI_ANSWERED;
	if (len >= sizeof(text))
		return cli_usage("--at: '%s' is not OFFSET[+LEN]",
				 c->job->watch_at);
	memcpy(text, c->job->watch_at, len);
	c->o.bytes = 8;
	wrong = cli_number(text, CLI_DECIMAL, &c->offset);
	if (!wrong && plus)
		wrong = cli_number(plus + 1, CLI_DECIMAL, &c->o.bytes);
	if (!wrong && !c->o.bytes)
		wrong = "asks for nothing";
	return wrong ? cli_usage("--at: '%s' %s", c->job->watch_at, wrong) :
		       CLI_ANSWERED;
}

static int check_part(struct cli_kmap_caching *c)
{
	const unsigned long long has = c->of.bytes, at = c->offset,
				 bytes = c->o.bytes;

	if (at >= has)
		return cli_usage("--at: '%s' is outside of an object of '%s', "
				 "which has %llu bytes", c->job->watch_at,
				 c->job->watch_cache, has);
	if (bytes > has - at)
		return cli_usage("--at: an object of '%s' has %llu bytes: %llu "
				 "from %llu on, not %llu", c->job->watch_cache,
				 has, has - at, at, bytes);
	if (!c->o.bytes)
		c->o.bytes = c->of.bytes - c->offset;
	return CLI_ANSWERED;
}

static int take_seed(struct cli_kmap_caching *c)
{
	uint32_t seed;

	c->seed = c->job->seed;
	if (c->job->seed_given)
		return CLI_ANSWERED;
	/* It is to be typed again. */
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return cli_fail_errno("cannot get a random seed");
	c->seed = seed;
	return CLI_ANSWERED;
}

static int find(struct cli_kmap_caching *c)
{
	int status = take_part(c), error;

	if (!status)
		status = take_seed(c);
	if (status)
		return status;
	error = pagedet_kmap_cache(c->pd, c->job->watch_cache, c->seed,
				   &c->cache);
	c->of.size = sizeof(c->of);
	if (!error)
		error = pagedet_kmap_cache_total(c->cache, &c->of);
	return error ? cli_fail(c->pd, error) : check_part(c);
}

/* --- slots --- */

static bool is_watched(const struct cli_kmap_caching *c, uint64_t address)
{
	size_t i;

	for (i = 0; i < c->n_slots; i++)
		if (c->slot[i].watch && c->slot[i].object.address == address)
			return true;
	return false;
}

/*
 * Returns 1, 0 if no object was found, or a negative errno: EAGAIN if there is
 * no breakpoint for it.
 */
static int fill(struct cli_kmap_caching *c, struct cli_kmap_slot *s)
{
	struct pagedet_kmap_drawn drawn = { .size = sizeof(drawn) };
	unsigned i;
	int r;

	s->end_ns = c->job->sample ? cli_now_ns() +
		(c->job->slice_ns ? c->job->slice_ns : DEFAULT_SLICE_NS) :
		UINT64_MAX;
	for (i = 0; i < TRIES; i++) {
		r = pagedet_kmap_cache_draw(c->cache, &drawn);
		if (r <= 0)
			return r;
		if (is_watched(c, drawn.address))
			continue;
		c->o.address = drawn.address + c->offset;
		r = pagedet_kmap_watch(c->pd, &c->o, &s->watch);
		/* It may have been freed since it was drawn, and its memory be
		 * of another cache. */
		if (r == 0 && pagedet_kmap_cache_has(c->cache, s->watch)) {
			s->object = drawn;
			return 1;
		}
		if (r != 0 && r != -ENOENT)
			return r;
		pagedet_kmap_watch_free(s->watch);
		s->watch = NULL;
	}
	return 0;
}

/* Later calls have other words. */
static void keep_words(struct cli_kmap_caching *c, int error)
{
	const char *text = pagedet_error(c->pd);

	snprintf(c->why, sizeof(c->why), "%s", *text ? text : strerror(-error));
	c->why_status = cli_status(error);
}

/* It is counted, and the others go on. */
static void note_failure(struct cli_kmap_caching *c, int error)
{
	if (!c->failed++ && !c->error)
		keep_words(c, error);
}

/* The end of all. */
static void note_end(struct cli_kmap_caching *c, int error)
{
	if (c->error)
		return;
	c->error = error;
	keep_words(c, error);
}

/* Until there is no breakpoint any more. */
static int fill_all(struct cli_kmap_caching *c)
{
	int r = 1;

	while (r == 1 && c->n_slots < CLI_KMAP_AT_ONCE) {
		r = fill(c, &c->slot[c->n_slots]);
		c->n_slots += r == 1;
	}
	if (r < 0 && !c->n_slots)
		return cli_fail(c->pd, r);
	if (r < 0 && r != -EAGAIN)
		note_failure(c, r);
	if (c->n_slots)
		return CLI_ANSWERED;
	return cli_kmap_tell_none(c);
}

/* --- what a slice had --- */

/* For as many elements again, of @bytes each. */
static bool grow(void **data, size_t *room, size_t bytes)
{
	const size_t more = *room ? *room * 2 : 64;
	void *moved = realloc(*data, more * bytes);

	if (!moved)
		return false;
	*data = moved;
	*room = more;
	return true;
}

static void count(struct cli_kmap_all *a, const struct cli_kmap_slice *s)
{
	const struct pagedet_kmap_watch_total *t = &s->total;

	a->unwatched += t->words - s->rows;
	a->t.lost += t->lost;
	a->t.unsaid = t->unsaid > UINT32_MAX - a->t.unsaid ?
			      UINT32_MAX : a->t.unsaid + t->unsaid;
	a->t.own += t->own;
	a->t.limited += t->limited;
	a->t.freed += t->freed;
	if (!a->t.unknown) {
		a->t.unknown_why = t->unknown_why;
		a->t.mapped = t->mapped;
	}
	a->t.unknown += t->unknown;
	a->t.looks += t->looks;
	if (!t->freed) {
		a->t.reads += t->reads;
		a->t.writes += t->writes;
	}
	a->freed_hits += t->freed ? t->reads + t->writes : 0;
	a->t.rate = t->rate;
	a->t.slots = t->slots;
	a->t.words = t->words;
	a->t.cpus = t->cpus;
	a->t.estimated |= t->estimated;
	if (t->turns > a->t.turns)
		a->t.turns = t->turns;
	if (t->cpus_missed > a->t.cpus_missed)
		a->t.cpus_missed = t->cpus_missed;
	if (s->least_ns < a->least_ns)
		a->least_ns = s->least_ns;
	if (s->most_ns > a->most_ns)
		a->most_ns = s->most_ns;
}

/* The different ones, and as many again. */
static bool keep_address(struct cli_kmap_caching *c, uint64_t address)
{
	void *data = c->addresses.data;

	if (c->addresses.n == c->addresses.room &&
	    cli_kmap_different(c) * 2 >= c->addresses.room &&
	    !grow(&data, &c->addresses.room, sizeof(*c->addresses.data)))
		return false;
	c->addresses.data = data;
	c->addresses.data[c->addresses.n++] = address;
	return true;
}

static bool keep_slice(struct cli_kmap_caching *c,
		       const struct cli_kmap_slice *s)
{
	void *data = c->slices.data;

	if (!c->job->output || c->job->format != PAGEDET_FORMAT_JSON)
		return true;
	if (c->slices.n == c->slices.room &&
	    !grow(&data, &c->slices.room, sizeof(*c->slices.data)))
		return false;
	c->slices.data = data;
	c->slices.data[c->slices.n++] = *s;
	return true;
}

static int keep(struct cli_kmap_caching *c, const struct cli_kmap_slice *s)
{
	if (!keep_slice(c, s) || !keep_address(c, s->object.address))
		return -ENOMEM;
	c->n++;
	count(&c->all, s);
	return 0;
}

static void look_at_words(struct cli_kmap_slot *s, struct cli_kmap_slice *ret)
{
	struct pagedet_kmap_word word = { .size = sizeof(word) };
	uint64_t i;

	ret->least_ns = UINT64_MAX;
	for (i = 0; pagedet_kmap_watch_word(s->watch, i, &word) == 1; i++) {
		ret->rows += !!word.windows;
		if (word.ns < ret->least_ns)
			ret->least_ns = word.ns;
		if (word.ns > ret->most_ns)
			ret->most_ns = word.ns;
	}
}

/* To the KMAP, or to the sums: of what was freed, some accesses may be to the
 * next object. */
static int add(struct cli_kmap_caching *c, struct cli_kmap_slot *s,
	       const struct cli_kmap_slice *slice)
{
	return c->job->output ?
		       pagedet_kmap_watch_write(s->watch, c->out.fd) :
	       slice->total.freed ? 0 :
		       pagedet_kmap_cache_add(c->cache, s->watch,
					      s->object.address);
}

/* Stops a watch, and keeps what it has. */
static void empty(struct cli_kmap_caching *c, struct cli_kmap_slot *s)
{
	struct cli_kmap_slice slice = { .object = s->object,
					.total.size = sizeof(slice.total) };
	int r;

	if (!s->watch)
		return;
	r = pagedet_kmap_watch_stop(s->watch);
	if (r < 0) {
		note_failure(c, r);
	} else {
		pagedet_kmap_watch_total(s->watch, &slice.total);
		look_at_words(s, &slice);
		r = add(c, s, &slice);
		if (r == 0)
			r = keep(c, &slice);
		if (r < 0)
			note_end(c, r);
	}
	pagedet_kmap_watch_free(s->watch);
	s->watch = NULL;
}

/* --- slices --- */

static bool has_ended(const struct cli_kmap_slot *s)
{
	struct pagedet_kmap_watch_total t = { .size = sizeof(t) };

	pagedet_kmap_watch_total(s->watch, &t);
	return t.error;
}

static void renew(struct cli_kmap_caching *c, struct cli_kmap_slot *s)
{
	int r;

	empty(c, s);
	if (c->error || !c->job->sample)
		return;
	r = fill(c, s);
	c->none += r == 0;
	c->busy += r == -EAGAIN;
	if (r < 0 && r != -EAGAIN)
		note_failure(c, r);
}

static void empty_all(struct cli_kmap_caching *c)
{
	size_t i;

	for (i = 0; i < c->n_slots; i++)
		empty(c, &c->slot[i]);
}

/* Asked often by who waits for the end. After an error, a program may run for
 * long: nothing is watched then. */
static uint32_t step(void *arg)
{
	struct cli_kmap_caching *c = arg;
	size_t i, on = 0;

	c->full |= c->n + CLI_KMAP_AT_ONCE > CLI_KMAP_SLICES;
	for (i = 0; i < c->n_slots && !c->error && !c->full; i++) {
		struct cli_kmap_slot *s = &c->slot[i];

		if (cli_now_ns() >= s->end_ns || (s->watch && has_ended(s)))
			renew(c, s);
		on += s->watch || c->job->sample;
	}
	if (c->error || c->full)
		empty_all(c);
	return c->error ? (uint32_t)-c->error :
	       c->full ? EOVERFLOW : on ? 0 : ENOENT;
}

static int end_all(struct cli_kmap_caching *c)
{
	empty_all(c);
	if (c->n && !c->error)
		return CLI_ANSWERED;
	cli_say("%s", c->why);
	return c->why_status;
}

static int watch(struct cli_kmap_caching *c)
{
	int status = cli_child_start(&c->child, c->job, 1);

	cli_allow_descriptors();
	if (!status)
		status = fill_all(c);
	if (!status) {
		cli_interrupt_asked(true);
		status = cli_child_release(&c->child);
		if (!status) {
			cli_child_until(&c->child, c->job, step, c);
			status = end_all(c);
		}
		cli_interrupt_asked(false);
	}
	cli_child_close(&c->child);
	c->watched = !status;
	pagedet_kmap_cache_total(c->cache, &c->of);
	return status;
}

/* --- a file, or a table --- */

static int write_file(struct cli_kmap_caching *c)
{
	int status = cli_output_open(&c->out, c->job->output);

	if (status)
		return status;
	/* It has addresses of the kernel. */
	if (c->out.target && fchmod(c->out.fd, 0600))
		status = cli_fail_errno("cannot set the mode of '%s'",
					c->job->output);
	if (!status)
		status = watch(c);
	return cli_output_close(&c->out, !status, status);
}

static int write_table(struct cli_kmap_caching *c)
{
	const int sums = memfd_create("sums", MFD_CLOEXEC);
	int status, error;

	if (sums < 0)
		return cli_fail_errno("cannot keep what is watched");
	status = watch(c);
	if (!status) {
		error = pagedet_kmap_cache_write(c->cache, sums);
		status = error ? cli_fail(c->pd, error) :
				 cli_kmap_show_watched(c->job, c->pd, sums);
	}
	close(sums);
	return status;
}

static bool is_lossy(const struct cli_kmap_caching *c)
{
	const struct cli_kmap_all *a = &c->all;

	return a->unwatched || a->t.limited || a->t.lost || a->t.unsaid ||
	       a->t.freed || a->t.cpus_missed || c->busy || c->none ||
	       c->failed || c->of.dropped || c->full;
}

static int answer(struct cli_kmap_caching *c)
{
	int status = c->job->output ? write_file(c) : write_table(c);
	/* No: of objects that were all freed there is nothing to show. A
	 * failure may have the same status. */
	if (!c->watched || (status != CLI_ANSWERED && status != CLI_UNSURE &&
			    status != CLI_NO))
		return status;
	if (c->job->output && c->job->format == PAGEDET_FORMAT_JSON)
		status = cli_kmap_json_cached(c);
	if (!c->job->quiet)
		cli_kmap_tell_cached(c);
	return (status == CLI_ANSWERED || status == CLI_NO) && is_lossy(c) ?
		       CLI_UNSURE : status;
}

int cli_kmap_watch_cache(struct cli_job *job, struct pagedet *pd)
{
	static const struct pagedet_kmap_watch_options defaults =
		PAGEDET_KMAP_WATCH_OPTIONS_INIT;
	struct cli_kmap_caching c = { .job = job, .pd = pd, .o = defaults,
				      .all.least_ns = UINT64_MAX };
	int status;
	size_t i;

	c.o.flags = job->only_writes ? PAGEDET_KMAP_WATCH_WRITES : 0;
	c.o.rate = job->rate;
	c.o.window_ns = job->window_ns;
	status = find(&c);
	if (!status)
		status = answer(&c);
	for (i = 0; i < c.n_slots; i++)
		pagedet_kmap_watch_free(c.slot[i].watch);
	pagedet_kmap_cache_free(c.cache);
	free(c.slices.data);
	free(c.addresses.data);
	return status;
}
