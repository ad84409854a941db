/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* From a path to groups: opens, names, merges, pairs, sorts. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocs/allocs.h"
#include "allocs/keys.h"
#include "allocs/pairing.h"
#include "base/text/text.h"
#include "schema/watch.h"
#include "trace/trace.h"

#define MOST_ORDERS 8u

/* A sort key. */
struct order {
	int sum;		/* offset in struct pdet_alloc_sum; WASTE; or
				 * KEY */
	unsigned key;
	bool reverse;
};

#define WASTE (-1)
#define KEY (-2)

struct pdet_allocs {
	struct pdet_watch watch;
	struct pdet_alloc_keys keys;
	struct pdet_trace_names names;
	struct pdet_pairing pairing;
	struct pdet_trace_loss loss;
	struct pdet_alloc_sum sum;
	uint64_t begin_ns, end_ns;
	bool no_ns, hashed;	/* as in struct pdet_trace, as the next */
	struct pdet_trace_kernel kernel;
	bool has_own_names;	/* those of the trace */
	uint32_t *order;	/* groups as they are listed */
	struct order by[MOST_ORDERS];
	unsigned n_by;
	size_t at;
};

static const struct {
	const char *name;
	int at;
} sums[] = {
#define SUM(name) { #name, offsetof(struct pdet_alloc_sum, name) }
	SUM(times), SUM(requested), SUM(allocated), SUM(unsized), SUM(freed),
	SUM(replaced), SUM(live), SUM(live_bytes), SUM(failed), SUM(cross_cpu),
	SUM(mismatched), SUM(less), SUM(lifetime_ns), { "waste", WASTE },
#undef SUM
};

/* --- the question --- */

static int take_keys(struct pdet_allocs *a, struct pdet_env *env,
		     const struct pagedet_allocs_query *q)
{
	static const uint32_t by_site = PAGEDET_ALLOC_SITE;
	const uint32_t *by = q->by ? q->by : &by_site;
	const uint64_t n = q->by ? q->n_by : 1;
	uint64_t i, j;

	if (!n || n > PAGEDET_ALLOC_KEYS)
		return pdet_fail(env, EINVAL, "%llu keys: from 1 to %u can be "
				 "grouped by", (unsigned long long)n,
				 PAGEDET_ALLOC_KEYS);
	for (i = 0; i < n; i++) {
		if (!pdet_alloc_key_name(by[i]))
			return pdet_fail(env, EINVAL, "there is no key %u of "
					 "allocations", by[i]);
		for (j = 0; j < i; j++)
			if (by[i] == by[j])
				return pdet_fail(env, EINVAL,
						 "the key %s is there twice",
						 pdet_alloc_key_name(by[i]));
		a->keys.by[i] = by[i];
	}
	a->keys.groups.n_keys = (unsigned)n;
	return 0;
}

/* --- names --- */

/*
 * Takes over @text. A kallsyms that a trace has beside it may hide all, or be
 * damaged: then there are no names.
 */
static int take_names(struct pdet_allocs *a, struct pdet_env *env,
		      struct pdet_text *text, const char *name, bool optional)
{
	const int r = pdet_trace_names_read(&a->names, text->data, text->len);

	*text = (struct pdet_text){ 0 };
	if (r == 0) {
		a->keys.names = &a->names;
		return 0;
	}
	if (r != -ENOMEM && optional)
		return 0;
	if (r == -EACCES)
		return pdet_fail(env, EACCES, "%s hides all addresses: it must "
				 "be copied as root", name);
	if (r == -EBADMSG)
		return pdet_fail(env, EBADMSG, "%s is not a copy of "
				 "/proc/kallsyms", name);
	return pdet_fail(env, ENOMEM, "no memory");
}

static int read_names(struct pdet_allocs *a, struct pdet_env *env,
		      const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct pdet_text text;
	int r;

	if (fd < 0)
		return pdet_fail_errno(env, "cannot open %s", path);
	r = pdet_slurp_fd(fd, &text, PDET_TRACE_MOST_NAMES);
	close(fd);
	if (r == 0)
		return take_names(a, env, &text, path, false);
	errno = -r;
	return pdet_fail_errno(env, "cannot read %s", path);
}

/* Lines "TID NAME". It has only those that ran last. */
static bool take_comms(struct pdet_allocs *a, const struct pdet_text *text)
{
	struct pdet_scan all = { text->data, text->data + text->len }, line;
	uint64_t tid;

	while (pdet_scan_line(&all, &line))
		if (pdet_scan_dec(&line, &tid) && pdet_scan_char(&line, ' ') &&
		    !pdet_alloc_keys_comm(&a->keys, tid, line.at,
					  (size_t)(line.end - line.at)))
			return false;
	return true;
}

