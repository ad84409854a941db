/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Counts records of text. It must be fast: text has gigabytes and millions of
 * records, but only some thousands of different stacks. The hash of a stack's
 * text identifies it, and it is parsed once. Only needed values are parsed.
 */
#include <string.h>

#include "backend/text_kind.h"
#include "base/hash.h"
#include "owners/count.h"
#include "owners/mixed.h"

/* Records per call of the filter. */
#define ROWS 1024
/* Limit of the text of these records. */
#define ROWS_TEXT ((size_t)4 << 20)

/* Whether a key is of the line with the page. */
static bool is_of_page(uint32_t key)
{
	return key == PAGEDET_OWNER_MIGRATETYPE ||
	       key == PAGEDET_OWNER_PAGE_MOBILITY ||
	       key == PAGEDET_OWNER_BLOCK || key == PAGEDET_OWNER_NODE ||
	       key == PAGEDET_OWNER_ZONE;
}

static unsigned skipped(const struct pdet_owner_asked *asked)
{
	unsigned skip = PDET_OWNER_SKIP_GFP | PDET_OWNER_SKIP_PAGE, i;

	for (i = 0; i < asked->n_by; i++) {
		if (asked->by[i] == PAGEDET_OWNER_GFP)
			skip &= ~PDET_OWNER_SKIP_GFP;
		if (is_of_page(asked->by[i]))
			skip &= ~PDET_OWNER_SKIP_PAGE;
	}
	return skip;
}

bool pdet_owner_count_init(struct pdet_owner_count *c,
			   const struct pdet_owner_asked *asked)
{
	struct pdet_fields fields = { { 0, 0 } };

	memset(c, 0, sizeof(*c));
	c->asked = asked;
	c->table.groups.n_keys = asked->n_by;
	if (!asked->filter)
		c->skip = skipped(asked);
	if (!asked->filter)
		return true;
	fields = pdet_filter_fields(asked->filter);
	c->truth = malloc(pdet_filter_scratch(asked->filter, ROWS));
	c->records = calloc(ROWS, sizeof(*c->records));
	if (c->truth && c->records &&
	    pdet_batch_init(&c->rows, &fields, ROWS, ROWS_TEXT))
		return true;
	free(c->truth);
	free(c->records);
	c->truth = NULL;
	c->records = NULL;
	return false;
}

void pdet_owner_count_free(struct pdet_owner_count *c)
{
	pdet_owner_table_free(&c->table);
	pdet_pairs_free(&c->by_text);
	pdet_vec_free(&c->seen);
	pdet_vec_free(&c->frames);
	if (c->records)
		pdet_batch_free(&c->rows);
	free(c->records);
	free(c->truth);
}

struct pdet_scan pdet_owner_module(const char *frames, size_t n)
{
	struct pdet_scan text = { frames, frames + n }, line;
	const char *at;

	while (pdet_scan_line(&text, &line)) {
		if (line.at == line.end || line.end[-1] != ']')
			continue;
		at = memrchr(line.at, '[', (size_t)(line.end - line.at));
		if (!at)
			continue;
		/* [xfs 0123abcd]: the build id, if shown */
		line.at = at + 1;
		line.end--;
		return pdet_scan_token(&line);
	}
	return (struct pdet_scan){ frames, frames };
}

/* Parses a new stack. */
static bool look_at(struct pdet_owner_count *c, const struct pdet_scan *stack,
		    struct pdet_owner_seen *seen)
{
	const size_t size = (size_t)(stack->end - stack->at);
	struct pdet_scan module;
	size_t n, len;

	c->frames.n = 0;
	if (!pdet_vec_reserve(&c->frames, size + 1))
		return false;
	n = pdet_owner_frames(stack, c->frames.data);
	*seen = (struct pdet_owner_seen){
		.is = pdet_owner_stack_of(c->frames.data, n), .group = -1,
	};
	module = pdet_owner_module(c->frames.data, n);
	len = (size_t)(module.end - module.at);
	seen->has_module = len;
	seen->module = pdet_hash(module.at, len);
	return (!len || pdet_groups_keep(&c->table.groups, seen->module,
					      module.at, len)) &&
	       (!n || pdet_groups_keep(&c->table.groups, seen->is.id,
					    c->frames.data, n));
}

