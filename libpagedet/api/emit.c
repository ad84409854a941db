/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for emitters. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/diff.h"
#include "api/snapshot.h"
#include "api/threads.h"
#include "base/text/quote.h"
#include "emit/diff.h"
#include "emit/emitter.h"
#include "query/stacks.h"

static void put_option(FILE *f, const char *option, const char *value,
		       const char *instead)
{
	char quoted[PDET_QUOTED];

	if (value)
		fprintf(f, "--%s %s ", option,
			pdet_quoted(value, instead, quoted,
				    sizeof(quoted)));
}

/* The sources that the caller allows; 0: all. */
static void put_sources(FILE *f, uint32_t sources)
{
	const char *before = "--backend ";

	for (; sources; sources &= sources - 1) {
		fprintf(f, "%s%s", before, pdet_source_name((unsigned)
						__builtin_ctz(sources)));
		before = ",";
	}
	if (*before == ',')
		fputc(' ', f);
}

/*
 * Makes the command options that open the same source. Returns NULL without
 * memory.
 */
static char *options_of(const struct pagedet *pd)
{
	const struct pagedet_options *o = &pd->opened.options;
	char *text = NULL;
	size_t size;
	uint64_t i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (i = 0; i < o->n_files; i++)
		put_option(f, "from", o->files[i], "FILE");
	put_option(f, "root", o->root, "DIR");
	put_sources(f, o->sources);
	put_option(f, "vmlinux", o->vmlinux, "FILE");
	put_option(f, "btf", o->btf, "FILE");
	put_option(f, "vmcoreinfo", o->vmcoreinfo, "FILE");
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

int pagedet_emitter_new(struct pagedet *pd,
			const struct pagedet_emit_options *options,
			struct pagedet_emitter **ret)
{
	static const struct pagedet_emit_options defaults =
		PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_emit_options o;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_emit_options");
	if (r < 0)
		return r;
	r = pdet_emitter_new(&pd->env, &o, ret);
	if (r < 0)
		return r;
	(*ret)->from = options_of(pd);
	if ((*ret)->from)
		return 0;
	pdet_emitter_free(*ret);
	*ret = NULL;
	return pdet_fail(&pd->env, ENOMEM, "no memory");
}

static uint32_t why(const void *user, uint32_t field)
{
	return pagedet_why(user, field);
}

static const char *advice(const void *user, uint32_t field)
{
	return pagedet_why_advice(user, field);
}

static int stack(const void *user, uint64_t id, const char **frames, uint32_t n)
{
	const struct pagedet_iter *it = user;

	return pdet_stacks_get(it->it, id, frames, n);
}

/* Gets the summaries of a mappers query, in the order of its pfns. */
static int summaries(struct pagedet_iter *it, size_t *n)
{
	struct pagedet_mappers m = { .size = sizeof(m) };
	struct { struct pagedet_mappers *data; size_t n, cap; } list = { 0 };

	while (pdet_walk_mappers_summary(it->it->walk, list.n, &m) == 0)
		if (!pdet_vec_push(&list, m)) {
			pdet_vec_free(&list);
			return pdet_fail(&it->pd->env, ENOMEM, "no memory");
		}
	free(it->summaries);
	it->summaries = list.data;
	*n = list.n;
	return 0;
}

/* Begins the rows of @it; for a snapshot, with the data about them. */
static int emit_begin(struct pagedet_emitter *emitter, struct pagedet_iter *it,
		      struct pdet_emit_query *q)
{
	struct pdet_env *env = &it->pd->env;
	struct pdet_snapshot_about about;
	int r;

	if (!pdet_emitter_saves(emitter))
		return pdet_emit_begin(emitter, env, q);
	r = pdet_about_snapshot(it, &about);
	q->about = &about;
	if (r == 0)
		r = pdet_emit_begin(emitter, env, q);
	q->about = NULL;
	pdet_snapshot_about_free(&about);
	return r;
}

static int emit_rows(struct pagedet_emitter *emitter, struct pagedet_iter *it,
		     struct pdet_pids *pids)
{
	struct pagedet_coverage coverage = { .size = sizeof(coverage) };
	struct pdet_env *env = &it->pd->env;
	struct pdet_emit_query q;
	struct pdet_emit_end end;
	struct pagedet_info info = { .size = sizeof(info) };
	struct pdet_cover cover;
	int r, walked;

	memset(&q, 0, sizeof(q));
	q.fields = it->it->plan.wanted;
	q.group_by = it->it->q.group_by;
	q.n_group_by = it->it->q.n_group_by;
	q.grouped = it->it->q.grouped;
	q.runs = it->it->q.options & PAGEDET_Q_RUNS;
	q.target = it->it->rows_of;
	q.page_size = it->it->page_size;
	/*
	 * This takes a hundred system calls, so it is done only for pictures.
	 */
	if (pdet_emitter_draws(emitter) && pagedet_info(it->pd, &info) == 0)
		q.info = &info;
	q.why = why;
	q.advice = advice;
	q.stack = stack;
	q.user = it;
	r = emit_begin(emitter, it, &q);
	if (r < 0)
		return r;
	if (pdet_emitter_draws(emitter))
		pdet_iter_any_runs(it->it);
	for (;;) {
		it->cursor = 0;
		it->batch = NULL;
		walked = pdet_iter_step(it->it, &it->batch);
		if (walked <= 0)
			break;
		it->cursor = it->batch->n;
		if (pids && !pdet_pids_add(pids, it->batch))
			return pdet_fail(env, ENOMEM, "no memory");
		r = pdet_emit_batch(emitter, env, it->batch);
		if (r < 0)
			return r;
	}
	/*
	 * A snapshot without its end cannot be opened. If the caller ended the
	 * walk early, the snapshot gets an end that says that it is partial.
	 */
	if (walked < 0 && walked != -ETIMEDOUT && walked != -ECANCELED &&
	    pdet_emitter_saves(emitter))
		return -pdet_errno_closed(-walked);
	/* Answers from before a failure are still written completely. */
	memset(&end, 0, sizeof(end));
	if (it->it->q.target == PAGEDET_TARGET_MAPPERS && walked == 0) {
		r = summaries(it, &end.n_mappers);
		if (r < 0)
			return r;
		end.mappers = it->summaries;
	}
	pdet_iter_cover(it->it, &cover);
	end.undecided = cover.undecided;
	end.spilled = cover.spilled;
	r = pagedet_coverage(it, &coverage);
	end.wanted = coverage.wanted;
	end.visited = coverage.visited;
	end.complete = r == 0 && coverage.complete && walked == 0 &&
		       !coverage.tasks_denied && !coverage.tasks_damaged &&
		       !coverage.files_denied;
	if (r == 0)
		end.coverage = &coverage;
	end.last_ns = it->it->saved || !it->pd->info.live ?
			      it->pd->info.last_ns : 0;
	if (it->it->group)
		end.pages = pdet_group_pages(it->it->group);
	if (pdet_sums_bytes(it->it))
		end.bytes_state = pdet_group_bytes(it->it->group, &end.bytes);
	if (walked < 0) {
		char error[PDET_ERROR_SIZE], hint[PDET_ERROR_SIZE];

		memcpy(error, env->error, sizeof(error));
		memcpy(hint, env->advice, sizeof(hint));
		r = pdet_emit_end(emitter, env, &end);
		if (r < 0)
			return r;
		memcpy(env->error, error, sizeof(error));
		memcpy(env->advice, hint, sizeof(hint));
		return -pdet_errno_closed(-walked);
	}
	return pdet_emit_end(emitter, env, &end);
}

int pagedet_emit_all(struct pagedet_emitter *emitter, struct pagedet_iter *it)
{
	const bool stacks = it->it->q.options & (PAGEDET_Q_TASK_STACKS |
						 PAGEDET_Q_USER_STACKS);
	struct pdet_pids pids = { NULL, 0, 0 };
	int r;

	if (stacks && !pdet_pids_asked(&pids, it->it))
		return pdet_fail(&it->pd->env, ENOMEM, "no memory");
	r = emit_rows(emitter, it, stacks ? &pids : NULL);
	if (r == 0)
		r = pdet_threads_emit(emitter, it, &pids);
	pdet_vec_free(&pids);
	return r;
}

int pagedet_emit_survey(struct pagedet_emitter *emitter, struct pagedet *pd)
{
	struct pagedet_ability a = { .size = sizeof(a) };
	unsigned i, source;
	int r;

	for (i = 0; i < PDET_FIELDS; i++)
		for (source = 1; pdet_source_name(source); source++) {
			unsigned f = pdet_field_at(i);

			r = pagedet_survey(pd, f, source, &a);
			if (r == 0)
				r = pdet_emit_ability(emitter, &pd->env, f,
						      source, &a);
			if (r < 0)
				return r;
		}
	return 0;
}

int pagedet_emit_diff(struct pagedet_emitter *emitter,
		      struct pagedet_diff *diff)
{
	struct pagedet_info info = { .size = sizeof(info) };
	struct pdet_env *env = &diff->was->env;
	struct pdet_diff_emit x = {
		.e = emitter, .d = diff->d, .page_size = diff->now->page_size,
	};
	int r, walked = 1, ended;

	if (pagedet_info(diff->now, &info) == 0)
		x.info = &info;
	r = pdet_emit_diff_begin(&x, env);
	if (r < 0)
		return r;
	/* Changes that were found but not read come first. */
	if (diff->out) {
		r = pdet_emit_diff_step(&x, env, diff->out, diff->cursor);
		diff->cursor = diff->out->n;
	}
	while (walked > 0 && r == 0) {
		walked = pdet_diff_more(diff);
		if (walked <= 0)
			break;
		r = pdet_emit_diff_step(&x, env, diff->out, 0);
		diff->cursor = diff->out->n;
	}
	/* Changes from before a failure are still written completely. */
	ended = pdet_emit_diff_end(&x, env);
	return r < 0 ? r : walked < 0 ? walked : ended;
}

int pagedet_emitter_finish(struct pagedet_emitter *emitter)
{
	return pdet_emitter_finish(emitter);
}

const char *pagedet_emitter_text(struct pagedet_emitter *emitter, size_t *len)
{
	return pdet_emitter_text(emitter, len);
}

void pagedet_emitter_free(struct pagedet_emitter *emitter)
{
	pdet_emitter_free(emitter);
}
