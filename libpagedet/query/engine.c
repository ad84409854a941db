/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Runs the walk: spans become batches, with one thread or several.
 *
 * Spans go in order into the slots of a ring. Threads fill the batch of a slot,
 * and the caller takes batches from the front. A span that yields several
 * batches keeps its slot until it is used up. The caller's thread fills the
 * next batch itself instead of waiting for it.
 *
 * Grouped rows need no order and no ring. Each thread then takes spans and adds
 * rows to its own groups.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/team.h"
#include "query/moment.h"
#include "query/query.h"
#include "query/stage.h"

void pdet_iter_stop(struct pdet_iter *it, int code, const struct pdet_env *env)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&it->stopped, &none, code))
		return;
	if (env) {
		memcpy(it->error, env->error, sizeof(it->error));
		memcpy(it->advice, env->advice, sizeof(it->advice));
	}
}

/* Reports progress; only on the caller's thread. */
static void tell_progress(struct pdet_iter *it, uint64_t now)
{
	struct pagedet_progress p = { .size = sizeof(p) };

	if (!it->told_ns)
		it->told_ns = it->first_ns;
	if (now - it->told_ns < it->q.progress_ns)
		return;
	it->told_ns = now;
	p.done = atomic_load_explicit(&it->done, memory_order_relaxed);
	/* There are no counts while sources are prepared. */
	if (it->workers)
		p.done += it->workers[0].cover.visited +
			  it->workers[0].cover.skipped;
	p.total = it->walk ? it->walk->total : 0;
	p.rows = it->rows;
	p.elapsed_ns = now - it->first_ns;
	if (it->q.progress(it->q.progress_user, &p))
		pdet_iter_stop(it, ECANCELED, NULL);
}

static int check(struct pdet_iter *it, bool caller)
{
	if (it->q.deadline_ns || (it->q.progress && caller)) {
		uint64_t now = pdet_clock_ns(CLOCK_MONOTONIC);

		if (it->q.deadline_ns && now >= it->q.deadline_ns)
			pdet_iter_stop(it, ETIMEDOUT, NULL);
		if (it->q.progress && caller)
			tell_progress(it, now);
	}
	return -atomic_load_explicit(&it->stopped, memory_order_relaxed);
}

int pdet_engine_check(struct pdet_worker *k)
{
	return check(k->it, k == &k->it->workers[0]);
}

bool pdet_iter_must_stop(void *it)
{
	return check(it, ((struct pdet_iter *)it)->n_workers <= 1) < 0;
}

/*
 * Adds the counts of a worker to those of the iterator. The lock must be held.
 */
static void add_up(struct pdet_iter *it, struct pdet_cover *from)
{
	struct pdet_cover *to = &it->cover;
	unsigned i;

	atomic_fetch_add_explicit(&it->done, from->visited + from->skipped,
				  memory_order_relaxed);
	to->visited += from->visited;
	to->skipped += from->skipped;
	to->undecided += from->undecided;
	to->matched += from->matched;
	to->torn += from->torn;
	to->spilled += from->spilled;
	to->tasks += from->tasks;
	to->tasks_gone += from->tasks_gone;
	to->tasks_denied += from->tasks_denied;
	to->tasks_damaged += from->tasks_damaged;
	to->tasks_again += from->tasks_again;
	to->tasks_merged += from->tasks_merged;
	to->files += from->files;
	to->files_gone += from->files_gone;
	to->files_denied += from->files_denied;
	for (i = 0; from->any_lost && i < PDET_COUNT(to->lost); i++)
		to->lost[i] += from->lost[i];
	to->any_lost |= from->any_lost;
	to->partial |= from->partial;
	pdet_fields_join(&to->answered, &from->answered);
	pdet_cover_clear(from);
}

void pdet_iter_count(struct pdet_iter *it, struct pdet_cover *from)
{
	atomic_fetch_sub_explicit(&it->done, from->visited,
				  memory_order_relaxed);
	pthread_mutex_lock(&it->lock);
	add_up(it, from);
	pthread_mutex_unlock(&it->lock);
}

void pdet_iter_cover(struct pdet_iter *it, struct pdet_cover *ret)
{
	pthread_mutex_lock(&it->lock);
	/* The caller's own counts are added when the sum is read. */
	if (it->workers)
		add_up(it, &it->workers[0].cover);
	*ret = it->cover;
	pthread_mutex_unlock(&it->lock);
	if (it->group)
		ret->spilled = pdet_group_spilled(it->group);
}

