/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Columns become text. One file per format, driven by the schema's tables:
 * no code per field.
 *
 *   pdet_emitter_new, then per query: pdet_emit_begin, pdet_emit_batch ...,
 *   pdet_emit_end; at last pdet_emitter_finish, pdet_emitter_free.
 */
#ifndef PDET_EMIT_EMIT_H
#define PDET_EMIT_EMIT_H

#include "base/env.h"
#include "schema/batch.h"
#include "schema/snapshot_about.h"

struct pagedet_emitter;

/* What the rows of one query are. */
struct pdet_emit_query {
	struct pdet_fields fields; /* to show */
	const uint32_t *group_by; /* keys in the order asked; NULL: a listing */
	size_t n_group_by;
	bool grouped;		/* rows are groups, even without keys */
	bool runs;		/* rows speak for several pages */
	uint32_t target;	/* PAGEDET_TARGET_* */
	uint64_t page_size;
	const struct pagedet_info *info; /* for pictures; NULL: not known */
	/* for the text footer: why nobody can answer a field, and advice */
	uint32_t (*why)(const void *user, uint32_t field);
	const char *(*advice)(const void *user, uint32_t field);
	/* for PAGEDET_EMIT_STACKS: as pagedet_stack() */
	int (*stack)(const void *user, uint64_t id, const char **frames,
		     uint32_t n);
	const void *user;
	/* for PAGEDET_FORMAT_SNAPSHOT, which needs it */
	const struct pdet_snapshot_about *about;
};

/* One pfn of PAGEDET_TARGET_MAPPERS, and the sums of a grouping. */
struct pdet_emit_end {
	const struct pagedet_mappers *mappers;
	size_t n_mappers;
	uint64_t pages;		/* grouped: all of them */
	uint64_t undecided;
	uint64_t spilled;	/* grouped: pages in the group "other" */
	uint64_t wanted, visited; /* places; wanted 0 is not known */
	bool complete;

	/* for PAGEDET_FORMAT_SNAPSHOT, which needs it */
	const struct pagedet_coverage *coverage;
	uint64_t last_ns;	/* of rows that were saved before; 0: now */
};

/* Where a thread is in the kernel. */
struct pdet_emit_thread {
	uint32_t pid, tid;
	const char *const *frames;
	uint32_t n;
	uint32_t reason;	/* why they are not known; 0 they are, and if
				 * there is none, it is in user code */
	const char *words;	/* the same for people */
};

int pdet_emitter_new(struct pdet_env *env,
		     const struct pagedet_emit_options *options,
		     struct pagedet_emitter **ret);
void pdet_emitter_free(struct pagedet_emitter *e);

/* pdet_emitter_draws - the format is PAGEDET_FORMAT_SVG: it wants to know of
 * the kernel, and how pages are spread over rows is all the same to it. */
bool pdet_emitter_draws(const struct pagedet_emitter *e);

/* pdet_emitter_saves - the format is PAGEDET_FORMAT_SNAPSHOT. */
bool pdet_emitter_saves(const struct pagedet_emitter *e);

/* The text is written to the fd as it grows, in large pieces; a failed write
 * is -EIO with words in @env, and stays so. */
int pdet_emit_begin(struct pagedet_emitter *e, struct pdet_env *env,
		    const struct pdet_emit_query *q);
/* String ids are those of @b->strings. */
int pdet_emit_batch(struct pagedet_emitter *e, struct pdet_env *env,
		    const struct pdet_batch *b);
int pdet_emit_end(struct pagedet_emitter *e, struct pdet_env *env,
		  const struct pdet_emit_end *end);

/* Behind the end of a query. Not in CSV, which has rows only. */
int pdet_emit_thread(struct pagedet_emitter *e, struct pdet_env *env,
		     const struct pdet_emit_thread *t);

/* One line of a survey. */
int pdet_emit_ability(struct pagedet_emitter *e, struct pdet_env *env,
		      unsigned field, unsigned source,
		      const struct pagedet_ability *a);

/* Words of a failure go to the env that the emitter was made with. */
int pdet_emitter_finish(struct pagedet_emitter *e);
const char *pdet_emitter_text(struct pagedet_emitter *e, size_t *len);

/*
 * pdet_format_cell - one cell as plain text, as in the text table: "-" nothing
 * there, "?" no answer. @known is the value of the mask's known field (all
 * ones if there is none). Returns the length that the whole text has.
 */
size_t pdet_format_cell(unsigned field, uint64_t value, uint16_t cell,
			uint64_t known, const char *string, size_t string_len,
			char *text, size_t size);

#endif
