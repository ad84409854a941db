/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The border for collecting evidence. It uses the public query functions: one
 * query for all pages, and a search for mappers only if pages have more
 * mappings than are known.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/collect.h"
#include "base/clock.h"
#include "base/io.h"
#include "check/mark.h"
#include "explain/collect_file.h"
#include "explain/collect_track.h"
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
#define OPTIONS \
	((uint32_t)PAGEDET_COLLECT_CONTENT | (uint32_t)PAGEDET_COLLECT_AGAIN | \
	 (uint32_t)PAGEDET_COLLECT_FILE | (uint32_t)PAGEDET_COLLECT_LOG)

struct collecting {
	struct pagedet *pd;
	const struct pagedet_item *items;
	struct pagedet_collect_options o;
	char *evidence;
	uint64_t stride, n;
	uint64_t rows;
	uint64_t start_ns;
	uint64_t hash_key;	/* id of the handle's key */
	uint32_t no_swap, counters;
	unsigned version;	/* the rows' contents are stored as this
				 * version */
	bool denied;		/* some tasks could not be read for it */
	bool of_pids;		/* the kernel's pids are valid here */
};

static struct pagedet_evidence *at(const struct collecting *c, uint64_t i)
{
	return (struct pagedet_evidence *)(void *)(c->evidence + i * c->stride);
}

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
		id = text ? pdet_evidence_text(e, text) : 0;
		memcpy((char *)row + strings[i].at, &id, sizeof(id));
		if (text && *text && !id)
			*cell = (uint16_t)((*cell & 0xff00u) |
					   PAGEDET_NO_MEMORY);
	}
}

/* --- rows --- */

static bool is_zero(const unsigned char *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len && !bytes[i]; i++)
		;
	return i == len;
}

static void take_content(struct collecting *c, struct pagedet_evidence *e,
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
	e->zero[now] = is_zero(bytes, len) ? PAGEDET_YES : PAGEDET_NO;
	if (e->hash_state[now] == PAGEDET_HAVE) {
		e->hash[now] = row->hash;
		e->hash_key[now] = c->hash_key;
	}
}

/*
 * Decides whether the allocating task still exists. If no task has its pid, it
 * has ended. But a new task may have got the same pid.
 */
