/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Checks the caller's arguments, and handles callers built against other
 * versions of the header.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/arguments.h"

int pdet_check_struct(struct pdet_env *env, void *to, size_t size,
		      const void *from, const void *defaults, const char *name)
{
	const unsigned char *bytes = from;
	uint64_t theirs, i;

	if (!from) {
		memcpy(to, defaults, size);
		return 0;
	}
	memcpy(&theirs, from, sizeof(theirs));
	if (theirs < sizeof(theirs))
		return pdet_fail(env, EINVAL,
				 "the size of %s is not set: start from its "
				 "initializer",
				 name);
	for (i = size; i < theirs; i++)
		if (bytes[i])
			return pdet_fail(env, E2BIG,
					 "%s: byte %llu is not zero, and this library knows only %zu bytes of it",
					 name, (unsigned long long)i, size);
	memset(to, 0, size);
	memcpy(to, from, PDET_MIN(size, (size_t)theirs));
	return 0;
}

int pdet_check_answer(struct pdet_env *env, const void *to)
{
	uint64_t theirs;

	memcpy(&theirs, to, sizeof(theirs));
	return theirs >= 2 * sizeof(theirs) ? 0 :
	       pdet_fail(env, EINVAL, "the size of the struct for the answer "
			 "is not set");
}

int pdet_answer_struct(struct pdet_env *env, void *to, const void *from,
		       size_t size)
{
	uint64_t theirs;
	int r = pdet_check_answer(env, to);

	if (r < 0)
		return r;
	memcpy(&theirs, to, sizeof(theirs));
	memcpy(to, from, PDET_MIN(size, (size_t)theirs));
	/* The caller asks again with the same struct. */
	memcpy(to, &theirs, sizeof(theirs));
	if (theirs > size)
		memset((char *)to + size, 0, theirs - size);
	return 0;
}

/*
 * The arguments of each target: a path, items, and whether the items name
 * tasks.
 */
static const struct {
	bool path;
	bool items;
	bool may_lack_items;
	bool pid;
	bool allocs;
	const char *name;
} targets[] = {
	[PAGEDET_TARGET_PFN] = { .items = true, .name = "pfn" },
	[PAGEDET_TARGET_PHYS] = { .items = true, .name = "phys" },
	[PAGEDET_TARGET_VIRT] = { .items = true, .pid = true, .name = "virt" },
	[PAGEDET_TARGET_TASK] = { .items = true, .pid = true, .name = "task" },
	[PAGEDET_TARGET_FILE] = { .path = true, .items = true,
				  .may_lack_items = true, .name = "file" },
	[PAGEDET_TARGET_TREE] = { .path = true, .name = "tree" },
	[PAGEDET_TARGET_MOUNT] = { .path = true, .name = "mount" },
	[PAGEDET_TARGET_BLOCK] = { .path = true, .items = true,
				   .may_lack_items = true, .name = "block" },
	[PAGEDET_TARGET_CGROUP] = { .path = true, .name = "cgroup" },
	[PAGEDET_TARGET_KADDR] = { .items = true, .name = "kaddr" },
	[PAGEDET_TARGET_LOG] = { .path = true, .name = "log" },
	[PAGEDET_TARGET_SCAN] = { .name = "scan" },
	[PAGEDET_TARGET_MAPPERS] = { .items = true, .name = "mappers" },
	[PAGEDET_TARGET_OBJECTS] = { .allocs = true, .name = "objects" },
	[PAGEDET_TARGET_EVENTS] = { .allocs = true, .name = "events" },
};

int pdet_check_items(struct pagedet *pd, uint32_t target,
		     const struct pagedet_item *items, uint64_t n)
{
	struct pdet_env *env = &pd->env;
	uint64_t i;

	if (!targets[target].items)
		return n ? pdet_fail(env, EINVAL, "target %s takes no items",
				     targets[target].name) : 0;
	if (!n && !targets[target].may_lack_items)
		return pdet_fail(env, EINVAL, "target %s needs an item",
				 targets[target].name);
	if (n && !items)
		return pdet_fail(env, EINVAL, "items are missing");
	for (i = 0; i < n; i++) {
		const struct pagedet_item *item = &items[i];

		if (!item->count)
			return pdet_fail(env, EINVAL, "item %llu is empty",
					 (unsigned long long)i);
		if (item->count != PAGEDET_TO_END &&
		    item->count - 1 > UINT64_MAX - item->first)
			return pdet_fail(env, EINVAL,
					 "item %llu wraps: %#llx + %#llx",
					 (unsigned long long)i,
					 (unsigned long long)item->first,
					 (unsigned long long)item->count);
		if (targets[target].pid &&
		    (!item->pid || item->pid > INT32_MAX))
			return pdet_fail(env, EINVAL,
					 "item %llu: %u is not a pid",
					 (unsigned long long)i, item->pid);
		if (target == PAGEDET_TARGET_KADDR &&
		    (item->count > 1 || item->flags > PAGEDET_KADDR_FOLIO))
			return pdet_fail(env, EINVAL,
					 "item %llu: the count of a kernel "
					 "address must be 1, and its flags must "
					 "be one PAGEDET_KADDR_* value",
					 (unsigned long long)i);
		if (target == PAGEDET_TARGET_MAPPERS &&
		    item->count > (uint64_t)1 << 32)
			return pdet_fail(env, EINVAL,
					 "item %llu names too many pages",
					 (unsigned long long)i);
	}
	return 0;
}

