/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Selects the queries for the requested fields: a list of pages if that
 * suffices, otherwise one query for each page. Mappings of a page are queried
 * separately in walk.c, so that a failure there does not affect other fields.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/page_detective/query.h"
#include "base/io.h"
#include "kernel/text/cgroup_mount.h"

#define F(name) PAGEDET_FIELD_##name
#define SOURCE PAGEDET_SOURCE_PAGE_DETECTIVE

/* Frames in one list; its answer takes a few milliseconds. */
#define MOST_FRAMES 2048

/* Fields that list answers lack. */
static const uint8_t of_one[] = {
	F(DEV), F(INODE), F(INDEX), F(MEMCG_PATH), F(MEMCG_NAME), F(CONTENT),
	F(USER_MAPS), F(KERNEL_MAPS),
};

bool page_detective_asks_one(unsigned field)
{
	return memchr(of_one, (int)field, sizeof(of_one));
}

static bool wants_one(const struct pdet_fields *want)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(of_one); i++)
		if (pdet_fields_has(want, of_one[i]))
			return true;
	return false;
}

static const char *options(const struct pdet_fields *want)
{
	return pdet_fields_has(want, F(CONTENT)) ? " nowalk content" :
						   " nowalk nocontent";
}

/*
 * A row does not always have a frame. Then these fields get the state of its
 * pfn.
 */
static void put_like_pfn(struct pdet_batch *b, uint32_t row,
			 const struct pdet_fields *want, unsigned state)
{
	page_detective_put_reason(b, row, want, state == PAGEDET_NOT_ASKED ?
		   PAGEDET_UNSUPPORTED : state);
}

/* --- data beside the answer --- */

static const struct pdet_kpf *kpf_of(struct page_detective_session *s)
{
	return &page_detective_of(s->session.backend)->kpf;
}

/* The driver gives paths in the whole hierarchy, but only a part of it may be
 * mounted here. The directory must have the same inode. */
static bool is_there(struct page_detective_session *s,
		     const struct page_detective_reply *a,
		     const struct page_detective_page *p)
{
	const struct pdet_scan name = page_detective_words(a, p->memcg);
	char path[8192];
	struct stat st;

	if (!name.at || !p->memcg_ino)
		return false;
	if (!s->mount.looked)
		s->mount.found = pdet_cgroup_mount(&s->session.env,
						   s->mount.point,
						   sizeof(s->mount.point)) == 0;
	s->mount.looked = true;
	return s->mount.found &&
	       pdet_path(&s->session.env, path, sizeof(path), "%s%.*s",
			 s->mount.point, (int)(name.end - name.at),
			 name.at) == 0 &&
	       stat(path, &st) == 0 && st.st_ino == p->memcg_ino;
}

static bool is_tail(const struct page_detective_page *p)
{
	return p->has & PAGE_DETECTIVE_KPAGEFLAGS &&
	       p->kpageflags & KPF(COMPOUND_TAIL) &&
	       p->has & PAGE_DETECTIVE_HEAD;
}

/* True if a list was queried for @head, and it is the head of @tail. */
static bool is_head_of(const struct page_detective_page *head,
		       const struct page_detective_page *tail)
{
	const uint32_t keys = PAGE_DETECTIVE_KPAGEFLAGS | PAGE_DETECTIVE_HEAD |
			      PAGE_DETECTIVE_ORDER;

	return (head->has & keys) == keys && head->pfn == tail->head &&
	       head->head == tail->head && head->order == tail->order;
}

static bool wants_flags(const struct pdet_fields *want)
{
	return pdet_fields_has(want, F(FLAGS)) ||
	       pdet_fields_has(want, F(FLAGS_KNOWN)) ||
	       pdet_fields_has(want, F(KIND)) ||
	       pdet_fields_has(want, F(MEMCG_INO)) ||
	       pdet_fields_has(want, F(PTE));
}

static void put_answer(struct page_detective_session *s,
		       struct page_detective_putting *o)
{
	if (o->p->state == PAGE_DETECTIVE_NOPAGE &&
	    pdet_fields_has(o->want, F(KIND)))
		o->hole_why = page_detective_hole(s, o->p->pfn, &o->hole_kind);
	page_detective_put(o);
}

/* True if an answer is about a frame. */
static bool is_frame(const struct page_detective_page *p, uint64_t pfn)
{
	return p->state != PAGE_DETECTIVE_NOTPRESENT &&
	       p->has & PAGE_DETECTIVE_PFN && p->pfn == pfn;
}

