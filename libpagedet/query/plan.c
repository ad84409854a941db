/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes the plan of a query. It asks every backend what it can answer. How the
 * backend does it does not matter here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/log/log.h"
#include "heat/rows.h"
#include "kmap/pages.h"
#include "query/plan.h"

#define F(name) PAGEDET_FIELD_##name

/*
 * To answer a field, these other fields must be known first, from any source.
 */
static const struct {
	uint8_t field;
	uint8_t needs;
} needs[] = {
	/* They are of the same region. */
	{ F(HEAT_CHECKS), F(HEAT) },
	{ F(HEAT_AGE), F(HEAT) },
	{ F(HEAT_BYTES), F(HEAT) },
	{ F(HEAT_NS), F(HEAT) },
	/* Is the region of a task? Does DAMON look at such pages? */
	{ F(HEAT), F(PID) },
	{ F(HEAT), F(TGID) },
	{ F(HEAT), F(FLAGS) },
	{ F(READS), F(PFN) },
	{ F(WRITES), F(PFN) },
	/* They are made of the same bytes. */
	{ F(HASH), F(CONTENT) },
	{ F(ENTROPY), F(CONTENT) },
	/* May the page be read, and how? */
	{ F(CONTENT), F(FLAGS) },
	{ F(CONTENT), F(KIND) },
	{ F(CONTENT), F(PID) },
	/* The source that answers the kind also answers all of these. */
	{ F(FLAGS), F(KIND) },
	{ F(HEAD_PFN), F(KIND) },
	{ F(ORDER), F(KIND) },
	{ F(MAPCOUNT), F(KIND) },
	{ F(MAPCOUNT_KIND), F(KIND) },
	{ F(FLAGS), F(FLAGS_KNOWN) },
	{ F(FLAGS_KNOWN), F(FLAGS) },
	{ F(PTE), F(PTE_KNOWN) },
	{ F(PTE_KNOWN), F(PTE) },
	/* Does it map the zero page? */
	{ F(PTE), F(FLAGS) },
	{ F(PTE_LEVEL), F(PTE) },
	/* How large is the huge page? */
	{ F(PTE_LEVEL), F(FLAGS) },
	{ F(MEMCG_PATH), F(MEMCG_INO) },
	{ F(MEMCG_NAME), F(MEMCG_INO) },
	/* Are these all mappings? */
	{ F(USER_MAPS), F(MAPCOUNT) },
	{ F(USER_MAPS), F(MAPCOUNT_KIND) },
	{ F(USER_MAPS), F(KIND) },
	{ F(USER_MAPS), F(NOTES) },
};

/* Fields of rows about an address of a task. */
static const uint8_t of_address[] = {
	F(VADDR), F(PID), F(TGID), F(COMM), F(PTE), F(PTE_KNOWN), F(PTE_LEVEL),
	F(SWAP_TYPE), F(SWAP_OFFSET), F(VMA_START), F(VMA_END), F(VMA_PROT),
	F(VMA_NAME),
};
/* Fields of rows about a kernel address. */
static const uint8_t of_kernel[] = {
	F(VADDR), F(PTE), F(PTE_KNOWN), F(PTE_LEVEL), F(VMA_START), F(VMA_END),
	F(VMA_PROT), F(VMA_NAME), F(MAP), F(OBJECT), F(OBJECT_STATE),
};
/* Fields of rows about an object or page that a trace tells. */
static const uint8_t of_object[] = {
	F(ALLOC_SITE), F(ALLOC_REQUESTED), F(ALLOC_BYTES), F(ALLOC_CPU),
};
/* The same; in other rows they are of the page's last allocation. */
static const uint8_t of_allocation[] = {
	F(ALLOC_PID), F(ALLOC_COMM), F(GFP_MASK), F(ALLOC_ORDER), F(ALLOC_NS),
};
/* Fields of the page's last allocation and free that no trace tells. */
static const uint8_t of_page_owner[] = {
	F(ALLOC_STACK), F(FREE_STACK), F(ALLOC_TGID), F(GFP), F(MIGRATETYPE),
	F(PAGE_MOBILITY), F(ALLOCATOR), F(FREE_NS), F(MIGRATE_REASON),
};
/* Fields of rows about an event of a trace: those that no other row has. */
static const uint8_t of_event[] = {
	F(EVENT), F(EVENT_FAMILY), F(EVENT_CPU), F(EVENT_TID), F(EVENT_COMM),
	F(EVENT_SITE), F(EVENT_CACHE), F(EVENT_LOST),
};
/* The same, that other rows have, too. */
static const uint8_t also_of_event[] = {
	F(EVENT_NS), F(ALLOC_REQUESTED), F(ALLOC_BYTES), F(ALLOC_ORDER),
	F(GFP_MASK), F(GFP),
};
/* Fields that a log states about a page. */
static const uint8_t of_log[] = { F(REPORT), F(REASON), F(EVENT_NS) };
/* Fields of rows that are found by a walk of a file or of its mappings. */
static const uint8_t of_file[] = { F(DEV), F(INODE), F(INDEX), F(PATH) };
/* Fields that the engine writes in every row. */
static const uint8_t of_engine[] = { F(ASK), F(PAGES), F(TIME_NS), F(NOTES) };

