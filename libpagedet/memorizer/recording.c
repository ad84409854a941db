/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * An object may be freed after it was printed and before what was printed is
 * cleared: its end would be lost. So live objects are not printed until the
 * recording ends, where the kernel has a switch for that. Where it has not, or
 * cannot clear only what was printed, Memorizer is off during a drain: that
 * time is told.
 *
 * Since 6.6.30, who opens kmap turns Memorizer off. There kmap_stream gives
 * each freed object once, and forgets it. Its reads wait until an object is
 * freed, for ever if Memorizer is off, and only a signal ends them: that of
 * pthread_cancel(). Its open binds the thread to a processor.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/team.h"
#include "memorizer/merge.h"
#include "memorizer/recording.h"
#include "memorizer/saved.h"
#include "memorizer/shortage.h"

/* ms between two looks. */
#define LOOK_MS 100
/* ns between two drains that do not stop Memorizer. */
#define DRAIN_NS 1000000000u
/* A stream without an object for so long, while Memorizer is off, has no
 * more. */
#define QUIET_NS 300000000u
#define MOMENT_NS 5000000
#define BLOCK ((size_t)1 << 16)
#define MOST_MEMINFO ((size_t)1 << 16)
/* A thread that is ended in a read leaves functions without a return, after
 * which AddressSanitizer would take their frames for guarded memory. */
#define UNGUARDED __attribute__((no_sanitize_address))

struct pdet_kmap_recording {
	struct pdet_env env;	/* of the thread; no log */
	struct pdet_memorizer m;
	struct pdet_memorizer_saved saved;
	struct pdet_merge merge;
	struct pagedet_kmap_record_total total;
	uint64_t mode;		/* what is written to turn it on */
	uint64_t drain_ns, drained_ns;
	bool is_saved, stopped;
	bool switches_off;	/* during a drain */
	bool stops_itself;	/* when kmap is opened */
	char *block;
	int reading;		/* what a thread that was ended had open */
	/* The thread. */
	pthread_t thread;
	bool started;
	sem_t known;
	int wake;		/* an eventfd: the end */
	pthread_mutex_t lock;	/* of the next two */
	bool ending;
	bool is_on;		/* as far as this recording has set it */
	atomic_bool done;
	atomic_bool gives_up;	/* nobody waits for the rest */
	_Atomic uint64_t busy_ns; /* when the stream gave something */
	atomic_int failed;	/* as result, while it runs */
	int result;
};

static bool has(const struct pdet_kmap_recording *r, uint32_t control)
{
	return r->m.path[control];
}

/* --- switches --- */

static int switch_accesses(struct pdet_kmap_recording *r,
			   struct pdet_env *env, uint64_t value)
{
	return !has(r, PAGEDET_MEMORIZER_LOG_ACCESSES) ? 0 :
	       pdet_memorizer_put(&r->m, env, PAGEDET_MEMORIZER_LOG_ACCESSES,
				  value);
}

/* Accesses first: no object shall be without those to it. */
static int turn_on(struct pdet_kmap_recording *r, struct pdet_env *env)
{
	int code = switch_accesses(r, env, 1);

	if (code == 0)
		code = pdet_memorizer_set(&r->m, env,
					  PAGEDET_MEMORIZER_ENABLED, r->mode);
	r->is_on = code == 0;
	return code;
}

/* The first generations count accesses even if the other switch is off. */
static int turn_off(struct pdet_kmap_recording *r, struct pdet_env *env)
{
	int code = pdet_memorizer_put(&r->m, env, PAGEDET_MEMORIZER_ENABLED,
				      0);

	return code < 0 ? code : switch_accesses(r, env, 0);
}

/* Sets *@ret to whether it is on. */
static int look(struct pdet_kmap_recording *r, struct pdet_env *env, bool *ret)
{
	struct pdet_memorizer_value v;
	const int code = pdet_memorizer_get(&r->m, env,
					    PAGEDET_MEMORIZER_ENABLED, &v);

	if (code == 0)
		*ret = v.value;
	return code;
}

