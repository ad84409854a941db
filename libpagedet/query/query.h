/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A running query: the question, the plan, the walk, the worker threads, and
 * the batch that the caller sees.
 *
 * A walk cuts the question into spans. One thread at a time works on a span,
 * one batch per turn: place makes rows of the walk, fill gets columns from the
 * sources, then come filter and recheck. The results go to the caller in the
 * order of the spans, or into the groups of that thread.
 */
#ifndef PDET_QUERY_QUERY_H
#define PDET_QUERY_QUERY_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/backend.h"
#include "base/io.h"
#include "base/pairs.h"
#include "query/filter.h"
#include "query/group.h"
#include "query/plan.h"

/* Distance between the string ids of one batch and of the next. */
#define PDET_STRING_STRIDE ((uint64_t)1 << 24)

/* The counts of a worker since they were added to the sum. */
struct pdet_cover {
	uint64_t visited;
	uint64_t skipped;
	uint64_t undecided;
	uint64_t torn;
	uint64_t spilled;
	uint64_t tasks, tasks_gone, tasks_denied, tasks_damaged, tasks_again;
	uint64_t tasks_merged;
	uint64_t matched;
	uint64_t files, files_gone, files_denied;
	struct pdet_fields answered;
	bool partial;		/* more may exist than could be seen */
	bool any_lost;		/* some of these are not 0 */
	uint64_t lost[32];
};

static inline void pdet_cover_clear(struct pdet_cover *c)
{
	if (c->any_lost)
		memset(c->lost, 0, sizeof(c->lost));
	memset(c, 0, offsetof(struct pdet_cover, lost));
}

/* pdet_cover_unread - count a task that could not be read, by its error. */
static inline void pdet_cover_unread(struct pdet_cover *c,
				     struct pdet_session *s, uint32_t pid,
				     int error)
{
	if (pdet_is_zombie(s, pid, error))
		return;
	c->tasks_gone += error == -ESRCH;
	c->tasks_denied += error == -EACCES;
	c->tasks_damaged += error != -ESRCH && error != -EACCES;
}

/*
 * A piece of the question. Its data belongs to the walk and stays with the
 * slot. The next span of the slot can therefore use the memory again.
 */
struct pdet_span {
	uint64_t item;
	uint64_t at;		/* at .. end - 1 is left */
	uint64_t end;
	uint64_t place;		/* the place of at, for coverage.resume */
	void *data;
};

struct pdet_iter;
struct pdet_allocs;
struct pdet_heat;
struct pdet_kmap_pages;
struct pdet_mapindex;
struct pdet_run;
struct pdet_order;

/* Rows that are read again; of moment.c. */
struct pdet_again {
	struct pdet_batch batch;
	uint32_t *row;		/* in the batch that they are of */
	uint8_t *same;		/* how often each said the same again */
};

/* The data of one thread. */
struct pdet_worker {
	struct pdet_iter *it;
	pthread_t thread;
	bool started;
	struct pdet_session *session[PDET_BACKENDS];
	struct pdet_batch sub;	/* rows for a later source */
	struct pdet_again again;
	uint8_t *keep;		/* for each row of a batch */
	struct pdet_group *group;
	struct pdet_cover cover;
};

struct pdet_walk;

struct pdet_walk_ops {
	/*
	 * Opens the objects of the question, so that a missing one is reported
	 * at once. May be NULL.
	 */
	int (*begin)(struct pdet_walk *w, struct pdet_worker *k);
	/*
	 * Cuts off the next span, of at most @pages places. Returns 1, 0 at the
	 * end, or negative errno. Only one thread at a time calls it.
	 */
	int (*next)(struct pdet_walk *w, struct pdet_worker *k,
		    struct pdet_span *span, uint64_t pages);
	/*
	 * Adds rows from span->at on, and advances it. The span is used up once
	 * it reaches end.
	 */
	int (*place)(struct pdet_walk *w, struct pdet_worker *k,
		     struct pdet_span *span, struct pdet_batch *b);
	/*
	 * Sets keep[row] for the rows that belong to the question. The early
	 * fields of the plan are filled before the call. Returns the number of
	 * rows for which this is unknown. May be NULL.
	 */
	uint64_t (*match)(struct pdet_walk *w, const struct pdet_batch *b,
			  uint8_t *keep);
	/*
	 * Called after the sources, to find out whether the rows are still
	 * about the same pages. May be NULL.
	 */
	int (*recheck)(struct pdet_walk *w, struct pdet_worker *k,
		       struct pdet_span *span, struct pdet_batch *b);
	/*
	 * Called after the sources, to add what the walk knows about the
	 * finished rows. May be NULL.
	 */
	void (*compare)(struct pdet_walk *w, struct pdet_batch *b);
	/*
	 * Fills row 0 of @b, if the only item is one place that was set by
	 * retarget and can be answered at once. Otherwise changes nothing and
	 * returns false. May be NULL.
	 */
	bool (*glance)(struct pdet_walk *w, struct pdet_worker *k,
		       struct pdet_batch *b);
	/* After the end: whether it is not known that all was found. May be
	 * NULL. */
	bool (*is_unsure)(struct pdet_walk *w);
	/* Frees span->data. May be NULL. */
	void (*span_free)(struct pdet_walk *w, struct pdet_span *span);
	/*
	 * Gets the stacks whose ids are in the walk's own rows, as a backend
	 * does. May be NULL.
	 */
	int (*stack)(struct pdet_walk *w, uint64_t id, struct pdet_text *ret);
	/* Starts again with other items. May be NULL. */
	int (*retarget)(struct pdet_walk *w, struct pdet_worker *k);
	void (*free)(struct pdet_walk *w);
};