static void add_list(struct pdet_fields *set, const uint8_t *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		pdet_fields_add(set, list[i]);
}

static bool is_file_target(uint32_t target)
{
	return target == PAGEDET_TARGET_FILE || target == PAGEDET_TARGET_TREE ||
	       target == PAGEDET_TARGET_MOUNT ||
	       target == PAGEDET_TARGET_BLOCK;
}

static bool is_address_target(uint32_t target)
{
	return target == PAGEDET_TARGET_VIRT ||
	       target == PAGEDET_TARGET_TASK ||
	       target == PAGEDET_TARGET_MAPPERS;
}

/* Whether rows are about kernel addresses. */
static bool is_kernel_target(uint32_t target)
{
	return target == PAGEDET_TARGET_KADDR || pdet_is_of_trace(target);
}

struct pdet_fields pdet_plan_of_kernel(void)
{
	struct pdet_fields set = { { 0, 0 } };

	add_list(&set, of_kernel, PDET_COUNT(of_kernel));
	return set;
}

/* Fields that a target's walk writes. */
static struct pdet_fields fields_given(uint32_t target)
{
	struct pdet_fields given = { { 0, 0 } };

	add_list(&given, of_engine, PDET_COUNT(of_engine));
	pdet_fields_add(&given, F(PFN));
	pdet_fields_add(&given, F(USER_MAPS));
	if (is_address_target(target)) {
		add_list(&given, of_address, PDET_COUNT(of_address));
		add_list(&given, of_file, PDET_COUNT(of_file));
	} else if (is_file_target(target)) {
		add_list(&given, of_file, PDET_COUNT(of_file));
		pdet_fields_add(&given, F(KIND));
	} else if (is_kernel_target(target)) {
		add_list(&given, of_kernel, PDET_COUNT(of_kernel));
		pdet_fields_add(&given, F(KIND));
	}
	if (target == PAGEDET_TARGET_OBJECTS) {
		add_list(&given, of_object, PDET_COUNT(of_object));
		add_list(&given, of_allocation, PDET_COUNT(of_allocation));
	}
	if (target == PAGEDET_TARGET_EVENTS) {
		add_list(&given, of_event, PDET_COUNT(of_event));
		add_list(&given, also_of_event, PDET_COUNT(also_of_event));
	}
	if (target == PAGEDET_TARGET_MAPPERS)
		pdet_fields_add(&given, F(MAP));
	if (target == PAGEDET_TARGET_LOG) {
		add_list(&given, of_address, PDET_COUNT(of_address));
		pdet_fields_add(&given, F(AT));
		add_list(&given, of_log, PDET_COUNT(of_log));
	}
	return given;
}

struct pdet_fields pdet_plan_absent(uint32_t target)
{
	struct pdet_fields absent = { { 0, 0 } };
	size_t i;

	if (!is_address_target(target) && target != PAGEDET_TARGET_LOG)
		add_list(&absent, of_address, PDET_COUNT(of_address));
	if (target != PAGEDET_TARGET_MAPPERS)
		pdet_fields_add(&absent, F(MAP));
	if (target != PAGEDET_TARGET_LOG)
		pdet_fields_add(&absent, F(OBJECT));
	pdet_fields_add(&absent, F(OBJECT_STATE));
	for (i = 0; is_kernel_target(target) && i < PDET_COUNT(of_kernel); i++)
		pdet_fields_remove(&absent, of_kernel[i]);
	if (pdet_is_of_trace(target))
		add_list(&absent, of_page_owner, PDET_COUNT(of_page_owner));
	if (target != PAGEDET_TARGET_OBJECTS)
		add_list(&absent, of_object, PDET_COUNT(of_object));
	if (target != PAGEDET_TARGET_LOG) {
		pdet_fields_add(&absent, F(AT));
		add_list(&absent, of_log, PDET_COUNT(of_log));
	}
	if (target != PAGEDET_TARGET_EVENTS) {
		add_list(&absent, of_event, PDET_COUNT(of_event));
		return absent;
	}
	/* What a page was allocated for last is not of the event. */
	add_list(&absent, of_allocation, PDET_COUNT(of_allocation));
	for (i = 0; i < PDET_COUNT(also_of_event); i++)
		pdet_fields_remove(&absent, also_of_event[i]);
	return absent;
}

