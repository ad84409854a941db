/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Collects the row and the content of each page, by one query, and the content
 * once more later.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/collect.h"
#include "explain/evidence.h"
#include "explain/explain.h"

/* The fields that rules use, among those that cost a read or a look-up. */
static const uint32_t wanted[] = {
	PAGEDET_FIELD_ASK, PAGEDET_FIELD_TIME_NS, PAGEDET_FIELD_NOTES,
	PAGEDET_FIELD_PFN, PAGEDET_FIELD_VADDR, PAGEDET_FIELD_HEAD_PFN,
	PAGEDET_FIELD_ORDER, PAGEDET_FIELD_KIND, PAGEDET_FIELD_FLAGS,
	PAGEDET_FIELD_FLAGS_KNOWN, PAGEDET_FIELD_REFCOUNT,
	PAGEDET_FIELD_MAPCOUNT, PAGEDET_FIELD_MAPCOUNT_KIND,
	PAGEDET_FIELD_PINCOUNT, PAGEDET_FIELD_PID, PAGEDET_FIELD_COMM,
	PAGEDET_FIELD_PTE, PAGEDET_FIELD_PTE_KNOWN, PAGEDET_FIELD_VMA_PROT,
	PAGEDET_FIELD_MEMCG_INO, PAGEDET_FIELD_DEV, PAGEDET_FIELD_INODE,
	PAGEDET_FIELD_INDEX, PAGEDET_FIELD_PATH, PAGEDET_FIELD_SLAB_CACHE,
	PAGEDET_FIELD_ALLOC_STACK, PAGEDET_FIELD_ALLOC_PID,
	PAGEDET_FIELD_ALLOC_COMM, PAGEDET_FIELD_GFP, PAGEDET_FIELD_ALLOC_NS,
	PAGEDET_FIELD_REPORT, PAGEDET_FIELD_REASON, PAGEDET_FIELD_EVENT_NS,
	PAGEDET_FIELD_FREE_NS, PAGEDET_FIELD_MIGRATE_REASON,
	PAGEDET_FIELD_KERNEL_MAPS,
};

#define BATCH 64

/* --- texts --- */

/*
 * Copies the texts, because the ids of a row are valid only with its iterator.
 */
static void take_texts(struct pagedet_evidence *e,
		       const struct pagedet_iter *it, struct pagedet_page *row)
{
	static const struct { uint32_t field; size_t at; } strings[] = {
		{ PAGEDET_FIELD_COMM, offsetof(struct pagedet_page, comm) },
		{ PAGEDET_FIELD_ALLOC_COMM,
		  offsetof(struct pagedet_page, alloc_comm) },
		{ PAGEDET_FIELD_SLAB_CACHE,
		  offsetof(struct pagedet_page, slab_cache) },
		{ PAGEDET_FIELD_GFP, offsetof(struct pagedet_page, gfp) },
		{ PAGEDET_FIELD_CONTENT,
		  offsetof(struct pagedet_page, content) },
		{ PAGEDET_FIELD_REASON,
		  offsetof(struct pagedet_page, reason) },
		{ PAGEDET_FIELD_PATH, offsetof(struct pagedet_page, path) },
	};
	const char *text;
	uint64_t id;
	size_t i;

	for (i = 0; i < PDET_COUNT(strings); i++) {
		uint16_t *cell = &row->cell[strings[i].field];

		if (PAGEDET_CELL_STATE(*cell) != PAGEDET_HAVE)
			continue;
		memcpy(&id, (char *)row + strings[i].at, sizeof(id));
		text = pagedet_string(it, id, NULL);
		id = !text ? 0 :
		     strings[i].field == PAGEDET_FIELD_REASON ?
		     pdet_evidence_prose(e, text) : pdet_evidence_text(e, text);
		memcpy((char *)row + strings[i].at, &id, sizeof(id));
		if (text && *text && !id)
			*cell = (uint16_t)((*cell & 0xff00u) |
					   PAGEDET_NO_MEMORY);
	}
}

/* --- rows --- */

static void take_content(struct pdet_collecting *c, struct pagedet_evidence *e,
			 const struct pagedet_iter *it, uint64_t row_at,
			 const struct pagedet_page *row)
{
	const unsigned now = c->version;
	const unsigned char *bytes;
	size_t len;

	bytes = pagedet_page_bytes(it, row_at, &len);
	e->hash_state[now] = PAGEDET_CELL_STATE(row->cell[PAGEDET_FIELD_HASH]);
	if (!bytes)
		return;
	e->here_read = PAGEDET_READ_DONE;
	e->hash_ns[now] = row->time_ns;
	e->zero[now] = pdet_evidence_zero(bytes, len);
	if (e->hash_state[now] == PAGEDET_HAVE) {
		e->hash[now] = row->hash;
		e->hash_key[now] = c->hash_key;
	}
}

/*
 * Decides whether the allocating task still exists. If no task has its pid, it
 * has ended. But a new task may have got the same pid.
 */
static void look_for_task(const struct pdet_collecting *c,
			  struct pagedet_evidence *e,
			  const struct pagedet_page *row)
{
	char path[64];

	if (!c->of_pids || PAGEDET_CELL_STATE(
	    row->cell[PAGEDET_FIELD_ALLOC_PID]) != PAGEDET_HAVE)
		return;
	snprintf(path, sizeof(path), "/proc/%u", row->alloc_pid);
	if (access(path, F_OK) < 0 && errno == ENOENT)
		e->alloc_task = PAGEDET_NO;
}

