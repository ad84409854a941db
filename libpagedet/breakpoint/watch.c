/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The thread of a watch. Breakpoints are set up and taken down by the caller's
 * thread, so that it has the errors.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/team.h"
#include "base/vec.h"
#include "breakpoint/watch.h"

/* Between two questions whether the objects still exist. */
#define LOOK_NS 500000000u
/* The ring must not be full before it is emptied. */
#define MOST_WINDOW_NS 200000000u
#define SECOND_NS 1000000000u

struct pdet_bp_watch {
	struct pdet_env env;	/* of the thread; no log */
	struct pdet_bp_wants wants; /* its objects are those below */
	struct pdet_bp_object *objects;
	struct pdet_bp_plan plan;
	struct pdet_bp_slots slots;
	struct pdet_bp_hits hits;
	struct pdet_bp_half *halves; /* of each place, for each piece of a
				      * turn */
	struct pdet_bp_turns *words; /* of each piece */
	size_t turn;
	uint64_t began;		/* of the turn, or of the last look at it */
	uint64_t looked;
	uint64_t begin_ns, end_ns, windows, looks, own, counted;
	uint32_t self;		/* thread that asks about the objects */
	uint32_t cpus, missed;	/* watched; that came online meanwhile */
	size_t place;		/* that is being taken */
	pthread_t thread;
	bool started, stopped;
	int wake;		/* an eventfd: the end */
	int result;
	int failed;		/* the same while it runs; atomic */
};

/* --- hits --- */

static struct pdet_bp_half *half_of(const struct pdet_bp_watch *w, size_t slot)
{
	return &w->halves[w->place * w->plan.together +
			  slot / w->slots.per_piece];
}

static size_t piece_of(const struct pdet_bp_watch *w, size_t slot)
{
	return w->turn * w->plan.together + slot / w->slots.per_piece;
}

static void take_hit(void *arg, size_t slot, const struct pdet_bp_sample *s)
{
	struct pdet_bp_watch *w = arg;
	const enum pdet_bp_kind kind = pdet_bp_slots_kind(&w->slots, slot);

	if (s->tid == w->self) {
		w->own++;
		return;
	}
	if (w->slots.per_piece == 1 || w->slots.reads_alone)
		pdet_bp_hits_count(&w->hits, piece_of(w, slot), kind, s);
	else
		pdet_bp_hits_add(&w->hits, half_of(w, slot), piece_of(w, slot),
				 kind, s);
}

static void take_hits(struct pdet_bp_watch *w, bool is_end)
{
	size_t k;

	for (w->place = 0; w->place < w->slots.n; w->place++) {
		pdet_bp_slots_take(&w->slots, w->place, take_hit, w);
		for (k = 0; is_end && k < w->slots.used;
		     k += w->slots.per_piece)
			pdet_bp_hits_end(&w->hits, half_of(w, k),
					 piece_of(w, k));
	}
}

/* --- windows --- */

/* A piece was watched while its breakpoint of any access was on everywhere. */
static void cover(struct pdet_bp_watch *w, bool is_end)
{
	const size_t each = w->slots.per_piece;
	size_t i, j, k;

	for (k = 0; k < w->slots.used; k += each) {
		struct pdet_bp_turns *word = &w->words[piece_of(w, k)];
		uint64_t ns = UINT64_MAX, hits = 0;
		bool limited = false;

		for (i = 0; i < w->slots.n; i++) {
			const struct pdet_bp_slot *s = w->slots.data[i].slot +
						       k;

			ns = PDET_MIN(ns, s[each - 1].new_ns);
			limited |= s[each - 1].limited;
			for (j = 0; j < each; j++)
				hits += s[j].new_count;
		}
		w->counted += hits;
		pdet_bp_turns_add(word, ns, hits, limited);
		if (is_end)
			pdet_bp_turns_end(word, w->wants.tid);
	}
}

static int begin(struct pdet_bp_watch *w, struct pdet_env *env, uint64_t ns)
{
	int r = pdet_bp_slots_begin(&w->slots, env, &w->plan, w->turn);

	w->began = pdet_clock_ns(CLOCK_MONOTONIC);
	if (r == 0)
		pdet_bp_slots_allow(&w->slots, ns);
	return r;
}

static void end(struct pdet_bp_watch *w)
{
	pdet_bp_slots_end(&w->slots);
	take_hits(w, true);
	cover(w, true);
	w->windows++;
}

/* Nobody else wants the slots: they stay. */
static void stay(struct pdet_bp_watch *w)
{
	const uint64_t now = pdet_clock_ns(CLOCK_MONOTONIC);

	pdet_bp_slots_look(&w->slots);
	take_hits(w, false);
	cover(w, false);
	pdet_bp_slots_allow(&w->slots, now - w->began);
	w->began = now;
}