/* The offer of one source for one field. */
struct offer {
	unsigned backend;
	unsigned source;
	unsigned cost;
	bool vague;
};

/* All offers for one field, in the order in which sources will be asked. */
struct offers {
	struct offer list[PDET_CHAIN];
	unsigned n;
	unsigned first;		/* offers that are sorted by cost */
	bool whole;		/* one of them answers it for every page */
};

/* The turns in which backends are surveyed, as far as they are needed. */
enum turn { IN_BULK, READY, DEAR };

/*
 * Orders reasons by how much they help the reader: a reason that the user can
 * remove comes first.
 */
static unsigned worth(unsigned reason)
{
	static const uint8_t order[] = {
		PAGEDET_NO_ACCESS, PAGEDET_NOT_BUILT, PAGEDET_NO_KERNEL,
		PAGEDET_NO_TYPES, PAGEDET_UNSAFE, PAGEDET_TOO_COSTLY,
		PAGEDET_IO,
	};
	unsigned i;

	for (i = 0; i < PDET_COUNT(order); i++)
		if (order[i] == reason)
			return PDET_COUNT(order) - i;
	return 0;
}

static int note_reason(struct pdet_plan *plan, unsigned field,
		       const struct pdet_ability *a)
{
	if (pdet_fields_has(&plan->final, field) ||
	    (plan->why[field] != PAGEDET_NOT_ASKED && !a->final &&
	     worth(a->reason) <= worth(plan->why[field])))
		return 0;
	if (a->final)
		pdet_fields_add(&plan->final, field);
	plan->why[field] = a->reason;
	free(plan->advice[field]);
	plan->advice[field] = a->advice[0] ? strdup(a->advice) : NULL;
	return a->advice[0] && !plan->advice[field] ? -1 : 0;
}

static enum turn turn_of(const struct pdet_plan_args *args,
			 const struct pdet_backend *b)
{
	if (args->many && b->bulk >> args->target & 1)
		return IN_BULK;
	return b->dear ? DEAR : READY;
}

/* Whether any backend has that turn. */
static bool has_any(const struct pdet_plan_args *args, enum turn turn)
{
	size_t b;

	for (b = 0; b < args->n_backends; b++)
		if (turn_of(args, args->backends[b]) == turn &&
		    args->backends[b]->sources & args->sources)
			return true;
	return false;
}

static void add_offer(struct offers *o, const struct offer *offer)
{
	unsigned i;

	if (o->n == PDET_CHAIN)
		return;
	for (i = o->n; i > o->first && o->list[i - 1].cost > offer->cost; i--)
		o->list[i] = o->list[i - 1];
	o->list[i] = *offer;
	o->n++;
}

/* Collects the offers for @field of the backends that have that turn. */
static int survey_some(const struct pdet_plan_args *args,
		       struct pdet_plan *plan, unsigned field, enum turn turn,
		       struct offers *o)
{
	struct pdet_ability a;
	struct offer offer;
	unsigned b, source;

	for (b = 0; b < args->n_backends; b++) {
		struct pdet_backend *backend = args->backends[b];
		uint32_t sources = backend->sources & args->sources;

		if (turn_of(args, backend) != turn)
			continue;
		for (source = 0; sources >> source; source++) {
			if (!(sources >> source & 1))
				continue;
			backend->ops->survey(backend, args->env, args->target,
					     field, source, &a);
			if (a.reason != PAGEDET_HAVE) {
				if (note_reason(plan, field, &a) < 0)
					return -1;
				continue;
			}
			o->whole |= !a.partial;
			offer.backend = b;
			offer.source = source;
			offer.cost = a.cost;
			offer.vague = a.vague;
			add_offer(o, &offer);
		}
	}
	return 0;
}

/*
 * Whether expensive sources are asked before the first row. A walk of kernel
 * addresses always needs them.
 */
static bool asks_dear(const struct pdet_plan_args *args)
{
	return !has_any(args, READY) || is_kernel_target(args->target);
}

/*
 * Finds the fields that cost nothing. If a source needs a set-up, it is asked
 * only if no other source can answer.
 */
static int survey_cheap(const struct pdet_plan_args *args,
			struct pdet_plan *plan, unsigned field,
			struct offers *o)
{
	memset(o, 0, sizeof(*o));
	if (survey_some(args, plan, field, READY, o) < 0)
		return -1;
	if (!asks_dear(args))
		return 0;
	return survey_some(args, plan, field, IN_BULK, o) < 0 ||
	       (!o->whole &&
		survey_some(args, plan, field, DEAR, o) < 0) ? -1 : 0;
}

