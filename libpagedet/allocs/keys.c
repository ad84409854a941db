/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Texts become ids once: a place of a call is named when it comes first. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "allocs/keys.h"
#include "allocs/pairing.h"
#include "base/env.h"
#include "base/hash.h"

static const struct {
	const char *name;
	bool is_text;
	bool of_site;		/* follows from the site, and the kind */
} keys[] = {
	[PAGEDET_ALLOC_SITE] = { "site", true, true },
	[PAGEDET_ALLOC_FUNCTION] = { "function", true, true },
	[PAGEDET_ALLOC_MODULE] = { "module", true, true },
	[PAGEDET_ALLOC_CACHE] = { "cache", true, false },
	[PAGEDET_ALLOC_FAMILY] = { "family", true, true },
	[PAGEDET_ALLOC_CPU] = { "cpu", false, false },
	[PAGEDET_ALLOC_NODE] = { "node", false, false },
	[PAGEDET_ALLOC_TID] = { "tid", false, false },
	[PAGEDET_ALLOC_COMM] = { "comm", true, false },
	[PAGEDET_ALLOC_GFP] = { "gfp", false, false },
	[PAGEDET_ALLOC_ORDER] = { "order", false, false },
	[PAGEDET_ALLOC_MIGRATETYPE] = { "migratetype", false, false },
	[PAGEDET_ALLOC_BYTES_REQ] = { "bytes_req", false, false },
	[PAGEDET_ALLOC_BYTES_ALLOC] = { "bytes_alloc", false, false },
	[PAGEDET_ALLOC_LIFETIME] = { "lifetime", false, false },
	[PAGEDET_ALLOC_WINDOW] = { "window", false, false },
	[PAGEDET_ALLOC_STACK] = { "stack", true, false },
};

/* A value of one key. */
struct value {
	uint64_t value;
	uint8_t state;
};

static const struct value nothing = { 0, PAGEDET_NONE };
static const struct value untold = { 0, PAGEDET_UNSUPPORTED };
static const struct value too_many = { 0, PAGEDET_TOO_COSTLY };

static struct value have(uint64_t value)
{
	return (struct value){ value, PAGEDET_HAVE };
}

const char *pdet_alloc_key_name(uint32_t key)
{
	return key < PDET_COUNT(keys) ? keys[key].name : NULL;
}

bool pdet_alloc_key_is_text(uint32_t key)
{
	return key < PDET_COUNT(keys) && keys[key].is_text;
}

int pdet_alloc_keys_check(struct pdet_env *env, const uint32_t *by, uint64_t n)
{
	return pdet_groups_check(env, by, n, PAGEDET_ALLOC_KEYS,
				 pdet_alloc_key_name, "allocations");
}

/* The id of a text; 0 without memory. */
static uint64_t keep(struct pdet_alloc_keys *k, const char *text, size_t n)
{
	const uint64_t id = pdet_hash(text, n);

	return pdet_groups_keep(&k->groups, id, text, n) ? id : 0;
}

bool pdet_alloc_keys_comm(struct pdet_alloc_keys *k, uint64_t tid,
			  const char *text, size_t n)
{
	const uint64_t id = keep(k, text, n);

	return id && pdet_pairs_set(&k->comms, tid, id);
}

/* "function+0x10 [module]", or its address. */
static bool name_site(struct pdet_alloc_keys *k, uint64_t address,
		      struct pdet_alloc_site *ret)
{
	char whole[1024];
	struct pdet_named f;
	size_t n;

	memset(ret, 0, sizeof(*ret));
	if (!pdet_naming_find(&k->naming, address, &f)) {
		n = (size_t)snprintf(whole, sizeof(whole), "%#" PRIx64,
				     address);
		ret->site = keep(k, whole, n);
		return ret->site;
	}
	n = pdet_named_text(&f, whole, sizeof(whole));
	ret->site = keep(k, whole, n);
	ret->function = keep(k, f.function, f.function_len);
	if (f.module_len)
		ret->module = keep(k, f.module, f.module_len);
	return ret->site && ret->function && (ret->module || !f.module_len);
}

static const struct pdet_alloc_site *
add_site(struct pdet_alloc_keys *k, uint64_t number,
	 const struct pdet_alloc_site *site)
{
	const uint64_t at = k->sites.n;

	if (!pdet_vec_push(&k->sites, *site) ||
	    !pdet_pairs_set(&k->site_at, number, at))
		return NULL;
	k->unnamed += !site->function;
	return &k->sites.data[at];
}

