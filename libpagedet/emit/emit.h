/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes columns as text. Each format has its own file. The tables of the
 * schema drive them: there is no code for single fields.
 *
 * Call pdet_emitter_new(), then pdet_emit_begin(), pdet_emit_batch() ... and
 * pdet_emit_end() for each query, and at last pdet_emitter_finish() and
 * pdet_emitter_free().
 */
#ifndef PDET_EMIT_EMIT_H
#define PDET_EMIT_EMIT_H

#include "base/env.h"
#include "schema/batch.h"
#include "snapshot/about.h"

struct pagedet_emitter;

/* Describes the rows of one query. */
struct pdet_emit_query {
	struct pdet_fields fields; /* fields to show */
	const uint32_t *group_by; /* keys in order; NULL: a listing */
	size_t n_group_by;
	bool grouped;		/* rows are groups, even if without keys */
	bool runs;		/* rows may stand for several pages */
	uint32_t target;	/* PAGEDET_TARGET_* */
	uint64_t page_size;
	const struct pagedet_info *info; /* for pictures; NULL: not known */
	/*
	 * for the footer of a text: the reason why no source answers a field,
	 * and advice
	 */
	uint32_t (*why)(const void *user, uint32_t field);
	const char *(*advice)(const void *user, uint32_t field);
	/* for PAGEDET_EMIT_STACKS: as pagedet_stack() */
	int (*stack)(const void *user, uint64_t id, const char **frames,
		     uint32_t n);
	const void *user;
	/* for PAGEDET_FORMAT_SNAPSHOT, which needs it */
	const struct pdet_snapshot_about *about;
};

/* The end of a query: sums of groups, and progress. */
struct pdet_emit_end {
	const struct pagedet_mappers *mappers;
	size_t n_mappers;
	uint64_t pages;		/* for groups: pages in all of them */
	uint64_t bytes;		/* for groups of objects or events: in all */
	uint32_t bytes_state;	/* PAGEDET_HAVE, or PAGEDET_NONE, or why they
				 * are not known */
	uint64_t undecided;
	uint64_t spilled;	/* for groups: pages in the group "other" */
	uint64_t wanted, visited; /* places; wanted 0: not known */
	bool complete;

	/* for PAGEDET_FORMAT_SNAPSHOT, which needs it */
	const struct pagedet_coverage *coverage;
	uint64_t last_ns;	/* time of saved rows; 0: now */
};

/* Stacks of a thread. */
struct pdet_emit_thread {
	uint32_t pid, tid;
	bool has_kernel, has_user; /* what was asked for */
	const char *const *frames;
	uint32_t n;
	const char *reason;	/* the name of the reason why the frames are not
				 * known; NULL if they are known. No frames
				 * means user code */
	const char *words;	/* the same as text */
	const struct pagedet_frame *user;
	bool stopped;		/* for user, even if that is not known */
	uint32_t n_user;	/* 0 and no reason: it has no user code */
	const char *user_reason;
	const char *user_words;
};

int pdet_emitter_new(struct pdet_env *env,
		     const struct pagedet_emit_options *options,
		     struct pagedet_emitter **ret);
void pdet_emitter_free(struct pagedet_emitter *e);

/*
 * pdet_emitter_draws - whether the format is PAGEDET_FORMAT_SVG. It needs data
 * about the kernel. It does not matter how rows divide the pages.
 */
bool pdet_emitter_draws(const struct pagedet_emitter *e);

/* pdet_emitter_saves - whether the format is PAGEDET_FORMAT_SNAPSHOT. */
bool pdet_emitter_saves(const struct pagedet_emitter *e);

/*
 * pdet_emitter_lists - 0 if the format is text, JSON or CSV, else -EINVAL.
 * @what: what is to be written.
 */
int pdet_emitter_lists(const struct pagedet_emitter *e, struct pdet_env *env,
		       const char *what);

/*
 * Text goes to the fd in large pieces as it grows. A failed write is -EIO with
 * an error text in @env, and every later call fails, too.
 */
int pdet_emit_begin(struct pagedet_emitter *e, struct pdet_env *env,
		    const struct pdet_emit_query *q);
/* @b->strings holds the texts of string ids. */
int pdet_emit_batch(struct pagedet_emitter *e, struct pdet_env *env,
		    const struct pdet_batch *b);
int pdet_emit_end(struct pagedet_emitter *e, struct pdet_env *env,
		  const struct pdet_emit_end *end);

/*
 * Comes after the end of a query. CSV leaves it out, because it has only rows.
 */
int pdet_emit_thread(struct pagedet_emitter *e, struct pdet_env *env,
		     const struct pdet_emit_thread *t);

/* Writes one line of a survey. */
int pdet_emit_ability(struct pagedet_emitter *e, struct pdet_env *env,
		      unsigned field, unsigned source,
		      const struct pagedet_ability *a);

/* Error texts go to the env of pdet_emitter_new(). */
int pdet_emitter_finish(struct pagedet_emitter *e);
const char *pdet_emitter_text(struct pagedet_emitter *e, size_t *len);

/*
 * pdet_format_cell - write one cell as in the text table: "-" for nothing, "?"
 * for no answer. @known is the value of the mask's known field, or all ones if
 * there is none. Returns the length of the whole text.
 */
size_t pdet_format_cell(unsigned field, uint64_t value, uint16_t cell,
			uint64_t known, const char *string, size_t string_len,
			char *text, size_t size);

#endif