static void look_for_task(const struct collecting *c,
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

static void count_mappers(const struct collecting *c,
			  struct pagedet_evidence *e,
			  const struct pagedet_page *row)
{
	if (PAGEDET_CELL_STATE(row->cell[PAGEDET_FIELD_MAPCOUNT]) !=
	    PAGEDET_HAVE || row->mapcount_kind != PAGEDET_MAPCOUNT_EXACT ||
	    row->mapcount >> 63)
		return;
	e->extra_mappers = row->mapcount > c->o.known_mappers ? PAGEDET_YES :
								PAGEDET_NO;
	if (e->extra_mappers == PAGEDET_YES)
		e->mappers = row->mapcount - c->o.known_mappers;
}

static void take_row(struct collecting *c, const struct pagedet_iter *it,
		     uint64_t row_at, struct pagedet_page *row)
{
	struct pagedet_evidence *e;

	if (row->ask >= c->n)
		return;
	e = at(c, row->ask);
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

static int drain(struct collecting *c, struct pagedet_iter *it)
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

static int ask_rows(struct collecting *c, const struct pagedet_item *items)
{
	struct pagedet_coverage cover = { .size = sizeof(cover) };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	size_t i;
	int r;

	c->denied = false;
	q.target = c->o.target;
	q.items = items;
	q.n_items = c->n;
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

/* Marks what the deadline prevented. */
static void mark_late(struct collecting *c)
{
	uint64_t i;
	size_t f;

	for (i = 0; i < c->n; i++) {
		struct pagedet_page row;

		memcpy(&row, at(c, i)->here, sizeof(row));
		if (row.cell[PAGEDET_FIELD_ASK])
			continue;
		for (f = 0; f < PDET_COUNT(wanted); f++)
			row.cell[wanted[f]] = PAGEDET_TIMEOUT;
		memcpy(at(c, i)->here, &row, sizeof(row));
	}
}

/* --- other mappings --- */

static bool is_other(const struct collecting *c, uint64_t i, uint32_t pid)
{
	const uint32_t own = c->items[i].pid ? c->items[i].pid :
					       (uint32_t)getpid();

	return c->o.target != PAGEDET_TARGET_VIRT || pid != own;
}

static void take_mapper(struct collecting *c, const uint64_t *which,
			const struct pagedet_iter *it,
			const struct pagedet_page *row)
{
	const uint64_t i = which[row->ask];
	struct pagedet_evidence *e = at(c, i);
	const char *comm;

	if (e->mapper_pid ||
	    PAGEDET_CELL_STATE(row->cell[PAGEDET_FIELD_PID]) != PAGEDET_HAVE ||
	    !is_other(c, i, row->pid))
		return;
	e->mapper_pid = row->pid;
	comm = PAGEDET_CELL_STATE(row->cell[PAGEDET_FIELD_COMM]) ==
	       PAGEDET_HAVE ? pagedet_string(it, row->comm, NULL) : NULL;
	e->mapper_comm = comm ? pdet_evidence_text(e, comm) : 0;
}

static int sweep(struct collecting *c, const struct pagedet_item *pfns,
		 const uint64_t *which, uint64_t n)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	const uint64_t left = pdet_clock_left(c->start_ns, c->o.deadline_ns);
	struct pagedet_page rows[8];
	struct pagedet_iter *it;
	int r, i;

	q.target = PAGEDET_TARGET_MAPPERS;
	q.items = pfns;
	q.n_items = n;
	q.sources = c->o.sources;
	q.deadline_ns = left ? PDET_MIN(left, c->o.mappers_ns) :
			       c->o.mappers_ns;
	pdet_want(&q, PAGEDET_FIELD_ASK);
	pdet_want(&q, PAGEDET_FIELD_PID);
	pdet_want(&q, PAGEDET_FIELD_COMM);
	r = pagedet_query(c->pd, &q, &it);
	if (r < 0)
		return r;
	while ((r = pagedet_next(it, rows, PDET_COUNT(rows))) > 0)
		for (i = 0; i < r; i++)
			if (rows[i].ask < n)
				take_mapper(c, which, it, &rows[i]);
	pagedet_iter_free(it);
	return r;
}

/* Names of mappers are optional: a failure leaves the rest valid. */
static int find_mappers(struct collecting *c)
{
	struct pagedet_item *pfns = calloc(c->n, sizeof(*pfns));
	uint64_t *which = calloc(c->n, sizeof(*which));
	uint64_t i, n = 0;
	int r = 0;

	for (i = 0; pfns && which && i < c->n; i++) {
		struct pagedet_page row;

		memcpy(&row, at(c, i)->here, sizeof(row));
		if (at(c, i)->extra_mappers != PAGEDET_YES ||
		    PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_PFN]) !=
		    PAGEDET_HAVE)
			continue;
		pfns[n].first = row.pfn;
		pfns[n].count = 1;
		which[n++] = i;
	}
	if (!pfns || !which)
		r = pdet_fail(&c->pd->env, ENOMEM, "no memory");
	else if (n)
		r = sweep(c, pfns, which, n);
	free(pfns);
	free(which);
	return r == -ENOMEM || r == -ECANCELED ? r : 0;
}

/* --- contents of the mapped file --- */

/* Reads a page of the file that no entry maps. */
static void read_behind(struct collecting *c, struct pagedet_evidence *e,
			const struct pdet_backing *b, uint64_t vaddr)
{
	const unsigned now = PAGEDET_AS_NOW;
	const uint64_t page_size = c->pd->page_size;
	struct pagedet_content content = { .size = sizeof(content) };
	unsigned char *page = malloc(page_size);

	if (page && pdet_backing_read(b, vaddr, page, page_size) &&
	    pagedet_content(c->pd, page, page_size, PAGEDET_CONTENT_HASH,
			    &content) == 0) {
		e->here_read = PAGEDET_READ_DONE;
		e->zero[now] = is_zero(page, page_size) ? PAGEDET_YES :
							  PAGEDET_NO;
		e->hash[now] = content.hash;
		e->hash_key[now] = c->hash_key;
		e->hash_ns[now] = pdet_clock_ns(CLOCK_REALTIME);
		e->hash_state[now] = PAGEDET_HAVE;
	}
	free(page);
}