/* --- lists --- */

struct list {
	char text[PAGE_DETECTIVE_QUESTION];
	size_t len;
	uint64_t next;		/* the number after the last one */
	uint64_t count;		/* length of the last range */
	size_t range;		/* position of its text */
	size_t n;
};

static void list_init(struct list *l)
{
	memcpy(l->text, "pfn", 4);
	l->len = 3;
	l->n = 0;
}

/* Returns false if the list is full. */
static bool list_add(struct list *l, uint64_t pfn, size_t size)
{
	const bool goes_on = l->n && pfn == l->next;
	const size_t from = goes_on ? l->range : l->len;
	const uint64_t count = goes_on ? l->count + 1 : 1;
	char word[64];
	int n;

	if (l->n == MOST_FRAMES)
		return false;
	n = snprintf(word, sizeof(word), " 0x%llx+%llu",
		     (unsigned long long)(pfn - (count - 1)),
		     (unsigned long long)count);
	if (from + (size_t)n >= size)
		return false;
	memcpy(l->text + from, word, (size_t)n + 1);
	l->len = from + (size_t)n;
	l->range = from;
	l->count = count;
	l->next = pfn + 1;
	l->n++;
	return true;
}

/*
 * Query a list. The answer has the same number of pages, or there is a reason.
 */
static unsigned ask_list(struct page_detective_session *s,
			 const struct list *l,
			 struct page_detective_reply *ret)
{
	int error;
	unsigned reason = page_detective_query_ask(s, l->text, false, ret,
						   &error);

	if (!reason && ret->pages.n != l->n)
		reason = PAGEDET_CORRUPT;
	return reason;
}

static size_t question_size(struct page_detective_session *s)
{
	return page_detective_of(s->session.backend)->real ?
		       PAGE_DETECTIVE_QUESTION : PAGE_DETECTIVE_LINE;
}

/* Collect the heads of tails in an answer. After each head comes one of its
 * tails, which is queried again. */
struct heads {
	struct page_detective_reply reply;
	size_t at;
};

/* True if the tail has not changed since its answer. @now may be another tail
 * of the same folio. */
static bool is_same_tail(const struct page_detective_page *now,
			 const struct page_detective_page *before)
{
	return is_tail(now) && now->head == before->head &&
	       page_detective_is_alike(now, before);
}

/* Use the word of @head for a tail. Both were read again: @head must still be
 * its head, and @tail must still be the same tail. */
static void take_head(struct page_detective_putting *o,
		      const struct page_detective_page *head,
		      const struct page_detective_page *tail)
{
	if (!is_head_of(head, o->p) || !is_same_tail(tail, o->p))
		return;
	o->has_head_word = true;
	o->head_word = head->kpageflags;
}

/* Find the head of a tail. The search starts at the last head. */
static void find_head(struct heads *h, struct page_detective_putting *o)
{
	const struct page_detective_page *p = h->reply.pages.data;

	for (; h->at + 1 < h->reply.pages.n; h->at += 2)
		if (p[h->at].pfn == o->p->head) {
			take_head(o, &p[h->at], &p[h->at + 1]);
			return;
		}
}

/* Query the heads of tails from page @first on, as many as fit into a list.
 * Returns the page where the list ends. */
static size_t ask_heads(struct page_detective_session *s,
			const struct page_detective_reply *a, size_t first,
			struct heads *ret)
{
	const size_t size = question_size(s);
	struct list l;
	uint64_t last = UINT64_MAX;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	list_init(&l);
	for (i = first; i < a->pages.n; i++) {
		const struct page_detective_page *p = &a->pages.data[i];

		if (!is_tail(p) || p->head == last)
			continue;
		if (!list_add(&l, p->head, size) ||
		    !list_add(&l, p->pfn, size))
			break;
		last = p->head;
	}
	if (l.n && ask_list(s, &l, &ret->reply)) {
		page_detective_reply_free(&ret->reply);
		memset(&ret->reply, 0, sizeof(ret->reply));
	}
	return i;
}

static void put_row(struct page_detective_session *s,
		    const struct page_detective_reply *a,
		    const struct page_detective_page *p, struct heads *heads,
		    struct pdet_batch *b, uint32_t row,
		    const struct pdet_fields *want)
{
	struct page_detective_putting o = {
		.a = a, .p = p, .b = b, .row = row, .want = want,
		.kpf = kpf_of(s), .d = page_detective_of(s->session.backend),
	};

	if (is_tail(p))
		find_head(heads, &o);
	put_answer(s, &o);
}

