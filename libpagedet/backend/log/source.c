/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The source "log": a kernel log opened instead of a kernel. It has only the
 * pages named in the log; the last statement about a page counts, and says
 * nothing of the page's state if the log goes on with a later boot. The log is
 * read as a whole at the first query.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/backend.h"
#include "backend/log/log.h"
#include "backend/log/said.h"
#include "backend/text_kind.h"
#include "base/clock.h"
#include "base/codec/text_stream.h"
#include "memory/dump_kind.h"

struct log_source {
	struct pdet_backend backend;
	const struct pagedet_options *options;
	struct pdet_log_said said; /* sorted by pfn once the log is read */
	struct pdet_texts stacks;
	bool read;
	bool cut;		/* some of it could not be read */
	bool sizeless;		/* it was told that the page size is missing */
	char release[96];
};

static struct log_source *source_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct log_source, backend);
}

/* Whether it is a log: 1, 0 or a negative errno. */
static int is_log(struct pdet_env *env, struct pdet_text_stream *s)
{
	struct pdet_scan head;
	int r;

	/* A memory dump may contain the text of a log. */
	r = pdet_text_stream_peek(s, env, 4096, &head);
	if (r < 0)
		return r;
	if (pdet_dump_kind(head.at, (size_t)(head.end - head.at)) ||
	    pdet_text_is_binary(head.at, (size_t)(head.end - head.at)))
		return 0;
	r = pdet_text_stream_peek(s, env, PDET_TEXT_HEAD, &head);
	if (r < 0)
		return r;
	if (pdet_text_is_owner(head.at, (size_t)(head.end - head.at)))
		return 0;
	return pdet_log_is_log(head.at, (size_t)(head.end - head.at));
}

