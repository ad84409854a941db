/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares two rows with the same place. If one side does not know a value, the
 * values are not compared: they count neither as changed nor as equal.
 */
#include <string.h>

#include "diff/diff.h"

#define F(name) PAGEDET_FIELD_##name
#define HAVE PAGEDET_HAVE

static const char *const names[] = {
	[PAGEDET_CHANGE_APPEARED] = "appeared",
	[PAGEDET_CHANGE_GONE] = "gone",
	[PAGEDET_CHANGE_REUSED] = "reused",
	[PAGEDET_CHANGE_MIGRATED] = "migrated",
	[PAGEDET_CHANGE_MOVED] = "moved",
	[PAGEDET_CHANGE_SPLIT] = "split",
	[PAGEDET_CHANGE_MERGED] = "merged",
	[PAGEDET_CHANGE_FLAGS] = "flags",
	[PAGEDET_CHANGE_OWNER] = "owner",
	[PAGEDET_CHANGE_MAPCOUNT] = "mapcount",
	[PAGEDET_CHANGE_MEMCG] = "memcg",
	[PAGEDET_CHANGE_CONTENT] = "content",
	[PAGEDET_CHANGE_OTHER] = "other",
};

const char *pdet_change_name(uint32_t change)
{
	return change < PDET_COUNT(names) ? names[change] : NULL;
}

/*
 * The name of the change if field @f differs, unless another name comes first.
 */
static uint32_t change_of(unsigned f)
{
	switch (f) {
	case F(FLAGS): case F(RAW_FLAGS): case F(PTE):
		return PDET_CHANGE(FLAGS);
	case F(DEV): case F(INODE): case F(INDEX): case F(PATH):
	case F(SLAB_CACHE): case F(OBJECT): case F(TGID): case F(COMM):
	case F(ALLOC_STACK): case F(FREE_STACK): case F(ALLOC_PID):
	case F(ALLOC_TGID): case F(ALLOC_COMM): case F(GFP_MASK): case F(GFP):
	case F(ALLOC_ORDER): case F(ALLOCATOR): case F(ALLOC_NS):
	case F(FREE_NS): case F(MIGRATE_REASON): case F(PAGE_MOBILITY):
		return PDET_CHANGE(OWNER);
	case F(MAPCOUNT): case F(USER_MAPS):
		return PDET_CHANGE(MAPCOUNT);
	case F(MEMCG_INO): case F(MEMCG_PATH): case F(MEMCG_NAME):
		return PDET_CHANGE(MEMCG);
	case F(CONTENT): case F(HASH): case F(ENTROPY):
		return PDET_CHANGE(CONTENT);
	default:
		return PDET_CHANGE(OTHER);
	}
}

/* --- one field --- */

static unsigned state(struct pdet_diff_row r, unsigned f)
{
	return pdet_batch_state(r.b, r.at, f);
}

static uint64_t value(struct pdet_diff_row r, unsigned f)
{
	return r.b->value[f][r.at];
}

static bool have_both(const struct pdet_diff *d, unsigned f,
		      struct pdet_diff_row was, struct pdet_diff_row now)
{
	return pdet_fields_has(&d->compare, f) && state(was, f) == HAVE &&
	       state(now, f) == HAVE;
}

/* The bits of a mask that a row knows. */
static uint64_t known(struct pdet_diff_row r, unsigned f)
{
	const unsigned k = pdet_known_field(f);

	if (k == f || !pdet_batch_has(r.b, k))
		return UINT64_MAX;
	return state(r, k) == HAVE ? value(r, k) : 0;
}

static int text_differs(struct pdet_diff_row was, struct pdet_diff_row now,
			unsigned f)
{
	const char *a = pdet_strtab_get(&was.b->strings, value(was, f), NULL);
	const char *b = pdet_strtab_get(&now.b->strings, value(now, f), NULL);

	return a && b ? strcmp(a, b) != 0 : -1;
}

/* Whether the kind says only what a page is not. */
static bool is_vague(unsigned f, uint64_t x, uint64_t y)
{
	return f == F(KIND) && x == PAGEDET_KIND_UNKNOWN &&
	       (y == PAGEDET_KIND_FREE || y == PAGEDET_KIND_KERNEL ||
		y == PAGEDET_KIND_ZSMALLOC || y == PAGEDET_KIND_UNINIT ||
		y == PAGEDET_KIND_DEVICE);
}

/* An average is not comparable with a count. */
bool pdet_diff_counts(const struct pdet_diff *d, struct pdet_diff_row was,
		      struct pdet_diff_row now)
{
	const unsigned f = F(MAPCOUNT_KIND);
	const bool a = pdet_batch_has(was.b, f) && state(was, f) == HAVE;
	const bool b = pdet_batch_has(now.b, f) && state(now, f) == HAVE;

	if (a && b)
		return value(was, f) == value(now, f);
	return !a && !b && d->same_counts;
}

