/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What changed between the rows of two questions: a merge of two iterators by
 * place. Rows of a scan come in the order of frames and are merged as they
 * come; others are gathered and sorted first. Pages that are gone here and
 * there anew are held to the end, to see whether they are the same ones.
 */
#ifndef PDET_QUERY_DIFF_H
#define PDET_QUERY_DIFF_H

#include "query/diff_side.h"

#define PDET_CHANGE(name) (1u << PAGEDET_CHANGE_##name)

/* The changes of one step; rows[0] was, rows[1] is now. The cells of a row that
 * one side lacks are NOT_ASKED. */
struct pdet_diff_out {
	uint32_t n;
	struct pagedet_change *change;
	struct pdet_batch rows[2];
};

struct pdet_diff_args {
	struct pdet_env *env;	/* for words */
	struct pdet_iter *it[2];
	const struct pdet_kernel_info *info[2];
	bool other_key;		/* hashes of both are of different keys */
	uint64_t candidates;	/* pages held for moves; 0 is the usual */
	uint64_t max_rows;	/* gathered of a side; 0 is the usual */
};

/* Told of @n frames from @pfn on that did not change, or cannot be compared. */
typedef void pdet_diff_same_fn(void *arg, uint64_t pfn, uint64_t n);

/* What is held, out of both sides. */
struct pdet_diff_held {
	struct pagedet_change *data;
	size_t n, cap;
};

struct pdet_alike;

struct pdet_diff {
	struct pdet_env *env;
	struct pdet_diff_side side[2];
	uint32_t by;		/* PAGEDET_DIFF_BY_* */
	uint32_t notes;
	bool same_boot;		/* frames of one are frames of the other */
	bool told_apart;	/* a row that is missing is known to be none */
	bool by_hash;		/* pages are recognized by their bytes */
	bool same_counts;	/* counts of unknown kind mean the same */
	struct pdet_fields columns; /* of out: both have them */
	struct pdet_fields compare; /* of these */
	struct pdet_fields never; /* asked, and not comparable at all */
	uint8_t never_why[PDET_FIELDS];
	struct pagedet_diff_totals totals;
	struct pdet_diff_out out;
	pdet_diff_same_fn *same;
	void *same_arg;
	struct pdet_alike *alike; /* NULL: all rows come */

	/* held candidates: rows of held[i] are row i % n of chunk i / n */
	bool join;
	size_t max_held;
	struct pdet_diff_held held;
	struct {
		struct pdet_batch (*data)[2];
		size_t n, cap;
	} chunks;
	size_t *mate;		/* by held: number + 1 of the other one */
	size_t drained;
	bool begun;		/* a step was made */
	bool merged;		/* both sides have ended */
	int error;		/* why one did, to be said at last */
	struct pdet_env words;	/* and those for it */
};

int pdet_diff_new(const struct pdet_diff_args *args, struct pdet_diff **ret);
void pdet_diff_free(struct pdet_diff *d);

/* pdet_diff_step - the next changes: 1, 0 at the end, or negative errno. */
int pdet_diff_step(struct pdet_diff *d, const struct pdet_diff_out **ret);

/* pdet_change_name - NULL if there is none. */
const char *pdet_change_name(uint32_t change);

/* --- diff_setup.c --- */

/* pdet_diff_prepare - what can be compared, and by what; sets by, notes,
 * columns, compare and never. */
int pdet_diff_prepare(struct pdet_diff *d, const struct pdet_diff_args *args);

/* --- diff_row.c --- */

/* One page in use is at a row. */
enum pdet_there { PDET_THERE_NO, PDET_THERE_YES, PDET_THERE_UNKNOWN };

/* A row, or none. */
struct pdet_diff_row {
	const struct pdet_batch *b; /* NULL: this side lacks it */
	uint32_t at;
};

/* pdet_diff_compare - what changed from @was to @now, at the same place; or,
 * of @joined rows, of a page that is elsewhere now. change.change is 0 if
 * nothing did. */
void pdet_diff_compare(const struct pdet_diff *d, struct pdet_diff_row was,
		       struct pdet_diff_row now, uint32_t joined,
		       struct pagedet_change *change);

enum pdet_there pdet_diff_there(const struct pdet_diff *d,
				struct pdet_diff_row row);

/* pdet_diff_counts - whether the mapcounts of two rows mean the same. */
bool pdet_diff_counts(const struct pdet_diff *d, struct pdet_diff_row was,
		      struct pdet_diff_row now);

/* pdet_diff_field - whether one field of two rows differs: 1, 0, or -1 if that
 * cannot be told. */
int pdet_diff_field(const struct pdet_diff *d, unsigned f,
		    struct pdet_diff_row was, struct pdet_diff_row now);

/* --- diff_columns.c --- */

/* pdet_diff_mark - of @n rows from @was and @now on: mark[i] bit 0, they may
 * differ; bit 1, some field cannot be compared. Counts per field what can be
 * and what not. */
void pdet_diff_mark(struct pdet_diff *d, struct pdet_diff_row was,
		    struct pdet_diff_row now, uint32_t n, uint8_t *mark);

/* pdet_diff_reason - of two cells, or their states: why one of them is no
 * answer, the former's first. */
unsigned pdet_diff_reason(unsigned was, unsigned now);

/* pdet_diff_count - of @n rows, a field could not be compared in @undecided. */
void pdet_diff_count(struct pagedet_diff_totals *t, unsigned f,
		     uint32_t undecided, uint32_t n, unsigned why);

/* --- diff_join.c --- */

/* pdet_diff_hold - keep a page that appeared or is gone to the end; false if
 * it is to be said at once. */
bool pdet_diff_hold(struct pdet_diff *d, const struct pagedet_change *change,
		    struct pdet_diff_row was, struct pdet_diff_row now);
/* pdet_diff_pair - who belongs to whom. 0 or -ENOMEM. */
int pdet_diff_pair(struct pdet_diff *d);
struct pdet_diff_row pdet_diff_held_row(const struct pdet_diff *d, size_t i,
					unsigned side);
void pdet_diff_join_free(struct pdet_diff *d);

#endif