/* The base of all walks, which embed it. */
struct pdet_walk {
	const struct pdet_walk_ops *ops;
	struct pdet_iter *it;
	struct pdet_backend *backend;
	unsigned index;		/* index of that backend's session in a
				 * worker */
	unsigned source;	/* source of its answers */
	bool serial;		/* place() must not run in parallel */
	bool partial;		/* not everything asked for can be seen */
	uint64_t total;		/* places, 0 not known */
};

enum pdet_slot_state {
	PDET_SLOT_EMPTY,
	PDET_SLOT_PENDING,	/* its span has more rows */
	PDET_SLOT_RUNNING,
	PDET_SLOT_READY		/* its batch waits for the caller */
};

struct pdet_slot {
	enum pdet_slot_state state;
	bool more;		/* the span is not used up yet */
	int error;
	struct pdet_span span;
	uint64_t begin;		/* the place where the batch begins */
	struct pdet_batch batch;
};

/* The question, copied from the caller's. */
struct pdet_question {
	uint32_t target;
	uint32_t options;
	struct pagedet_item *items;
	uint64_t n_items;
	uint64_t items_cap;
	char *path;
	char *where;
	uint64_t limit;
	uint32_t order, order_by;
	uint64_t string_bytes;
	uint64_t deadline_ns;	/* CLOCK_MONOTONIC, 0 no deadline */
	uint64_t page_size;	/* of the machine that wrote a log; 0 unknown */
	uint32_t *group_by;
	size_t n_group_by;
	bool grouped;
	unsigned threads;
	struct pdet_mapindex *index;
	struct pdet_allocs *allocs;
	const struct pdet_heat *heat;
	const struct pdet_kmap_pages *kmap;
	pagedet_progress_fn *progress;
	void *progress_user;
	uint64_t progress_ns;
	pagedet_place_fn *next_place;
	void *next_place_user;
};

/* The stacks that the caller reads; see stacks.h. */
struct pdet_stacks {
	struct pdet_pairs by_id; /* index in list */
	struct {
		struct pdet_stack_text {
			struct pdet_text text; /* frames, separated by NULs */
			uint32_t n;
		} *data;
		size_t n, cap;
	} list;
};

/* What walk/user_stacks.c needs, if user stacks were requested. The source that
 * reads kernel memory answers, even if another one walks the tasks. Where it
 * cannot tell, the one that stops threads does, if the caller allows that. */
struct pdet_user_stacks {
	struct pdet_stack_source {
		bool has_backend;
		size_t backend;
		int error;	/* why it cannot be asked; 0: it can */
		char words[PDET_ERROR_SIZE], advice[PDET_ERROR_SIZE];
	} memory, stops;
	bool stopped;		/* the last thread was */
	struct pdet_unwinder *unwinder;
	struct pdet_user_stack *stack; /* that the caller reads */
	struct pdet_perf_file perf; /* of the last process */
};

