/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Puts the lines of a record into fields. Text of an older kernel lacks newer
 * fields; the state of the cell then says so.
 */
#include <string.h>

#include "base/hash.h"
#include "kernel/owner/allocator.h"
#include "kernel/owner/columns.h"

#define OFFLINE " (offline)"
/* The kernel writes at most 80 bytes (mm/page_owner.c). */
#define LONGEST_MEMCG 256

#define BIT(name) ((uint64_t)1 << PAGEDET_FIELD_##name)

struct pdet_fields pdet_owner_fields(void)
{
	struct pdet_fields all = { {
		BIT(MEMCG_NAME) | BIT(ALLOC_STACK) | BIT(ALLOC_PID) |
		BIT(ALLOC_TGID) | BIT(ALLOC_COMM) | BIT(GFP_MASK) | BIT(GFP) |
		BIT(ALLOC_ORDER) | BIT(MIGRATETYPE) | BIT(ALLOCATOR) |
		BIT(ALLOC_NS) | BIT(FREE_NS) | BIT(MIGRATE_REASON), 0
	} };

	pdet_fields_add(&all, PAGEDET_FIELD_PAGE_MOBILITY);
	return all;
}

struct pdet_owner_stack pdet_owner_stack_of(const char *frames, size_t n)
{
	static const char handle[] = "handle: ";
	struct pdet_owner_stack stack = { 0, NULL, false };

	if (!n)
		return stack;
	stack.id = pdet_hash(frames, n);
	stack.unknown = n > sizeof(handle) - 1 &&
			!memcmp(frames, handle, sizeof(handle) - 1);
	if (!stack.unknown)
		stack.allocator = pdet_allocator_of(frames, n);
	return stack;
}

struct putting {
	struct pdet_batch *b;
	uint32_t row;
	const struct pdet_fields *want;
	unsigned source;
};

static void number(const struct putting *p, unsigned field, bool said,
		   uint64_t value)
{
	if (!pdet_fields_has(p->want, field))
		return;
	if (said)
		pdet_put(p->b, p->row, field, value, p->source);
	else
		pdet_put_lost(p->b, p->row, field, PAGEDET_NO_KERNEL,
			      p->source);
}

/* @state is the cell's state if the record does not have the field. */
static void text(const struct putting *p, unsigned field, bool said,
		 const struct pdet_scan *s, unsigned state)
{
	if (!pdet_fields_has(p->want, field))
		return;
	if (said)
		pdet_put_text(p->b, p->row, field, s->at,
			      (size_t)(s->end - s->at), p->source);
	else
		pdet_put_lost(p->b, p->row, field, state, p->source);
}

static void put_stack(const struct putting *p,
		      const struct pdet_owner_stack *stack)
{
	struct pdet_scan name = { stack->allocator, stack->allocator };

	if (pdet_fields_has(p->want, PAGEDET_FIELD_ALLOC_STACK)) {
		if (stack->id)
			pdet_put(p->b, p->row, PAGEDET_FIELD_ALLOC_STACK,
				 stack->id, p->source);
		else
			pdet_put_none(p->b, p->row, PAGEDET_FIELD_ALLOC_STACK,
				      p->source);
	}
	if (name.at)
		name.end += strlen(name.at);
	text(p, PAGEDET_FIELD_ALLOCATOR, stack->allocator, &name,
	     stack->id ? PAGEDET_UNSUPPORTED : PAGEDET_NONE);
}

/* A file of stacks has no other field. */
static void put_unsaid(const struct putting *p)
{
	const struct pdet_fields all = pdet_owner_fields();
	unsigned f;

	pdet_fields_for(f, &all)
		if (pdet_fields_has(p->want, f))
			pdet_put_lost(p->b, p->row, f, PAGEDET_UNSUPPORTED,
				      p->source);
}

/* A removed cgroup gets the same name as in other sources. */
static void put_memcg(const struct putting *p,
		      const struct pdet_owner_record *r)
{
	const size_t n = (size_t)(r->memcg.end - r->memcg.at);
	char name[LONGEST_MEMCG];
	struct pdet_scan offline;

	if (!(r->has & PDET_OWNER_OFFLINE) ||
	    n + sizeof(OFFLINE) > sizeof(name)) {
		text(p, PAGEDET_FIELD_MEMCG_NAME, r->has & PDET_OWNER_CHARGED,
		     &r->memcg, PAGEDET_NONE);
		return;
	}
	memcpy(name, r->memcg.at, n);
	memcpy(name + n, OFFLINE, sizeof(OFFLINE));
	offline = (struct pdet_scan){ name, name + n + sizeof(OFFLINE) - 1 };
	text(p, PAGEDET_FIELD_MEMCG_NAME, true, &offline, 0);
}

void pdet_owner_put(struct pdet_batch *b, uint32_t row,
		    const struct pdet_fields *want,
		    const struct pdet_owner_record *r,
		    const struct pdet_owner_stack *stack, unsigned source)
{
	const struct putting p = { b, row, want, source };
	const bool named = !(r->has & PDET_OWNER_OLD);

	if (r->has & PDET_OWNER_STACK_ONLY) {
		put_unsaid(&p);
		put_stack(&p, stack);
		return;
	}
	put_stack(&p, stack);
	number(&p, PAGEDET_FIELD_ALLOC_PID, r->has & PDET_OWNER_PID, r->pid);
	number(&p, PAGEDET_FIELD_ALLOC_TGID, r->has & PDET_OWNER_TGID,
	       r->tgid);
	number(&p, PAGEDET_FIELD_ALLOC_ORDER, true, r->order);
	number(&p, PAGEDET_FIELD_GFP_MASK, true, r->gfp_mask);
	number(&p, PAGEDET_FIELD_ALLOC_NS, r->has & PDET_OWNER_NS, r->ns);
	number(&p, PAGEDET_FIELD_FREE_NS, r->has & PDET_OWNER_FREE_NS,
	       r->free_ns);
	if (r->has & PDET_OWNER_FREE_NS && !r->free_ns &&
	    pdet_fields_has(want, PAGEDET_FIELD_FREE_NS))
		pdet_put_none(b, row, PAGEDET_FIELD_FREE_NS, source);
	text(&p, PAGEDET_FIELD_ALLOC_COMM, r->has & PDET_OWNER_TGID, &r->comm,
	     PAGEDET_NO_KERNEL);
	text(&p, PAGEDET_FIELD_GFP, named, &r->gfp, PAGEDET_NO_KERNEL);
	text(&p, PAGEDET_FIELD_MIGRATETYPE, named, &r->block_type,
	     PAGEDET_NO_KERNEL);
	text(&p, PAGEDET_FIELD_PAGE_MOBILITY, named, &r->type,
	     PAGEDET_NO_KERNEL);
	text(&p, PAGEDET_FIELD_MIGRATE_REASON, r->has & PDET_OWNER_MIGRATED,
	     &r->reason, PAGEDET_NONE);
	put_memcg(&p, r);
}
