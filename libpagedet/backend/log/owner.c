/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses page_owner's lines after a block of dump_page() (Linux
 * mm/page_owner.c, __dump_page_owner(); 5.10 to 6.18), and fills their fields:
 *
 *   page_owner tracks the page as {allocated|freed}
 *   page last allocated via order O, migratetype T, gfp_mask 0xM(NAMES)
 *       [, pid P[, tgid T (COMM)], ts N[, free_ts N]]
 *    function+0xoff/0xsize [module]    or  page_owner allocation stack trace
 *                                          missing
 *   page last free [pid P tgid T ]stack trace:
 *    function+0xoff/0xsize [module]    or  page_owner free stack trace missing
 *   [page has been migrated, last migrate reason: R]
 *
 * Each is a separate line, and lines of other writers come in between. If the
 * log does not identify writers, a stack is complete only if no line suggests
 * that a frame is missing.
 */
#include <string.h>

#include "backend/log/report.h"
#include "kernel/owner/columns.h"

#define F(name) PAGEDET_FIELD_##name

/* TASK_COMM_LEN without its NUL. */
#define COMM_MAX 15
/* The kernel prints at most 16. */
#define MOST_FRAMES 64

/* --- lines --- */

static bool decimal32(struct pdet_scan *s, uint32_t *ret)
{
	uint64_t value;

	if (!pdet_scan_dec(s, &value) || value > UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

/* The text up to @c, and skip @c. */
static bool until(struct pdet_scan *s, char c, struct pdet_scan *ret)
{
	const char *at = memchr(s->at, c, (size_t)(s->end - s->at));

	if (!at)
		return false;
	*ret = (struct pdet_scan){ s->at, at };
	s->at = at + 1;
	return true;
}

static bool is_end(struct pdet_scan s)
{
	pdet_scan_blanks(&s);
	return s.at == s.end;
}

/* ", ts 12345[, free_ts 0]" at the end of the line. */
static bool times(struct pdet_scan s, struct pdet_log_owner *o)
{
	unsigned has = PDET_OWNER_NS;

	if (!pdet_scan_word(&s, ", ts ") || !pdet_scan_dec(&s, &o->ns))
		return false;
	if (pdet_scan_word(&s, ", free_ts ")) {
		if (!pdet_scan_dec(&s, &o->free_ns))
			return false;
		has |= PDET_OWNER_FREE_NS;
	}
	if (!is_end(s))
		return false;
	o->has |= has;
	return true;
}

/* "COMM), ts ...": the name may imitate the text after it, but is short. The
 * last possible position of that text is the right one. */
static bool name_and_times(struct pdet_scan s, struct pdet_log_owner *o,
			   struct pdet_scan *comm)
{
	const char *at = s.at + PDET_MIN(s.end - s.at, COMM_MAX + 1);

	while (at-- > s.at)
		if (*at == ')' &&
		    times((struct pdet_scan){ at + 1, s.end }, o)) {
			*comm = (struct pdet_scan){ s.at, at };
			return true;
		}
	return false;
}

/* ", pid 7, tgid 7 (comm), ts 5"; older kernels lack parts. */
static bool task(struct pdet_scan s, struct pdet_log_owner *o,
		 struct pdet_scan *comm)
{
	if (is_end(s))
		return true;
	if (!pdet_scan_word(&s, ", pid ") || !decimal32(&s, &o->pid))
		return false;
	o->has |= PDET_OWNER_PID;
	if (!pdet_scan_word(&s, ", tgid "))
		return times(s, o);
	if (!decimal32(&s, &o->tgid) || !pdet_scan_word(&s, " ("))
		return false;
	o->has |= PDET_OWNER_TGID;
	return name_and_times(s, o, comm);
}

static bool allocation(struct pdet_log_page *p, struct pdet_scan s,
		       bool *memory)
{
	struct pdet_scan type, gfp, comm = { NULL, NULL };
	struct pdet_log_owner o = { .kept = true, .alloc.state =
				    PDET_LOG_STACK_OPEN };

	if (!pdet_scan_word(&s, "page last allocated via order "))
		return false;
	p->owner = o;
	if (!decimal32(&s, &o.order) || o.order > PDET_OWNER_MOST_ORDER ||
	    !pdet_scan_word(&s, ", migratetype ") || !until(&s, ',', &type) ||
	    !pdet_scan_word(&s, " gfp_mask ") ||
	    !(pdet_scan_word(&s, "0x"), pdet_scan_hex(&s, &o.gfp_mask)) ||
	    !pdet_scan_char(&s, '(') || !until(&s, ')', &gfp) ||
	    !task(s, &o, &comm))
		return true;	/* damaged: ignore it */
	o.said = true;
	*memory &= pdet_log_keep(p, gfp, &o.gfp);
	*memory &= pdet_log_keep(p, type, &o.mobility);
	if (comm.at)
		*memory &= pdet_log_keep(p, comm, &o.comm);
	p->owner = o;
	return true;
}

/* "name+0x1a/0x30", or an address without a name. */
static bool is_symbol(struct pdet_scan *s)
{
	const char *plus = memmem(s->at, (size_t)(s->end - s->at), "+0x", 3);
	const char *blank = memchr(s->at, ' ', (size_t)(s->end - s->at));
	struct pdet_scan try = *s;
	uint64_t number;

	if (!pdet_scan_word(&try, "0x")) {
		if (!plus || plus == s->at || (blank && blank < plus))
			return false;
		try.at = plus + 3;
		if (!pdet_scan_hex(&try, &number) ||
		    !pdet_scan_word(&try, "/0x"))
			return false;
	}
	if (!pdet_scan_hex(&try, &number) ||
	    (try.at < try.end && *try.at != ' '))
		return false;
	s->at = try.at;
	return true;
}

/* "mm/page_alloc.c:1558": symbolizers append it, or replace the offset with
 * it. */
static bool has_place(struct pdet_scan s)
{
	static const char *const ends[] = { ".c:", ".h:", ".S:", ".rs:" };
	const char *at;
	size_t i, len;

	for (i = 0; i < PDET_COUNT(ends); i++) {
		len = strlen(ends[i]);
		at = memmem(s.at, (size_t)(s.end - s.at), ends[i], len);
		if (at && at + len < s.end && pdet_hex_digit(at[len]) < 10)
			return true;
	}
	return false;
}

static bool is_frame(struct pdet_scan s, bool indented)
{
	if (is_symbol(&s))
		return is_end(s) || has_place(s) || s.end[-1] == ']';
	return indented && s.at < s.end && *s.at != '?' && *s.at != '<' &&
	       memchr(s.at, ' ', (size_t)(s.end - s.at)) && has_place(s);
}

static void add_frame(struct pdet_log_page *p, struct pdet_log_stack *stack,
		      struct pdet_scan s, bool *memory)
{
	static const char newline[] = "\n";
	struct pdet_log_text frame, end;

	while (s.end > s.at && s.end[-1] == ' ')
		s.end--;
	if (stack->frames == MOST_FRAMES) {
		stack->state = PDET_LOG_STACK_BROKEN;
		return;
	}
	if (!pdet_log_keep(p, s, &frame) ||
	    !pdet_log_keep(p, (struct pdet_scan){ newline, newline + 1 },
			   &end)) {
		*memory = false;
		return;
	}
	if (!stack->frames++)
		stack->text.at = frame.at;
	stack->text.len = end.at + end.len - stack->text.at;
}

/* The stack that frames belong to now. */
static struct pdet_log_stack *current(struct pdet_log_owner *o)
{
	if (o->free.state != PDET_LOG_STACK_UNSAID)
		return &o->free;
	return &o->alloc;
}

bool pdet_log_stack_open(const struct pdet_log_page *p)
{
	const struct pdet_log_owner *o = &p->owner;
	const enum pdet_log_stack_state state =
		o->free.state != PDET_LOG_STACK_UNSAID ? o->free.state :
							 o->alloc.state;

	return state == PDET_LOG_STACK_OPEN || state == PDET_LOG_STACK_LEFT;
}

static bool frame(struct pdet_log_page *p, struct pdet_scan s, bool indented,
		  bool *memory)
{
	struct pdet_log_owner *o = &p->owner;
	struct pdet_log_stack *stack = current(o);

	if ((stack->state != PDET_LOG_STACK_OPEN &&
	     stack->state != PDET_LOG_STACK_LEFT) || !is_frame(s, indented))
		return false;
	if (stack->state == PDET_LOG_STACK_OPEN) {
		add_frame(p, stack, s, memory);
		return true;
	}
	/*
	 * It may be a frame of this stack unless another backtrace has begun.
	 */
	if (!o->trace)
		stack->state = PDET_LOG_STACK_BROKEN;
	return false;
}

void pdet_log_stack_begins(struct pdet_log_stack *stack)
{
	*stack = (struct pdet_log_stack){ .state = PDET_LOG_STACK_OPEN };
}

bool pdet_log_stack_frame(struct pdet_log_page *p, struct pdet_scan s,
			  bool *memory)
{
	struct pdet_log_stack *stack = current(&p->owner);

	if (frame(p, s, true, memory))
		return true;
	if (stack->state == PDET_LOG_STACK_OPEN)
		stack->state = PDET_LOG_STACK_LEFT;
	return false;
}

/* A line that can only come after a stack ends the stack. */
static void finish(struct pdet_log_stack *stack)
{
	if (stack->state == PDET_LOG_STACK_OPEN ||
	    stack->state == PDET_LOG_STACK_LEFT)
		stack->state = stack->frames ? PDET_LOG_STACK_WHOLE :
					       PDET_LOG_STACK_BROKEN;
}

void pdet_log_stack_ends(struct pdet_log_stack *stack)
{
	finish(stack);
}

/* The same for a line of page_owner. The report's own backtrace comes after all
 * of these, so one that has begun was another's, and frames among its own may
 * have been of this stack. */
static void end_before(const struct pdet_log_owner *o,
		       struct pdet_log_stack *stack)
{
	if (o->trace && (stack->state == PDET_LOG_STACK_OPEN ||
			 stack->state == PDET_LOG_STACK_LEFT))
		stack->state = PDET_LOG_STACK_BROKEN;
	finish(stack);
}

/* "page last free pid 7 tgid 7 stack trace:". */
static bool is_free(struct pdet_scan s)
{
	static const char end[] = "stack trace:";
	const size_t len = sizeof(end) - 1;

	while (s.end > s.at && s.end[-1] == ' ')
		s.end--;
	return pdet_scan_word(&s, "page last free ") &&
	       (size_t)(s.end - s.at) >= len &&
	       !memcmp(s.end - len, end, len);
}

static bool between(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_log_owner *o = &p->owner;

	if (is_free(s)) {
		end_before(o, &o->alloc);
		o->free.state = PDET_LOG_STACK_OPEN;
	} else if (pdet_scan_word(&s, "page_owner free stack trace missing")) {
		end_before(o, &o->alloc);
		o->free.state = PDET_LOG_STACK_NONE;
	} else if (pdet_scan_word(&s, "page_owner allocation stack trace "
				  "missing")) {
		o->alloc.state = PDET_LOG_STACK_NONE;
	} else if (pdet_scan_word(&s, "page has been migrated, last migrate "
				  "reason: ")) {
		end_before(o, current(o));
		o->has |= PDET_OWNER_MIGRATED;
		*memory &= pdet_log_keep(p, s, &o->reason);
	} else {
		return false;
	}
	o->trace = false;
	return true;
}

bool pdet_log_owner(struct pdet_log_page *p, struct pdet_scan s, bool indented,
		    bool *memory)
{
	struct pdet_log_owner *o = &p->owner;
	struct pdet_scan rest = s;

	if (pdet_scan_word(&rest, "page_owner tracks the page as "))
		*o = (struct pdet_log_owner){ .kept = true };
	else if (pdet_scan_word(&rest, "page_owner info is not present"))
		*o = (struct pdet_log_owner){ .never = true };
	else if (!allocation(p, s, memory) &&
		 (!o->kept || (!frame(p, s, indented, memory) &&
			       !between(p, s, memory))))
		return false;
	o->last = true;
	return true;
}

void pdet_log_owner_other(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_log_owner *o = &p->owner;
	struct pdet_log_stack *stack = current(o);

	/* An incomplete line may become a frame. */
	o->last = stack->state == PDET_LOG_STACK_OPEN;
	if (o->last)
		stack->state = PDET_LOG_STACK_LEFT;
	/* arm64 prints "Call trace:". */
	if (pdet_scan_word(&s, "Call Trace:") ||
	    pdet_scan_word(&s, "Call trace:") || pdet_scan_is(&s, "<TASK>"))
		o->trace = true;
}

void pdet_log_owner_hole(struct pdet_log_page *p)
{
	if (pdet_log_stack_open(p))
		current(&p->owner)->state = PDET_LOG_STACK_BROKEN;
}

/* The last line may be incomplete. */
static void cut_last(struct pdet_log_page *p)
{
	struct pdet_log_owner *o = &p->owner;

	if (o->has & PDET_OWNER_MIGRATED) {
		o->has &= ~(unsigned)PDET_OWNER_MIGRATED;
		o->reason_lost = true;
		return;
	}
	if (current(o) == &o->alloc && !o->alloc.frames &&
	    o->alloc.state == PDET_LOG_STACK_OPEN)
		o->said = false;
	pdet_log_owner_hole(p);
}

void pdet_log_owner_end(struct pdet_log_page *p, bool cut)
{
	struct pdet_log_owner *o = &p->owner;

	if (cut && o->last)
		cut_last(p);
	finish(&o->free);
	/* The line that ends it is missing. */
	if (o->alloc.state == PDET_LOG_STACK_OPEN ||
	    o->alloc.state == PDET_LOG_STACK_LEFT)
		o->alloc.state = PDET_LOG_STACK_BROKEN;
}

/* --- fields --- */

static struct pdet_owner_stack stack_of(const struct pdet_log_page *p,
					const struct pdet_log_stack *stack)
{
	const struct pdet_scan s = pdet_log_page_text(p, stack->text);

	return pdet_owner_stack_of(s.at, stack->state == PDET_LOG_STACK_WHOLE ?
				   (size_t)(s.end - s.at) : 0);
}

static bool add_stack(const struct pdet_log_page *p,
		      const struct pdet_log_stack *stack,
		      struct pdet_texts *ret)
{
	const struct pdet_owner_stack is = stack_of(p, stack);
	const struct pdet_scan s = pdet_log_page_text(p, stack->text);

	return !is.id || pdet_texts_add(ret, is.id, s.at,
					(size_t)(s.end - s.at));
}

bool pdet_log_stacks(const struct pdet_log_page *p, struct pdet_texts *ret)
{
	return add_stack(p, &p->owner.alloc, ret) &&
	       add_stack(p, &p->owner.free, ret);
}

/* True if a stack was printed, or that there is none. */
static bool is_said(const struct pdet_log_stack *stack)
{
	return stack->state == PDET_LOG_STACK_WHOLE ||
	       stack->state == PDET_LOG_STACK_NONE;
}

static void put_allocation(const struct pdet_log_putting *p,
			   const struct pdet_fields *want)
{
	const struct pdet_log_owner *o = &p->p->owner;
	const struct pdet_owner_stack stack = stack_of(p->p, &o->alloc);
	const struct pdet_owner_record record = {
		.has = o->has, .order = o->order, .pid = o->pid,
		.tgid = o->tgid, .gfp_mask = o->gfp_mask, .ns = o->ns,
		.free_ns = o->free_ns,
		.gfp = pdet_log_page_text(p->p, o->gfp),
		.type = pdet_log_page_text(p->p, o->mobility),
		.comm = pdet_log_page_text(p->p, o->comm),
		.reason = pdet_log_page_text(p->p, o->reason),
	};

	pdet_owner_put(p->b, p->row, want, &record, &stack, p->source);
}

void pdet_log_put_stack(const struct pdet_log_putting *o, unsigned field,
			const struct pdet_log_stack *stack)
{
	if (stack->state == PDET_LOG_STACK_WHOLE)
		pdet_log_cell(o, field, stack_of(o->p, stack).id);
	else if (stack->state == PDET_LOG_STACK_NONE)
		pdet_log_cell_none(o, field);
	else if (stack->state == PDET_LOG_STACK_BROKEN)
		pdet_log_cell_lost(o, field, PAGEDET_IO);
}

void pdet_log_put_owner(const struct pdet_log_putting *p)
{
	const struct pdet_log_owner *o = &p->p->owner;
	struct pdet_fields want = *p->want, all = pdet_owner_fields();
	unsigned f;

	pdet_fields_add(&all, F(FREE_STACK));
	/* Its lines do not have these. */
	pdet_fields_remove(&all, F(MEMCG_NAME));
	pdet_fields_remove(&all, F(MIGRATETYPE));
	pdet_fields_remove(&want, F(MEMCG_NAME));
	pdet_fields_remove(&want, F(MIGRATETYPE));
	if (!o->kept && !o->never)
		return;
	pdet_fields_for(f, &all) {
		if (o->never)
			pdet_log_cell_none(p, f);
		else
			pdet_log_cell_lost(p, f, PAGEDET_IO);
	}
	if (!is_said(&o->alloc)) {
		pdet_fields_remove(&want, F(ALLOC_STACK));
		pdet_fields_remove(&want, F(ALLOCATOR));
	}
	/* A migration is printed after both stacks, or not at all. */
	if (o->reason_lost || (!is_said(&o->free) &&
			       !(o->has & PDET_OWNER_MIGRATED)))
		pdet_fields_remove(&want, F(MIGRATE_REASON));
	if (o->said)
		put_allocation(p, &want);
	pdet_log_put_stack(p, F(FREE_STACK), &o->free);
}
