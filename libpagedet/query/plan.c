/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Making the plan. Asks every backend what it can answer, never how.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/log.h"
#include "query/plan.h"

#define F(name) PAGEDET_FIELD_##name

/* Answering a field needs another one first, from whatever source. */
static const struct {
	uint8_t field;
	uint8_t needs;
} needs[] = {
	/* made of the same bytes */
	{ F(HASH), F(CONTENT) },
	{ F(ENTROPY), F(CONTENT) },
	/* may it be read, and in which way? */
	{ F(CONTENT), F(FLAGS) },
	{ F(CONTENT), F(KIND) },
	{ F(CONTENT), F(PID) },
	{ F(FLAGS), F(FLAGS_KNOWN) },
	{ F(FLAGS_KNOWN), F(FLAGS) },
	{ F(PTE), F(PTE_KNOWN) },
	{ F(PTE_KNOWN), F(PTE) },
	{ F(PTE_LEVEL), F(PTE) },
	/* a huge page of which size? */
	{ F(PTE_LEVEL), F(FLAGS) },
	{ F(MEMCG_PATH), F(MEMCG_INO) },
	{ F(MEMCG_NAME), F(MEMCG_INO) },
	/* are those all? */
	{ F(USER_MAPS), F(MAPCOUNT) },
	{ F(USER_MAPS), F(MAPCOUNT_KIND) },
	{ F(USER_MAPS), F(NOTES) },
};

/* A row is about an address of a task. */
static const uint8_t of_address[] = {
	F(VADDR), F(PID), F(TGID), F(COMM), F(PTE), F(PTE_KNOWN), F(PTE_LEVEL),
	F(SWAP_TYPE), F(SWAP_OFFSET), F(VMA_START), F(VMA_END), F(VMA_PROT),
	F(VMA_NAME),
};
/* A row is about a kernel address. */
static const uint8_t of_kernel[] = {
	F(VADDR), F(PTE), F(PTE_KNOWN), F(PTE_LEVEL), F(VMA_START), F(VMA_END),
	F(VMA_PROT), F(VMA_NAME), F(MAP), F(OBJECT),
};
/* Where a file's page is found by looking at the file or the mapping. */
static const uint8_t of_file[] = { F(DEV), F(INODE), F(INDEX), F(PATH) };
/* Written by the engine for every row. */
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

struct pdet_fields pdet_plan_given(uint32_t target)
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
	} else if (target == PAGEDET_TARGET_KADDR) {
		add_list(&given, of_kernel, PDET_COUNT(of_kernel));
		pdet_fields_add(&given, F(KIND));
	}
	if (target == PAGEDET_TARGET_MAPPERS)
		pdet_fields_add(&given, F(MAP));
	if (target == PAGEDET_TARGET_LOG) {
		add_list(&given, of_address, PDET_COUNT(of_address));
		pdet_fields_add(&given, F(AT));
		pdet_fields_add(&given, F(REPORT));
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
	for (i = 0; target == PAGEDET_TARGET_KADDR &&
		    i < PDET_COUNT(of_kernel); i++)
		pdet_fields_remove(&absent, of_kernel[i]);
	if (target != PAGEDET_TARGET_LOG) {
		pdet_fields_add(&absent, F(AT));
		pdet_fields_add(&absent, F(REPORT));
	}
	return absent;
}

/* What one source says of one field. */
struct offer {
	unsigned backend;
	unsigned source;
	unsigned cost;
};

/* Reasons in the order in which they help the reader most: what could be
 * mended comes before what cannot. */
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
	if (plan->why[field] != PAGEDET_NOT_ASKED &&
	    worth(a->reason) <= worth(plan->why[field]))
		return 0;
	plan->why[field] = a->reason;
	free(plan->advice[field]);
	plan->advice[field] = a->advice[0] ? strdup(a->advice) : NULL;
	return a->advice[0] && !plan->advice[field] ? -1 : 0;
}

/* What those of the backends that are @dear or not say of @field: the offers,
 * cheapest first. *whole: one of them answers it of every page. */
static int survey_some(const struct pdet_plan_args *args,
		       struct pdet_plan *plan, unsigned field, bool dear,
		       struct offer *offers, unsigned *n, bool *whole)
{
	struct pdet_ability a;
	unsigned b, source, i;

	for (b = 0; b < args->n_backends; b++) {
		struct pdet_backend *backend = args->backends[b];
		uint32_t sources = backend->sources & args->sources;

		if (backend->dear != dear)
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
			*whole |= !a.partial;
			if (*n == PDET_CHAIN)
				continue;
			for (i = *n; i && offers[i - 1].cost > a.cost; i--)
				offers[i] = offers[i - 1];
			offers[i].backend = b;
			offers[i].source = source;
			offers[i].cost = a.cost;
			++*n;
		}
	}
	return 0;
}

/* Whether there is any that is not dear. */
static bool has_ready(const struct pdet_plan_args *args)
{
	size_t b;

	for (b = 0; b < args->n_backends; b++)
		if (!args->backends[b]->dear &&
		    args->backends[b]->sources & args->sources)
			return true;
	return false;
}

