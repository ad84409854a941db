/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Scans a flattened dump once when it is opened: chunks become runs, and runs
 * become visible pieces.
 *
 * Writers alternate between two places, descriptors and data, so a chunk may
 * continue any of the last few runs. Later data wins. That is decided for whole
 * runs, which is correct unless overlapping runs were written at the same time.
 * In that case the file is scanned again, with runs of chunks that are adjacent
 * in the stream.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/vec.h"
#include "memory/flat_scan.h"

#define OPEN_RUNS 4
#define OVERLAPS 16
#define MAX_MARKS ((size_t)1 << 19)
#define MAX_RUNS ((size_t)1 << 18)

/* Size of one read if chunks are small. */
#define WINDOW 4096

struct scan {
	struct pdet_flat *flat;
	uint64_t stream;	/* size of the file */
	/* Marks in stream order, and the run of each. */
	struct pdet_flat_mark *mark;
	uint32_t *run_of;
	size_t cap;
	uint64_t chunk;		/* number of the next chunk */
	uint32_t open[OPEN_RUNS]; /* most recent first */
	unsigned n_open;
	unsigned max_open;
	/* The buffered part of the file. */
	uint64_t window_at;
	size_t window_len;
	uint64_t last_size;
	char window[WINDOW];
};

/* Remove every second mark of each run. */
static int thin_out(struct scan *s)
{
	struct pdet_flat *flat = s->flat;
	uint32_t *seen = calloc(flat->n_runs, sizeof(*seen)), run;
	size_t i, kept = 0;

	if (!seen)
		return -ENOMEM;
	for (i = 0; i < flat->n_marks; i++) {
		run = s->run_of[i];
		if (seen[run]++ % 2) {
			flat->run[run].n_marks--;
			continue;
		}
		s->mark[kept] = s->mark[i];
		s->run_of[kept++] = run;
	}
	flat->n_marks = kept;
	flat->step++;
	free(seen);
	return 0;
}

static bool more_marks(struct scan *s)
{
	size_t cap = s->cap ? 2 * s->cap : 1024;
	void *bigger = realloc(s->mark, cap * sizeof(*s->mark));

	if (!bigger)
		return false;
	s->mark = bigger;
	bigger = realloc(s->run_of, cap * sizeof(*s->run_of));
	if (!bigger)
		return false;
	s->run_of = bigger;
	s->cap = cap;
	return true;
}

static int add_mark(struct scan *s, uint32_t run, uint64_t offset, uint64_t at)
{
	struct pdet_flat *flat = s->flat;
	int r;

	if (flat->n_marks == MAX_MARKS) {
		r = thin_out(s);
		if (r < 0)
			return r;
		if (flat->run[run].chunks & (((uint64_t)1 << flat->step) - 1))
			return 0;
	}
	if (flat->n_marks == s->cap && !more_marks(s))
		return -ENOMEM;
	s->mark[flat->n_marks] = (struct pdet_flat_mark){ offset, at };
	s->run_of[flat->n_marks++] = run;
	flat->run[run].n_marks++;
	return 0;
}

/* The open run that ends before @offset, or a new one. */
static int find_run(struct scan *s, uint64_t offset, uint32_t *ret)
{
	struct pdet_flat *flat = s->flat;
	struct pdet_flat_run *bigger;
	uint32_t found = UINT32_MAX;
	unsigned i, kept = 0;

	/* If two runs end at the same offset, only one of them can continue. */
	for (i = 0; i < s->n_open; i++) {
		if (flat->run[s->open[i]].last + 1 != offset)
			s->open[kept++] = s->open[i];
		else if (found == UINT32_MAX)
			found = s->open[i];
	}
	s->n_open = PDET_MIN(kept, s->max_open - 1);
	if (found == UINT32_MAX) {
		/*
		 * The limit is half the limit of marks, because each run has at
		 * least one mark.
		 */
		if (flat->n_runs == MAX_RUNS)
			return -E2BIG;
		if (flat->n_runs == flat->cap_runs) {
			bigger = pdet_vec_grow(flat->run, &flat->cap_runs,
					       sizeof(*flat->run));
			if (!bigger)
				return -ENOMEM;
			flat->run = bigger;
		}
		found = (uint32_t)flat->n_runs++;
		flat->run[found] = (struct pdet_flat_run){
			.first = offset, .last = offset - 1, .begun = s->chunk
		};
	}
	memmove(s->open + 1, s->open, s->n_open * sizeof(*s->open));
	s->open[0] = found;
	s->n_open++;
	*ret = found;
	return 0;
}

static int add_chunk(struct scan *s, uint64_t offset, uint64_t size,
		     uint64_t at)
{
	struct pdet_flat *flat = s->flat;
	uint32_t run;
	int r;

	r = find_run(s, offset, &run);
	if (r < 0)
		return r;
	if (!(flat->run[run].chunks & (((uint64_t)1 << flat->step) - 1))) {
		r = add_mark(s, run, offset, at);
		if (r < 0)
			return r;
	}
	flat->run[run].chunks++;
	flat->run[run].last += size;
	flat->run[run].ended = s->chunk++;
	flat->size = PDET_MAX(flat->size, offset + size);
	return 0;
}

