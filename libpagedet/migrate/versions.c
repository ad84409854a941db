/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Stores the versions of pages. The last version of each page has its own
 * place. Older ones share one bounded list. A lock protects everything, because
 * different threads send, read memory and ask.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/env.h"
#include "migrate/seen.h"
#include "migrate/versions.h"

#define MOST_BYTES ((uint64_t)128 << 20)

struct older {
	uint64_t page, hash;
};

struct sent {
	uint64_t hash, time_ns, turn;
	uint32_t times;
	bool packed;		/* in a form that is not known */
	bool gap;		/* an older version is not known */
	bool dropped;
	/* The last version seen before the page was last sent. */
	uint32_t before_state;
	uint64_t before_hash, before_ns;
};

/* A short form of struct pagedet_seen. */
struct looked {
	uint64_t hash, time_ns;
	uint32_t state;
	uint32_t drained;	/* of stopped, as PAGEDET_YES */
};

struct pdet_versions {
	pthread_mutex_t lock;
	struct pagedet_versions_options o;
	struct sent *sent;	/* by page number */
	struct looked *last;	/* the previous look, by page number */
	struct looked *stopped;	/* NULL: there was no such look */
	struct older *older;
	uint64_t n, max, sorted; /* the first sorted ones of older are in
				 * order */
	bool full, complete;
	uint64_t n_sent, n_zero, n_again, looks;
};

int pdet_versions_new(const struct pagedet_versions_options *o,
		      struct pdet_versions **ret)
{
	struct pdet_versions *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->o = *o;
	if (!v->o.max_bytes)
		v->o.max_bytes = MOST_BYTES;
	v->sent = calloc(o->pages, sizeof(*v->sent));
	v->last = calloc(o->pages, sizeof(*v->last));
	if (!v->sent || !v->last || pthread_mutex_init(&v->lock, NULL)) {
		free(v->sent);
		free(v->last);
		free(v);
		return -ENOMEM;
	}
	*ret = v;
	return 0;
}

/* Makes room for one more, within the limit. */
static bool has_room(struct pdet_versions *v)
{
	const uint64_t most = v->o.max_bytes / sizeof(*v->older);
	uint64_t max = v->max ? 2 * v->max : 4096;
	struct older *more;

	if (v->n < v->max)
		return true;
	max = PDET_MIN(max, most);
	if (max <= v->max)
		return false;
	more = realloc(v->older, max * sizeof(*more));
	if (!more)
		return false;
	v->older = more;
	v->max = max;
	return true;
}

static void append(struct pdet_versions *v, uint64_t page, uint64_t hash)
{
	if (has_room(v))
		v->older[v->n++] = (struct older){ page, hash };
	else
		v->full = true;
}

/* --- sending --- */

static void count(struct pdet_versions *v, const struct sent *s, uint32_t state,
		  uint64_t hash)
{
	v->n_sent++;
	v->n_zero += state == PAGEDET_SENT_KNOWN && hash == v->o.hash_zero;
	v->n_again += s->times > 0;
}

static void replace(struct pdet_versions *v, uint64_t page, uint32_t state,
		    uint64_t hash, uint64_t turn)
{
	const struct looked *seen = &v->last[page];
	struct sent *s = &v->sent[page];

	if (s->times && !s->packed)
		append(v, page, s->hash);
	s->gap |= s->packed;
	s->packed = state == PAGEDET_SENT_PACKED;
	s->hash = s->packed ? 0 : hash;
	s->time_ns = pdet_clock_ns(CLOCK_REALTIME);
	s->turn = turn;
	s->dropped = false;
	s->before_state = seen->state;
	s->before_hash = seen->hash;
	s->before_ns = seen->time_ns;
}

int pdet_versions_sent(struct pdet_versions *v, uint64_t page, uint32_t state,
		       uint64_t hash, uint64_t turn)
{
	struct sent *s;

	if (page >= v->o.pages || (state != PAGEDET_SENT_KNOWN &&
				   state != PAGEDET_SENT_PACKED))
		return -EINVAL;
	s = &v->sent[page];
	pthread_mutex_lock(&v->lock);
	count(v, s, state, hash);
	if (!s->times || turn >= s->turn)
		replace(v, page, state, hash, turn);
	else if (state == PAGEDET_SENT_KNOWN)
		append(v, page, hash);
	else
		s->gap = true;
	s->times++;
	pthread_mutex_unlock(&v->lock);
	return 0;
}

int pdet_versions_dropped(struct pdet_versions *v, uint64_t first, uint64_t n)
{
	uint64_t i;

	if (first > v->o.pages || n > v->o.pages - first)
		return -EINVAL;
	pthread_mutex_lock(&v->lock);
	for (i = first; i < first + n; i++)
		v->sent[i].dropped = true;
	pthread_mutex_unlock(&v->lock);
	return 0;
}

void pdet_versions_complete(struct pdet_versions *v, uint32_t complete)
{
	pthread_mutex_lock(&v->lock);
	v->complete = complete;
	pthread_mutex_unlock(&v->lock);
}

