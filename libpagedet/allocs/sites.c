/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Order does not matter here, so the streams are read one after the other. */
#include <errno.h>
#include <string.h>

#include "allocs/sites.h"
#include "base/pairs.h"
#include "base/vec.h"

/* A damaged trace may have any number of them. */
#define MOST_SITES ((size_t)1 << 16)

static bool add(struct pdet_sites *s, struct pdet_pairs *seen,
		const struct pdet_kmem_event *e)
{
	uint64_t had;

	/* Frees are not named. */
	if (!e->site || (e->kind != PDET_KMEM_KMALLOC &&
			 e->kind != PDET_KMEM_CACHE_ALLOC) ||
	    s->addresses.n == MOST_SITES || pdet_pairs_get(seen, e->site, &had))
		return true;
	return pdet_pairs_set(seen, e->site, 1) &&
	       pdet_vec_push(&s->addresses, e->site);
}

static int read_stream(struct pdet_sites *s, struct pdet_pairs *seen,
		       struct pdet_trace_stream *stream,
		       bool (*stopped)(void *arg), void *arg)
{
	size_t i;
	int r = 1;

	while (r > 0 && !stopped(arg)) {
		stream->piece.next = stream->piece.n = 0;
		r = stream->more(stream);
		for (i = 0; i < stream->piece.n && r > 0; i++)
			if (!add(s, seen, stream->piece.data[i]))
				r = -ENOMEM;
	}
	return r < 0 ? r : 0;
}

int pdet_sites_read(struct pdet_sites *s, struct pdet_env *env,
		    const char *path, bool (*stopped)(void *arg), void *arg)
{
	struct pdet_pairs seen = { 0 };
	struct pdet_trace *t;
	size_t i;
	int r = pdet_trace_open(env, path, &t);

	memset(s, 0, sizeof(*s));
	if (r < 0)
		return r;
	t->known->no_caches = true;
	for (i = 0; i < t->n_streams && r == 0; i++)
		r = read_stream(s, &seen, t->streams[i], stopped, arg);
	s->kernel = t->kernel;
	pdet_pairs_free(&seen);
	pdet_trace_free(t);
	return r == -ENOMEM ? pdet_fail(env, ENOMEM, "no memory") : r;
}

void pdet_sites_free(struct pdet_sites *s)
{
	pdet_vec_free(&s->addresses);
}