/* Gets the next span. The lock must be held. Returns 1, or 0 at the end. */
static int next_span(struct pdet_iter *it, struct pdet_worker *k,
		     struct pdet_span *span)
{
	int r;

	if (it->walk_ended)
		return 0;
	r = it->walk->ops->next(it->walk, k, span, it->rows_per_batch);
	if (r <= 0)
		it->walk_ended = true;
	if (r < 0)
		pdet_iter_stop(it, -r, &pdet_session_of(k, it->walk)->env);
	return r;
}

/* --- groups --- */

/*
 * A single thread takes no lock: next_span() may call user code, which may ask
 * for the progress of the query.
 */
static void lock(struct pdet_iter *it)
{
	if (it->n_workers > 1)
		pthread_mutex_lock(&it->lock);
}

static void unlock(struct pdet_iter *it)
{
	if (it->n_workers > 1)
		pthread_mutex_unlock(&it->lock);
}

static void group_spans(struct pdet_worker *k)
{
	struct pdet_iter *it = k->it;
	struct pdet_span span;
	struct pdet_batch batch;
	int r = 0;

	memset(&span, 0, sizeof(span));
	if (!pdet_batch_init(&batch, &it->plan.columns, it->rows_per_batch,
			     it->q.string_bytes)) {
		pdet_iter_stop(it, ENOMEM, NULL);
		return;
	}
	while (pdet_engine_check(k) == 0) {
		lock(it);
		add_up(it, &k->cover);
		r = next_span(it, k, &span);
		unlock(it);
		if (r <= 0)
			break;
		do {
			r = pdet_stage_run(k, &span, &batch);
			if (r == 0)
				r = pdet_group_add(k->group, &batch);
		} while (r == 0 && span.at < span.end &&
			 pdet_engine_check(k) == 0);
		if (r < 0) {
			pdet_iter_stop(it, -r,
				       &pdet_session_of(k, it->walk)->env);
			break;
		}
		if (span.at < span.end) {
			pthread_mutex_lock(&it->lock);
			if (!it->resume || span.place < it->resume)
				it->resume = span.place;
			pthread_mutex_unlock(&it->lock);
		}
	}
	pthread_mutex_lock(&it->lock);
	add_up(it, &k->cover);
	pthread_mutex_unlock(&it->lock);
	if (it->walk->ops->span_free)
		it->walk->ops->span_free(it->walk, &span);
	pdet_batch_free(&batch);
}

/* --- the ring --- */

/* Work on a slot, without the lock. */
static void run_slot(struct pdet_worker *k, struct pdet_slot *slot)
{
	struct pdet_iter *it = k->it;
	int r = 0;

	if (!slot->batch.memory &&
	    !pdet_batch_init(&slot->batch, &it->plan.columns,
			     it->rows_per_batch, it->q.string_bytes))
		r = -ENOMEM;
	if (r == 0)
		r = pdet_stage_run(k, &slot->span, &slot->batch);
	if (r < 0)
		pdet_iter_stop(it, -r, &pdet_session_of(k, it->walk)->env);
	slot->error = r;
	slot->more = r == 0 && slot->span.at < slot->span.end;
}

/*
 * A slot to work on: the first pending one, or a new one at the end. The lock
 * must be held. Returns NULL if there is nothing to do now.
 */
static struct pdet_slot *take_slot(struct pdet_iter *it, struct pdet_worker *k)
{
	struct pdet_slot *slot;
	unsigned i;

	for (i = 0; i < it->used; i++) {
		slot = &it->slots[(it->first + i) % it->n_slots];
		if (slot->state == PDET_SLOT_PENDING) {
			slot->state = PDET_SLOT_RUNNING;
			return slot;
		}
	}
	if (it->used == it->n_slots || it->walk_ended)
		return NULL;
	slot = &it->slots[(it->first + it->used) % it->n_slots];
	/* Add what next() has counted: the next slot may never come. */
	if (next_span(it, k, &slot->span) <= 0) {
		add_up(it, &k->cover);
		return NULL;
	}
	slot->begin = slot->span.place;
	slot->state = PDET_SLOT_RUNNING;
	it->used++;
	return slot;
}

static void finish_slot(struct pdet_iter *it, struct pdet_worker *k,
			struct pdet_slot *slot)
{
	slot->state = PDET_SLOT_READY;
	add_up(it, &k->cover);
	pthread_cond_signal(&it->ready);
}