/* --- looks --- */

static struct pagedet_seen seen_of(const struct looked *l)
{
	return (struct pagedet_seen){ l->hash, l->time_ns, l->state, 0, 0, 0 };
}

static void keep_stopped(struct pdet_versions *v,
			 const struct pagedet_seen *seen, uint32_t drained)
{
	uint64_t i;

	v->stopped = calloc(v->o.pages, sizeof(*v->stopped));
	for (i = 0; v->stopped && i < v->o.pages; i++)
		v->stopped[i] = (struct looked){ seen[i].hash, seen[i].time_ns,
						 seen[i].state, drained };
}

/*
 * A page that has changed since the first look keeps that version: a device may
 * have written it, or something else.
 */
static void keep_drained(struct pdet_versions *v,
			 const struct pagedet_seen *seen)
{
	uint64_t i;

	for (i = 0; i < v->o.pages; i++) {
		struct looked *l = &v->stopped[i];
		const struct pagedet_seen first = seen_of(l);

		if (l->drained)
			continue;
		if (pdet_seen_known(&first))
			l->drained = pdet_seen_equal(&first, &seen[i]);
		else
			*l = (struct looked){ seen[i].hash, seen[i].time_ns,
					      seen[i].state, PAGEDET_YES };
	}
}

static void take(struct pdet_versions *v, uint64_t page,
		 const struct pagedet_seen *seen)
{
	struct looked *last = &v->last[page];
	const struct pagedet_seen before = seen_of(last);
	const bool bytes = seen->state == PAGEDET_SEEN_DATA;

	if (!pdet_seen_known(seen))
		return;
	if (pdet_seen_equal(&before, seen) != PAGEDET_YES)
		append(v, page, bytes ? seen->hash : v->o.hash_zero);
	*last = (struct looked){ seen->hash, seen->time_ns, seen->state,
				 PAGEDET_DUNNO };
}

int pdet_versions_look(struct pdet_versions *v, const struct pagedet_seen *seen,
		       uint64_t n, uint32_t when)
{
	const bool drained = when == PAGEDET_WHEN_DRAINED;
	uint64_t i;
	int r = 0;

	if (n != v->o.pages || when > PAGEDET_WHEN_DRAINED)
		return -EINVAL;
	pthread_mutex_lock(&v->lock);
	/* The final version is not an older one. */
	for (i = 0; !when && i < n; i++)
		take(v, i, &seen[i]);
	if (when && !v->stopped)
		keep_stopped(v, seen, drained ? PAGEDET_YES : PAGEDET_DUNNO);
	else if (drained)
		keep_drained(v, seen);
	if (when && !v->stopped)
		r = -ENOMEM;
	v->looks++;
	pthread_mutex_unlock(&v->lock);
	return r;
}

/* --- queries --- */

