/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The border of filters of groups. They test sums, keys, and the function and
 * the module that the text of a site has in it.
 */
#include <stdlib.h>
#include <string.h>

#include "allocs/keys.h"
#include "api/arguments.h"
#include "base/text/ranking.h"
#include "query/filter.h"

#define MOST_NAMES 256
#define MOST_TEXT 1024

struct tested {
	struct pdet_ranked what;
	uint32_t key;		/* PAGEDET_ALLOC_*, if it is one */
};

struct filtering {
	struct pdet_allocs *a;
	struct pdet_ranking ranking;
	struct tested name[MOST_NAMES];
	int n;
	const char *ungrouped;	/* a key that they are not by; NULL */
	const char *near;	/* what an unknown name may mean; NULL */
	/* The group. */
	uint32_t group;
	uint64_t value[PAGEDET_ALLOC_KEYS];
	uint32_t state[PAGEDET_ALLOC_KEYS];
	char part[MOST_TEXT];	/* of the text of a site */
};

static bool is_key(const char *word, size_t len, uint32_t key)
{
	const char *name = pdet_alloc_key_name(key);

	return strlen(name) == len && !memcmp(name, word, len);
}

/* The function and the module follow from the site. */
static bool find_part(const struct filtering *f, const char *word, size_t len,
		      struct tested *ret)
{
	static const char site[] = "site";

	ret->key = is_key(word, len, PAGEDET_ALLOC_FUNCTION) ?
			   PAGEDET_ALLOC_FUNCTION : PAGEDET_ALLOC_MODULE;
	return is_key(word, len, ret->key) &&
	       pdet_ranked_find(&f->ranking, site, strlen(site), &ret->what) &&
	       ret->what.is_key;
}

static const char *key_of(const char *word, size_t len)
{
	uint32_t key;

	for (key = 0; pdet_alloc_key_name(key); key++)
		if (is_key(word, len, key))
			return pdet_alloc_key_name(key);
	return NULL;
}

static int find(void *arg, const char *name, size_t len, bool *is_text)
{
	struct filtering *f = arg;
	struct tested t;

	if (f->n == MOST_NAMES)
		return -1;
	if (!pdet_ranked_find(&f->ranking, name, len, &t.what)) {
		if (!find_part(f, name, len, &t)) {
			f->ungrouped = key_of(name, len);
			f->near = pdet_ranked_near(&f->ranking, name, len);
			return -1;
		}
	} else if (t.what.is_key) {
		t.key = f->ranking.by[t.what.which];
	}
	*is_text = t.what.is_key && pdet_alloc_key_is_text(t.key);
	f->name[f->n] = t;
	return f->n++;
}

/* An address tells neither. */
static void take_part(struct filtering *f, uint32_t key, struct pdet_scan site,
		      struct pdet_filter_cell *ret)
{
	struct pdet_scan part, module;
	size_t n;

	if (pdet_scan_word(&site, "0x")) {
		ret->state = PAGEDET_UNSUPPORTED;
		return;
	}
	pdet_alloc_site_cut(site, &part, &module);
	if (key == PAGEDET_ALLOC_MODULE)
		part = module;
	if (!part.at) {
		ret->state = PAGEDET_NONE;
		return;
	}
	n = PDET_MIN((size_t)(part.end - part.at), MOST_TEXT - 1);
	ret->text = memcpy(f->part, part.at, n);
	f->part[n] = '\0';
}

static void get_key(struct filtering *f, const struct tested *t,
		    struct pdet_filter_cell *ret)
{
	const unsigned at = t->what.which;
	size_t len;

	ret->state = f->state[at];
	ret->number = f->value[at];
	if (ret->state != PAGEDET_HAVE || !pdet_alloc_key_is_text(t->key))
		return;
	ret->text = pdet_allocs_text(f->a, f->value[at], &len);
	if (!ret->text)
		ret->state = PAGEDET_UNSUPPORTED;
	else if (t->key != f->ranking.by[at])
		take_part(f, t->key, (struct pdet_scan){
				  ret->text, ret->text + len }, ret);
}

static void get(void *arg, unsigned name, struct pdet_filter_cell *ret)
{
	struct filtering *f = arg;
	const struct tested *t = &f->name[name];

	if (t->what.is_key) {
		get_key(f, t, ret);
		return;
	}
	ret->state = pdet_allocs_knows(f->a, f->group, &t->what) ?
			     PAGEDET_HAVE : PAGEDET_UNSUPPORTED;
	ret->number = pdet_ranked_sum(&f->ranking, &t->what, f->group,
				      &ret->negative);
}

static int leave_out(struct filtering *f, struct pdet_env *env,
		     const struct pdet_filter *filter)
{
	struct pdet_alloc_left_out out = {
		.group = calloc(f->ranking.n + 1, sizeof(*out.group)) };
	enum pdet_truth truth;

	if (!out.group)
		return pdet_fail(env, ENOMEM, "no memory");
	for (f->group = 0; f->group < f->ranking.n; f->group++) {
		if (f->ranking.is_empty(f->ranking.arg, f->group))
			continue;
		pdet_allocs_values(f->a, f->group, f->value, f->state);
		truth = pdet_filter_test(filter, get, f);
		out.filtered += truth == PDET_FALSE;
		out.undecided += truth == PDET_UNKNOWN;
		out.group[f->group] = truth != PDET_TRUE;
	}
	return pdet_allocs_leave_out(f->a, env, &out);
}

int pagedet_allocs_where(struct pagedet_allocs *allocs, const char *where)
{
	static const struct pdet_alloc_left_out none;
	struct pdet_env *env = &allocs->pd->env;
	struct filtering *f;
	struct pdet_filter_names names = { .find = find, .none =
		"it is not a sum, nor a key of these groups" };
	struct pdet_filter *filter;
	int r;

	pdet_clear(env);
	if (!where)
		return pdet_allocs_leave_out(allocs->a, env, &none);
	f = calloc(1, sizeof(*f));
	if (!f)
		return pdet_fail(env, ENOMEM, "no memory");
	f->a = allocs->a;
	f->ranking = pdet_allocs_ranking(f->a);
	names.arg = f;
	r = pdet_filter_of(env, where, &names, &filter);
	if (r == 0) {
		/* Tests all of them, also those that are left out now. */
		r = pdet_allocs_leave_out(f->a, env, &none);
		if (r == 0)
			r = leave_out(f, env, filter);
		pdet_filter_free(filter);
	} else if (f->ungrouped) {
		pdet_advise(env, "add %s to the keys of --by", f->ungrouped);
	} else if (f->near) {
		pdet_advise(env, "did you mean '%s'?", f->near);
	}
	free(f);
	return r;
}