void pdet_alloc_site_cut(struct pdet_scan site, struct pdet_scan *function,
			 struct pdet_scan *module)
{
	const size_t n = (size_t)(site.end - site.at);
	const char *bracket = memchr(site.at, '[', n);
	const char *blank = memchr(site.at, ' ', n);
	const char *plus = memchr(site.at, '+', n);

	*function = (struct pdet_scan){
		site.at, plus ? plus : blank ? blank : site.end };
	*module = (struct pdet_scan){ NULL, NULL };
	/* A name may have a bracket, too. */
	if (bracket && site.end - bracket > 2 && site.end[-1] == ']')
		*module = (struct pdet_scan){ bracket + 1, site.end - 1 };
}

static uint64_t keep_scan(struct pdet_alloc_keys *k, struct pdet_scan s)
{
	return keep(k, s.at, (size_t)(s.end - s.at));
}

/* The place of a call that a text has. */
static bool take_site(struct pdet_alloc_keys *k,
		      const struct pdet_kmem_event *e)
{
	const struct pdet_scan text = { e->cache, e->cache + e->cache_len };
	struct pdet_alloc_site site = { 0 };
	struct pdet_scan function, module;

	pdet_alloc_site_cut(text, &function, &module);
	site.site = keep_scan(k, text);
	site.function = keep_scan(k, function);
	if (module.at)
		site.module = keep_scan(k, module);
	return site.site && site.function && (site.module || !module.at) &&
	       add_site(k, e->object, &site);
}

const struct pdet_alloc_site *pdet_alloc_keys_site(struct pdet_alloc_keys *k,
						   uint64_t address)
{
	struct pdet_alloc_site site;
	uint64_t at;

	if (pdet_pairs_get(&k->site_at, address, &at))
		return &k->sites.data[at];
	return name_site(k, address, &site) ? add_site(k, address, &site) :
					      NULL;
}

/* Pages have none, and a trace may not tell that of a free. */
static bool get_site(struct pdet_alloc_keys *k, uint32_t key,
		     const struct pdet_kmem_event *e, struct value *ret)
{
	const struct pdet_alloc_site *s;

	*ret = pdet_kmem_is_page(e->kind) || pdet_kmem_is_alloc(e->kind) ?
		       nothing : untold;
	if (!e->site)
		return true;
	*ret = nothing;
	s = pdet_alloc_keys_site(k, e->site);
	if (!s)
		return false;
	if (key == PAGEDET_ALLOC_SITE)
		*ret = have(s->site);
	else if (!s->function)
		*ret = untold;
	else if (key == PAGEDET_ALLOC_FUNCTION)
		*ret = have(s->function);
	else if (s->module)
		*ret = have(s->module);
	return true;
}

static const char *const families[] = {
	[PDET_FAMILY_KMALLOC] = "kmalloc", [PDET_FAMILY_CACHE] = "cache",
	[PDET_FAMILY_PAGE] = "page", [PDET_FAMILY_UNTOLD] = NULL,
};

static unsigned family_of(unsigned kind)
{
	return kind == PDET_KMEM_SUM ? PDET_FAMILY_UNTOLD :
	       pdet_kmem_is_page(kind) ? PDET_FAMILY_PAGE :
	       kind == PDET_KMEM_KMALLOC || kind == PDET_KMEM_KFREE ?
					 PDET_FAMILY_KMALLOC :
					 PDET_FAMILY_CACHE;
}

bool pdet_alloc_keys_add_families(struct pdet_alloc_keys *k, size_t group,
				  uint8_t more)
{
	while (k->families.n <= group)
		if (!pdet_vec_push(&k->families, 0))
			return false;
	k->families.data[group] |= more;
	return true;
}

uint8_t pdet_alloc_keys_families(const struct pdet_alloc_keys *k, size_t group)
{
	return group < k->families.n ? k->families.data[group] : 0;
}

const char *pdet_alloc_keys_family(const struct pdet_alloc_keys *k,
				   size_t group)
{
	const unsigned bits = pdet_alloc_keys_families(k, group);
	const bool is_one = bits && !(bits & (bits - 1));

	return is_one ? families[__builtin_ctz(bits)] : bits ? "mixed" : NULL;
}

