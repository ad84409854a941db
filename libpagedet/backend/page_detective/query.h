/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The file "query" of page_detective, if the driver has it. A process writes a
 * query to it and reads the answer, without side effects. The files of this
 * folder share this header.
 */
#ifndef PDET_BACKEND_PAGE_DETECTIVE_QUERY_H
#define PDET_BACKEND_PAGE_DETECTIVE_QUERY_H

#include "backend/page_detective/page_detective.h"

/* Longest query. */
#define PAGE_DETECTIVE_QUESTION 8192

/* --- query.c: one query --- */

/* Check that the file exists and may be used. Returns false if it does not
 * exist. Otherwise sets d->reason, and a text in d->advice. */
bool page_detective_query_look(struct page_detective *d,
			       const struct pdet_env *env);

/* True if the source may be used although it was not named. */
bool page_detective_query_probe(const struct pdet_env *env);

/*
 * The reason why no query may start, which is that a helper cannot be killed; 0
 * if queries may start.
 */
unsigned page_detective_query_closed(struct page_detective *d);

/*
 * Send a query. Returns 0 and an answer, or the reason why there is no answer.
 * *error is then the errno of write(2), or 0. If @takes_long is set, the query
 * ends when the caller no longer waits. Free ret in any case.
 */
unsigned page_detective_query_ask(struct page_detective_session *s,
				  const char *text, bool takes_long,
				  struct page_detective_reply *ret,
				  int *error);

/* True if the page has not changed since an earlier answer. */
static inline bool
page_detective_is_alike(const struct page_detective_page *now,
			const struct page_detective_page *before)
{
	const uint64_t what = KPF(ANON) | KPF(HUGE) | KPF(THP) | KPF(SLAB) |
			      KPF(KSM) | KPF(BUDDY) | KPF(PGTABLE);

	return !((now->kpageflags ^ before->kpageflags) & what);
}

/* --- rows.c: columns from an answer --- */

/* The requested fields, without those that the engine writes. */
struct pdet_fields
page_detective_said(const struct page_detective_session *s);

/* Mark all fields as unknown, except those from the walk. */
void page_detective_put_reason(struct pdet_batch *b, uint32_t row,
			       const struct pdet_fields *want,
			       unsigned reason);

struct page_detective_putting {
	const struct page_detective *d;	/* features that it lacks; NULL: none */
	const struct page_detective_reply *a;
	const struct page_detective_page *p;
	struct pdet_batch *b;
	uint32_t row;
	const struct pdet_fields *want;
	const struct pdet_kpf *kpf;
	/* The kpageflags word of a tail's head. It is known if the head was
	 * queried and is still the head. */
	bool has_head_word;
	uint64_t head_word;
	/* True if the cgroup exists at its path below the mount point. */
	bool memcg_is_there;
	/*
	 * For PAGE_DETECTIVE_NOPAGE: PAGEDET_KIND_*, or the reason why it is
	 * unknown.
	 */
	unsigned hole_kind, hole_why;
};

/* True if the source can answer a field, for pages or for their mappings. */
bool page_detective_tells(unsigned field);

/* PAGEDET_HAVE if the source answers the field. Otherwise the reason: the
 * driver does not have the feature, or there is no helper. */
unsigned page_detective_lacks(const struct page_detective *d, unsigned field);

/*
 * Put all columns of o->want. For an address query, this includes the columns
 * about the address.
 */
void page_detective_put(const struct page_detective_putting *o);

/* Put all fields as unknown, or as nothing because there is no VMA. */
void page_detective_put_unknown(const struct page_detective_putting *o);
void page_detective_put_unmapped(const struct page_detective_putting *o);

/* The same for an address without a page. */
void page_detective_put_nothing(const struct page_detective_putting *o);

/* Put VMA_*, and the path if the VMA maps the page's own file. */
void page_detective_put_vma(const struct page_detective_putting *o,
			    const struct pdet_vma *vma);

/* Put the fields of one mapping into a separate row. */
void page_detective_put_map(const struct page_detective_putting *o,
			    const struct page_detective_map *m);

/* --- hole.c: frames without a page --- */

/* Returns 0 and PAGEDET_KIND_*, or a reason. */
unsigned page_detective_hole(struct page_detective_session *s, uint64_t pfn,
			     unsigned *kind);
/* Discard the cached text, which may be outdated. */
void page_detective_holes_forget(struct page_detective_session *s);

/* --- walk.c: the mappings of a page --- */

/* Add the mapping counts to the answer about a page, if they are requested. The
 * mappings themselves stay in s->told. Returns 0, or the reason why they are
 * unknown. */
unsigned page_detective_add_maps(struct page_detective_session *s,
				 const struct pdet_fields *want,
				 struct page_detective_page *p);
/* Put the reason into the row; do nothing if it is 0. */
void page_detective_put_no_maps(struct page_detective_session *s,
				const struct page_detective_putting *o,
				unsigned why);
int page_detective_query_told(struct page_detective_session *s, uint64_t pfn,
			      size_t *at, struct pdet_batch *b);

/* --- question.c: operations of source.c, by "query" --- */

void page_detective_query_fill(struct page_detective_session *s,
			       struct pdet_batch *b,
			       const struct pdet_fields *want);
/* Query one page. The answer is about that page, or there is a reason. @walk:
 * examine all tasks. Free ret in any case. */
unsigned page_detective_ask_phys(struct page_detective_session *s,
				 uint64_t pfn, const char *words, bool walk,
				 struct page_detective_reply *ret);
/* True if list answers lack the field: each page needs its own query. */
bool page_detective_asks_one(unsigned field);
/* True if the answer is about this address. */
bool page_detective_answers(const struct page_detective_reply *a, uint32_t pid,
			    uint64_t addr);
/* Append one row, which is stored in s->addresses. Its VMA is added later. */
int page_detective_query_address(struct page_detective_session *s,
				 uint32_t pid, uint64_t addr,
				 struct pdet_batch *b, struct pdet_task *t);

/* --- vma.c: the VMAs of addresses --- */

/* @p is the page there. NULL: it is not a user address. */
int page_detective_keep_address(struct page_detective_session *s,
				uint64_t addr, uint32_t row,
				const struct page_detective_page *p);
/* Fill all fields that depend on VMAs, for all stored rows. */
void page_detective_put_vmas(struct page_detective_session *s, uint32_t pid,
			     struct pdet_batch *b);
/* Query addresses again whose page may have changed before the VMA was read. */
void page_detective_query_recheck(struct page_detective_session *s,
				  uint32_t pid, struct pdet_batch *b,
				  uint32_t first, uint32_t n);

#endif