static void add_step(struct pdet_step *steps, unsigned *n,
		     const struct offer *offer, unsigned field)
{
	unsigned i;

	for (i = 0; i < *n; i++)
		if (steps[i].backend == offer->backend &&
		    steps[i].source == offer->source)
			break;
	if (i == PDET_CHAIN)
		return;
	if (i == *n) {
		memset(&steps[i], 0, sizeof(steps[i]));
		steps[i].backend = offer->backend;
		steps[i].source = offer->source;
		++*n;
	}
	pdet_fields_add(&steps[i].fields, field);
}

static void add_needs(struct pdet_fields *set)
{
	size_t i, round;

	/* A needed field may need another one. */
	for (round = 0; round < 2; round++)
		for (i = 0; i < PDET_COUNT(needs); i++)
			if (pdet_fields_has(set, needs[i].field))
				pdet_fields_add(set, needs[i].needs);
}

/*
 * Whether a field is free here. The fields that a target always gives are free.
 * For single pages one more read is free, too, because the set-up costs more.
 */
static bool is_cheap(const struct pdet_plan_args *args, const struct offers *o)
{
	return o->n &&
	       (o->list[0].cost == PAGEDET_COST_FREE ||
		(args->few && o->list[0].cost == PAGEDET_COST_READ));
}

/* Fields that the engine can always write. */
static bool is_engine_field(unsigned field)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(of_engine); i++)
		if (of_engine[i] == field)
			return true;
	return false;
}

/*
 * The fields that the caller named, and the fields that these need, without
 * those that are added because they cost nothing.
 */
static struct pdet_fields all_asked(const struct pdet_plan_args *args)
{
	struct pdet_fields set = args->fields;

	pdet_fields_join(&set, &args->filter);
	pdet_fields_join(&set, &args->group);
	add_needs(&set);
	return set;
}

/*
 * Plans a field that is computed from the same bytes as the class. The class
 * was planned before. If it is possible, so is this field.
 */
static int plan_derived(struct pdet_plan *plan, unsigned field)
{
	const char *advice = plan->advice[F(CONTENT)];

	plan->why[field] = plan->why[F(CONTENT)];
	free(plan->advice[field]);
	plan->advice[field] = advice ? strdup(advice) : NULL;
	return advice && !plan->advice[field] ? -1 : 0;
}

/* Whether every row is to have the field. */
static bool is_basic(const struct pdet_plan *plan, unsigned field)
{
	return (field == F(KIND) || field == F(FLAGS) ||
		field == F(FLAGS_KNOWN)) &&
	       pdet_fields_has(&plan->wanted, field);
}

struct pdet_fields pdet_plan_with_kind(void)
{
	static const uint8_t told[] = {
		F(KIND), F(FLAGS), F(FLAGS_KNOWN), F(HEAD_PFN), F(ORDER),
		F(MAPCOUNT), F(MAPCOUNT_KIND),
	};
	struct pdet_fields set = { { 0, 0 } };

	add_list(&set, told, PDET_COUNT(told));
	return set;
}

static bool goes_with_kind(unsigned field)
{
	const struct pdet_fields with = pdet_plan_with_kind();

	return pdet_fields_has(&with, field);
}

/*
 * Asks all sources that may be worth their cost. A source that answers the kind
 * is also asked for the fields that belong to it.
 */
static int survey(const struct pdet_plan_args *args, struct pdet_plan *plan,
		  unsigned field, struct offers *o)
{
	const bool asked = pdet_fields_has(&plan->asked, field);

	memset(o, 0, sizeof(*o));
	if (survey_some(args, plan, field, IN_BULK, o) < 0)
		return -1;
	o->first = o->n;
	if (survey_some(args, plan, field, READY, o) < 0)
		return -1;
	if (!(o->whole && (plan->kind_whole || !goes_with_kind(field))) &&
	    (asked || asks_dear(args) || (!o->n && is_basic(plan, field))) &&
	    !(args->lookup && o->n))
		return survey_some(args, plan, field, DEAR, o);
	return 0;
}

/* Whether the query may read the running kernel's memory. */
static bool may_read_memory(const struct pdet_plan_args *args)
{
	uint32_t sources = 0;
	size_t b;

	for (b = 0; b < args->n_backends; b++)
		sources |= args->backends[b]->sources;
	return sources & args->sources &
	       (PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_BPF) |
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_KCORE));
}

/* Whether a source that is asked in any case knows the kind of every page. */
static int survey_kind(const struct pdet_plan_args *args,
		       struct pdet_plan *plan)
{
	struct offers o = { .n = 0 };

	if (survey_some(args, plan, F(KIND), IN_BULK, &o) < 0 ||
	    survey_some(args, plan, F(KIND), READY, &o) < 0)
		return -1;
	/* The plan of the field sets the reason again. */
	plan->why[F(KIND)] = PAGEDET_NOT_ASKED;
	plan->kind_whole = o.whole;
	return 0;
}

