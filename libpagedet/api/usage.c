/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for the memory usage of processes. */
#include <errno.h>
#include <stdlib.h>

#include "api/arguments.h"
#include "query/usage.h"

struct pagedet_usages {
	struct pagedet *pd;
	struct pdet_usages *u;
	size_t at;
};

int pagedet_usage(struct pagedet *pd,
		  const struct pagedet_usage_options *options,
		  struct pagedet_usages **ret)
{
	static const struct pagedet_usage_options defaults =
		PAGEDET_USAGE_OPTIONS_INIT;
	struct pdet_usages_args args = { .env = &pd->env };
	struct pagedet_usage_options o;
	struct pagedet_usages *usages;
	int r;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_usage_options");
	if (r < 0)
		return r;
	usages = calloc(1, sizeof(*usages));
	if (!usages)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	o.threads = PDET_MIN(o.threads, 1024u);
	args.backends = pd->backends;
	args.n_backends = pd->n_backends;
	args.sources = pd->sources;
	args.page_size = pd->page_size;
	args.options = &o;
	usages->pd = pd;
	r = pdet_usages_new(&args, &usages->u);
	if (r < 0) {
		free(usages);
		return -pdet_errno_closed(-r);
	}
	*ret = usages;
	return 0;
}

int pagedet_usage_next(struct pagedet_usages *usages,
		       struct pagedet_usage *ret)
{
	struct pdet_usage *found;
	struct pagedet_usage row;
	int r;

	if (usages->at == usages->u->n)
		return 0;
	found = &usages->u->rows[usages->at];
	row = found->row;
	row.size = ret->size;
	row.comm = found->named ? found->comm : NULL;
	r = pdet_answer_struct(&usages->pd->env, ret, &row, sizeof(row));
	if (r < 0)
		return r;
	usages->at++;
	return 1;
}

int pagedet_usage_info(const struct pagedet_usages *usages,
		       struct pagedet_usage_info *ret)
{
	struct pagedet_usage_info info = usages->u->info;

	info.size = ret->size;
	return pdet_answer_struct(&usages->pd->env, ret, &info, sizeof(info));
}

void pagedet_usage_free(struct pagedet_usages *usages)
{
	if (!usages)
		return;
	pdet_usages_free(usages->u);
	free(usages);
}