static bool all_free(const struct pdet_bp_watch *w)
{
	size_t i;

	for (i = 0; i < w->wants.n; i++)
		if (w->objects[i].state != PAGEDET_OBJECT_FREE)
			return false;
	return true;
}

/* The cache is that of the first look that knew one. */
static void take_look(struct pdet_bp_object *o,
		      const struct pdet_bp_object *now)
{
	o->state = now->state;
	o->why = now->why;
	if (!*o->cache)
		memcpy(o->cache, now->cache, sizeof(o->cache));
}

/* What was freed once stays so: what is there now is another object. */
static void look(struct pdet_bp_watch *w)
{
	struct pdet_bp_object *now;
	size_t i;

	w->looked = pdet_clock_ns(CLOCK_MONOTONIC);
	now = w->wants.look ? calloc(w->wants.n, sizeof(*now)) : NULL;
	if (!now)
		return;
	memcpy(now, w->objects, w->wants.n * sizeof(*now));
	w->wants.look(w->wants.arg, now, w->wants.n);
	for (i = 0; i < w->wants.n; i++)
		if (w->objects[i].state != PAGEDET_OBJECT_FREE)
			take_look(&w->objects[i], &now[i]);
	w->looks++;
	free(now);
}

/* 1: it is the end. */
static int wait_for_window(struct pdet_bp_watch *w)
{
	const struct timespec t = {
		(time_t)(w->wants.window_ns / SECOND_NS),
		(long)(w->wants.window_ns % SECOND_NS)
	};
	struct pollfd p = { w->wake, POLLIN, 0 };

	return ppoll(&p, 1, &t, NULL) == 1;
}

static int run(struct pdet_bp_watch *w)
{
	const size_t turns = pdet_bp_plan_turns(&w->plan);
	int r = 0;

	while (r == 0 && !wait_for_window(w) && !all_free(w)) {
		if (pdet_clock_ns(CLOCK_MONOTONIC) - w->looked >= LOOK_NS)
			look(w);
		if (turns == 1) {
			stay(w);
			continue;
		}
		end(w);
		w->turn = (w->turn + 1) % turns;
		r = begin(w, &w->env,
			  pdet_clock_ns(CLOCK_MONOTONIC) - w->began);
	}
	if (r == 0)
		end(w);
	return r;
}

static void count_cpus(struct pdet_bp_watch *w)
{
	const long now = sysconf(_SC_NPROCESSORS_ONLN);

	if (w->cpus && now > (long)w->cpus)
		w->missed = (uint32_t)now - w->cpus;
}

static void *thread(void *arg)
{
	struct pdet_bp_watch *w = arg;

	w->self = (uint32_t)syscall(SYS_gettid);
	w->result = run(w);
	w->end_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	count_cpus(w);
	look(w);
	__atomic_store_n(&w->failed, w->result ? w->result :
			 all_free(w) ? -ENOENT : 0, __ATOMIC_RELEASE);
	return NULL;
}

/* --- the caller --- */

static int start(struct pdet_bp_watch *w, struct pdet_env *env)
{
	const int code = pdet_team_thread(&w->thread, thread, w);

	if (code)
		return pdet_fail(env, code, "cannot start a thread");
	w->started = true;
	return 0;
}

static int prepare(struct pdet_bp_watch *w, struct pdet_env *env)
{
	size_t i;
	int r = 0;

	for (i = 0; i < w->wants.n && r == 0; i++)
		r = pdet_bp_plan_add(&w->plan, env, w->objects[i].address,
				     w->objects[i].bytes, (uint32_t)i);
	w->slots.per_piece = w->wants.only_writes ? 1 : 2;
	w->slots.rate = w->wants.rate;
	if (r == 0)
		r = pdet_bp_slots_open(&w->slots, env, &w->plan, w->wants.tid);
	if (r < 0)
		return r;
	w->cpus = w->wants.tid ? 0 : (uint32_t)w->slots.n;
	w->words = calloc(w->plan.n, sizeof(*w->words));
	w->halves = calloc(w->slots.n * w->plan.together, sizeof(*w->halves));
	if (!w->words || !w->halves)
		return pdet_fail(env, ENOMEM, "no memory");
	w->looked = w->begin_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	/* All of the rate at once. */
	r = begin(w, env, SECOND_NS);
	return r < 0 ? r : start(w, env);
}