/* Fill @rows from the answer to a list. */
static void put_list(struct page_detective_session *s,
		     const struct page_detective_reply *a,
		     const uint32_t *rows, struct pdet_batch *b,
		     const struct pdet_fields *want)
{
	struct heads heads;
	size_t i, to = 0;

	memset(&heads, 0, sizeof(heads));
	for (i = 0; i < a->pages.n; i++) {
		const struct page_detective_page *p = &a->pages.data[i];

		if (i == to) {
			page_detective_reply_free(&heads.reply);
			to = wants_flags(want) ? ask_heads(s, a, i, &heads) :
						 a->pages.n;
			/* even one does not fit into a list */
			to = PDET_MAX(to, i + 1);
		}
		if (is_frame(p, pdet_batch_get(b, rows[i], F(PFN), ~p->pfn)))
			put_row(s, a, p, &heads, b, rows[i], want);
		else
			page_detective_put_reason(b, rows[i], want,
						  PAGEDET_CORRUPT);
	}
	page_detective_reply_free(&heads.reply);
}

/* Fill rows from *row on, as many as fit into a list. */
static void fill_list(struct page_detective_session *s, struct pdet_batch *b,
		      uint32_t *row, const struct pdet_fields *want)
{
	const size_t size = question_size(s);
	struct page_detective_reply a;
	uint32_t rows[MOST_FRAMES];
	unsigned reason;
	struct list l;
	size_t i;

	list_init(&l);
	for (; *row < b->n; ++*row) {
		const unsigned state = pdet_batch_state(b, *row, F(PFN));

		if (state != PAGEDET_HAVE) {
			put_like_pfn(b, *row, want, state);
			continue;
		}
		if (!list_add(&l, b->value[F(PFN)][*row], size))
			break;
		rows[l.n - 1] = *row;
	}
	if (!l.n)
		return;
	reason = ask_list(s, &l, &a);
	if (reason)
		for (i = 0; i < l.n; i++)
			page_detective_put_reason(b, rows[i], want, reason);
	else
		put_list(s, &a, rows, b, want);
	page_detective_reply_free(&a);
}

/* --- one page --- */

/* Add the word of its head if it is a tail. */
static void add_head(struct page_detective_session *s,
		     struct page_detective_putting *o)
{
	struct page_detective_reply a = { 0 };
	struct list l;

	if (!is_tail(o->p) || !wants_flags(o->want))
		return;
	list_init(&l);
	list_add(&l, o->p->head, sizeof(l.text));
	list_add(&l, o->p->pfn, sizeof(l.text));
	if (!ask_list(s, &l, &a))
		take_head(o, &a.pages.data[0], &a.pages.data[1]);
	page_detective_reply_free(&a);
}

static void put_page(struct page_detective_session *s,
		     struct page_detective_putting *o)
{
	o->kpf = kpf_of(s);
	o->d = page_detective_of(s->session.backend);
	add_head(s, o);
	if (pdet_fields_has(o->want, F(MEMCG_PATH)) ||
	    pdet_fields_has(o->want, F(MEMCG_NAME)))
		o->memcg_is_there = is_there(s, o->a, o->p);
	put_answer(s, o);
}

unsigned page_detective_ask_phys(struct page_detective_session *s,
				 uint64_t pfn, const char *words, bool walk,
				 struct page_detective_reply *ret)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char text[PAGE_DETECTIVE_LINE];
	unsigned reason;
	int error;

	memset(ret, 0, sizeof(*ret));
	/* There is no frame beyond the largest address. */
	if (pfn > UINT64_MAX / page)
		return PAGEDET_UNSUPPORTED;
	snprintf(text, sizeof(text), "phys 0x%llx%s",
		 (unsigned long long)(pfn * page), words);
	reason = page_detective_query_ask(s, text, walk, ret, &error);
	if (!reason && (ret->pages.n != 1 || !is_frame(ret->pages.data, pfn)))
		reason = PAGEDET_CORRUPT;
	return reason;
}

/* The last page queried; zero is none. */
struct last {
	bool valid;
	uint64_t pfn;
	unsigned reason, maps_why;
	struct page_detective_reply a;
};

static void ask_one(struct page_detective_session *s, uint64_t pfn,
		    const struct pdet_fields *want, struct last *ret)
{
	page_detective_reply_free(&ret->a);
	ret->valid = true;
	ret->pfn = pfn;
	ret->reason = page_detective_ask_phys(s, pfn, options(want), false,
					      &ret->a);
	if (!ret->reason)
		ret->maps_why = page_detective_add_maps(s, want,
							ret->a.pages.data);
}

