/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * page_owner's text as a source: the running kernel's, which is asked for
 * single pages, or a file, all of whose records are put in a table. Between
 * the ownertext*.c files.
 */
#ifndef PDET_BACKEND_OWNERTEXT_H
#define PDET_BACKEND_OWNERTEXT_H

#include <pthread.h>

#include "backend/backend.h"
#include "base/pairs.h"
#include "base/strtab.h"
#include "base/texts.h"
#include "kernel/owner_columns.h"

#define OWNERTEXT_PATH "/sys/kernel/debug/page_owner"

/* Stacks that were seen, by thread or by file. */
struct ownertext_stacks {
	struct pdet_pairs by_text; /* hash of it as it stands there: where */
	struct {
		struct pdet_owner_stack *data;
		size_t n, cap;
	} list;
	struct {
		char *data;
		size_t n, cap;
	} frames;		/* of the one at hand */
};

/* One record of a file; texts are ids. */
struct ownertext_entry {
	uint64_t pfn, ns, free_ns, gfp_mask;
	uint32_t stack;		/* where in the list of stacks */
	uint32_t comm, gfp, type, reason, memcg;
	uint32_t pid, tgid;
	uint16_t has;
	uint8_t order;
	bool gap;		/* what came behind it could not be read */
};

struct ownertext_table {
	struct {
		struct ownertext_entry *data;
		size_t n, cap;
	} list;			/* by pfn */
	struct pdet_strtab texts;
	bool has_gap;		/* some could not be read ... */
	bool gap_first;		/* ... at the beginning */
	bool shuffled;		/* the text was not by pfn */
};

struct ownertext {
	struct pdet_backend backend;
	const char *file;	/* NULL: the running kernel, or a captured
				 * tree's */
	bool is_table;
	bool loaded;
	int fd;			/* of the running kernel's; -1 */
	int error;		/* negative errno: why there is none */
	bool explained;
	uint8_t reason;
	char advice[160];
	struct ownertext_stacks stacks; /* of the table */
	struct ownertext_table table;
	/* Of all sessions: the frames of stacks, by id. */
	pthread_mutex_t lock;
	struct pdet_texts frames;
};

struct ownertext_session {
	struct pdet_session session;
	struct ownertext *o;
	struct ownertext_stacks stacks;
	/* Of the running kernel's, the records that were read last. */
	int fd;			/* one of its own; -1 */
	char *buf, *cover_buf;
	size_t size;
	uint64_t from;		/* from here on the first record is ... */
	bool read, at_end;
	int error;
	struct pdet_owner_record record;
	bool has_cover;		/* this one is about from, too */
	struct pdet_owner_record cover;
};

static inline struct ownertext *ownertext_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct ownertext, backend);
}

/* ownertext.c */
/* The place in the list, or -1 without memory. Frames are kept in @o. */
int64_t pdet_ownertext_stack(struct ownertext *o, struct ownertext_stacks *s,
			     const struct pdet_scan *stack);

/* ownertext_table.c */
int pdet_ownertext_load(struct ownertext *o, struct pdet_env *env);
void pdet_ownertext_unload(struct ownertext *o);
/* The record that a page is in; NULL: there is none. */
const struct ownertext_entry *pdet_ownertext_find(const struct ownertext *o,
						  uint64_t pfn);
/* Why there is none: PAGEDET_EXCLUDED the text leaves it out, as free pages and
 * those that page_owner never saw; PAGEDET_IO it may be in a part that could
 * not be read. */
unsigned pdet_ownertext_missing(const struct ownertext *o, uint64_t pfn);
void pdet_ownertext_record(const struct ownertext *o,
			   const struct ownertext_entry *e,
			   struct pdet_owner_record *ret);
int pdet_ownertext_ranges(const struct ownertext *o, struct pdet_ranges *ret);

/* ownertext_live.c */
/* The same of the running kernel: 1 and a record, 0: there is none, or a
 * negative errno. */
int pdet_ownertext_ask(struct ownertext_session *s, uint64_t pfn,
		       const struct pdet_owner_record **ret);
/* Which of what it takes is missing, into o->reason and o->advice. */
void pdet_ownertext_explain(struct ownertext *o, struct pdet_env *env);

#endif