/*
 * Plans the expensive sources of a look-up. They are asked if a page turns out
 * to need them.
 */
static int plan_later(const struct pdet_plan_args *args,
		      struct pdet_plan *plan, unsigned field,
		      const struct offers *o)
{
	free(plan->advice[field]);
	plan->advice[field] = NULL;
	pdet_fields_add(&plan->later, field);
	if (pdet_fields_has(&plan->asked, field) ||
	    (o->list[0].vague && is_basic(plan, field))) {
		pdet_fields_add(&plan->worth_it, field);
		return 0;
	}
	if (!may_read_memory(args))
		return 0;
	if (asprintf(&plan->advice[field], "%s%s", PDET_NOT_LOOKED_FOR,
		     pdet_field_info(field)->name) >= 0)
		return 0;
	plan->advice[field] = NULL;
	return -1;
}

/* Plans a field that DAMON tells. */
static int plan_heat(const struct pdet_plan_args *args, struct pdet_plan *plan,
		     unsigned field)
{
	const struct pdet_heat *h = args->heat;
	const char *advice = h && h->state == PAGEDET_HAVE ?
			     "DAMON looks only at pages on LRU lists, and in "
			     "its regions" :
			     h ? h->advice : args->live ?
			     "needs pagedet_heat(), which takes seconds" : "";

	plan->why[field] = (uint8_t)(h ? h->state : args->live ?
				     PAGEDET_TOO_COSTLY : PAGEDET_UNSUPPORTED);
	if (!*advice)
		return 0;
	plan->advice[field] = strdup(advice);
	return plan->advice[field] ? 0 : -1;
}

/* Plans a field that a KMAP tells. */
static int plan_kmap(const struct pdet_plan_args *args, struct pdet_plan *plan,
		     unsigned field)
{
	plan->why[field] = args->kmap ? PAGEDET_HAVE : PAGEDET_TOO_COSTLY;
	if (args->kmap)
		return 0;
	plan->advice[field] = strdup(PDET_KMAP_PAGES_NEED);
	return plan->advice[field] ? 0 : -1;
}

static int plan_field(const struct pdet_plan_args *args,
		      struct pdet_plan *plan, unsigned field)
{
	struct pdet_fields given = fields_given(args->target);
	struct offers o;
	unsigned i;

	if (is_engine_field(field) ||
	    pdet_fields_has(&plan->absent, field)) {
		plan->why[field] = PAGEDET_HAVE;
		return 0;
	}
	if (pdet_heat_is(field) && !args->saved)
		return plan_heat(args, plan, field);
	if (pdet_kmap_pages_is(field) && !args->saved)
		return plan_kmap(args, plan, field);
	if (survey(args, plan, field, &o) < 0)
		return -1;
	/* Otherwise the walk counts them. */
	if (field == F(USER_MAPS) && !o.n && args->counts) {
		plan->why[field] = PAGEDET_HAVE;
		return 0;
	}
	if (!o.n && (field == F(HASH) || field == F(ENTROPY)))
		return plan_derived(plan, field);
	if (!o.n) {
		if (plan->why[field] == PAGEDET_NOT_ASKED)
			plan->why[field] = PAGEDET_UNSUPPORTED;
		return 0;
	}
	plan->why[field] = PAGEDET_HAVE;
	if (pdet_fields_has(&given, field) &&
	    /*
	     * The walk answers the field for some rows, and a source for the
	     * others.
	     */
	    !(field == F(KIND)) && !(field == F(USER_MAPS)))
		return 0;
	if (args->single_source)
		o.n = 1;
	/*
	 * If there is another source, drop the sources that others would
	 * notice.
	 */
	while (o.n > 1 && o.list[0].cost < PAGEDET_COST_INTRUSIVE &&
	       o.list[o.n - 1].cost == PAGEDET_COST_INTRUSIVE)
		o.n--;
	for (i = 0; i < o.n; i++)
		add_step(plan->steps, &plan->n_steps, &o.list[i], field);
	if (args->lookup && !args->single_source && has_any(args, DEAR) &&
	    (!o.whole || o.list[0].vague))
		return plan_later(args, plan, field, &o);
	/* Advice belongs only to fields that lack answers. */
	if (o.whole && !o.list[0].vague) {
		free(plan->advice[field]);
		plan->advice[field] = NULL;
	}
	return 0;
}

/*
 * Plans the kind and the fields that belong to it: one source answers all of
 * them.
 */
