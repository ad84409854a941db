/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * kmap watch --cache: objects of a slab cache, drawn at random, each with a
 * watch of its own. As many watches run at once as there are breakpoints. With
 * --sample each object has a slice of time, and then another one is drawn.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "kmap.h"

/* No processor has more breakpoints. */
#define MOST_AT_ONCE 16
#define DEFAULT_SLICE_NS 1000000000u
/* Draws until one is not watched already, and still there. */
#define TRIES 64
/* Of one run, which then ends. */
#define MOST_SLICES (1u << 20)

/* A slice of an object. */
struct slice {
	struct pagedet_kmap_drawn object;
	struct pagedet_kmap_watch_total total;
	uint64_t word_ns;	/* of the word that was watched least */
	uint64_t rows;		/* words that had a turn: the KMAP has them */
};

struct slot {
	struct pagedet_kmap_watch *watch; /* NULL: nothing is watched */
	struct pagedet_kmap_drawn object;
	uint64_t end_ns;
};

struct caching {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_kmap_cache *cache;
	struct pagedet_kmap_cache_total of;
	struct pagedet_kmap_watch_options o;
	uint64_t offset, seed;
	struct cli_child child;
	struct cli_output out;
	struct slot slot[MOST_AT_ONCE];
	size_t n_slots;		/* that have had an object */
	struct slice *slices;	/* in the order of the KMAP */
	size_t n, room;
	uint64_t busy, none;	/* slices that had no breakpoint, no object */
	bool full;		/* it had the most slices */
	int error;		/* negative errno that ended it */
};

/* --- arguments --- */

static int take_part(struct caching *c)
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

static int check_part(struct caching *c)
{
	if (c->offset >= c->of.bytes ||
	    c->o.bytes > c->of.bytes - c->offset)
		return cli_usage("--at: '%s' is outside of an object of '%s', "
				 "which has %llu bytes", c->job->watch_at,
				 c->job->watch_cache,
				 (unsigned long long)c->of.bytes);
	if (!c->o.bytes)
		c->o.bytes = c->of.bytes - c->offset;
	return CLI_ANSWERED;
}

static int take_seed(struct caching *c)
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

static int find(struct caching *c)
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

static bool is_watched(const struct caching *c, uint64_t address)
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
static int fill(struct caching *c, struct slot *s)
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
		if (r == 0) {
			s->object = drawn;
			return 1;
		}
		/* It was freed since it was drawn. */
		if (r != -ENOENT)
			return r;
	}
	return 0;
}

/* Until there is no breakpoint any more. */
static int fill_all(struct caching *c)
{
	int r = 1;

	while (r == 1 && c->n_slots < MOST_AT_ONCE) {
		r = fill(c, &c->slot[c->n_slots]);
		c->n_slots += r == 1;
	}
	if (c->n_slots)
		return r == -EAGAIN || r >= 0 ? CLI_ANSWERED :
						cli_fail(c->pd, r);
	if (r < 0)
		return cli_fail(c->pd, r);
	cli_say("no object of '%s' was found that is known to be in use",
		c->job->watch_cache);
	return CLI_NO_INPUT;
}

static bool keep(struct caching *c, const struct slice *s)
{
	const size_t room = c->room ? c->room * 2 : 64;
	struct slice *more;

	if (c->n == c->room) {
		more = realloc(c->slices, room * sizeof(*more));
		if (!more)
			return false;
		c->slices = more;
		c->room = room;
	}
	c->slices[c->n++] = *s;
	return true;
}

/* Stops a watch, and appends what it has to the KMAP. */
static int empty(struct caching *c, struct slot *s)
{
	struct pagedet_kmap_word word = { .size = sizeof(word) };
	struct slice slice = { .object = s->object, .word_ns = UINT64_MAX };
	uint64_t i;
	int r;

	if (!s->watch)
		return 0;
	slice.total.size = sizeof(slice.total);
	r = pagedet_kmap_watch_write(s->watch, c->out.fd);
	if (r == 0)
		r = pagedet_kmap_watch_total(s->watch, &slice.total);
	for (i = 0; pagedet_kmap_watch_word(s->watch, i, &word) == 1; i++) {
		slice.rows += !!word.windows;
		if (word.ns < slice.word_ns)
			slice.word_ns = word.ns;
	}
	pagedet_kmap_watch_free(s->watch);
	s->watch = NULL;
	return r < 0 ? r : keep(c, &slice) ? 0 : -ENOMEM;
}