static int have_differs(const struct pdet_diff *d, struct pdet_diff_row was,
			struct pdet_diff_row now, unsigned f)
{
	const unsigned type = pdet_field_info(f)->type;
	const uint64_t a = value(was, f), b = value(now, f);
	uint64_t both;

	if (type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST)
		return text_differs(was, now, f);
	if (type == PAGEDET_TYPE_MASK) {
		both = known(was, f) & known(now, f);
		return both ? ((a ^ b) & both) != 0 : -1;
	}
	if (f == F(MAPCOUNT) && !pdet_diff_counts(d, was, now))
		return -1;
	if (is_vague(f, a, b) || is_vague(f, b, a))
		return -1;
	return a != b;
}

int pdet_diff_field(const struct pdet_diff *d, unsigned f,
		    struct pdet_diff_row was, struct pdet_diff_row now)
{
	const unsigned a = state(was, f), b = state(now, f);

	if (a == HAVE && b == HAVE)
		return have_differs(d, was, now, f);
	if (a != HAVE && a != PAGEDET_NONE)
		return -1;
	return b == HAVE || b == PAGEDET_NONE ? a != b : -1;
}

/* --- is there a page? --- */

static enum pdet_there by_kind(struct pdet_diff_row r)
{
	if (!pdet_batch_has(r.b, F(KIND)) || state(r, F(KIND)) != HAVE)
		return PDET_THERE_UNKNOWN;
	switch (value(r, F(KIND))) {
	case PAGEDET_KIND_FREE: case PAGEDET_KIND_HOLE:
	case PAGEDET_KIND_UNINIT: case PAGEDET_KIND_UNTOUCHED:
	case PAGEDET_KIND_UNMAPPED:
		return PDET_THERE_NO;
	case PAGEDET_KIND_UNKNOWN:
		return PDET_THERE_UNKNOWN;
	default:
		return PDET_THERE_YES;
	}
}

/* A frame that an entry only remembers is not a page there. */
static bool is_stale(struct pdet_diff_row r)
{
	return pdet_batch_get(r.b, r.at, F(NOTES), 0) &
	       PAGEDET_NOTE(PAGEDET_NOTE_STALE);
}

static enum pdet_there by_address(struct pdet_diff_row r)
{
	const uint64_t present = PAGEDET_PTE(PAGEDET_PTE_PRESENT);
	const unsigned pfn = state(r, F(PFN));

	if (pfn == PAGEDET_NONE)
		return PDET_THERE_NO;
	if (pfn == HAVE)
		return is_stale(r) ? PDET_THERE_NO : PDET_THERE_YES;
	if (pdet_batch_has(r.b, F(PTE)) && state(r, F(PTE)) == HAVE &&
	    known(r, F(PTE)) & present)
		return value(r, F(PTE)) & present ? PDET_THERE_YES :
						    PDET_THERE_NO;
	return by_kind(r) == PDET_THERE_NO ? PDET_THERE_NO :
					     PDET_THERE_UNKNOWN;
}

enum pdet_there pdet_diff_there(const struct pdet_diff *d,
				struct pdet_diff_row r)
{
	if (!r.b)
		return d->told_apart ? PDET_THERE_NO : PDET_THERE_UNKNOWN;
	switch (d->by) {
	case PAGEDET_DIFF_BY_PFN:
		return by_kind(r);
	case PAGEDET_DIFF_BY_ADDRESS:
		return by_address(r);
	default:
		return PDET_THERE_YES;
	}
}

/* The use of one page is unknown. It cannot be the use of the other page. */
static bool was_other(const struct pdet_diff *d, struct pdet_diff_row a,
		      struct pdet_diff_row b)
{
	return d->by == PAGEDET_DIFF_BY_PFN && a.b && b.b &&
	       have_both(d, F(KIND), a, b) &&
	       value(a, F(KIND)) == PAGEDET_KIND_UNKNOWN &&
	       have_differs(d, a, b, F(KIND)) == 1;
}

/* --- both rows --- */

static bool differs(const struct pagedet_change *c, unsigned f)
{
	return c->fields[f / 64] >> f % 64 & 1;
}

/* Another page in the same place. */
static bool is_reused(const struct pdet_diff *d, const struct pagedet_change *c)
{
	if (differs(c, F(KIND)) || differs(c, F(INODE)) || differs(c, F(DEV)) ||
	    differs(c, F(SLAB_CACHE)))
		return true;
	return (d->by != PAGEDET_DIFF_BY_FILE && differs(c, F(INDEX))) ||
	       (d->by == PAGEDET_DIFF_BY_PFN && differs(c, F(ALLOC_NS)));
}

/*
 * Whether a row belongs to a folio of several pages. Returns 1, 0, or -1 if it
 * is not known.
 */
static int is_compound(struct pdet_diff_row r)
{
	const uint64_t bits = PAGEDET_PF(PAGEDET_PF_COMPOUND_HEAD) |
			      PAGEDET_PF(PAGEDET_PF_COMPOUND_TAIL);

	if (!pdet_batch_has(r.b, F(FLAGS)) || state(r, F(FLAGS)) != HAVE ||
	    (known(r, F(FLAGS)) & bits) != bits)
		return -1;
	return (value(r, F(FLAGS)) & bits) != 0;
}