/* Consecutive rows of mappings often have the same page. */
static void fill_one(struct page_detective_session *s, struct pdet_batch *b,
		     uint32_t row, const struct pdet_fields *want,
		     struct last *last)
{
	const bool again = s->session.wants->target == PAGEDET_TARGET_MAPPERS;
	const unsigned state = pdet_batch_state(b, row, F(PFN));
	uint64_t pfn;

	if (state != PAGEDET_HAVE) {
		put_like_pfn(b, row, want, state);
		return;
	}
	pfn = b->value[F(PFN)][row];
	if (!again || !last->valid || last->pfn != pfn)
		ask_one(s, pfn, want, last);
	if (last->reason) {
		page_detective_put_reason(b, row, want, last->reason);
	} else {
		struct page_detective_putting o = {
			.a = &last->a, .p = last->a.pages.data, .b = b,
			.row = row, .want = want,
		};

		put_page(s, &o);
		page_detective_put_no_maps(s, &o, last->maps_why);
	}
}

void page_detective_query_fill(struct page_detective_session *s,
			       struct pdet_batch *b,
			       const struct pdet_fields *want)
{
	const bool one = wants_one(want);
	struct last last = { 0 };
	uint32_t row = 0;

	page_detective_holes_forget(s);
	while (row < b->n) {
		if (one)
			fill_one(s, b, row++, want, &last);
		else
			fill_list(s, b, &row, want);
	}
	page_detective_reply_free(&last.a);
}

/* --- addresses --- */

bool page_detective_answers(const struct page_detective_reply *a, uint32_t pid,
			    uint64_t addr)
{
	const struct page_detective_page *p = a->pages.data;

	return a->pages.n == 1 && p->has & PAGE_DETECTIVE_VIRT &&
	       p->pid == pid && p->virt == addr;
}

/* The mapping's current command name, which comes with all mappings. */
static void take_comm(const struct page_detective_reply *a, uint64_t addr,
		      struct pdet_task *t)
{
	struct pdet_scan comm;
	size_t i;

	for (i = 0; i < a->maps.n; i++) {
		const struct page_detective_map *m = &a->maps.data[i];

		if (m->kind != PAGEDET_MAP_USER || m->addr != addr ||
		    !(m->has & PAGE_DETECTIVE_PID) || m->pid != t->pid)
			continue;
		comm = page_detective_words(a, m->comm);
		t->comm_len = comm.at ? PDET_MIN((size_t)(comm.end - comm.at),
						 sizeof(t->comm)) : 0;
		if (!t->comm_len)
			continue;
		memcpy(t->comm, comm.at, t->comm_len);
		t->comm_why = 0;
	}
}

int page_detective_query_address(struct page_detective_session *s,
				 uint32_t pid, uint64_t addr,
				 struct pdet_batch *b, struct pdet_task *t)
{
	const struct pdet_fields fields = page_detective_said(s);
	const struct pdet_fields *want = &fields;
	char text[PAGE_DETECTIVE_LINE];
	struct page_detective_reply a;
	struct page_detective_putting o = {
		.a = &a, .b = b, .row = b->n, .want = want,
	};
	unsigned reason, maps_why = 0;
	int error, r = 0;

	snprintf(text, sizeof(text), "virt %u 0x%llx%s", pid,
		 (unsigned long long)addr, options(want));
	reason = page_detective_query_ask(s, text, false, &a, &error);
	if (!reason && !page_detective_answers(&a, pid, addr))
		reason = PAGEDET_CORRUPT;
	if (error == ESRCH) {
		page_detective_reply_free(&a);
		return pdet_fail(&s->session.env, ESRCH,
				 "there is no task %u", pid);
	}
	pdet_batch_grow(b, 1);
	if (!reason) {
		o.p = a.pages.data;
		maps_why = page_detective_add_maps(s, want, a.pages.data);
		if (o.p->state != PAGE_DETECTIVE_NOTPRESENT)
			put_page(s, &o);
		page_detective_put_no_maps(s, &o, maps_why);
		if (o.p->walked)
			take_comm(&s->told.reply, addr, t);
	}
	/* It is not a user address, or the task has no address space. */
	if (!reason || error == ERANGE || error == EINVAL)
		r = page_detective_keep_address(s, addr, o.row, o.p);
	else
		page_detective_put_reason(b, o.row, want, reason);
	page_detective_reply_free(&a);
	return r;
}
