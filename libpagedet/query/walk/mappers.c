/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the mappings of given frames. User mappings come from one walk of all
 * tasks' page tables, or from a mapping index. Then come the kernel's own
 * mappings. At the end, the mappings of each frame are compared with the
 * kernel's count. If each frame has as many mappings as the kernel counts, only
 * the tasks that share an address space with those found are still read: each
 * process is shown, but two that share one have one mapping for the kernel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/spaces.h"
#include "query/counted.h"
#include "query/mapindex.h"
#include "query/sweep.h"
#include "query/walk/kernel_rows.h"
#include "query/walk/other.h"
#include "query/walk/vma_columns.h"

/* Frames per walk of the kernel's page tables. */
#define KERNEL_FRAMES 65536

/* This many frames behind the end of memory are one. */
#define MANY_FRAMES 4096

/* One wanted frame, or many behind the end of memory, which are alike. */
struct wanted {
	uint64_t pfn;
	uint64_t more;		/* frames after pfn */
	uint64_t ask;		/* its index in the query */
	uint64_t expected;
	uint8_t state;		/* of expected */
	uint8_t kind;		/* PAGEDET_MAPCOUNT_* */
	uint64_t page_kind;	/* PAGEDET_KIND_* */
	bool counted;		/* each of its mappings is */
	uint8_t users;		/* PAGEDET_HAVE, or the reason why user mappings
				 * are unknown */
	atomic_uint_fast64_t found; /* as the kernel counts: mappings of one
				     * address space count once */
	atomic_uint_fast64_t unsure; /* mappings that may be among these */
	atomic_uint_fast64_t shared; /* mappings that are */
};

struct walk_mappers {
	struct pdet_walk walk;
	struct wanted *wanted;	/* sorted by pfn */
	uint64_t *pfns;		/* the sorted pfns alone */
	uint64_t *more;		/* their more; NULL: each is 0 */
	size_t *order;		/* indexes in wanted, in the order of the
				 * query */
	size_t n;
	uint32_t *pids;
	size_t n_pids;
	uint64_t lost;		/* tasks missing from the list */
	size_t pid;		/* index of the next one */
	bool by_index;
	bool told;		/* the backend gave the mappings itself, so
				 * nothing is searched */
	struct pdet_kernel_rows kernel;
	size_t frame;		/* the next frame of that search */
	volatile int satisfied;	/* all mappings were found */
	struct pdet_spaces spaces; /* that map a frame */
	pthread_mutex_t comparing; /* them, which may take files of /proc */
	atomic_uint blind;	/* PDET_BLIND_* of what the source cannot see */
	struct pdet_other other; /* sees all */
	struct pdet_walk first;	/* the source that is asked otherwise */
	bool ended;
	bool counted_again;
	struct {
		uint32_t *data;
		size_t n, cap;
	} unread;
};

struct mappers_span {
	uint32_t pid;
	bool opened;
	struct pdet_task *task;
	struct pdet_found_list found;
	struct pdet_kernel_found_list kernel;
	bool in_kernel;		/* it searches frames, not a task */
	bool looked;
	size_t at;
};

static struct walk_mappers *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_mappers, walk);
}

static int compare(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->pfn != y->pfn)
		return x->pfn < y->pfn ? -1 : 1;
	return x->ask < y->ask ? -1 : x->ask > y->ask;
}

static int compare_asks(const void *a, const void *b, void *data)
{
	const struct wanted *wanted = data;
	uint64_t x = wanted[*(const size_t *)a].ask;
	uint64_t y = wanted[*(const size_t *)b].ask;

	return x < y ? -1 : x > y;
}

/* The frames of at most @n entries from the entry @first on. */
static struct pdet_pfnset set_of(const struct walk_mappers *w, size_t first,
				 size_t n)
{
	return (struct pdet_pfnset){ w->pfns + first, PDET_MIN(w->n - first, n),
				     w->more ? w->more + first : NULL };
}

/* Finds the entry of @pfn, which must exist. */
static struct wanted *find(struct walk_mappers *w, uint64_t pfn)
{
	const struct pdet_pfnset set = set_of(w, 0, w->n);

	return &w->wanted[pdet_pfnset_at(&set, pfn)];
}

/* The index of @pfn in the query. */
static uint64_t ask_of(struct walk_mappers *w, uint64_t pfn)
{
	const struct wanted *f = find(w, pfn);

	return f->ask + (pfn - f->pfn);
}

/*
 * Whether there are as many mappings as the kernel counts. If that is an
 * average, it does not prove anything.
 */
static bool is_found(const struct wanted *f)
{
	return f->state == PAGEDET_HAVE && f->counted &&
	       f->kind == PAGEDET_MAPCOUNT_EXACT &&
	       atomic_load(&f->found) >= f->expected;
}

/* If it is not known whether mappings are among the others, and the kernel
 * counts more, they are assumed not to be. */