static void look_behind(struct collecting *c, struct pagedet_evidence *e,
			const struct pdet_backing *b, uint64_t vaddr)
{
	struct pagedet_page row;

	e->file_ns = b->mtime_ns;
	e->here_hole = pdet_backing_hole(b, vaddr, c->pd->page_size);
	memcpy(&row, e->here, sizeof(row));
	if (pdet_row_absent(&row) != PAGEDET_YES)
		return;
	if (e->here_hole == PAGEDET_YES)
		e->zero[PAGEDET_AS_NOW] = PAGEDET_YES;
	else if (e->here_hole == PAGEDET_NO &&
		 c->o.options & PAGEDET_COLLECT_CONTENT)
		read_behind(c, e, b, vaddr);
}

static void look_at_files(struct collecting *c, const struct pagedet_item *own)
{
	struct pdet_backed *order = pdet_backing_order(own, c->n);
	struct pdet_backing b;
	uint64_t i;

	pdet_backing_begin(&b, &c->pd->env);
	for (i = 0; i < c->n; i++) {
		const uint64_t n = order ? order[i].which : i;

		if (c->o.deadline_ns &&
		    pdet_clock_left(c->start_ns, c->o.deadline_ns) == 1)
			break;
		if (pdet_backing_at(&b, own[n].pid, own[n].first))
			look_behind(c, at(c, n), &b, own[n].first);
	}
	free(order);
	pdet_backing_end(&b);
	pdet_clear(&c->pd->env);
}

/* --- contents of poisoned pages --- */

/*
 * A poison entry maps nothing. The kernel refuses the read without touching the
 * page (mm/gup.c, mm/memory.c: do_swap_page()).
 */
static void try_poisoned(struct collecting *c, const struct pagedet_item *own)
{
	struct pagedet_page row;
	uint64_t i;
	char byte;
	int fd;

	for (i = 0; i < c->n; i++) {
		memcpy(&row, at(c, i)->here, sizeof(row));
		if (pdet_row_pte(&row, PAGEDET_PTE_HWPOISON) != PAGEDET_YES)
			continue;
		fd = pdet_open(&c->pd->env, "/proc/%u/mem", own[i].pid);
		if (fd < 0)
			continue;
		if (pread(fd, &byte, 1, (off_t)own[i].first) < 0)
			at(c, i)->here_read = errno == EIO || errno == EFAULT ?
					      PAGEDET_READ_REFUSED :
					      PAGEDET_READ_OTHER;
		close(fd);
	}
}

/* --- writers --- */

static int look_at_track(struct collecting *c, const struct pagedet_item *own)
{
	struct pdet_tracked *pages = calloc(c->n, sizeof(*pages));
	uint64_t i, n = 0;
	int r;

	if (!pages)
		return pdet_fail(&c->pd->env, ENOMEM, "no memory");
	for (i = 0; i < c->n; i++)
		if (own[i].pid == (uint32_t)getpid())
			pages[n++] = (struct pdet_tracked){
				.vaddr = own[i].first, .which = i };
	r = pdet_collect_track(&c->pd->env, pdet_track_of(c->o.track), pages,
			       n);
	for (i = 0; i < n; i++)
		at(c, pages[i].which)->track = pages[i].writes;
	free(pages);
	/*
	 * A tracker of another process cannot answer, which is not a failure.
	 */
	if (r == -ENOMEM)
		return r;
	pdet_clear(&c->pd->env);
	return 0;
}

/* --- the machine --- */

static bool is_live(const struct pagedet *pd)
{
	return !pd->opened.options.n_files;
}

static uint32_t swap_is_gone(const struct pagedet *pd)
{
	static const char key[] = "SwapFree:";
	uint32_t gone = PAGEDET_DUNNO;
	struct pdet_text text;
	const char *line;

	if (!is_live(pd) ||
	    pdet_slurp(&pd->env, &text, 65536, "/proc/meminfo") < 0)
		return PAGEDET_DUNNO;
	line = strstr(text.data, key);
	if (line)
		gone = strtoull(line + sizeof(key) - 1, NULL, 10) ?
		       PAGEDET_NO : PAGEDET_YES;
	pdet_text_free(&text);
	return gone;
}

