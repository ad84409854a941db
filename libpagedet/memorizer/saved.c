/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Mode 2 and 3 follow the process that wrote them, so that nobody else can set
 * them again. A process that was followed stays marked, and would be followed
 * by the next mode 3: since 6.6.51-memorizer-27, /proc/PID/memorizer_enabled
 * tells that, and takes it back.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "memorizer/saved.h"

#define MOST_TEXT 256

static void path_of(const struct pdet_memorizer *m, uint64_t pid, char *ret,
		    size_t size)
{
	snprintf(ret, size, "%s/proc/%" PRIu64 "/memorizer_enabled", m->root,
		 pid);
}

/* Whether the kernel says that it is not followed. */
static bool is_unmarked(const struct pdet_memorizer *m, uint64_t pid)
{
	struct pdet_memorizer_value v;
	struct pdet_text text;
	char path[4096];
	bool ret;

	path_of(m, pid, path, sizeof(path));
	if (pdet_slurp_at(AT_FDCWD, path, &text, MOST_TEXT) < 0)
		return false;
	ret = pdet_memorizer_parse(text.data, text.len, &v) && !v.value;
	pdet_text_free(&text);
	return ret;
}

/* It may have ended: then there is nothing to take back. */
static void unmark(const struct pdet_memorizer *m, uint64_t pid)
{
	char path[4096];

	path_of(m, pid, path, sizeof(path));
	pdet_memorizer_write(path, 0);
}

int pdet_memorizer_save(const struct pdet_memorizer *m, struct pdet_env *env,
			uint64_t pid, struct pdet_memorizer_saved *ret)
{
	struct pdet_memorizer_value v;
	uint32_t i;
	int r;

	*ret = (struct pdet_memorizer_saved){ .marked = 0 };
	for (i = 0; i <= PAGEDET_MEMORIZER_LOG_LIVE; i++) {
		if (!m->path[i])
			continue;
		r = pdet_memorizer_get(m, env, i, &v);
		if (r < 0)
			return r;
		if (v.value > 1)
			return pdet_fail(env, ENOTSUP, "cannot record: "
					 "memorizer_enabled is %" PRIu64
					 ", which only the process that it "
					 "follows can set again", v.value);
		ret->known[i] = true;
		ret->value[i] = v.value;
	}
	ret->marked = pid && is_unmarked(m, pid) ? pid : 0;
	return 0;
}

/* Memorizer is off; its switch comes last. */
int pdet_memorizer_restore(const struct pdet_memorizer *m,
			   struct pdet_env *env,
			   const struct pdet_memorizer_saved *s)
{
	struct pdet_env second = { .root = m->root };
	uint32_t i;
	int first = 0, r;

	for (i = PAGEDET_MEMORIZER_LOG_LIVE + 1; i-- > 0;) {
		if (!s->known[i])
			continue;
		r = pdet_memorizer_put(m, first ? &second : env, i,
				       s->value[i]);
		if (!first && r < 0)
			first = r;
	}
	if (s->marked)
		unmark(m, s->marked);
	return first;
}