static bool has_ended(const struct slot *s)
{
	struct pagedet_kmap_watch_total t = { .size = sizeof(t) };

	pagedet_kmap_watch_total(s->watch, &t);
	return t.error;
}

/* Returns 0, or a negative errno: the end of all. */
static int renew(struct caching *c, struct slot *s)
{
	int r = empty(c, s);

	if (r < 0 || !c->job->sample)
		return r;
	r = fill(c, s);
	c->none += r == 0;
	c->busy += r == -EAGAIN;
	return r < 0 && r != -EAGAIN ? r : 0;
}

/* Asked often by who waits for the end. */
static uint32_t step(void *arg)
{
	struct caching *c = arg;
	size_t i, on = 0;

	c->full = c->n + MOST_AT_ONCE > MOST_SLICES;
	if (c->full)
		return EOVERFLOW;
	for (i = 0; i < c->n_slots && !c->error; i++) {
		struct slot *s = &c->slot[i];

		if (cli_now_ns() >= s->end_ns || (s->watch && has_ended(s)))
			c->error = renew(c, s);
		on += s->watch || c->job->sample;
	}
	return c->error ? (uint32_t)-c->error : on ? 0 : ENOENT;
}

static int watch(struct caching *c)
{
	int status = cli_child_start(&c->child, c->job, 1);
	size_t i;
	int r;

	cli_allow_descriptors();
	if (!status)
		status = fill_all(c);
	if (!status) {
		cli_interrupt_asked(true);
		status = cli_child_release(&c->child);
		if (!status)
			cli_child_until(&c->child, c->job, step, c);
		for (i = 0; i < c->n_slots; i++) {
			r = empty(c, &c->slot[i]);
			c->error = c->error ? c->error : r;
		}
		cli_interrupt_asked(false);
		if (!status && c->error)
			status = cli_fail(c->pd, c->error);
	}
	cli_child_close(&c->child);
	return status;
}

/* --- sums over all objects --- */

struct sum {
	uint64_t offset, bytes, site, reads, writes;
	int64_t tid;
};

struct sums {
	struct sum *data;
	size_t n, room;
};

