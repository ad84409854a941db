/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* From a path to objects or groups: opens, names, adds up, sorts. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/ranking.h"
#include "kmap/kmap.h"
#include "kmap/object.h"
#include "kmap/own.h"
#include "kmap/places.h"
#include "kmap/sums.h"

/* Room for a place with its module. */
#define PLACE_TEXT (PDET_NAMING_TEXT + 128)

struct pdet_kmap {
	struct pdet_watch watch;
	struct pdet_kmap_reader reader;
	struct pdet_kmap_keys keys;
	struct pdet_kmap_sums sums; /* by group */
	struct pdet_kmap_sum sum;
	uint32_t only;		/* as in the query */
	uint64_t filtered, undecided; /* objects that do not match */
	uint64_t nested_bytes, preallocated, unnamed;
	bool saturated, ended, named;
	size_t access;		/* the next one of the object */
	char *path;
	char site[PLACE_TEXT], free_site[PLACE_TEXT], access_site[PLACE_TEXT];
	/* Of the KMAP that this one was compared with. */
	bool compared;
	struct pdet_kmap_sums before; /* by group of this one */
	struct pdet_kmap_sum sum_before;
	uint32_t *order;	/* groups as they are listed */
	size_t n_order, at;
};

static const struct {
	const char *name;
	size_t at;
} sums[] = {
#define SUM(name) { #name, offsetof(struct pdet_kmap_sum, name) },
	PDET_KMAP_EACH_SUM(SUM)
#undef SUM
};

/* --- the question --- */

/* Without keys there are no groups. */
static int take_keys(struct pdet_kmap_keys *k, struct pdet_env *env,
		     const struct pagedet_kmap_query *q)
{
	int r;

	k->hz = q->hz;
	if (!q->by)
		return 0;
	r = pdet_groups_check(env, q->by, q->n_by, PAGEDET_KMAP_KEYS,
			      pdet_kmap_key_name, "a KMAP");
	if (r < 0)
		return r;
	k->n_by = k->places.groups.n_keys = (unsigned)q->n_by;
	memcpy(k->by, q->by, k->n_by * sizeof(*k->by));
	return 0;
}

static int take_filter(struct pdet_kmap *k, struct pdet_env *env,
		       const struct pagedet_kmap_query *q)
{
	if (q->reserved)
		return pdet_fail(env, E2BIG, "a KMAP does not have this "
				 "option");
	if (q->only > PAGEDET_KMAP_FOREIGN)
		return pdet_fail(env, EINVAL, "there is no filter %u of "
				 "objects", q->only);
	if (q->only && !q->kallsyms)
		return pdet_fail(env, EINVAL, "modules are known only with a "
				 "kallsyms");
	k->only = q->only;
	return 0;
}

/* --- sums --- */

static const char *sum_name(unsigned sum)
{
	return sum < PDET_COUNT(sums) ? sums[sum].name : NULL;
}

static uint64_t sum_of(const void *arg, uint32_t group, unsigned sum,
		       bool before)
{
	const struct pdet_kmap *k = arg;
	const struct pdet_kmap_sum *s = before ? &k->before.data[group] :
						 &k->sums.data[group];
	uint64_t v;

	memcpy(&v, (const char *)s + sums[sum].at, sizeof(v));
	return v;
}

static bool is_empty(const void *arg, uint32_t group)
{
	const struct pdet_kmap *k = arg;

	return !k->sums.data[group].objects &&
	       (!k->compared || !k->before.data[group].objects);
}

int pdet_kmap_order(struct pdet_kmap *k, struct pdet_env *env,
		    const char *keys)
{
	const struct pdet_ranking ranking = {
		.groups = &k->keys.places.groups, .n = k->sums.n,
		.key_name = pdet_kmap_key_name, .by = k->keys.by,
		.sum_name = sum_name, .sum = sum_of, .is_empty = is_empty,
		.arg = k, .compared = k->compared,
	};
	const char *usual = k->compared ? "bytes_grown" : "bytes";
	uint32_t *order;
	size_t n;
	int r;

	if (!k->keys.n_by)
		return pdet_fail(env, EINVAL, "the objects are not grouped");
	r = pdet_rank(&ranking, env, keys ? keys : usual, &order, &n);
	if (r < 0)
		return r;
	free(k->order);
	k->order = order;
	k->n_order = n;
	k->at = 0;
	return 0;
}

