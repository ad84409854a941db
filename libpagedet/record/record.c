/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The thread of the recorder takes pages until it is told to end. Everything
 * else is done by the thread of the caller, before and after.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/team.h"
#include "base/text/text.h"
#include "base/vec.h"
#include "pagedet.h"
#include "record/about.h"
#include "record/dat.h"
#include "record/instance.h"
#include "record/record.h"
#include "record/tap.h"
#include "trace/ring.h"

/* Other sources have it, too. */
#define CLOCK "mono"
/* Bytes of a buffer if the caller names none, and at least. */
#define BUFFER ((uint64_t)8 << 20)
#define LEAST_BUFFER ((uint64_t)64 << 10)
/* That many times all default buffers fit in memory. */
#define MEMORY_PARTS 32
/* Pages of one processor before another one has its turn. */
#define TURN 64
/* A buffer is emptied when so much of it is full, in percent. */
#define PERCENT "20"
/* The kernel may not wake us: ms between two looks. */
#define LOOK_MS 100
/* At the end: how often, and how long, to wait for events that were begun. */
#define TRIES 100
#define MOMENT_NS 1000000
/* Between two readings of the names of threads, and of the counts. */
#define NAMES_NS 1000000000u

struct tap_list {
	struct pdet_tap *data;
	size_t n, cap;
};

struct pdet_recording {
	struct pdet_env env;	/* of the thread; no log */
	struct pdet_instance instance;
	int fs;			/* tracefs */
	uint32_t page;
	uint64_t buffer;
	bool pages;
	uint32_t mapped;	/* buffers that were mapped */
	struct tap_list taps;
	/* At the end, when the instance is gone: */
	struct pdet_tracefs_stats *stats; /* of each */
	struct pdet_dat_parts about; /* its header_page from the beginning */
	struct pdet_thread_names names;
	uint64_t begin_ns, end_ns; /* begin 0: it has not begun */
	/* The thread. */
	pthread_t thread;
	bool started, stopped;
	uint64_t tid;		/* of it, as the kernel has it */
	sem_t known, go;
	int wake;		/* an eventfd: the end */
	int result;		/* of the thread, when it has ended */
	int failed;		/* the same while it runs; atomic */
	uint64_t events, lost;	/* when it looked last; atomic */
};

/* --- the thread --- */

/* Takes from those that poll(2) found full enough, until they are empty. */
static int take_ready(struct pdet_recording *r, struct pollfd *p)
{
	bool more = true;
	size_t i;
	int n, turns;

	for (turns = 0; more && turns < 4096; turns++) {
		more = false;
		for (i = 0; i < r->taps.n; i++) {
			/* It is not online. */
			if (p[i].revents & POLLERR)
				p[i].fd = -1;
			if (!(p[i].revents & POLLIN))
				continue;
			n = pdet_tap_take(&r->taps.data[i], TURN);
			if (n < 0)
				return n;
			more = more || n == TURN;
		}
	}
	return 0;
}

/* What a processor has, by the kernel; it is forgotten with the instance. */
static bool stats_of(const struct pdet_recording *r, size_t i,
		     struct pdet_tracefs_stats *ret)
{
	char name[32];

	snprintf(name, sizeof(name), "cpu%u", r->taps.data[i].cpu);
	return pdet_tracefs_stats(r->instance.dir, name, ret);
}

/* For those who want to know it while it is recording. */
static void look(struct pdet_recording *r)
{
	struct pdet_tracefs_stats stats;
	uint64_t events = 0, lost = 0;
	size_t i;

	for (i = 0; i < r->taps.n; i++) {
		if (!stats_of(r, i, &stats))
			return;
		events += stats.read;
		lost += stats.lost;
	}
	__atomic_store_n(&r->events, events, __ATOMIC_RELAXED);
	__atomic_store_n(&r->lost, lost, __ATOMIC_RELAXED);
}

static int loop(struct pdet_recording *r, struct pollfd *p)
{
	const size_t n = r->taps.n;
	uint64_t named = 0, now;
	size_t i;
	int result = 0;

	for (i = 0; i < n; i++)
		p[i] = (struct pollfd){ r->taps.data[i].fd, POLLIN, 0 };
	p[n] = (struct pollfd){ r->wake, POLLIN, 0 };
	while (result == 0 && !p[n].revents) {
		now = pdet_clock_ns(CLOCK_MONOTONIC);
		if (now - named >= NAMES_NS) {
			named = now;
			pdet_about_threads(r->fs, &r->names);
			look(r);
		}
		if (poll(p, n + 1, LOOK_MS) < 0 && errno != EINTR)
			return -errno;
		result = take_ready(r, p);
	}
	return result;
}

