/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes the same groups from a kernel's memory by a scan of all pages. The
 * first page of each allocation in use stands for a record, as in the text.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "owners/keys.h"
#include "owners/owners.h"
#include "query/stacks.h"

/* No kernel keeps more frames of a stack. */
#define FRAMES 256

struct rows {
	struct pdet_owner_count *count;
	struct pdet_iter *it;
	struct pdet_batch *b;
	uint32_t row;
	int block_order;	/* of the source; negative: not known */
};

static const uint8_t needed[] = {
	PAGEDET_FIELD_PFN, PAGEDET_FIELD_KIND, PAGEDET_FIELD_ALLOC_ORDER,
	PAGEDET_FIELD_ALLOC_NS, PAGEDET_FIELD_FREE_NS,
};

/* What tells whether a page makes its block mixed. */
static const uint8_t of_mixed[] = {
	PAGEDET_FIELD_MIGRATETYPE, PAGEDET_FIELD_PAGE_MOBILITY,
	PAGEDET_FIELD_FLAGS, PAGEDET_FIELD_FLAGS_KNOWN,
};

static const uint8_t field_of[] = {
	[PAGEDET_OWNER_STACK] = PAGEDET_FIELD_ALLOC_STACK,
	[PAGEDET_OWNER_PID] = PAGEDET_FIELD_ALLOC_PID,
	[PAGEDET_OWNER_TGID] = PAGEDET_FIELD_ALLOC_TGID,
	[PAGEDET_OWNER_COMM] = PAGEDET_FIELD_ALLOC_COMM,
	[PAGEDET_OWNER_MEMCG_NAME] = PAGEDET_FIELD_MEMCG_NAME,
	[PAGEDET_OWNER_ORDER] = PAGEDET_FIELD_ALLOC_ORDER,
	[PAGEDET_OWNER_GFP] = PAGEDET_FIELD_GFP,
	[PAGEDET_OWNER_MIGRATETYPE] = PAGEDET_FIELD_MIGRATETYPE,
	[PAGEDET_OWNER_ALLOCATOR] = PAGEDET_FIELD_ALLOCATOR,
	[PAGEDET_OWNER_MODULE] = PAGEDET_FIELD_ALLOC_STACK,
	[PAGEDET_OWNER_SLAB] = PAGEDET_FIELD_KIND,
	[PAGEDET_OWNER_MIGRATE_REASON] = PAGEDET_FIELD_MIGRATE_REASON,
	[PAGEDET_OWNER_WINDOW] = PAGEDET_FIELD_ALLOC_NS,
	[PAGEDET_OWNER_PAGE_MOBILITY] = PAGEDET_FIELD_PAGE_MOBILITY,
	[PAGEDET_OWNER_BLOCK] = PAGEDET_FIELD_PFN,
	[PAGEDET_OWNER_NODE] = PAGEDET_FIELD_NODE,
	[PAGEDET_OWNER_ZONE] = PAGEDET_FIELD_ZONE,
};

/* The time of the last free stays set after the next allocation. */
static bool is_allocated(const struct rows *r)
{
	const uint64_t ns = pdet_batch_get(r->b, r->row,
					   PAGEDET_FIELD_ALLOC_NS, 0);

	return pdet_batch_get(r->b, r->row, PAGEDET_FIELD_ALLOC_ORDER,
			      UINT64_MAX) < 64 &&
	       pdet_batch_get(r->b, r->row, PAGEDET_FIELD_FREE_NS, 0) <= ns &&
	       pdet_batch_get(r->b, r->row, PAGEDET_FIELD_KIND, 0) !=
		       PAGEDET_KIND_FREE;
}

/* The text has a record for the first page of an allocation in use. */
static bool is_first(const struct rows *r)
{
	const uint64_t order = r->b->value[PAGEDET_FIELD_ALLOC_ORDER][r->row];

	return !(r->b->value[PAGEDET_FIELD_PFN][r->row] &
		 (((uint64_t)1 << order) - 1));
}

/* Of a larger allocation, the first page of each block counts the block. */
static bool is_first_of_block(const struct rows *r)
{
	return r->count->asked->mixed && r->block_order >= 0 &&
	       !(r->b->value[PAGEDET_FIELD_PFN][r->row] &
		 (((uint64_t)1 << r->block_order) - 1));
}

/* Like pdet_mixed_record(). */
static unsigned is_mixed(const struct rows *r)
{
	const uint64_t reserved = (uint64_t)1 << PAGEDET_PF_RESERVED;
	const unsigned block = PAGEDET_FIELD_MIGRATETYPE;
	const unsigned page = PAGEDET_FIELD_PAGE_MOBILITY;

	if (!(pdet_batch_get(r->b, r->row, PAGEDET_FIELD_FLAGS_KNOWN, 0) &
	      reserved) ||
	    pdet_batch_state(r->b, r->row, block) != PAGEDET_HAVE ||
	    pdet_batch_state(r->b, r->row, page) != PAGEDET_HAVE)
		return PAGEDET_UNSUPPORTED;
	if (pdet_batch_get(r->b, r->row, PAGEDET_FIELD_FLAGS, 0) & reserved)
		return PAGEDET_NONE;
	return strcmp(pdet_strtab_get(&r->b->strings,
				      r->b->value[block][r->row], NULL),
		      pdet_strtab_get(&r->b->strings,
				      r->b->value[page][r->row], NULL)) ?
	       PAGEDET_HAVE : PAGEDET_NONE;
}

