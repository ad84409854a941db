/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The border for reading pages of tasks. It makes one public query for all of
 * them, which reads page tables first and brings nothing in. The remaining
 * pages are read here directly, but only if that does not fill a hole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/content.h"
#include "base/clock.h"
#include "explain/collect_file.h"
#include "explain/explain.h"

#define BATCH 1024
#define OPTIONS \
	((uint32_t)PAGEDET_LOOK_FILE | (uint32_t)PAGEDET_LOOK_BRING_IN)

static const uint32_t wanted[] = {
	PAGEDET_FIELD_ASK, PAGEDET_FIELD_TIME_NS, PAGEDET_FIELD_VADDR,
	PAGEDET_FIELD_KIND, PAGEDET_FIELD_FLAGS, PAGEDET_FIELD_PTE,
	PAGEDET_FIELD_PTE_KNOWN, PAGEDET_FIELD_HASH, PAGEDET_FIELD_PID,
};

struct looking {
	struct pagedet *pd;
	const struct pagedet_item *items;
	uint64_t n;
	struct pagedet_look_options o;
	struct pagedet_seen *seen;
	uint64_t *first;	/* by item: index of its first page */
	uint64_t page, hash_zero;
	unsigned char *bytes;	/* for one page */
	bool live;
	bool saved;		/* a snapshot: rows are not by item */
	struct pdet_backing backing;
	int memory;		/* /proc/PID/mem, or -1 */
	uint32_t memory_pid;
};

static bool has(const struct pagedet_page *row, unsigned field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_HAVE;
}

static void lose(struct pagedet_seen *s, uint32_t why)
{
	s->state = PAGEDET_SEEN_LOST;
	s->why = why;
}

/* It reads as zeroes, and the caller's bytes are zero already. */
static void set_absent(const struct looking *l, struct pagedet_seen *s)
{
	s->state = PAGEDET_SEEN_ABSENT;
	if (l->o.bytes)
		s->bits |= PAGEDET_SEEN_BYTES;
}

static void set_hash(const struct looking *l, struct pagedet_seen *s,
		     uint64_t hash)
{
	s->hash = hash;
	s->why = 0;
	s->state = hash == l->hash_zero ? PAGEDET_SEEN_ZERO :
					  PAGEDET_SEEN_DATA;
}

/* Where the caller wants the bytes of a page. NULL: nowhere. */
static unsigned char *bytes_of(const struct looking *l,
			       const struct pagedet_seen *s)
{
	return l->o.bytes ? (unsigned char *)l->o.bytes +
			    (uint64_t)(s - l->seen) * l->page : NULL;
}

/* --- pages without a row --- */

static int open_memory(struct looking *l, uint32_t pid)
{
	if (l->memory >= 0 && l->memory_pid == pid)
		return l->memory;
	if (l->memory >= 0)
		close(l->memory);
	l->memory_pid = pid;
	l->memory = pdet_open(&l->pd->env, "/proc/%u/mem", pid);
	return l->memory;
}

static void take_bytes(struct looking *l, struct pagedet_seen *s)
{
	struct pagedet_content c = { .size = sizeof(c) };
	unsigned char *to = bytes_of(l, s);

	s->time_ns = pdet_clock_ns(CLOCK_REALTIME);
	if (pagedet_content(l->pd, l->bytes, l->page, PAGEDET_CONTENT_HASH,
			    &c))
		return;
	set_hash(l, s, c.hash);
	if (!to)
		return;
	memcpy(to, l->bytes, l->page);
	s->bits |= PAGEDET_SEEN_BYTES;
}

static void bring_in(struct looking *l, uint32_t pid, uint64_t vaddr,
		     struct pagedet_seen *s)
{
	const int fd = l->o.options & PAGEDET_LOOK_BRING_IN ?
			       open_memory(l, pid) : -1;

	lose(s, l->o.options & PAGEDET_LOOK_BRING_IN ? PAGEDET_IO :
	     PAGEDET_EXCLUDED);
	if (fd >= 0 && pread(fd, l->bytes, l->page, (off_t)vaddr) ==
	    (ssize_t)l->page)
		take_bytes(l, s);
}

/* Shared memory may be cached or on disk without being mapped. */
static void look_behind(struct looking *l, uint64_t vaddr,
			struct pagedet_seen *s)
{
	const struct pdet_backing *b = &l->backing;

	switch (pdet_backing_hole(b, vaddr, l->page)) {
	case PAGEDET_YES:
		set_absent(l, s);
		break;
	case PAGEDET_NO:
		lose(s, PAGEDET_IO);
		if (!pdet_backing_read(b, vaddr, l->bytes, l->page))
			break;
		take_bytes(l, s);
		s->bits |= PAGEDET_SEEN_FILE;
		break;
	default:
		lose(s, PAGEDET_UNSUPPORTED);
	}
}

/* No page table entry maps the page. */
static void look_at_nothing(struct looking *l, uint32_t pid, uint64_t vaddr,
			    struct pagedet_seen *s)
{
	const struct pdet_backing *b = &l->backing;
	const bool open = pdet_backing_at(&l->backing, pid, vaddr);