static uint64_t number_found(const struct wanted *f)
{
	return atomic_load(&f->found) +
	       (is_found(f) ? 0 : atomic_load(&f->unsure));
}

/* Sets the kernel's mapcount of a frame from row @row of @b. */
static void put_expected(struct wanted *f, const struct pdet_batch *b,
			 uint32_t row)
{
	f->state = (uint8_t)pdet_batch_state(b, row, PAGEDET_FIELD_MAPCOUNT);
	f->expected = pdet_batch_get(b, row, PAGEDET_FIELD_MAPCOUNT, 0);
	/* A damaged count does not say how many there are. */
	if (f->state == PAGEDET_HAVE && f->expected >> 63) {
		f->state = PAGEDET_CORRUPT;
		f->expected = 0;
	}
	f->kind = (uint8_t)pdet_batch_get(b, row, PAGEDET_FIELD_MAPCOUNT_KIND,
					  0);
	f->page_kind = pdet_batch_get(b, row, PAGEDET_FIELD_KIND,
				      PAGEDET_KIND_UNKNOWN);
	f->counted = pdet_is_proof(f->page_kind, f->expected);
}

/*
 * Lowers the count to the one after the walk. If a mapping ended before its
 * task was read, it is not missing.
 */
static void put_less(struct wanted *f, const struct pdet_batch *b,
		     uint32_t row)
{
	const uint64_t found = number_found(f);
	struct wanted now = { .pfn = f->pfn };

	put_expected(&now, b, row);
	if (f->state == PAGEDET_HAVE && now.state == PAGEDET_HAVE &&
	    f->kind == PAGEDET_MAPCOUNT_EXACT && now.kind == f->kind &&
	    found < f->expected && now.expected < f->expected)
		f->expected = PDET_MAX(now.expected, found);
}

static int read_expected(struct walk_mappers *w, struct pdet_worker *k,
			 void (*put)(struct wanted *f,
				     const struct pdet_batch *b, uint32_t row))
{
	const struct pdet_iter *it = w->walk.it;
	struct pdet_fields fields = { { 0, 0 } };
	struct pdet_batch b;
	size_t at, i, n;
	int r = 0;

	pdet_fields_add(&fields, PAGEDET_FIELD_PFN);
	pdet_fields_add(&fields, PAGEDET_FIELD_MAPCOUNT);
	pdet_fields_add(&fields, PAGEDET_FIELD_MAPCOUNT_KIND);
	pdet_fields_add(&fields, PAGEDET_FIELD_KIND);
	if (!pdet_batch_init(&b, &fields, it->rows_per_batch, 0))
		return -ENOMEM;
	pdet_fields_remove(&fields, PAGEDET_FIELD_PFN);
	for (at = 0; at < w->n && r == 0; at += n) {
		n = PDET_MIN(w->n - at, (size_t)b.cap);
		pdet_batch_clear(&b, 1);
		pdet_batch_grow(&b, (uint32_t)n);
		for (i = 0; i < n; i++)
			pdet_put(&b, (uint32_t)i, PAGEDET_FIELD_PFN,
				 w->pfns[at + i], w->walk.source);
		r = w->walk.backend->ops->fill(pdet_session_of(k, &w->walk),
					       &b, &fields, w->walk.source);
		for (i = 0; i < n && r == 0; i++)
			put(&w->wanted[at + i], &b, (uint32_t)i);
	}
	pdet_batch_free(&b);
	return r;
}

static bool all_found(struct walk_mappers *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (!is_found(&w->wanted[i]))
			return false;
	return true;
}

static int list_pids(struct walk_mappers *w)
{
	struct pdet_iter *it = w->walk.it;
	struct pdet_backend *b = w->walk.backend;

	free(w->pids);
	w->pids = NULL;
	w->n_pids = 0;
	w->lost = 0;
	return b->ops->tasks(b, it->env, &w->pids, &w->n_pids, &w->lost);
}

static void put_users(struct walk_mappers *w, unsigned reason)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		w->wanted[i].users = (uint8_t)reason;
}

/*
 * Without tasks, the kernel's own mappings can still be found. Returns 0 if
 * they will be, otherwise @error.
 */
static int do_without_tasks(struct walk_mappers *w, struct pdet_worker *k,
			    int error)
{
	struct pdet_env *env = w->walk.it->env;

	if (w->kernel.backend != w->walk.backend)
		return error;
	if (error == -ENODATA)
		put_users(w, PAGEDET_NO_TYPES);
	else if (error == -EBADMSG)
		put_users(w, pdet_live_reason(w->walk.it->live,
					      PAGEDET_CORRUPT));
	else if (error == -ENOSYS)
		put_users(w, PAGEDET_NOT_BUILT);
	else
		return error;
	w->n_pids = 0;
	/*
	 * If no user mapping exists for any of the pages, nothing is missing.
	 */
	if (w->satisfied)
		return 0;
	pdet_log(env, PAGEDET_LOG_WARNING, "cannot look for mappings by tasks: "
		 "%s", env->error);
	pdet_clear(env);
	k->cover.partial = true;
	return 0;
}

