/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Pages that a kernel log mentions, in the order of the text: for each a row of
 * what the text says and, unless nothing else is to be asked, one that the
 * sources fill with what is known of that frame now.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/log.h"
#include "backend/text_kind.h"
#include "base/text_stream.h"
#include "memory/dump_kind.h"
#include "query/query.h"

/* Lines between two looks at the clock; and how long nobody looks at it while
 * there are none. */
#define TURN 1024
#define WAIT_MS 100

/* Rows that are worth handing on while there is more to read. */
#define ENOUGH 64

struct walk_log {
	struct pdet_walk walk;
	struct pdet_worker *worker; /* who reads */
	struct pdet_text_stream *in;
	struct pdet_log *log;
	struct pdet_fields said; /* columns that a text may fill */
	struct pdet_texts stacks; /* of the rows at hand, or of all */
	bool keep_stacks;
	uint64_t n;		/* pages so far */
	struct {
		struct pdet_log_claim *data;
		size_t n, cap;
	} claims;		/* of the rows at hand, from @first on */
	uint64_t first;
	bool begun, ended, told, hashed;
	bool open;		/* the last line has no end */
};

static struct walk_log *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_log, walk);
}

static int look(struct walk_log *w, struct pdet_env *env)
{
	const char *name = pdet_text_stream_name(w->in), *kind;
	struct pdet_scan head;
	int r;

	r = pdet_text_stream_peek(w->in, env, 4096, &head);
	/* That nobody wrote in time is told by who reads on. */
	if (r < 0)
		return pdet_engine_check(w->worker) ? 0 : r;
	kind = pdet_dump_kind(head.at, (size_t)(head.end - head.at));
	if (kind) {
		r = pdet_fail(env, EBADMSG,
			      "cannot read %s as a kernel log: it is %s", name,
			      kind);
		pdet_advise(env, "--from asks a dump instead of the kernel");
		return r;
	}
	if (pdet_text_is_binary(head.at, (size_t)(head.end - head.at)))
		return pdet_fail(env, EBADMSG,
				 "cannot read %s as a kernel log: it is no text",
				 name);
	return 0;
}

/* Lines may be those that somebody is still to write. */
static int check(void *arg, int *ms)
{
	struct walk_log *w = arg;

	*ms = WAIT_MS;
	return -pdet_engine_check(w->worker);
}

static int log_begin(struct pdet_walk *base, struct pdet_worker *k)
{
	struct walk_log *w = walk_of(base);
	struct pdet_env *env = &pdet_session_of(k, base)->env;
	const struct pdet_text_watch watch = { check, w };
	int r;

	w->worker = k;
	w->log = pdet_log_new();
	if (!w->log)
		return pdet_fail(env, ENOMEM, "no memory");
	if (!base->it->text_only && base->it->page_size)
		pdet_log_page_shift(w->log, (unsigned)__builtin_ctzll(
			base->it->page_size));
	r = pdet_text_stream_open_watched(env, base->it->q.path, &watch,
					  &w->in);
	return r < 0 ? r : look(w, env);
}

/* All of it is one span: it is read by one thread. */
static int log_next(struct pdet_walk *base, struct pdet_worker *k,
		    struct pdet_span *span, uint64_t pages)
{
	struct walk_log *w = walk_of(base);

	(void)k;
	(void)pages;
	if (w->begun)
		return 0;
	w->begun = true;
	span->item = 0;
	span->place = 0;
	span->at = 0;
	span->end = 1;
	return 1;
}

/* The kernel that is asked is another one: its pages are others. */
static void tell_release(struct walk_log *w, struct pdet_worker *k)
{
	struct pdet_iter *it = w->walk.it;
	const char *release = pdet_log_release(w->log);
	struct pdet_kernel_info info;
	size_t i;

	if (w->told || !*release || it->text_only)
		return;
	w->told = true;
	memset(&info, 0, sizeof(info));
	for (i = 0; i < it->n_backends && !*info.release; i++)
		it->backends[i]->ops->info(it->backends[i],
					   &pdet_session_of(k, &w->walk)->env,
					   &info);
	if (*info.release && strcmp(info.release, release))
		pdet_log(it->env, PAGEDET_LOG_WARNING,
			 "%s is of Linux %s, and what is asked about its pages now is Linux %s",
			 pdet_text_stream_name(w->in), release, info.release);
}