static void count_mappers(const struct pdet_collecting *c,
			  struct pagedet_evidence *e,
			  const struct pagedet_page *row)
{
	if (!pdet_row_has_maps(row) ||
	    row->mapcount_kind != PAGEDET_MAPCOUNT_EXACT)
		return;
	e->extra_mappers = row->mapcount > c->o.known_mappers ? PAGEDET_YES :
								PAGEDET_NO;
	if (e->extra_mappers == PAGEDET_YES)
		e->mappers = row->mapcount - c->o.known_mappers;
}

static void take_row(struct pdet_collecting *c, const struct pagedet_iter *it,
		     uint64_t row_at, struct pagedet_page *row)
{
	struct pagedet_evidence *e;

	if (row->ask >= c->list.n)
		return;
	e = pdet_evidence_at(&c->list, row->ask);
	if (c->version == PAGEDET_AS_AGAIN) {
		take_content(c, e, it, row_at, row);
		return;
	}
	take_texts(e, it, row);
	memcpy(e->here, row, sizeof(*row));
	if (c->o.options & PAGEDET_COLLECT_CONTENT)
		take_content(c, e, it, row_at, row);
	look_for_task(c, e, row);
	count_mappers(c, e, row);
	c->rows++;
}

static int drain(struct pdet_collecting *c, struct pagedet_iter *it)
{
	struct pagedet_page *rows = calloc(BATCH, sizeof(*rows));
	int n, i;

	if (!rows)
		return pdet_fail(&c->pd->env, ENOMEM, "no memory");
	while ((n = pagedet_next(it, rows, BATCH)) > 0)
		for (i = 0; i < n; i++)
			take_row(c, it, (uint64_t)i, &rows[i]);
	free(rows);
	return n;
}

int pdet_collect_rows(struct pdet_collecting *c,
		      const struct pagedet_item *items)
{
	struct pagedet_coverage cover = { .size = sizeof(cover) };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	size_t i;
	int r;

	c->denied = false;
	q.target = c->o.target;
	q.items = items;
	q.n_items = c->list.n;
	q.sources = c->o.sources;
	q.deadline_ns = pdet_clock_left(c->start_ns, c->o.deadline_ns);
	for (i = 0; c->version == PAGEDET_AS_NOW && i < PDET_COUNT(wanted); i++)
		pdet_want(&q, wanted[i]);
	pdet_want(&q, PAGEDET_FIELD_ASK);
	pdet_want(&q, PAGEDET_FIELD_TIME_NS);
	if (c->o.options & PAGEDET_COLLECT_CONTENT) {
		pdet_want(&q, PAGEDET_FIELD_CONTENT);
		pdet_want(&q, PAGEDET_FIELD_HASH);
	}
	r = pagedet_query(c->pd, &q, &it);
	if (r < 0)
		return r;
	r = drain(c, it);
	/* If there are several tasks, some may be denied. */
	if (r == 0 && pagedet_coverage(it, &cover) == 0 &&
	    cover.tasks_denied && !cover.tasks_gone)
		c->denied = true;
	pagedet_iter_free(it);
	return r;
}

void pdet_collect_late(struct pdet_collecting *c)
{
	uint64_t i;
	size_t f;

	for (i = 0; i < c->list.n; i++) {
		struct pagedet_evidence *e = pdet_evidence_at(&c->list, i);
		struct pagedet_page row;

		memcpy(&row, e->here, sizeof(row));
		if (row.cell[PAGEDET_FIELD_ASK])
			continue;
		for (f = 0; f < PDET_COUNT(wanted); f++)
			row.cell[wanted[f]] = PAGEDET_TIMEOUT;
		memcpy(e->here, &row, sizeof(row));
	}
}

/* --- the second read --- */

/* Waits until the second read is due. Returns false if that is too late. */
static bool wait_again(const struct pdet_collecting *c, uint64_t since_ns)
{
	const uint64_t gone = pdet_clock_ns(CLOCK_MONOTONIC) - since_ns;
	const uint64_t left = c->o.again_ns > gone ? c->o.again_ns - gone : 0;
	struct timespec t = { (time_t)(left / 1000000000u),
			      (long)(left % 1000000000u) };

	if (c->o.deadline_ns &&
	    left >= pdet_clock_left(c->start_ns, c->o.deadline_ns))
		return false;
	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
	return true;
}

int pdet_collect_again(struct pdet_collecting *c,
		       const struct pagedet_item *own, uint64_t since_ns)
{
	const unsigned again = PAGEDET_AS_AGAIN;
	uint64_t i;
	int r = -ETIMEDOUT;

	for (i = 0; i < c->list.n; i++)
		pdet_evidence_at(&c->list, i)->hash_state[again] =
			PAGEDET_TIMEOUT;
	c->version = again;
	if (wait_again(c, since_ns))
		r = pdet_collect_rows(c, own);
	if (r == -ENOMEM || r == -ECANCELED)
		return r;
	if (r == 0 && c->denied)
		r = -EACCES;
	/* The first read stays valid although the task has ended. */
	pdet_clear(&c->pd->env);
	for (i = 0; r != -ETIMEDOUT && i < c->list.n; i++) {
		struct pagedet_evidence *e = pdet_evidence_at(&c->list, i);

		if (e->hash_state[again] == PAGEDET_TIMEOUT)
			e->hash_state[again] = r == 0 ?
				PAGEDET_RACED : pdet_reason_of(r);
	}
	return 0;
}