static void set_source(struct pdet_walk *w, struct pdet_backend *backend,
		       unsigned index, unsigned source)
{
	w->backend = backend;
	w->index = index;
	w->source = source;
}

/* Whether a driver may have mapped a frame that no count tells of. */
static bool may_be_hidden(const struct wanted *f)
{
	return !f->counted && pdet_is_hidden(f->page_kind, f->expected,
					     PDET_BLIND_KERNEL |
					     PDET_BLIND_DRIVER);
}

/* If drivers may have mapped a frame, asks a source that sees such mappings, if
 * there is one. */
static int choose_source(struct walk_mappers *w)
{
	size_t i;
	int r;

	for (i = 0; i < w->n; i++)
		if (may_be_hidden(&w->wanted[i]))
			break;
	if (i == w->n)
		return 0;
	r = pdet_other_find(&w->other, &w->walk);
	if (r > 0)
		set_source(&w->walk, w->other.backend, w->other.index,
			   w->other.source);
	return PDET_MIN(r, 0);
}

/* Whether only a driver can have mapped the frame. */
static bool is_drivers_alone(const struct wanted *f)
{
	return f->state == PAGEDET_HAVE && !f->expected &&
	       f->kind == PAGEDET_MAPCOUNT_EXACT &&
	       f->page_kind == PAGEDET_KIND_SHMEM;
}

/*
 * Whether a driver may have mapped frames for a task: 1, 0, or a negative
 * errno.
 */
static int has_drivers_area(struct walk_mappers *w, struct pdet_worker *k,
			    uint32_t pid)
{
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	unsigned blind = PDET_BLIND_KERNEL;
	struct pdet_task *task;
	struct pdet_vma vma;
	int r = ops->task_open(s, pid, &task);

	if (r == 0) {
		r = ops->vma_first(s, task);
		while (r >= 0 && !(blind & PDET_BLIND_DRIVER) &&
		       (r = ops->vma_next(s, task, &vma)) > 0)
			blind |= ops->blind(s, task, &vma, blind);
		ops->task_close(task);
	}
	if (blind & PDET_BLIND_DRIVER)
		return 1;
	return r == -ESRCH ? 0 : PDET_MIN(r, 0);
}

/*
 * Looks whether drivers may have mapped pages of shmem that nobody else maps.
 * Without an area of a driver, their count is a proof, and no page table needs
 * to be read. Returns whether there is such an area, or a negative errno if
 * that is not known.
 */
static int look_for_drivers(struct walk_mappers *w, struct pdet_worker *k)
{
	size_t i, first;
	int r = 0;

	for (first = 0; first < w->n; first++)
		if (is_drivers_alone(&w->wanted[first]))
			break;
	if (first == w->n || !w->walk.backend->ops->blind)
		return 0;
	r = list_pids(w);
	if (r < 0)
		return r;
	if (w->lost)
		return -EBADMSG;
	for (i = 0; i < w->n_pids && r == 0; i++) {
		r = pdet_engine_check(k);
		if (r == 0)
			r = has_drivers_area(w, k, w->pids[i]);
	}
	for (i = first; i < w->n && r == 0; i++)
		w->wanted[i].counted |= is_drivers_alone(&w->wanted[i]);
	return r;
}

static void back_to_first(struct walk_mappers *w)
{
	set_source(&w->walk, w->first.backend, w->first.index,
		   w->first.source);
}

/* If only a driver can have mapped the frames, which the source cannot see,
 * page tables show nothing more. */
static void leave_to_drivers(struct walk_mappers *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (!is_found(&w->wanted[i]) &&
		    !is_drivers_alone(&w->wanted[i]))
			return;
	atomic_store(&w->blind, PDET_BLIND_DRIVER);
	w->satisfied = 1;
}

static int mappers_begin(struct pdet_walk *base, struct pdet_worker *k)
{
	struct walk_mappers *w = walk_of(base);
	int r, drivers;

	back_to_first(w);
	r = read_expected(w, k, put_expected);
	if (r < 0)
		return r;
	pdet_kernel_rows_init(&w->kernel, base);
	w->frame = w->kernel.backend ? 0 : w->n;
	w->by_index = base->it->q.index != NULL || w->told;
	w->walk.total = w->by_index ? w->n : w->n_pids;
	put_users(w, PAGEDET_HAVE);
	w->satisfied = false;
	pdet_spaces_empty(&w->spaces);
	if (w->by_index)
		return 0;
	drivers = look_for_drivers(w, k);
	if (drivers < 0 && atomic_load(&base->it->stopped))
		return drivers;
	if (drivers < 0)
		pdet_clear(base->it->env);
	w->satisfied = all_found(w);
	r = choose_source(w);
	if (r < 0)
		return r;
	if (drivers > 0 && base->backend == w->first.backend)
		leave_to_drivers(w);
	r = list_pids(w);
	if (r < 0 && base->backend != w->first.backend) {
		pdet_clear(base->it->env);
		back_to_first(w);
		r = list_pids(w);
	}
	if (r < 0 && !atomic_load(&base->it->stopped))
		r = do_without_tasks(w, k, r);
	w->walk.total = w->n_pids;
	return r;
}