/* Someone else may have turned it off: that is not undone. */
static int look_for_others(struct pdet_kmap_recording *r, struct pdet_env *env)
{
	bool on = true;
	int code = r->is_on ? look(r, env, &on) : 0;

	if (!on) {
		r->total.disturbed = 1;
		r->is_on = false;
	}
	return code;
}

/* --- a drain --- */

static bool is_given_up(struct pdet_kmap_recording *r, struct pdet_env *env)
{
	if (env->stop && env->stop(env->stop_arg))
		r->gives_up = true;
	return r->gives_up;
}

/* Where a thread that waits can be ended. */
UNGUARDED static ssize_t read_some(struct pdet_kmap_recording *r, int fd)
{
	int before;
	ssize_t n;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
	n = read(fd, r->block, BLOCK);
	pthread_setcancelstate(before, NULL);
	return n < 0 ? -errno : n;
}

static int cannot_keep(struct pdet_env *env, int code)
{
	errno = -code;
	return pdet_fail_errno(env, "cannot keep what is recorded");
}

static void close_reading(struct pdet_kmap_recording *r)
{
	if (r->reading >= 0)
		close(r->reading);
	r->reading = -1;
}

/* All of the text, to its end. */
UNGUARDED static int read_kmap(struct pdet_kmap_recording *r,
			       struct pdet_env *env)
{
	const char *path = r->m.path[PAGEDET_MEMORIZER_KMAP];
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int code = 0;
	ssize_t n = 1;

	r->reading = fd;
	while (fd >= 0 && code == 0 && n && !is_given_up(r, env)) {
		n = read_some(r, fd);
		if (n == -EINTR)
			n = 1;
		else if (n < 0)
			break;
		else
			code = pdet_merge_feed(&r->merge, r->block, (size_t)n);
	}
	errno = fd < 0 ? errno : n < 0 ? (int)-n : 0;
	if (errno)
		code = pdet_fail_errno(env, "cannot read %s", path);
	else if (code < 0)
		code = cannot_keep(env, code);
	else if (n)
		code = pdet_fail(env, ECANCELED, "reading %s was ended early",
				 path);
	close_reading(r);
	return code;
}

/* What clears only what was read so far; -1: nothing. */
static int clearing(const struct pdet_kmap_recording *r)
{
	return has(r, PAGEDET_MEMORIZER_CLEAR_PRINTED) ?
		       PAGEDET_MEMORIZER_CLEAR_PRINTED :
	       has(r, PAGEDET_MEMORIZER_CLEAR_DEAD) ?
		       PAGEDET_MEMORIZER_CLEAR_DEAD : -1;
}

/* A kernel that is busy does it the next time. */
static bool clear(struct pdet_kmap_recording *r)
{
	const int control = clearing(r);
	struct pdet_env unheard = { .root = r->m.root };

	if (control >= 0 && pdet_memorizer_put(&r->m, &unheard,
					       (uint32_t)control, 1) == 0)
		return true;
	r->total.uncleared += control >= 0;
	return false;
}

UNGUARDED static int take(struct pdet_kmap_recording *r,
			  struct pdet_env *env, bool is_last)
{
	int code;

	r->total.drains++;
	pdet_merge_begin(&r->merge, is_last);
	code = read_kmap(r, env);
	if (code == 0)
		pdet_merge_end(&r->merge, clear(r));
	return code;
}

/* Turns it on again if the drain has turned it off. */
static int resume(struct pdet_kmap_recording *r, struct pdet_env *env,
		  uint64_t since)
{
	bool on = true;
	int code = 0;

	pthread_mutex_lock(&r->lock);
	if (!r->ending && r->is_on)
		code = look(r, env, &on);
	if (code == 0 && !on)
		code = turn_on(r, env);
	pthread_mutex_unlock(&r->lock);
	if (on)
		return code;
	r->stops_itself = r->stops_itself || !r->switches_off;
	r->total.gaps++;
	r->total.gap_ns += pdet_clock_ns(CLOCK_MONOTONIC) - since;
	return code;
}

