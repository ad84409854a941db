/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for checks of cached pages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "check/check.h"
#include "emit/checked.h"

struct pagedet_checked {
	struct pagedet *pd;
	struct pdet_checked *c;
};

int pagedet_check_by_name(const char *name)
{
	uint32_t kind;

	for (kind = 1; pdet_check_name(kind); kind++)
		if (!strcmp(name, pdet_check_name(kind)))
			return (int)kind;
	return -ENOENT;
}

const char *pagedet_check_name(uint32_t kind)
{
	return pdet_check_name(kind);
}

const char *pagedet_verdict_name(uint32_t verdict)
{
	return pdet_verdict_name(verdict);
}

const char *pagedet_cause_name(uint32_t cause)
{
	return pdet_cause_name(cause);
}

/* The disks of this machine say nothing about another kernel. */
static int is_running(struct pagedet *pd)
{
	struct pagedet_info info = { .size = sizeof(info) };
	int r;

	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	r = pagedet_info(pd, &info);
	if (r < 0)
		return r;
	if (!info.live || *pd->env.root)
		return pdet_fail(&pd->env, ENOTSUP, "only files of the running "
				 "kernel can be checked");
	return 0;
}

int pagedet_check(struct pagedet *pd, const struct pagedet_check *check,
		  struct pagedet_checked **ret)
{
	static const struct pagedet_check defaults = PAGEDET_CHECK_INIT;
	struct pdet_check_args args = { .env = &pd->env };
	struct pagedet_checked *c;
	struct pagedet_check q;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &q, sizeof(q), check, &defaults,
			      "struct pagedet_check");
	if (r == 0)
		r = is_running(pd);
	if (r < 0)
		return r;
	c = calloc(1, sizeof(*c));
	if (!c)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	args.backends = pd->backends;
	args.n_backends = pd->n_backends;
	args.sources = pd->sources;
	args.page_size = pd->page_size;
	args.check = &q;
	c->pd = pd;
	r = pdet_check_run(&args, &c->c);
	if (r < 0) {
		free(c);
		return -pdet_errno_closed(-r);
	}
	*ret = c;
	return 0;
}

int pagedet_checked_next(struct pagedet_checked *checked,
			 struct pagedet_verdict *ret)
{
	struct pagedet_verdict v;
	int r = pdet_check_answer(&checked->pd->env, ret);

	if (r < 0)
		return r;
	if (!pdet_checked_next(checked->c, &v))
		return 0;
	pdet_answer_struct(&checked->pd->env, ret, &v, sizeof(v));
	return 1;
}

int pagedet_checked_whole(const struct pagedet_checked *checked,
			  struct pagedet_verdict *ret)
{
	struct pagedet_verdict v;

	pdet_checked_whole(checked->c, &v);
	return pdet_answer_struct(&checked->pd->env, ret, &v, sizeof(v));
}

const char *pagedet_checked_text(const struct pagedet_checked *checked,
				 uint64_t id)
{
	return pdet_checked_text(checked->c, id);
}

void pagedet_checked_free(struct pagedet_checked *checked)
{
	if (!checked)
		return;
	pdet_checked_free(checked->c);
	free(checked);
}

int pagedet_mark(struct pagedet *pd, void *mark, size_t size)
{
	int r;

	pdet_clear(&pd->env);
	r = is_running(pd);
	return r < 0 ? r : pdet_mark(&pd->env, mark, size);
}

int pagedet_mark_watch(struct pagedet *pd, void *mark, size_t size)
{
	int r;

	pdet_clear(&pd->env);
	r = is_running(pd);
	return r < 0 ? r : pdet_mark_watch(&pd->env, mark, size);
}

int pagedet_mark_end(struct pagedet *pd, const void *mark, size_t size)
{
	int r;

	pdet_clear(&pd->env);
	r = is_running(pd);
	if (r == 0)
		r = pdet_mark_end(&pd->env, mark, size);
	return r < 0 ? -pdet_errno_closed(-r) : 0;
}

int pagedet_emit_checked(struct pagedet_emitter *emitter,
			 struct pagedet_checked *checked)
{
	return pdet_emit_checked(emitter, &checked->pd->env, checked->c);
}
