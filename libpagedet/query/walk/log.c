/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks the pages that a kernel log mentions, in the order of the log. Each
 * page gets a row with what the log says. Unless the query wants only the log,
 * each page also gets a second row, which the sources fill with the frame as it
 * is now.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/log/log.h"
#include "backend/text_kind.h"
#include "base/codec/text_stream.h"
#include "base/text/plural.h"
#include "base/text/quote.h"
#include "memory/dump_kind.h"
#include "query/walk/log_boot.h"
#include "query/query.h"

/*
 * The number of lines between two checks of the clock, and the time between two
 * checks while no line comes.
 */
#define TURN 1024
#define WAIT_MS 100

/* If there are this many rows, deliver them early. */
#define ENOUGH 64

struct walk_log {
	struct pdet_walk walk;
	struct pdet_worker *worker; /* the reader */
	struct pdet_text_stream *in;
	struct pdet_log *log;
	struct pdet_fields said; /* columns that a log may fill */
	struct pdet_texts stacks; /* of the current rows, or of all */
	bool keep_stacks;
	uint64_t n;		/* pages so far */
	struct {
		struct pdet_log_claim *data;
		size_t n, cap;
	} claims;		/* of the current rows, from @first on */
	uint64_t first;
	struct pdet_running running;
	uint64_t others, strangers; /* pages of another boot; reports of perhaps
				 * another */
	struct pdet_pairs other_pages; /* which they are */
	uint32_t boot;		/* of the last page */
	bool begun, ended, told, hashed, sizeless;
	bool owners;		/* records of page_owner are in between */
	bool open;		/* the last line is incomplete */
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
	/* The next read reports the timeout. */
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
				 "cannot read %s as a kernel log: it is not "
				 "text",
				 name);
	return 0;
}

/* A writer may still add lines. */
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
	pdet_log_in_order(w->log);
	if (base->it->q.page_size)
		pdet_log_page_shift(w->log, (unsigned)__builtin_ctzll(
						    base->it->q.page_size));
	r = pdet_text_stream_open_watched(env, base->it->q.path, &watch,
					  &w->in);
	return r < 0 ? r : look(w, env);
}

/* The whole log is one span: one thread reads it. */
static int log_next(struct pdet_walk *base, struct pdet_worker *k,
		    struct pdet_span *span, uint64_t pages)
{
	(void)k;
	(void)pages;
	return pdet_span_all(span, &walk_of(base)->begun);
}

/*
 * Warns that the log is not of the kernel that is asked, so that the pages are
 * not the same.
 */
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
			 "%s is of Linux %s, but the kernel that is asked "
			 "about its pages is Linux %s",
			 pdet_text_stream_name(w->in), release, info.release);
}

static void put_now(const struct pdet_log_page *p, struct pdet_batch *b,
		    uint32_t row)
{
	size_t i;

	pdet_put(b, row, PAGEDET_FIELD_AT, PAGEDET_AT_NOW,
		 PAGEDET_SOURCE_DERIVED);
	pdet_put(b, row, PAGEDET_FIELD_PFN, p->pfn, PAGEDET_SOURCE_LOG);
	/* It describes the frame, whoever maps it. */
	for (i = 0; i < PDET_LOG_OF_ADDRESS; i++)
		pdet_put_none(b, row, pdet_log_of_address[i],
			      PAGEDET_SOURCE_DERIVED);
	pdet_put_none(b, row, PAGEDET_FIELD_TGID, PAGEDET_SOURCE_DERIVED);
	pdet_put_none(b, row, PAGEDET_FIELD_OBJECT, PAGEDET_SOURCE_DERIVED);
	pdet_put_none(b, row, PAGEDET_FIELD_REPORT, PAGEDET_SOURCE_DERIVED);
}

/* Warns of hashed addresses, which nobody can resolve, and of those of which
 * nothing tells whether they are hashes. */
static void tell_hashed(struct walk_log *w, const struct pdet_log_page *p)
{
	if (w->hashed || (!p->hashed && !p->may_be_hashed))
		return;
	w->hashed = true;
	pdet_log(w->walk.it->env, PAGEDET_LOG_WARNING,
		 "addresses in %s %s from line %" PRIu64 " on%s "
		 "(no_hash_pointers keeps them)",
		 pdet_text_stream_name(w->in),
		 p->hashed ? "are hashed" : "may be hashed", p->line,
		 p->hashed ? "" : ", and are not shown");
}