/* Whether the row is counted. */
static bool is_record(struct rows *r)
{
	unsigned mixed;

	if (!is_allocated(r) || (!is_first(r) && !is_first_of_block(r)))
		return false;
	if (!r->count->asked->mixed)
		return true;
	mixed = is_mixed(r);
	/* An allocation is one record, however many blocks it has. */
	if (is_first(r)) {
		r->count->left.filtered += mixed == PAGEDET_NONE;
		r->count->left.undecided += pdet_is_reason(mixed);
	}
	return mixed == PAGEDET_HAVE;
}

/* Gets the frames of each stack only once. */
static struct pdet_owner_seen *seen_of(struct rows *r, uint64_t id)
{
	struct pdet_owner_count *c = r->count;
	struct pdet_owner_seen seen = { .group = -1 };
	const char *frames[FRAMES];
	struct pdet_scan module;
	uint64_t i;
	size_t len;
	int n, f;

	if (pdet_pairs_get(&c->by_text, id, &i))
		return &c->seen.data[i];
	c->frames.n = 0;
	n = pdet_stacks_get(r->it, id, frames, FRAMES);
	if (n == -ENOMEM)
		return NULL;
	for (f = 0; f < PDET_MIN(n, FRAMES); f++) {
		len = strlen(frames[f]);
		if (!pdet_vec_reserve(&c->frames, len + 1))
			return NULL;
		memcpy(c->frames.data + c->frames.n, frames[f], len);
		c->frames.n += len;
		c->frames.data[c->frames.n++] = '\n';
	}
	module = pdet_owner_module(c->frames.data, c->frames.n);
	len = (size_t)(module.end - module.at);
	seen.has_module = len;
	if (len)
		seen.module = pdet_hash(module.at, len);
	i = c->seen.n;
	if ((len && !pdet_groups_keep(&c->table.groups, seen.module, module.at,
					   len)) ||
	    !pdet_groups_keep(&c->table.groups, id, c->frames.data,
				   c->frames.n) ||
	    !pdet_vec_push(&c->seen, seen) ||
	    !pdet_pairs_set(&c->by_text, id, i))
		return NULL;
	return &c->seen.data[i];
}

/* Returns false without memory. */
static bool set_text(struct rows *r, const char *text, size_t len,
		     uint64_t *value)
{
	*value = pdet_hash(text, len);
	return pdet_groups_keep(&r->count->table.groups, *value, text, len);
}

static void set_block(const struct rows *r, uint64_t pfn, uint64_t *value,
		      uint8_t *state)
{
	if (r->block_order < 0)
		*state = r->block_order == -ENOTSUP ? PAGEDET_UNSUPPORTED :
						      PAGEDET_NO_TYPES;
	else
		*value = pfn >> r->block_order << r->block_order;
}

/* Returns false without memory. */
static bool set_key(struct rows *r, uint32_t key, uint64_t *value,
		    uint8_t *state)
{
	const unsigned field = field_of[key];
	const uint64_t v = pdet_batch_get(r->b, r->row, field, 0);
	const struct pdet_owner_seen *seen;
	const char *text;
	size_t len;

	*state = (uint8_t)pdet_batch_state(r->b, r->row, field);
	*value = 0;
	if (*state != PAGEDET_HAVE)
		return true;
	if (key == PAGEDET_OWNER_SLAB) {
		*value = v == PAGEDET_KIND_SLAB;
	} else if (key == PAGEDET_OWNER_BLOCK) {
		set_block(r, v, value, state);
	} else if (key == PAGEDET_OWNER_ZONE) {
		text = pdet_value_name(field, v);
		if (text)
			return set_text(r, text, strlen(text), value);
		*state = PAGEDET_CORRUPT;
	} else if (key == PAGEDET_OWNER_WINDOW) {
		*value = v - v % r->count->asked->window_ns;
	} else if (field == PAGEDET_FIELD_ALLOC_STACK) {
		seen = seen_of(r, v);
		if (!seen)
			return false;
		*value = key == PAGEDET_OWNER_STACK ? v : seen->module;
		if (key == PAGEDET_OWNER_MODULE && !seen->has_module)
			*state = PAGEDET_NONE;
	} else if (pdet_owner_key_is_text(key)) {
		text = pdet_strtab_get(&r->b->strings, v, &len);
		return set_text(r, text, len, value);
	} else {
		*value = v;
	}
	return true;
}

