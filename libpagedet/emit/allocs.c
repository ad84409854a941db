/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes groups of allocations as JSON lines, as CSV, or as a table. */
#include <errno.h>

#include "emit/alloc_cells.h"
#include "emit/allocs.h"
#include "emit/cell.h"
#include "trace/kmem.h"

struct emitting {
	struct pagedet_emitter *e;
	struct pdet_allocs *a;
	struct pdet_alloc_cells cells; /* of the group */
	bool compared, verified;
	bool paired;		/* by the kernel */
	bool has_pages;		/* the table shows them */
	struct pagedet_alloc_group group;
	struct pagedet_allocs_total total;
};

/* What the group does not have is computed. */
#define WASTE SIZE_MAX

/* A comparison has some numbers three times. */
enum side { NOW, BEFORE, GROWN, SIDES };

static const char *const endings[] = { "", "_before", "_grown" };

/* What knows a number: sums of the kernel may lack what the last two know. */
enum source { OF_ALLOCS, OF_FREES, OF_EVENTS };

/*
 * Numbers of a group. The table shows some of them: of a comparison those that
 * it has of both traces, and of a verification those that it is about. Those
 * without page_ are of objects of slabs alone. Bytes of pages can be unknown.
 */
static const struct {
	const char *name;
	size_t at, before;	/* before 0: not compared */
	size_t pages, pages_before; /* what to subtract; 0: nothing */
	bool shown, is_bytes;
	bool verified;		/* of a verification */
	bool of_pages;
	enum source of;
} numbers[] = {
#define AT(name) offsetof(struct pagedet_alloc_group, name)
/* A number that pages do not have. */
#define OBJECTS(name, of) \
	{ #name, AT(name), 0, 0, 0, false, false, false, false, of }
#define NUMBER(name, pages, shown, of) \
	{ #name, AT(name), 0, AT(pages), 0, shown, false, false, false, of }
#define COMPARED(name, of) \
	{ #name, AT(name), AT(name##_before), AT(page_##name), \
	  AT(page_##name##_before), true, false, false, false, of }
#define VERIFIED(name) \
	{ #name, AT(name), 0, AT(page_##name), 0, true, false, true, false, \
	  OF_EVENTS }
#define PAGES(name, is_bytes, of) \
	{ "page_" #name, AT(page_##name), 0, 0, 0, false, is_bytes, false, \
	  true, of }
#define PAGES_COMPARED(name, is_bytes, of) \
	{ "page_" #name, AT(page_##name), AT(page_##name##_before), 0, 0, \
	  true, is_bytes, false, true, of }
#define PAGES_VERIFIED(name, is_bytes) \
	{ "page_" #name, AT(page_##name), 0, 0, 0, true, is_bytes, true, \
	  true, OF_EVENTS }
	COMPARED(times, OF_ALLOCS),
	NUMBER(requested, page_allocated, true, OF_ALLOCS),
	COMPARED(allocated, OF_ALLOCS),
	{ "waste", WASTE, WASTE, 0, 0, true, false, false, false, OF_ALLOCS },
	/* Of pages. */
	{ "unsized", AT(unsized), 0, 0, 0, false, false, false, true,
	  OF_ALLOCS },
	NUMBER(freed, page_freed, false, OF_FREES),
	COMPARED(live, OF_FREES),
	COMPARED(live_bytes, OF_FREES),
	NUMBER(replaced, page_replaced, true, OF_FREES),
	NUMBER(failed, page_failed, false, OF_ALLOCS),
	NUMBER(cross_cpu, page_cross_cpu, true, OF_FREES),
	OBJECTS(mismatched, OF_FREES),
	OBJECTS(less, OF_EVENTS),
	NUMBER(lifetime_ns, page_lifetime_ns, false, OF_EVENTS),
	NUMBER(lifetime_unknown, page_lifetime_unknown, false, OF_EVENTS),
	NUMBER(untracked, page_untracked, false, OF_FREES),
	VERIFIED(verified_live),
	VERIFIED(verified_live_bytes),
	VERIFIED(verified_free),
	VERIFIED(unverified),
	PAGES_COMPARED(times, false, OF_ALLOCS),
	PAGES_COMPARED(allocated, true, OF_ALLOCS),
	PAGES(freed, false, OF_FREES),
	PAGES_COMPARED(live, false, OF_FREES),
	PAGES_COMPARED(live_bytes, true, OF_FREES),
	PAGES(replaced, false, OF_FREES),
	PAGES(failed, false, OF_ALLOCS),
	PAGES(cross_cpu, false, OF_FREES),
	PAGES(lifetime_ns, false, OF_EVENTS),
	PAGES(lifetime_unknown, false, OF_EVENTS),
	PAGES(untracked, false, OF_FREES),
	PAGES_VERIFIED(verified_live, false),
	PAGES_VERIFIED(verified_live_bytes, true),
	PAGES_VERIFIED(verified_free, false),
	PAGES_VERIFIED(unverified, false),
#undef PAGES_VERIFIED
#undef PAGES_COMPARED
#undef PAGES
#undef VERIFIED
#undef COMPARED
#undef NUMBER
#undef OBJECTS
};

static bool is_untracked(size_t i)
{
	return numbers[i].at == AT(untracked) ||
	       numbers[i].at == AT(page_untracked);
}

static bool is_left_out(const struct emitting *s, size_t i)
{
	return (numbers[i].verified && !s->verified) ||
	       (is_untracked(i) && !s->paired);
}

static unsigned sides(const struct emitting *s, size_t i)
{
	return is_left_out(s, i) ? 0 :
	       s->compared && numbers[i].before ? SIDES : 1;
}

static uint64_t waste(uint64_t allocated, uint64_t requested)
{
	return allocated - PDET_MIN(allocated, requested);
}

static uint64_t member(const struct emitting *s, size_t at)
{
	uint64_t v;

	memcpy(&v, (const char *)&s->group + at, sizeof(v));
	return v;
}

/* Of GROWN it is the difference, which may be negative. */
static uint64_t number(const struct emitting *s, size_t i, unsigned side)
{
	const struct pagedet_alloc_group *g = &s->group;
	const size_t pages = side == NOW ? numbers[i].pages :
					   numbers[i].pages_before;
	uint64_t v;

	if (side == GROWN)
		return number(s, i, NOW) - number(s, i, BEFORE);
	if (numbers[i].at == WASTE)
		return side == NOW ?
			       waste(g->allocated, g->requested) :
			       waste(g->allocated_before, g->requested_before);
	v = member(s, side == NOW ? numbers[i].at : numbers[i].before);
	return pages ? v - member(s, pages) : v;
}

/* Whether the sums have it at all. */
static bool is_told(const struct emitting *s, size_t i)
{
	if (s->total.only_live)
		return numbers[i].at == AT(live) ||
		       numbers[i].at == AT(live_bytes);
	return numbers[i].of == OF_ALLOCS || numbers[i].verified ||
	       (numbers[i].of == OF_FREES && !s->total.no_frees) ||
	       !s->total.no_events;
}

static bool is_all(uint64_t unknown, uint64_t all)
{
	return unknown && unknown == all;
}

/* Whether nothing that the number would sum up is known. */
static bool is_unknown(const struct emitting *s, size_t i, unsigned side)
{
	const struct pagedet_alloc_group *g = &s->group;

	if (!is_told(s, i))
		return true;
	switch (numbers[i].at) {
	case AT(lifetime_unknown):
	case AT(page_lifetime_unknown):
		return s->total.no_ns;
	case AT(lifetime_ns):
		return s->total.no_ns ||
		       is_all(g->lifetime_unknown - g->page_lifetime_unknown,
			      g->freed - g->page_freed);
	case AT(page_lifetime_ns):
		return s->total.no_ns ||
		       is_all(g->page_lifetime_unknown, g->page_freed);
	case AT(cross_cpu):
	case AT(page_cross_cpu):
		return s->total.no_cpu;
	default:
		break;
	}
	if (!numbers[i].is_bytes)
		return false;
	return (side != BEFORE && is_all(g->unsized, g->page_times)) ||
	       (side != NOW && is_all(g->unsized_before, g->page_times_before));
}

/* Whether a sum lacks some. */
static bool is_partial(const struct emitting *s, size_t i, unsigned side)
{
	const uint64_t untracked = numbers[i].of_pages ?
		s->group.page_untracked :
		s->group.untracked - s->group.page_untracked;

	return (numbers[i].is_bytes &&
		((side != BEFORE && s->group.unsized) ||
		 (side != NOW && s->group.unsized_before))) ||
	       (numbers[i].of == OF_FREES && untracked);
}

static bool is_negative(uint64_t value, unsigned side)
{
	return side == GROWN && value >> 63;
}

static void str(struct emitting *s, const char *text)
{
	pdet_out_str(&s->e->out, text);
}

static void put_number(struct emitting *s, size_t i, unsigned side)
{
	const uint64_t v = number(s, i, side);

	str(s, is_negative(v, side) ? "-" : "");
	pdet_out_dec(&s->e->out, is_negative(v, side) ? -v : v);
}

/* --- JSON --- */

static void json_name(struct emitting *s, const char *before,
		      const char *name, unsigned side)
{
	str(s, before);
	str(s, "\"");
	str(s, name);
	str(s, endings[side]);
	str(s, "\":");
}

static void json_key(struct emitting *s, const char *before, const char *name)
{
	json_name(s, before, name, NOW);
}

static void json_numbers(struct emitting *s)
{
	unsigned side;
	size_t k;

	for (k = 0; k < PDET_COUNT(numbers); k++)
		for (side = 0; side < sides(s, k); side++) {
			json_name(s, k || side ? "," : "", numbers[k].name,
				  side);
			if (is_unknown(s, k, side))
				str(s, "null");
			else
				put_number(s, k, side);
		}
}

struct rest {
	const char *name;
	size_t at;
	enum source of;
	bool needs_all;		/* all live objects must have been tracked */
	bool at_least;		/* there may be more */
};

/* Why it is not known, or PAGEDET_HAVE. */
static unsigned state_of_rest(const struct emitting *s,
			      const struct rest *rest)
{
	const struct pagedet_allocs_total *t = &s->total;

	/* As a check says it. */
	if (rest->at == offsetof(struct pagedet_allocs_total, lost) &&
	    !rest->at_least)
		return t->gaps || t->uncounted ? PAGEDET_UNSUPPORTED :
						 PAGEDET_HAVE;
	if (rest->of != OF_ALLOCS &&
	    (t->only_live || t->no_frees ||
	     (rest->of == OF_EVENTS && t->no_events)))
		return PAGEDET_UNSUPPORTED;
	return rest->needs_all && t->untracked ? PAGEDET_NO_MEMORY :
						 PAGEDET_HAVE;
}

/* @any: it has some already. */
static void json_missing(struct emitting *s, const struct rest *rest, size_t n,
			 bool any)
{
	unsigned side, state;
	size_t k;

	pdet_cells_json_missing(&s->cells, &any);
	for (k = 0; k < PDET_COUNT(numbers); k++)
		for (side = 0; side < sides(s, k); side++)
			if (is_unknown(s, k, side))
				pdet_cells_json_reason(s->e, &any,
						       numbers[k].name,
						       endings[side],
						       PAGEDET_UNSUPPORTED);
	for (k = 0; k < n; k++) {
		state = state_of_rest(s, &rest[k]);
		if (state != PAGEDET_HAVE)
			pdet_cells_json_reason(s->e, &any, rest[k].name, "",
					       state);
	}
	str(s, any ? "}" : "");
}

static bool is_by_family(const struct emitting *s)
{
	unsigned i;

	for (i = 0; i < s->cells.n_by; i++)
		if (s->cells.by[i] == PAGEDET_ALLOC_FAMILY)
			return true;
	return false;
}

static void json_group(struct emitting *s)
{
	const bool is_told = is_by_family(s);
	const char *family = is_told ? NULL : pdet_allocs_family(s->a);
	bool any = false;

	str(s, "{");
	pdet_cells_json(&s->cells);
	json_numbers(s);
	if (family) {
		json_key(s, ",", "family");
		str(s, "\"");
		str(s, family);
		str(s, "\"");
	} else if (!is_told) {
		str(s, ",\"family\":null");
	}
	if (!is_told && !family)
		pdet_cells_json_reason(s->e, &any, "family", "",
				       PAGEDET_UNSUPPORTED);
	json_missing(s, NULL, 0, any);
	str(s, "}\n");
}

static void json_rest(struct emitting *s, const struct rest *rest, size_t n)
{
	uint64_t v;
	size_t k;

	for (k = 0; k < n; k++) {
		memcpy(&v, (const char *)&s->total + rest[k].at, sizeof(v));
		json_key(s, ",", rest[k].name);
		if (state_of_rest(s, &rest[k]) != PAGEDET_HAVE)
			str(s, "null");
		else
			pdet_out_dec(&s->e->out, v);
	}
}

/* By kind. The kernel's sums have allocations only. */
static void json_events(struct emitting *s)
{
	static const char *const names[PDET_KMEM_NAME] = {
		[PDET_KMEM_KMALLOC] = "kmalloc",
		[PDET_KMEM_CACHE_ALLOC] = "kmem_cache_alloc",
		[PDET_KMEM_KFREE] = "kfree",
		[PDET_KMEM_CACHE_FREE] = "kmem_cache_free",
		[PDET_KMEM_PAGE_ALLOC] = "mm_page_alloc",
		[PDET_KMEM_PAGE_FREE] = "mm_page_free",
		[PDET_KMEM_PAGE_BATCHED] = "mm_page_free_batched",
	};
	const uint64_t *n = pdet_allocs_events(s->a);
	unsigned kind;

	json_key(s, ",", "events");
	for (kind = PDET_KMEM_KMALLOC; kind < PDET_KMEM_NAME; kind++) {
		json_key(s, kind == PDET_KMEM_KMALLOC ? "{" : ",",
			 names[kind]);
		if (s->total.only_live || (s->total.no_events &&
					   !pdet_kmem_is_alloc(kind)))
			str(s, "null");
		else
			pdet_out_dec(&s->e->out, n[kind]);
	}
	str(s, "}");
}

/* What is in no group, and what the sums do not have in them. */
static void json_total(struct emitting *s)
{
	const struct pagedet_allocs_total *t = &s->total;
	static const struct rest rest[] = {
#define OF(of, name, all) \
	{ #name, offsetof(struct pagedet_allocs_total, name), of, all, false }
#define REST(name) OF(OF_ALLOCS, name, false)
		REST(groups),
		{ "all_events", offsetof(struct pagedet_allocs_total, events),
		  OF_ALLOCS, false, false },
		REST(other),
		OF(OF_FREES, freed_unknown, true),
		OF(OF_FREES, pages_unknown, true),
		OF(OF_FREES, freed_nothing, false),
		OF(OF_EVENTS, early, false), REST(begin_ns),
		REST(end_ns), REST(lost),
		{ "lost_at_least", offsetof(struct pagedet_allocs_total, lost),
		  OF_ALLOCS, false, true },
		REST(gaps), REST(uncounted),
		/* The object of reasons is "missing". */
		{ "missing_events",
		  offsetof(struct pagedet_allocs_total, missing),
		  OF_ALLOCS, false, false },
		REST(cut_bytes), REST(damaged), REST(strange),
		OF(OF_EVENTS, disorder, false), REST(sites), REST(unnamed),
		REST(inexact), REST(changed),
		REST(page_events), REST(other_instances),
	}, compared[] = {
		REST(begin_before_ns), REST(end_before_ns), REST(unmatched),
	}, left_out[] = {
		REST(filtered), REST(undecided),
#undef REST
#undef OF
	};

	str(s, "{\"total\":{");
	json_numbers(s);
	json_events(s);
	/* An object whose address was allocated again. */
	json_key(s, ",", "allocated_while_live");
	if (t->only_live || t->no_frees)
		str(s, "null");
	else
		pdet_out_dec(&s->e->out, t->replaced - t->page_replaced);
	json_rest(s, rest, PDET_COUNT(rest));
	if (s->compared)
		json_rest(s, compared, PDET_COUNT(compared));
	if (t->filtered || t->undecided)
		json_rest(s, left_out, PDET_COUNT(left_out));
	if (t->kaslr == PAGEDET_HAVE) {
		json_key(s, ",", "kaslr_offset");
		pdet_out_dec(&s->e->out, t->kaslr_offset);
	} else if (t->kaslr != PAGEDET_NONE) {
		str(s, ",\"kaslr_offset\":null");
	}
	json_key(s, ",", "complete");
	str(s, t->complete ? "true" : "false");
	json_missing(s, rest, PDET_COUNT(rest), false);
	str(s, "}}\n");
}

/* --- CSV --- */

static void csv_head(struct emitting *s)
{
	unsigned side;
	size_t k;

	pdet_cells_csv_head(&s->cells);
	for (k = 0; k < PDET_COUNT(numbers); k++)
		for (side = 0; side < sides(s, k); side++) {
			str(s, k || side ? "," : "");
			str(s, numbers[k].name);
			str(s, endings[side]);
		}
	str(s, "\n");
}

static void csv_group(struct emitting *s)
{
	unsigned side;
	size_t k;

	pdet_cells_csv(&s->cells);
	for (k = 0; k < PDET_COUNT(numbers); k++)
		for (side = 0; side < sides(s, k); side++) {
			str(s, k || side ? "," : "");
			if (is_unknown(s, k, side))
				pdet_cells_csv_reason(s->e,
						      PAGEDET_UNSUPPORTED);
			else
				put_number(s, k, side);
		}
	str(s, "\n");
}

/* --- text --- */

#define WIDTH 10

static void column(struct emitting *s, size_t k, const char *text, size_t len)
{
	pdet_out_right(&s->e->out,
		       PDET_MAX((size_t)WIDTH, strlen(numbers[k].name)), text,
		       len);
}

static bool is_shown(const struct emitting *s, size_t k)
{
	if (numbers[k].of_pages && !s->has_pages)
		return false;
	if (numbers[k].verified)
		return s->verified;
	if (is_untracked(k))
		return s->paired && s->total.untracked;
	if (!is_told(s, k))
		return false;
	return s->compared || s->verified ? numbers[k].before :
					    numbers[k].shown;
}

static bool is_grown(const struct emitting *s, size_t k)
{
	return is_shown(s, k) && sides(s, k) == SIDES;
}

static void text_head(struct emitting *s)
{
	size_t k;

	for (k = 0; k < PDET_COUNT(numbers); k++) {
		if (is_shown(s, k))
			column(s, k, numbers[k].name, strlen(numbers[k].name));
		if (is_grown(s, k))
			column(s, k, "grown by", strlen("grown by"));
	}
	pdet_cells_text_head(&s->cells);
}

/* Unlike 1 MB, users can add up 1048576. A sum that lacks some has a +. */
static void text_number(struct emitting *s, size_t k, unsigned side)
{
	const uint64_t v = number(s, k, side);
	char digits[PDET_DIGITS + 2], *end = digits;

	if (is_unknown(s, k, side)) {
		*end++ = '?';
	} else {
		if (side == GROWN)
			*end++ = is_negative(v, side) ? '-' : '+';
		end = pdet_put_dec(end, is_negative(v, side) ? -v : v);
		if (is_partial(s, k, side))
			*end++ = '+';
	}
	column(s, k, digits, (size_t)(end - digits));
}

static void text_numbers(struct emitting *s)
{
	size_t k;

	for (k = 0; k < PDET_COUNT(numbers); k++) {
		if (is_shown(s, k))
			text_number(s, k, NOW);
		if (is_grown(s, k))
			text_number(s, k, GROWN);
	}
}

static void text_group(struct emitting *s)
{
	text_numbers(s);
	pdet_cells_text(&s->cells);
}

static void text_total(struct emitting *s)
{
	const struct pagedet_allocs_total *t = &s->total;

	text_numbers(s);
	str(s, t->complete ? " total of " : " read so far of ");
	pdet_out_dec(&s->e->out, t->groups);
	str(s, t->groups == 1 ? " group\n" : " groups\n");
}

static void emit_total(struct emitting *s)
{
	/* The sums have the same order in both. */
	_Static_assert(AT(live_bytes_before) - AT(times) ==
		       offsetof(struct pagedet_allocs_total,
				live_bytes_before) -
		       offsetof(struct pagedet_allocs_total, times),
		       "sums");
	memset(&s->group, 0, sizeof(s->group));
	memcpy(&s->group.times, &s->total.times,
	       AT(value) - AT(times));
	_Static_assert(AT(page_live_bytes_before) - AT(lifetime_unknown) ==
		       offsetof(struct pagedet_allocs_total,
				page_live_bytes_before) -
		       offsetof(struct pagedet_allocs_total,
				lifetime_unknown), "sums of pages");
	s->group.untracked = s->total.untracked;
	memcpy(&s->group.lifetime_unknown, &s->total.lifetime_unknown,
	       AT(page_live_bytes_before) + sizeof(uint64_t) -
	       AT(lifetime_unknown));
	s->cells.n_by = 0;
	if (s->e->format == &pdet_emit_text)
		text_total(s);
	else if (s->e->format != &pdet_emit_csv)
		json_total(s);
}

int pdet_emit_allocs(struct pagedet_emitter *e, struct pdet_env *env,
		     struct pdet_allocs *a, uint64_t max)
{
	struct emitting s = { .e = e, .a = a };
	void (*group)(struct emitting *s) = json_group;
	const int r = pdet_emitter_lists(e, env, "groups of allocations");

	if (r < 0)
		return r;
	s.cells = (struct pdet_alloc_cells){ .e = e, .a = a,
					     .value = s.group.value,
					     .state = s.group.state };
	s.cells.by = pdet_allocs_keys(a, &s.cells.n_by);
	s.compared = pdet_allocs_compared(a);
	s.verified = pdet_allocs_is_verified(a);
	pdet_allocs_total(a, &s.total);
	s.paired = s.total.no_events && !s.total.no_frees;
	s.has_pages = s.total.page_times || s.total.page_failed ||
		      s.total.page_times_before;
	if (e->format == &pdet_emit_csv) {
		group = csv_group;
		csv_head(&s);
	} else if (e->format == &pdet_emit_text) {
		group = text_group;
		text_head(&s);
	}
	for (; max && pdet_allocs_next(a, &s.group) == 1; max--)
		group(&s);
	emit_total(&s);
	return pdet_out_result(&e->out, env);
}