static void ring_spans(struct pdet_worker *k)
{
	struct pdet_iter *it = k->it;
	struct pdet_slot *slot;

	pthread_mutex_lock(&it->lock);
	while (!it->quit) {
		slot = pdet_engine_check(k) ? NULL : take_slot(it, k);
		if (!slot) {
			pthread_cond_signal(&it->ready);
			pthread_cond_wait(&it->work, &it->lock);
			continue;
		}
		pthread_mutex_unlock(&it->lock);
		run_slot(k, slot);
		pthread_mutex_lock(&it->lock);
		finish_slot(it, k, slot);
	}
	pthread_mutex_unlock(&it->lock);
}

static void *thread_main(void *arg)
{
	struct pdet_worker *k = arg;

	if (k->it->q.grouped)
		group_spans(k);
	else
		ring_spans(k);
	return NULL;
}

static void start_threads(struct pdet_iter *it)
{
	unsigned i;

	if (it->threads_started)
		return;
	it->threads_started = true;
	/* If a thread cannot start, the other threads give the same answer. */
	for (i = 1; i < it->n_workers; i++)
		it->workers[i].started =
			pdet_team_thread(&it->workers[i].thread, thread_main,
					 &it->workers[i]) == 0;
}

/* The caller no longer uses the batch at the front. */
static void release_front(struct pdet_iter *it)
{
	struct pdet_slot *slot = it->current_slot;

	it->current_slot = NULL;
	if (!slot)
		return;
	it->place = slot->span.place;
	if (slot->more) {
		slot->begin = slot->span.place;
		slot->state = PDET_SLOT_PENDING;
	} else {
		slot->state = PDET_SLOT_EMPTY;
		it->first = (it->first + 1) % it->n_slots;
		it->used--;
	}
	if (it->n_workers > 1)
		pthread_cond_signal(&it->work);
}

/* With one thread there is one slot and no lock. */
static int next_alone(struct pdet_iter *it, struct pdet_batch **ret)
{
	struct pdet_worker *k = &it->workers[0];
	struct pdet_slot *slot = &it->slots[0];
	int r;

	if (it->glance) {
		it->glance = false;
		if (slot->batch.memory && !pdet_engine_check(k) &&
		    pdet_stage_glance(k, &slot->batch)) {
			it->walk_ended = true;
			*ret = &slot->batch;
			return 1;
		}
	}
	for (;;) {
		slot->begin = slot->span.place;
		r = pdet_engine_check(k);
		if (r < 0)
			break;
		if (!slot->more) {
			r = next_span(it, k, &slot->span);
			if (r <= 0)
				break;
			slot->begin = slot->span.place;
		}
		run_slot(k, slot);
		r = slot->error;
		if (r < 0)
			break;
		if (slot->batch.n) {
			*ret = &slot->batch;
			r = 1;
			break;
		}
	}
	if (r < 0 && !it->resume)
		it->resume = slot->begin;
	return r;
}

static int next_from_ring(struct pdet_iter *it, struct pdet_batch **ret)
{
	struct pdet_worker *k = &it->workers[0];
	struct pdet_slot *front, *slot;
	int r = 0;

	start_threads(it);
	if (it->ring_ended)
		return pdet_engine_check(k);
	pthread_mutex_lock(&it->lock);
	release_front(it);
	for (;;) {
		front = it->used ? &it->slots[it->first] : NULL;
		r = pdet_engine_check(k);
		if (r < 0 && (!front || front->state != PDET_SLOT_READY ||
			      front->error)) {
			/*
			 * All batches that were ready in order have been
			 * delivered. A worker may still move the place of the
			 * next one. It delivers no rows any more: the query is
			 * to be resumed before them.
			 */
			if (!it->resume)
				it->resume = front ? front->begin : it->place;
			it->ring_ended = true;
			break;
		}
		if (front && front->state == PDET_SLOT_READY) {
			it->current_slot = front;
			if (front->error || !front->batch.n) {
				release_front(it);
				continue;
			}
			*ret = &front->batch;
			r = 1;
			break;
		}
		slot = take_slot(it, k);
		if (slot) {
			pthread_mutex_unlock(&it->lock);
			run_slot(k, slot);
			pthread_mutex_lock(&it->lock);
			finish_slot(it, k, slot);
			continue;
		}
		if (!it->used && it->walk_ended) {
			r = pdet_engine_check(k);
			break;
		}
		pthread_cond_wait(&it->ready, &it->lock);
	}
	pthread_mutex_unlock(&it->lock);
	return r;
}