/* Whether the page is of the kernel that is asked about it, as is_asked(). */
static bool is_of_asked(struct walk_log *w, struct pdet_worker *k,
			const struct pdet_log_page *p)
{
	const struct pdet_iter *it = w->walk.it;

	if (it->text_only || !it->page_size)
		return false;
	return !it->live || it->q.options & PAGEDET_Q_ANY_BOOT ||
	       pdet_running_of(&w->running,
			       &pdet_session_of(k, &w->walk)->env,
			       it->backends, it->n_backends,
			       p) == PDET_LOG_OF_THIS;
}

/* Count a page of another boot once, however often it is reported. */
static bool count_other(struct walk_log *w, uint64_t pfn)
{
	uint64_t n;

	if (pdet_pairs_get(&w->other_pages, pfn, &n))
		return true;
	w->others++;
	return pdet_pairs_set(&w->other_pages, pfn, w->others);
}

/*
 * Whether the kernel is asked about a page. The running kernel is asked only if
 * the page is of its boot. A dump or a captured tree is always asked, because
 * the user has named it; a warning says if the page is not known to be of its
 * boot.
 */
static bool is_asked(struct walk_log *w, struct pdet_worker *k,
		     const struct pdet_log_page *p, bool *memory)
{
	const struct pdet_iter *it = w->walk.it;

	if (it->text_only || !(p->has & PDET_LOG_PFN))
		return false;
	if (it->q.options & PAGEDET_Q_ANY_BOOT)
		return true;
	switch (pdet_running_of(&w->running,
				&pdet_session_of(k, &w->walk)->env,
				it->backends, it->n_backends, p)) {
	case PDET_LOG_OF_THIS:
		return true;
	case PDET_LOG_OF_OTHER:
		*memory = count_other(w, p->pfn);
		break;
	default:
		w->strangers++;
	}
	return !it->live;
}

/* The dump or captured tree that was asked may be of another boot. */
static void tell_named(struct walk_log *w)
{
	struct pdet_env *env = w->walk.it->env;
	const char *name = pdet_text_stream_name(w->in);

	if (w->others)
		pdet_log(env, PAGEDET_LOG_WARNING, "%" PRIu64 " of the pages "
			 "in %s %s of another boot than the kernel that is "
			 "asked: what is shown as now is another page",
			 w->others, name, pdet_is_or_are(w->others));
	if (w->strangers)
		pdet_log(env, PAGEDET_LOG_WARNING, "nothing says whether %s is "
			 "of the boot that is asked: what is shown as now may "
			 "be another page (--now leaves out this check)", name);
	w->others = w->strangers = 0;
}

/* Explains why pages have no row for now. */
static void tell_boots(struct walk_log *w)
{
	struct pdet_env *env = w->walk.it->env;

	if (!w->walk.it->live) {
		tell_named(w);
		return;
	}
	if (w->others)
		pdet_log(env, PAGEDET_LOG_WARNING, "%" PRIu64 " of the pages "
			 "in %s %s of another boot: what %s now is not shown",
			 w->others, pdet_text_stream_name(w->in),
			 pdet_is_or_are(w->others),
			 w->others == 1 ? "it is" : "they are");
	if (w->strangers)
		pdet_log(env, PAGEDET_LOG_WARNING, "nothing says whether %s is "
			 "of this boot: what its pages are now is not shown "
			 "(--now shows it)",
			 pdet_text_stream_name(w->in));
	w->others = w->strangers = 0;
}

/* There may be pages in what was not understood, or is not a log. */
static void tell_unread(struct walk_log *w)
{
	const uint64_t n = pdet_log_unread(w->log);
	const char *name = pdet_text_stream_name(w->in);
	char quoted[PDET_QUOTED];

	if (w->owners && w->n) {
		w->worker->cover.partial = true;
		pdet_log(w->walk.it->env, PAGEDET_LOG_WARNING, "%s also has "
			 "records of page_owner, which are not read: pagedet "
			 "owners %s", name,
			 pdet_quoted(w->walk.it->q.path, "FILE", quoted,
				     sizeof(quoted)));
	}
	w->owners = false;
	if (!n)
		return;
	w->worker->cover.partial = true;
	pdet_log(w->walk.it->env, PAGEDET_LOG_WARNING, "%" PRIu64 " line%s of "
		 "%s look%s like a report, but %s not understood", n,
		 pdet_plural(n), name,
		 n == 1 ? "s" : "", n == 1 ? "was" : "were");
}

