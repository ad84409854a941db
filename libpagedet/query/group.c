/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The table of groups. For each field, a key has the value and one of three
 * states: answered, nothing, or unknown. It does not contain sources, and all
 * reasons are the same. Most of memory consists of runs of equal rows. For
 * these, each row costs one comparison.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/vec.h"
#include "query/group.h"

#define MAX_KEYS 16

struct key {
	uint64_t value[MAX_KEYS];
	uint8_t state[MAX_KEYS]; /* HAVE, NONE, or the first reason */
};

struct entry {
	uint64_t pages;
	uint64_t hash;
};

/* Zeroed, there is none. */
struct bytes {
	uint64_t sum;
	bool any;
	uint8_t reason;		/* why the sum lacks some; 0: it does not */
};

struct pdet_group {
	uint32_t keys[MAX_KEYS];
	bool text[MAX_KEYS];
	size_t n_keys;
	size_t max;		/* largest number of groups */
	struct {
		struct entry *data;
		size_t n, cap;
	} entries;
	struct {
		struct key *data;
		size_t n, cap;
	} names;
	/* By entry, if they are added up. */
	bool has_bytes;
	struct {
		struct bytes *data;
		size_t n, cap;
	} bytes;
	struct bytes all_bytes;
	uint32_t *slot;		/* index of the entry + 1 */
	size_t slots;
	struct pdet_strtab strings;
	uint64_t spilled;
	uint64_t total;
	unsigned order_by;	/* PAGEDET_FIELD_* */
	bool up;		/* smallest first */
};

struct pdet_group *pdet_group_new(const uint32_t *keys, size_t n,
				  size_t max_bytes)
{
	struct pdet_group *g;
	size_t i;

	if (n > MAX_KEYS)
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	for (i = 0; i < n; i++) {
		unsigned type = pdet_field_info(keys[i])->type;

		g->keys[i] = keys[i];
		g->text[i] = type == PAGEDET_TYPE_STRING ||
			     type == PAGEDET_TYPE_LIST;
	}
	g->n_keys = n;
	g->order_by = PAGEDET_FIELD_PAGES;
	/*
	 * Half of the memory is for text, and half for keys, entries and slots.
	 */
	g->max = PDET_MAX(max_bytes / 2 /
			  (sizeof(struct key) + sizeof(struct entry) + 16),
			  (size_t)64);
	pdet_strtab_init(&g->strings, 1, max_bytes / 2);
	return g;
}

void pdet_group_free(struct pdet_group *g)
{
	if (!g)
		return;
	pdet_strtab_free(&g->strings);
	pdet_vec_free(&g->entries);
	pdet_vec_free(&g->names);
	pdet_vec_free(&g->bytes);
	free(g->slot);
	free(g);
}

/* Unknown values form one group, whatever their reason. */
static unsigned class_of(unsigned state)
{
	return pdet_is_reason(state) ? PAGEDET_UNSUPPORTED : state;
}

static bool same_key(const struct pdet_group *g, const struct key *a,
		     const struct key *b)
{
	size_t i;

	for (i = 0; i < g->n_keys; i++)
		if (a->value[i] != b->value[i] ||
		    class_of(a->state[i]) != class_of(b->state[i]))
			return false;
	return true;
}

/*
 * Each run of pages needs a look-up of a key of a few words. One multiplication
 * per word is enough, and several times faster than a hash of bytes.
 */