int pdet_engine_next(struct pdet_iter *it, struct pdet_batch **ret)
{
	return it->n_workers > 1 ? next_from_ring(it, ret) :
				   next_alone(it, ret);
}

static void join_threads(struct pdet_iter *it)
{
	unsigned i;

	for (i = 1; i < it->n_workers; i++) {
		if (!it->workers[i].started)
			continue;
		pthread_join(it->workers[i].thread, NULL);
		it->workers[i].started = false;
	}
}

int pdet_engine_group(struct pdet_iter *it)
{
	unsigned i;
	int r = 0;

	start_threads(it);
	group_spans(&it->workers[0]);
	join_threads(it);
	for (i = 0; i < it->n_workers && r == 0; i++)
		r = pdet_group_merge(it->group, it->workers[i].group);
	pdet_group_sort(it->group);
	return r < 0 ? r : pdet_engine_check(&it->workers[0]);
}

static void worker_free(struct pdet_iter *it, struct pdet_worker *k)
{
	size_t i;

	for (i = 0; i < it->n_backends; i++)
		if (k->session[i])
			it->backends[i]->ops->session_free(k->session[i]);
	pdet_batch_free(&k->sub);
	pdet_again_free(&k->again);
	pdet_group_free(k->group);
	free(k->keep);
}

/*
 * Backends may call this while the lock is held. Reporting progress takes the
 * lock. Only if there is a single thread does this function report progress.
 */
static bool must_stop(void *arg)
{
	struct pdet_worker *k = arg;

	return check(k->it, k->it->n_workers == 1) < 0;
}

int pdet_engine_session(struct pdet_worker *k, struct pdet_env *env,
			size_t backend)
{
	struct pdet_iter *it = k->it;
	struct pdet_backend *b = it->backends[backend];
	int r;

	r = b->ops->session_new(b, env, &it->wants[backend],
				&k->session[backend]);
	if (r < 0)
		return r;
	k->session[backend]->stop = must_stop;
	k->session[backend]->stop_arg = k;
	k->session[backend]->asked = &it->places[backend];
	return 0;
}

static int worker_init(struct pdet_iter *it, struct pdet_worker *k,
		       bool caller)
{
	struct pdet_env env = *it->env;
	size_t i, scratch = it->rows_per_batch;
	int r;

	k->it = it;
	/* Callbacks run only on the caller's thread. */
	if (!caller)
		env.log = NULL;
	for (i = 0; i < it->n_backends; i++) {
		if (!it->asked[i])
			continue;
		r = pdet_engine_session(k, &env, i);
		if (r < 0) {
			pdet_take_words(it->env, &env);
			return r;
		}
	}
	if (it->filter)
		scratch += pdet_filter_scratch(it->filter,
					       it->rows_per_batch);
	k->keep = malloc(scratch);
	if (!k->keep)
		return -ENOMEM;
	if (it->q.grouped) {
		k->group = pdet_group_new(it->q.group_by, it->q.n_group_by,
					  it->q.string_bytes);
		if (!k->group)
			return -ENOMEM;
		if (pdet_sums_bytes(it))
			pdet_group_sum_bytes(k->group);
	}
	return 0;
}

int pdet_engine_start(struct pdet_iter *it)
{
	unsigned i;
	int r;

	it->n_slots = it->n_workers > 1 ? it->n_workers * 2 + 2 : 1;
	it->slots = calloc(it->n_slots, sizeof(*it->slots));
	it->workers = calloc(it->n_workers, sizeof(*it->workers));
	if (!it->slots || !it->workers)
		return -ENOMEM;
	for (i = 0; i < it->n_workers; i++) {
		r = worker_init(it, &it->workers[i], i == 0);
		if (r < 0)
			return r;
	}
	return 0;
}

void pdet_engine_stop(struct pdet_iter *it)
{
	unsigned i;

	if (it->workers) {
		pdet_iter_stop(it, ECANCELED, NULL);
		pthread_mutex_lock(&it->lock);
		it->quit = true;
		pthread_cond_broadcast(&it->work);
		pthread_mutex_unlock(&it->lock);
		join_threads(it);
		for (i = 0; i < it->n_workers; i++)
			worker_free(it, &it->workers[i]);
	}
	for (i = 0; it->slots && i < it->n_slots; i++) {
		if (it->walk && it->walk->ops->span_free)
			it->walk->ops->span_free(it->walk,
						 &it->slots[i].span);
		pdet_batch_free(&it->slots[i].batch);
	}
	free(it->workers);
	free(it->slots);
	it->workers = NULL;
	it->slots = NULL;
}