/* --- events --- */

static void note_times(struct pdet_allocs *a, const struct pdet_kmem_event *e,
		       int n)
{
	int i = 0;

	if (!a->end_ns) {
		/* A name may be of any time. */
		while (i < n && e[i].kind >= PDET_KMEM_NAME)
			i++;
		if (i == n)
			return;
		a->begin_ns = e[i].ns;
	}
	a->end_ns = PDET_MAX(a->end_ns, e[n - 1].ns);
}

static void add_losses(struct pdet_allocs *a, const struct pdet_trace *t)
{
	size_t i;

	for (i = 0; i < t->n_streams; i++) {
		const struct pdet_trace_loss *l = &t->streams[i]->loss;

		a->loss.lost += l->lost;
		a->loss.unknown += l->unknown;
		a->loss.uncounted += l->uncounted;
		a->loss.missing += l->missing;
		a->loss.cut += l->cut;
		a->loss.damaged += l->damaged;
		a->loss.strange += l->strange;
		a->loss.disorder += l->disorder;
		a->loss.other += l->other;
	}
}

static uint64_t bytes_left(const struct pdet_trace *t)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < t->n_streams; i++)
		n += t->streams[i]->end - t->streams[i]->offset;
	return n;
}

static int add_events(struct pdet_allocs *a, struct pdet_env *env,
		      const struct pdet_trace *t,
		      struct pdet_trace_merge *m)
{
	const struct pdet_kmem_event *e;
	int n;

	while ((n = pdet_trace_merge_next(m, &e)) > 0) {
		/* A stream may say it, in front of its events. */
		if (!a->pairing.page_size)
			a->pairing.page_size = t->page_size;
		note_times(a, e, n);
		if (pdet_pairing_add(&a->pairing, e, (size_t)n) < 0)
			return pdet_fail(env, ENOMEM, "no memory");
	}
	return n;
}

struct watching {
	struct pdet_allocs *a;
	const struct pdet_trace *t;
	unsigned steps;
};

static bool is_stopped(void *arg)
{
	struct watching *w = arg;

	if (atomic_load(&w->a->watch.stopped))
		return true;
	if (++w->steps % 64)
		return false;
	atomic_store(&w->a->watch.done, w->a->watch.total - bytes_left(w->t));
	return pdet_watch_stopped(&w->a->watch, true, NULL);
}

static int read_events(struct pdet_allocs *a, struct pdet_env *env,
		       struct pdet_trace *t)
{
	struct watching w = { a, t, 0 };
	struct pdet_trace_merge m = { .stopped = is_stopped, .arg = &w };
	int r;

	a->watch.total = bytes_left(t);
	r = pdet_trace_merge_begin(&m, t->streams, t->n_streams);
	if (r == -ENOMEM)
		r = pdet_fail(env, ENOMEM, "no memory");
	if (r == 0)
		r = add_events(a, env, t, &m);
	pdet_trace_merge_end(&m);
	add_losses(a, t);
	return r;
}

static int read_trace(struct pdet_allocs *a, struct pdet_env *env,
		      const struct pagedet_allocs_query *q)
{
	struct pdet_trace *t;
	int r = pdet_trace_open(env, q->path, &t);

	if (r < 0)
		return r;
	a->pairing.page_size = q->page_size;
	if (q->page_size && t->page_size && q->page_size != t->page_size)
		r = pdet_fail(env, EINVAL, "%s says that its pages have %llu "
			      "bytes", q->path,
			      (unsigned long long)t->page_size);
	if (r == 0 && q->kallsyms) {
		r = read_names(a, env, q->kallsyms);
	} else if (r == 0 && t->kallsyms.data) {
		r = take_names(a, env, &t->kallsyms, "the trace's kallsyms",
			       true);
		a->has_own_names = a->keys.names;
	}
	if (r == 0 && !take_comms(a, &t->cmdlines))
		r = pdet_fail(env, ENOMEM, "no memory");
	if (r == 0)
		r = read_events(a, env, t);
	a->no_ns = t->no_ns;
	a->hashed = t->hashed;
	a->kernel = t->kernel;
	/* Wrong names would look as good as right ones. */
	if (r == 0 && a->keys.names &&
	    !pdet_trace_names_fit(a->keys.names, &t->kernel))
		r = pdet_fail(env, EBADMSG, "the names are of another boot or "
			      "kernel: %s, or the end of the code, is at "
			      "another address in %s", t->kernel.symbol,
			      q->path);
	pdet_trace_free(t);
	return r;
}

/* --- order --- */