int pdet_bp_watch_new(struct pdet_env *env, const struct pdet_bp_wants *wants,
		      struct pdet_bp_watch **ret)
{
	static char no_root[1];
	struct pdet_bp_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return pdet_fail(env, ENOMEM, "no memory");
	w->env.root = no_root;
	w->wants = *wants;
	w->wants.window_ns = PDET_MIN(wants->window_ns, MOST_WINDOW_NS);
	pdet_bp_hits_init(&w->hits);
	w->wake = eventfd(0, EFD_CLOEXEC);
	w->objects = calloc(wants->n, sizeof(*w->objects));
	if (w->wake < 0)
		r = pdet_fail_errno(env, "cannot watch");
	else if (!w->objects)
		r = pdet_fail(env, ENOMEM, "no memory");
	else
		r = 0;
	if (r == 0) {
		memcpy(w->objects, wants->objects,
		       wants->n * sizeof(*w->objects));
		r = prepare(w, env);
	}
	if (r < 0) {
		pdet_bp_watch_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

int pdet_bp_watch_stop(struct pdet_bp_watch *w, struct pdet_env *env)
{
	const uint64_t one = 1;

	if (w->started && !w->stopped) {
		w->stopped = true;
		if (write(w->wake, &one, sizeof(one)) != sizeof(one))
			return pdet_fail_errno(env, "cannot end the watch");
		pthread_join(w->thread, NULL);
		pdet_bp_slots_close(&w->slots);
		if (w->result == 0 && w->hits.no_memory)
			w->result = pdet_fail(&w->env, ENOMEM, "no memory");
	}
	if (w->result < 0)
		pdet_take_words(env, &w->env);
	return w->result;
}

struct pdet_bp_text pdet_bp_watch_seen(const struct pdet_bp_watch *w)
{
	return (struct pdet_bp_text){ w->objects, w->words, &w->plan,
				      &w->hits };
}

int pdet_bp_watch_write(const struct pdet_bp_watch *w, struct pdet_env *env,
			int fd)
{
	const struct pdet_bp_text t = pdet_bp_watch_seen(w);

	return pdet_bp_write(env, fd, &t);
}

bool pdet_bp_watch_word(const struct pdet_bp_watch *w, size_t i,
			struct pagedet_kmap_word *ret)
{
	if (!w->stopped || i >= w->plan.n)
		return false;
	*ret = (struct pagedet_kmap_word){
		.size = sizeof(*ret), .address = w->plan.data[i].address,
		.bytes = w->plan.data[i].bytes,
		.object = w->plan.data[i].object,
		.windows = w->words[i].windows, .ns = w->words[i].ns,
		.limited = w->words[i].limited,
	};
	return true;
}

/* The kernel counts hits of which it writes no sample and tells no loss. */
static void add_lost(const struct pdet_bp_watch *w,
		     struct pagedet_kmap_watch_total *ret)
{
	const struct pdet_bp_seen *seen = &w->slots.seen;
	const uint64_t told = seen->samples + seen->lost;

	ret->lost = seen->lost + w->hits.dropped;
	ret->unsaid = (uint32_t)PDET_MIN(w->counted -
					 PDET_MIN(w->counted, told),
					 UINT32_MAX);
}

static void add_hits(const struct pdet_bp_watch *w,
		     struct pagedet_kmap_watch_total *ret)
{
	size_t i;

	for (i = 0; i < w->hits.sums.n; i++) {
		ret->reads += w->hits.sums.data[i].reads;
		ret->writes += w->hits.sums.data[i].writes;
	}
	for (i = 0; i < w->plan.n; i++)
		ret->limited += w->words[i].limited;
	for (i = 0; i < w->wants.n; i++) {
		ret->freed += w->objects[i].state == PAGEDET_OBJECT_FREE;
		if (w->objects[i].state)
			continue;
		if (!ret->unknown++)
			ret->unknown_why = w->objects[i].why;
	}
	add_lost(w, ret);
	ret->end_ns = w->end_ns;
	ret->windows = w->windows;
	ret->looks = w->looks;
	ret->own = w->own;
	ret->cpus_missed = w->missed;
}

void pdet_bp_watch_total(const struct pdet_bp_watch *w,
			 struct pagedet_kmap_watch_total *ret)
{
	*ret = (struct pagedet_kmap_watch_total){
		.size = sizeof(*ret), .objects = w->wants.n,
		.words = w->plan.n, .turns = pdet_bp_plan_turns(&w->plan),
		.begin_ns = w->begin_ns,
		.end_ns = pdet_clock_ns(CLOCK_MONOTONIC),
		.rate = w->wants.rate, .window_ns = w->wants.window_ns,
		.slots = (uint32_t)(w->plan.together * w->slots.per_piece),
		.cpus = w->cpus,
#ifdef __aarch64__
		.estimated = 1,
#else
		.estimated = w->slots.first_only,
#endif
		.error = (uint32_t)-__atomic_load_n(&w->failed,
						    __ATOMIC_ACQUIRE),
	};
	if (w->stopped)
		add_hits(w, ret);
}

void pdet_bp_watch_free(struct pdet_bp_watch *w)
{
	if (!w)
		return;
	pdet_bp_watch_stop(w, &w->env);
	pdet_bp_slots_close(&w->slots);
	pdet_bp_hits_free(&w->hits);
	pdet_bp_plan_free(&w->plan);
	free(w->halves);
	free(w->words);
	free(w->objects);
	if (w->wake >= 0)
		close(w->wake);
	free(w);
}