/* Asks everybody who may be worth it. */
static int survey(const struct pdet_plan_args *args, struct pdet_plan *plan,
		  unsigned field, bool cheap, struct offer *offers,
		  unsigned *n)
{
	bool whole = false;

	*n = 0;
	if (survey_some(args, plan, field, false, offers, n, &whole) < 0)
		return -1;
	/* Who walks kernel addresses is asked anyway. */
	if (whole || (cheap && has_ready(args) &&
		      args->target != PAGEDET_TARGET_KADDR))
		return 0;
	return survey_some(args, plan, field, true, offers, n, &whole);
}

static void add_step(struct pdet_plan *plan, const struct offer *offer,
		    unsigned field)
{
	unsigned i;

	for (i = 0; i < plan->n_steps; i++)
		if (plan->steps[i].backend == offer->backend &&
		    plan->steps[i].source == offer->source)
			break;
	if (i == PDET_CHAIN)
		return;
	if (i == plan->n_steps) {
		memset(&plan->steps[i], 0, sizeof(plan->steps[i]));
		plan->steps[i].backend = offer->backend;
		plan->steps[i].source = offer->source;
		plan->n_steps++;
	}
	pdet_fields_add(&plan->steps[i].fields, field);
}

static void add_needs(struct pdet_fields *set)
{
	size_t i, round;

	/* what is needed may need something, too */
	for (round = 0; round < 2; round++)
		for (i = 0; i < PDET_COUNT(needs); i++)
			if (pdet_fields_has(set, needs[i].field))
				pdet_fields_add(set, needs[i].needs);
}

/* Whether a field is free here; "free" is what a target gives anyway, and for
 * single pages one read more, which the set-up outweighs. */
static bool is_cheap(const struct pdet_plan_args *args,
		     const struct offer *offers, unsigned n)
{
	return n &&
	       (offers[0].cost == PAGEDET_COST_FREE ||
	       (args->few && offers[0].cost == PAGEDET_COST_READ));
}

/* The engine's own fields: always possible. */
static bool is_engine_field(unsigned field)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(of_engine); i++)
		if (of_engine[i] == field)
			return true;
	return false;
}

/* By name; not only because it costs nothing, or another one needs it. */
static bool is_asked(const struct pdet_plan_args *args, unsigned field)
{
	return pdet_fields_has(&args->fields, field) ||
	       pdet_fields_has(&args->filter, field) ||
	       pdet_fields_has(&args->group, field);
}

/* Made of the bytes that the class was made of, which is planned before: as
 * possible as that. */
static int plan_derived(struct pdet_plan *plan, unsigned field)
{
	const char *advice = plan->advice[F(CONTENT)];

	plan->why[field] = plan->why[F(CONTENT)];
	free(plan->advice[field]);
	plan->advice[field] = advice ? strdup(advice) : NULL;
	return advice && !plan->advice[field] ? -1 : 0;
}

static int plan_field(const struct pdet_plan_args *args,
		      struct pdet_plan *plan, unsigned field)
{
	struct pdet_fields given = pdet_plan_given(args->target);
	struct offer offers[PDET_CHAIN];
	unsigned n, i;

	if (is_engine_field(field) ||
	    pdet_fields_has(&plan->absent, field)) {
		plan->why[field] = PAGEDET_HAVE;
		return 0;
	}
	if (survey(args, plan, field, !is_asked(args, field), offers, &n) < 0)
		return -1;
	/* Else they are counted. */
	if (field == F(USER_MAPS) && !n && args->counts) {
		plan->why[field] = PAGEDET_HAVE;
		return 0;
	}
	if (!n && (field == F(HASH) || field == F(ENTROPY)))
		return plan_derived(plan, field);
	if (!n) {
		if (plan->why[field] == PAGEDET_NOT_ASKED)
			plan->why[field] = PAGEDET_UNSUPPORTED;
		return 0;
	}
	plan->why[field] = PAGEDET_HAVE;
	if (pdet_fields_has(&given, field) &&
	    /* the walk says it of some rows, a source of the others */
	    !(field == F(KIND)) && !(field == F(USER_MAPS)))
		return 0;
	if (args->single_source)
		n = 1;
	/* Nobody is to notice, where that can be had. */
	while (n > 1 && offers[0].cost < PAGEDET_COST_INTRUSIVE &&
	       offers[n - 1].cost == PAGEDET_COST_INTRUSIVE)
		n--;
	for (i = 0; i < n; i++)
		add_step(plan, &offers[i], field);
	return 0;
}

/* What a log says costs nothing to read, but the kernel is asked about the
 * same fields: not where that takes looking at every task. */
static void add_log(const struct pdet_plan_args *args, struct pdet_plan *plan)
{
	const struct pdet_fields told = pdet_log_said_fields();
	unsigned f;

	pdet_fields_join(&plan->wanted, &told);
	pdet_fields_add(&plan->wanted, F(AT));
	/* Few texts have them. */
	for (f = 0; f < PDET_FIELDS; f++)
		if (!strcmp(pdet_field_info(f)->group, "owner"))
			pdet_fields_remove(&plan->wanted, f);
	if (args->text_only)
		return;
	pdet_fields_remove(&plan->wanted, F(USER_MAPS));
	pdet_fields_remove(&plan->wanted, F(KERNEL_MAPS));
	pdet_fields_remove(&plan->wanted, F(CONTENT));
}

