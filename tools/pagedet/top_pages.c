/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Counts pages by key, kind, mapcount and flags, and derives the sums of all
 * processes: RSS counts a page once per mapping, PSS once, and USS only if it
 * has one mapping.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Enough for the paths of a large file server. */
#define STRING_BYTES ((uint64_t)64 << 20)

#define BY_MAPCOUNT \
	(1u << PAGEDET_SUM_RSS | 1u << PAGEDET_SUM_PSS | \
	 1u << PAGEDET_SUM_USS | 1u << PAGEDET_SUM_SHARED)

struct group {
	const struct pagedet_columns *c;
	uint64_t row;
};

static uint32_t state_of(const struct group *g, uint32_t field, uint64_t *ret)
{
	uint32_t state;

	*ret = cli_value_of(g->c, g->row, field, &state);
	return state;
}

/* Kinds that page tables of processes can map. */
static bool may_be_mapped(uint64_t kind)
{
	return kind == PAGEDET_KIND_ANON || kind == PAGEDET_KIND_FILE ||
	       kind == PAGEDET_KIND_SHMEM || kind == PAGEDET_KIND_UNKNOWN;
}

static void add_to(struct cli_entry *e, uint32_t sum, uint64_t bytes,
		   uint32_t why)
{
	const uint32_t was = e->state[sum];

	if (was != PAGEDET_HAVE && was != PAGEDET_NONE)
		return;		/* already counted as lost */
	e->state[sum] = why ? why : PAGEDET_HAVE;
	e->value[sum] = why ? 0 : e->value[sum] + bytes;
}

/* The mapcount of a large folio may be an average, or of unknown kind. */
static bool is_exact(const struct group *g)
{
	uint64_t kind;

	return state_of(g, PAGEDET_FIELD_MAPCOUNT_KIND, &kind) ==
	       PAGEDET_HAVE && kind == PAGEDET_MAPCOUNT_EXACT;
}

static void add_maps(struct cli_entry *e, const struct group *g, uint64_t bytes)
{
	uint64_t maps;
	const uint32_t state = state_of(g, PAGEDET_FIELD_MAPCOUNT, &maps);
	uint32_t why = 0;

	if (state != PAGEDET_HAVE && state != PAGEDET_NONE)
		why = state;
	/* A count below zero is not a number of mappings. */
	else if (maps >> 63)
		why = PAGEDET_CORRUPT;
	if (!why && maps && !is_exact(g))
		e->estimated |= BY_MAPCOUNT;
	add_to(e, PAGEDET_SUM_RSS, maps * bytes, why);
	add_to(e, PAGEDET_SUM_PSS, maps ? bytes : 0, why);
	add_to(e, PAGEDET_SUM_USS, maps == 1 ? bytes : 0, why);
	add_to(e, PAGEDET_SUM_SHARED, maps > 1 ? maps * bytes : 0, why);
}

static void add_dirty(struct cli_entry *e, const struct group *g,
		      uint64_t bytes)
{
	const uint64_t bit = 1ull << PAGEDET_PF_DIRTY;
	uint64_t flags, known;
	const uint32_t state = state_of(g, PAGEDET_FIELD_FLAGS, &flags);

	state_of(g, PAGEDET_FIELD_FLAGS_KNOWN, &known);
	if (state != PAGEDET_HAVE)
		add_to(e, PAGEDET_SUM_DIRTY, 0, state);
	else
		add_to(e, PAGEDET_SUM_DIRTY, flags & bit ? bytes : 0,
		       known & bit ? 0 : PAGEDET_UNSUPPORTED);
}

/* Returns NULL if it is not known. */
static const char *key_of(const struct cli_table *t, const struct group *g,
			  const struct pagedet_iter *it)
{
	uint64_t value;
	const uint32_t state = state_of(g, t->key, &value);

	if (state == PAGEDET_NONE)
		return "-";
	if (state != PAGEDET_HAVE)
		return NULL;
	if (t->key == PAGEDET_FIELD_KIND)
		return pagedet_value_name(t->key, value);
	return pagedet_string(it, value, NULL);
}

static int add_group(struct cli_table *t, const struct group *g,
		     struct pagedet_iter *it, uint64_t page_size)
{
	uint64_t pages, kind = PAGEDET_KIND_SLAB, bytes, none;
	struct cli_entry *e;
	bool fresh;

	if (t->key != PAGEDET_FIELD_SLAB_CACHE)
		state_of(g, PAGEDET_FIELD_KIND, &kind);
	/* Free memory is not a user, and neither is memory without a charge. */
	if (t->key == PAGEDET_FIELD_MEMCG_PATH &&
	    (kind == PAGEDET_KIND_FREE ||
	     state_of(g, t->key, &none) == PAGEDET_NONE))
		return CLI_ANSWERED;
	e = cli_table_entry(t, key_of(t, g, it));
	if (!e)
		return CLI_IO;
	fresh = !e->bytes;
	state_of(g, PAGEDET_FIELD_PAGES, &pages);
	bytes = pages * page_size;
	e->bytes += bytes;
	if (t->key != PAGEDET_FIELD_SLAB_CACHE && kind < 64)
		e->kinds |= 1ull << kind;
	if (!e->name && !e->name_state)
		e->name_state = state_of(g, t->key, &none);
	if (fresh) {
		size_t i;

		for (i = 0; i < PAGEDET_SUMS; i++)
			e->state[i] = PAGEDET_NONE;
	}
	if (kind == PAGEDET_KIND_HUGETLB)
		add_to(e, PAGEDET_SUM_HUGETLB, bytes, 0);
	if (!may_be_mapped(kind))
		return CLI_ANSWERED;
	add_maps(e, g, bytes);
	/*
	 * Anonymous memory is not written back to a file, and neither is that
	 * of tmpfs.
	 */
	if (kind == PAGEDET_KIND_FILE || kind == PAGEDET_KIND_UNKNOWN)
		add_dirty(e, g, bytes);
	/* Memory in swap has no page to count. */
	if (kind != PAGEDET_KIND_FILE)
		e->state[PAGEDET_SUM_SWAP] = PAGEDET_UNSUPPORTED;
	return CLI_ANSWERED;
}