/* Whether the folio of the same page became smaller or larger. */
static uint32_t folio_change(const struct pdet_diff *d,
			     struct pdet_diff_row was,
			     struct pdet_diff_row now)
{
	int before, after;

	if (have_both(d, F(ORDER), was, now)) {
		if (value(now, F(ORDER)) == value(was, F(ORDER)))
			return 0;
		return value(now, F(ORDER)) < value(was, F(ORDER)) ?
			       PDET_CHANGE(SPLIT) : PDET_CHANGE(MERGED);
	}
	before = is_compound(was);
	after = is_compound(now);
	if (before < 0 || after < 0 || before == after)
		return 0;
	return before ? PDET_CHANGE(SPLIT) : PDET_CHANGE(MERGED);
}

static bool has_moved(const struct pdet_diff *d, struct pdet_diff_row was,
		      struct pdet_diff_row now)
{
	return d->by != PAGEDET_DIFF_BY_PFN && have_both(d, F(PFN), was, now) &&
	       value(was, F(PFN)) != value(now, F(PFN)) && !is_stale(was) &&
	       !is_stale(now);
}

/*
 * The change that a field about the place itself stands for, once the change of
 * the page is known.
 */
static uint32_t place_change(uint32_t changes, unsigned f)
{
	const uint32_t placed = PDET_CHANGE(MIGRATED) | PDET_CHANGE(MOVED) |
				PDET_CHANGE(REUSED);
	const uint32_t folio = PDET_CHANGE(SPLIT) | PDET_CHANGE(MERGED);

	switch (f) {
	case F(KIND):
		return changes & PDET_CHANGE(REUSED) ? 0 : PDET_CHANGE(OTHER);
	case F(PFN):
		return changes & placed ? 0 : PDET_CHANGE(OTHER);
	case F(HEAD_PFN):
		return changes & (placed | folio) ? 0 : PDET_CHANGE(OTHER);
	case F(ORDER):
		return changes & folio ? 0 : PDET_CHANGE(OTHER);
	default:
		return change_of(f);
	}
}

static void compare_fields(const struct pdet_diff *d, struct pdet_diff_row was,
			   struct pdet_diff_row now, struct pagedet_change *c)
{
	const struct pdet_fields *never = &d->never;
	unsigned f;
	int differ;

	c->undecided[0] = never->bits[0];
	c->undecided[1] = never->bits[1];
	pdet_fields_for(f, &d->compare) {
		differ = pdet_diff_field(d, f, was, now);
		if (differ > 0)
			c->fields[f / 64] |= (uint64_t)1 << f % 64;
		else if (differ < 0)
			c->undecided[f / 64] |= (uint64_t)1 << f % 64;
	}
}

static void compare_both(const struct pdet_diff *d, struct pdet_diff_row was,
			 struct pdet_diff_row now, bool pages,
			 struct pagedet_change *c)
{
	struct pdet_fields differ = { { c->fields[0], c->fields[1] } };
	unsigned f;

	if (pages && !c->changes && is_reused(d, c))
		c->changes |= PDET_CHANGE(REUSED);
	if (pages && has_moved(d, was, now))
		c->changes |= PDET_CHANGE(MIGRATED);
	if (pages && !(c->changes & PDET_CHANGE(REUSED)))
		c->changes |= folio_change(d, was, now);
	pdet_fields_for(f, &differ)
		c->changes |= place_change(c->changes, f);
}

/* A write to a page sets flags, too. */
static uint32_t named_by(uint32_t changes)
{
	const uint32_t first = changes ? (uint32_t)__builtin_ctz(changes) : 0;

	return first == PAGEDET_CHANGE_FLAGS &&
			       changes & PDET_CHANGE(CONTENT) ?
		       PAGEDET_CHANGE_CONTENT : first;
}

void pdet_diff_compare(const struct pdet_diff *d, struct pdet_diff_row was,
		       struct pdet_diff_row now, uint32_t joined,
		       struct pagedet_change *c)
{
	enum pdet_there a = pdet_diff_there(d, was);
	enum pdet_there b = pdet_diff_there(d, now);

	memset(c, 0, sizeof(*c));
	if (was.b && now.b)
		compare_fields(d, was, now, c);
	if (a == PDET_THERE_UNKNOWN && was_other(d, was, now))
		a = PDET_THERE_NO;
	if (b == PDET_THERE_UNKNOWN && was_other(d, now, was))
		b = PDET_THERE_NO;
	c->changes = joined;
	if (!joined && a == PDET_THERE_NO && b == PDET_THERE_YES)
		c->changes = PDET_CHANGE(APPEARED);
	else if (!joined && a == PDET_THERE_YES && b == PDET_THERE_NO)
		c->changes = PDET_CHANGE(GONE);
	else if (was.b && now.b)
		compare_both(d, was, now, a == PDET_THERE_YES &&
			     b == PDET_THERE_YES, c);
	c->change = named_by(c->changes);
}