static uint64_t hash_key(const struct pdet_group *g, const struct key *k)
{
	uint64_t h = 0;
	size_t i;

	for (i = 0; i < g->n_keys; i++) {
		h = (h ^ k->value[i] ^ (uint64_t)class_of(k->state[i]) << 56) *
		    0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	return h;
}

static bool grow_slots(struct pdet_group *g)
{
	size_t slots = g->slots ? g->slots * 2 : 256, i, at;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return false;
	for (i = 0; i < g->entries.n; i++) {
		at = g->entries.data[i].hash & (slots - 1);
		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = (uint32_t)i + 1;
	}
	free(g->slot);
	g->slot = slot;
	g->slots = slots;
	return true;
}

static void add_bytes(struct bytes *to, const struct bytes *more)
{
	to->any |= more->any;
	if (more->reason)
		to->reason = more->reason;
	if (__builtin_add_overflow(to->sum, more->sum, &to->sum))
		to->reason = PAGEDET_CORRUPT;
}

/* The sum of some rows. */
static struct bytes bytes_of(const struct pdet_batch *b, uint32_t row,
			     uint32_t n)
{
	const unsigned f = PAGEDET_FIELD_ALLOC_BYTES;
	struct bytes all = { 0 }, one;
	unsigned state;
	uint32_t i;

	if (!b->value[f])
		return (struct bytes){ .reason = PAGEDET_UNSUPPORTED };
	for (i = row; i < row + n; i++) {
		state = b->cell[f][i] & 0xff;
		one = (struct bytes){ .any = state == PAGEDET_HAVE };
		if (one.any)
			one.sum = b->value[f][i];
		else if (pdet_is_reason(state))
			one.reason = (uint8_t)state;
		add_bytes(&all, &one);
	}
	return all;
}

/*
 * Adds pages, and @bytes if they are added up, to the group of a key whose
 * string ids are in @g->strings.
 */
static int add(struct pdet_group *g, const struct key *k, uint64_t pages,
	       const struct bytes *bytes)
{
	struct entry e = { pages, hash_key(g, k) };
	size_t at;

	g->total += pages;
	add_bytes(&g->all_bytes, bytes);
	if (g->slots) {
		at = e.hash & (g->slots - 1);
		for (; g->slot[at]; at = (at + 1) & (g->slots - 1)) {
			size_t i = g->slot[at] - 1;

			if (g->entries.data[i].hash == e.hash &&
			    same_key(g, &g->names.data[i], k)) {
				g->entries.data[i].pages += pages;
				if (g->has_bytes)
					add_bytes(&g->bytes.data[i], bytes);
				return 0;
			}
		}
	}
	if (g->entries.n >= g->max) {
		g->spilled += pages;
		return 0;
	}
	if ((g->entries.n * 2 >= g->slots && !grow_slots(g)) ||
	    !pdet_vec_reserve(&g->entries, 1) ||
	    (g->has_bytes && !pdet_vec_reserve(&g->bytes, 1)) ||
	    !pdet_vec_push(&g->names, *k))
		return -ENOMEM;
	if (g->has_bytes)
		g->bytes.data[g->bytes.n++] = *bytes;
	g->entries.data[g->entries.n++] = e;
	at = e.hash & (g->slots - 1);
	while (g->slot[at])
		at = (at + 1) & (g->slots - 1);
	g->slot[at] = (uint32_t)g->entries.n;
	return 0;
}

/* Makes the key of a row. Returns false if there is no room for its text. */
static bool row_key(struct pdet_group *g, const struct pdet_batch *b,
		    uint32_t row, struct key *k)
{
	const char *text;
	size_t i, len;

	for (i = 0; i < g->n_keys; i++) {
		unsigned f = g->keys[i];

		if (!b->value[f]) {
			k->state[i] = PAGEDET_UNSUPPORTED;
			k->value[i] = 0;
			continue;
		}
		k->state[i] = b->cell[f][row] & 0xff;
		k->value[i] = k->state[i] == PAGEDET_HAVE ?
			b->value[f][row] : 0;
		if (!g->text[i] || k->state[i] != PAGEDET_HAVE)
			continue;
		text = pdet_strtab_get(&b->strings, k->value[i], &len);
		k->value[i] = text ? pdet_strtab_add(&g->strings, text, len) :
				     0;
		if (!k->value[i])
			return false;
	}
	return true;
}

/* There is no room for its text. */
static void spill(struct pdet_group *g, uint64_t pages,
		  const struct bytes *bytes)
{
	g->total += pages;
	g->spilled += pages;
	add_bytes(&g->all_bytes, bytes);
}

/* Adds pages to the group of a row, without reading its column of PAGES. */
static int add_pages(struct pdet_group *g, const struct pdet_batch *b,
		     uint32_t row, uint64_t pages, const struct bytes *bytes)
{
	struct key k;

	if (!row_key(g, b, row, &k)) {
		spill(g, pages, bytes);
		return 0;
	}
	return add(g, &k, pages, bytes);
}

/* The number of rows from @row on with equal keys, found column by column. */
static uint32_t run_of_rows(const struct pdet_group *g,
			    const struct pdet_batch *b, uint32_t row)
{
	uint32_t end = b->n, i;
	size_t k;

	for (k = 0; k < g->n_keys; k++) {
		const uint64_t *v = b->value[g->keys[k]];
		const uint16_t *c = b->cell[g->keys[k]];

		if (!v)
			continue;
		for (i = row + 1; i < end; i++)
			if (v[i] != v[row] || c[i] != c[row])
				break;
		end = i;
	}
	return end - row;
}

int pdet_group_add(struct pdet_group *g, const struct pdet_batch *b)
{
	const uint64_t *pages = b->value[PAGEDET_FIELD_PAGES];
	struct bytes bytes = { 0 };
	uint32_t row, n, i;
	uint64_t sum;
	int r;

	for (row = 0; row < b->n; row += n) {
		n = run_of_rows(g, b, row);
		for (i = 0, sum = 0; pages && i < n; i++)
			sum += pages[row + i];
		if (g->has_bytes)
			bytes = bytes_of(b, row, n);
		r = add_pages(g, b, row, pages ? sum : n, &bytes);
		if (r < 0)
			return r;
	}
	return 0;
}

int pdet_group_merge(struct pdet_group *g, const struct pdet_group *from)
{
	const struct bytes none = { 0 }, *bytes;
	struct bytes all = g->all_bytes;
	size_t i, j, len;
	int r;

	add_bytes(&all, &from->all_bytes);
	g->spilled += from->spilled;
	g->total += from->spilled;
	for (i = 0; i < from->entries.n; i++) {
		struct key k = from->names.data[i];
		uint64_t pages = from->entries.data[i].pages;
		bool room = true;

		bytes = g->has_bytes ? &from->bytes.data[i] : &none;
		for (j = 0; j < g->n_keys && room; j++) {
			const char *text;

			if (!g->text[j] || k.state[j] != PAGEDET_HAVE)
				continue;
			text = pdet_strtab_get(&from->strings, k.value[j],
					       &len);
			k.value[j] = pdet_strtab_add(&g->strings, text, len);
			room = k.value[j];
		}
		if (!room) {
			spill(g, pages, bytes);
			continue;
		}
		r = add(g, &k, pages, bytes);
		if (r < 0)
			return r;
	}
	/* Also those that had no group. */
	g->all_bytes = all;
	return 0;
}

/*
 * Compares key @i of both groups, first by state and then by value. Known keys
 * come before unknown ones.
 */
static int compare_key(const struct pdet_group *g, size_t i,
		       const struct key *k, const struct key *l, bool down)
{
	int order;

	if (k->state[i] != l->state[i])
		return k->state[i] < l->state[i] ? -1 : 1;
	if (k->value[i] == l->value[i])
		return 0;
	if (g->text[i])
		order = strcmp(pdet_strtab_get(&g->strings, k->value[i], NULL),
			       pdet_strtab_get(&g->strings, l->value[i], NULL));
	else
		order = k->value[i] < l->value[i] ? -1 : 1;
	return down ? -order : order;
}

/* Sums that are not known, or that there are not, come last. */
static int compare_bytes(const struct bytes *a, const struct bytes *b, bool up)
{
	const bool has = a->any && !a->reason, other = b->any && !b->reason;

	if (has != other)
		return has ? -1 : 1;
	if (!has || a->sum == b->sum)
		return 0;
	return (a->sum > b->sum) != up ? -1 : 1;
}

/*
 * Orders groups as requested, then the largest first, then by key. The order is
 * thus always the same.
 */
static int compare(const void *a, const void *b, void *data)
{
	const struct pdet_group *g = data;
	const uint32_t *x = a, *y = b;
	const struct entry *e = &g->entries.data[*x], *f = &g->entries.data[*y];
	const struct key *k = &g->names.data[*x], *l = &g->names.data[*y];
	const bool up = g->up && g->order_by == PAGEDET_FIELD_PAGES;
	int order;
	size_t i;

	for (i = 0; i < g->n_keys; i++) {
		order = g->keys[i] == g->order_by ?
			compare_key(g, i, k, l, !g->up) : 0;
		if (order)
			return order;
	}
	if (g->has_bytes && g->order_by == PAGEDET_FIELD_ALLOC_BYTES) {
		order = compare_bytes(&g->bytes.data[*x], &g->bytes.data[*y],
				      g->up);
		if (order)
			return order;
	}
	if (e->pages != f->pages)
		return (e->pages > f->pages) != up ? -1 : 1;
	for (i = 0; i < g->n_keys; i++) {
		order = compare_key(g, i, k, l, false);
		if (order)
			return order;
	}
	return 0;
}

void pdet_group_order(struct pdet_group *g, unsigned field, bool down)
{
	g->order_by = field;
	g->up = !down;
}

void pdet_group_sort(struct pdet_group *g)
{
	size_t i;

	/* Nothing looks up slots any more: reuse their memory for the order. */
	if (g->slots < g->entries.n || !g->entries.n)
		return;
	for (i = 0; i < g->entries.n; i++)
		g->slot[i] = (uint32_t)i;
	qsort_r(g->slot, g->entries.n, sizeof(*g->slot), compare, g);
}

size_t pdet_group_count(const struct pdet_group *g)
{
	return g->entries.n;
}

static unsigned state_of(const struct bytes *bytes)
{
	return bytes->reason ? bytes->reason :
	       bytes->any ? PAGEDET_HAVE : PAGEDET_NONE;
}

static void put_bytes(struct pdet_batch *b, uint32_t row,
		      const struct bytes *bytes)
{
	const unsigned f = PAGEDET_FIELD_ALLOC_BYTES, state = state_of(bytes);
	const unsigned source = PAGEDET_SOURCE_DERIVED;

	if (state == PAGEDET_HAVE)
		pdet_put(b, row, f, bytes->sum, source);
	else if (state == PAGEDET_NONE)
		pdet_put_none(b, row, f, source);
	else
		pdet_put_lost(b, row, f, state, source);
}

void pdet_group_get(const struct pdet_group *g, size_t i, struct pdet_batch *b,
		    uint32_t row)
{
	const struct key *k = &g->names.data[g->slot[i]];
	const unsigned source = PAGEDET_SOURCE_DERIVED;
	const char *text;
	size_t j, len;

	for (j = 0; j < g->n_keys; j++) {
		if (k->state[j] == PAGEDET_NONE) {
			pdet_put_none(b, row, g->keys[j], source);
		} else if (k->state[j] != PAGEDET_HAVE) {
			pdet_put_lost(b, row, g->keys[j], k->state[j], source);
		} else if (g->text[j]) {
			text = pdet_strtab_get(&g->strings, k->value[j], &len);
			pdet_put_text(b, row, g->keys[j], text, len, source);
		} else {
			pdet_put(b, row, g->keys[j], k->value[j], source);
		}
	}
	pdet_put(b, row, PAGEDET_FIELD_PAGES,
		 g->entries.data[g->slot[i]].pages, source);
	if (!g->has_bytes)
		return;
	/* A key has the bytes of each. */
	for (j = 0; j < g->n_keys; j++)
		if (g->keys[j] == PAGEDET_FIELD_ALLOC_BYTES)
			return;
	put_bytes(b, row, &g->bytes.data[g->slot[i]]);
}

void pdet_group_sum_bytes(struct pdet_group *g)
{
	g->has_bytes = true;
}

unsigned pdet_group_bytes(const struct pdet_group *g, uint64_t *ret)
{
	*ret = g->all_bytes.sum;
	return state_of(&g->all_bytes);
}

uint64_t pdet_group_pages(const struct pdet_group *g)
{
	return g->total;
}

uint64_t pdet_group_spilled(const struct pdet_group *g)
{
	return g->spilled;
}