static void put_now(const struct pdet_log_page *p, struct pdet_batch *b,
		    uint32_t row)
{
	size_t i;

	pdet_put(b, row, PAGEDET_FIELD_AT, PAGEDET_AT_NOW,
		 PAGEDET_SOURCE_DERIVED);
	pdet_put(b, row, PAGEDET_FIELD_PFN, p->pfn, PAGEDET_SOURCE_LOG);
	/* It is about the frame, whoever maps it. */
	for (i = 0; i < PDET_LOG_OF_ADDRESS; i++)
		pdet_put_none(b, row, pdet_log_of_address[i],
			      PAGEDET_SOURCE_DERIVED);
	pdet_put_none(b, row, PAGEDET_FIELD_TGID, PAGEDET_SOURCE_DERIVED);
	pdet_put_none(b, row, PAGEDET_FIELD_OBJECT, PAGEDET_SOURCE_DERIVED);
	pdet_put_none(b, row, PAGEDET_FIELD_REPORT, PAGEDET_SOURCE_DERIVED);
}

/* Addresses that nobody can look at. */
static void tell_hashed(struct walk_log *w, const struct pdet_log_page *p)
{
	if (w->hashed || !p->hashed)
		return;
	w->hashed = true;
	pdet_log(w->walk.it->env, PAGEDET_LOG_WARNING,
		 "addresses in %s are hashed from line %" PRIu64 " on "
		 "(no_hash_pointers keeps them)",
		 pdet_text_stream_name(w->in), p->line);
}

static int put_page(struct walk_log *w, struct pdet_worker *k,
		    const struct pdet_log_page *p, struct pdet_batch *b)
{
	const uint32_t row = b->n;
	const bool now = !w->walk.it->text_only && p->has & PDET_LOG_PFN;

	if (!pdet_vec_reserve(&w->claims, 1))
		return -ENOMEM;
	pdet_batch_grow(b, now ? 2 : 1);
	pdet_log_put(p, b, row, &w->said, PAGEDET_SOURCE_LOG);
	pdet_put(b, row, PAGEDET_FIELD_AT, PAGEDET_AT_LOG,
		 PAGEDET_SOURCE_DERIVED);
	if (now)
		put_now(p, b, row + 1);
	tell_hashed(w, p);
	pdet_log_claims(p, &w->claims.data[w->claims.n++]);
	pdet_put_run(b, row, b->n - row, PAGEDET_FIELD_ASK, w->n,
		     PAGEDET_SOURCE_DERIVED);
	w->n++;
	k->cover.visited++;
	if (p->partial)
		k->cover.partial = true;
	return pdet_log_stacks(p, &w->stacks) ? 0 : -ENOMEM;
}

static int read_line(struct walk_log *w, struct pdet_env *env)
{
	struct pdet_text_line line;
	int r = pdet_text_stream_line(w->in, env, &line);

	if (r <= 0) {
		w->ended = true;
		/* why it ended is told behind what was good before */
		return pdet_log_end(w->log, w->open || r < 0);
	}
	w->open = line.open;
	return pdet_log_feed(w->log, line.text);
}

/* All rows are made: 0, or why there are no more. */
static int end(struct walk_log *w, struct pdet_env *env,
	       struct pdet_span *span)
{
	struct pdet_text_line line;
	int r = pdet_text_stream_line(w->in, env, &line);

	if (r == 0)
		span->at = span->end;
	return r;
}

static int log_place(struct pdet_walk *base, struct pdet_worker *k,
		     struct pdet_span *span, struct pdet_batch *b)
{
	struct walk_log *w = walk_of(base);
	struct pdet_env *env = &pdet_session_of(k, base)->env;
	const struct pdet_log_page *p;
	unsigned lines = 0;
	int r = 0;

	w->worker = k;
	/* Who saw the rows before has seen their stacks. */
	if (!w->keep_stacks && w->stacks.bytes.n)
		pdet_texts_free(&w->stacks);
	w->claims.n = 0;
	w->first = w->n;
	while (r == 0 && b->cap - b->n >= 2 && b->n < ENOUGH) {
		p = pdet_log_take(w->log);
		if (p) {
			/* An address that was not translated is no page. */
			if (p->has & PDET_LOG_PFN || !p->refusal)
				r = put_page(w, k, p, b);
			continue;
		}
		if (w->ended)
			return b->n ? 0 : end(w, env, span);
		tell_release(w, k);
		r = read_line(w, env);
		if (++lines % TURN == 0 && r == 0 && pdet_engine_check(k))
			return 0;
	}
	if (r == -ENOMEM && !*env->error)
		pdet_fail(env, ENOMEM, "no memory");
	return r;
}