/* The reason why a frame's mappings are not known, or PAGEDET_HAVE. */
static unsigned users_of(const struct walk_mappers *w, const struct wanted *f)
{
	if (is_found(f) || f->users != PAGEDET_HAVE)
		return is_found(f) ? PAGEDET_HAVE : f->users;
	return pdet_is_hidden(f->page_kind, f->expected,
			      atomic_load(&w->blind)) ?
	       PAGEDET_UNSUPPORTED : PAGEDET_HAVE;
}

/* Says so if the source may have missed mappings. */
static void note_blind(struct walk_mappers *w, struct pdet_worker *k)
{
	size_t i;

	if (w->by_index && !w->told)
		atomic_store(&w->blind,
			     pdet_mapindex_blind(w->walk.it->q.index));
	for (i = 0; i < w->n; i++)
		if (users_of(w, &w->wanted[i]) == PAGEDET_UNSUPPORTED)
			break;
	if (i < w->n)
		k->cover.partial = true;
}

static int mappers_next(struct pdet_walk *base, struct pdet_worker *k,
			struct pdet_span *span, uint64_t pages)
{
	struct walk_mappers *w = walk_of(base);
	struct mappers_span *ms = span->data;
	const bool in_kernel = w->by_index ? w->pid == w->n :
			       w->pid == w->n_pids ||
			       (w->satisfied &&
				!(w->spaces.n + w->spaces.lost.n));

	(void)pages;
	if (in_kernel && w->frame == w->n) {
		k->cover.partial |= w->lost && !w->satisfied;
		note_blind(w, k);
		w->ended = true;
		return 0;
	}
	if (!ms)
		span->data = ms = calloc(1, sizeof(*ms));
	if (!ms)
		return pdet_fail(&pdet_session_of(k, base)->env, ENOMEM,
				 "no memory");
	ms->found.n = ms->kernel.n = 0;
	ms->kernel.lost = false;
	ms->at = 0;
	ms->opened = ms->looked = false;
	ms->in_kernel = in_kernel;
	ms->pid = w->by_index || in_kernel ? 0 : w->pids[w->pid];
	span->item = in_kernel ? w->frame : w->pid;
	span->place = ms->pid;
	span->at = 0;
	span->end = 1;
	if (in_kernel)
		w->frame += PDET_MIN(w->n - w->frame, (size_t)KERNEL_FRAMES);
	else
		w->pid++;
	return 1;
}

static void note_unread(struct walk_mappers *w, struct pdet_worker *k,
			uint32_t pid, int error)
{
	pdet_cover_unread(&k->cover, pdet_session_of(k, &w->walk), pid, error);
	if (error == -ESRCH)
		return;
	pthread_mutex_lock(&w->walk.it->lock);
	/* If memory is short, the task is counted, but its pid is lost. */
	(void)!pdet_vec_push(&w->unread, pid);
	pthread_mutex_unlock(&w->walk.it->lock);
}

struct sweeper {
	struct walk_mappers *w;
	struct pdet_worker *k;
	bool all;		/* also if all mappings were found */
};

static bool must_stop(void *arg)
{
	struct sweeper *s = arg;

	return (s->w->satisfied && !s->all) || pdet_engine_check(s->k) < 0;
}

/* Whether a task may have the address space of one that maps a frame. */
static bool may_share(struct walk_mappers *w, struct pdet_session *s,
		      const struct pdet_task *task)
{
	bool may;

	pthread_mutex_lock(&w->comparing);
	may = pdet_spaces_may_have(&w->spaces, s, task);
	pthread_mutex_unlock(&w->comparing);
	return may;
}

/*
 * Counts what was found in a task, unless one that was read before has the same
 * address space. Returns 0 or -ENOMEM.
 */
static int count_found(struct walk_mappers *w, struct pdet_session *s,
		       const struct mappers_span *ms)
{
	bool remain;
	size_t i;
	int is;

	if (!ms->found.n)
		return 0;
	pthread_mutex_lock(&w->comparing);
	is = pdet_spaces_add(&w->spaces, s, ms->task);
	pthread_mutex_unlock(&w->comparing);
	if (is < 0)
		return pdet_fail(&s->env, ENOMEM, "no memory");
	for (i = 0; i < ms->found.n; i++) {
		struct wanted *f = find(w, ms->found.data[i].pfn);

		atomic_fetch_add(is == PDET_SPACE_NEW ? &f->found :
				 is == PDET_SPACE_SHARED ? &f->shared :
							   &f->unsure, 1);
	}
	if (w->satisfied || !all_found(w))
		return 0;
	pthread_mutex_lock(&w->comparing);
	remain = pdet_spaces_remain(&w->spaces, s);
	pthread_mutex_unlock(&w->comparing);
	if (remain)
		w->satisfied = 1;
	return 0;
}