UNGUARDED static int drain(struct pdet_kmap_recording *r)
{
	struct pdet_env *env = &r->env;
	uint64_t since;
	bool is_over;
	int code;

	pthread_mutex_lock(&r->lock);
	is_over = r->ending;
	code = is_over ? 0 : look_for_others(r, env);
	since = pdet_clock_ns(CLOCK_MONOTONIC);
	if (code == 0 && !is_over && r->switches_off && r->is_on)
		code = turn_off(r, env);
	pthread_mutex_unlock(&r->lock);
	if (code < 0 || is_over)
		return code;
	code = take(r, env, false);
	if (code == 0)
		code = resume(r, env, since);
	r->drained_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	return code;
}

/* Memorizer is off: nothing changes any more. */
static int drain_last(struct pdet_kmap_recording *r, struct pdet_env *env)
{
	int code = 0;

	if (has(r, PAGEDET_MEMORIZER_LOG_LIVE))
		code = pdet_memorizer_put(&r->m, env,
					  PAGEDET_MEMORIZER_LOG_LIVE, 1);
	return code < 0 ? code : take(r, env, true);
}

/* --- the thread --- */

static bool is_short(struct pdet_kmap_recording *r)
{
	struct pdet_text text;
	bool ret;

	if (pdet_slurp(&r->env, &text, MOST_MEMINFO, "/proc/meminfo") < 0)
		return false;
	ret = pdet_is_short((struct pdet_scan){ text.data,
						text.data + text.len });
	pdet_text_free(&text);
	return ret;
}

static bool is_due(struct pdet_kmap_recording *r)
{
	const uint64_t gone = pdet_clock_ns(CLOCK_MONOTONIC) - r->drained_ns;

	/* It would only read the same again. */
	if (clearing(r) < 0)
		return false;
	if (r->drain_ns)
		return gone >= r->drain_ns;
	if (!r->switches_off && !r->stops_itself)
		return gone >= DRAIN_NS;
	return gone >= DRAIN_NS && is_short(r);
}