/*
 * page_owner's pids belong to the initial pid namespace, which has this number
 * (include/linux/proc_ns.h, PROC_PID_INIT_INO).
 */
static bool sees_all_pids(const struct pagedet *pd)
{
	static const char first[] = "pid:[4026531836]";
	char own[64];
	ssize_t len;

	if (!is_live(pd) || *pd->env.root)
		return false;
	len = readlink("/proc/self/ns/pid", own, sizeof(own));
	return len == sizeof(first) - 1 && !memcmp(own, first, (size_t)len);
}

/* --- the border --- */

static int check(struct collecting *c)
{
	struct pdet_env *env = &c->pd->env;
	const uint64_t page = c->pd->page_size;
	uint64_t i;

	if (c->o.target != PAGEDET_TARGET_PFN &&
	    c->o.target != PAGEDET_TARGET_VIRT)
		return pdet_fail(env, EINVAL, "evidence is collected for page "
				 "frame numbers and addresses only");
	if (c->stride < PDET_EVIDENCE_FIRST || c->stride % 8)
		return pdet_fail(env, EINVAL,
				 "this library does not know evidence of this "
				 "size");
	if (c->o.options & ~OPTIONS)
		return pdet_fail(env, E2BIG, "the options have a bit that this "
				 "library does not know");
	if (c->o.options & PAGEDET_COLLECT_AGAIN &&
	    !(c->o.options & PAGEDET_COLLECT_CONTENT))
		return pdet_fail(env, EINVAL, "PAGEDET_COLLECT_AGAIN needs "
				 "PAGEDET_COLLECT_CONTENT");
	for (i = 0; i < c->n; i++) {
		const struct pagedet_item *item = &c->items[i];

		if (item->count == 1 ||
		    (c->o.target == PAGEDET_TARGET_VIRT && item->count &&
		     item->count <= page - item->first % page))
			continue;
		return pdet_fail(env, EINVAL, "item %llu is not one page",
				 (unsigned long long)i);
	}
	return 0;
}

static int begin(struct collecting *c)
{
	uint64_t i;
	int r = 0;

	if (c->o.mark && is_live(c->pd))
		r = pdet_mark_memory(&c->pd->env, c->o.mark, c->o.mark_size,
				     &c->counters);
	if (r < 0)
		return r;
	c->no_swap = swap_is_gone(c->pd);
	c->of_pids = sees_all_pids(c->pd);
	for (i = 0; i < c->n; i++) {
		struct pagedet_evidence *e = at(c, i);

		memset(e, 0, c->stride);
		e->size = c->stride;
		e->id = i;
		e->questions = c->o.questions;
		e->no_swap = c->no_swap;
		e->counters_here = c->counters;
	}
	return 0;
}

/* Pid 0 means the caller's own process. */
static int name_self(const struct collecting *c, struct pagedet_item **ret)
{
	struct pagedet_item *own = malloc(c->n * sizeof(*own));
	uint64_t i;

	if (!own)
		return pdet_fail(&c->pd->env, ENOMEM, "no memory");
	memcpy(own, c->items, c->n * sizeof(*own));
	for (i = 0; i < c->n; i++)
		if (c->o.target == PAGEDET_TARGET_VIRT && !own[i].pid)
			own[i].pid = (uint32_t)getpid();
	*ret = own;
	return 0;
}

/* Collects all but the rows, for addresses of tasks of the running kernel. */
static int look_further(struct collecting *c, const struct pagedet_item *own)
{
	if (c->o.target != PAGEDET_TARGET_VIRT || !is_live(c->pd))
		return 0;
	if (c->o.options & PAGEDET_COLLECT_CONTENT)
		try_poisoned(c, own);
	if (c->o.options & PAGEDET_COLLECT_FILE)
		look_at_files(c, own);
	return c->o.track ? look_at_track(c, own) : 0;
}

