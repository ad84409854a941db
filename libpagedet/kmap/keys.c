/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A place has a name only if the text tells its address and not a hash. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "kmap/keys.h"
#include "kmap/object.h"

static const struct {
	const char *name;
	bool is_text, of_access;
} keys[] = {
	[PAGEDET_KMAP_SITE] = { "site", true, false },
	[PAGEDET_KMAP_FUNCTION] = { "function", true, false },
	[PAGEDET_KMAP_MODULE] = { "module", true, false },
	[PAGEDET_KMAP_TYPE] = { "type", true, false },
	[PAGEDET_KMAP_CACHE] = { "cache", true, false },
	[PAGEDET_KMAP_PID] = { "pid", false, false },
	[PAGEDET_KMAP_COMMAND] = { "command", true, false },
	[PAGEDET_KMAP_LIFETIME] = { "lifetime", false, false },
	[PAGEDET_KMAP_END] = { "end", true, false },
	[PAGEDET_KMAP_ACCESS_SITE] = { "access_site", true, true },
	[PAGEDET_KMAP_ACCESS_FUNCTION] = { "access_function", true, true },
	[PAGEDET_KMAP_ACCESS_MODULE] = { "access_module", true, true },
	[PAGEDET_KMAP_ACCESS_PID] = { "access_pid", false, true },
};

/* A module that is none; no name of one has parentheses. */
#define KERNEL "(kernel)"

/* A value of one key. */
struct value {
	uint64_t value;
	uint8_t state;
};

static const struct value nothing = { 0, PAGEDET_NONE };
static const struct value untold = { 0, PAGEDET_UNSUPPORTED };

static struct value have(uint64_t value)
{
	return (struct value){ value, PAGEDET_HAVE };
}

const char *pdet_kmap_key_name(uint32_t key)
{
	return key < PDET_COUNT(keys) ? keys[key].name : NULL;
}

bool pdet_kmap_key_is_text(uint32_t key)
{
	return key < PDET_COUNT(keys) && keys[key].is_text;
}

bool pdet_kmap_keys_has_places(const struct pdet_kmap_keys *k)
{
	unsigned i;

	for (i = 0; i < k->n_by; i++)
		if (k->by[i] <= PAGEDET_KMAP_MODULE ||
		    (keys[k->by[i]].of_access && keys[k->by[i]].is_text))
			return true;
	return false;
}

bool pdet_kmap_keys_has_accesses(const struct pdet_kmap_keys *k)
{
	unsigned i;

	for (i = 0; i < k->n_by; i++)
		if (keys[k->by[i]].of_access)
			return true;
	return false;
}

/* Returns false without memory. */
static bool get_text(struct pdet_kmap_keys *k, const char *text, size_t n,
		     struct value *ret)
{
	*ret = have(pdet_hash(text, n));
	return pdet_groups_keep(&k->places.groups, ret->value, text, n);
}

static bool get_scan(struct pdet_kmap_keys *k, const struct pdet_scan *s,
		     struct value *ret)
{
	return get_text(k, s->at, (size_t)(s->end - s->at), ret);
}

static bool get_hash(struct pdet_kmap_keys *k, const struct pdet_kmap_place *p,
		     struct value *ret)
{
	char text[32];
	const int n = snprintf(text, sizeof(text), "%#" PRIx64, p->address);

	return get_text(k, text, (size_t)n, ret);
}

/* @part: PAGEDET_KMAP_SITE, FUNCTION or MODULE. */
static bool get_place(struct pdet_kmap_keys *k, uint32_t part,
		      const struct pdet_kmap_place *p, bool is_call,
		      struct value *ret)
{
	const uint64_t impossible = k->places.naming.impossible;
	const struct pdet_alloc_site *s;

	*ret = untold;
	if (p->hidden || (p->hashed && part != PAGEDET_KMAP_SITE))
		return true;
	if (p->hashed)
		return get_hash(k, p, ret);
	s = pdet_alloc_keys_site(&k->places, p->address);
	if (!s)
		return false;
	/* Only a place behind a call proves that names are wrong. */
	if (!is_call)
		k->places.naming.impossible = impossible;
	if (part == PAGEDET_KMAP_SITE)
		*ret = have(s->site);
	else if (s->function && part == PAGEDET_KMAP_FUNCTION)
		*ret = have(s->function);
	else if (s->function && s->module)
		*ret = have(s->module);
	else if (s->function)
		return get_text(k, KERNEL, strlen(KERNEL), ret);
	return true;
}

