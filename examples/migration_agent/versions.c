/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What each page was sent as, and what it was before: by this an old version is
 * told from a broken one. The list has an end; who asks it afterwards is told
 * that some are not in it.
 */
#include <stdlib.h>

#include "agent.h"

#define MAX_VERSIONS ((size_t)8 << 20)

int versions_new(struct versions *v, uint64_t pages)
{
	*v = (struct versions){ .n = 0 };
	pthread_mutex_init(&v->lock, NULL);
	v->sent = calloc(pages ? pages : 1, sizeof(*v->sent));
	return v->sent ? 0 : -1;
}

static void append(struct versions *v, const struct version *version)
{
	if (v->n == v->max) {
		size_t max = v->max ? 2 * v->max : 65536;
		struct version *more = max <= MAX_VERSIONS ?
			realloc(v->list, max * sizeof(*more)) : NULL;

		if (!more) {
			v->full = true;
			return;
		}
		v->list = more;
		v->max = max;
	}
	v->list[v->n++] = *version;
}

/* Turns count on; what comes late from a slower channel is an older one. */
void versions_sent(struct versions *v, uint64_t page, uint64_t hash,
		   uint64_t turn, bool known, bool zero)
{
	struct version version = { page, hash, agent_now(), true };
	struct sent *s = &v->sent[page];

	pthread_mutex_lock(&v->lock);
	v->n_sent++;
	v->n_zero += zero;
	v->n_again += s->times > 0;
	if (s->times && turn < s->turn) {
		if (known)
			append(v, &version);
	} else {
		version = (struct version){ page, s->hash, s->time_ns, true };
		if (s->times && !s->unknown)
			append(v, &version);
		s->hash = hash;
		s->unknown = !known;
		s->time_ns = agent_now();
		s->turn = turn;
		s->dropped = false;
	}
	s->times++;
	pthread_mutex_unlock(&v->lock);
}

void versions_dropped(struct versions *v, uint64_t page)
{
	pthread_mutex_lock(&v->lock);
	v->sent[page].dropped = true;
	pthread_mutex_unlock(&v->lock);
}

void versions_seen(struct versions *v, uint64_t page, uint64_t hash,
		   uint64_t time_ns)
{
	const struct version version = { page, hash, time_ns, false };

	pthread_mutex_lock(&v->lock);
	append(v, &version);
	pthread_mutex_unlock(&v->lock);
}

static int compare(const void *a, const void *b)
{
	const struct version *x = a, *y = b;

	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

void versions_sort(struct versions *v)
{
	if (v->n)
		qsort(v->list, v->n, sizeof(*v->list), compare);
}

bool versions_have(const struct versions *v, uint64_t page, uint64_t hash)
{
	const struct version version = { .page = page, .hash = hash };

	return v->n && bsearch(&version, v->list, v->n, sizeof(*v->list),
			       compare);
}

void versions_free(struct versions *v)
{
	free(v->sent);
	free(v->list);
	pthread_mutex_destroy(&v->lock);
}