/* Kinds that some sources and texts cannot tell apart. */
static bool is_same_kind(unsigned said, unsigned now)
{
	const uint32_t user = 1u << PAGEDET_KIND_FILE |
		1u << PAGEDET_KIND_SHMEM | 1u << PAGEDET_KIND_HUGETLB |
		1u << PAGEDET_KIND_UNKNOWN;
	const uint32_t vague = 1u << PAGEDET_KIND_KERNEL |
		1u << PAGEDET_KIND_RESERVED | 1u << PAGEDET_KIND_ZERO |
		1u << PAGEDET_KIND_ZSMALLOC | 1u << PAGEDET_KIND_DEVICE;

	if (said == now || said == PAGEDET_KIND_UNKNOWN)
		return true;
	/* All kinds know a free page. */
	if (now == PAGEDET_KIND_FREE)
		return false;
	if (vague >> said & 1)
		return true;
	if (user >> said & 1)
		return user >> now & 1;
	/* Of hugetlb older texts say that it is anonymous. */
	return said == PAGEDET_KIND_ANON && now == PAGEDET_KIND_HUGETLB;
}

/* Whether a page is visibly not what it was: what is not known decides
 * nothing. */
static bool has_changed(const struct pdet_log_claim *c,
			const struct pdet_batch *b, uint32_t row)
{
	const uint64_t poison = PAGEDET_PF(PAGEDET_PF_HWPOISON);
	const uint64_t known = c->flags_known &
		pdet_batch_get(b, row, PAGEDET_FIELD_FLAGS_KNOWN, 0);
	const unsigned kind = (unsigned)pdet_batch_get(b, row,
		PAGEDET_FIELD_KIND, PAGEDET_KIND_UNKNOWN);

	if (pdet_batch_state(b, row, PAGEDET_FIELD_KIND) == PAGEDET_HAVE) {
		if (c->has_kind && !is_same_kind(c->kind, kind))
			return true;
		if (kind == PAGEDET_KIND_FREE && c->has_refcount &&
		    c->refcount)
			return true;
	}
	if (c->has_inode && pdet_batch_get(b, row, PAGEDET_FIELD_INODE,
					   c->inode) != c->inode)
		return true;
	return known & poison &&
	       (c->flags ^ pdet_batch_get(b, row, PAGEDET_FIELD_FLAGS,
					  c->flags)) & poison;
}

static void log_compare(struct pdet_walk *base, struct pdet_batch *b)
{
	const struct walk_log *w = walk_of(base);
	uint32_t row;

	for (row = 0; row < b->n; row++) {
		const uint64_t i = pdet_batch_get(b, row, PAGEDET_FIELD_ASK,
						  0) - w->first;

		if (pdet_batch_get(b, row, PAGEDET_FIELD_AT, 0) ==
			    PAGEDET_AT_NOW &&
		    i < w->claims.n && has_changed(&w->claims.data[i], b, row))
			pdet_put_note(b, row, PAGEDET_NOTE_CHANGED);
	}
}

static int log_stack(struct pdet_walk *base, uint64_t id,
		     struct pdet_text *ret)
{
	return pdet_texts_get(&walk_of(base)->stacks, id, ret);
}

static void log_free(struct pdet_walk *base)
{
	struct walk_log *w = walk_of(base);

	if (w->in)
		pdet_text_stream_close(w->in);
	pdet_log_free(w->log);
	pdet_texts_free(&w->stacks);
	pdet_vec_free(&w->claims);
	free(w);
}

static const struct pdet_walk_ops log_ops = {
	.begin = log_begin,
	.next = log_next,
	.place = log_place,
	.compare = log_compare,
	.stack = log_stack,
	.free = log_free,
};

int pdet_walk_log(struct pdet_iter *it, struct pdet_walk **ret)
{
	static const uint8_t not_said[] = {
		PAGEDET_FIELD_ASK, PAGEDET_FIELD_PAGES, PAGEDET_FIELD_TIME_NS,
		PAGEDET_FIELD_NOTES, PAGEDET_FIELD_AT, PAGEDET_FIELD_MAP,
	};
	struct walk_log *w = calloc(1, sizeof(*w));
	size_t i;
	int r;

	if (!w)
		return pdet_fail(it->env, ENOMEM, "no memory");
	w->walk.ops = &log_ops;
	w->walk.it = it;
	w->walk.serial = true;
	w->keep_stacks = it->q.grouped ||
		it->q.options & (PAGEDET_Q_RUNS | PAGEDET_Q_KEEP_STRINGS);
	w->said = it->plan.columns;
	for (i = 0; i < PDET_COUNT(not_said); i++)
		pdet_fields_remove(&w->said, not_said[i]);
	r = pdet_walk_backend(it, &w->walk);
	if (r < 0) {
		free(w);
		return r;
	}
	*ret = &w->walk;
	return 0;
}
