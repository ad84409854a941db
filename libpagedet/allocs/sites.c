/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Order does not matter here, so the streams are read one after the other. */
#include <errno.h>
#include <string.h>

#include "allocs/sites.h"
#include "base/pairs.h"
#include "base/vec.h"

/* A damaged trace may have any number of them. */
#define MOST_SITES ((size_t)1 << 16)

/* Who reads a trace, and what is done with each event of it. */
struct reader {
	bool (*take)(void *arg, const struct pdet_kmem_event *e);
	void *arg;
	bool (*stopped)(void *arg);
	void *stopped_arg;
};

static int read_stream(const struct reader *reader,
		       struct pdet_trace_stream *stream)
{
	size_t i;
	int r = 1;

	while (r > 0 && !reader->stopped(reader->stopped_arg)) {
		stream->piece.next = stream->piece.n = 0;
		r = stream->more(stream);
		for (i = 0; i < stream->piece.n && r > 0; i++)
			if (!reader->take(reader->arg, stream->piece.data[i]))
				r = -ENOMEM;
	}
	return r < 0 ? r : 0;
}

/* The trace stays open if that succeeds. */
static int read_all(const struct reader *reader, struct pdet_env *env,
		    const char *path, struct pdet_trace **ret)
{
	size_t i;
	int r = pdet_trace_open(env, path, ret);

	if (r < 0)
		return r;
	(*ret)->known->no_caches = true;
	for (i = 0; i < (*ret)->n_streams && r == 0; i++)
		r = read_stream(reader, (*ret)->streams[i]);
	if (r < 0)
		pdet_trace_free(*ret);
	return r == -ENOMEM ? pdet_fail(env, ENOMEM, "no memory") : r;
}

/* --- call sites --- */

struct sites {
	struct pdet_sites *all;
	struct pdet_pairs seen;
};

static bool add(void *arg, const struct pdet_kmem_event *e)
{
	struct sites *s = arg;
	uint64_t had;

	/* Frees are not named. */
	if (!e->site || (e->kind != PDET_KMEM_KMALLOC &&
			 e->kind != PDET_KMEM_CACHE_ALLOC) ||
	    s->all->addresses.n == MOST_SITES ||
	    pdet_pairs_get(&s->seen, e->site, &had))
		return true;
	return pdet_pairs_set(&s->seen, e->site, 1) &&
	       pdet_vec_push(&s->all->addresses, e->site);
}

int pdet_sites_read(struct pdet_sites *s, struct pdet_env *env,
		    const char *path, bool (*stopped)(void *arg), void *arg)
{
	struct sites sites = { .all = s };
	const struct reader reader = { add, &sites, stopped, arg };
	struct pdet_trace *t;
	int r;

	memset(s, 0, sizeof(*s));
	r = read_all(&reader, env, path, &t);
	pdet_pairs_free(&sites.seen);
	if (r < 0)
		return r;
	s->kernel = t->kernel;
	pdet_trace_free(t);
	return 0;
}

void pdet_sites_free(struct pdet_sites *s)
{
	pdet_vec_free(&s->addresses);
}

/* --- where it ends --- */

static bool note_time(void *arg, const struct pdet_kmem_event *e)
{
	struct pdet_trace_survey *s = arg;

	/* A name may be of any time. */
	if (e->kind < PDET_KMEM_NAME)
		s->end_ns = PDET_MAX(s->end_ns, e->ns);
	return true;
}

int pdet_trace_survey(struct pdet_trace_survey *s, struct pdet_env *env,
		      const char *path, bool (*stopped)(void *arg), void *arg)
{
	const struct reader reader = { note_time, s, stopped, arg };
	struct pdet_trace *t;
	int r;

	memset(s, 0, sizeof(*s));
	r = read_all(&reader, env, path, &t);
	if (r < 0)
		return r;
	s->hashed = t->hashed;
	s->kernel = t->kernel;
	pdet_trace_free(t);
	return 0;
}