static void count(struct pdet_kmap *k)
{
	const struct pdet_kmap_object *o = &k->reader.object;

	pdet_kmap_sum_object(&k->sum, &o->line, k->reader.dialect,
			     &k->saturated);
	k->sum.accesses += o->n_accesses;
	k->sum.reads = pdet_kmap_add(k->sum.reads, o->reads, &k->saturated);
	k->sum.writes = pdet_kmap_add(k->sum.writes, o->writes, &k->saturated);
	k->preallocated += pdet_kmap_origin(&o->line, k->reader.dialect) ==
			   PAGEDET_KMAP_PREALLOCATED;
	if (pdet_kmap_is_nested(&o->line))
		k->nested_bytes = pdet_kmap_add(k->nested_bytes,
						o->line.bytes, &k->saturated);
}

/* 1 if the object matches the filter, 0, or -ENOMEM. */
static int matches(struct pdet_kmap *k, struct pdet_env *env)
{
	const enum pdet_kmap_own own = k->only ?
		pdet_kmap_own(&k->keys, &k->reader.object) : PDET_KMAP_OWN;

	if (own == PDET_KMAP_NO_MEMORY)
		return pdet_fail(env, ENOMEM, "no memory");
	if (!k->only || (k->only == PAGEDET_KMAP_OWN ?
			 own == PDET_KMAP_OWN : own == PDET_KMAP_FOREIGN))
		return 1;
	if (own == PDET_KMAP_UNDECIDED)
		k->undecided++;
	else
		k->filtered++;
	return 0;
}

/* 1 and an object that counts, 0 at the end, or an error. */
static int read_object(struct pdet_kmap *k, struct pdet_env *env)
{
	int r, match = 0;

	k->access = 0;
	do {
		r = k->ended ? 0 : pdet_kmap_read(&k->reader, env);
		if (r > 0)
			match = matches(k, env);
		if (match < 0)
			r = match;
	} while (r > 0 && !match);
	if (r > 0)
		count(k);
	else
		k->ended = true;
	return r;
}

static int check_names(struct pdet_kmap *k, struct pdet_env *env)
{
	static const struct pdet_trace_kernel untold;

	return pdet_naming_check(&k->keys.places.naming, env, &untold,
				 k->path);
}

static int read_groups(struct pdet_kmap *k, struct pdet_env *env)
{
	int r;

	while ((r = read_object(k, env)) > 0)
		if (!pdet_kmap_sums_add(&k->sums, &k->keys, &k->reader.object))
			return pdet_fail(env, ENOMEM, "no memory");
	if (r == 0)
		r = check_names(k, env);
	return r < 0 ? r : pdet_kmap_order(k, env, NULL);
}

static int open_kmap(struct pdet_kmap *k, struct pdet_env *env,
		     const struct pagedet_kmap_query *q)
{
	int r = take_keys(&k->keys, env, q);

	k->named = q->kallsyms || q->vmlinux;
	if (r == 0)
		r = take_filter(k, env, q);
	k->path = strdup(q->path);
	if (r == 0 && !k->path)
		r = pdet_fail(env, ENOMEM, "no memory");
	if (r == 0 && q->kallsyms)
		r = pdet_naming_kallsyms(&k->keys.places.naming, env,
					 q->kallsyms);
	if (r == 0 && q->vmlinux)
		r = pdet_kmap_vmlinux(&k->keys.places.naming, env, q->path,
				      q->vmlinux, &k->watch);
	if (r == 0)
		r = pdet_kmap_reader_open(&k->reader, env, q->path, &k->watch);
	k->keys.dialect = k->reader.dialect;
	return r < 0 || !k->keys.n_by ? r : read_groups(k, env);
}

int pdet_kmap_new(struct pdet_env *env, const struct pagedet_kmap_query *q,
		  struct pdet_kmap **ret)
{
	struct pdet_kmap *k;
	int r;

	if (!q->path)
		return pdet_fail(env, EINVAL, "there is no path of a KMAP");
	k = calloc(1, sizeof(*k));
	if (!k)
		return pdet_fail(env, ENOMEM, "no memory");
	pdet_watch_init(&k->watch, q->deadline_ns, q->progress,
			q->progress_user, q->progress_ns);
	k->keys.places.naming.kaslr = PAGEDET_NONE;
	r = open_kmap(k, env, q);
	if (r < 0) {
		pdet_kmap_free(k);
		return r;
	}
	*ret = k;
	return 0;
}

void pdet_kmap_free(struct pdet_kmap *k)
{
	if (!k)
		return;
	pdet_kmap_reader_close(&k->reader);
	pdet_alloc_keys_free(&k->keys.places);
	pdet_kmap_sums_free(&k->sums);
	pdet_kmap_sums_free(&k->before);
	free(k->order);
	free(k->path);
	free(k);
}

/* --- objects --- */