/*
 * Reads an open task. If all mappings were found, only those of tasks that
 * share an address space with a task that was read are still shown. Returns 1
 * if only a part was read, 0, or negative errno.
 */
static int read_task(struct walk_mappers *w, struct pdet_worker *k,
		     struct mappers_span *ms)
{
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	const struct pdet_pfnset set = set_of(w, 0, w->n);
	struct sweeper sweeper = { w, k, false };
	unsigned blind = atomic_load(&w->blind);
	int r;

	do {
		ms->found.n = 0;
		if (w->satisfied && !may_share(w, s, ms->task))
			return 0;
		sweeper.all = w->satisfied;
		r = pdet_sweep_task(s, ms->task, &set, w->walk.it->page_size,
				    must_stop, &sweeper, &blind, &ms->found);
	} while (r > 0 && w->satisfied && !sweeper.all &&
		 pdet_engine_check(k) == 0);
	atomic_fetch_or(&w->blind, blind);
	return r;
}

/* Whether a task need not be opened, because all mappings were found, and it
 * shares no address space with those tasks. */
static bool is_needless(struct walk_mappers *w, struct pdet_session *s,
			uint32_t pid)
{
	struct pdet_task task = { .thread = pid };

	if (!w->satisfied || !s->backend->ops->space_key)
		return false;
	/* It is not known of a main thread that has ended. */
	task.space_key = s->backend->ops->space_key(s, pid);
	return task.space_key && !may_share(w, s, &task);
}

static int sweep(struct walk_mappers *w, struct pdet_worker *k,
		 struct mappers_span *ms)
{
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	const bool late = w->satisfied;
	int r;

	if (is_needless(w, s, ms->pid))
		return 0;
	r = s->backend->ops->task_open(s, ms->pid, &ms->task);
	if (r == 0) {
		ms->opened = true;
		r = read_task(w, k, ms);
	}
	/* If only a part was read, the next step continues after it. */
	if (r > 0) {
		ms->found.n = 0;
		return pdet_engine_check(k);
	}
	if (r < 0 && r != -ESRCH && r != -EACCES && r != -EBADMSG)
		return r;
	k->cover.visited++;
	/* No mapping of it is missing. */
	if (r < 0 && !late)
		note_unread(w, k, ms->pid, r);
	/* If a part of the task is damaged, the rest is still true. */
	if (r < 0 && r != -EBADMSG)
		return 0;
	k->cover.tasks += r == 0 && (!late || ms->found.n);
	return count_found(w, s, ms);
}

/* Sets the columns of one mapping. */
static void put_mapping(struct walk_mappers *w, struct pdet_session *s,
			struct pdet_task *task, const struct pdet_found *f,
			uint64_t ask, struct pdet_batch *b)
{
	const struct pdet_iter *it = w->walk.it;
	const unsigned source = w->walk.source;
	struct pdet_vma vma;
	uint32_t row = b->n;
	int r;

	pdet_batch_grow(b, 1);
	pdet_put(b, row, PAGEDET_FIELD_ASK, ask, PAGEDET_SOURCE_DERIVED);
	pdet_put(b, row, PAGEDET_FIELD_PFN, f->pfn, source);
	pdet_put(b, row, PAGEDET_FIELD_VADDR, f->vaddr, source);
	pdet_put(b, row, PAGEDET_FIELD_PTE, f->pte, source);
	pdet_put(b, row, PAGEDET_FIELD_PTE_KNOWN, f->pte_known, source);
	pdet_put(b, row, PAGEDET_FIELD_MAP, PAGEDET_MAP_USER, source);
	pdet_put_none(b, row, PAGEDET_FIELD_SWAP_TYPE, source);
	pdet_put_none(b, row, PAGEDET_FIELD_SWAP_OFFSET, source);
	if (!task)
		return;
	pdet_task_put(s, task, b, row, 1, source);
	if (!pdet_vma_wanted(&it->plan))
		return;
	r = w->walk.backend->ops->vma_at(s, task, f->vaddr, &vma);
	if (r > 0 && vma.start <= f->vaddr)
		pdet_vma_put(it, b, row, 1, &vma, source);
	else if (r == -EBADMSG)
		pdet_vma_put_lost(b, row, 1, pdet_live_reason(it->live,
				  PAGEDET_CORRUPT), source);
}

static void close_task(struct mappers_span *ms)
{
	if (ms->opened)
		ms->task->backend->ops->task_close(ms->task);
	ms->opened = false;
}