static int add_groups(struct cli_table *t, struct pagedet *pd,
		      struct pagedet_iter *it, uint64_t page_size)
{
	struct pagedet_columns c;
	struct group g = { &c, 0 };
	int n, status = CLI_ANSWERED;

	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	while ((n = pagedet_next_columns(it, &c)) > 0)
		for (g.row = 0; g.row < (uint64_t)n && !status; g.row++)
			status = add_group(t, &g, it, page_size);
	if (n == -ETIMEDOUT || n == -ECANCELED)
		return status;	/* the verdict reports it */
	return n < 0 ? cli_fail(pd, n) : status;
}

/* The kinds of an entry's pages, as " of slab, anon"; or nothing. */
static void list_kinds(const struct cli_entry *e, char *text, size_t room)
{
	size_t n = 0;
	unsigned kind;

	*text = 0;
	for (kind = 0; kind < 64; kind++) {
		const char *name = pagedet_value_name(PAGEDET_FIELD_KIND, kind);

		if (name && e->kinds >> kind & 1 && n < room)
			n += (size_t)snprintf(text + n, room - n, "%s%s",
					      n ? ", " : " of ", name);
	}
}

/* Reports memory of which the key is not known, and why. @advice: "" if it was
 * given. */
static void tell_rest(const struct cli_job *job, const struct cli_table *t,
		      const char *advice)
{
	char size[32], kinds[256];
	size_t i;

	for (i = 0; i < t->n && !job->quiet; i++) {
		const struct cli_entry *e = &t->entries[i];

		if (e->name)
			continue;
		cli_size(size, sizeof(size), e->bytes);
		list_kinds(e, kinds, sizeof(kinds));
		cli_say("for %s%s the %s is not known ('?'): %s", size, kinds,
			pagedet_field(t->key)->name,
			pagedet_state_text(e->name_state));
		if (*advice)
			cli_say("hint: %s", advice);
	}
}

/* The pages that may have the key, and for which the user's filter is true.
 * Returns NULL if there is no memory. */
static char *where_of(const struct cli_job *job, uint32_t key)
{
	const char *have = key == PAGEDET_FIELD_SLAB_CACHE ? "kind=slab" :
			   key == PAGEDET_FIELD_PATH ?
			   "(kind=file or kind=shmem)" : "";
	const bool both = job->where && *have;
	char *text;

	return asprintf(&text, "%s%s%s%s", both ? "(" : "",
			job->where ? job->where : "", both ? ") and " : "",
			have) < 0 ? NULL : text;
}

int cli_count_pages(struct cli_job *job, struct pagedet *pd,
		    struct cli_table *t)
{
	static const uint32_t others[] = {
		PAGEDET_FIELD_KIND, PAGEDET_FIELD_MAPCOUNT,
		PAGEDET_FIELD_MAPCOUNT_KIND, PAGEDET_FIELD_FLAGS,
		PAGEDET_FIELD_FLAGS_KNOWN,
	};
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	uint32_t by[1 + CLI_COUNT(others)] = { t->key };
	struct cli_verdict v = { .named = { 0, 0 } };
	struct cli_progress line;
	struct pagedet_iter *it;
	struct pagedet_info info;
	int error, status, told;
	size_t i, n = 1;
	char *where;

	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	error = pagedet_info(pd, &info);
	if (error)
		return cli_fail(pd, error);
	for (i = 0; i < CLI_COUNT(others); i++)
		if (others[i] != t->key && t->key != PAGEDET_FIELD_SLAB_CACHE)
			by[n++] = others[i];
	q.target = PAGEDET_TARGET_SCAN;
	q.group_by = by;
	q.n_group_by = n;
	where = where_of(job, t->key);
	if (!where)
		return cli_fail_errno("top");
	q.where = *where ? where : NULL;
	q.string_bytes = STRING_BYTES;
	q.threads = cli_threads(job);
	q.deadline_ns = cli_deadline_left(job);
	cli_progress_start(&line, job, STDOUT_FILENO, &q);
	error = pagedet_query(pd, &q, &it);
	free(where);
	if (error)
		return cli_fail(pd, error);
	cli_interrupt_cancels(it);
	v.named[t->key / 64] |= 1ull << (t->key % 64);
	status = add_groups(t, pd, it, info.page_size);
	cli_progress_end(&line);
	cli_verdict_add(&v, it, q.target);
	told = status ? status : cli_verdict_tell(&v, job, it);
	if (!status)
		tell_rest(job, t, v.sum.answered[t->key / 64] >>
				  t->key % 64 & 1 ?
				  pagedet_why_advice(it, t->key) : "");
	cli_interrupt_cancels(NULL);
	pagedet_iter_free(it);
	return told;
}