/* Waits until the second read is due. Returns false if that is too late. */
static bool wait_again(const struct collecting *c, uint64_t since_ns)
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

/* Why a page was not read a second time. */
static uint32_t lost_again(int r)
{
	switch (r) {
	case 0:
	case -ESRCH:
		return PAGEDET_RACED;
	case -EACCES:
		return PAGEDET_NO_ACCESS;
	case -EBADMSG:
		return PAGEDET_CORRUPT;
	default:
		return PAGEDET_IO;
	}
}

static int read_again(struct collecting *c, const struct pagedet_item *own,
		      uint64_t since_ns)
{
	const unsigned again = PAGEDET_AS_AGAIN;
	uint64_t i;
	int r = -ETIMEDOUT;

	for (i = 0; i < c->n; i++)
		at(c, i)->hash_state[again] = PAGEDET_TIMEOUT;
	c->version = again;
	if (wait_again(c, since_ns))
		r = ask_rows(c, own);
	if (r == -ENOMEM || r == -ECANCELED)
		return r;
	if (r == 0 && c->denied)
		r = -EACCES;
	/* The first read stays valid although the task has ended. */
	pdet_clear(&c->pd->env);
	for (i = 0; r != -ETIMEDOUT && i < c->n; i++)
		if (at(c, i)->hash_state[again] == PAGEDET_TIMEOUT)
			at(c, i)->hash_state[again] = lost_again(r);
	return 0;
}

/* Facts about a row that no query answers. */
static int look_beside(const struct collecting *c)
{
	const struct pdet_evidence_list list = {
		.data = c->evidence, .stride = c->stride, .n = c->n,
		.until_ns = c->o.deadline_ns ?
			    c->start_ns + c->o.deadline_ns : 0,
	};
	int r = 0;

	if (c->o.options & PAGEDET_COLLECT_LOG)
		r = pdet_collect_log(c->pd, &list);
	/* The struct of an older client ends before this member. */
	if (r == 0 && c->stride > offsetof(struct pagedet_evidence,
					   folio_counted))
		r = pdet_collect_folio(c->pd, &list);
	return r;
}

static int gather(struct collecting *c, const struct pagedet_item *own)
{
	int r = ask_rows(c, own);
	const uint64_t read_ns = pdet_clock_ns(CLOCK_MONOTONIC);

	if (r == -ETIMEDOUT) {
		mark_late(c);
		return 0;
	}
	if (r == 0)
		r = look_beside(c);
	if (r == 0)
		r = look_further(c, own);
	if (r == 0 && c->o.mappers_ns)
		r = find_mappers(c);
	if (r == 0 && c->o.options & PAGEDET_COLLECT_AGAIN)
		r = read_again(c, own, read_ns);
	return r;
}

int pagedet_collect(struct pagedet *pd, const struct pagedet_item *items,
		    uint64_t n, const struct pagedet_collect_options *options,
		    struct pagedet_evidence *evidence)
{
	static const struct pagedet_collect_options defaults =
		PAGEDET_COLLECT_OPTIONS_INIT;
	struct collecting c = { .pd = pd, .items = items, .n = n,
				.version = PAGEDET_AS_NOW };
	struct pagedet_item *own = NULL;
	int r;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	r = pdet_check_struct(&pd->env, &c.o, sizeof(c.o), options, &defaults,
			      "struct pagedet_collect_options");
	if (r < 0 || !n)
		return r;
	if (n > INT32_MAX)
		return pdet_fail(&pd->env, EINVAL, "too many items");
	if (!c.o.known_mappers && c.o.target == PAGEDET_TARGET_VIRT)
		c.o.known_mappers = 1;
	c.evidence = (char *)evidence;
	c.stride = evidence->size;
	c.start_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	r = check(&c);
	if (r == 0 && c.o.options & PAGEDET_COLLECT_CONTENT)
		r = pagedet_hash_key_id(pd, &c.hash_key);
	if (r == 0)
		r = name_self(&c, &own);
	if (r < 0)
		return r;
	r = begin(&c);
	if (r == 0)
		r = gather(&c, own);
	free(own);
	return r < 0 ? r : (int)c.rows;
}