static int log_probe(struct pdet_env *env, const struct pdet_input *in)
{
	const char *const name = in->options->n_files == 1 ?
		in->options->files[0] : NULL;
	struct pdet_text_stream *s;
	struct stat st;
	int r;

	/* Never probe a pipe: its data can be read only once. */
	if (!name || stat(name, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	r = pdet_text_stream_open(env, name, &s);
	if (r == 0) {
		r = is_log(env, s);
		pdet_text_stream_close(s);
	}
	if (r == -ENOMEM)
		return pdet_fail(env, ENOMEM, "cannot read %s: no memory",
				 name);
	pdet_clear(env);
	return r > 0 ? 100 : 0;
}

static int log_open(struct pdet_backend *b, struct pdet_env *env,
		    const struct pdet_input *in)
{
	(void)env;
	source_of(b)->options = in->options;
	b->no_cache = true;
	return 0;
}

static void unload(struct log_source *l)
{
	pdet_log_said_free(&l->said);
	pdet_texts_free(&l->stacks);
	l->cut = false;
}

static void log_close(struct pdet_backend *b)
{
	unload(source_of(b));
}

static int compare(const void *a, const void *b)
{
	const struct pdet_log_page *x = a, *y = b;

	return (x->pfn > y->pfn) - (x->pfn < y->pfn);
}

struct reader {
	struct log_source *source;
	struct pdet_env *env;
	const char *name;
};

/* All pages are. */
static bool is_asked(void *user, const struct pdet_log_page *p, bool *memory)
{
	const struct reader *r = user;

	(void)memory;
	if (!(p->has & PDET_LOG_PFN))
		pdet_log_tell_sizeless(r->env, p, r->name,
				       &r->source->sizeless);
	return true;
}

static int read_all(struct log_source *l, struct pdet_env *env,
		    struct pdet_text_stream *in, struct pdet_log *log)
{
	struct pdet_text_line line = { .open = false };
	struct reader reader = { l, env, pdet_text_stream_name(in) };
	int r, read;

	do {
		read = pdet_text_stream_line(in, env, &line);
		r = read > 0 ? pdet_log_feed(log, line.text) :
			       pdet_log_end(log, line.open || read < 0);
		if (r == 0)
			r = pdet_log_said_take(&l->said, log, is_asked,
					       &reader);
	} while (r == 0 && read > 0);
	if (r < 0)
		return pdet_fail(env, ENOMEM, "cannot keep the events of %s: "
				 "no memory", pdet_text_stream_name(in));
	if (read == 0 || read == -ENOMEM || read == -ETIMEDOUT ||
	    !l->said.pages.n)
		return read;
	/* Use the valid part of a damaged log. */
	pdet_log(env, PAGEDET_LOG_WARNING, "%s", env->error);
	pdet_clear(env);
	l->cut = true;
	return 0;
}

/* What is said of a page holds for the boot in which it was said. */
static void set_past(struct log_source *l, const struct pdet_log_boot *last)
{
	size_t i;

	for (i = 0; i < l->said.pages.n; i++) {
		struct pdet_log_page *p = &l->said.pages.data[i];

		p->past = p->boot.number != last->number;
		p->past_unsure = p->past && p->boot.certain == last->certain;
	}
}

static int finish_pages(struct log_source *l, struct pdet_env *env)
{
	size_t i;

	for (i = 0; i < l->said.pages.n; i++)
		if (!pdet_log_stacks(&l->said.pages.data[i], &l->stacks))
			return pdet_fail(env, ENOMEM, "no memory");
	return 0;
}

/* Continue until the deadline. Reading a regular file does not wait. */
static int check(void *arg, int *ms)
{
	const uint64_t *deadline_ns = arg;

	*ms = -1;
	return *deadline_ns && pdet_clock_ns(CLOCK_MONOTONIC) >= *deadline_ns ?
	       ETIMEDOUT : 0;
}

/* @deadline_ns: CLOCK_MONOTONIC; 0: there is no deadline. After the deadline
 * nothing is known, because the last statement about a page may still
 * follow. */
static int load(struct log_source *l, struct pdet_env *env,
		uint64_t deadline_ns)
{
	const struct pdet_text_watch watch = { check, &deadline_ns };
	struct pdet_text_stream *in;
	struct pdet_log *log;
	int r;

	if (l->read)
		return 0;
	log = pdet_log_new();
	if (!log)
		return pdet_fail(env, ENOMEM, "no memory");
	unload(l);
	pdet_log_in_order(log);
	if (l->options->page_size)
		pdet_log_page_shift(log, (unsigned)__builtin_ctzll(
						   l->options->page_size));
	r = pdet_text_stream_open_watched(env, l->options->files[0], &watch,
					  &in);
	if (r == 0) {
		r = read_all(l, env, in, log);
		pdet_text_stream_close(in);
	}
	l->cut |= pdet_log_unread(log) > 0;
	set_past(l, pdet_log_boot(log));
	snprintf(l->release, sizeof(l->release), "%s", pdet_log_release(log));
	pdet_log_free(log);
	if (r == -ETIMEDOUT)
		return pdet_fail(env, ETIMEDOUT, "cannot read all of %s: the "
				 "deadline passed", l->options->files[0]);
	if (r == 0)
		r = finish_pages(l, env);
	if (r < 0)
		return r;
	if (l->said.pages.n)
		qsort(l->said.pages.data, l->said.pages.n,
		      sizeof(*l->said.pages.data), compare);
	l->read = true;
	return 0;
}

static void log_info(struct pdet_backend *b, struct pdet_env *env,
		     struct pdet_kernel_info *ret)
{
	struct log_source *l = source_of(b);

	if (load(l, env, 0) < 0)
		return;
	snprintf(ret->release, sizeof(ret->release), "%s", l->release);
}

static void log_survey(struct pdet_backend *b, struct pdet_env *env,
		       uint32_t target, unsigned field, unsigned source,
		       struct pdet_ability *ret)
{
	const struct pdet_fields told = pdet_log_said_fields();

	(void)b;
	(void)env;
	(void)target;
	(void)source;
	memset(ret, 0, sizeof(*ret));
	ret->cost = PAGEDET_COST_FREE;
	ret->partial = true;
	ret->reason = pdet_fields_has(&told, field) ||
		      field == PAGEDET_FIELD_MAP ? PAGEDET_HAVE :
						   PAGEDET_UNSUPPORTED;
}

static int log_prepare(struct pdet_backend *b, struct pdet_env *env,
		       const struct pdet_wants *wants)
{
	return load(source_of(b), env, wants->deadline_ns);
}

static int log_session_new(struct pdet_backend *b, struct pdet_env *env,
			   const struct pdet_wants *wants,
			   struct pdet_session **ret)
{
	struct pdet_session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->backend = b;
	s->env = *env;
	s->wants = wants;
	*ret = s;
	return 0;
}

static void log_session_free(struct pdet_session *s)
{
	free(s);
}

static const struct pdet_log_page *find(const struct log_source *l,
					uint64_t pfn)
{
	size_t low = 0, high = l->said.pages.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (l->said.pages.data[mid].pfn < pfn)
			low = mid + 1;
		else
			high = mid;
	}
	return low < l->said.pages.n && l->said.pages.data[low].pfn == pfn ?
		&l->said.pages.data[low] : NULL;
}

/* The log has no statement about the page, as far as it was read. */
static unsigned why_absent(const struct log_source *l)
{
	return l->cut ? PAGEDET_IO : PAGEDET_EXCLUDED;
}

static int log_fill(struct pdet_session *s, struct pdet_batch *b,
		    const struct pdet_fields *want, unsigned source)
{
	const struct log_source *l = source_of(s->backend);
	const struct pdet_log_page *p;
	uint32_t row;
	unsigned f;

	for (row = 0; row < b->n; row++) {
		p = find(l, pdet_batch_get(b, row, PAGEDET_FIELD_PFN,
					   UINT64_MAX));
		if (p) {
			pdet_log_put(p, b, row, want, source);
			continue;
		}
		pdet_fields_for(f, want)
			pdet_put_lost(b, row, f, why_absent(l), source);
	}
	return 0;
}

static int log_told(struct pdet_session *s, uint64_t pfn, size_t *at,
		    struct pdet_batch *b)
{
	const struct log_source *l = source_of(s->backend);
	const struct pdet_log_page *p = find(l, pfn);

	if (!p || p->past)
		return (int)why_absent(l);
	return pdet_log_put_maps(p, at, b, &s->wants->fields,
				 PAGEDET_SOURCE_LOG);
}

static int log_stack(struct pdet_session *s, uint64_t id,
		     struct pdet_text *ret)
{
	return pdet_texts_get(&source_of(s->backend)->stacks, id, ret);
}

static int log_memory(struct pdet_backend *b, struct pdet_env *env,
		      struct pdet_ranges *ret)
{
	struct log_source *l = source_of(b);
	size_t i;
	int r;

	r = load(l, env, 0);
	for (i = 0; i < l->said.pages.n && r == 0; i++) {
		const uint64_t pfn = l->said.pages.data[i].pfn;

		if (ret->n && ret->data[ret->n - 1].last + 1 == pfn)
			ret->data[ret->n - 1].last = pfn;
		else if (!pdet_vec_push(ret, (struct pdet_range){ pfn, pfn }))
			r = pdet_fail(env, ENOMEM, "no memory");
	}
	return r;
}

const struct pdet_backend_ops pdet_log_ops = {
	.name = "log",
	.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG),
	.size = sizeof(struct log_source),
	.probe = log_probe,
	.open = log_open,
	.close = log_close,
	.info = log_info,
	.survey = log_survey,
	.prepare = log_prepare,
	.session_new = log_session_new,
	.session_free = log_session_free,
	.fill = log_fill,
	.memory = log_memory,
	.told = log_told,
	.stack = log_stack,
};