static bool count_row(struct rows *r)
{
	const struct pdet_owner_asked *asked = r->count->asked;
	uint64_t value[PDET_OWNER_KEYS], order;
	uint8_t state[PDET_OWNER_KEYS];
	struct pdet_owner_total *t;
	int64_t group;
	unsigned i;

	for (i = 0; i < asked->n_by; i++)
		if (!set_key(r, asked->by[i], &value[i], &state[i]))
			return false;
	group = pdet_owner_table_find(&r->count->table, value, state);
	if (group < 0)
		return false;
	if (!is_first(r))
		return true;
	order = r->b->value[PAGEDET_FIELD_ALLOC_ORDER][r->row];
	t = &r->count->table.totals.data[group];
	pdet_owner_total_add(t, 1, (uint64_t)1 << order);
	if (pdet_batch_state(r->b, r->row, PAGEDET_FIELD_ALLOC_NS) ==
	    PAGEDET_HAVE)
		pdet_owner_total_at(t, r->b->value[PAGEDET_FIELD_ALLOC_NS]
						  [r->row]);
	return true;
}

/* Whether any source has such records. If not, sets the reason. */
static int check(const struct pdet_iter *it, struct pdet_env *env)
{
	const uint8_t why = it->plan.why[PAGEDET_FIELD_ALLOC_ORDER];
	const char *advice = it->plan.advice[PAGEDET_FIELD_ALLOC_ORDER];

	if (why == PAGEDET_HAVE)
		return 0;
	pdet_fail(env, ENOTSUP, "cannot read page_owner's records: %s",
		  pdet_state_text(why));
	if (advice)
		pdet_advise(env, "%s", advice);
	return why == PAGEDET_NO_ACCESS ? -EACCES :
	       why == PAGEDET_NO_TYPES ? -ENODATA : -ENOTSUP;
}

static int count_all(struct rows *r, struct pdet_env *env)
{
	int code;

	while ((code = pdet_iter_step(r->it, &r->b)) == 1)
		for (r->row = 0; r->row < r->b->n; r->row++)
			if (is_record(r) && !count_row(r))
				return pdet_fail(env, ENOMEM, "no memory");
	return code < 0 ? -pdet_errno_closed(-code) : 0;
}

/* If the scan is stopped, the rows that have come are still right. */
static int end_of(struct pdet_owners_reading *to, int code)
{
	if (code != -ETIMEDOUT && code != -ECANCELED)
		return code;
	atomic_store(&to->watch->stopped, -code);
	pdet_clear(to->env);
	return 0;
}

/* The size of page blocks, if a key needs it, by a source that knows it. */
static int block_order(const struct pdet_owners_args *args,
		       const struct pdet_owner_asked *asked)
{
	int r = -ENOTSUP;
	size_t i;

	if (!pdet_owner_asks(asked, PAGEDET_OWNER_BLOCK))
		return r;
	for (i = 0; i < args->n_backends && r < 0; i++) {
		struct pdet_backend *b = args->backends[i];

		if (b->ops->block_order && b->sources & args->sources)
			r = b->ops->block_order(b, args->env);
	}
	return r;
}

static struct pdet_fields fields_for(const struct pdet_owner_asked *asked)
{
	struct pdet_fields set = { { 0, 0 } };
	unsigned i;

	for (i = 0; i < PDET_COUNT(needed); i++)
		pdet_fields_add(&set, needed[i]);
	for (i = 0; i < asked->n_by; i++)
		pdet_fields_add(&set, field_of[asked->by[i]]);
	for (i = 0; i < PDET_COUNT(of_mixed) && asked->mixed; i++)
		pdet_fields_add(&set, of_mixed[i]);
	return set;
}

static uint64_t time_left(const struct pdet_watch *w)
{
	const uint64_t now = pdet_clock_ns(CLOCK_MONOTONIC);

	if (!w->deadline_ns)
		return 0;
	/* At least 1 ns, which has passed by then. */
	return now < w->deadline_ns ? w->deadline_ns - now : 1;
}

int pdet_owners_by_rows(const struct pdet_owners_args *args,
			struct pdet_owners_reading *to)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pdet_iter_args a = {
		.env = args->env, .backends = args->backends,
		.n_backends = args->n_backends, .sources = args->sources,
		.query = &q, .page_size = args->page_size,
	};
	struct rows r = { .count = &to->sum };
	struct pdet_cover cover;
	int code;

	q.target = PAGEDET_TARGET_SCAN;
	q.where = args->query->where;
	q.threads = args->query->threads;
	q.deadline_ns = time_left(to->watch);
	q.progress = args->query->progress;
	q.progress_user = args->query->progress_user;
	q.progress_ns = args->query->progress_ns;
	a.fields = fields_for(to->asked);
	r.block_order = block_order(args, to->asked);
	code = pdet_iter_new(&a, &r.it);
	if (code < 0)
		return -pdet_errno_closed(-code);
	code = check(r.it, args->env);
	if (code == 0 && to->asked->mixed && r.block_order < 0)
		code = pdet_fail(args->env, ENODATA, "cannot count page "
				 "blocks: their size is not known here");
	if (code == 0)
		code = end_of(to, count_all(&r, args->env));
	if (code == 0) {
		pdet_iter_cover(r.it, &cover);
		to->sum.left.undecided += cover.undecided;
		to->partial = cover.partial ||
			      atomic_load(&to->watch->stopped);
	}
	pdet_iter_free(r.it);
	return code;
}