static struct pdet_owner_seen *seen_of(struct pdet_owner_count *c,
				       const struct pdet_scan *stack)
{
	const uint64_t hash = pdet_hash(stack->at,
					(size_t)(stack->end - stack->at));
	struct pdet_owner_seen seen;
	uint64_t i;

	if (pdet_pairs_get(&c->by_text, hash, &i))
		return &c->seen.data[i];
	i = c->seen.n;
	if (!look_at(c, stack, &seen) || !pdet_vec_push(&c->seen, seen) ||
	    !pdet_pairs_set(&c->by_text, hash, i))
		return NULL;
	return &c->seen.data[i];
}

/* --- keys --- */

struct key {
	uint64_t value;
	uint8_t state;
};

static bool set_text(struct pdet_owner_count *c, struct key *k,
		     const char *text, size_t n)
{
	k->value = pdet_hash(text, n);
	k->state = PAGEDET_HAVE;
	return pdet_groups_keep(&c->table.groups, k->value, text, n);
}

static bool set_scan(struct pdet_owner_count *c, struct key *k,
		     const struct pdet_scan *s)
{
	return set_text(c, k, s->at, (size_t)(s->end - s->at));
}

/* Old kernels wrote only numbers. */
static bool set_named(struct pdet_owner_count *c, struct key *k,
		      const struct pdet_owner_record *r,
		      const struct pdet_scan *s)
{
	if (!(r->has & PDET_OWNER_OLD))
		return set_scan(c, k, s);
	k->state = PAGEDET_NO_KERNEL;
	return true;
}

static void set_number(struct key *k, bool said, uint64_t value)
{
	k->value = said ? value : 0;
	k->state = said ? PAGEDET_HAVE : PAGEDET_NO_KERNEL;
}

static bool set_memcg(struct pdet_owner_count *c, struct key *k,
		      const struct pdet_owner_record *r)
{
	const char *offline = r->has & PDET_OWNER_OFFLINE ? " (offline)" : "";
	const char *objcg = r->has & PDET_OWNER_OBJCG ? " (via objcg)" : "";
	const size_t n = (size_t)(r->memcg.end - r->memcg.at);
	size_t len;

	if (!*offline && !*objcg)
		return set_text(c, k, r->memcg.at, n);
	c->frames.n = 0;
	if (!pdet_vec_reserve(&c->frames, n + 32))
		return false;
	memcpy(c->frames.data, r->memcg.at, n);
	len = n + strlen(offline);
	memcpy(c->frames.data + n, offline, len - n);
	memcpy(c->frames.data + len, objcg, strlen(objcg));
	return set_text(c, k, c->frames.data, len + strlen(objcg));
}

static void set_of_stack(struct key *k, bool has, uint64_t value,
			 unsigned state)
{
	k->value = has ? value : 0;
	k->state = (uint8_t)(has ? PAGEDET_HAVE : state);
}

/* The kernel puts the place of a page into its flags. They have the number of a
 * zone, but not its name. */
static bool set_of_page(struct pdet_owner_count *c, struct key *k,
			const struct pdet_owner_record *r, uint32_t key)
{
	struct pdet_scan value;
	uint64_t number = 0;
	bool said;

	switch (key) {
	case PAGEDET_OWNER_MIGRATETYPE:
		return set_named(c, k, r, &r->block_type);
	case PAGEDET_OWNER_PAGE_MOBILITY:
		return set_named(c, k, r, &r->type);
	case PAGEDET_OWNER_BLOCK:
		k->state = pdet_owner_block(r, &k->value) ? PAGEDET_HAVE :
							    PAGEDET_CORRUPT;
		return true;
	case PAGEDET_OWNER_ZONE:
		if (pdet_owner_flag(r, "zone=", &value))
			return set_scan(c, k, &value);
		set_number(k, false, 0);
		return true;
	default:
		said = pdet_owner_flag(r, "node=", &value) &&
		       pdet_scan_dec(&value, &number);
		set_number(k, said, number);
		return true;
	}
}