static int by_place(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* The most frequent of a word first. */
static int by_count(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;
	const uint64_t n = x->reads + x->writes, m = y->reads + y->writes;

	if (x->offset != y->offset || n == m)
		return by_place(a, b);
	return n > m ? -1 : 1;
}

static void merge(struct sums *s)
{
	size_t i, n = 0;

	qsort(s->data, s->n, sizeof(*s->data), by_place);
	for (i = 0; i < s->n; i++) {
		if (!n || by_place(&s->data[n - 1], &s->data[i])) {
			s->data[n++] = s->data[i];
			continue;
		}
		s->data[n - 1].reads += s->data[i].reads;
		s->data[n - 1].writes += s->data[i].writes;
	}
	s->n = n;
}

static bool add(struct sums *s, const struct sum *one)
{
	struct sum *more;

	if (s->n == s->room && s->n)
		merge(s);
	if (s->n * 2 >= s->room) {
		s->room = s->room ? s->room * 2 : 256;
		more = realloc(s->data, s->room * sizeof(*more));
		if (!more)
			return false;
		s->data = more;
	}
	s->data[s->n++] = *one;
	return true;
}

/* The words of a slice are one after the other. */
static bool add_word(struct pagedet_kmap *k, const struct slice *of,
		     const struct pagedet_kmap_object *o, struct sums *s)
{
	struct pagedet_kmap_access a = { .size = sizeof(a) };
	/* Also if nobody has accessed it. */
	struct sum sum = { .offset = o->address - of->object.address,
			   .bytes = o->bytes };
	bool ok = add(s, &sum);

	while (ok && pagedet_kmap_next_access(k, &a) == 1) {
		sum.site = a.site;
		sum.tid = a.pid;
		sum.reads = a.reads;
		sum.writes = a.writes;
		ok = add(s, &sum);
	}
	return ok;
}

/* What was freed is not added: some accesses may be to the next object. */
static int add_all(struct caching *c, struct pagedet_kmap *k, struct sums *s)
{
	struct pagedet_kmap_object o = { .size = sizeof(o) };
	size_t i;
	uint64_t j;

	for (i = 0; i < c->n; i++) {
		const struct slice *of = &c->slices[i];

		for (j = 0; j < of->rows; j++) {
			const int r = pagedet_kmap_next(k, &o);

			if (r <= 0)
				return r < 0 ? r : -EBADMSG;
			if (!of->total.freed && !add_word(k, of, &o, s))
				return -ENOMEM;
		}
	}
	merge(s);
	qsort(s->data, s->n, sizeof(*s->data), by_count);
	return 0;
}

/* A word is an object whose address is its offset. */
static int write_sums(const struct caching *c, const struct sums *s, int fd)
{
	char name[64] = "";
	const int copy = dup(fd);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");
	size_t i;

	if (!f)
		return cli_fail_errno("cannot add up what was watched");
	strncpy(name, pagedet_kmap_cache_name(c->cache), sizeof(name) - 1);
	/* It must not end its column. */
	for (i = 0; name[i]; i++)
		if (name[i] == ',' || (unsigned char)name[i] < ' ')
			name[i] = '_';
	for (i = 0; i < s->n; i++) {
		const struct sum *a = &s->data[i];

		if (!i || a->offset != a[-1].offset)
			/* Of many objects: a free before the allocation tells
			 * that there is no end. */
			fprintf(f, "(____ptrval____),0,%" PRIx64 ",%" PRIu64
				",2,1,(null),%s,,%s,\n", a->offset, a->bytes,
				strncmp(name, "kmalloc-", 8) ? "KMEM_CACHE" :
							       "KMALLOC",
				name);
		if (a->reads + a->writes)
			fprintf(f, "  %" PRIx64 ",%" PRIu64 ",%" PRIu64 ",%"
				PRId64 "\n", a->site, a->writes, a->reads,
				a->tid);
	}
	return ferror(f) | fclose(f) ?
		       cli_fail_errno("cannot add up what was watched") :
		       CLI_ANSWERED;
}

static int add_up(struct caching *c, int fd)
{
	struct pagedet_kmap_query q = PAGEDET_KMAP_QUERY_INIT;
	struct sums s = { NULL, 0, 0 };
	struct pagedet_kmap *k;
	char path[64];
	int error, status;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->out.fd);
	q.path = path;
	error = pagedet_kmap(c->pd, &q, &k);
	if (error)
		return cli_fail(c->pd, error);
	error = add_all(c, k, &s);
	pagedet_kmap_free(k);
	status = error ? cli_fail(c->pd, error) : write_sums(c, &s, fd);
	free(s.data);
	return status;
}

/* --- what it says --- */

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Different addresses; SIZE_MAX if memory is short. */
static size_t count_addresses(const struct caching *c)
{
	uint64_t *all = calloc(c->n + 1, sizeof(*all));
	size_t i, n = 0;

	if (!all)
		return SIZE_MAX;
	for (i = 0; i < c->n; i++)
		all[i] = c->slices[i].object.address;
	qsort(all, c->n, sizeof(*all), by_address);
	for (i = 0; i < c->n; i++)
		n += !i || all[i] != all[i - 1];
	free(all);
	return n;
}

struct all {
	struct pagedet_kmap_watch_total t; /* sums, and the most of others */
	uint64_t freed_hits, least_ns, most_ns;
	uint64_t unwatched;	/* words, of all objects */
};

static struct all sum_up(const struct caching *c)
{
	struct all a = { .least_ns = UINT64_MAX };
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct pagedet_kmap_watch_total *t = &c->slices[i].total;

		a.unwatched += t->words - c->slices[i].rows;
		a.t.lost += t->lost;
		a.t.unsaid = t->unsaid > UINT32_MAX - a.t.unsaid ?
				     UINT32_MAX : a.t.unsaid + t->unsaid;
		a.t.own += t->own;
		a.t.limited += t->limited;
		a.t.freed += t->freed;
		a.t.unknown += t->unknown;
		a.t.looks += t->looks;
		if (!t->freed) {
			a.t.reads += t->reads;
			a.t.writes += t->writes;
		}
		a.freed_hits += t->freed ? t->reads + t->writes : 0;
		a.t.rate = t->rate;
		a.t.slots = t->slots;
		a.t.words = t->words;
		a.t.cpus = t->cpus;
		a.t.estimated |= t->estimated;
		if (t->turns > a.t.turns)
			a.t.turns = t->turns;
		if (t->cpus_missed > a.t.cpus_missed)
			a.t.cpus_missed = t->cpus_missed;
		if (c->slices[i].word_ns < a.least_ns)
			a.least_ns = c->slices[i].word_ns;
		if (c->slices[i].word_ns > a.most_ns)
			a.most_ns = c->slices[i].word_ns;
	}
	return a;
}