/* All options that this library knows. */
#define KNOWN_OPTIONS                                                     \
	(PAGEDET_Q_CHEAP | PAGEDET_Q_RUNS | PAGEDET_Q_UNDECIDED |         \
	 PAGEDET_Q_SINGLE_SOURCE | PAGEDET_Q_KEEP_STRINGS |               \
	 PAGEDET_Q_UNCHECKED | PAGEDET_Q_HOLES | PAGEDET_Q_GROUP | \
	 PAGEDET_Q_TASK_STACKS | PAGEDET_Q_ANY_BOOT |                     \
	 PAGEDET_Q_USER_STACKS | PAGEDET_Q_POINTERS |                     \
	 PAGEDET_Q_STOP_THREADS | PAGEDET_Q_PERF_MAP)

static int check_fields(struct pdet_env *env, const struct pagedet_query *q)
{
	struct pdet_fields all = pdet_fields_all();
	uint64_t i, j;

	if (q->fields[0] & ~all.bits[0] || q->fields[1] & ~all.bits[1])
		return pdet_fail(env, E2BIG,
				 "the query wants a field that this library does not know");
	if (q->n_group_by && !q->group_by)
		return pdet_fail(env, EINVAL, "group_by is missing");
	if (q->n_group_by > 16)
		return pdet_fail(env, EINVAL, "at most 16 fields to group by");
	for (i = 0; i < q->n_group_by; i++) {
		if (q->group_by[i] >= PDET_FIELDS)
			return pdet_fail(env, E2BIG,
					 "cannot group by field %u: this library does not know it",
					 q->group_by[i]);
		for (j = 0; j < i; j++)
			if (q->group_by[i] == q->group_by[j])
				return pdet_fail(env, EINVAL,
						 "group_by has %s twice",
						 pdet_field_info(
							 q->group_by[i])->name);
	}
	return 0;
}

static int check_order(struct pdet_env *env, const struct pagedet_query *q)
{
	const bool grouped = q->options & PAGEDET_Q_GROUP || q->n_group_by;

	if (q->order > PAGEDET_ORDER_DOWN)
		return pdet_fail(env, E2BIG, "there is no order %u", q->order);
	if (q->order < PAGEDET_ORDER_UP)
		return q->order_by ? pdet_fail(env, EINVAL,
				"order_by needs an order by a field") : 0;
	if (q->order_by >= PDET_FIELDS || !pdet_field_info(q->order_by))
		return pdet_fail(env, E2BIG,
				 "cannot order by field %u: this library does not know it",
				 q->order_by);
	if (!grouped && (!q->limit || q->limit > PAGEDET_ORDER_MAX))
		return pdet_fail(env, EINVAL,
				 "sorted rows need a limit of at most %u",
				 PAGEDET_ORDER_MAX);
	return 0;
}

int pdet_check_page_size(struct pdet_env *env, uint64_t bytes)
{
	if (bytes && (bytes < 4096 || bytes > 1 << 20 || bytes & (bytes - 1)))
		return pdet_fail(env, EINVAL, "%llu is not a size of pages",
				 (unsigned long long)bytes);
	return 0;
}

static int check_page_size(struct pdet_env *env, const struct pagedet_query *q)
{
	if (q->page_size && q->target != PAGEDET_TARGET_LOG)
		return pdet_fail(env, EINVAL, "target %s takes no page size",
				 targets[q->target].name);
	return pdet_check_page_size(env, q->page_size);
}

