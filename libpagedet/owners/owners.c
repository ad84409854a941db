/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Chooses the source of records, and delivers the groups. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "owners/mixed.h"
#include "owners/owners.h"

#define MAX_THREADS 64

struct pdet_owners {
	struct pdet_owner_asked asked;
	struct pdet_filter *filter;
	uint64_t page_size;
	struct pdet_watch watch;
	struct pdet_owners_reading in;
	struct pdet_owner_total total;
	uint32_t *order;
	uint64_t min_pages;	/* smaller groups are left out */
	bool compared;
	size_t at;
	char *frames;		/* of the last stack that was asked for */
};

/* --- the query --- */

static int ask(struct pdet_owners *o, const struct pdet_owners_args *args)
{
	const struct pagedet_owners_query *q = args->query;
	const uint64_t n_by = q->by ? q->n_by : 0;
	uint64_t i;

	if (n_by > PAGEDET_OWNER_KEYS)
		return pdet_fail(args->env, EINVAL, "cannot group by %llu keys",
				 (unsigned long long)n_by);
	if (q->options & ~(uint32_t)(PAGEDET_OWNERS_REVERSE |
				     PAGEDET_OWNERS_MIXED) || q->reserved)
		return pdet_fail(args->env, EINVAL, "cannot group: unknown "
				 "options");
	if (q->sort > PAGEDET_OWNERS_SORT_BLOCKS)
		return pdet_fail(args->env, EINVAL,
				 "cannot sort: there is no order %u",
				 q->sort);
	for (i = 0; i < n_by; i++) {
		if (!pdet_owner_key_name(q->by[i]))
			return pdet_fail(args->env, EINVAL,
					 "cannot group: there is no key %u",
					 q->by[i]);
		o->asked.by[i] = q->by[i];
	}
	o->asked.n_by = n_by ? (unsigned)n_by : 1;
	o->asked.mixed = q->options & PAGEDET_OWNERS_MIXED;
	if (o->asked.mixed)
		o->asked.by[o->asked.n_by++] = PAGEDET_OWNER_BLOCK;
	o->asked.window_ns = q->window_ns ? q->window_ns : 1000000000;
	o->asked.source = PAGEDET_SOURCE_PAGE_OWNER;
	o->page_size = args->page_size;
	if (!q->where)
		return 0;
	i = (uint64_t)pdet_filter_new(args->env, q->where, &o->filter);
	o->asked.filter = o->filter;
	return (int)i;
}

/* --- the sources --- */

/* Reads the text of a backend, if it has one. */
static int read_backend(struct pdet_owners *o,
			const struct pdet_owners_args *args)
{
	struct pdet_owners_text text;
	size_t i;
	int r;

	for (i = 0; i < args->n_backends; i++) {
		struct pdet_backend *b = args->backends[i];

		if (!b->ops->owners || !(b->sources & args->sources))
			continue;
		r = b->ops->owners(b, args->env, &text);
		if (r < 0)
			return r;
		return text.fd < 0 ? pdet_owners_read_path(&o->in, text.path) :
		       pdet_owners_read_live(&o->in, text.fd, text.path);
	}
	return -ENOENT;
}

/* A dump has no text. If the text cannot be read, memory may be readable. */
static int read_opened(struct pdet_owners *o,
		       const struct pdet_owners_args *args)
{
	char error[PDET_ERROR_SIZE], advice[PDET_ERROR_SIZE];
	int text, r;

	text = read_backend(o, args);
	if (text == 0 || text == -ENOMEM || o->in.refused)
		return text;
	memcpy(error, args->env->error, sizeof(error));
	memcpy(advice, args->env->advice, sizeof(advice));
	pdet_owner_count_free(&o->in.sum);
	if (!pdet_owner_count_init(&o->in.sum, &o->asked))
		return pdet_fail(args->env, ENOMEM, "no memory");
	r = pdet_owners_by_rows(args, &o->in);
	if (r == 0 || text == -ENOENT)
		return r;
	memcpy(args->env->error, error, sizeof(error));
	memcpy(args->env->advice, advice, sizeof(advice));
	return text;
}

/* The block is not a key of the answer. */
static int fold_blocks(struct pdet_owners *o, struct pdet_env *env)
{
	o->asked.n_by--;
	return pdet_mixed_fold(&o->in.sum.table, &o->total.blocks) ? 0 :
	       pdet_fail(env, ENOMEM, "no memory");
}

int pdet_owners_new(const struct pdet_owners_args *args,
		    struct pdet_owners **ret)
{
	const struct pagedet_owners_query *q = args->query;
	struct pdet_owners *o = calloc(1, sizeof(*o));
	size_t i;
	int r;