static int put_page(struct walk_log *w, struct pdet_worker *k,
		    struct pdet_log_page *p, struct pdet_batch *b)
{
	const uint32_t row = b->n;
	bool now, memory = true;

	if (!p->shift && (p->has_phys || p->has_address || p->has_position) &&
	    is_of_asked(w, k, p))
		pdet_log_settle(p, (unsigned)__builtin_ctzll(
					w->walk.it->page_size));
	pdet_log_tell_sizeless(w->walk.it->env, p,
			       pdet_text_stream_name(w->in), &w->sizeless);
	if (w->walk.it->q.options & PAGEDET_Q_POINTERS && p->exact.len)
		p->reason = p->exact;
	now = is_asked(w, k, p, &memory);

	if (!memory || !pdet_vec_reserve(&w->claims, 1))
		return -ENOMEM;
	pdet_batch_grow(b, now ? 2 : 1);
	pdet_log_put(p, b, row, &w->said, PAGEDET_SOURCE_LOG);
	pdet_put(b, row, PAGEDET_FIELD_AT, PAGEDET_AT_LOG,
		 PAGEDET_SOURCE_DERIVED);
	if (w->n && p->boot.number != w->boot)
		pdet_put_note(b, row, PAGEDET_NOTE_NEW_BOOT);
	w->boot = p->boot.number;
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
		/*
		 * The error comes after the rows that were read without an
		 * error.
		 */
		return pdet_log_end(w->log, w->open || r < 0);
	}
	w->open = line.open;
	w->owners |= pdet_text_is_owner_line(line.text);
	return pdet_log_feed(w->log, line.text);
}

/* Called after the last row. Returns 0, or the reason for missing rows. */
static int end(struct walk_log *w, struct pdet_env *env,
	       struct pdet_span *span)
{
	struct pdet_text_line line;
	int r = pdet_text_stream_line(w->in, env, &line);

	tell_boots(w);
	tell_unread(w);
	if (r == 0)
		span->at = span->end;
	return r;
}

static int log_place(struct pdet_walk *base, struct pdet_worker *k,
		     struct pdet_span *span, struct pdet_batch *b)
{
	struct walk_log *w = walk_of(base);
	struct pdet_env *env = &pdet_session_of(k, base)->env;
	struct pdet_log_page *p;
	unsigned lines = 0;
	int r = 0;

	w->worker = k;
	/* The caller has read the stacks of the earlier rows. */
	if (!w->keep_stacks && w->stacks.bytes.n)
		pdet_texts_free(&w->stacks);
	w->claims.n = 0;
	w->first = w->n;
	while (r == 0 && b->cap - b->n >= 2 && b->n < ENOUGH) {
		p = pdet_log_take(w->log);
		if (p) {
			/* An address that was not translated is not a page. */
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

/* Kinds that some sources and logs cannot distinguish. */
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
	/* All sources know a free page. */
	if (now == PAGEDET_KIND_FREE)
		return false;
	if (vague >> said & 1)
		return true;
	if (user >> said & 1)
		return user >> now & 1;
	/* Older logs call hugetlb pages anonymous. */
	return said == PAGEDET_KIND_ANON && now == PAGEDET_KIND_HUGETLB;
}

/* Whether a page is visibly not what it was. Unknown values do not count. */
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
	pdet_running_free(&w->running);
	pdet_pairs_free(&w->other_pages);
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
	const int r = pdet_walk_new(it, &log_ops, sizeof(struct walk_log),
				    ret);
	struct walk_log *w;
	size_t i;

	if (r < 0)
		return r;
	w = walk_of(*ret);
	w->walk.serial = true;
	w->running.live = it->live;
	w->keep_stacks = it->q.grouped ||
		it->q.options & (PAGEDET_Q_RUNS | PAGEDET_Q_KEEP_STRINGS);
	w->said = it->plan.columns;
	for (i = 0; i < PDET_COUNT(not_said); i++)
		pdet_fields_remove(&w->said, not_said[i]);
	return 0;
}