static void add_with_kind(struct pdet_fields *set,
			  const struct pdet_fields *columns)
{
	const struct pdet_fields with = pdet_plan_with_kind();

	if (!pdet_fields_has(set, F(KIND)))
		return;
	set->bits[0] |= with.bits[0] & columns->bits[0];
	set->bits[1] |= with.bits[1] & columns->bits[1];
}

/*
 * Orders the steps in the order in which sources are asked. If a field has
 * several steps, its first one must come before the others.
 */
static void order_steps(const struct pdet_plan_args *args,
			struct pdet_plan *plan)
{
	struct pdet_step sorted[PDET_CHAIN];
	unsigned i, turn, n = 0;

	for (turn = 0; turn < 2; turn++)
		for (i = 0; i < plan->n_steps; i++) {
			const struct pdet_step *s = &plan->steps[i];

			if ((turn_of(args, args->backends[s->backend]) ==
			     IN_BULK) == !turn)
				sorted[n++] = *s;
		}
	memcpy(plan->steps, sorted, n * sizeof(*sorted));
}

static int survey_later(const struct pdet_plan_args *args,
			struct pdet_plan *plan, unsigned field)
{
	struct offers o = { .n = 0 };
	unsigned i;

	if (survey_some(args, plan, field, DEAR, &o) < 0)
		return -1;
	for (i = 0; i < o.n; i++)
		if (o.list[i].cost < PAGEDET_COST_INTRUSIVE &&
		    !(field == F(KIND) && (o.list[i].vague || !o.whole)))
			add_step(plan->late, &plan->n_late, &o.list[i], field);
	return 0;
}

int pdet_plan_later(const struct pdet_plan_args *args, struct pdet_plan *plan)
{
	unsigned f;
	int r = 0;

	pdet_fields_for(f, &plan->later) {
		const uint8_t why = plan->why[f];
		char *advice = plan->advice[f];

		plan->why[f] = PAGEDET_NOT_ASKED;
		plan->advice[f] = NULL;
		if (r == 0)
			r = survey_later(args, plan, f);
		plan->why[f] = why;
		if (!advice)
			continue;
		/* The caller may read the advice. */
		free(plan->advice[f]);
		plan->advice[f] = advice;
	}
	return r == 0 ? 0 :
	       pdet_fail(args->env, ENOMEM, "no memory for the plan");
}

int pdet_plan_without(struct pdet_plan *plan, unsigned backend,
		      unsigned reason, const char *advice)
{
	struct pdet_fields open = { { 0, 0 } };
	unsigned i, f, n = 0;

	for (i = 0; i < plan->n_steps; i++)
		if (plan->steps[i].backend == backend)
			pdet_fields_join(&open, &plan->steps[i].fields);
		else
			plan->steps[n++] = plan->steps[i];
	plan->n_steps = n;
	for (i = 0; i < n; i++)
		pdet_fields_for(f, &plan->steps[i].fields)
			pdet_fields_remove(&open, f);
	pdet_fields_for(f, &open) {
		plan->why[f] = (uint8_t)reason;
		free(plan->advice[f]);
		plan->advice[f] = strdup(advice);
		if (!plan->advice[f])
			return -ENOMEM;
	}
	return 0;
}

/*
 * Leaves out some fields that a log states. These are free, but the kernel is
 * asked about the same fields. If that needs a walk of all tasks, they are left
 * out.
 */
static void add_log(const struct pdet_plan_args *args, struct pdet_plan *plan)
{
	struct pdet_fields told = pdet_log_said_fields();
	unsigned f;

	pdet_fields_add(&told, F(AT));
	/* Few logs state them. */
	for (f = 0; f < PDET_FIELDS; f++)
		if (!strcmp(pdet_field_info(f)->group, "owner"))
			pdet_fields_remove(&told, f);
	if (!args->text_only) {
		pdet_fields_remove(&told, F(USER_MAPS));
		pdet_fields_remove(&told, F(KERNEL_MAPS));
		pdet_fields_remove(&told, F(CONTENT));
	}
	pdet_fields_join(&plan->wanted, &told);
}

/*
 * Adds the "cheap" fields. They always include pfn, kind and flags, and for
 * addresses vaddr and pte.
 */
