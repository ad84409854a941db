/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for Memorizer's files in debugfs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "api/arguments.h"
#include "memorizer/files.h"

#define MOST_STATS ((size_t)1 << 20)

struct pagedet_memorizer {
	struct pagedet *pd;
	struct pdet_memorizer m;
	struct pdet_text stats;	/* the last ones */
};

int pagedet_memorizer(struct pagedet *pd, struct pagedet_memorizer **ret)
{
	struct pagedet_memorizer *new = calloc(1, sizeof(*new));
	int r;

	pdet_clear(&pd->env);
	if (!new)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	new->pd = pd;
	r = pdet_memorizer_find(&pd->env, &new->m);
	if (r < 0) {
		free(new);
		return r;
	}
	*ret = new;
	return 0;
}

static int check(struct pagedet_memorizer *m, uint32_t control)
{
	pdet_clear(&m->pd->env);
	return pdet_memorizer_name(control) ? 0 :
	       pdet_fail(&m->pd->env, EINVAL, "Memorizer does not have a file "
			 "%u", control);
}

static uint32_t state_of(int r)
{
	return r == 0 ? PAGEDET_HAVE :
	       r == -EACCES ? PAGEDET_NO_ACCESS : PAGEDET_IO;
}

int pagedet_memorizer_file(struct pagedet_memorizer *memorizer,
			   uint32_t control,
			   struct pagedet_memorizer_file *ret)
{
	struct pdet_env *env = &memorizer->pd->env;
	struct pagedet_memorizer_file file = { .size = sizeof(file),
					       .pid = -1 };
	struct pdet_memorizer_value v = { .pid = -1 };
	int r = check(memorizer, control);

	if (r < 0)
		return r;
	file.name = pdet_memorizer_name(control);
	file.path = memorizer->m.path[control];
	file.state = PAGEDET_NONE;
	if (pdet_memorizer_is_switch(control)) {
		r = pdet_memorizer_get(&memorizer->m, env, control, &v);
		file.state = file.path ? state_of(r) : PAGEDET_UNSUPPORTED;
		file.value = r == 0 ? v.value : 0;
		file.pid = r == 0 ? v.pid : -1;
	}
	pdet_clear(env);
	return pdet_answer_struct(env, ret, &file, sizeof(file));
}

int pagedet_memorizer_set(struct pagedet_memorizer *memorizer,
			  uint32_t control, uint64_t value)
{
	int r = check(memorizer, control);

	return r < 0 ? r : pdet_memorizer_set(&memorizer->m,
					      &memorizer->pd->env, control,
					      value);
}

int pagedet_memorizer_stats(struct pagedet_memorizer *memorizer,
			    const char **text, uint64_t *len)
{
	struct pdet_env *env = &memorizer->pd->env;
	const char *path = memorizer->m.path[PAGEDET_MEMORIZER_STATS];
	int r;

	pdet_clear(env);
	if (!path)
		return pdet_memorizer_lacks(env, PAGEDET_MEMORIZER_STATS);
	pdet_text_free(&memorizer->stats);
	r = pdet_slurp_at(AT_FDCWD, path, &memorizer->stats, MOST_STATS);
	if (r < 0) {
		errno = -r;
		return pdet_fail_errno(env, "cannot read %s", path);
	}
	*text = memorizer->stats.data;
	*len = memorizer->stats.len;
	return 0;
}

void pagedet_memorizer_free(struct pagedet_memorizer *memorizer)
{
	if (!memorizer)
		return;
	pdet_text_free(&memorizer->stats);
	pdet_memorizer_forget(&memorizer->m);
	free(memorizer);
}