/* Returns false without memory. */
static bool set_key(struct pdet_owner_count *c, uint32_t key,
		    const struct pdet_owner_record *r,
		    const struct pdet_owner_seen *seen, struct key *k)
{
	const char *allocator = seen->is.allocator;
	const unsigned lost = seen->is.id ? PAGEDET_UNSUPPORTED :
					    PAGEDET_NONE;
	const bool whole = !(r->has & PDET_OWNER_STACK_ONLY);

	*k = (struct key){ 0, PAGEDET_UNSUPPORTED };
	switch (key) {
	case PAGEDET_OWNER_STACK:
		set_of_stack(k, seen->is.id, seen->is.id, PAGEDET_NONE);
		return true;
	case PAGEDET_OWNER_MODULE:
		set_of_stack(k, seen->has_module, seen->module,
			     seen->is.unknown ? PAGEDET_UNSUPPORTED :
						PAGEDET_NONE);
		return true;
	case PAGEDET_OWNER_ALLOCATOR:
		if (allocator)
			return set_text(c, k, allocator, strlen(allocator));
		set_of_stack(k, false, 0, lost);
		return true;
	}
	if (!whole)
		return true;
	if (is_of_page(key))
		return set_of_page(c, k, r, key);
	switch (key) {
	case PAGEDET_OWNER_PID:
		set_number(k, r->has & PDET_OWNER_PID, r->pid);
		return true;
	case PAGEDET_OWNER_TGID:
		set_number(k, r->has & PDET_OWNER_TGID, r->tgid);
		return true;
	case PAGEDET_OWNER_COMM:
		if (r->has & PDET_OWNER_TGID)
			return set_scan(c, k, &r->comm);
		set_number(k, false, 0);
		return true;
	case PAGEDET_OWNER_MEMCG_NAME:
		if (r->has & PDET_OWNER_CHARGED)
			return set_memcg(c, k, r);
		k->state = PAGEDET_NONE;
		return true;
	case PAGEDET_OWNER_ORDER:
		set_number(k, true, r->order);
		return true;
	case PAGEDET_OWNER_GFP:
		return set_named(c, k, r, &r->gfp);
	case PAGEDET_OWNER_SLAB:
		set_number(k, true, !!(r->has & PDET_OWNER_SLAB));
		return true;
	case PAGEDET_OWNER_MIGRATE_REASON:
		if (r->has & PDET_OWNER_MIGRATED)
			return set_scan(c, k, &r->reason);
		k->state = PAGEDET_NONE;
		return true;
	case PAGEDET_OWNER_WINDOW:
		set_number(k, r->has & PDET_OWNER_NS,
			   r->ns - r->ns % c->asked->window_ns);
		return true;
	}
	return true;
}

/* --- records --- */

static int64_t group_of(struct pdet_owner_count *c,
			const struct pdet_owner_record *r,
			const struct pdet_owner_seen *seen)
{
	uint64_t value[PDET_OWNER_KEYS] = { 0 };
	uint8_t state[PDET_OWNER_KEYS] = { 0 };
	struct key k;
	unsigned i;

	for (i = 0; i < c->asked->n_by; i++) {
		if (!set_key(c, c->asked->by[i], r, seen, &k))
			return -1;
		value[i] = k.value;
		state[i] = k.state;
	}
	return pdet_owner_table_find(&c->table, value, state);
}

static bool count(struct pdet_owner_count *c,
		  const struct pdet_owner_record *r,
		  struct pdet_owner_seen *seen)
{
	const bool by_stack = c->asked->n_by == 1 &&
			      c->asked->by[0] == PAGEDET_OWNER_STACK;
	int64_t group = by_stack ? seen->group : -1;
	struct pdet_owner_total *t;

