/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * One question while it is answered: what was asked, the plan, the walk, the
 * threads at work, the batch that the caller sees.
 *
 * A walk cuts the question into spans. A span is worked on by one thread at a
 * time: place (rows of the walk), fill (columns from the sources), filter,
 * recheck - one batch a turn. What it yields goes to the caller in the order
 * of the spans, or into that thread's groups.
 */
#ifndef PDET_QUERY_QUERY_H
#define PDET_QUERY_QUERY_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/backend.h"
#include "query/filter.h"
#include "query/group.h"
#include "query/plan.h"
#include "query/stacks.h"

/* Ids of strings of one batch start this far from those of the one before. */
#define PDET_STRING_STRIDE ((uint64_t)1 << 24)

/* What a worker counted since it was last added up. */
struct pdet_cover {
	uint64_t visited;
	uint64_t skipped;
	uint64_t undecided;
	uint64_t torn;
	uint64_t spilled;
	uint64_t tasks, tasks_gone, tasks_denied;
	uint64_t files, files_gone, files_denied;
	struct pdet_fields answered;
	bool partial;		/* there may be more than could be seen */
	bool any_lost;		/* some of these are not 0 */
	uint64_t lost[32];
};

static inline void pdet_cover_clear(struct pdet_cover *c)
{
	if (c->any_lost)
		memset(c->lost, 0, sizeof(c->lost));
	memset(c, 0, offsetof(struct pdet_cover, lost));
}

/* A piece of the question. Its data belongs to the walk and stays with the
 * slot, so that the next span there can use the memory again. */
struct pdet_span {
	uint64_t item;
	uint64_t at;		/* what is left: at .. end - 1 */
	uint64_t end;
	uint64_t place;		/* of at, for coverage.resume */
	void *data;
};

struct pdet_iter;
struct pdet_mapindex;
struct pdet_run;

/* Rows that are read again; of moment.c. */
struct pdet_again {
	struct pdet_batch batch;
	uint32_t *row;		/* in the batch that they are of */
	uint8_t *same;		/* how often each said the same again */
};

/* One thread's part. */
struct pdet_worker {
	struct pdet_iter *it;
	pthread_t thread;
	bool started;
	struct pdet_session *session[PDET_BACKENDS];
	struct pdet_batch sub;	/* rows that a later source is asked for */
	struct pdet_again again;
	uint8_t *keep;		/* per row of a batch */
	struct pdet_group *group;
	struct pdet_cover cover;
};

struct pdet_walk;

struct pdet_walk_ops {
	/* Opens what was asked for, so that what is not there is said at once.
	 * May be NULL. */
	int (*begin)(struct pdet_walk *w, struct pdet_worker *k);
	/* Cuts off the next span, of at most @pages places. 1, 0 at the end,
	 * or negative errno. Called by one thread at a time. */
	int (*next)(struct pdet_walk *w, struct pdet_worker *k,
		    struct pdet_span *span, uint64_t pages);
	/* Adds rows from span->at on and moves it; at end nothing is left. */
	int (*place)(struct pdet_walk *w, struct pdet_worker *k,
		     struct pdet_span *span, struct pdet_batch *b);
	/* Which rows are asked for, once the fields that the plan has as early
	 * are filled: keep[row]. Returns of how many that could not be told.
	 * May be NULL. */
	uint64_t (*match)(struct pdet_walk *w, const struct pdet_batch *b,
			  uint8_t *keep);
	/* After the sources were asked: are the rows still about the same
	 * pages? May be NULL. */
	int (*recheck)(struct pdet_walk *w, struct pdet_worker *k,
		       struct pdet_span *span, struct pdet_batch *b);
	/* After the sources were asked: what the walk has to say about rows
	 * as they are now. May be NULL. */
	void (*compare)(struct pdet_walk *w, struct pdet_batch *b);
	/* The only item is one place, and was asked for with retarget: row 0
	 * of @b, if that can be answered at once. Else false, and nothing has
	 * happened. May be NULL. */
	bool (*glance)(struct pdet_walk *w, struct pdet_worker *k,
		       struct pdet_batch *b);
	/* Frees span->data. May be NULL. */
	void (*span_free)(struct pdet_walk *w, struct pdet_span *span);
	/* Stacks whose ids its own rows have, as a backend's. May be NULL. */
	int (*stack)(struct pdet_walk *w, uint64_t id, struct pdet_text *ret);
	/* From the beginning with other items. May be NULL. */
	int (*retarget)(struct pdet_walk *w, struct pdet_worker *k);
	void (*free)(struct pdet_walk *w);
};

