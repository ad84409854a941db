/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The file "query" of page_detective, where there is one: a question is
 * written and its answer read, and nobody notices. Shared by
 * page_detective*.c.
 */
#ifndef PDET_BACKEND_PAGE_DETECTIVE_QUERY_H
#define PDET_BACKEND_PAGE_DETECTIVE_QUERY_H

#include "backend/page_detective.h"

/* Longest question. */
#define PAGE_DETECTIVE_QUESTION 8192

/* --- page_detective_query.c: one question --- */

/* Looks whether the file is there and may be used: false, there is none. Else
 * d->reason, and words in d->advice. */
bool page_detective_query_look(struct page_detective *d,
			       const struct pdet_env *env);

/* Whether one that was not named may be asked. */
bool page_detective_query_probe(const struct pdet_env *env);

/* Why nothing is asked: who asked cannot be ended. 0: nobody, or he has. */
unsigned page_detective_query_closed(struct page_detective *d);

/*
 * Asks. 0 and an answer; or why there is none, a reason, and in *error what
 * write(2) said, 0 if it was not that. @takes_long: it is ended when nobody
 * waits any more. Free ret in any case.
 */
unsigned page_detective_query_ask(struct page_detective_session *s,
				  const char *text, bool takes_long,
				  struct page_detective_reply *ret,
				  int *error);

/* A page is what it was when it was asked about before, perhaps long ago. */
static inline bool
page_detective_is_alike(const struct page_detective_page *now,
			const struct page_detective_page *before)
{
	const uint64_t what = KPF(ANON) | KPF(HUGE) | KPF(THP) | KPF(SLAB) |
			      KPF(KSM) | KPF(BUDDY) | KPF(PGTABLE);

	return !((now->kpageflags ^ before->kpageflags) & what);
}

/* --- page_detective_rows.c: columns from an answer --- */

struct page_detective_putting {
	const struct page_detective *d;	/* what it lacks; NULL nothing */
	const struct page_detective_reply *a;
	const struct page_detective_page *p;
	struct pdet_batch *b;
	uint32_t row;
	const struct pdet_fields *want;
	const struct pdet_kpf *kpf;
	/* The kpageflags word of the head of a tail, if it was asked for and
	 * was still its head. */
	bool has_head_word;
	uint64_t head_word;
	/* The cgroup is there under its path, below the mount point. */
	bool memcg_is_there;
	/* Of PAGE_DETECTIVE_NOPAGE: PAGEDET_KIND_*, or why it is not known. */
	unsigned hole_kind, hole_why;
};

/* Whether it can tell a field, of pages or of their mappings. */
bool page_detective_tells(unsigned field);

/* What the driver lacks, and what has nobody to ask it: why it does not tell
 * the field after all; PAGEDET_HAVE: it does. */
unsigned page_detective_lacks(const struct page_detective *d, unsigned field);

/* All columns of o->want, those of the address if that was asked about. */
void page_detective_put(const struct page_detective_putting *o);

/* Nothing of them is known; or there is none, for there is no VMA. */
void page_detective_put_unknown(const struct page_detective_putting *o);
void page_detective_put_unmapped(const struct page_detective_putting *o);

/* The same for an address without a page. */
void page_detective_put_nothing(const struct page_detective_putting *o);

/* VMA_* of the row, and the path where it is of the page's own file. */
void page_detective_put_vma(const struct page_detective_putting *o,
			    const struct pdet_vma *vma);

/* Fields of one mapping, into a row of its own. */
void page_detective_put_map(const struct page_detective_putting *o,
			    const struct page_detective_map *m);

/* --- page_detective_hole.c: frames without a page --- */

/* 0 and PAGEDET_KIND_*, or why it cannot be known. */
unsigned page_detective_hole(struct page_detective_session *s, uint64_t pfn,
			     unsigned *kind);
/* What is read once holds no longer. */
void page_detective_holes_forget(struct page_detective_session *s);

/* --- page_detective_walk.c: who maps a page --- */

/* Adds that to what was answered about a page, if it is wanted, without the
 * mappings one by one, which are in s->told then. 0, or why it is not known. */
unsigned page_detective_add_maps(struct page_detective_session *s,
				 const struct pdet_fields *want,
				 struct page_detective_page *p);
/* Says so in the row; 0: nothing. */
void page_detective_put_no_maps(struct page_detective_session *s,
				const struct page_detective_putting *o,
				unsigned why);
int page_detective_query_told(struct page_detective_session *s, uint64_t pfn,
			      size_t *at, struct pdet_batch *b);

/* --- page_detective_question.c: what ops are in page_detective.c --- */

void page_detective_query_fill(struct page_detective_session *s,
			       struct pdet_batch *b,
			       const struct pdet_fields *want);
/* Asks about one page; the answer is about it, or there is none: a reason.
 * @walk: all tasks are looked at. Free ret in any case. */
unsigned page_detective_ask_phys(struct page_detective_session *s,
				 uint64_t pfn, const char *words, bool walk,
				 struct page_detective_reply *ret);
/* Whether it is in no list: each page is asked about. */
bool page_detective_asks_one(unsigned field);
/* Whether the answer is about this address. */
bool page_detective_answers(const struct page_detective_reply *a, uint32_t pid,
			    uint64_t addr);
/* One row, which is kept in s->addresses. What is around it is put later. */
int page_detective_query_address(struct page_detective_session *s,
				 uint32_t pid, uint64_t addr,
				 struct pdet_batch *b, struct pdet_task *t);

/* --- page_detective_vma.c: what is around addresses --- */

/* @p: what it has, NULL if it is no program's address. */
int page_detective_keep_address(struct page_detective_session *s,
				uint64_t addr, uint32_t row,
				const struct page_detective_page *p);
/* Rows of all that are kept, as far as they depend on VMAs. */
void page_detective_put_vmas(struct page_detective_session *s, uint32_t pid,
			     struct pdet_batch *b);
/* Asks again about those that may not be what was there with the VMA. */
void page_detective_query_recheck(struct page_detective_session *s,
				  uint32_t pid, struct pdet_batch *b,
				  uint32_t first, uint32_t n);

#endif
