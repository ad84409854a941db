/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Each input has two chunks: one is decoded while the other is filled. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/team.h"
#include "trace/ahead.h"

struct pdet_ahead {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked, done;
	struct pdet_ahead_input *first, **last; /* what is asked for */
	bool ends;
};

/* Fills the next chunk of the first input. @a->lock is held. */
static void fill(struct pdet_ahead *a)
{
	struct pdet_ahead_input *i = a->first;

	a->first = i->behind;
	if (!a->first)
		a->last = &a->first;
	pthread_mutex_unlock(&a->lock);
	i->result = pdet_chunks_next(&i->chunks, &i->next);
	pthread_mutex_lock(&a->lock);
	i->is_done = true;
	pthread_cond_signal(&a->done);
}

static void *run(void *arg)
{
	struct pdet_ahead *a = arg;

	pthread_mutex_lock(&a->lock);
	while (!a->ends) {
		if (a->first)
			fill(a);
		else
			pthread_cond_wait(&a->asked, &a->lock);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

struct pdet_ahead *pdet_ahead_begin(void)
{
	struct pdet_ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->last = &a->first;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->asked, NULL);
	pthread_cond_init(&a->done, NULL);
	if (pdet_team_thread(&a->thread, run, a)) {
		free(a);
		return NULL;
	}
	return a;
}

static void ask(struct pdet_ahead *a, struct pdet_ahead_input *i)
{
	i->is_asked = true;
	i->is_done = false;
	i->behind = NULL;
	pthread_mutex_lock(&a->lock);
	*a->last = i;
	a->last = &i->behind;
	pthread_cond_signal(&a->asked);
	pthread_mutex_unlock(&a->lock);
}

static void wait_for(struct pdet_ahead *a, struct pdet_ahead_input *i)
{
	pthread_mutex_lock(&a->lock);
	while (!i->is_done)
		pthread_cond_wait(&a->done, &a->lock);
	pthread_mutex_unlock(&a->lock);
	i->is_asked = false;
}

int pdet_ahead_next(struct pdet_ahead *a, struct pdet_ahead_input *i,
		    uint64_t *offset, bool *damaged)
{
	struct pdet_chunk before = i->chunk;
	int r;

	if (!a) {
		r = pdet_chunks_next(&i->chunks, &i->chunk);
	} else {
		if (!i->is_asked)
			ask(a, i);
		wait_for(a, i);
		r = i->result;
		i->chunk = i->next;
		i->next = before;
	}
	*offset = i->chunks.offset;
	*damaged = i->chunks.damaged;
	if (a && r > 0)
		ask(a, i);
	return r;
}

void pdet_ahead_end(struct pdet_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->ends = true;
	pthread_cond_signal(&a->asked);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->asked);
	pthread_cond_destroy(&a->done);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

void pdet_ahead_free(struct pdet_ahead_input *i)
{
	free(i->chunk.data);
	free(i->next.data);
	if (i->chunks.codec)
		pdet_codec_close(i->chunks.codec);
}