struct pdet_iter {
	struct pdet_env *env;	/* of the handle */
	struct pdet_backend *const *backends;
	size_t n_backends;
	struct pdet_question q;
	struct pdet_plan_args plan_args;
	struct pdet_plan plan;
	bool tried_later;	/* plan.late is final */
	/* indexed by backend; an unused backend has no session */
	struct pdet_wants wants[PDET_BACKENDS];
	bool asked[PDET_BACKENDS];
	atomic_uint places[PDET_BACKENDS]; /* pdet_session.asked */
	struct pdet_filter *filter;
	struct pdet_walk *walk;
	struct pdet_mapindex *own_index; /* built for user_maps */
	bool live;		/* the running kernel answers */
	uint64_t page_size;
	const void *secret;	/* of hashes; of the handle */
	bool text_only;		/* only a log, or a trace, answers */
	bool by_tasks;		/* a cgroup, read through its tasks' mappings */
	bool may_glance;	/* the question is simple enough for glance() */
	bool glance;		/* try glance() first */
	bool fold;		/* sources may fold rows of a scan */
	bool count_only;	/* rows may stand for many pages, because the
				 * query needs no facts about single pages */
	const struct pdet_snapshot *saved; /* the file of the rows; NULL */
	uint32_t rows_of;	/* PAGEDET_TARGET_* of the rows; for saved rows,
				 * the target of their query */

	struct pdet_worker *workers; /* workers[0] is the caller */
	unsigned n_workers;
	pthread_mutex_t lock;
	pthread_cond_t work;	/* for workers: work may be available */
	pthread_cond_t ready;	/* for the caller: a batch may be ready */
	bool threads_started;
	bool walk_ended;	/* next() has returned 0 */
	bool ring_ended;	/* why the query stopped was told */
	bool quit;
	atomic_int stopped;	/* positive errno: the reason why all threads
				 * must stop */
	char error[PDET_ERROR_SIZE];
	char advice[PDET_ERROR_SIZE];
	atomic_uint_fast64_t next_string;
	atomic_uint_fast64_t done; /* places, for progress */

	struct pdet_slot *slots; /* a ring, in the order of spans */
	unsigned n_slots;
	unsigned first, used;
	uint32_t rows_per_batch;

	struct pdet_batch *current; /* the batch that the caller sees */
	struct pdet_slot *current_slot;
	uint32_t cursor;	/* rows of it that were delivered */
	struct pdet_group *group; /* sum of the workers' groups */
	bool grouped_done;
	int group_error;	/* negative errno: why there are no groups */
	uint64_t group_at;
	struct pdet_batch out;	/* for groups and runs */
	struct pdet_run *run;
	struct pdet_order *ordered; /* orders the rows; NULL */
	bool ordered_done;
	struct pdet_strtab kept;
	struct pdet_text task_stack; /* that the caller reads */
	struct pdet_user_stacks user_stacks;
	struct pdet_stacks stacks; /* that the caller reads */
	uint64_t rows;		/* rows delivered */
	uint64_t first_ns;
	uint64_t told_ns;	/* time of the last progress report */
	struct pdet_cover cover;
	uint64_t place;		/* behind the last span that was cut */
	uint64_t resume;
	bool ended;
};

/* --- iter.c --- */

/* Arguments that api.c passes in. Strings and arrays are copied. */
struct pdet_iter_args {
	struct pdet_env *env;
	struct pdet_backend *const *backends;
	size_t n_backends;
	uint32_t sources;	/* allowed sources */
	const struct pagedet_query *query;
	struct pdet_fields fields;
	struct pdet_mapindex *index;
	struct pdet_allocs *allocs;
	const struct pdet_heat *heat;
	const struct pdet_kmap_pages *kmap;
	bool live;
	uint64_t page_size;
};

int pdet_iter_new(const struct pdet_iter_args *args, struct pdet_iter **ret);
void pdet_iter_free(struct pdet_iter *it);
/* Whether the file of the question is asked, and nothing else. */
bool pdet_iter_is_alone(const struct pagedet_query *q);
/*
 * Starts a source that is needed after all, for all workers. Only on the
 * caller's thread. Returns 1, 0 if it cannot be asked, or a negative errno.
 */
int pdet_iter_start(struct pdet_iter *it, unsigned backend);
/*
 * Sets up plan.late when the first page needs it. Only on the caller's thread.
 */
int pdet_iter_later(struct pdet_iter *it);
/* Gets the next batch with rows. Returns 1, 0 at the end, or negative errno. */
int pdet_iter_step(struct pdet_iter *it, struct pdet_batch **ret);
/*
 * Call before the first step. Runs then need not be as long as possible, and
 * rows may stay as sources fold them.
 */
void pdet_iter_any_runs(struct pdet_iter *it);
int pdet_iter_retarget(struct pdet_iter *it, const struct pagedet_item *items,
		       uint64_t n);