static int add_cheap(const struct pdet_plan_args *args, struct pdet_plan *plan)
{
	struct offers o;
	unsigned f;

	/* A file has everything that was saved. */
	if (args->saved) {
		pdet_fields_join(&plan->wanted, args->saved);
		return 0;
	}
	pdet_fields_add(&plan->wanted, F(PFN));
	pdet_fields_add(&plan->wanted, F(KIND));
	pdet_fields_add(&plan->wanted, F(FLAGS));
	pdet_fields_add(&plan->wanted, F(FLAGS_KNOWN));
	if (is_address_target(args->target)) {
		pdet_fields_add(&plan->wanted, F(PID));
		pdet_fields_add(&plan->wanted, F(VADDR));
		pdet_fields_add(&plan->wanted, F(PTE));
		pdet_fields_add(&plan->wanted, F(PTE_KNOWN));
	}
	if (is_kernel_target(args->target))
		pdet_fields_add(&plan->wanted, F(VADDR));
	if (args->target == PAGEDET_TARGET_OBJECTS) {
		add_list(&plan->wanted, of_object, PDET_COUNT(of_object));
		add_list(&plan->wanted, of_allocation,
			 PDET_COUNT(of_allocation));
	}
	if (args->target == PAGEDET_TARGET_EVENTS) {
		add_list(&plan->wanted, of_event, PDET_COUNT(of_event));
		add_list(&plan->wanted, also_of_event,
			 PDET_COUNT(also_of_event));
	}
	if (args->target == PAGEDET_TARGET_LOG)
		add_log(args, plan);
	for (f = 0; f < PDET_FIELDS; f++) {
		if (is_engine_field(f) || pdet_fields_has(&plan->absent, f))
			continue;
		if (survey_cheap(args, plan, f, &o) < 0)
			return -1;
		/*
		 * plan_field() asks again, so drop the reason that is stored
		 * here.
		 */
		plan->why[f] = PAGEDET_NOT_ASKED;
		if (is_cheap(args, &o))
			pdet_fields_add(&plan->wanted, f);
	}
	pdet_fields_add(&plan->wanted, F(NOTES));
	return 0;
}

/* Fields about which the page table entry says something. */
static bool uses_entry(const struct pdet_fields *columns)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(of_file); i++)
		if (pdet_fields_has(columns, of_file[i]))
			return true;
	return pdet_fields_has(columns, F(KIND));
}

/* Whether @set has a field that the stage writes after all others. */
static bool has_last(const struct pdet_fields *set)
{
	return pdet_fields_has(set, F(PAGES)) ||
	       pdet_fields_has(set, F(TIME_NS)) ||
	       pdet_fields_has(set, F(NOTES)) ||
	       pdet_fields_has(set, F(USER_MAPS));
}

/*
 * Fields that come from one reading are not read twice, once for the filter and
 * once for the row: in between the page may become another one.
 */
static void close_early(const struct pdet_plan_args *args,
			struct pdet_plan *plan)
{
	struct pdet_fields seen, come;
	const struct pdet_backend *b;
	unsigned round, i;

	for (round = 0; round < plan->n_steps; round++) {
		memset(&seen, 0, sizeof(seen));
		for (i = 0; i < plan->n_steps; i++) {
			const struct pdet_step *step = &plan->steps[i];

			b = args->backends[step->backend];
			come.bits[0] = step->fields.bits[0] &
				       plan->early.bits[0] & ~seen.bits[0];
			come.bits[1] = step->fields.bits[1] &
				       plan->early.bits[1] & ~seen.bits[1];
			pdet_fields_join(&seen, &come);
			if (b->ops->together && !pdet_fields_empty(&come))
				b->ops->together(b, &come);
			come.bits[0] &= step->fields.bits[0];
			come.bits[1] &= step->fields.bits[1];
			pdet_fields_join(&plan->early, &come);
		}
	}
}

bool pdet_plan_wants_entries(const struct pdet_plan_args *args)
{
	struct pdet_fields all = args->fields;

	pdet_fields_join(&all, &args->filter);
	pdet_fields_join(&all, &args->group);
	return args->cheap || uses_entry(&all) ||
	       pdet_fields_has(&all, F(PTE)) ||
	       pdet_fields_has(&all, F(PTE_KNOWN)) ||
	       pdet_fields_has(&all, F(PTE_LEVEL));
}

/*
 * A log was opened instead of a kernel, so pages are as the log describes them.
 */
static bool is_text(const struct pdet_plan_args *args)
{
	const uint32_t log = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG);

	return args->n_backends == 1 &&
	       args->backends[0]->ops->sources == log;
}

static void take_what_is_said(struct pdet_plan *plan)
{
	const struct pdet_fields said = pdet_log_said_fields();

	plan->absent.bits[0] &= ~said.bits[0];
	plan->absent.bits[1] &= ~said.bits[1];
}