static int place_swept(struct walk_mappers *w, struct pdet_worker *k,
		       struct pdet_span *span, struct pdet_batch *b)
{
	struct mappers_span *ms = span->data;
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	int r;

	if (!ms->opened && !ms->at) {
		r = sweep(w, k, ms);
		if (r < 0)
			return r;
	}
	for (; ms->at < ms->found.n && b->n < b->cap; ms->at++) {
		const struct pdet_found *f = &ms->found.data[ms->at];

		put_mapping(w, s, ms->task, f, ask_of(w, f->pfn), b);
	}
	if (ms->at < ms->found.n)
		return 0;
	close_task(ms);
	span->at = span->end;
	return 0;
}

/* Lists all mappings of one frame from the index. */
static int list_indexed(struct walk_mappers *w, struct mappers_span *ms,
			struct wanted *f, struct pagedet_mapping **ret,
			uint64_t *n)
{
	const struct pdet_mapindex *ix = w->walk.it->q.index;
	struct pagedet_mapping *list;
	uint64_t unsure;

	(void)ms;
	*n = pdet_mapindex_find(ix, f->pfn, NULL, 0);
	list = malloc((*n + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	pdet_mapindex_find(ix, f->pfn, list, *n);
	atomic_store(&f->found, pdet_mapindex_count(ix, f->pfn, &unsure));
	atomic_store(&f->unsure, unsure);
	atomic_store(&f->shared, *n - unsure - atomic_load(&f->found));
	*ret = list;
	return 0;
}

static int place_indexed(struct walk_mappers *w, struct pdet_worker *k,
			 struct pdet_span *span, struct pdet_batch *b)
{
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	struct mappers_span *ms = span->data;
	struct wanted *f = &w->wanted[span->item];
	struct pagedet_mapping *list;
	struct pdet_task *task = NULL;
	uint64_t n;
	int r;

	r = list_indexed(w, ms, f, &list, &n);
	if (r < 0)
		return r;
	for (; ms->at < n && b->n < b->cap; ms->at++) {
		const struct pagedet_mapping *m = &list[ms->at];
		struct pdet_found found = { m->pfn, m->vaddr, m->pte,
					    m->pte, 0 };
		uint32_t row = b->n;

		if (!task || task->pid != m->pid) {
			if (task)
				ops->task_close(task);
			task = NULL;
			if (ops->task_open(s, m->pid, &task) < 0)
				task = NULL;
		}
		put_mapping(w, s, task, &found, f->ask, b);
		if (!task)
			pdet_put(b, row, PAGEDET_FIELD_PID, m->pid,
				 w->walk.source);
	}
	if (task)
		ops->task_close(task);
	free(list);
	k->cover.visited++;
	if (ms->at == n)
		span->at = span->end;
	return 0;
}

/* --- the kernel's own mappings --- */

static bool must_end(void *arg)
{
	return pdet_engine_check(arg) < 0;
}

static int look_in_kernel(struct walk_mappers *w, struct pdet_worker *k,
			  const struct pdet_span *span,
			  struct mappers_span *ms)
{
	const struct pdet_pfnset set = set_of(w, span->item, KERNEL_FRAMES);
	int r = w->kernel.backend->ops->kernel_mappings(
			k->session[w->kernel.index], &set, must_end, k,
			&ms->kernel);

	if (r > 0)
		return pdet_engine_check(k);
	k->cover.partial |= ms->kernel.lost;
	ms->looked = true;
	return r;
}

static int place_in_kernel(struct walk_mappers *w, struct pdet_worker *k,
			   struct pdet_span *span, struct pdet_batch *b)
{
	struct mappers_span *ms = span->data;
	uint64_t ask[256];
	size_t n, i;
	int r = ms->looked ? 0 : look_in_kernel(w, k, span, ms);

	while (r == 0 && ms->at < ms->kernel.n && b->n < b->cap) {
		const struct pdet_kernel_found *f = ms->kernel.data + ms->at;

		n = PDET_MIN(ms->kernel.n - ms->at, (size_t)(b->cap - b->n));
		n = PDET_MIN(n, PDET_COUNT(ask));
		for (i = 0; i < n; i++)
			ask[i] = ask_of(w, f[i].pfn);
		r = pdet_kernel_rows_put(&w->kernel, k, b, f, ask,
					 (uint32_t)n);
		ms->at += n;
	}
	if (r == 0 && ms->at == ms->kernel.n)
		span->at = span->end;
	return r;
}

/* --- mappings that the backend gives itself --- */

static int place_told(struct walk_mappers *w, struct pdet_worker *k,
		      struct pdet_span *span, struct pdet_batch *b)
{
	struct mappers_span *ms = span->data;
	struct wanted *f = &w->wanted[span->item];
	const uint32_t first = b->n;
	uint32_t row;
	int r = w->walk.backend->ops->told(pdet_session_of(k, &w->walk),
					   f->pfn, &ms->at, b);

	for (row = first; row < b->n; row++)
		if (pdet_batch_get(b, row, PAGEDET_FIELD_MAP, 0) ==
		    PAGEDET_MAP_USER)
			atomic_fetch_add(&f->found, 1);
	pdet_put_run(b, first, b->n - first, PAGEDET_FIELD_ASK, f->ask,
		     PAGEDET_SOURCE_DERIVED);
	if (r || ms->at == SIZE_MAX) {
		k->cover.visited++;
		span->at = span->end;
	}
	if (r > 0)
		f->users = (uint8_t)r;
	k->cover.partial |= r > 0 || r == -EAGAIN;
	return r == -EAGAIN || r > 0 ? 0 : r;
}

static int mappers_place(struct pdet_walk *base, struct pdet_worker *k,
			 struct pdet_span *span, struct pdet_batch *b)
{
	struct walk_mappers *w = walk_of(base);

	if (((struct mappers_span *)span->data)->in_kernel)
		return place_in_kernel(w, k, span, b);
	if (w->told)
		return place_told(w, k, span, b);
	return w->by_index ? place_indexed(w, k, span, b) :
			     place_swept(w, k, span, b);
}

static void mappers_span_free(struct pdet_walk *w, struct pdet_span *span)
{
	struct mappers_span *ms = span->data;

	(void)w;
	if (!ms)
		return;
	close_task(ms);
	pdet_vec_free(&ms->found);
	pdet_vec_free(&ms->kernel);
	free(ms);
	span->data = NULL;
}

/* The first frame behind the end of memory, if a range may go beyond it;
 * UINT64_MAX: each frame is one. */
static uint64_t end_of_memory(const struct walk_mappers *w)
{
	const struct pdet_iter *it = w->walk.it;
	struct pdet_backend *b = w->walk.backend;
	uint64_t i, end = 0;

	if (w->told || it->q.index || !b->ops->frames_end)
		return UINT64_MAX;
	for (i = 0; i < it->q.n_items && !end; i++)
		if (it->q.items[i].count > MANY_FRAMES)
			end = b->ops->frames_end(b, it->env);
	return end ? end : UINT64_MAX;
}

struct wanted_list {
	struct wanted *data;
	size_t n, cap;
};

/* Adds the frames of an item, the first of which is frame *ask of the query. */
static bool add_item(struct wanted_list *list, const struct pagedet_item *item,
		     uint64_t end, uint64_t *ask)
{
	uint64_t j;

	for (j = 0; j < item->count; j++) {
		struct wanted f = { .pfn = item->first + j, .ask = (*ask)++ };

		if (f.pfn >= end && item->count - j > MANY_FRAMES) {
			f.more = item->count - j - 1;
			*ask += f.more;
			j += f.more;
		}
		if (!pdet_vec_reserve(list, 1))
			return false;
		memcpy(&list->data[list->n++], &f, sizeof(f));
	}
	return true;
}

/* Leaves out of @f, in the order of frames, what the entry before it has.
 * Returns false if nothing is left. */
static bool cut_front(struct wanted *f, const struct wanted *before)
{
	/* The last one may be the last of all numbers. */
	const uint64_t last = before->pfn + before->more;
	uint64_t known;

	if (last < f->pfn)
		return true;
	if (last - f->pfn >= f->more)
		return false;
	known = last - f->pfn + 1;
	f->pfn += known;
	f->ask += known;
	f->more -= known;
	return true;
}

/* Drops repeated frames from the list, which is in order. */
static void drop_repeated(struct wanted_list *list)
{
	size_t i, out = 0;

	for (i = 0; i < list->n; i++) {
		struct wanted *f = &list->data[i];

		if (out && !cut_front(f, &list->data[out - 1]))
			continue;
		if (out != i)
			memcpy(&list->data[out], f, sizeof(*f));
		out++;
	}
	list->n = out;
}

static int no_memory(const struct walk_mappers *w)
{
	return pdet_fail(w->walk.it->env, ENOMEM, "no memory for the page "
			 "frame numbers");
}

/* Makes the lists that are searched. */
static int index_frames(struct walk_mappers *w)
{
	bool many = false;
	size_t i;

	for (i = 0; i < w->n; i++)
		many |= w->wanted[i].more != 0;
	w->pfns = malloc((w->n + 1) * sizeof(*w->pfns));
	w->order = malloc((w->n + 1) * sizeof(*w->order));
	w->more = many ? malloc((w->n + 1) * sizeof(*w->more)) : NULL;
	if (!w->pfns || !w->order || (many && !w->more))
		return no_memory(w);
	for (i = 0; i < w->n; i++) {
		w->pfns[i] = w->wanted[i].pfn;
		w->order[i] = i;
		if (many)
			w->more[i] = w->wanted[i].more;
	}
	qsort_r(w->order, w->n, sizeof(*w->order), compare_asks, w->wanted);
	return 0;
}

static void free_frames(struct walk_mappers *w)
{
	free(w->wanted);
	free(w->pfns);
	free(w->more);
	free(w->order);
	w->wanted = NULL;
	w->pfns = w->more = NULL;
	w->order = NULL;
	w->n = 0;
}

/* Sorts the frames of the query and drops repeated ones. */
static int list_frames(struct walk_mappers *w)
{
	const struct pdet_question *q = &w->walk.it->q;
	const uint64_t end = end_of_memory(w);
	struct wanted_list list = { NULL, 0, 0 };
	uint64_t i, ask = 0;

	free_frames(w);
	for (i = 0; i < q->n_items; i++)
		if (!add_item(&list, &q->items[i], end, &ask)) {
			pdet_vec_free(&list);
			return no_memory(w);
		}
	if (list.n)
		qsort(list.data, list.n, sizeof(*list.data), compare);
	drop_repeated(&list);
	w->wanted = list.data;
	w->n = list.n;
	return index_frames(w);
}

/*
 * Reads the counts again, once, on the caller's thread, when the workers have
 * finished. If that fails, the first counts are kept.
 */
static void count_again(struct walk_mappers *w)
{
	struct pdet_worker *k = &w->walk.it->workers[0];

	if (w->counted_again || w->by_index || all_found(w))
		return;
	w->counted_again = true;
	if (read_expected(w, k, put_less) < 0)
		pdet_clear(&pdet_session_of(k, &w->walk)->env);
}

/* Whether a frame may have a mapping that was not found, instead of one that
 * counts once with another one. */
static bool mappers_unsure(struct pdet_walk *base)
{
	const struct walk_mappers *w = walk_of(base);
	size_t i;

	for (i = 0; i < w->n; i++)
		if (atomic_load(&w->wanted[i].unsure) &&
		    !is_found(&w->wanted[i]))
			return true;
	return false;
}

int pdet_walk_mappers_summary(struct pdet_walk *base, uint64_t n,
			      struct pagedet_mappers *ret)
{
	struct walk_mappers *w = walk_of(base);
	const struct wanted *f;

	if (!w->ended)
		return -EAGAIN;
	if (n >= w->n)
		return -ENOENT;
	count_again(w);
	f = &w->wanted[w->order[n]];
	ret->pfn = f->pfn;
	ret->more = f->more;
	ret->found = number_found(f);
	ret->shared = (uint32_t)(atomic_load(&f->found) +
				 atomic_load(&f->unsure) +
				 atomic_load(&f->shared) - ret->found);
	ret->expected = f->expected;
	ret->expected_state = f->state;
	ret->mapcount_kind = f->kind;
	ret->found_state = users_of(w, f);
	if (w->told) {
		ret->unread = NULL;
		ret->n_unread = 0;
	} else if (w->by_index) {
		struct pdet_mapindex_info info;

		pdet_mapindex_info(base->it->q.index, &info);
		ret->unread = info.unread;
		ret->n_unread = info.n_unread;
	} else {
		ret->unread = w->unread.data;
		ret->n_unread = w->unread.n;
	}
	return 0;
}

static int mappers_retarget(struct pdet_walk *base, struct pdet_worker *k)
{
	struct walk_mappers *w = walk_of(base);
	int r;

	w->pid = 0;
	w->ended = w->counted_again = false;
	atomic_store(&w->blind, 0);
	w->unread.n = 0;
	r = list_frames(w);
	return r < 0 ? r : mappers_begin(base, k);
}

static void mappers_free(struct pdet_walk *base)
{
	struct walk_mappers *w = walk_of(base);

	free_frames(w);
	free(w->pids);
	pdet_spaces_free(&w->spaces);
	pthread_mutex_destroy(&w->comparing);
	pdet_other_free(&w->other);
	pdet_vec_free(&w->unread);
	free(w);
}

static const struct pdet_walk_ops mappers_ops = {
	.begin = mappers_begin,
	.next = mappers_next,
	.place = mappers_place,
	.is_unsure = mappers_unsure,
	.span_free = mappers_span_free,
	.retarget = mappers_retarget,
	.free = mappers_free,
};

int pdet_walk_mappers(struct pdet_iter *it, struct pdet_walk **ret)
{
	struct walk_mappers *w;
	struct pdet_walk *base;
	int r = pdet_walk_new(it, &mappers_ops, sizeof(*w), &base);

	if (r < 0)
		return r;
	w = walk_of(base);
	pthread_mutex_init(&w->comparing, NULL);
	w->first = w->walk;
	w->told = base->backend->ops->told;
	/* The backend continues at the mapping of the page where it stopped. */
	base->serial = w->told;
	r = list_frames(w);
	if (r < 0) {
		mappers_free(base);
		return r;
	}
	*ret = base;
	return 0;
}