/* Writes the name of a place, or its address. */
static const char *name(struct pdet_kmap *k, char text[PLACE_TEXT],
			const struct pdet_kmap_place *p, bool is_call)
{
	struct pdet_naming *naming = &k->keys.places.naming;
	const uint64_t impossible = naming->impossible;
	struct pdet_named f;

	if (p->hidden)
		return "";
	if (p->hashed || !pdet_naming_find(naming, p->address, &f)) {
		k->unnamed += !p->hashed;
		snprintf(text, PLACE_TEXT, "%#" PRIx64, p->address);
	} else {
		pdet_named_text(&f, text, PLACE_TEXT);
	}
	/* Only a place behind a call proves that names are wrong. */
	if (!is_call)
		naming->impossible = impossible;
	return text;
}

static const char *name_site(struct pdet_kmap *k,
			     const struct pdet_kmap_line *l, unsigned origin)
{
	if (origin == PAGEDET_KMAP_CALL || l->site.hashed)
		return name(k, k->site, &l->site, true);
	return origin == PAGEDET_KMAP_UNTOLD ? "" : pdet_kmap_code(origin);
}

static void answer(struct pdet_kmap *k, struct pagedet_kmap_object *ret)
{
	const struct pdet_kmap_object *o = &k->reader.object;
	const struct pdet_kmap_line *l = &o->line;
	const unsigned origin = pdet_kmap_origin(l, k->reader.dialect);
	const unsigned end = pdet_kmap_end(l);

	*ret = (struct pagedet_kmap_object){
		.size = sizeof(*ret),
		.address = l->va.hashed ? 0 : l->va.address,
		.bytes = l->bytes, .origin = origin, .end = end,
		.site = origin == PAGEDET_KMAP_CALL ? l->site.address : 0,
		.free_site = end == PAGEDET_KMAP_FREED ?
			     l->free_site.address : 0,
		.alloc_index = l->alloc_index, .free_index = l->free_index,
		.reads = o->reads, .writes = o->writes,
		.accesses = o->n_accesses,
		.site_name = name_site(k, l, origin),
		.free_site_name = end == PAGEDET_KMAP_FREED ?
				  name(k, k->free_site, &l->free_site, true) :
				  "",
		.type = l->type.at, .command = l->command.at,
		.cache = pdet_kmap_has_cache(l) ? l->cache.at : "",
		.replaced_by = l->replaced_by.at,
		.pid = pdet_kmap_is_interrupt(l) || !pdet_kmap_has_thread(l) ?
		       -1 : l->pid,
		.nested = pdet_kmap_is_nested(l),
		.hidden = l->va.hidden || l->va.hashed,
	};
}

int pdet_kmap_next(struct pdet_kmap *k, struct pdet_env *env,
		   struct pagedet_kmap_object *ret)
{
	int r;

	if (k->keys.n_by)
		return pdet_fail(env, EINVAL, "the objects are grouped");
	r = read_object(k, env);
	if (r <= 0)
		return r;
	answer(k, ret);
	r = check_names(k, env);
	return r < 0 ? r : 1;
}

int pdet_kmap_next_access(struct pdet_kmap *k, struct pagedet_kmap_access *ret)
{
	const struct pdet_kmap_object *o = &k->reader.object;
	const struct pdet_kmap_access *a;

	if (k->keys.n_by || k->ended || k->access == o->accesses.n)
		return 0;
	a = &o->accesses.data[k->access++];
	*ret = (struct pagedet_kmap_access){
		.size = sizeof(*ret),
		.site = a->site.hashed ? 0 : a->site.address,
		.reads = a->reads, .writes = a->writes, .pid = a->pid,
		.site_name = name(k, k->access_site, &a->site, false),
	};
	return 1;
}

unsigned pdet_kmap_lifetime_of(const struct pdet_kmap *k, uint64_t *ret)
{
	return pdet_kmap_lifetime(&k->reader.object.line, k->reader.dialect,
				  k->keys.hz, ret);
}

bool pdet_kmap_nested_told(const struct pdet_kmap *k)
{
	return pdet_kmap_tells_nested(&k->reader.object.line);
}

const char *pdet_kmap_lifetime_name(const struct pdet_kmap *k)
{
	return k->keys.hz ? "lifetime_ns" : "lifetime_jiffies";
}

/* --- groups --- */

static bool match(struct pdet_kmap *k, const struct pdet_kmap *from,
		  struct pdet_kmap_sums *ret)
{
	struct pdet_groups *g = &k->keys.places.groups;
	const struct pdet_groups *old = &from->keys.places.groups;
	bool ok = pdet_groups_add_texts(g, old);
	int64_t at;
	size_t i;

	for (i = 0; ok && i < from->sums.n; i++) {
		if (!from->sums.data[i].objects)
			continue;
		at = pdet_groups_find(g, pdet_groups_value(old, i),
				      pdet_groups_state(old, i));
		ok = at >= 0 && pdet_kmap_sums_fill(ret, (size_t)at + 1);
		if (ok)
			ret->data[at] = from->sums.data[i];
	}
	return ok && pdet_kmap_sums_fill(ret, g->n) &&
	       pdet_kmap_sums_fill(&k->sums, g->n);
}