	if (!o)
		return pdet_fail(args->env, ENOMEM, "no memory");
	pdet_watch_init(&o->watch, q->deadline_ns, q->progress,
			q->progress_user, q->progress_ns);
	o->in = (struct pdet_owners_reading){
		.env = args->env, .asked = &o->asked, .watch = &o->watch,
		.threads = PDET_MAX(1u, PDET_MIN(q->threads, MAX_THREADS)),
	};
	r = ask(o, args);
	o->in.sum.table.groups.n_keys = o->asked.n_by;
	if (r == 0)
		r = q->path ? pdet_owners_read_path(&o->in, q->path) :
			      read_opened(o, args);
	if (r == 0 && o->asked.mixed)
		r = fold_blocks(o, args->env);
	if (r == 0) {
		o->order = pdet_owner_table_sort(&o->in.sum.table, q->sort,
				q->options & PAGEDET_OWNERS_REVERSE);
		if (!o->order)
			r = pdet_fail(args->env, ENOMEM, "no memory");
	}
	if (r < 0) {
		pdet_owners_free(o);
		return r;
	}
	o->total.oldest = UINT64_MAX;
	for (i = 0; i < o->in.sum.table.totals.n; i++)
		pdet_owner_total_join(&o->total,
				      &o->in.sum.table.totals.data[i]);
	*ret = o;
	return 0;
}

void pdet_owners_free(struct pdet_owners *o)
{
	if (!o)
		return;
	pdet_owner_count_free(&o->in.sum);
	pdet_filter_free(o->filter);
	free(o->order);
	free(o->frames);
	free(o);
}

int pdet_owners_compare(struct pdet_owners *o, struct pdet_env *env,
			const struct pdet_owners *before)
{
	uint32_t *order = NULL;

	if (o->asked.n_by != before->asked.n_by ||
	    o->asked.mixed != before->asked.mixed ||
	    memcmp(o->asked.by, before->asked.by,
		   o->asked.n_by * sizeof(*o->asked.by)))
		return pdet_fail(env, EINVAL, "cannot compare owners: they are "
				 "grouped by other keys");
	if (pdet_owner_table_before(&o->in.sum.table, &before->in.sum.table))
		order = pdet_owner_table_sort(&o->in.sum.table,
					      PDET_OWNERS_SORT_GROWTH, false);
	if (!order)
		return pdet_fail(env, ENOMEM, "no memory");
	free(o->order);
	o->order = order;
	o->min_pages = 0;
	o->compared = true;
	o->at = 0;
	return 0;
}

bool pdet_owners_compared(const struct pdet_owners *o)
{
	return o->compared;
}

bool pdet_owners_mixed(const struct pdet_owners *o)
{
	return o->asked.mixed;
}

/* --- order --- */

static const struct { const char *name; uint32_t sort; } orders[] = {
	{ "times", PAGEDET_OWNERS_SORT_TIMES },
	{ "pages", PAGEDET_OWNERS_SORT_PAGES },
	{ "bytes", PAGEDET_OWNERS_SORT_PAGES },
	{ "newest", PAGEDET_OWNERS_SORT_NEWEST },
	{ "oldest", PAGEDET_OWNERS_SORT_OLDEST },
	{ "ns", PAGEDET_OWNERS_SORT_OLDEST },
	{ "keys", PAGEDET_OWNERS_SORT_KEYS },
	{ "blocks", PAGEDET_OWNERS_SORT_BLOCKS },
};

/* Parses one word of the list. Returns 0, or -EINVAL with an error text. */
static int order_by(const struct pdet_owners *o, struct pdet_env *env,
		    const char *word, size_t len, struct pdet_owner_order *ret)
{
	unsigned i;

	ret->reverse = len && *word == '-';
	word += ret->reverse;
	len -= ret->reverse;
	for (i = 0; i < PDET_COUNT(orders); i++) {
		if (strlen(orders[i].name) != len ||
		    memcmp(orders[i].name, word, len))
			continue;
		ret->sort = orders[i].sort;
		return 0;
	}
	for (i = 0; i < o->asked.n_by; i++) {
		const char *name = pdet_owner_key_name(o->asked.by[i]);

		if (strlen(name) != len || memcmp(name, word, len))
			continue;
		ret->sort = PDET_OWNERS_SORT_KEY;
		ret->key = i;
		return 0;
	}
	pdet_fail(env, EINVAL, "cannot sort by \"%.*s\"", (int)len, word);
	pdet_advise(env, "they can be sorted by times, pages, bytes, blocks, "
			 "newest, oldest, ns, keys, and the keys that they are "
			 "grouped by");
	return -EINVAL;
}