static bool is_woken(const struct pdet_kmap_recording *r, int ms)
{
	struct pollfd p = { .fd = r->wake, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

UNGUARDED static int drain_often(struct pdet_kmap_recording *r)
{
	int code = 0;

	while (code == 0 && !is_woken(r, LOOK_MS))
		if (is_due(r))
			code = drain(r);
	return code;
}

/* A kernel's stream does not end; another one is looked at again. */
UNGUARDED static int take_stream(struct pdet_kmap_recording *r, int fd)
{
	ssize_t n;
	int code = 0;

	pdet_merge_begin(&r->merge, false);
	while (code == 0) {
		n = read_some(r, fd);
		if (n > 0) {
			r->busy_ns = pdet_clock_ns(CLOCK_MONOTONIC);
			code = pdet_merge_feed(&r->merge, r->block, (size_t)n);
		} else if (n < 0 && n != -EINTR && n != -EAGAIN) {
			errno = (int)-n;
			return pdet_fail_errno(&r->env, "cannot read %s",
				r->m.path[PAGEDET_MEMORIZER_KMAP_STREAM]);
		} else if (is_woken(r, LOOK_MS)) {
			return 0;
		}
	}
	return cannot_keep(&r->env, code);
}

/* One that cannot be opened, for example twice, is done without. */
static int open_stream(const struct pdet_kmap_recording *r)
{
	return r->total.streamed ?
		       open(r->m.path[PAGEDET_MEMORIZER_KMAP_STREAM],
			    O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
}

UNGUARDED static void *thread(void *arg)
{
	struct pdet_kmap_recording *r = arg;
	int stream;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	r->reading = stream = open_stream(r);
	r->total.streamed = stream >= 0;
	sem_post(&r->known);
	r->result = stream >= 0 ? take_stream(r, stream) : drain_often(r);
	close_reading(r);
	r->failed = r->result;
	r->done = true;
	return NULL;
}

static int start_thread(struct pdet_kmap_recording *r, struct pdet_env *env)
{
	const int code = pdet_team_thread(&r->thread, thread, r);

	if (code)
		return pdet_fail(env, code, "cannot start a thread");
	r->started = true;
	while (sem_wait(&r->known) && errno == EINTR)
		;
	return 0;
}

/* Whether it waits for an object that will not come, or for nobody. */
static bool is_idle(struct pdet_kmap_recording *r, struct pdet_env *env,
		    uint64_t since)
{
	const uint64_t busy = PDET_MAX(r->busy_ns, since);

	return is_given_up(r, env) ||
	       (r->total.streamed &&
		pdet_clock_ns(CLOCK_MONOTONIC) > busy + QUIET_NS);
}

static void end_thread(struct pdet_kmap_recording *r, struct pdet_env *env)
{
	const struct timespec moment = { .tv_nsec = MOMENT_NS };
	const uint64_t one = 1, since = pdet_clock_ns(CLOCK_MONOTONIC);

	if (!r->started)
		return;
	r->started = false;
	if (write(r->wake, &one, sizeof(one)) < 0)
		r->gives_up = true;
	while (!r->done && !is_idle(r, env, since))
		nanosleep(&moment, NULL);
	if (!r->done)
		pthread_cancel(r->thread);
	pthread_join(r->thread, NULL);
	close_reading(r);
}

/* --- beginning --- */

/* What it would have used, and does without. */
static void look_for_lacks(struct pdet_kmap_recording *r)
{
	const uint32_t wants[] = { PAGEDET_MEMORIZER_LOG_ACCESSES,
				   PAGEDET_MEMORIZER_LOG_LIVE,
				   PAGEDET_MEMORIZER_CLEAR_DEAD,
				   PAGEDET_MEMORIZER_CLEAR_PRINTED };
	size_t i;

	for (i = 0; i < PDET_COUNT(wants); i++)
		if (!has(r, wants[i]))
			r->total.lacks |= 1u << wants[i];
	r->switches_off = !has(r, PAGEDET_MEMORIZER_CLEAR_PRINTED) ||
			  !has(r, PAGEDET_MEMORIZER_LOG_LIVE);
}

static int prepare(struct pdet_kmap_recording *r, struct pdet_env *env,
		   const struct pagedet_kmap_record_options *o)
{
	const char *folder = o->folder ? o->folder : "/var/tmp";
	int code;

	if (!has(r, PAGEDET_MEMORIZER_KMAP))
		return pdet_memorizer_lacks(env, PAGEDET_MEMORIZER_KMAP);
	if (flock(r->m.dir, LOCK_EX | LOCK_NB))
		return errno != EWOULDBLOCK ?
			       pdet_fail_errno(env, "cannot lock Memorizer") :
			       pdet_fail(env, EAGAIN, "cannot record: another "
					 "recording of Memorizer is running");
	r->wake = eventfd(0, EFD_CLOEXEC);
	r->block = malloc(BLOCK);
	if (r->wake < 0 || !r->block)
		return pdet_fail(env, ENOMEM, "no memory");
	code = pdet_merge_open(&r->merge, folder);
	errno = -code;
	return code < 0 ? pdet_fail_errno(env, "cannot record into a file in "
					  "%s", folder) : 0;
}

static int begin(struct pdet_kmap_recording *r, struct pdet_env *env,
		 const struct pagedet_kmap_record_options *o)
{
	int code = pdet_memorizer_save(&r->m, env, o->pid, &r->saved);

	if (code < 0)
		return code;
	r->is_saved = true;
	r->total.was_on = r->saved.value[PAGEDET_MEMORIZER_ENABLED] != 0;
	code = turn_off(r, env);
	if (code == 0 && has(r, PAGEDET_MEMORIZER_CLEAR_DEAD))
		code = pdet_memorizer_put(&r->m, env,
					  PAGEDET_MEMORIZER_CLEAR_DEAD, 1);
	if (code == 0 && has(r, PAGEDET_MEMORIZER_LOG_LIVE))
		code = pdet_memorizer_put(&r->m, env,
					  PAGEDET_MEMORIZER_LOG_LIVE, 0);
	r->drained_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	if (code == 0)
		code = start_thread(r, env);
	if (code < 0)
		return code;
	pthread_mutex_lock(&r->lock);
	r->total.begin_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	code = turn_on(r, env);
	pthread_mutex_unlock(&r->lock);
	return code;
}

int pdet_kmap_record_new(struct pdet_env *env,
			 const struct pagedet_kmap_record_options *o,
			 struct pdet_kmap_recording **ret)
{
	struct pdet_kmap_recording *r = calloc(1, sizeof(*r));
	int code;

	if (!r)
		return pdet_fail(env, ENOMEM, "no memory");
	r->m.dir = r->wake = r->reading = r->merge.spool.fd = -1;
	sem_init(&r->known, 0, 0);
	pthread_mutex_init(&r->lock, NULL);
	r->mode = o->pid ? o->pid : 1;
	r->drain_ns = o->drain_ns;
	code = pdet_memorizer_find(env, &r->m);
	if (code == 0) {
		r->env.root = r->m.root;
		r->total.streamed = has(r, PAGEDET_MEMORIZER_KMAP_STREAM);
		look_for_lacks(r);
		code = prepare(r, env, o);
	}
	if (code == 0)
		code = begin(r, env, o);
	if (code < 0) {
		pdet_kmap_record_free(r);
		return code;
	}
	*ret = r;
	return 0;
}

/* --- the end --- */

static int finish(struct pdet_kmap_recording *r, struct pdet_env *env)
{
	int code;

	pthread_mutex_lock(&r->lock);
	r->ending = true;
	code = look_for_others(r, env);
	if (code == 0)
		code = turn_off(r, env);
	pthread_mutex_unlock(&r->lock);
	r->total.end_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	end_thread(r, env);
	if (code == 0 && r->result < 0) {
		pdet_take_words(env, &r->env);
		code = r->result;
	}
	/* Of the stream: a part of a line that is not complete. */
	if (code == 0 && r->total.streamed)
		pdet_merge_end(&r->merge, true);
	return code < 0 ? code : drain_last(r, env);
}

int pdet_kmap_record_stop(struct pdet_kmap_recording *r, struct pdet_env *env)
{
	struct pdet_env second = { .root = r->m.root };
	int code;

	if (r->stopped) {
		if (r->result < 0)
			pdet_take_words(env, &r->env);
		return r->result;
	}
	r->stopped = true;
	code = finish(r, env);
	r->result = pdet_memorizer_restore(&r->m, code < 0 ? &second : env,
					   &r->saved);
	if (code < 0)
		r->result = code;
	pdet_take_words(&r->env, env);
	flock(r->m.dir, LOCK_UN);
	return r->result;
}

int pdet_kmap_record_write(struct pdet_kmap_recording *r, struct pdet_env *env,
			   int fd)
{
	int code = pdet_kmap_record_stop(r, env);

	if (code < 0)
		return code;
	code = pdet_merge_write(&r->merge, fd);
	errno = -code;
	return code < 0 ? pdet_fail_errno(env, "cannot write a KMAP") : 0;
}

void pdet_kmap_record_total(const struct pdet_kmap_recording *r,
			    struct pagedet_kmap_record_total *ret)
{
	if (!r->stopped) {
		*ret = (struct pagedet_kmap_record_total){
			.begin_ns = r->total.begin_ns,
			.end_ns = pdet_clock_ns(CLOCK_MONOTONIC),
			.lacks = r->total.lacks, .was_on = r->total.was_on,
			.streamed = r->total.streamed,
			.error = (uint32_t)-r->failed };
		return;
	}
	*ret = r->total;
	ret->objects = r->merge.objects;
	ret->live = r->merge.n_live;
	ret->accesses = r->merge.accesses;
	ret->bytes = r->merge.bytes;
	ret->repeated = r->merge.repeated;
	ret->vanished = r->merge.vanished;
	ret->strange = r->merge.strange;
	ret->cut = r->merge.cut;
	ret->error = (uint32_t)-r->result;
}

void pdet_kmap_record_free(struct pdet_kmap_recording *r)
{
	struct pdet_env unheard = { .root = r ? r->m.root : NULL };

	if (!r)
		return;
	if (r->is_saved && !r->stopped) {
		r->gives_up = true;
		pdet_kmap_record_stop(r, &unheard);
	}
	pdet_merge_close(&r->merge);
	if (r->wake >= 0)
		close(r->wake);
	pthread_mutex_destroy(&r->lock);
	sem_destroy(&r->known);
	free(r->block);
	if (r->m.root)
		pdet_memorizer_forget(&r->m);
	free(r);
}