static uint64_t number(const struct pdet_alloc_sum *s, int at)
{
	uint64_t v;

	if (at == WASTE)
		return s->allocated - PDET_MIN(s->allocated, s->requested);
	memcpy(&v, (const char *)s + at, sizeof(v));
	return v;
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct pdet_allocs *a = arg;
	const uint32_t x = *(const uint32_t *)pa, y = *(const uint32_t *)pb;
	unsigned i;
	int r;

	for (i = 0; i < a->n_by; i++) {
		const struct order *by = &a->by[i];

		if (by->sum == KEY) {
			r = pdet_groups_compare_key(&a->keys.groups, x, y,
						    by->key);
		} else {
			const uint64_t vx = number(&a->pairing.sums.data[x],
						   by->sum);
			const uint64_t vy = number(&a->pairing.sums.data[y],
						   by->sum);

			r = (vx < vy) - (vx > vy);
		}
		if (r)
			return by->reverse ? -r : r;
	}
	return pdet_groups_compare(&a->keys.groups, x, y);
}

static bool is_word(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

static bool find_order(const struct pdet_allocs *a, const char *word,
		       size_t len, struct order *ret)
{
	unsigned i;

	for (i = 0; i < a->keys.groups.n_keys; i++)
		if (is_word(word, len, pdet_alloc_key_name(a->keys.by[i]))) {
			ret->sum = KEY;
			ret->key = i;
			return true;
		}
	for (i = 0; i < PDET_COUNT(sums); i++)
		if (is_word(word, len, sums[i].name)) {
			ret->sum = sums[i].at;
			return true;
		}
	return false;
}

static int parse_order(const struct pdet_allocs *a, struct pdet_env *env,
		       const char *keys, struct order *by, unsigned *n)
{
	size_t len;

	for (*n = 0;; keys += len + 1) {
		struct order order = { .reverse = *keys == '-' };

		keys += order.reverse;
		len = strcspn(keys, ",");
		if (!find_order(a, keys, len, &order))
			return pdet_fail(env, EINVAL, "cannot sort by '%.*s': "
					 "it is not a sum, nor a key of these "
					 "groups", (int)len, keys);
		if (*n == MOST_ORDERS)
			return pdet_fail(env, EINVAL, "cannot sort by more "
					 "than %u keys", MOST_ORDERS);
		by[(*n)++] = order;
		if (!keys[len])
			return 0;
	}
}

int pdet_allocs_order(struct pdet_allocs *a, struct pdet_env *env,
		      const char *keys)
{
	struct order by[MOST_ORDERS];
	const size_t n = a->keys.groups.n;
	uint32_t *order;
	unsigned n_by;
	size_t i;
	int r = parse_order(a, env, keys ? keys : "allocated", by, &n_by);

	if (r < 0)
		return r;
	order = calloc(n + 1, sizeof(*order));
	if (!order)
		return pdet_fail(env, ENOMEM, "no memory");
	for (i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	memcpy(a->by, by, sizeof(by));
	a->n_by = n_by;
	qsort_r(order, n, sizeof(*order), compare, a);
	free(a->order);
	a->order = order;
	a->at = 0;
	return 0;
}

/* --- answers --- */

static void add_up(struct pdet_allocs *a)
{
	size_t i, k;

	for (i = 0; i < a->pairing.sums.n; i++)
		for (k = 0; k < sizeof(a->sum) / sizeof(uint64_t); k++)
			((uint64_t *)&a->sum)[k] +=
				((uint64_t *)&a->pairing.sums.data[i])[k];
}

int pdet_allocs_new(struct pdet_env *env, const struct pagedet_allocs_query *q,
		    struct pdet_allocs **ret)
{
	struct pdet_allocs *a;
	int r;

	if (!q->path)
		return pdet_fail(env, EINVAL, "there is no path of a trace");
	a = calloc(1, sizeof(*a));
	if (!a)
		return pdet_fail(env, ENOMEM, "no memory");
	pdet_watch_init(&a->watch, q->deadline_ns, q->progress,
			q->progress_user, q->progress_ns);
	a->pairing.group = pdet_alloc_keys_group;
	a->pairing.arg = &a->keys;
	r = take_keys(a, env, q);
	if (r == 0)
		r = read_trace(a, env, q);
	if (r == 0)
		r = pdet_allocs_order(a, env, NULL);
	if (r < 0) {
		pdet_allocs_free(a);
		return r;
	}
	add_up(a);
	*ret = a;
	return 0;
}

void pdet_allocs_free(struct pdet_allocs *a)
{
	if (!a)
		return;
	pdet_pairing_free(&a->pairing);
	pdet_alloc_keys_free(&a->keys);
	pdet_trace_names_free(&a->names);
	free(a->order);
	free(a);
}

#define SUMS(to, from) \
	((to)->times = (from)->times, (to)->requested = (from)->requested, \
	 (to)->allocated = (from)->allocated, \
	 (to)->unsized = (from)->unsized, (to)->freed = (from)->freed, \
	 (to)->replaced = (from)->replaced, (to)->live = (from)->live, \
	 (to)->live_bytes = (from)->live_bytes, (to)->failed = (from)->failed, \
	 (to)->cross_cpu = (from)->cross_cpu, \
	 (to)->mismatched = (from)->mismatched, (to)->less = (from)->less, \
	 (to)->lifetime_ns = (from)->lifetime_ns)

int pdet_allocs_next(struct pdet_allocs *a, struct pagedet_alloc_group *ret)
{
	const struct pdet_groups *g = &a->keys.groups;
	const struct pdet_alloc_sum *sum;
	size_t group;
	unsigned i;

	if (a->at == g->n)
		return 0;
	group = a->order[a->at++];
	sum = &a->pairing.sums.data[group];
	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	SUMS(ret, sum);
	for (i = 0; i < g->n_keys; i++) {
		ret->value[i] = pdet_groups_value(g, group)[i];
		ret->state[i] = pdet_groups_state(g, group)[i];
	}
	return 1;
}

const char *pdet_allocs_text(const struct pdet_allocs *a, uint64_t id,
			     size_t *len)
{
	return pdet_groups_text(&a->keys.groups, id, len);
}

const uint32_t *pdet_allocs_keys(const struct pdet_allocs *a, unsigned *n)
{
	*n = a->keys.groups.n_keys;
	return a->keys.by;
}

const struct pdet_live *pdet_allocs_live(struct pdet_allocs *a, bool pages,
					 size_t *n)
{
	struct pdet_live_table *t = pages ? &a->pairing.pages :
					    &a->pairing.objects;

	*n = t->n;
	return pdet_live_list(t);
}

unsigned pdet_allocs_key(const struct pdet_allocs *a,
			 const struct pdet_live *live, uint32_t key,
			 uint64_t *ret)
{
	const struct pdet_groups *g = &a->keys.groups;
	unsigned i;

	for (i = 0; i < g->n_keys; i++)
		if (a->keys.by[i] == key) {
			*ret = pdet_groups_value(g, live->group)[i];
			return pdet_groups_state(g, live->group)[i];
		}
	return PAGEDET_UNSUPPORTED;
}

bool pdet_allocs_counts_ns(const struct pdet_allocs *a)
{
	return !a->no_ns;
}

uint64_t pdet_allocs_end_ns(const struct pdet_allocs *a)
{
	return a->end_ns;
}

bool pdet_allocs_hides(const struct pdet_allocs *a)
{
	return a->hashed;
}

bool pdet_allocs_symbol(const struct pdet_allocs *a, const char *name,
			uint64_t *ret)
{
	if (!strcmp(a->kernel.symbol, name)) {
		*ret = a->kernel.address;
		return true;
	}
	/* Other names may be of another boot. */
	return a->has_own_names &&
	       pdet_trace_names_address(a->keys.names, name, ret);
}

void pdet_allocs_total(const struct pdet_allocs *a,
		       struct pagedet_allocs_total *ret)
{
	const struct pdet_alloc_rest *rest = &a->pairing.rest;
	unsigned kind;

	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	ret->groups = a->keys.groups.n;
	SUMS(ret, &a->sum);
	for (kind = 0; kind < PDET_KMEM_NAME; kind++)
		ret->events += rest->event[kind];
	ret->other = a->loss.other;
	ret->freed_unknown = rest->freed_unknown[0];
	ret->pages_unknown = rest->freed_unknown[1];
	ret->freed_nothing = rest->freed_nothing;
	ret->early = rest->early;
	ret->begin_ns = a->begin_ns;
	ret->end_ns = a->end_ns;
	ret->lost = a->loss.lost;
	ret->gaps = a->loss.unknown;
	ret->uncounted = a->loss.uncounted;
	ret->missing = a->loss.missing;
	ret->cut_bytes = a->loss.cut;
	ret->damaged = a->loss.damaged;
	ret->strange = a->loss.strange;
	ret->disorder = a->loss.disorder;
	ret->sites = a->keys.sites.n;
	ret->unnamed = a->keys.unnamed;
	ret->untold = a->keys.untold;
	ret->stopped = (uint32_t)atomic_load(&a->watch.stopped);
	ret->complete = !ret->stopped;
	ret->no_ns = a->no_ns;
	ret->hashed = a->hashed;
}