	if (!b->here)
		lose(s, PAGEDET_NONE);
	else if (!b->vma.inode)
		set_absent(l, s);
	else if (!(b->vma.prot & PAGEDET_PROT_SHARED))
		bring_in(l, pid, vaddr, s);
	else if (!(l->o.options & PAGEDET_LOOK_FILE))
		lose(s, PAGEDET_EXCLUDED);
	else if (open)
		look_behind(l, vaddr, s);
	else
		lose(s, PAGEDET_NO_ACCESS);
}

/*
 * Whether the row's VMA is private and has no file behind it. Where /proc is
 * not there to ask, its name tells.
 */
static bool is_anonymous(const struct pagedet_iter *it,
			 const struct pagedet_page *row)
{
	const char *name;

	if (!has(row, PAGEDET_FIELD_VMA_PROT) ||
	    row->vma_prot & PAGEDET_PROT_SHARED)
		return false;
	if (!has(row, PAGEDET_FIELD_VMA_NAME))
		return PAGEDET_CELL_STATE(row->cell[PAGEDET_FIELD_VMA_NAME]) ==
		       PAGEDET_NONE;
	name = pagedet_string(it, row->vma_name, NULL);
	return name && (!strcmp(name, "[heap]") || !strcmp(name, "[stack]") ||
			!strncmp(name, "[anon:", strlen("[anon:")));
}

static void look_by_hand(struct looking *l, const struct pagedet_iter *it,
			 const struct pagedet_page *row, uint32_t pid,
			 struct pagedet_seen *s)
{
	const uint32_t why = PAGEDET_CELL_STATE(row->cell[PAGEDET_FIELD_HASH]);

	if (pdet_row_is(row, PAGEDET_KIND_UNMAPPED))
		lose(s, PAGEDET_NONE);
	else if (pdet_row_pte(row, PAGEDET_PTE_HWPOISON) == PAGEDET_YES)
		lose(s, PAGEDET_IO);
	else if (!l->live && pdet_row_absent(row) == PAGEDET_YES &&
		 is_anonymous(it, row))
		set_absent(l, s);
	else if (!l->live)
		lose(s, why == PAGEDET_HAVE || why == PAGEDET_NONE ?
		     PAGEDET_UNSUPPORTED : why);
	else if (pdet_row_absent(row) == PAGEDET_YES)
		look_at_nothing(l, pid, row->vaddr, s);
	else
		bring_in(l, pid, row->vaddr, s);
}

/* --- rows --- */

static void take_row(struct looking *l, const struct pagedet_iter *it,
		     uint64_t row_at, const struct pagedet_page *row,
		     struct pagedet_seen *s)
{
	const uint32_t pid = row->pid;
	unsigned char *to = bytes_of(l, s);
	const void *bytes;
	size_t len;

	s->kind = has(row, PAGEDET_FIELD_KIND) ? row->kind : 0;
	s->time_ns = row->time_ns;
	if (pdet_row_pte(row, PAGEDET_PTE_SWAPPED) == PAGEDET_YES)
		s->bits |= PAGEDET_SEEN_SWAPPED;
	if (has(row, PAGEDET_FIELD_FLAGS) &&
	    row->flags & (PAGEDET_PF(PAGEDET_PF_THP) |
			  PAGEDET_PF(PAGEDET_PF_HUGE)))
		s->bits |= PAGEDET_SEEN_HUGE;
	if (!has(row, PAGEDET_FIELD_HASH)) {
		look_by_hand(l, it, row, pid, s);
		return;
	}
	set_hash(l, s, row->hash);
	bytes = to ? pagedet_page_bytes(it, row_at, &len) : NULL;
	if (!bytes || len != l->page)
		return;
	memcpy(to, bytes, l->page);
	s->bits |= PAGEDET_SEEN_BYTES;
}

/* The item of a row; n if there is none. */
static uint64_t item_of(const struct looking *l, const struct pagedet_page *row)
{
	uint64_t i = l->saved ? 0 : PDET_MIN(row->ask, l->n);

	for (; i < l->n; i++) {
		const struct pagedet_item *item = &l->items[i];

		if (row->vaddr >= item->first &&
		    row->vaddr - item->first < item->count &&
		    (!l->saved || row->pid == item->pid))
			return i;
		if (!l->saved)
			break;
	}
	return l->n;
}

static void take_rows(struct looking *l, const struct pagedet_iter *it,
		      struct pagedet_page *rows, int n)
{
	int k;

	for (k = 0; k < n; k++) {
		struct pagedet_page *row = &rows[k];
		const uint64_t i = item_of(l, row);

		if (i == l->n)
			continue;
		row->pid = l->items[i].pid ? l->items[i].pid :
					     (uint32_t)getpid();
		take_row(l, it, (uint64_t)k, row, &l->seen[l->first[i] +
			 (row->vaddr - l->items[i].first) / l->page]);
	}
}