/* --- engine.c: spans become batches, with one thread or several --- */
int pdet_engine_start(struct pdet_iter *it);
void pdet_engine_stop(struct pdet_iter *it);
/* Gives @k a session of a prepared backend. An error text is in @env. */
int pdet_engine_session(struct pdet_worker *k, struct pdet_env *env,
			size_t backend);
/*
 * Gets the next filled batch in order. Returns 1, 0 at the end, or negative
 * errno.
 */
int pdet_engine_next(struct pdet_iter *it, struct pdet_batch **ret);
/* Whether bytes of groups are those of objects or events, not of pages. */
static inline bool pdet_sums_bytes(const struct pdet_iter *it)
{
	return it->q.grouped && pdet_is_of_trace(it->rows_of);
}

/* Runs the whole walk into it->group. */
int pdet_engine_group(struct pdet_iter *it);
/*
 * Stops all threads, for a reason. If this is called several times, the first
 * reason is kept. Any thread may call it.
 */
void pdet_iter_stop(struct pdet_iter *it, int code, const struct pdet_env *env);
/*
 * Adds counts of another part than the engine. They must already be in
 * it->done. Only on the caller's thread.
 */
void pdet_iter_count(struct pdet_iter *it, struct pdet_cover *from);
/* Gets the counts so far. Only on the caller's thread. */
void pdet_iter_cover(struct pdet_iter *it, struct pdet_cover *ret);
/*
 * Checks deadline and cancel, and reports progress. Returns 0 or negative
 * errno.
 */
int pdet_engine_check(struct pdet_worker *k);
/* The same on the caller's thread, at any time. This is pdet_env.stop. */
bool pdet_iter_must_stop(void *it);

/* --- cgroup.c --- */
/*
 * Turns a query for a cgroup into one for its tasks, if its charges cannot be
 * read.
 */
int pdet_cgroup_by_tasks(struct pdet_iter *it);

/* --- chain.c: columns of a batch from the sources of the plan --- */
int pdet_chain_fill(struct pdet_worker *k, struct pdet_batch *b,
		    const struct pdet_fields *fields);
/* Copies the notes of row @at of another batch, which are not in cells. */
void pdet_chain_take_notes(struct pdet_batch *b, uint32_t row,
			   const struct pdet_batch *sub, uint32_t at);
/*
 * Whether it is worth asking another source for row 0, although all its fields
 * are answered.
 */
bool pdet_chain_is_open(const struct pdet_worker *k,
			const struct pdet_batch *b);

/* --- walks: each makes one from it->q, or fails with an error text --- */
int pdet_walk_pfn(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_task(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_virt(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_file(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_mapped(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_mappers(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_kaddr(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_log(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_events(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_saved(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_objects(struct pdet_iter *it, struct pdet_walk **ret);

/*
 * pdet_objects_are_here - whether the objects of the question's trace are those
 * of the kernel that would be asked. If not, sets *not_here, and a warning says
 * why. Returns 0, or a negative errno: the trace cannot be read.
 */
int pdet_objects_are_here(struct pdet_iter *it, bool *not_here);

/*
 * For a walk over saved rows, before its first step. Only rows come that
 * diff/alike.h names for this side.
 */
struct pdet_alike;
void pdet_walk_saved_leave(struct pdet_walk *w, struct pdet_alike *alike,
			   unsigned side);

/*
 * Gets the summary of a pfn of a mappers walk. Returns -ENOENT after the last
 * one.
 */
int pdet_walk_mappers_summary(struct pdet_walk *w, uint64_t n,
			      struct pagedet_mappers *ret);

/*
 * pdet_walker - the index of the backend that walks the target, or -1 if none
 * can.
 */
int pdet_walker(const struct pdet_iter *it);

/* pdet_span_all - all that a walk has is one span, for one thread. @given: it
 * was taken; it is set. Returns 1, or 0 if it was. */
static inline int pdet_span_all(struct pdet_span *span, bool *given)
{
	if (*given)
		return 0;
	*given = true;
	span->item = span->place = span->at = 0;
	span->end = 1;
	return 1;
}

/*
 * pdet_walk_new - make a walk of @size bytes, which begin with the struct
 * pdet_walk. The first backend that can walk the target does. Returns 0, or
 * -ENOMEM or -ENOTSUP with an error text.
 */
int pdet_walk_new(struct pdet_iter *it, const struct pdet_walk_ops *ops,
		  size_t size, struct pdet_walk **ret);

static inline struct pdet_session *pdet_session_of(struct pdet_worker *k,
						   const struct pdet_walk *w)
{
	return k->session[w->index];
}

#endif
