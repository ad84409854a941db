/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads text with several threads. One thread at a time reads a block to its
 * own memory, and all threads parse their blocks in parallel. Files, pipes and
 * compressed text are thus alike. While the caller's thread waits for its turn,
 * it reports progress.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/text_kind.h"
#include "base/team.h"
#include "kernel/owner/blocks.h"
#include "kernel/owner/live.h"
#include "owners/read.h"

struct reading {
	struct pdet_owners_reading *to;
	struct pdet_text_stream *stream;
	struct pdet_owner_blocks blocks;
	pthread_mutex_t lock;
	pthread_cond_t free;	/* no thread is reading */
	bool busy;
	unsigned reader;	/* the thread that reads */
	ssize_t end;		/* how the text ended */
	atomic_int error;	/* without memory */
	struct pdet_owner_count *counts;
};

/* --- shared by both ways to read --- */

struct pdet_owner_count *
pdet_owners_parts(const struct pdet_owners_reading *r, unsigned *n)
{
	struct pdet_owner_count *parts = calloc(r->threads, sizeof(*parts));

	for (*n = 0; parts && *n < r->threads; ++*n)
		if (!pdet_owner_count_init(&parts[*n], r->asked))
			break;
	if (parts && *n)
		return parts;
	free(parts);
	return NULL;
}

static void add_left(struct pdet_owner_left *to,
		     const struct pdet_owner_left *from)
{
	to->filtered += from->filtered;
	to->undecided += from->undecided;
	to->damaged += from->damaged;
	to->has_log |= from->has_log;
	to->unprinted += from->unprinted;
	to->text_bytes += from->text_bytes;
	to->numbers += from->numbers;
}

/* The first part becomes the sum. */
int pdet_owners_add_up(struct pdet_owners_reading *r,
		       struct pdet_owner_count *parts, unsigned n)
{
	int code = 0;
	unsigned i;

	r->sum = parts[0];
	for (i = 1; i < n; i++) {
		if (code == 0 && !pdet_owner_table_add(&r->sum.table,
						       &parts[i].table))
			code = -ENOMEM;
		add_left(&r->sum.left, &parts[i].left);
		pdet_owner_count_free(&parts[i]);
	}
	free(parts);
	return code;
}

int pdet_owners_no_memory(struct pdet_env *env)
{
	return pdet_fail(env, ENOMEM, "cannot group the records of page_owner: "
			 "no memory");
}

int pdet_owners_judge(struct pdet_owners_reading *r, const char *name, int end)
{
	const struct pdet_owner_left *left = &r->sum.left;
	const bool stopped = atomic_load(&r->watch->stopped);

	r->partial = end < 0 || stopped || left->damaged || left->unprinted;
	if (stopped) {
		pdet_clear(r->env);
		return 0;
	}
	if (r->sum.table.totals.n || left->filtered || left->undecided) {
		if (end < 0)
			pdet_log(r->env, PAGEDET_LOG_WARNING, "%s",
				 r->env->error);
		if (left->has_log)
			pdet_text_tell_log(r->env, name);
		return 0;
	}
	if (end < 0)
		return end;
	if (!left->text_bytes && !left->unprinted)
		return pdet_fail(r->env, EBADMSG, "cannot read %s: it is empty",
				 name);
	return pdet_fail(r->env, EBADMSG, "cannot read %s: there is no record "
			 "of page_owner in it", name);
}

/* --- a stream --- */

static void wait_turn(struct reading *r, bool caller)
{
	struct pdet_watch *w = r->to->watch;
	struct timespec until;
	int ms = 0;

	/* The reading thread checks the deadline. */
	if (!caller || !w->progress) {
		pthread_cond_wait(&r->free, &r->lock);
		return;
	}
	pthread_mutex_unlock(&r->lock);
	pdet_watch_stopped(w, true, &ms);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&r->lock);
	if (r->busy)
		pthread_cond_timedwait(&r->free, &r->lock, &until);
}

/* Reads the next block; 0 at the end. */
static size_t next_block(struct reading *r, unsigned who, char *buf,
			 bool *last)
{
	ssize_t n = 0;

	pthread_mutex_lock(&r->lock);
	while (r->busy)
		wait_turn(r, who == 0);
	if (r->end > 0) {
		r->busy = true;
		r->reader = who;
		pthread_mutex_unlock(&r->lock);
		n = pdet_owner_blocks_read(&r->blocks, r->to->env, buf);
		*last = pdet_text_stream_whole(r->stream);
		pthread_mutex_lock(&r->lock);
		r->busy = false;
		if (n <= 0)
			r->end = n;
		/* At the end, nobody else would wake the others. */
		if (n <= 0)
			pthread_cond_broadcast(&r->free);
		else
			pthread_cond_signal(&r->free);
	}
	pthread_mutex_unlock(&r->lock);
	return n > 0 ? (size_t)n : 0;
}

