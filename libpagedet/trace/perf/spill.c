/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Runs are merged by a heap, each through a window of its own. The more runs
 * there are, the smaller the windows, so that all of them need the same memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io.h"
#include "base/vec.h"
#include "trace/perf/spill.h"

#define EVENT sizeof(struct pdet_kmem_event)
/* Events of one write. */
#define STAGE ((size_t)1024)
/* Events of all windows. */
#define WINDOWS ((size_t)65536)
/* Bytes of a run that are given back to the disk at once. */
#define GIVE_BACK ((uint64_t)1 << 20)

const char *pdet_spill_folder(void)
{
	const char *folder = secure_getenv("TMPDIR");

	return folder && *folder ? folder : "/var/tmp";
}

/* --- write --- */

static int begin(struct pdet_spill *s)
{
	struct statvfs fs;
	int r;

	if (!s->stage)
		s->stage = calloc(STAGE, EVENT);
	if (!s->stage)
		return -ENOMEM;
	if (s->is_open)
		return 0;
	s->fd = pdet_open_nameless(pdet_spill_folder());
	if (s->fd < 0)
		return s->fd;
	if (fstatvfs(s->fd, &fs) < 0) {
		r = -errno;
		close(s->fd);
		return r;
	}
	s->is_open = true;
	s->block = PDET_MAX(fs.f_bsize, 1ul);
	s->most = fs.f_bavail * fs.f_frsize / 2;
	return 0;
}

static int flush(struct pdet_spill *s)
{
	const char *bytes = (const char *)s->stage;
	const size_t size = s->staged * EVENT;
	size_t done = 0;
	ssize_t n;

	/* A small file may claim to have any number of events. */
	if (s->held + size > s->most)
		return -PDET_SPILL_FULL;
	while (done < size) {
		n = pwrite(s->fd, bytes + done, size - done,
			   (off_t)(s->size * EVENT + done));
		if (n < 0 && errno != EINTR)
			return -errno;
		done += (size_t)PDET_MAX(n, 0);
	}
	s->size += s->staged;
	s->held += size;
	s->staged = 0;
	return 0;
}

int pdet_spill_put(struct pdet_spill *s, const struct pdet_kmem_event *e)
{
	int r = s->staged ? 0 : begin(s);

	if (r < 0)
		return r;
	s->stage[s->staged++] = *e;
	return s->staged < STAGE ? 0 : flush(s);
}

int pdet_spill_end(struct pdet_spill *s)
{
	struct pdet_spill_run run = { .number = s->numbers };
	int r = flush(s);

	if (r < 0 || s->begun == s->size)
		return r;
	run.at = s->begun;
	run.freed = s->begun * EVENT;
	run.end = s->begun = s->size;
	s->numbers++;
	s->is_read = false;
	return pdet_vec_push(&s->runs, run) ? 0 : -ENOMEM;
}

void pdet_spill_undo(struct pdet_spill *s)
{
	s->staged = 0;
	if (!s->is_open)
		return;
	if (ftruncate(s->fd, (off_t)(s->begun * EVENT)) == 0) {
		s->held -= (s->size - s->begun) * EVENT;
		s->size = s->begun;
	}
	s->begun = s->size;
}

/* --- read --- */

static bool is_before(const struct pdet_spill_run *a,
		      const struct pdet_spill_run *b)
{
	const struct pdet_kmem_event *x = &a->window[a->next];
	const struct pdet_kmem_event *y = &b->window[b->next];

	if (x->ns != y->ns)
		return x->ns < y->ns;
	return x->cpu != y->cpu ? x->cpu < y->cpu : a->number < b->number;
}

/* Moves the run at @i down to where none below it is before it. */
static void sink(struct pdet_spill *s, size_t i)
{
	struct pdet_spill_run *run = s->runs.data;
	const struct pdet_spill_run moved = run[i];
	size_t child;

	for (; (child = 2 * i + 1) < s->runs.n; i = child) {
		if (child + 1 < s->runs.n &&
		    is_before(&run[child + 1], &run[child]))
			child++;
		if (!is_before(&run[child], &moved))
			break;
		run[i] = run[child];
	}
	run[i] = moved;
}

static int refill(const struct pdet_spill *s, struct pdet_spill_run *run)
{
	const size_t n = (size_t)PDET_MIN((uint64_t)s->each,
					  run->end - run->at);
	const ssize_t got = pdet_pread(s->fd, run->window, n * EVENT,
				       run->at * EVENT);

	if (got < 0)
		return (int)got;
	/* Nobody else has the file. */
	if ((size_t)got < n * EVENT)
		return -EIO;
	run->at += n;
	run->next = 0;
	run->n = n;
	return 0;
}

/*
 * The disk gets back what was read of a run, or the file would grow as long as
 * one event is left in it. A filesystem that cannot do that keeps all.
 */
static void give_back(struct pdet_spill *s, struct pdet_spill_run *run)
{
	const uint64_t read = run->at * EVENT;
	const uint64_t until = read - read % s->block;

	if (until < run->freed + (run->at < run->end ? GIVE_BACK : 1) ||
	    fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)run->freed, (off_t)(until - run->freed)) < 0)
		return;
	s->held -= until - run->freed;
	run->freed = until;
}

/* A run was added: all get new windows. What old ones have is read again. */
static int begin_reading(struct pdet_spill *s)
{
	size_t i;
	int r = 0;

	s->each = PDET_MAX(WINDOWS / s->runs.n, (size_t)1);
	free(s->windows);
	s->windows = calloc(s->each * s->runs.n, EVENT);
	if (!s->windows)
		return -ENOMEM;
	for (i = 0; i < s->runs.n && r == 0; i++) {
		struct pdet_spill_run *run = &s->runs.data[i];

		run->at -= run->n - run->next;
		run->window = s->windows + i * s->each;
		r = refill(s, run);
	}
	for (i = s->runs.n / 2; i-- > 0 && r == 0;)
		sink(s, i);
	s->is_read = r == 0;
	return r;
}

/* All are used up. */
static int empty(struct pdet_spill *s)
{
	free(s->windows);
	s->windows = NULL;
	s->size = s->begun = s->held = 0;
	return ftruncate(s->fd, 0) < 0 ? -errno : 0;
}

int pdet_spill_first(struct pdet_spill *s, const struct pdet_kmem_event **ret)
{
	int r = s->runs.n && !s->is_read ? begin_reading(s) : 0;

	*ret = NULL;
	if (r < 0 || !s->runs.n)
		return r;
	*ret = &s->runs.data->window[s->runs.data->next];
	return 0;
}

int pdet_spill_next(struct pdet_spill *s)
{
	struct pdet_spill_run *run = s->runs.data;
	int r = 0;

	run->next++;
	if (run->next == run->n) {
		give_back(s, run);
		if (run->at < run->end)
			r = refill(s, run);
		else
			*run = run[--s->runs.n];
	}
	if (r < 0)
		return r;
	if (!s->runs.n)
		return empty(s);
	sink(s, 0);
	return 0;
}

void pdet_spill_free(struct pdet_spill *s)
{
	if (s->is_open)
		close(s->fd);
	pdet_vec_free(&s->runs);
	free(s->windows);
	free(s->stage);
}