int pdet_kmap_keys_module(struct pdet_kmap_keys *k,
			  const struct pdet_kmap_place *p, bool is_call,
			  uint64_t *ret)
{
	struct value v;

	if (!get_place(k, PAGEDET_KMAP_MODULE, p, is_call, &v))
		return -1;
	*ret = v.value;
	return v.state == PAGEDET_HAVE;
}

static bool get_site(struct pdet_kmap_keys *k, uint32_t part,
		     const struct pdet_kmap_line *l, struct value *ret)
{
	const unsigned origin = pdet_kmap_origin(l, k->dialect);
	const char *code = pdet_kmap_code(origin);

	*ret = origin == PAGEDET_KMAP_UNTOLD ? untold : nothing;
	if (origin == PAGEDET_KMAP_CALL || l->site.hashed)
		return get_place(k, part, &l->site, true, ret);
	if (origin == PAGEDET_KMAP_UNTOLD || part != PAGEDET_KMAP_SITE)
		return true;
	return get_text(k, code, strlen(code), ret);
}

static bool get_end(struct pdet_kmap_keys *k, const struct pdet_kmap_line *l,
		    struct value *ret)
{
	static const char *const ends[] = {
		"live", "freed", "missed", "unknown"
	};
	const char *end = ends[pdet_kmap_end(l)];

	*ret = nothing;
	if (pdet_kmap_origin(l, k->dialect) == PAGEDET_KMAP_CATCH_ALL)
		return true;
	return get_text(k, end, strlen(end), ret);
}

static struct value get_lifetime(const struct pdet_kmap_keys *k,
				 const struct pdet_kmap_line *l)
{
	uint64_t v = 0;
	const unsigned state = pdet_kmap_lifetime(l, k->dialect, k->hz, &v);

	if (v)
		v = (uint64_t)1 << (63 - __builtin_clzll(v));
	return (struct value){ v, (uint8_t)state };
}

static bool get_cache(struct pdet_kmap_keys *k, const struct pdet_kmap_line *l,
		      struct value *ret)
{
	*ret = k->dialect < PAGEDET_KMAP_SLAB ? untold : nothing;
	return !pdet_kmap_has_cache(l) || get_scan(k, &l->cache, ret);
}

static bool get_of_access(struct pdet_kmap_keys *k, uint32_t key,
			  const struct pdet_kmap_access *a, struct value *ret)
{
	*ret = nothing;
	if (!a)
		return true;
	if (key != PAGEDET_KMAP_ACCESS_PID)
		return get_place(k, key - PAGEDET_KMAP_ACCESS_SITE, &a->site,
				 false, ret);
	*ret = a->pid < 0 ? untold : have((uint64_t)a->pid);
	return true;
}

static bool get(struct pdet_kmap_keys *k, uint32_t key,
		const struct pdet_kmap_line *l,
		const struct pdet_kmap_access *a, struct value *ret)
{
	switch (key) {
	case PAGEDET_KMAP_SITE:
	case PAGEDET_KMAP_FUNCTION:
	case PAGEDET_KMAP_MODULE:
		return get_site(k, key, l, ret);
	case PAGEDET_KMAP_TYPE:
		*ret = untold;
		return k->dialect < PAGEDET_KMAP_TYPED ||
		       get_scan(k, &l->type, ret);
	case PAGEDET_KMAP_CACHE:
		return get_cache(k, l, ret);
	case PAGEDET_KMAP_PID:
		*ret = pdet_kmap_is_interrupt(l) ? nothing :
		       pdet_kmap_has_thread(l) ? have((uint64_t)l->pid) :
						 untold;
		return true;
	case PAGEDET_KMAP_COMMAND:
		*ret = untold;
		return !pdet_kmap_has_thread(l) ||
		       get_scan(k, &l->command, ret);
	case PAGEDET_KMAP_LIFETIME:
		*ret = get_lifetime(k, l);
		return true;
	case PAGEDET_KMAP_END:
		return get_end(k, l, ret);
	default:
		return get_of_access(k, key, a, ret);
	}
}

int64_t pdet_kmap_keys_group(struct pdet_kmap_keys *k,
			     const struct pdet_kmap_line *l,
			     const struct pdet_kmap_access *access)
{
	uint64_t value[PAGEDET_KMAP_KEYS];
	uint8_t state[PAGEDET_KMAP_KEYS];
	struct value v;
	unsigned i;

	for (i = 0; i < k->n_by; i++) {
		if (!get(k, k->by[i], l, access, &v))
			return -1;
		value[i] = v.value;
		state[i] = v.state;
		if (v.state == untold.state)
			k->untold |= (uint64_t)1 << k->by[i];
	}
	return pdet_groups_find(&k->places.groups, value, state);
}