static int cannot_keep(struct pdet_recording *r, int result)
{
	errno = -result;
	return pdet_fail_errno(&r->env, "cannot keep what is recorded");
}

static int run(struct pdet_recording *r)
{
	struct pollfd *p;
	int result = pdet_instance_self(&r->env, &r->instance, &r->tid);

	sem_post(&r->known);
	sem_wait(&r->go);
	if (result < 0 || !r->begin_ns)
		return result;
	p = calloc(r->taps.n + 1, sizeof(*p));
	if (!p)
		return pdet_fail(&r->env, ENOMEM, "no memory");
	result = loop(r, p);
	free(p);
	return result < 0 ? cannot_keep(r, result) : 0;
}

static void *thread(void *arg)
{
	struct pdet_recording *r = arg;

	r->result = run(r);
	__atomic_store_n(&r->failed, r->result, __ATOMIC_RELEASE);
	return NULL;
}

static int start_thread(struct pdet_recording *r, struct pdet_env *env)
{
	const int code = pdet_team_thread(&r->thread, thread, r);

	if (code)
		return pdet_fail(env, code, "cannot start a thread");
	r->started = true;
	while (sem_wait(&r->known) && errno == EINTR)
		;
	return 0;
}

static int join(struct pdet_recording *r)
{
	const uint64_t one = 1;

	if (!r->started)
		return r->result;
	r->started = false;
	if (write(r->wake, &one, sizeof(one)) < 0)
		return -errno;
	sem_post(&r->go);
	pthread_join(r->thread, NULL);
	return r->result;
}

/* --- the beginning --- */

/* "cpu12" is 12. */
static bool number_of(const char *name, uint64_t *ret)
{
	struct pdet_scan s = { name, name + strlen(name) };

	return pdet_scan_word(&s, "cpu") && pdet_scan_dec(&s, ret) &&
	       s.at == s.end && *ret <= UINT16_MAX;
}