static void tell_cache(const struct caching *c)
{
	const char *name = pagedet_kmap_cache_name(c->cache);

	if (strcmp(name, c->job->watch_cache))
		cli_say("the kernel has merged '%s' with '%s': the objects are "
			"of both", c->job->watch_cache, name);
	if (c->of.sharing)
		cli_say("%llu other cache%s the slabs of '%s': objects may be "
			"theirs", (unsigned long long)c->of.sharing,
			c->of.sharing == 1 ? " shares" : "s share", name);
	if (c->of.reused)
		cli_say("'%s' is SLAB_TYPESAFE_BY_RCU: a freed object may be "
			"used again at once, while others still read it", name);
}

static void tell_coverage(const struct caching *c, const struct all *a)
{
	const size_t different = count_addresses(c);

	cli_say("%zu object%s of '%s' watched%s, drawn with --seed %llu; its "
		"slabs had room for %llu", c->n, cli_plural(c->n),
		c->job->watch_cache, c->job->sample ? " for a slice each" : "",
		(unsigned long long)c->seed, (unsigned long long)c->of.room);
	if (different < c->n)
		cli_say("these had %zu different addresses", different);
	cli_say("%zu at a time, by %u breakpoint%s of each of %u processor%s "
		"each; each word for %.3f to %.3f s", c->n_slots, a->t.slots,
		cli_plural(a->t.slots), a->t.cpus, cli_plural(a->t.cpus),
		(double)a->least_ns / 1e9, (double)a->most_ns / 1e9);
	if (a->t.turns > 1)
		cli_say("the %llu words of an object took turns: accesses "
			"while another word had its turn are not counted; --at "
			"chooses words", (unsigned long long)a->t.words);
	cli_kmap_tell_turns(a->unwatched);
	if (c->full)
		cli_say("it ended early: one run has at most %u slices",
			MOST_SLICES);
	if (c->busy)
		cli_say("%llu slice%s: others had the breakpoints",
			(unsigned long long)c->busy, c->busy == 1 ?
			" was not watched" : "s were not watched");
	if (c->none)
		cli_say("%llu slice%s: no object in use was found",
			(unsigned long long)c->none, c->none == 1 ?
			" was not watched" : "s were not watched");
}

static void tell_objects(const struct caching *c, const struct all *a)
{
	if (a->t.freed)
		cli_say("%llu object%s freed meanwhile: %llu accesses to %s "
			"are not in the sums", (unsigned long long)a->t.freed,
			a->t.freed == 1 ? " was" : "s were",
			(unsigned long long)a->freed_hits,
			a->t.freed == 1 ? "it" : "them");
	if (a->t.unknown)
		cli_say("whether %llu of them were freed meanwhile is not "
			"known", (unsigned long long)a->t.unknown);
	if (c->n > a->t.freed + a->t.unknown)
		cli_say("%llu seemed to be in use all the time, but may have "
			"been freed and handed out again between two of %llu "
			"looks",
			(unsigned long long)(c->n - a->t.freed - a->t.unknown),
			(unsigned long long)a->t.looks);
}

static void tell(const struct caching *c, const struct all *a)
{
	cli_child_tell(&c->child);
	tell_cache(c);
	tell_coverage(c, a);
	tell_objects(c, a);
	cli_kmap_tell_hits(c->job, &a->t);
}

static void put_slices(const struct caching *c, FILE *f)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct slice *s = &c->slices[i];
		const struct pagedet_kmap_watch_total *t = &s->total;

		fprintf(f, "%s{\"address\":\"%#llx\",\"bytes\":%llu,"
			"\"words\":%llu,\"turns\":%llu,\"ns\":%llu,"
			"\"word_ns\":%llu,\"reads\":%llu,\"writes\":%llu,"
			"\"lost\":%llu,\"unsaid\":%u,\"limited\":%llu,"
			"\"freed\":%s}",
			i ? "," : "", (unsigned long long)s->object.address,
			(unsigned long long)s->object.bytes,
			(unsigned long long)t->words,
			(unsigned long long)t->turns,
			(unsigned long long)(t->end_ns - t->begin_ns),
			(unsigned long long)s->word_ns,
			(unsigned long long)t->reads,
			(unsigned long long)t->writes,
			(unsigned long long)t->lost, t->unsaid,
			(unsigned long long)t->limited,
			t->freed ? "true" : t->unknown ? "null" : "false");
	}
}