int pdet_check_query(struct pagedet *pd, const struct pagedet_query *q)
{
	struct pdet_env *env = &pd->env;
	int r;

	if (!q->target || q->target >= PDET_COUNT(targets))
		return pdet_fail(env, EINVAL, "there is no target %u",
				 q->target);
	if (q->row_size < PAGEDET_FIELDS_MAX * sizeof(uint16_t))
		return pdet_fail(env, EINVAL,
				 "row_size %llu is too small for the cells",
				 (unsigned long long)q->row_size);
	if (q->options & ~(uint32_t)KNOWN_OPTIONS)
		return pdet_fail(env, E2BIG,
				 "the query has options that this library does not know");
	r = check_order(env, q);
	if (r < 0)
		return r;
	if (q->threads > 1024)
		return pdet_fail(env, EINVAL, "%u threads are too many",
				 q->threads);
	if (q->next_place && q->target != PAGEDET_TARGET_FILE &&
	    q->target != PAGEDET_TARGET_TREE)
		return pdet_fail(env, EINVAL,
				 "target %s takes no list of files",
				 targets[q->target].name);
	if (q->next_place && (q->path || q->n_items))
		return pdet_fail(env, EINVAL,
				 "target %s takes a list of files or a path, not both",
				 targets[q->target].name);
	if (targets[q->target].path && !q->next_place &&
	    (!q->path || !*q->path))
		return pdet_fail(env, EINVAL, "target %s needs a path",
				 targets[q->target].name);
	if (targets[q->target].allocs != !!q->allocs)
		return pdet_fail(env, EINVAL, "target %s %s", targets[
				 q->target].name, q->allocs ?
				 "takes no allocs" : "needs allocs");
	r = check_page_size(env, q);
	if (r < 0)
		return r;
	/* A log or a trace is the only source. */
	if (pdet_iter_is_alone(q))
		return check_fields(env, q);
	if (q->sources && !(q->sources & pd->sources)) {
		r = pdet_fail(env, ENOTSUP,
			      "none of the sources allowed for the query is open");
		return r;
	}
	r = check_fields(env, q);
	return r < 0 ? r : pdet_check_items(pd, q->target, q->items,
					    q->n_items);
}

static void absent(struct pdet_ability *ret, unsigned reason,
		   const char *advice)
{
	ret->reason = (uint8_t)reason;
	snprintf(ret->advice, sizeof(ret->advice), "%s", advice);
}

void pdet_survey_absent(struct pagedet *pd, uint32_t source,
			struct pdet_ability *ret)
{
	const struct pdet_backend_ops *const *ops;

	if (pd->sources >> source & 1)
		return;
	if (source == PAGEDET_SOURCE_TRACE) {
		absent(ret, PAGEDET_UNSUPPORTED,
		       "only 'pagedet kmem live' and 'kmem events' ask a trace");
		return;
	}
	for (ops = pdet_backends; *ops; ops++) {
		if (!((*ops)->sources >> source & 1))
			continue;
		if ((*ops)->absent && !pd->opened.options.n_files)
			(*ops)->absent(&pd->env, ret);
		else
			absent(ret, PAGEDET_UNSUPPORTED,
			       "not open: allow it, or name its file");
		return;
	}
	absent(ret, PAGEDET_NOT_BUILT, "this library has no such source");
}

/* Mappings can be counted if they can be listed. */
static void survey_maps(struct pagedet *pd, struct pdet_backend *b,
			struct pdet_ability *ret)
{
	unsigned source = (unsigned)__builtin_ctz(b->sources);

	if (ret->reason == PAGEDET_HAVE)
		return;
	b->ops->survey(b, &pd->env, PAGEDET_TARGET_MAPPERS, PAGEDET_FIELD_MAP,
		       source, ret);
	ret->cost = PAGEDET_COST_SWEEP;
}

/*
 * Class, hash and entropy are available if bytes can be read. Page Detective
 * can tell zero pages from others, but gives no bytes.
 */
static void survey_bytes(struct pagedet *pd, struct pdet_backend *b,
			 struct pdet_ability *ret)
{
	unsigned source;

	for (source = 0; b->sources >> source; source++)
		if (b->sources >> source & 1 &&
		    source != PAGEDET_SOURCE_PAGE_DETECTIVE &&
		    ret->reason != PAGEDET_HAVE)
			b->ops->survey(b, &pd->env, PAGEDET_TARGET_NOTHING,
				       PAGEDET_FIELD_CONTENT, source, ret);
}

void pdet_survey_derived(struct pagedet *pd, uint32_t field,
			 struct pdet_ability *ret)
{
	size_t i;

	ret->advice[0] = '\0';
	switch (field) {
	case PAGEDET_FIELD_ASK:
	case PAGEDET_FIELD_PAGES:
	case PAGEDET_FIELD_TIME_NS:
	case PAGEDET_FIELD_NOTES:
		ret->reason = PAGEDET_HAVE;
		ret->cost = PAGEDET_COST_FREE;
		return;
	case PAGEDET_FIELD_USER_MAPS:
		ret->reason = PAGEDET_UNSUPPORTED;
		for (i = 0; i < pd->n_backends; i++)
			if (pd->backends[i]->ops->mappings)
				survey_maps(pd, pd->backends[i], ret);
		return;
	case PAGEDET_FIELD_HASH:
	case PAGEDET_FIELD_ENTROPY:
		ret->reason = PAGEDET_UNSUPPORTED;
		for (i = 0; i < pd->n_backends; i++)
			survey_bytes(pd, pd->backends[i], ret);
		return;
	default:
		ret->reason = PAGEDET_UNSUPPORTED;
		return;
	}
}
