/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * An object is the one of before if its address, its size, the index of its
 * allocation and its thread are the same. Not its place: that of an object that
 * a cache had ready is told when it is asked for. Two objects of one reading
 * may have the same key where the index counts jiffies, so keys are counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/hash.h"
#include "base/io.h"
#include "kmap/line.h"
#include "memorizer/merge.h"

enum { BEFORE, NOW };

int pdet_merge_open(struct pdet_merge *m, const char *folder)
{
	int r;

	memset(m, 0, sizeof(*m));
	r = pdet_spool_open(&m->spool, folder, PDET_MERGE_LINE);
	m->line = malloc(PDET_MERGE_LINE);
	return r < 0 || m->line ? r : -ENOMEM;
}

void pdet_merge_close(struct pdet_merge *m)
{
	int i;

	pdet_spool_close(&m->spool);
	free(m->line);
	for (i = 0; i < 2; i++) {
		pdet_pairs_free(&m->live[i]);
		pdet_pairs_free(&m->freed[i]);
	}
	memset(m, 0, sizeof(*m));
	m->spool.fd = -1;
}

/* --- what is kept --- */

static int keep(struct pdet_merge *m, const char *text, size_t n)
{
	size_t some;
	int r = 0;

	m->bytes += n;
	while (r == 0 && n) {
		some = PDET_MIN(n, PDET_MERGE_LINE - m->staged);
		memcpy(pdet_spool_slot(&m->spool) + m->staged, text, some);
		m->staged += some;
		text += some;
		n -= some;
		if (m->staged < PDET_MERGE_LINE)
			break;
		m->staged = 0;
		r = pdet_spool_keep(&m->spool);
	}
	return r;
}

static int write_all(int fd, const char *at, size_t n)
{
	ssize_t some;

	while (n) {
		some = write(fd, at, n);
		if (some < 0 && errno != EINTR)
			return -errno;
		at += PDET_MAX(some, 0);
		n -= (size_t)PDET_MAX(some, 0);
	}
	return 0;
}

int pdet_merge_write(struct pdet_merge *m, int fd)
{
	uint64_t at = 0;
	ssize_t n = 0;
	int r = 0;

	/* Nothing comes any more: the room of a line is free. */
	while (r == 0 && at < m->spool.bytes) {
		n = pdet_pread(m->spool.fd, m->line, PDET_MERGE_LINE, at);
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		r = write_all(fd, m->line, (size_t)n);
		at += (uint64_t)n;
	}
	return r < 0 ? r :
		       write_all(fd, (const char *)pdet_spool_slot(&m->spool),
				 m->staged);
}

/* --- objects --- */

static uint64_t key_of(const struct pdet_kmap_line *l)
{
	const uint64_t key[] = { l->va.address, l->bytes, l->alloc_index,
				 (uint64_t)l->pid };

	return pdet_hash(key, sizeof(key));
}

static bool count(struct pdet_pairs *p, uint64_t key)
{
	uint64_t n = 0;

	pdet_pairs_get(p, key, &n);
	return pdet_pairs_set(p, key, n + 1);
}

/* Whether one of that key is left; then there is one less. */
static bool take(struct pdet_pairs *p, uint64_t key)
{
	uint64_t n;

	/* It replaces a value, which needs no memory. */
	return pdet_pairs_get(p, key, &n) && n &&
	       pdet_pairs_set(p, key, n - 1);
}

/* Sets whether its lines are kept. Returns 0 or -ENOMEM. */
static int judge(struct pdet_merge *m, const struct pdet_kmap_line *l)
{
	const bool is_live = !l->free_index;
	const uint64_t key = key_of(l);
	bool again = false, ok = true;

	if (!l->va.hidden) {
		again = !is_live && take(&m->freed[BEFORE], key);
		m->repeated += again || take(&m->live[BEFORE], key);
		ok = m->is_last ||
		     count(is_live ? &m->live[NOW] : &m->freed[NOW], key);
	} else if (m->repeats) {
		m->strange++;
	}
	m->keeps = is_live ? m->is_last : !again;
	m->objects += m->keeps;
	m->n_live += m->keeps && is_live;
	return ok ? 0 : -ENOMEM;
}

/* A whole line without its newline. */
static int take_line(struct pdet_merge *m, const char *text, size_t n)
{
	const struct pdet_scan line = { text, text + n };
	struct pdet_kmap_line l;
	int r = 0;

	if (pdet_kmap_is_access(line)) {
		m->accesses += m->keeps;
	} else if (pdet_kmap_numbers(line, &l)) {
		r = judge(m, &l);
	} else {
		m->strange++;
		m->keeps = true;
	}
	if (r == 0 && m->keeps)
		r = keep(m, text, n);
	return r == 0 && m->keeps ? keep(m, "\n", 1) : r;
}

/* One piece of a line; @ends: with its end. */
static int take_piece(struct pdet_merge *m, const char *text, size_t n,
		      bool ends)
{
	int r;

	if (m->skips) {
		m->skips = !ends;
		return 0;
	}
	if (m->n_line + n > PDET_MERGE_LINE) {
		m->strange++;
		m->n_line = 0;
		m->skips = !ends;
		return 0;
	}
	if (ends && !m->n_line)
		return take_line(m, text, n);
	memcpy(m->line + m->n_line, text, n);
	m->n_line += n;
	if (!ends)
		return 0;
	r = take_line(m, m->line, m->n_line);
	m->n_line = 0;
	return r;
}

int pdet_merge_feed(struct pdet_merge *m, const char *text, size_t n)
{
	const char *end = text + n, *nl;
	int r = 0;

	while (r == 0 && text < end) {
		nl = memchr(text, '\n', (size_t)(end - text));
		r = take_piece(m, text, (size_t)((nl ? nl : end) - text),
			       nl != NULL);
		text = nl ? nl + 1 : end;
	}
	return r;
}

/* --- readings --- */

void pdet_merge_begin(struct pdet_merge *m, bool is_last)
{
	m->is_last = is_last;
	/* What comes before an object belongs to none, and is told later. */
	m->keeps = true;
}

static uint64_t left(const struct pdet_pairs *p)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < p->slots; i++)
		n += p->slot[i].used ? p->slot[i].value : 0;
	return n;
}

static void move(struct pdet_pairs table[2])
{
	pdet_pairs_free(&table[BEFORE]);
	table[BEFORE] = table[NOW];
	table[NOW] = (struct pdet_pairs){ 0 };
}

void pdet_merge_end(struct pdet_merge *m, bool cleared)
{
	m->cut = m->cut || m->n_line || m->skips;
	m->n_line = 0;
	m->skips = false;
	m->vanished += left(&m->live[BEFORE]);
	move(m->live);
	move(m->freed);
	if (cleared)
		pdet_pairs_free(&m->freed[BEFORE]);
	m->repeats = !cleared;
}