static bool get_family(struct pdet_alloc_keys *k, unsigned kind,
		       struct value *ret)
{
	const char *name = families[family_of(kind)];

	*ret = untold;
	if (!name)
		return true;
	*ret = have(keep(k, name, strlen(name)));
	return ret->value;
}

static bool get_cache(struct pdet_alloc_keys *k,
		      const struct pdet_kmem_event *e, struct value *ret)
{
	*ret = e->kind == PDET_KMEM_CACHE_ALLOC ||
	       e->kind == PDET_KMEM_CACHE_FREE ? untold : nothing;
	if (!e->cache)
		return true;
	*ret = have(keep(k, e->cache, e->cache_len));
	return ret->value;
}

static struct value get_comm(const struct pdet_alloc_keys *k, int32_t tid)
{
	uint64_t id;

	return tid >= 0 && pdet_pairs_get(&k->comms, (uint64_t)tid, &id) ?
		       have(id) : untold;
}

/* A number that only some kinds of events have. */
static struct value some(bool has, uint64_t value)
{
	return has ? have(value) : nothing;
}

static bool get_stack(struct pdet_alloc_keys *k, uint32_t number,
		      struct value *ret)
{
	bool many;

	*ret = untold;
	if (number == PDET_STACK_NONE)
		return true;
	*ret = have(pdet_alloc_keys_stack(k, number, &many));
	if (many)
		*ret = too_many;
	return many || ret->value;
}

static struct value get_window(const struct pdet_alloc_keys *k, uint64_t ns)
{
	const uint64_t since = ns - PDET_MIN(ns, k->begin_ns);

	return k->no_ns ? untold : have(since - since % k->window_ns);
}

/* A number that an allocation has; a free does not. */
static struct value asked(const struct pdet_kmem_event *e, bool is_told,
			  struct value v)
{
	return !pdet_kmem_is_alloc(e->kind) ? nothing : is_told ? v : untold;
}

static bool get(struct pdet_alloc_keys *k, uint32_t key,
		const struct pdet_kmem_event *e, struct value *ret)
{
	const bool is_page = pdet_kmem_is_page(e->kind);
	const bool is_object = !is_page && pdet_kmem_is_alloc(e->kind);

	switch (key) {
	case PAGEDET_ALLOC_SITE:
	case PAGEDET_ALLOC_FUNCTION:
	case PAGEDET_ALLOC_MODULE:
		return get_site(k, key, e, ret);
	case PAGEDET_ALLOC_CACHE:
		return get_cache(k, e, ret);
	case PAGEDET_ALLOC_FAMILY:
		return get_family(k, e->kind, ret);
	case PAGEDET_ALLOC_CPU:
		*ret = k->no_cpu ? untold : have(e->cpu);
		return true;
	case PAGEDET_ALLOC_NODE:
		*ret = asked(e, e->node != PDET_KMEM_NO_NUMBER,
			     some(e->node >= 0, (uint64_t)e->node));
		return true;
	case PAGEDET_ALLOC_TID:
		*ret = e->pid < 0 ? untold : have((uint64_t)e->pid);
		return true;
	case PAGEDET_ALLOC_COMM:
		*ret = get_comm(k, e->pid);
		return true;
	case PAGEDET_ALLOC_GFP:
		*ret = asked(e, e->gfp != PDET_KMEM_NO_GFP, have(e->gfp));
		return true;
	case PAGEDET_ALLOC_ORDER:
		*ret = some(is_page, e->order);
		return true;
	case PAGEDET_ALLOC_MIGRATETYPE:
		*ret = some(is_page && e->migratetype != PDET_KMEM_NO_NUMBER,
			    (uint64_t)e->migratetype);
		return true;
	case PAGEDET_ALLOC_BYTES_REQ:
		*ret = some(is_object, e->requested);
		return true;
	case PAGEDET_ALLOC_LIFETIME:
		*ret = nothing;
		return true;
	case PAGEDET_ALLOC_STACK:
		return get_stack(k, e->stack, ret);
	case PAGEDET_ALLOC_WINDOW:
		*ret = get_window(k, e->ns);
		return true;
	default:
		*ret = some(is_object, e->allocated);
		return true;
	}
}