static void put_name(FILE *f, const char *name, const char *value)
{
	cli_json_member(f, name, value, strlen(value));
	fputc(',', f);
}

static int write_json(const struct caching *c, const struct all *a)
{
	struct cli_job job = *c->job;
	struct cli_report report;
	int status = cli_report_open(&report);

	if (status)
		return status;
	fputc('{', report.f);
	put_name(report.f, "file", job.output);
	put_name(report.f, "cache", job.watch_cache);
	put_name(report.f, "slabs_of", pagedet_kmap_cache_name(c->cache));
	fprintf(report.f, "\"seed\":%llu,\"room\":%llu,\"sharing\":%llu,"
		"\"reused\":%s,\"at_once\":%zu,\"busy\":%llu,\"none\":%llu,"
		"\"freed\":%llu,\"unknown\":%llu,\"reads\":%llu,"
		"\"writes\":%llu,\"freed_hits\":%llu,\"lost\":%llu,"
		"\"unsaid\":%u,"
		"\"own\":%llu,\"limited\":%llu,\"rate\":%llu,"
		"\"breakpoints\":%u,\"cpus\":%u,\"cpus_missed\":%u,"
		"\"estimated\":%s,\"objects\":[", (unsigned long long)c->seed,
		(unsigned long long)c->of.room,
		(unsigned long long)c->of.sharing,
		c->of.reused ? "true" : "false", c->n_slots,
		(unsigned long long)c->busy, (unsigned long long)c->none,
		(unsigned long long)a->t.freed,
		(unsigned long long)a->t.unknown,
		(unsigned long long)a->t.reads,
		(unsigned long long)a->t.writes,
		(unsigned long long)a->freed_hits,
		(unsigned long long)a->t.lost, a->t.unsaid,
		(unsigned long long)a->t.own,
		(unsigned long long)a->t.limited,
		(unsigned long long)a->t.rate, a->t.slots, a->t.cpus,
		a->t.cpus_missed, a->t.estimated ? "true" : "false");
	put_slices(c, report.f);
	fputs("]}\n", report.f);
	/* The output is the KMAP; this is for the caller. */
	job.output = NULL;
	return cli_report_close(&report, &job, CLI_ANSWERED);
}

/* --- a file, or a table --- */

static int write_file(struct caching *c)
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

static int write_table(struct caching *c)
{
	const int sums = memfd_create("sums", MFD_CLOEXEC);
	int status;

	c->out.fd = memfd_create("kmap", MFD_CLOEXEC);
	if (c->out.fd < 0 || sums < 0)
		status = cli_fail_errno("cannot keep what is watched");
	else
		status = watch(c);
	if (!status)
		status = add_up(c, sums);
	if (!status)
		status = cli_kmap_show_watched(c->job, c->pd, sums);
	if (c->out.fd >= 0)
		close(c->out.fd);
	if (sums >= 0)
		close(sums);
	return status;
}

static bool is_lossy(const struct caching *c, const struct all *a)
{
	return a->unwatched || a->t.limited || a->t.lost || a->t.unsaid ||
	       a->t.freed || a->t.cpus_missed || c->busy || c->none || c->full;
}

static int answer(struct caching *c)
{
	int status = c->job->output ? write_file(c) : write_table(c);
	struct all a;

	/* No: of objects that were all freed there is nothing to show. */
	if (status != CLI_ANSWERED && status != CLI_UNSURE &&
	    status != CLI_NO)
		return status;
	a = sum_up(c);
	if (c->job->output && c->job->format == PAGEDET_FORMAT_JSON)
		status = write_json(c, &a);
	if (!c->job->quiet)
		tell(c, &a);
	return (status == CLI_ANSWERED || status == CLI_NO) &&
	       is_lossy(c, &a) ? CLI_UNSURE : status;
}

int cli_kmap_watch_cache(struct cli_job *job, struct pagedet *pd)
{
	static const struct pagedet_kmap_watch_options defaults =
		PAGEDET_KMAP_WATCH_OPTIONS_INIT;
	struct caching c = { .job = job, .pd = pd, .o = defaults };
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
	free(c.slices);
	return status;
}