static int drain(struct looking *l, struct pagedet_iter *it)
{
	struct pagedet_page *rows = calloc(BATCH, sizeof(*rows));
	int n;

	if (!rows)
		return pdet_fail(&l->pd->env, ENOMEM, "no memory");
	while ((n = pagedet_next(it, rows, BATCH)) > 0)
		take_rows(l, it, rows, n);
	free(rows);
	return n;
}

static bool has_field(const struct pagedet_query *q, uint32_t field)
{
	return q->fields[field / 64] >> field % 64 & 1;
}

/* A snapshot delivers only its saved rows. */
static int ask_saved(struct looking *l, struct pagedet_query *q)
{
	struct pagedet_query saved = PAGEDET_QUERY_INIT;
	const int r = pagedet_saved_query(l->pd, &saved);

	pdet_clear(&l->pd->env);
	l->saved = r == 0 || r == -EOVERFLOW;
	if (!l->saved)
		return 0;
	if (!has_field(&saved, PAGEDET_FIELD_HASH) ||
	    !has_field(&saved, PAGEDET_FIELD_PID) ||
	    !has_field(&saved, PAGEDET_FIELD_VADDR))
		return pdet_fail(&l->pd->env, ENODATA,
				 "the snapshot has no hashes of the memory of "
				 "tasks");
	q->target = PAGEDET_TARGET_SCAN;
	q->items = NULL;
	q->n_items = 0;
	return 0;
}

static int ask(struct looking *l)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	size_t i;
	int r;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = l->items;
	q.n_items = l->n;
	q.sources = l->o.sources;
	q.deadline_ns = l->o.deadline_ns;
	for (i = 0; i < PDET_COUNT(wanted); i++)
		pdet_want(&q, wanted[i]);
	if (!l->live) {
		pdet_want(&q, PAGEDET_FIELD_VMA_NAME);
		pdet_want(&q, PAGEDET_FIELD_VMA_PROT);
	}
	r = ask_saved(l, &q);
	if (r == 0)
		r = pagedet_query(l->pd, &q, &it);
	if (r < 0)
		return r;
	r = drain(l, it);
	pagedet_iter_free(it);
	return r == -ETIMEDOUT ? 0 : r;
}

/* --- entry point --- */

static int check(struct looking *l, uint64_t max)
{
	struct pdet_env *env = &l->pd->env;
	uint64_t i, pages = 0;

	if (l->o.options & ~OPTIONS)
		return pdet_fail(env, E2BIG,
				 "the options have bits 0x%x that this library "
				 "does not know",
				 l->o.options & ~OPTIONS);
	for (i = 0; i < l->n; i++) {
		const struct pagedet_item *item = &l->items[i];

		l->first[i] = pages;
		if (!item->count || item->first % l->page ||
		    item->count % l->page ||
		    item->count / l->page > max - pages)
			return pdet_fail(env, EINVAL,
					 "item %llu is not whole pages, or has "
					 "more pages than fit",
					 (unsigned long long)i);
		pages += item->count / l->page;
	}
	if (l->o.bytes && l->o.bytes_size / l->page < pages)
		return pdet_fail(env, EINVAL,
				 "there is no room for the bytes of %llu pages",
				 (unsigned long long)pages);
	memset(l->seen, 0, pages * sizeof(*l->seen));
	if (l->o.bytes)
		memset(l->o.bytes, 0, pages * l->page);
	return 0;
}

/* Gets the hash of zeroes, and finds out whether rows alone are enough. */
static int prepare(struct looking *l)
{
	struct pagedet_info info = { .size = sizeof(info) };
	const int r = pagedet_info(l->pd, &info);

	if (r < 0)
		return r;
	l->live = info.live;
	return pdet_hash_of_zeroes(l->pd, &l->hash_zero);
}

static int look(struct looking *l, uint64_t max)
{
	int r;

	l->first = calloc(l->n ? l->n : 1, sizeof(*l->first));
	l->bytes = malloc(l->page);
	if (!l->first || !l->bytes)
		return pdet_fail(&l->pd->env, ENOMEM, "no memory");
	r = check(l, max);
	if (r == 0)
		r = prepare(l);
	return r < 0 || !l->n ? r : ask(l);
}

int pagedet_look(struct pagedet *pd, const struct pagedet_item *items,
		 uint64_t n, const struct pagedet_look_options *options,
		 struct pagedet_seen *seen, uint64_t max)
{
	static const struct pagedet_look_options defaults =
		PAGEDET_LOOK_OPTIONS_INIT;
	struct looking l = { .pd = pd, .items = items, .n = n, .seen = seen,
			     .memory = -1 };
	int r;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	r = pdet_check_struct(&pd->env, &l.o, sizeof(l.o), options, &defaults,
			      "struct pagedet_look_options");
	if (r < 0)
		return r;
	l.page = pd->page_size;
	pdet_backing_begin(&l.backing, &pd->env);
	r = look(&l, max);
	pdet_backing_end(&l.backing);
	if (l.memory >= 0)
		close(l.memory);
	free(l.first);
	free(l.bytes);
	return r;
}