static int parse_order(const struct pdet_owners *o, struct pdet_env *env,
		       const char *list, struct pdet_owner_order *order,
		       unsigned *n)
{
	size_t len;
	int r;

	for (*n = 0; ; list += len + 1) {
		len = strcspn(list, ",");
		if (*n == PDET_OWNER_ORDERS)
			return pdet_fail(env, EINVAL, "cannot sort by so many "
					 "keys: at most %u", *n);
		r = order_by(o, env, list, len, &order[*n]);
		if (r < 0)
			return r;
		++*n;
		if (!list[len])
			return 0;
	}
}

int pdet_owners_order(struct pdet_owners *o, struct pdet_env *env,
		      const char *list, uint64_t min_pages)
{
	const struct pdet_owner_table *t = &o->in.sum.table;
	struct pdet_owner_order by[PDET_OWNER_ORDERS];
	uint32_t *order;
	unsigned n;
	int r;

	if (list) {
		r = parse_order(o, env, list, by, &n);
		if (r < 0)
			return r;
		order = pdet_owner_table_order(t, by, n);
		if (!order)
			return pdet_fail(env, ENOMEM, "no memory");
		free(o->order);
		o->order = order;
	}
	o->min_pages = min_pages;
	o->at = 0;
	return 0;
}

/* --- groups --- */

static uint64_t bytes_of(const struct pdet_owners *o, uint64_t pages)
{
	return pages > UINT64_MAX / o->page_size ? UINT64_MAX :
						   pages * o->page_size;
}

size_t pdet_owners_at(const struct pdet_owners *o)
{
	return o->at;
}

void pdet_owners_return(struct pdet_owners *o, size_t at)
{
	o->at = at;
}

int pdet_owners_next(struct pdet_owners *o, struct pagedet_owner_group *ret)
{
	const struct pdet_owner_table *t = &o->in.sum.table;
	const struct pdet_owner_total *total;
	size_t group;
	unsigned i;

	while (o->at < t->totals.n &&
	       t->totals.data[o->order[o->at]].pages < o->min_pages)
		o->at++;
	if (o->at == t->totals.n)
		return 0;
	group = o->order[o->at++];
	total = &t->totals.data[group];
	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	ret->times = total->times;
	ret->pages = total->pages;
	ret->bytes = bytes_of(o, total->pages);
	ret->oldest_ns = total->oldest;
	ret->newest_ns = total->newest;
	ret->times_before = total->times_before;
	ret->pages_before = total->pages_before;
	ret->blocks = total->blocks;
	for (i = 0; i < t->groups.n_keys; i++) {
		ret->value[i] = pdet_groups_value(&t->groups, group)[i];
		ret->state[i] = pdet_groups_state(&t->groups, group)[i];
	}
	return 1;
}

const char *pdet_owners_text(const struct pdet_owners *o, uint64_t id,
			     size_t *len)
{
	return pdet_groups_text(&o->in.sum.table.groups, id, len);
}

int pdet_owners_stack(struct pdet_owners *o, uint64_t id, const char **frames,
		      uint32_t n)
{
	const char *text;
	uint32_t found = 0;
	size_t len = 0;
	char *at, *end;

	text = pdet_groups_text(&o->in.sum.table.groups, id, &len);
	if (!text)
		return -ENOENT;
	free(o->frames);
	o->frames = malloc(len + 1);
	if (!o->frames)
		return -ENOMEM;
	memcpy(o->frames, text, len);
	o->frames[len] = '\0';
	for (at = o->frames; at < o->frames + len; at = end + 1, found++) {
		end = strchrnul(at, '\n');
		*end = '\0';
		if (found < n)
			frames[found] = at;
	}
	return (int)found;
}

void pdet_owners_total(const struct pdet_owners *o,
		       struct pagedet_owners_total *ret)
{
	const struct pdet_owner_left *left = &o->in.sum.left;

	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	ret->groups = o->in.sum.table.totals.n;
	ret->times = o->total.times;
	ret->pages = o->total.pages;
	ret->bytes = bytes_of(o, o->total.pages);
	ret->oldest_ns = o->total.oldest;
	ret->newest_ns = o->total.newest;
	ret->filtered = left->filtered;
	ret->undecided = left->undecided;
	ret->damaged = left->damaged;
	ret->unprinted = left->unprinted;
	ret->text_bytes = left->text_bytes;
	ret->complete = !o->in.partial;
	ret->stopped = (uint32_t)atomic_load(&o->watch.stopped);
	ret->blocks = o->total.blocks;
}

const uint32_t *pdet_owners_keys(const struct pdet_owners *o, unsigned *n)
{
	*n = o->asked.n_by;
	return o->asked.by;
}