/* Walks embed it. */
struct pdet_walk {
	const struct pdet_walk_ops *ops;
	struct pdet_iter *it;
	struct pdet_backend *backend;
	unsigned index;		/* of that backend's session in a worker */
	unsigned source;	/* that its answers are said to be from */
	bool serial;		/* place() must not run in parallel */
	bool partial;		/* what is asked for cannot be seen entirely */
	uint64_t total;		/* places, 0 not known */
};

enum pdet_slot_state {
	PDET_SLOT_EMPTY,
	PDET_SLOT_PENDING,	/* its span has more to give */
	PDET_SLOT_RUNNING,
	PDET_SLOT_READY		/* its batch waits for the caller */
};

struct pdet_slot {
	enum pdet_slot_state state;
	bool more;		/* the span is not used up */
	int error;
	struct pdet_span span;
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
	uint64_t string_bytes;
	uint64_t deadline_ns;	/* CLOCK_MONOTONIC, 0 none */
	uint32_t *group_by;
	size_t n_group_by;
	bool grouped;
	unsigned threads;
	struct pdet_mapindex *index;
	pagedet_progress_fn *progress;
	void *progress_user;
	uint64_t progress_ns;
};

struct pdet_iter {
	struct pdet_env *env;	/* the handle's */
	struct pdet_backend *const *backends;
	size_t n_backends;
	struct pdet_question q;
	struct pdet_plan plan;
	/* By backend; those that are not used have no session. */
	struct pdet_wants wants[PDET_BACKENDS];
	bool asked[PDET_BACKENDS];
	atomic_uint places[PDET_BACKENDS]; /* pdet_session.asked */
	struct pdet_filter *filter;
	struct pdet_walk *walk;
	struct pdet_mapindex *own_index; /* built for user_maps */
	uint64_t page_size;
	const void *secret;	/* of hashes; the handle's */
	bool text_only;		/* a log, and nothing else is asked */
	bool by_tasks;		/* a cgroup, by what its tasks map */
	bool may_glance;	/* the question is simple enough for that */
	bool glance;		/* try it first */
	bool fold;		/* sources may fold rows of a scan */
	bool count_only;	/* rows may stand for many pages: nothing of a
				 * single page is asked for */
	const struct pdet_snapshot *saved; /* rows are those of a file; NULL */
	uint32_t rows_of;	/* PAGEDET_TARGET_* that rows are about; of
				 * saved ones that of their question */

	struct pdet_worker *workers; /* workers[0] is the caller */
	unsigned n_workers;
	pthread_mutex_t lock;
	pthread_cond_t work;	/* for workers: there may be some */
	pthread_cond_t ready;	/* for the caller: a batch may be ready */
	bool threads_started;
	bool walk_ended;	/* next() has answered 0 */
	bool quit;
	atomic_int stopped;	/* positive errno: why everything stops */
	char error[PDET_ERROR_SIZE];
	char advice[PDET_ERROR_SIZE];
	atomic_uint_fast64_t next_string;
	atomic_uint_fast64_t done; /* places, for progress */

	struct pdet_slot *slots; /* a ring, in the order of the spans */
	unsigned n_slots;
	unsigned first, used;
	uint32_t rows_per_batch;

	struct pdet_batch *current; /* what the caller sees */
	struct pdet_slot *current_slot;
	uint32_t cursor;	/* rows of it handed out */
	struct pdet_group *group; /* the sum of the workers' */
	bool grouped_done;
	int group_error;	/* negative errno: there are no groups */
	uint64_t group_at;
	struct pdet_batch out;	/* groups and runs */
	struct pdet_run *run;
	struct pdet_strtab kept;
	struct pdet_text task_stack; /* that the caller looks at */
	struct pdet_stacks stacks; /* that the caller looks at */
	uint64_t rows;		/* given to the caller */
	uint64_t first_ns;
	uint64_t told_ns;	/* progress */
	struct pdet_cover cover;
	uint64_t place;		/* behind the last span given out */
	uint64_t resume;
	bool ended;
};

