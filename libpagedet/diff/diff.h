/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds what changed between the rows of two queries, by merging two iterators
 * by place. Rows of a scan come in the order of frames and are merged directly.
 * Other rows are gathered and sorted first. Pages that are gone, and pages that
 * appeared, are held until the end. Then it is decided which of them are the
 * same page.
 */
#ifndef PDET_DIFF_DIFF_H
#define PDET_DIFF_DIFF_H

#include "diff/side.h"

#define PDET_CHANGE(name) (1u << PAGEDET_CHANGE_##name)

/*
 * The changes of one step: rows[0] is the old row, rows[1] the new one. If a
 * side does not have the row, its cells are NOT_ASKED.
 */
struct pdet_diff_out {
	uint32_t n;
	struct pagedet_change *change;
	struct pdet_batch rows[2];
};

struct pdet_diff_args {
	struct pdet_env *env;	/* for error texts */
	struct pdet_iter *it[2];
	const struct pdet_kernel_info *info[2];
	bool other_key;		/* the hashes have different keys */
	uint64_t candidates;	/* limit of held pages; 0: the default */
	uint64_t max_rows;	/* limit of gathered rows per side; 0 means the
				 * default */
};

/*
 * Called for @n frames from @pfn on that did not change or cannot be compared.
 */
typedef void pdet_diff_same_fn(void *arg, uint64_t pfn, uint64_t n);

/* A held page, of either side. */
struct pdet_diff_held {
	struct pagedet_change *data;
	size_t n, cap;
};

struct pdet_alike;

/* The page of a row; folio is its first frame + 1, or 0 if not known. */
struct pdet_diff_frame {
	uint64_t pfn, folio;
};

/* The change that was reported last, and its page on both sides. */
struct pdet_diff_last {
	uint32_t change;	/* 0: no page can join it */
	struct pdet_place place;
	struct pdet_diff_frame frame[2];
};

struct pdet_diff {
	struct pdet_env *env;
	struct pdet_diff_side side[2];
	uint32_t by;		/* PAGEDET_DIFF_BY_* */
	uint32_t notes;
	bool same_boot;		/* frames of both sides are comparable */
	bool told_apart;	/* a missing row means no page */
	bool by_hash;		/* pages can be identified by their hash */
	bool same_counts;	/* counts of unknown kind are comparable */
	struct pdet_fields columns; /* of out: present on both sides */
	struct pdet_fields compare; /* columns to compare */
	struct pdet_fields never; /* wanted by both, but never comparable */
	uint8_t never_why[PDET_FIELDS];
	struct pagedet_diff_totals totals;
	struct pdet_diff_out out;
	struct pdet_diff_last last;
	bool keeps;		/* the last change of a step; pages of the next
				 * step may join it */
	struct pagedet_change kept;
	struct pdet_batch kept_row[2];
	uint64_t page_size;
	pdet_diff_same_fn *same;
	void *same_arg;
	struct pdet_alike *alike; /* NULL: all rows come */

	/* Held candidates: held[i] is in row i % n of chunk i / n. */
	bool join;
	size_t max_held;
	struct pdet_diff_held held;
	struct {
		struct pdet_batch (*data)[2];
		size_t n, cap;
	} chunks;
	size_t *mate;		/* indexed as held: index of the partner + 1 */
	size_t drained;
	bool begun;		/* the first step was made */
	bool merged;		/* both sides have ended */
	int error;		/* failure of a side, reported at the end */
	struct pdet_env words;	/* and its error text */
};

/* --- merge.c --- */

int pdet_diff_new(const struct pdet_diff_args *args, struct pdet_diff **ret);
void pdet_diff_free(struct pdet_diff *d);

/*
 * pdet_diff_step - get the next changes. Returns 1, 0 at the end, or negative
 * errno.
 */
int pdet_diff_step(struct pdet_diff *d, const struct pdet_diff_out **ret);

/* pdet_change_name - the name of a change, or NULL if there is none. */
const char *pdet_change_name(uint32_t change);

/* --- setup.c --- */

/*
 * pdet_diff_prepare - decide what can be compared, and how rows are matched.
 * Sets by, notes, columns, compare and never.
 */
int pdet_diff_prepare(struct pdet_diff *d, const struct pdet_diff_args *args);

/* --- row.c --- */

/* Whether a row has a page in use. */
enum pdet_there { PDET_THERE_NO, PDET_THERE_YES, PDET_THERE_UNKNOWN };

/* A row, or none. */
struct pdet_diff_row {
	const struct pdet_batch *b; /* NULL: this side lacks it */
	uint32_t at;
};

/*
 * pdet_diff_compare - find the changes from @was to @now. They have the same
 * place, unless @joined says that the page moved. change.change is 0 if nothing
 * changed.
 */
void pdet_diff_compare(const struct pdet_diff *d, struct pdet_diff_row was,
		       struct pdet_diff_row now, uint32_t joined,
		       struct pagedet_change *change);

enum pdet_there pdet_diff_there(const struct pdet_diff *d,
				struct pdet_diff_row row);

/* pdet_diff_counts - whether the mapcounts of two rows are comparable. */
bool pdet_diff_counts(const struct pdet_diff *d, struct pdet_diff_row was,
		      struct pdet_diff_row now);

/*
 * pdet_diff_field - whether one field of two rows differs. Returns 1, 0, or -1
 * if it is not known.
 */
int pdet_diff_field(const struct pdet_diff *d, unsigned f,
		    struct pdet_diff_row was, struct pdet_diff_row now);

/* --- folio.c --- */

/*
 * pdet_diff_joins - whether a change belongs to the previous one. It does if
 * the previous page of the same large folio has the same change.
 */
bool pdet_diff_joins(struct pdet_diff *d, const struct pagedet_change *c,
		     struct pdet_diff_row was, struct pdet_diff_row now);

/* --- columns.c --- */

/*
 * pdet_diff_mark - compare @n rows, starting with @was and @now. Bit 0 of
 * mark[i]: they may differ; bit 1: some field cannot be compared. Counts both
 * for each field.
 */
void pdet_diff_mark(struct pdet_diff *d, struct pdet_diff_row was,
		    struct pdet_diff_row now, uint32_t n, uint8_t *mark);

/*
 * pdet_diff_reason - the reason why one of two cells (or states) does not have
 * an answer. If both have a reason, it is that of the first one.
 */
unsigned pdet_diff_reason(unsigned was, unsigned now);

/* pdet_diff_count - count @n rows. @undecided of them could not be compared. */
void pdet_diff_count(struct pagedet_diff_totals *t, unsigned f,
		     uint32_t undecided, uint32_t n, unsigned why);

/* --- join.c --- */

/*
 * pdet_diff_hold - hold a page that appeared or is gone until the end. Returns
 * false if it must be reported now.
 */
bool pdet_diff_hold(struct pdet_diff *d, const struct pagedet_change *change,
		    struct pdet_diff_row was, struct pdet_diff_row now);
/* pdet_diff_pair - find held pages that are the same. Returns 0 or -ENOMEM. */
int pdet_diff_pair(struct pdet_diff *d);
struct pdet_diff_row pdet_diff_held_row(const struct pdet_diff *d, size_t i,
					unsigned side);
void pdet_diff_join_free(struct pdet_diff *d);

#endif