static int by_number(const void *a, const void *b)
{
	const struct pdet_tap *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static int count_cpus(struct pdet_recording *r, struct pdet_env *env)
{
	DIR *d = pdet_tracefs_list(r->instance.dir, "per_cpu");
	struct pdet_tap none = { .fd = -1, .spool.fd = -1 };
	struct dirent *e;
	uint64_t cpu;

	while (d && (e = readdir(d))) {
		if (!number_of(e->d_name, &cpu))
			continue;
		none.cpu = (uint32_t)cpu;
		if (!pdet_vec_push(&r->taps, none)) {
			closedir(d);
			return pdet_fail(env, ENOMEM, "no memory");
		}
	}
	if (d)
		closedir(d);
	if (!r->taps.n)
		return pdet_fail(env, ENOTSUP, "cannot record allocations: a "
				 "trace instance has no processors");
	qsort(r->taps.data, r->taps.n, sizeof(*r->taps.data), by_number);
	return 0;
}

/* By default the buffers of many processors are smaller. */
static uint64_t buffer_of(const struct pdet_recording *r, uint64_t wanted)
{
	const long pages = sysconf(_SC_PHYS_PAGES);
	const uint64_t memory = (uint64_t)PDET_MAX(pages, 1) *
				(uint64_t)sysconf(_SC_PAGESIZE);

	if (wanted)
		return PDET_MAX(wanted, LEAST_BUFFER);
	return PDET_MAX(PDET_MIN(BUFFER, memory / MEMORY_PARTS / r->taps.n),
			LEAST_BUFFER);
}

static int page_of(struct pdet_recording *r, struct pdet_env *env)
{
	struct pdet_text *text = &r->about.header_page;
	struct pdet_ring_layout layout;
	int code = pdet_about_page(env, r->fs, r->instance.dir, text);

	if (code < 0)
		return code;
	if (pdet_ring_layout_parse(text->data, text->len, false, &layout) < 0)
		return pdet_fail(env, ENOTSUP, "cannot record allocations: "
				 "events/header_page of this kernel has "
				 "another form");
	r->page = layout.bytes;
	return 0;
}

static int open_taps(struct pdet_recording *r, struct pdet_env *env,
		     const char *folder)
{
	size_t i;
	int code;

	for (i = 0; i < r->taps.n; i++) {
		struct pdet_tap *t = &r->taps.data[i];

		code = pdet_tap_open(t, r->instance.dir, t->cpu, folder,
				     r->page, r->buffer);
		r->mapped += t->map != NULL;
		if (code == 0)
			continue;
		errno = -code;
		return pdet_fail_errno(env, "cannot record processor %u: its "
				       "buffer, or a file in %s", t->cpu,
				       folder);
	}
	return 0;
}

static int start(struct pdet_recording *r, struct pdet_env *env,
		 const struct pagedet_record_options *o)
{
	struct pdet_instance_wants w = { .clock = CLOCK, .buffer = r->buffer,
					 .pages = r->pages,
					 .stacks = o->flags &
						   PAGEDET_RECORD_STACKS };
	int code = start_thread(r, env);

	if (code == 0 && !r->tid)
		return pdet_fail(env, EIO, "%s", r->env.error);
	if (code == 0 && o->flags & PAGEDET_RECORD_NOT_CALLER) {
		code = pdet_instance_self(env, &r->instance, &w.without[1]);
		w.n_without++;
	}
	w.without[0] = r->tid;
	w.n_without++;
	if (code == 0)
		code = pdet_instance_set_up(env, &r->instance, &w);
	if (code < 0)
		return code;
	pdet_tracefs_put(r->instance.dir, "buffer_percent", PERCENT);
	code = open_taps(r, env, o->folder ? o->folder : "/var/tmp");
	if (code == 0)
		code = pdet_instance_switch(env, &r->instance, true);
	if (code < 0)
		return code;
	r->begin_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	sem_post(&r->go);
	return 0;
}

int pdet_record_new(struct pdet_env *env,
		    const struct pagedet_record_options *o,
		    struct pdet_recording **ret)
{
	static char no_root[1];
	struct pdet_recording *r = calloc(1, sizeof(*r));
	int code;

	if (!r)
		return pdet_fail(env, ENOMEM, "no memory");
	r->env.root = no_root;
	sem_init(&r->known, 0, 0);
	sem_init(&r->go, 0, 0);
	r->wake = eventfd(0, EFD_CLOEXEC);
	r->fs = pdet_tracefs_open();
	r->pages = o->flags & PAGEDET_RECORD_PAGES;
	code = pdet_instance_new(env, "record allocations", &r->instance);
	if (code == 0 && (r->wake < 0 || r->fs < 0))
		code = pdet_fail_errno(env, "cannot record allocations");
	if (code == 0)
		code = count_cpus(r, env);
	if (code == 0)
		code = page_of(r, env);
	if (code == 0) {
		r->buffer = buffer_of(r, o->buffer);
		code = start(r, env, o);
	}
	if (code < 0) {
		pdet_record_free(r);
		return code;
	}
	*ret = r;
	return 0;
}

/* --- the end --- */

static int count(struct pdet_recording *r, size_t i)
{
	return stats_of(r, i, &r->stats[i]) ? 0 :
	       pdet_fail(&r->env, EIO, "cannot read the losses of processor "
			 "%u", r->taps.data[i].cpu);
}

/*
 * Takes the rest of a processor. An event that was begun before the end may
 * come a moment later.
 */
static int take_rest(struct pdet_recording *r, size_t i)
{
	const struct timespec moment = { .tv_nsec = MOMENT_NS };
	struct pdet_tap *t = &r->taps.data[i];
	unsigned tries;
	int code = 0;

	for (tries = 0; code == 0 && tries < TRIES; tries++) {
		if (tries)
			nanosleep(&moment, NULL);
		while ((code = pdet_tap_take(t, TURN)) == TURN)
			;
		code = code < 0 ? cannot_keep(r, code) : count(r, i);
		if (code == 0 && !r->stats[i].left)
			break;
	}
	if (code == 0) {
		code = pdet_tap_end(t);
		code = code < 0 ? cannot_keep(r, code) : 0;
	}
	return code;
}

static int finish(struct pdet_recording *r)
{
	size_t i;
	int code = 0;

	r->stats = calloc(r->taps.n, sizeof(*r->stats));
	if (!r->stats)
		return pdet_fail(&r->env, ENOMEM, "no memory");
	for (i = 0; i < r->taps.n && code == 0; i++)
		code = take_rest(r, i);
	pdet_about_threads(r->fs, &r->names);
	return code < 0 ? code :
			  pdet_about(&r->env, r->fs, r->pages, &r->about);
}

/* Removes the instance; what was taken stays. */
static void leave(struct pdet_recording *r)
{
	size_t i;

	for (i = 0; i < r->taps.n; i++)
		pdet_tap_leave(&r->taps.data[i]);
	pdet_instance_end(&r->instance);
}

int pdet_record_stop(struct pdet_recording *r, struct pdet_env *env)
{
	int code = 0;

	if (!r->stopped) {
		r->stopped = true;
		code = pdet_instance_switch(&r->env, &r->instance, false);
		r->end_ns = pdet_clock_ns(CLOCK_MONOTONIC);
		join(r);
		if (r->result == 0)
			r->result = code;
		if (r->result == 0)
			r->result = finish(r);
		leave(r);
	}
	if (r->result < 0)
		pdet_take_words(env, &r->env);
	return r->result;
}

static struct pdet_dat_cpu *cpus_of(const struct pdet_recording *r)
{
	struct pdet_dat_cpu *cpus = calloc(r->taps.n, sizeof(*cpus));
	size_t i;

	for (i = 0; cpus && i < r->taps.n; i++)
		cpus[i] = (struct pdet_dat_cpu){
			r->taps.data[i].cpu, r->taps.data[i].spool.fd,
			r->taps.data[i].spool.bytes, r->stats[i].text };
	return cpus;
}

int pdet_record_write(struct pdet_recording *r, struct pdet_env *env, int fd)
{
	struct pdet_dat_parts parts;
	struct pdet_dat_cpu *cpus;
	struct stat st;
	int code;

	if (fstat(fd, &st))
		return pdet_fail_errno(env, "cannot write a trace");
	if (!S_ISREG(st.st_mode))
		return pdet_fail(env, EINVAL, "cannot write a trace: it must "
				 "be a regular file");
	code = pdet_record_stop(r, env);
	if (code < 0)
		return code;
	parts = r->about;
	parts.page = r->page;
	parts.clock = CLOCK;
	parts.n_cpus = (uint32_t)r->taps.n;
	parts.cpus = cpus = cpus_of(r);
	parts.threads.data = pdet_thread_names_text(&r->names,
						    &parts.threads.len);
	code = cpus && parts.threads.data ? pdet_dat_write(env, fd, &parts) :
	       pdet_fail(env, ENOMEM, "no memory");
	pdet_text_free(&parts.threads);
	free(cpus);
	return code;
}

/* The size that would have held what came, in whole MB; 0: it did. */
static uint64_t needed(const struct pdet_recording *r)
{
	uint64_t most = r->buffer * 2;
	size_t i;

	for (i = 0; i < r->taps.n; i++)
		most = PDET_MAX(most, r->taps.data[i].most +
				r->taps.data[i].most / 4);
	return (most + (1 << 20) - 1) >> 20 << 20;
}

void pdet_record_total(const struct pdet_recording *r,
		       struct pagedet_record_total *ret)
{
	size_t i;

	*ret = (struct pagedet_record_total){
		.begin_ns = r->begin_ns, .buffer = r->buffer,
		.end_ns = r->stopped ? r->end_ns :
			  pdet_clock_ns(CLOCK_MONOTONIC),
		.cpus = (uint32_t)r->taps.n, .mapped = r->mapped,
		.error = (uint32_t)-__atomic_load_n(&r->failed,
						    __ATOMIC_ACQUIRE) };
	for (i = 0; i < r->taps.n; i++)
		ret->bytes += pdet_spool_bytes(&r->taps.data[i].spool);
	if (!r->stats) {
		ret->events = __atomic_load_n(&r->events, __ATOMIC_RELAXED);
		ret->lost = __atomic_load_n(&r->lost, __ATOMIC_RELAXED);
		return;
	}
	for (i = 0; i < r->taps.n; i++) {
		ret->events += r->stats[i].read;
		ret->lost += r->stats[i].lost + r->stats[i].left;
	}
	if (ret->lost)
		ret->buffer_needed = needed(r);
}

void pdet_record_free(struct pdet_recording *r)
{
	size_t i;

	if (!r)
		return;
	if (r->instance.on >= 0)
		pdet_instance_switch(&r->env, &r->instance, false);
	join(r);
	leave(r);
	for (i = 0; i < r->taps.n; i++)
		pdet_spool_close(&r->taps.data[i].spool);
	pdet_about_free(&r->about);
	if (r->fs >= 0)
		close(r->fs);
	if (r->wake >= 0)
		close(r->wake);
	sem_destroy(&r->known);
	sem_destroy(&r->go);
	pdet_vec_free(&r->taps);
	pdet_thread_names_free(&r->names);
	free(r->stats);
	free(r);
}