int pdet_plan_build(const struct pdet_plan_args *args, struct pdet_plan *ret)
{
	struct pdet_plan plan;
	unsigned f;

	memset(&plan, 0, sizeof(plan));
	plan.wanted = args->fields;
	plan.asked = all_asked(args);
	/* Saved rows may be of any target. */
	if (!args->saved)
		plan.absent = pdet_plan_absent(args->target);
	if (is_text(args))
		take_what_is_said(&plan);
	if (args->cheap && add_cheap(args, &plan) < 0)
		goto no_memory;
	plan.columns.bits[0] = plan.wanted.bits[0] | args->filter.bits[0] |
			       args->group.bits[0];
	plan.columns.bits[1] = plan.wanted.bits[1] | args->filter.bits[1] |
			       args->group.bits[1];
	add_needs(&plan.columns);
	/* Each row needs these fields, so that it can be found and judged. */
	pdet_fields_add(&plan.columns, F(PFN));
	if (is_address_target(args->target) || is_kernel_target(args->target))
		pdet_fields_add(&plan.columns, F(VADDR));
	/* It tells how the address is meant. */
	if (is_kernel_target(args->target))
		pdet_fields_add(&plan.columns, F(ASK));
	if (is_file_target(args->target))
		pdet_fields_add(&plan.columns, F(INDEX));
	/*
	 * This field tells which rows are from the log. Sources must not change
	 * those.
	 */
	if (args->target == PAGEDET_TARGET_LOG)
		pdet_fields_add(&plan.columns, F(AT));
	/* And this one, whether an address is the kernel's. */
	if (args->target == PAGEDET_TARGET_LOG &&
	    pdet_fields_has(&plan.columns, F(VADDR)))
		pdet_fields_add(&plan.columns, F(REPORT));
	/*
	 * These fields show whether the page is still as the log describes it.
	 */
	if (args->target == PAGEDET_TARGET_LOG && !args->text_only) {
		pdet_fields_add(&plan.columns, F(ASK));
		pdet_fields_add(&plan.columns, F(KIND));
		pdet_fields_add(&plan.columns, F(FLAGS));
		pdet_fields_add(&plan.columns, F(FLAGS_KNOWN));
	}
	/*
	 * A scan leaves out frames without a page, so some field must tell
	 * which frames these are.
	 */
	if (args->target == PAGEDET_TARGET_SCAN && !args->holes &&
	    !args->saved) {
		pdet_fields_add(&plan.columns, F(FLAGS));
		pdet_fields_add(&plan.columns, F(FLAGS_KNOWN));
	}
	/* If translations are read twice, notes record what changed. */
	if (is_address_target(args->target) || is_file_target(args->target) ||
	    is_kernel_target(args->target))
		pdet_fields_add(&plan.columns, F(NOTES));
	/* An entry or a mapping gives these fields of its page. */
	if (is_address_target(args->target) && uses_entry(&plan.columns)) {
		pdet_fields_add(&plan.columns, F(PTE));
		pdet_fields_add(&plan.columns, F(PTE_KNOWN));
	}
	if (pdet_fields_has(&plan.wanted, F(FLAGS)))
		pdet_fields_add(&plan.wanted, F(FLAGS_KNOWN));
	if (pdet_fields_has(&plan.wanted, F(PTE)))
		pdet_fields_add(&plan.wanted, F(PTE_KNOWN));
	plan.given = fields_given(args->target);
	plan.early = args->filter;
	add_needs(&plan.early);
	/*
	 * If a source does not know the kind, it does not know all flags.
	 * Another source may know them.
	 */
	if (pdet_fields_has(&plan.early, F(FLAGS)) && args->many &&
	    !args->saved) {
		pdet_fields_add(&plan.early, F(KIND));
		pdet_fields_add(&plan.columns, F(KIND));
	}
	add_with_kind(&plan.early, &plan.columns);
	if (pdet_fields_has(&plan.columns, F(KIND)) &&
	    survey_kind(args, &plan) < 0)
		goto no_memory;
	for (f = 0; f < PDET_FIELDS; f++)
		if (pdet_fields_has(&plan.columns, f) &&
		    plan_field(args, &plan, f) < 0)
			goto no_memory;
	if (args->target == PAGEDET_TARGET_SCAN && !args->holes &&
	    !args->saved && plan.why[F(FLAGS)] != PAGEDET_HAVE &&
	    !pdet_fields_has(&plan.columns, F(KIND))) {
		pdet_fields_add(&plan.columns, F(KIND));
		if (plan_field(args, &plan, F(KIND)) < 0)
			goto no_memory;
	}
	add_with_kind(&plan.later, &plan.columns);
	order_steps(args, &plan);
	plan.judged_late = has_last(&args->filter);
	close_early(args, &plan);
	plan.absent.bits[0] &= plan.columns.bits[0];
	plan.absent.bits[1] &= plan.columns.bits[1];
	*ret = plan;
	return 0;
no_memory:
	pdet_plan_free(&plan);
	return pdet_fail(args->env, ENOMEM, "no memory for the plan");
}

void pdet_plan_free(struct pdet_plan *plan)
{
	unsigned f;

	for (f = 0; f < PDET_FIELDS; f++)
		free(plan->advice[f]);
	memset(plan, 0, sizeof(*plan));
}