static void read_some(void *arg, unsigned who)
{
	struct reading *r = arg;
	char *buf = malloc(PDET_OWNER_BLOCK);
	bool last = false;
	size_t n;

	/* If a stream is cancelled, the records so far are kept. */
	while (buf && !atomic_load(&r->error)) {
		n = next_block(r, who, buf, &last);
		if (!n)
			break;
		if (!pdet_owner_count_block(&r->counts[who], buf,
					    pdet_owner_blocks_plain(&r->blocks,
								    buf, n),
					    last))
			atomic_store(&r->error, ENOMEM);
		atomic_fetch_add_explicit(&r->to->watch->done, n,
					  memory_order_relaxed);
	}
	if (!buf)
		atomic_store(&r->error, ENOMEM);
	free(buf);
}

static void run(struct reading *r, unsigned n)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->free, &attr);
	pthread_condattr_destroy(&attr);
	pdet_team_run(n, read_some, r);
	pthread_cond_destroy(&r->free);
	pthread_mutex_destroy(&r->lock);
}

/* Refuses a page_owner file that lacks parts of records. */
static int refuse_half(struct pdet_env *env, const char *name,
		       const char *missing)
{
	pdet_fail(env, ENOTSUP, "cannot group %s: it has handles instead of %s",
		  name, missing);
	pdet_advise(env, "show_stacks in the same directory has stacks and "
		    "counts; so has page_owner");
	return -ENOTSUP;
}

/* It has sums, but not of stacks. */
static int refuse_culled(struct pdet_owners_reading *to, const char *name)
{
	struct pdet_env *env = to->env;

	to->refused = true;
	pdet_fail(env, EBADMSG, "cannot group %s: page_owner_sort has written "
		  "it, and left out the stacks", name);
	pdet_advise(env, "give the text that it has read, of "
		    "/sys/kernel/debug/page_owner");
	return -EBADMSG;
}

static int read_stream(struct reading *r)
{
	struct pdet_owners_reading *to = r->to;
	struct pdet_scan head;
	const char *missing;
	bool stacks;
	unsigned n;
	int code = pdet_owner_blocks_begin(&r->blocks, r->stream, to->env,
					   &head);

	/* A caller whose deadline has come gets an empty result. */
	if (code < 0 && atomic_load(&to->watch->stopped))
		return pdet_owners_judge(to, "", code);
	if (code < 0)
		return code;
	if (pdet_owner_is_sorted(&head, &stacks) && !stacks)
		return refuse_culled(to, pdet_text_stream_name(r->stream));
	missing = pdet_owner_half(&head);
	if (missing)
		return refuse_half(to->env, pdet_text_stream_name(r->stream),
				   missing);
	/* The size of compressed text is not known. */
	if (pdet_text_stream_packed(r->stream))
		to->watch->total = 0;
	r->counts = pdet_owners_parts(to, &n);
	if (!r->counts)
		return pdet_owners_no_memory(to->env);
	run(r, n);
	code = pdet_owners_add_up(to, r->counts, n);
	if (code < 0 || atomic_load(&r->error))
		return pdet_owners_no_memory(to->env);
	return pdet_owners_judge(to, pdet_text_stream_name(r->stream),
				 r->end < 0 ? (int)r->end : 0);
}

static int must_stop(void *arg, int *ms)
{
	struct reading *r = arg;

	return pdet_watch_stopped(r->to->watch, r->reader == 0, ms);
}

/* Returns 0 if it is not known. */
static uint64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ?
	       (uint64_t)st.st_size : 0;
}

static int open_live(struct pdet_owners_reading *to, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), r;

	if (fd < 0)
		return pdet_fail_errno(to->env, "cannot open %s", path);
	r = pdet_owners_read_live(to, fd, path);
	close(fd);
	return r;
}

int pdet_owners_read_path(struct pdet_owners_reading *to, const char *path)
{
	struct reading r = { .to = to, .end = 1 };
	const struct pdet_text_watch watch = { must_stop, &r };
	int code;

	if (pdet_owner_live_is(path))
		return open_live(to, path);
	to->watch->total = size_of(path);
	code = pdet_is_watched(to->watch) ?
	       pdet_text_stream_open_watched(to->env, path, &watch,
					     &r.stream) :
	       pdet_text_stream_open(to->env, path, &r.stream);
	if (code < 0)
		return code;
	code = read_stream(&r);
	pdet_text_stream_close(r.stream);
	return code;
}
