/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The border for collecting evidence. The collect_ files beside this one each
 * collect a part of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/collect.h"
#include "base/io.h"
#include "base/namespace.h"
#include "check/mark.h"
#include "explain/evidence.h"

#define OPTIONS \
	((uint32_t)PAGEDET_COLLECT_CONTENT | (uint32_t)PAGEDET_COLLECT_AGAIN | \
	 (uint32_t)PAGEDET_COLLECT_FILE | (uint32_t)PAGEDET_COLLECT_LOG)

/* --- the machine --- */

static bool is_live(const struct pagedet *pd)
{
	return !pd->opened.options.n_files;
}

static uint32_t swap_is_gone(const struct pagedet *pd)
{
	static const char key[] = "SwapFree:";
	uint32_t gone = PAGEDET_DUNNO;
	struct pdet_text text;
	const char *line;

	if (!is_live(pd) ||
	    pdet_slurp(&pd->env, &text, 65536, "/proc/meminfo") < 0)
		return PAGEDET_DUNNO;
	line = strstr(text.data, key);
	if (line)
		gone = strtoull(line + sizeof(key) - 1, NULL, 10) ?
		       PAGEDET_NO : PAGEDET_YES;
	pdet_text_free(&text);
	return gone;
}

/* page_owner's pids belong to the first pid namespace. */
static bool sees_all_pids(const struct pagedet *pd)
{
	return pdet_asks_running(pd) &&
	       pdet_first_namespace("", PDET_NAMESPACE_PID) > 0;
}

/* --- the border --- */

static int check(struct pdet_collecting *c)
{
	struct pdet_env *env = &c->pd->env;
	const uint64_t page = c->pd->page_size;
	uint64_t i;

	if (c->o.target != PAGEDET_TARGET_PFN &&
	    c->o.target != PAGEDET_TARGET_VIRT)
		return pdet_fail(env, EINVAL, "evidence is collected for page "
				 "frame numbers and addresses only");
	if (c->list.stride < PDET_EVIDENCE_FIRST || c->list.stride % 8)
		return pdet_fail(env, EINVAL,
				 "this library does not know evidence of this "
				 "size");
	if (c->o.options & ~OPTIONS)
		return pdet_fail(env, E2BIG, "the options have a bit that this "
				 "library does not know");
	if (c->o.options & PAGEDET_COLLECT_AGAIN &&
	    !(c->o.options & PAGEDET_COLLECT_CONTENT))
		return pdet_fail(env, EINVAL, "PAGEDET_COLLECT_AGAIN needs "
				 "PAGEDET_COLLECT_CONTENT");
	for (i = 0; i < c->list.n; i++) {
		const struct pagedet_item *item = &c->items[i];

		if (item->count == 1 ||
		    (c->o.target == PAGEDET_TARGET_VIRT && item->count &&
		     item->count <= page - item->first % page))
			continue;
		return pdet_fail(env, EINVAL, "item %llu is not one page",
				 (unsigned long long)i);
	}
	return 0;
}

static int begin(struct pdet_collecting *c)
{
	uint32_t counters = 0, no_swap;
	uint64_t i;
	int r = 0;

	if (c->o.mark && is_live(c->pd))
		r = pdet_mark_memory(&c->pd->env, c->o.mark, c->o.mark_size,
				     &counters);
	if (r < 0)
		return r;
	no_swap = swap_is_gone(c->pd);
	c->of_pids = sees_all_pids(c->pd);
	for (i = 0; i < c->list.n; i++) {
		struct pagedet_evidence *e = pdet_evidence_at(&c->list, i);

		memset(e, 0, c->list.stride);
		e->size = c->list.stride;
		e->id = i;
		e->questions = c->o.questions;
		e->no_swap = no_swap;
		e->counters_here = counters;
	}
	return 0;
}

/* Pid 0 means the caller's own process. */
static int name_self(const struct pdet_collecting *c, struct pagedet_item **ret)
{
	struct pagedet_item *own = malloc(c->list.n * sizeof(*own));
	uint64_t i;

	if (!own)
		return pdet_fail(&c->pd->env, ENOMEM, "no memory");
	memcpy(own, c->items, c->list.n * sizeof(*own));
	for (i = 0; i < c->list.n; i++)
		if (c->o.target == PAGEDET_TARGET_VIRT && !own[i].pid)
			own[i].pid = (uint32_t)getpid();
	*ret = own;
	return 0;
}

/* Facts about a row that no query answers. */
static int look_beside(const struct pdet_collecting *c)
{
	int r = 0;

	if (c->o.options & PAGEDET_COLLECT_LOG)
		r = pdet_collect_log(c->pd, &c->list);
	/* The struct of an older client ends before this member. */
	if (r == 0 && c->list.stride > offsetof(struct pagedet_evidence,
						folio_counted))
		r = pdet_collect_folio(c->pd, &c->list);
	return r;
}

static int gather(struct pdet_collecting *c, const struct pagedet_item *own)
{
	int r = pdet_collect_rows(c, own);
	const uint64_t read_ns = pdet_clock_ns(CLOCK_MONOTONIC);

	if (r == -ETIMEDOUT) {
		pdet_collect_late(c);
		return 0;
	}
	if (r == 0)
		r = look_beside(c);
	if (r == 0 && c->o.target == PAGEDET_TARGET_VIRT && is_live(c->pd))
		r = pdet_collect_address(c, own);
	if (r == 0 && c->o.mappers_ns)
		r = pdet_collect_mappers(c);
	if (r == 0 && c->o.options & PAGEDET_COLLECT_AGAIN)
		r = pdet_collect_again(c, own, read_ns);
	return r;
}

int pagedet_collect(struct pagedet *pd, const struct pagedet_item *items,
		    uint64_t n, const struct pagedet_collect_options *options,
		    struct pagedet_evidence *evidence)
{
	static const struct pagedet_collect_options defaults =
		PAGEDET_COLLECT_OPTIONS_INIT;
	struct pdet_collecting c = { .pd = pd, .items = items,
				     .list.n = n, .version = PAGEDET_AS_NOW };
	struct pagedet_item *own = NULL;
	int r;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	r = pdet_check_struct(&pd->env, &c.o, sizeof(c.o), options, &defaults,
			      "struct pagedet_collect_options");
	if (r < 0 || !n)
		return r;
	if (n > INT32_MAX)
		return pdet_fail(&pd->env, EINVAL, "too many items");
	if (!c.o.known_mappers && c.o.target == PAGEDET_TARGET_VIRT)
		c.o.known_mappers = 1;
	c.list.data = (char *)evidence;
	c.list.stride = evidence->size;
	c.start_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	if (c.o.deadline_ns)
		c.list.until_ns = c.start_ns + c.o.deadline_ns;
	r = check(&c);
	if (r == 0 && c.o.options & PAGEDET_COLLECT_CONTENT)
		r = pagedet_hash_key_id(pd, &c.hash_key);
	if (r == 0)
		r = name_self(&c, &own);
	if (r < 0)
		return r;
	r = begin(&c);
	if (r == 0)
		r = gather(&c, own);
	free(own);
	return r < 0 ? r : (int)c.rows;
}