static int compare(const void *a, const void *b)
{
	const struct older *x = a, *y = b;

	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static bool is_older(struct pdet_versions *v, uint64_t page, uint64_t hash)
{
	const struct older older = { page, hash };

	if (v->sorted != v->n)
		qsort(v->older, v->n, sizeof(*v->older), compare);
	v->sorted = v->n;
	return v->n && bsearch(&older, v->older, v->n, sizeof(older), compare);
}

/* Needs the lock. */
static uint32_t had(struct pdet_versions *v, uint64_t page, uint64_t hash)
{
	if (is_older(v, page, hash))
		return PAGEDET_YES;
	return v->complete && !v->full && !v->sent[page].gap ? PAGEDET_NO :
							      PAGEDET_DUNNO;
}

int pdet_versions_had(struct pdet_versions *v, uint64_t page, uint64_t hash)
{
	uint32_t is;

	if (page >= v->o.pages)
		return -EINVAL;
	pthread_mutex_lock(&v->lock);
	is = had(v, page, hash);
	pthread_mutex_unlock(&v->lock);
	return (int)is;
}

int pdet_versions_had_seen(struct pdet_versions *v, uint64_t page,
			   const struct pagedet_seen *seen)
{
	return pdet_versions_had(v, page,
				 seen->state == PAGEDET_SEEN_ABSENT ?
				 v->o.hash_zero : seen->hash);
}

static uint32_t sent_state(const struct pdet_versions *v, const struct sent *s)
{
	if (!v->complete)
		return PAGEDET_SENT_DUNNO;
	if (!s->times)
		return PAGEDET_SENT_NEVER;
	return s->packed ? PAGEDET_SENT_PACKED : PAGEDET_SENT_KNOWN;
}

int pdet_versions_of(struct pdet_versions *v, uint64_t page,
		     struct pagedet_version_of *ret)
{
	const struct sent *s;

	if (page >= v->o.pages)
		return -EINVAL;
	s = &v->sent[page];
	pthread_mutex_lock(&v->lock);
	*ret = (struct pagedet_version_of){
		.size = ret->size, .hash = s->hash, .sent_ns = s->time_ns,
		.times = s->times, .sent = sent_state(v, s),
		.dropped = s->dropped, .before_hash = s->before_hash,
		.before_ns = s->before_ns, .before = s->before_state,
	};
	if (v->stopped) {
		ret->stopped_hash = v->stopped[page].hash;
		ret->stopped_ns = v->stopped[page].time_ns;
		ret->stopped = v->stopped[page].state;
	}
	pthread_mutex_unlock(&v->lock);
	return 0;
}

void pdet_versions_info(struct pdet_versions *v,
			struct pagedet_versions_info *ret)
{
	uint64_t each = sizeof(*v->sent) + sizeof(*v->last);

	pthread_mutex_lock(&v->lock);
	if (v->stopped)
		each += sizeof(*v->stopped);
	*ret = (struct pagedet_versions_info){
		.size = ret->size, .pages = v->o.pages, .sent = v->n_sent,
		.sent_zero = v->n_zero, .sent_again = v->n_again,
		.looks = v->looks, .older = v->n,
		.bytes = v->o.pages * each + v->max * sizeof(*v->older),
		.full = v->full, .stopped = v->stopped != NULL,
	};
	pthread_mutex_unlock(&v->lock);
}

static void sent_evidence(const struct pdet_versions *v, const struct sent *s,
			  struct pagedet_evidence *e)
{
	const unsigned sent = PAGEDET_AS_SENT;

	switch (sent_state(v, s)) {
	case PAGEDET_SENT_NEVER:
		e->hash_state[sent] = PAGEDET_NONE;
		break;
	case PAGEDET_SENT_KNOWN:
		e->hash[sent] = s->hash;
		e->hash_key[sent] = v->o.hash_key;
		e->hash_ns[sent] = s->time_ns;
		e->hash_state[sent] = PAGEDET_HAVE;
		e->zero[sent] = s->hash == v->o.hash_zero ? PAGEDET_YES :
							    PAGEDET_NO;
		if (s->dropped)
			e->peer_discarded = PAGEDET_YES;
		break;
	default:
		break;
	}
}

static struct pagedet_seen before(const struct sent *s)
{
	return (struct pagedet_seen){ s->before_hash, s->before_ns,
				      s->before_state, 0, 0, 0 };
}

/*
 * The page may have been written between a look and sending. A version that
 * differs from both the sent and the final one says that it was. An equal one
 * does not exclude it: a guest may write a page and restore it.
 */
static void before_evidence(const struct pdet_versions *v, uint64_t page,
			    struct pagedet_evidence *e)
{
	const struct sent *s = &v->sent[page];
	const struct pagedet_seen b = before(s);
	struct pagedet_seen same = {
		.hash = s->hash, .state = s->hash == v->o.hash_zero ?
			PAGEDET_SEEN_ZERO : PAGEDET_SEEN_DATA,
	};
	bool kept;

	if (sent_state(v, s) != PAGEDET_SENT_KNOWN)
		return;
	kept = pdet_seen_equal(&b, &same) == PAGEDET_YES;
	if (!kept && v->stopped) {
		same = seen_of(&v->stopped[page]);
		kept = pdet_seen_equal(&b, &same) == PAGEDET_YES;
	}
	if (kept)
		pdet_seen_evidence(&b, PAGEDET_AS_BEFORE, v->o.hash_key, e);
}

static void stopped_evidence(const struct pdet_versions *v, uint64_t page,
			     struct pagedet_evidence *e)
{
	const struct sent *s = &v->sent[page];
	struct pagedet_seen seen;

	if (!v->stopped)
		return;
	seen = seen_of(&v->stopped[page]);
	pdet_seen_evidence(&seen, PAGEDET_AS_STOPPED, v->o.hash_key, e);
	if (pdet_seen_known(&seen))
		e->stopped_drained = v->stopped[page].drained;
	if (s->times && seen.time_ns && s->time_ns > seen.time_ns)
		e->sent_stopped = PAGEDET_YES;
}

int pdet_versions_evidence(struct pdet_versions *v, uint64_t page,
			   struct pagedet_evidence *e)
{
	const unsigned peer = PAGEDET_AS_PEER;
	uint64_t hash = v->o.hash_zero;
	bool known;

	if (page >= v->o.pages)
		return -EINVAL;
	known = e->zero[peer] == PAGEDET_YES;
	if (e->hash_state[peer] == PAGEDET_HAVE &&
	    e->hash_key[peer] == v->o.hash_key) {
		hash = e->hash[peer];
		known = true;
	}
	pthread_mutex_lock(&v->lock);
	sent_evidence(v, &v->sent[page], e);
	before_evidence(v, page, e);
	stopped_evidence(v, page, e);
	if (known)
		e->earlier = had(v, page, hash);
	pthread_mutex_unlock(&v->lock);
	return 0;
}

void pdet_versions_free(struct pdet_versions *v)
{
	if (!v)
		return;
	pthread_mutex_destroy(&v->lock);
	free(v->sent);
	free(v->last);
	free(v->stopped);
	free(v->older);
	free(v);
}