/* Whether the same value of a key means the same in both. */
static int check_values(const struct pdet_kmap *k, struct pdet_env *env,
			const struct pdet_kmap *before)
{
	const unsigned n = k->keys.n_by;

	if (!n || n != before->keys.n_by || k->keys.hz != before->keys.hz ||
	    memcmp(k->keys.by, before->keys.by, n * sizeof(*k->keys.by)))
		return pdet_fail(env, EINVAL, "cannot compare KMAPs: they are "
				 "not grouped by the same keys");
	if (!pdet_kmap_keys_has_places(&k->keys))
		return 0;
	if (k->named != before->named)
		return pdet_fail(env, EINVAL, "cannot compare KMAPs: only one "
				 "of them has names of places");
	if (k->reader.seen.hashed || before->reader.seen.hashed)
		return pdet_fail(env, EBADMSG, "cannot compare places: the "
				 "kernel has hashed their addresses, with a "
				 "key of one boot; its option "
				 "no_hash_pointers shows them");
	return 0;
}

int pdet_kmap_compare(struct pdet_kmap *k, struct pdet_env *env,
		      const struct pdet_kmap *before)
{
	const int r = check_values(k, env, before);
	struct pdet_kmap_sums matched = { 0 };

	if (r < 0)
		return r;
	if (!match(k, before, &matched)) {
		pdet_kmap_sums_free(&matched);
		return pdet_fail(env, ENOMEM, "no memory");
	}
	pdet_kmap_sums_free(&k->before);
	k->before = matched;
	k->sum_before = before->sum;
	k->compared = true;
	return pdet_kmap_order(k, env, NULL);
}

/* To an answer, from the sum @now. */
#define COPY(name) ret->name = now->name;

#define SUMS_BEFORE(to, from) \
	((to)->objects_before = (from)->objects, \
	 (to)->bytes_before = (from)->bytes, \
	 (to)->live_before = (from)->live, \
	 (to)->live_bytes_before = (from)->live_bytes, \
	 (to)->reads_before = (from)->reads, \
	 (to)->writes_before = (from)->writes)

int pdet_kmap_next_group(struct pdet_kmap *k, struct pagedet_kmap_group *ret)
{
	const struct pdet_groups *g = &k->keys.places.groups;
	const struct pdet_kmap_sum *now;
	size_t group;
	unsigned i;

	if (k->at == k->n_order)
		return 0;
	group = k->order[k->at++];
	now = &k->sums.data[group];
	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	PDET_KMAP_EACH_SUM(COPY)
	if (k->compared)
		SUMS_BEFORE(ret, &k->before.data[group]);
	for (i = 0; i < k->keys.n_by; i++) {
		ret->value[i] = pdet_groups_value(g, group)[i];
		ret->state[i] = pdet_groups_state(g, group)[i];
	}
	return 1;
}

const char *pdet_kmap_text(const struct pdet_kmap *k, uint64_t id, size_t *len)
{
	return pdet_groups_text(&k->keys.places.groups, id, len);
}

const uint32_t *pdet_kmap_keys(const struct pdet_kmap *k, unsigned *n)
{
	*n = k->keys.n_by;
	return k->keys.by;
}

void pdet_kmap_total(const struct pdet_kmap *k, struct pagedet_kmap_total *ret)
{
	const struct pdet_kmap_seen *seen = &k->reader.seen;
	const struct pdet_kmap_sum *now = &k->sum;

	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	ret->groups = k->n_order;
	PDET_KMAP_EACH_SUM(COPY)
	SUMS_BEFORE(ret, &k->sum_before);
	ret->nested_bytes = k->nested_bytes;
	ret->preallocated = k->preallocated;
	ret->lines = seen->lines;
	ret->strange = seen->strange;
	ret->strange_line = seen->strange_line;
	ret->orphans = seen->orphans;
	ret->orphan_line = seen->orphan_line;
	ret->dropped = seen->dropped;
	ret->hashed = seen->hashed;
	ret->unnamed = k->keys.n_by ? k->keys.places.unnamed : k->unnamed;
	ret->untold = k->keys.untold;
	ret->filtered = k->filtered;
	ret->undecided = k->undecided;
	ret->dialect = k->reader.dialect;
	ret->cut = seen->cut;
	ret->saturated = k->saturated || seen->saturated || k->sums.saturated;
	ret->stopped = (uint32_t)atomic_load(&k->watch.stopped);
	ret->complete = k->ended && !ret->stopped;
	ret->compared = k->compared;
	ret->kaslr_offset = k->keys.places.naming.kaslr_offset;
	ret->kaslr = k->keys.places.naming.kaslr;
}