/* False without memory. */
static bool rename_thread(struct pdet_alloc_keys *k,
			  const struct pdet_kmem_event *e)
{
	uint64_t id;

	if (e->cache)
		return pdet_alloc_keys_comm(k, (uint32_t)e->pid, e->cache,
					    e->cache_len);
	return !pdet_pairs_get(&k->comms, e->object, &id) ||
	       pdet_pairs_set(&k->comms, (uint32_t)e->pid, id);
}

static int64_t find_group(struct pdet_alloc_keys *k,
			  const struct pdet_kmem_event *e)
{
	uint64_t value[PAGEDET_ALLOC_KEYS];
	uint8_t state[PAGEDET_ALLOC_KEYS];
	struct value v;
	int64_t group;
	unsigned i;

	for (i = 0; i < k->groups.n_keys; i++) {
		if (!get(k, k->by[i], e, &v))
			return -1;
		value[i] = v.value;
		state[i] = v.state;
		if (v.state == untold.state)
			k->untold |= (uint64_t)1 << k->by[i];
	}
	group = pdet_groups_find(&k->groups, value, state);
	return group >= 0 && pdet_alloc_keys_add_families(k, (size_t)group,
			(uint8_t)(1u << family_of(e->kind))) ? group : -1;
}

static struct value get_lifetime(const struct pdet_alloc_keys *k, uint64_t ns)
{
	if (k->no_ns || ns == PDET_LIFETIME_UNKNOWN)
		return untold;
	return have(ns ? (uint64_t)1 << (63 - __builtin_clzll(ns)) : 0);
}

int64_t pdet_alloc_keys_ended(void *arg, uint32_t group, uint64_t lifetime)
{
	struct pdet_alloc_keys *k = arg;
	const struct value v = get_lifetime(k, lifetime);
	const unsigned n = k->groups.n_keys;
	uint64_t value[PAGEDET_ALLOC_KEYS];
	uint8_t state[PAGEDET_ALLOC_KEYS];
	int64_t ended;
	unsigned i;

	memcpy(value, pdet_groups_value(&k->groups, group),
	       n * sizeof(*value));
	memcpy(state, pdet_groups_state(&k->groups, group), n);
	for (i = 0; i < n; i++)
		if (k->by[i] == PAGEDET_ALLOC_LIFETIME) {
			value[i] = v.value;
			state[i] = v.state;
		}
	ended = pdet_groups_find(&k->groups, value, state);
	return ended >= 0 && pdet_alloc_keys_add_families(k, (size_t)ended,
			pdet_alloc_keys_families(k, group)) ? ended : -1;
}

bool pdet_alloc_keys_has(const struct pdet_alloc_keys *k, uint32_t key)
{
	unsigned i;

	for (i = 0; i < k->groups.n_keys; i++)
		if (k->by[i] == key)
			return true;
	return false;
}

static bool is_of_site(const struct pdet_alloc_keys *k)
{
	unsigned i;

	for (i = 0; i < k->groups.n_keys; i++)
		if (!keys[k->by[i]].of_site)
			return false;
	return true;
}

int64_t pdet_alloc_keys_group(void *arg, const struct pdet_kmem_event *e)
{
	struct pdet_alloc_keys *k = arg;
	const size_t at = (pdet_hash_number(e->site, 0) >> 32) %
			  PDET_COUNT(k->recent);
	int64_t group;

	if (e->kind == PDET_KMEM_NAME)
		return rename_thread(k, e) ? 0 : -1;
	if (e->kind == PDET_KMEM_SITE)
		return take_site(k, e) ? 0 : -1;
	if (k->recent[at].kind == e->kind && k->recent[at].site == e->site)
		return k->recent[at].group;
	group = find_group(k, e);
	if (group >= 0 && is_of_site(k)) {
		k->recent[at].site = e->site;
		k->recent[at].group = (uint32_t)group;
		k->recent[at].kind = e->kind;
	}
	return group;
}

void pdet_alloc_keys_free(struct pdet_alloc_keys *k)
{
	pdet_groups_free(&k->groups);
	pdet_pairs_free(&k->comms);
	pdet_pairs_free(&k->site_at);
	pdet_pairs_free(&k->stack_at);
	pdet_vec_free(&k->sites);
	pdet_vec_free(&k->families);
	pdet_naming_free(&k->naming);
}