/* Returns 1 if the chunk was read, or 0 if the file ends before it. */
static int read_head(struct scan *s, uint64_t at, struct pdet_flat_head *ret)
{
	ssize_t n;

	if (at < s->window_at ||
	    at - s->window_at + sizeof(*ret) > s->window_len) {
		n = pdet_pread(s->flat->fd, s->window,
			       s->last_size < WINDOW / 2 ? WINDOW :
			       sizeof(*ret), at);
		if (n < 0)
			return (int)n;
		s->window_at = at;
		s->window_len = (size_t)n;
		if (s->window_len < sizeof(*ret))
			return 0;
	}
	memcpy(ret, s->window + (at - s->window_at), sizeof(*ret));
	ret->offset = be64toh(ret->offset);
	ret->size = be64toh(ret->size);
	s->last_size = ret->size;
	return 1;
}

static int scan_chunks(struct scan *s)
{
	uint64_t at = PDET_FLAT_HEAD, size;
	struct pdet_flat *flat = s->flat;
	struct pdet_flat_head head = { 0, 0 };
	int r;

	flat->lost = -EIO;
	for (;;) {
		r = read_head(s, at, &head);
		if (r <= 0)
			return r;
		if (head.offset == UINT64_MAX && head.size == UINT64_MAX) {
			flat->lost = 0;
			return 0;
		}
		if (head.offset > INT64_MAX || head.size > INT64_MAX ||
		    head.offset > INT64_MAX - head.size) {
			flat->lost = -EBADMSG;
			return 0;
		}
		size = PDET_MIN(head.size, s->stream > at + sizeof(head) ?
				s->stream - at - sizeof(head) : 0);
		if (size) {
			r = add_chunk(s, head.offset, size, at);
			if (r < 0)
				return r;
		}
		if (size < head.size)
			return 0;
		at += sizeof(head) + size;
	}
}

/* Sort the marks by run. */
static int sort_marks(struct scan *s)
{
	struct pdet_flat *flat = s->flat;
	uint32_t at = 0, *next;
	size_t i;

	flat->mark = malloc((flat->n_marks + 1) * sizeof(*flat->mark));
	next = malloc((flat->n_runs + 1) * sizeof(*next));
	if (!flat->mark || !next) {
		free(next);
		return -ENOMEM;
	}
	for (i = 0; i < flat->n_runs; i++) {
		flat->run[i].mark = next[i] = at;
		at += flat->run[i].n_marks;
	}
	for (i = 0; i < flat->n_marks; i++)
		flat->mark[next[s->run_of[i]]++] = s->mark[i];
	free(next);
	return 0;
}

static int by_first(const void *a, const void *b)
{
	uint64_t x = ((const struct pdet_layer *)a)->first;
	uint64_t y = ((const struct pdet_layer *)b)->first;

	return x < y ? -1 : x > y;
}

/*
 * True if overlapping runs were written at the same time. Layers are sorted by
 * first.
 */
static bool at_once(const struct pdet_flat *flat,
		    const struct pdet_layer *layers, size_t n)
{
	const struct pdet_flat_run *over[OVERLAPS], *run;
	size_t i, j, n_over = 0, kept;

	for (i = 0; i < n; i++) {
		run = &flat->run[layers[i].what];
		for (j = kept = 0; j < n_over; j++) {
			if (over[j]->last < run->first)
				continue;
			if (over[j]->ended >= run->begun &&
			    over[j]->begun <= run->ended)
				return true;
			over[kept++] = over[j];
		}
		/* too many overlaps: use the slow way */
		if (kept == OVERLAPS)
			return true;
		over[kept] = run;
		n_over = kept + 1;
	}
	return false;
}

/* Returns 1 if the runs do not show which chunk is later. */
static int make_pieces(struct scan *s)
{
	struct pdet_flat *flat = s->flat;
	struct pdet_layer *layers;
	uint32_t i;
	int r;

	if (!flat->n_runs)
		return 0;
	layers = malloc(flat->n_runs * sizeof(*layers));
	if (!layers)
		return -ENOMEM;
	for (i = 0; i < flat->n_runs; i++)
		layers[i] = (struct pdet_layer){
			flat->run[i].first, flat->run[i].last,
			flat->run[i].begun, i
		};
	qsort(layers, flat->n_runs, sizeof(*layers), by_first);
	if (s->max_open > 1 && at_once(flat, layers, flat->n_runs))
		r = 1;
	else
		r = pdet_overlay_make(&flat->pieces, layers, flat->n_runs);
	free(layers);
	return r;
}

/* Returns 1 as make_pieces(). */
static int scan(struct scan *s, unsigned max_open)
{
	struct pdet_flat *flat = s->flat;
	int r;

	flat->n_runs = flat->n_marks = 0;
	flat->step = 0;
	flat->size = 0;
	s->max_open = max_open;
	s->n_open = 0;
	s->chunk = 0;
	s->window_len = 0;
	s->last_size = 0;
	r = scan_chunks(s);
	if (r < 0)
		return r;
	r = make_pieces(s);
	return r ? r : sort_marks(s);
}

static int words(struct pdet_env *env, int r)
{
	if (r == -E2BIG)
		return pdet_fail(env, EBADMSG, "its chunks are not in order");
	if (r == -ENOMEM)
		return pdet_fail(env, ENOMEM, "no memory");
	errno = -r;
	return pdet_fail_errno(env, "its chunks cannot be read");
}

int pdet_flat_open(struct pdet_flat *flat, struct pdet_env *env, int fd,
		   uint64_t stream)
{
	struct scan *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	memset(flat, 0, sizeof(*flat));
	flat->fd = fd;
	if (s) {
		s->flat = flat;
		s->stream = stream;
		r = scan(s, OPEN_RUNS);
		if (r == 1)
			r = scan(s, 1);
		free(s->mark);
		free(s->run_of);
	}
	free(s);
	if (r == 0)
		return 0;
	pdet_flat_close(flat);
	return words(env, r);
}