	if (group < 0)
		group = group_of(c, r, seen);
	if (group < 0)
		return false;
	if (by_stack)
		seen->group = group;
	t = &c->table.totals.data[group];
	pdet_owner_total_add(t, r->times, r->pages);
	if (r->has & PDET_OWNER_NS)
		pdet_owner_total_at(t, r->ns);
	return true;
}

/* A group of page_owner_sort stands for several records. */
static uint64_t times_of(const struct pdet_owner_record *r)
{
	return r->times ? r->times : 1;
}

/* Counts rows for which the filter is true. */
static bool count_rows(struct pdet_owner_count *c)
{
	const struct pdet_fields all = pdet_owner_fields();
	const uint32_t n = c->rows.n;
	struct pdet_owner_seen *seen;
	uint32_t i;
	unsigned f;

	for (i = 0; i < n; i++) {
		const struct pdet_owner_record *r = &c->records[i];

		seen = seen_of(c, &r->stack);
		if (!seen)
			return false;
		pdet_fields_for(f, &c->rows.have)
			pdet_put_lost(&c->rows, i, f, PAGEDET_UNSUPPORTED,
				      c->asked->source);
		if (!(r->has & PDET_OWNER_STACK_ONLY))
			pdet_put(&c->rows, i, PAGEDET_FIELD_PFN, r->pfn,
				 c->asked->source);
		pdet_owner_put(&c->rows, i, &all, r, &seen->is,
			       c->asked->source);
	}
	pdet_filter_eval(c->asked->filter, &c->rows, c->truth);
	for (i = 0; i < n; i++) {
		const struct pdet_owner_record *r = &c->records[i];

		if (c->truth[i] == PDET_FALSE)
			c->left.filtered += times_of(r);
		else if (c->truth[i] == PDET_UNKNOWN)
			c->left.undecided += times_of(r);
		else if (!count(c, r, seen_of(c, &r->stack)))
			return false;
	}
	pdet_batch_clear(&c->rows, 1);
	return true;
}

static bool take(struct pdet_owner_count *c,
		 const struct pdet_owner_record *r)
{
	const unsigned mixed = c->asked->mixed ? pdet_mixed_record(r) :
						 PAGEDET_HAVE;
	struct pdet_owner_seen *seen;

	if (mixed == PAGEDET_NONE)
		c->left.filtered += times_of(r);
	else if (pdet_is_reason(mixed))
		c->left.undecided += times_of(r);
	if (mixed != PAGEDET_HAVE)
		return true;
	if (c->asked->filter) {
		if (c->rows.n == ROWS && !count_rows(c))
			return false;
		c->records[c->rows.n] = *r;
		return pdet_batch_grow(&c->rows, 1) >= 0;
	}
	seen = seen_of(c, &r->stack);
	return seen && count(c, r, seen);
}

/* Finds the stack of a record that has only its number. */
static void find_stack(struct pdet_owner_count *c, struct pdet_owner_record *r)
{
	if (c->asked->handles &&
	    pdet_owner_handles_find(c->asked->handles, r->handle, &r->stack))
		return;
	c->left.numbers += r->times;
}

bool pdet_owner_count_block(struct pdet_owner_count *c, const char *text,
			    size_t n, bool last)
{
	const uint64_t damaged = c->left.damaged;
	struct pdet_scan at = { text, text + n };
	struct pdet_owner_record r;
	enum pdet_owner_is is;

	c->left.text_bytes += n;
	for (;;) {
		is = pdet_owner_next(&at, last, c->skip, &r);
		if (is == PDET_OWNER_END)
			break;
		if (is == PDET_OWNER_RECORD && r.has & PDET_OWNER_HANDLE)
			find_stack(c, &r);
		if (is == PDET_OWNER_DAMAGED)
			c->left.damaged++;
		else if (!take(c, &r))
			return false;
	}
	if (c->left.damaged > damaged && !c->left.has_log)
		c->left.has_log = pdet_text_has_log(text, n);
	/* Records point into the caller's text. */
	return !c->asked->filter || count_rows(c);
}
