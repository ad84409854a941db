/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * page_owner's text as a source: the running kernel's file, which is read by
 * page, or a file whose records are all loaded into a table. Shared by the
 * files of this room.
 */
#ifndef PDET_BACKEND_PAGE_OWNER_OWNERTEXT_H
#define PDET_BACKEND_PAGE_OWNER_OWNERTEXT_H

#include <pthread.h>

#include "backend/backend.h"
#include "base/pairs.h"
#include "base/text/strtab.h"
#include "base/text/texts.h"
#include "kernel/owner/columns.h"

#define OWNERTEXT_PATH "/sys/kernel/debug/page_owner"

/* The stacks of one thread or one file. */
struct ownertext_stacks {
	struct pdet_pairs by_text; /* hash of the text to index in list */
	struct {
		struct pdet_owner_stack *data;
		size_t n, cap;
	} list;
	struct {
		char *data;
		size_t n, cap;
	} frames;		/* of the current stack */
};

/* One record of a file; texts are ids. */
struct ownertext_entry {
	uint64_t pfn, ns, free_ns, gfp_mask;
	uint32_t stack;		/* index in the list of stacks */
	uint32_t comm, gfp, type, mobility, reason, memcg, flags;
	uint32_t pid, tgid;
	uint16_t has;
	uint8_t order;
	bool gap;		/* records after it could not be read */
};

struct ownertext_table {
	struct {
		struct ownertext_entry *data;
		size_t n, cap;
	} list;			/* sorted by pfn */
	struct pdet_strtab texts;
	bool has_gap;		/* some records could not be read ... */
	bool gap_first;		/* ... before the first one */
	bool shuffled;		/* the text was not sorted by pfn */
};

struct ownertext {
	struct pdet_backend backend;
	const char *file;	/* NULL if this is the running kernel or a
				 * captured tree */
	bool is_table;
	bool loaded;
	int fd;			/* the running kernel's file; or -1 */
	int error;		/* negative errno: why there is no text */
	bool explained;
	bool off;		/* the kernel has none: no source can tell */
	uint8_t reason;
	char advice[160];
	struct ownertext_stacks stacks; /* of the table */
	struct ownertext_table table;
	/* Shared by all sessions: the frames of stacks, by id. */
	pthread_mutex_t lock;
	struct pdet_texts frames;
};

struct ownertext_session {
	struct pdet_session session;
	struct ownertext *o;
	struct ownertext_stacks stacks;
	/* For the running kernel: the records read last. */
	int fd;			/* the session's own; or -1 */
	char *buf, *cover_buf;
	size_t size;
	uint64_t from;		/* the first record at or after this pfn is
				 * ... */
	bool read, at_end;
	int error;
	struct pdet_owner_record record;
	bool has_cover;		/* this one also covers the page at from */
	struct pdet_owner_record cover;
};

static inline struct ownertext *ownertext_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct ownertext, backend);
}

/* stack.c */
/* The index in the list, or -1 if memory is short. Frames are kept in @o. */
int64_t pdet_ownertext_stack(struct ownertext *o, struct ownertext_stacks *s,
			     const struct pdet_scan *stack);
/* As stack_text() of backend/backend.h. */
int pdet_ownertext_stack_text(struct pdet_session *base, uint64_t id,
			      struct pdet_text *ret);

/* table.c */
int pdet_ownertext_load(struct ownertext *o, struct pdet_env *env);
void pdet_ownertext_unload(struct ownertext *o);
/* The record of the allocation that contains a page; NULL if there is none. */
const struct ownertext_entry *pdet_ownertext_find(const struct ownertext *o,
						  uint64_t pfn);
/* The reason why there is none. PAGEDET_EXCLUDED: the text has no record of the
 * page, as for free pages and those that page_owner never saw. PAGEDET_IO: the
 * record may be in a part that could not be read. */
unsigned pdet_ownertext_missing(const struct ownertext *o, uint64_t pfn);
void pdet_ownertext_record(const struct ownertext *o,
			   const struct ownertext_entry *e,
			   struct pdet_owner_record *ret);
int pdet_ownertext_ranges(const struct ownertext *o, struct pdet_ranges *ret);

/* live.c */
/* The same for the running kernel. Returns 1 and a record, 0 if there is none,
 * or a negative errno. */
int pdet_ownertext_ask(struct ownertext_session *s, uint64_t pfn,
		       const struct pdet_owner_record **ret);
/* Set o->reason and o->advice to the missing requirement. */
void pdet_ownertext_explain(struct ownertext *o, struct pdet_env *env);

#endif