/* --- iter.c --- */

/* What api.c hands over; strings and arrays are copied. */
struct pdet_iter_args {
	struct pdet_env *env;
	struct pdet_backend *const *backends;
	size_t n_backends;
	uint32_t sources;	/* allowed */
	const struct pagedet_query *query;
	struct pdet_fields fields;
	struct pdet_mapindex *index;
	uint64_t page_size;
};

int pdet_iter_new(const struct pdet_iter_args *args, struct pdet_iter **ret);
void pdet_iter_free(struct pdet_iter *it);
/* The next batch with rows: 1, 0 at the end, or negative errno. */
int pdet_iter_step(struct pdet_iter *it, struct pdet_batch **ret);
/* Before the first step: runs need not be the longest ones, rows may be as
 * sources make them. */
void pdet_iter_any_runs(struct pdet_iter *it);
int pdet_iter_retarget(struct pdet_iter *it, const struct pagedet_item *items,
		       uint64_t n);

/* --- engine.c: spans become batches, with one thread or several --- */
int pdet_engine_start(struct pdet_iter *it);
void pdet_engine_stop(struct pdet_iter *it);
/* The next filled batch in order: 1, 0 at the end, or negative errno. */
int pdet_engine_next(struct pdet_iter *it, struct pdet_batch **ret);
/* Runs everything into it->group. */
int pdet_engine_group(struct pdet_iter *it);
/* Why everything stops; the first reason stays. Any thread. */
void pdet_iter_stop(struct pdet_iter *it, int code, const struct pdet_env *env);
/* Counts what was done without it, and was added to it->done when it was. The
 * caller's thread. */
void pdet_iter_count(struct pdet_iter *it, struct pdet_cover *from);
/* What was counted so far. The caller's thread. */
void pdet_iter_cover(struct pdet_iter *it, struct pdet_cover *ret);
/* Deadline, cancel, progress; 0 or negative errno. */
int pdet_engine_check(struct pdet_worker *k);

/* --- cgroup.c --- */
/* Makes a question about a cgroup one about its tasks, where it is not to be
 * seen what is charged. */
int pdet_cgroup_by_tasks(struct pdet_iter *it);

/* --- chain.c: columns of a batch from the sources of the plan --- */
int pdet_chain_fill(struct pdet_worker *k, struct pdet_batch *b,
		    const struct pdet_fields *fields);
/* What row @at of another batch says beside its cells. */
void pdet_chain_take_notes(struct pdet_batch *b, uint32_t row,
			   const struct pdet_batch *sub, uint32_t at);

/* --- walks: each makes one from it->q, or fails with words --- */
int pdet_walk_pfn(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_task(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_virt(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_file(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_mapped(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_mappers(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_kaddr(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_log(struct pdet_iter *it, struct pdet_walk **ret);
int pdet_walk_saved(struct pdet_iter *it, struct pdet_walk **ret);

/* Of a walk over saved rows, before its first step: only those come that
 * query/diff_alike.h says of this side. */
struct pdet_alike;
void pdet_walk_saved_leave(struct pdet_walk *w, struct pdet_alike *alike,
			   unsigned side);

/* The summary of a pfn of a mappers walk; -ENOENT past the last. */
int pdet_walk_mappers_summary(struct pdet_walk *w, uint64_t n,
			      struct pagedet_mappers *ret);

/* pdet_walker - index of the backend that walks the target; -1 none can. */
int pdet_walker(const struct pdet_iter *it);

/* walk.c: sets w->backend, index and source to the first that can walk the
 * target of the question; -ENOTSUP, with words. */
int pdet_walk_backend(struct pdet_iter *it, struct pdet_walk *w);

static inline struct pdet_session *pdet_session_of(struct pdet_worker *k,
						   const struct pdet_walk *w)
{
	return k->session[w->index];
}

#endif
