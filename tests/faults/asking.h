/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A query as data, its result, and whether an answer that was given while
 * something failed is still true.
 */
#ifndef TESTS_ASKING_H
#define TESTS_ASKING_H

#include <stdbool.h>
#include <stddef.h>

#include <pagedet.h>

#define MAX_ITEMS 6
#define MAX_ROWS 2048
#define MAX_TEXT 160
#define MAX_FINDINGS 16
#define MAX_CHANGES 600
#define MAX_EMITTED ((size_t)1 << 20)

enum where {
	SMALL,			/* machine.scenario */
	OLD,			/* old.scenario */
	DIRECTORIES,		/* SMALL, with cgroups as real directories */
	MAPPED,			/* mappings of files in tasks */
	SAVED,			/* SMALL, saved as a snapshot */
	CHANGED,		/* changed.scenario, and a snapshot of SMALL */
	DUMP,			/* written by tests/dumps/mkkernel */
	LIVE			/* the running kernel */
};

struct question {
	const char *name;
	enum where at;
	const char *root;	/* of the machine; NULL: the running kernel */
	const char *file;	/* the dump or snapshot, if there is one */
	const char *without;	/* file that the machine lacks, below its
				 * root */
	const char *other_without; /* another one that honest answers may
				 * lack */
	const char *fields;	/* fields to list */
	const char *by;		/* or to group by, separated by commas */
	const char *where;
	const char *path;
	struct pagedet_item items[MAX_ITEMS];
	unsigned n_items;
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0: PROCFS */
	uint32_t target;
	uint32_t options;	/* PAGEDET_Q_* */
	uint32_t threads;
	uint32_t format;	/* PAGEDET_FORMAT_*: output instead of rows */
	bool again;		/* retargeted to the same items */
	bool index;		/* with a mapping index */
	bool others;		/* reads tasks of other processes */
	bool owners;		/* not a query: page_owner's text at path, by
				 * "stack" or "stack,order" */
	bool mixed;		/* and only of mixed page blocks */
	bool survey;		/* not a query: info, survey, a second handle */
	bool explains;		/* not a query: evidence of the items,
				 * findings */
	uint32_t collect;	/* for it: PAGEDET_COLLECT_* */
	bool joins;		/* and with the evidence of a peer */
	bool compares;		/* compares with the same rows of the
				 * snapshot */
	uint32_t check;		/* not a query: PAGEDET_CHECK_* of path */
	bool entries;		/* about all kinds of entries of this process */
	bool writes;		/* the output goes to a file */
};

/* --- questions.c --- */
extern const struct question questions[];
extern const int n_questions;

/* One row, with its strings. */
struct kept_row {
	struct pagedet_page page;
	char text[PAGEDET_FIELDS_MAX / 4][MAX_TEXT]; /* of string fields */
};

/* A finding. */
struct found_cause {
	uint64_t evidence;
	uint32_t question;
	uint32_t rule;
	uint32_t confidence;
};

/* A change and its place: pid, vaddr or pfn on each side. */
struct kept_change {
	uint64_t pid[2], at[2];	/* UINT64_MAX: this side lacks it */
	uint64_t fields[2];
	uint32_t changes;
};

struct answer {
	int fd;			/* the output file, if any */
	int result;		/* 0, or the first negative errno */
	char error[512];	/* its error text */
	unsigned n;
	struct kept_row row[MAX_ROWS];
	struct pagedet_coverage cover;
	bool has_cover;
	bool ended;		/* all rows came */
	unsigned n_summaries;
	struct pagedet_mappers summary[MAX_ITEMS];
	uint64_t mappings;	/* of the index */
	uint64_t unread;	/* tasks that the index could not read */
	unsigned n_findings;
	struct found_cause finding[MAX_FINDINGS];
	unsigned n_evidence;
	struct pagedet_evidence evidence[MAX_ITEMS];
	unsigned n_changes;
	struct kept_change change[MAX_CHANGES];
	struct pagedet_diff_totals totals;
	uint32_t verdict;	/* of a check; 0: no check */
	size_t len;
	char emitted[MAX_EMITTED]; /* empty for a snapshot, whose rows are in
				 * row */
	char broken[512];	/* a broken promise of the API */
};

/* --- asking.c --- */

/*
 * ask - make the query, from pagedet_new() to pagedet_free(). Output goes to
 * @fd. It allocates nothing itself.
 */
void ask(const struct question *q, int fd, struct answer *ret);

/*
 * ask_saved - read the rows of the snapshot in @fd without failures. An
 * incomplete answer must not be a complete snapshot.
 */
void ask_saved(int fd, struct answer *ret);

/*
 * ask_save - save a snapshot of the machine below @root, or of the part that @q
 * compares. Returns 0, or negative errno.
 */
int ask_save(const struct question *q, const char *root, const char *path);

/* Needed by other files. */
void ask_broken(struct answer *a, const char *what);
int ask_failed(struct answer *a, const struct pagedet *pd, int r,
	       const char *call);
void ask_keep(struct answer *a, const struct pagedet_page *page,
	      const char *(*text)(const void *arg, uint64_t id),
	      const void *arg);
void ask_take_text(struct answer *a, struct pagedet_emitter *e);

/* --- reasons.c --- */

/* Collects evidence of the items and explains it; also runs checks. */
int ask_explain(struct answer *a, const struct question *q,
		struct pagedet *pd);
int ask_check(struct answer *a, const struct question *q, struct pagedet *pd);

/* As untrue(), for evidence besides rows. */
const char *untrue_evidence(const struct answer *all,
			    const struct answer *now);

/* --- changes.c --- */

/* Compares the snapshot with the rows of @it. */
int ask_changes(struct answer *a, const struct question *q,
		struct pagedet_iter *it);

/* As untrue(), for changes. */
const char *untrue_changes(const struct question *q, const struct answer *all,
			   const struct answer *now);

/* --- untrue.c --- */

/*
 * untrue - what in @now, the answer while something failed, contradicts @all,
 * the answer without failures; NULL: nothing.
 */
const char *untrue(const struct question *q, const struct answer *all,
		   const struct answer *now);

/*
 * unclear - what is wrong with the error text of a failure, which must name the
 * object and the reason; NULL: nothing.
 */
const char *unclear(const struct question *q, const struct answer *now);

/* differs - the same for queries whose answers failures must not change. */
const char *differs(const struct question *q, const struct answer *all,
		    const struct answer *now);

#endif