/* "cheap": pfn, kind and flags always, and for addresses vaddr and pte. */
static int add_cheap(const struct pdet_plan_args *args, struct pdet_plan *plan)
{
	struct offer offers[PDET_CHAIN];
	unsigned f, n;

	/* All that was saved is there. */
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
	if (args->target == PAGEDET_TARGET_KADDR)
		pdet_fields_add(&plan->wanted, F(VADDR));
	if (args->target == PAGEDET_TARGET_LOG)
		add_log(args, plan);
	for (f = 0; f < PDET_FIELDS; f++) {
		if (is_engine_field(f) || pdet_fields_has(&plan->absent, f))
			continue;
		if (survey(args, plan, f, true, offers, &n) < 0)
			return -1;
		/* plan_field() asks again; forget what was said here */
		plan->why[f] = PAGEDET_NOT_ASKED;
		if (is_cheap(args, offers, n))
			pdet_fields_add(&plan->wanted, f);
	}
	pdet_fields_add(&plan->wanted, F(NOTES));
	return 0;
}

static bool uses_entry(const struct pdet_fields *columns)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(of_file); i++)
		if (pdet_fields_has(columns, of_file[i]))
			return true;
	return pdet_fields_has(columns, F(KIND));
}

/* Whether @set has one of those that the stage writes when all else is done. */
static bool has_last(const struct pdet_fields *set)
{
	return pdet_fields_has(set, F(PAGES)) ||
	       pdet_fields_has(set, F(TIME_NS)) ||
	       pdet_fields_has(set, F(NOTES)) ||
	       pdet_fields_has(set, F(USER_MAPS));
}

/* What comes from one reading is not read twice, once for the filter and once
 * for the rest: in between the page may become another one. */
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

int pdet_plan_build(const struct pdet_plan_args *args, struct pdet_plan *ret)
{
	struct pdet_plan plan;
	unsigned f;

	memset(&plan, 0, sizeof(plan));
	plan.wanted = args->fields;
	/* Saved rows may be about anything. */
	if (!args->saved)
		plan.absent = pdet_plan_absent(args->target);
	if (args->cheap && add_cheap(args, &plan) < 0)
		goto no_memory;
	plan.columns.bits[0] = plan.wanted.bits[0] | args->filter.bits[0] |
			       args->group.bits[0];
	plan.columns.bits[1] = plan.wanted.bits[1] | args->filter.bits[1] |
			       args->group.bits[1];
	add_needs(&plan.columns);
	/* What every row needs to be found and judged by. */
	pdet_fields_add(&plan.columns, F(PFN));
	if (is_address_target(args->target) ||
	    args->target == PAGEDET_TARGET_KADDR)
		pdet_fields_add(&plan.columns, F(VADDR));
	/* It says in which way the address is meant. */
	if (args->target == PAGEDET_TARGET_KADDR)
		pdet_fields_add(&plan.columns, F(ASK));
	if (is_file_target(args->target))
		pdet_fields_add(&plan.columns, F(INDEX));
	/* It says which rows are the text's, and hands off them. */
	if (args->target == PAGEDET_TARGET_LOG)
		pdet_fields_add(&plan.columns, F(AT));
	/* And these, whether the page is still what the text says. */
	if (args->target == PAGEDET_TARGET_LOG && !args->text_only) {
		pdet_fields_add(&plan.columns, F(ASK));
		pdet_fields_add(&plan.columns, F(KIND));
		pdet_fields_add(&plan.columns, F(FLAGS));
		pdet_fields_add(&plan.columns, F(FLAGS_KNOWN));
	}
	/* Frames without a page are not scanned: something must tell them. */
	if (args->target == PAGEDET_TARGET_SCAN && !args->holes &&
	    !args->saved) {
		pdet_fields_add(&plan.columns, F(FLAGS));
		pdet_fields_add(&plan.columns, F(FLAGS_KNOWN));
	}
	/* Where translations are read twice, what moved is noted. */
	if (is_address_target(args->target) || is_file_target(args->target) ||
	    args->target == PAGEDET_TARGET_KADDR)
		pdet_fields_add(&plan.columns, F(NOTES));
	/* What an entry or a mapping says of the page behind it. */
	if (is_address_target(args->target) && uses_entry(&plan.columns)) {
		pdet_fields_add(&plan.columns, F(PTE));
		pdet_fields_add(&plan.columns, F(PTE_KNOWN));
	}
	if (pdet_fields_has(&plan.wanted, F(FLAGS)))
		pdet_fields_add(&plan.wanted, F(FLAGS_KNOWN));
	if (pdet_fields_has(&plan.wanted, F(PTE)))
		pdet_fields_add(&plan.wanted, F(PTE_KNOWN));
	plan.given = pdet_plan_given(args->target);
	plan.early = args->filter;
	add_needs(&plan.early);
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
