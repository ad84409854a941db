/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A question as data, what came of it, and whether an answer that was given
 * while something failed is still the truth.
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
	DIRECTORIES,		/* SMALL; cgroups are directories as they are */
	MAPPED,			/* what tasks map of files */
	SAVED,			/* SMALL, of which a snapshot was made */
	CHANGED,		/* changed.scenario; and a snapshot of SMALL */
	DUMP,			/* that tests/dumps/mkkernel writes */
	LIVE			/* the running kernel */
};

struct question {
	const char *name;
	enum where at;
	const char *root;	/* of the machine; NULL: the running kernel */
	const char *file;	/* the dump or snapshot, if it is one */
	const char *without;	/* what the machine has not, below its root */
	const char *other_without; /* without that it answers honestly, too */
	const char *fields;	/* to list */
	const char *by;		/* or to group by, separated by commas */
	const char *where;
	const char *path;
	struct pagedet_item items[MAX_ITEMS];
	unsigned n_items;
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0: PROCFS */
	uint32_t target;
	uint32_t options;	/* PAGEDET_Q_* */
	uint32_t threads;
	uint32_t format;	/* PAGEDET_FORMAT_*: emitted instead of rows */
	bool again;		/* retargeted to the same items */
	bool index;		/* with a mapping index */
	bool others;		/* looks at tasks that are not ours */
	bool owners;		/* no query: page_owner's text at path, by
				 * "stack" or "stack,order" */
	bool survey;		/* no query: info, survey, a second handle */
	bool explains;		/* no query: evidence of the items, findings */
	uint32_t collect;	/* for that: PAGEDET_COLLECT_* */
	bool joins;		/* and with what a peer has gathered and sent */
	bool compares;		/* with the same rows of the snapshot */
	uint32_t check;		/* no query: PAGEDET_CHECK_* of path */
	bool entries;		/* about entries of all kinds of our own */
	bool writes;		/* what is emitted, to a file */
};

/* --- questions.c --- */
extern const struct question questions[];
extern const int n_questions;

/* One row, with its strings. */
struct kept_row {
	struct pagedet_page page;
	char text[PAGEDET_FIELDS_MAX / 4][MAX_TEXT]; /* of string fields */
};

/* What explains a page. */
struct found_cause {
	uint64_t evidence;
	uint32_t question;
	uint32_t rule;
	uint32_t confidence;
};

/* What has changed, and where: pid, vaddr or pfn of either side. */
struct kept_change {
	uint64_t pid[2], at[2];	/* UINT64_MAX: this side lacks it */
	uint64_t fields[2];
	uint32_t changes;
};

struct answer {
	int fd;			/* where it was written, if it was */
	int result;		/* 0, or the negative errno that came first */
	char error[512];	/* its words */
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
	uint32_t verdict;	/* of a check; 0: none was asked for */
	size_t len;
	char emitted[MAX_EMITTED]; /* a snapshot's rows are in row instead */
	char broken[512];	/* a promise of the API that was broken */
};

/* --- asking.c --- */

/* ask - everything from pagedet_new() to pagedet_free(); what @q writes goes to
 * @fd. Takes no memory. */
void ask(const struct question *q, int fd, struct answer *ret);

/* ask_saved - the rows of the snapshot in @fd, with nothing failing: what was
 * not answered in full must not be a whole one. */
void ask_saved(int fd, struct answer *ret);

/* ask_save - all that is known of the machine below @root, or of what of it is
 * compared, into a file. Returns 0, or a negative errno. */
int ask_save(const struct question *q, const char *root, const char *path);

/* What those of other files need. */
void ask_broken(struct answer *a, const char *what);
int ask_failed(struct answer *a, const struct pagedet *pd, int r,
	       const char *call);
void ask_keep(struct answer *a, const struct pagedet_page *page,
	      const char *(*text)(const void *arg, uint64_t id),
	      const void *arg);
void ask_take_text(struct answer *a, struct pagedet_emitter *e);

/* --- reasons.c --- */

/* Evidence of the items, and what follows from it; and a check. */
int ask_explain(struct answer *a, const struct question *q,
		struct pagedet *pd);
int ask_check(struct answer *a, const struct question *q, struct pagedet *pd);

/* As untrue(), of what evidence has beside rows. */
const char *untrue_evidence(const struct answer *all,
			    const struct answer *now);

/* --- changes.c --- */

/* What changed from the snapshot to what @it lists. */
int ask_changes(struct answer *a, const struct question *q,
		struct pagedet_iter *it);

/* As untrue(), of changes. */
const char *untrue_changes(const struct question *q, const struct answer *all,
			   const struct answer *now);

/* --- untrue.c --- */

/*
 * untrue - what in @now, given while something failed, is not so in @all, what
 * was answered when nothing did; NULL if it is as it should be.
 */
const char *untrue(const struct question *q, const struct answer *all,
		   const struct answer *now);

/*
 * unclear - what is wrong with the words of a failure: they name what it was
 * about, and why that failed; NULL if nothing is.
 */
const char *unclear(const struct question *q, const struct answer *now);

/* differs - the same where failures must not show. */
const char *differs(const struct question *q, const struct answer *all,
		    const struct answer *now);

#endif
