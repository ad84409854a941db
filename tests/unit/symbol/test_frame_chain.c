/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests frame records of arm64 that cross interrupts and exceptions: before and
 * since Linux 6.13, and whose caller only the link register has.
 */
#include <elf.h>
#include <errno.h>

#include "../kmem.h"
#include "../structs.h"
#include "symbol/frame_chain.h"

#define TEXT 0xffffffff81000000ull
#define STACK 0xffffc90000010000ull
#define BYTES 0x4000
#define IRQ 0xffffc90000004000ull
#define OVERFLOW 0xffff888000100000ull
#define FRAMES 16

/* struct pt_regs */
enum { R_FP = 29 * 8, R_LR = 30 * 8, R_PC = 256, R_RECORD = 304, R_TYPE = 320,
       REGS = 336 };
enum { FINAL = 1, PT_REGS };

/* instructions */
enum {
	NOP = 0xd503201f, RET = 0xd65f03c0, BRK = 0xd4210000,
	BL = 0x94000010, BLR_X1 = 0xd63f0020, B_4 = 0x14000001,
	B_SELF = 0x14000000, BR_X16 = 0xd61f0200, ERET = 0xd69f03e0,
	PACIASP = 0xd503233f, AUTIASP = 0xd50323bf, RETAA = 0xd65f0bff,
	PUSH = 0xa9be7bfd,	/* stp x29, x30, [sp, #-32]! */
	SAVE = 0xa9017bfd,	/* stp x29, x30, [sp, #16] */
	POINT = 0x910003fd,	/* mov x29, sp */
	POINT_16 = 0x910043fd,	/* add x29, sp, #16 */
	POP = 0xa8c27bfd,	/* ldp x29, x30, [sp], #32 */
	SAVE_19 = 0xa90153f3,	/* stp x19, x20, [sp, #16] */
	SUB_SP = 0xd10083ff,	/* sub sp, sp, #32 */
	LOAD = 0xf9400000,	/* ldr x0, [x0] */
	LOAD_LR = 0xf94003fe,	/* ldr x30, [sp] */
	KEEP_28 = 0xa90e77fc,	/* stp x28, x29, [sp, #224] */
	KEEP_LR = 0xa90f57fe,	/* stp x30, x21, [sp, #240] */
	MOV_X9_LR = 0xaa1e03e9,
	READ_SP_EL0 = 0xd5384100, /* mrs x0, sp_el0 */
	CBZ_8 = 0xb4000040,	/* cbz x0, two instructions on */
	TBNZ_8 = 0x37000040,
	B_EQ_8 = 0x54000040,
	ADD = 0x8b010000,	/* add x0, x0, x1 */
	SCS_PUSH = 0xf800865e, SCS_POP = 0xf85f8e5e
};

struct world {
	struct kmem *k;
	struct structs s;
	struct pdet_frame_chain c;
	struct pdet_chain_state at;
	struct pdet_frame frames[FRAMES];
	int error;
};

/* @types: the record in pt_regs has a type, as since 6.13. */
static struct world *start(bool types)
{
	static const struct structs_member record[] = {
		{ "fp", 0, 0, 0, 8 }, { "lr", 8, 0, 0, 8 },
		{ "type", 16, 0, 0, 8 },
	};
	struct world *w = calloc(1, sizeof(*w));
	uint32_t frame;

	ck_assert_ptr_nonnull(w);
	w->k = kmem_new();
	w->k->p = tables_arm64(4096, 48, 16);
	structs_init(&w->s);
	frame = structs_add(&w->s, "frame_record_meta", 24, record, 3);
	{
		const struct structs_member regs[] = {
			{ "regs", 0, 0, 0, 248 }, { "sp", 248, 0, 0, 8 },
			{ "pc", R_PC, 0, 0, 8 },
			{ "stackframe", R_RECORD, 0, 0,
			  types ? STRUCTS_IN(frame) : 16 },
		};

		structs_add(&w->s, "pt_regs", REGS, regs, 4);
	}
	pdet_frame_chain_init(&w->c, &w->k->p, structs_btf(&w->s));
	ck_assert_uint_eq(w->c.regs_bytes, REGS);
	w->at = (struct pdet_chain_state){
		.ip = TEXT + 0x10, .fp = STACK + 0x100, .from = STACK,
		.stack = { .at = STACK, .bytes = BYTES, .own = true },
	};
	return w;
}

static void end(struct world *w)
{
	structs_free(&w->s);
	kmem_free(w->k);
	free(w);
}

static size_t walk(struct world *w)
{
	struct pdet_chain_state s = w->at;
	size_t n = 0;

	do {
		w->frames[n++] = (struct pdet_frame){ s.ip, s.is };
		w->error = pdet_chain_next(&w->k->space, &w->c, &s);
	} while (w->error > 0 && n < FRAMES);
	return n;
}

static void record(struct world *w, uint64_t at, uint64_t next, uint64_t ip)
{
	kmem_u64(w->k, at, next);
	kmem_u64(w->k, at + 8, ip);
}

static void code(struct world *w, uint64_t at, const uint32_t *words, size_t n)
{
	kmem_write(w->k, at, words, n * sizeof(*words));
}

#define CODE(w, at, ...) code(w, at, (const uint32_t[]){ __VA_ARGS__ }, \
			      PDET_COUNT(((const uint32_t[]){ __VA_ARGS__ })))

/* The pt_regs of an exception. Returns where its record is. */
static uint64_t exception(struct world *w, bool types, uint64_t at, uint64_t pc,
			  uint64_t fp, uint64_t lr)
{
	uint64_t i;

	for (i = 0; i < REGS; i += 8)
		kmem_u64(w->k, at + i, 0x5555);
	kmem_u64(w->k, at + R_FP, fp);
	kmem_u64(w->k, at + R_LR, lr);
	kmem_u64(w->k, at + R_PC, pc);
	record(w, at + R_RECORD, types ? 0 : fp, types ? 0 : pc);
	if (types)
		kmem_u64(w->k, at + R_TYPE, PT_REGS);
	return at + R_RECORD;
}

/* The entry from user code, at the end of the stack. */
static uint64_t last(struct world *w, bool types)
{
	const uint64_t at = STACK + BYTES - REGS + R_RECORD;

	record(w, at, 0, 0);
	kmem_u64(w->k, at + 16, types ? FINAL : 0x5555);
	return at;
}

static void is_frame(const struct world *w, size_t i, uint64_t ip,
		     enum pdet_frame_is is)
{
	ck_assert_uint_eq(w->frames[i].ip, ip);
	ck_assert_int_eq(w->frames[i].is, is);
}

/* A function that has a record was interrupted. */
static void interrupted(struct world *w, bool types, uint64_t first)
{
	const uint64_t regs = exception(w, types, STACK + 0x200, TEXT + 0x1000,
					STACK + 0x400, TEXT + 0x1004);

	CODE(w, TEXT + 0xff8, PUSH, POINT, LOAD, BL, POP, RET);
	record(w, first, regs, TEXT + 0x20);
	record(w, STACK + 0x400, last(w, types), TEXT + 0x30);
}

/* An exception from the kernel itself, on the task's own stack. */
START_TEST(exceptions)
{
	struct world *w = start(_i);

	interrupted(w, _i, STACK + 0x100);
	ck_assert_uint_eq(walk(w), 4);
	ck_assert_int_eq(w->error, 0);
	is_frame(w, 0, TEXT + 0x10, PDET_FRAME_CALL);
	is_frame(w, 1, TEXT + 0x20, PDET_FRAME_CALL);
	is_frame(w, 2, TEXT + 0x1000, PDET_FRAME_AT);
	is_frame(w, 3, TEXT + 0x30, PDET_FRAME_CALL);
	end(w);
}
END_TEST

/* Stacks of an interrupt and of an overflow lead to the task's own, wherever
 * they are. */
START_TEST(other_stacks)
{
	static const uint64_t places[] = { IRQ, OVERFLOW, STACK + 0x100000 };
	const uint64_t irq = places[_i / 2];
	const bool types = _i & 1;
	struct world *w = start(types);

	interrupted(w, types, irq + 0x100);
	w->at.fp = irq + 0x100;
	w->at.from = irq;
	w->at.stack.own = false;
	ck_assert_uint_eq(walk(w), 4);
	ck_assert_int_eq(w->error, 0);
	is_frame(w, 2, TEXT + 0x1000, PDET_FRAME_AT);
	is_frame(w, 3, TEXT + 0x30, PDET_FRAME_CALL);
	end(w);
}
END_TEST

/* The stack of an interrupt overflows, and the one of the overflow is above or
 * below it. */
START_TEST(overflow_in_an_interrupt)
{
	const uint64_t over = _i & 2 ? STACK + 0x100000 : OVERFLOW;
	const bool types = _i & 1;
	struct world *w = start(types);

	interrupted(w, types, IRQ + 0x100);
	record(w, over + 0x80, exception(w, types, over + 0x100, TEXT + 0x1004,
					 IRQ + 0x100, 0), TEXT + 0x50);
	w->at.fp = over + 0x80;
	w->at.from = over;
	w->at.stack.own = false;
	ck_assert_uint_eq(walk(w), 6);
	ck_assert_int_eq(w->error, 0);
	is_frame(w, 1, TEXT + 0x50, PDET_FRAME_CALL);
	is_frame(w, 2, TEXT + 0x1004, PDET_FRAME_AT);
	is_frame(w, 3, TEXT + 0x20, PDET_FRAME_CALL);
	is_frame(w, 4, TEXT + 0x1000, PDET_FRAME_AT);
	is_frame(w, 5, TEXT + 0x30, PDET_FRAME_CALL);
	end(w);
}
END_TEST

/* The walk ends at what is not a record, and says so. */
START_TEST(damage)
{
	const bool types = _i;
	struct world *w = start(types);
	const uint64_t end_at = last(w, types);

	/* two zeros elsewhere */
	interrupted(w, types, STACK + 0x100);
	record(w, STACK + 0x400, STACK + 0x500, TEXT + 0x30);
	record(w, STACK + 0x500, 0, 0);
	kmem_u64(w->k, STACK + 0x510, FINAL);
	ck_assert_uint_eq(walk(w), 4);
	ck_assert_int_eq(w->error, -EBADMSG);
	/* back into the exception: a cycle */
	record(w, STACK + 0x400, STACK + 0x200 + R_RECORD, TEXT + 0x30);
	ck_assert_uint_eq(walk(w), 4);
	ck_assert_int_eq(w->error, -EBADMSG);
	/* the exception of itself, and one of user code */
	interrupted(w, types, STACK + 0x100);
	exception(w, types, STACK + 0x200, TEXT + 0x1000,
		  STACK + 0x200 + R_RECORD, 0);
	ck_assert_uint_eq(walk(w), 3);
	ck_assert_int_eq(w->error, -EBADMSG);
	exception(w, types, STACK + 0x200, 0x401000, STACK + 0x400, 0);
	ck_assert_uint_eq(walk(w), 2);
	ck_assert_int_eq(w->error, -EBADMSG);
	/* a type that does not exist, or that is not there */
	if (types) {
		interrupted(w, types, STACK + 0x100);
		kmem_u64(w->k, STACK + 0x200 + R_TYPE, 3);
		ck_assert_uint_eq(walk(w), 2);
		ck_assert_int_eq(w->error, -EBADMSG);
		kmem_u64(w->k, end_at + 16, 0);
		kmem_u64(w->k, STACK + 0x200 + R_TYPE, PT_REGS);
		ck_assert_uint_eq(walk(w), 4);
		ck_assert_int_eq(w->error, -EBADMSG);
		last(w, types);
	}
	/* the page of the registers is lost */
	interrupted(w, types, STACK + 0x100);
	record(w, STACK + 0x100, exception(w, types, STACK + 0x1f00,
					   TEXT + 0x1000, STACK + 0x2400, 0),
	       TEXT + 0x20);
	kmem_fail(w->k, STACK + 0x1f00, -EIO);
	ck_assert_uint_eq(walk(w), types ? 2 : 3);
	ck_assert_int_eq(w->error, types ? -EIO : -EBADMSG);
	end(w);
}
END_TEST

/* Stacks that lead to each other are left for good some time. */
START_TEST(cycles)
{
	struct world *w = start(_i);

	record(w, IRQ + 0x100, OVERFLOW + 0x100, TEXT + 0x20);
	record(w, OVERFLOW + 0x100, IRQ + 0x100, TEXT + 0x30);
	w->at.fp = IRQ + 0x100;
	w->at.from = IRQ;
	w->at.stack.own = false;
	ck_assert_uint_lt(walk(w), FRAMES);
	ck_assert_int_eq(w->error, -EBADMSG);
	end(w);
}
END_TEST

/* The size of the stack is not known, as for the first task: anywhere. */
START_TEST(unknown_size)
{
	struct world *w = start(true);

	w->at.stack.bytes = 0;
	record(w, STACK + 0x100, STACK + 0x200, TEXT + 0x20);
	record(w, STACK + 0x200, 0, 0);
	kmem_u64(w->k, STACK + 0x210, FINAL);
	ck_assert_uint_eq(walk(w), 2);
	ck_assert_int_eq(w->error, 0);
	end(w);
}
END_TEST

/* Types that are not known: records lead on, and two zeros end. */
START_TEST(no_types)
{
	struct world *w = start(false);

	w->c.regs_bytes = 0;
	interrupted(w, false, STACK + 0x100);
	ck_assert_uint_eq(walk(w), 4);
	ck_assert_int_eq(w->error, 0);
	is_frame(w, 2, TEXT + 0x1000, PDET_FRAME_CALL);
	end(w);
}
END_TEST

/* --- the link register --- */

#define AT (TEXT + 0x2000)
#define CALLER (TEXT + 0x3000)

/* Interrupts the last instruction of @before, which are before @after. Returns
 * what follows it: PDET_FRAME_CALL, and the caller is known; PDET_FRAME_GAP; or
 * PDET_FRAME_AT: the record is its own. */
static enum pdet_frame_is at(const uint32_t *before, size_t n_before,
			     const uint32_t *after, size_t n_after)
{
	struct world *w = start(true);
	enum pdet_frame_is is;
	size_t n;

	record(w, STACK + 0x100, last(w, true), TEXT + 0x30);
	code(w, AT - n_before * 4, before, n_before);
	code(w, AT, after, n_after);
	CODE(w, CALLER - 4, BL);
	w->at.ip = AT;
	w->at.is = PDET_FRAME_AT;
	w->at.lr = CALLER;
	n = walk(w);
	ck_assert_int_eq(w->error, 0);
	is = n == 3 ? w->frames[1].is : PDET_FRAME_AT;
	if (is == PDET_FRAME_CALL)
		is_frame(w, 1, CALLER, is);
	is_frame(w, n - 1, TEXT + 0x30, PDET_FRAME_CALL);
	end(w);
	return is;
}

#define WORDS(...) (const uint32_t[]){ __VA_ARGS__ }, \
		   PDET_COUNT(((const uint32_t[]){ __VA_ARGS__ }))

START_TEST(not_yet)
{
	ck_assert_int_eq(at(WORDS(NOP), WORDS(PUSH, POINT)), PDET_FRAME_CALL);
	ck_assert_int_eq(at(WORDS(NOP), WORDS(PACIASP, LOAD, SUB_SP, SAVE,
					      POINT_16)), PDET_FRAME_CALL);
	/* between the two, also if there is something else */
	ck_assert_int_eq(at(WORDS(PUSH), WORDS(POINT, BL)), PDET_FRAME_CALL);
	ck_assert_int_eq(at(WORDS(PUSH, READ_SP_EL0), WORDS(ADD, POINT, BL)),
			 PDET_FRAME_CALL);
	/* the function tracer */
	ck_assert_int_eq(at(WORDS(NOP), WORDS(MOV_X9_LR, BL, PUSH)),
			 PDET_FRAME_CALL);
	ck_assert_int_eq(at(WORDS(MOV_X9_LR), WORDS(BL, PUSH)),
			 PDET_FRAME_CALL);
	/* a shadow stack */
	ck_assert_int_eq(at(WORDS(NOP), WORDS(SCS_PUSH, PUSH)),
			 PDET_FRAME_CALL);
}
END_TEST

START_TEST(no_longer)
{
	ck_assert_int_eq(at(WORDS(POP), WORDS(RET)), PDET_FRAME_CALL);
	ck_assert_int_eq(at(WORDS(POP), WORDS(AUTIASP, RET)), PDET_FRAME_CALL);
	ck_assert_int_eq(at(WORDS(POP), WORDS(SCS_POP, RET)), PDET_FRAME_CALL);
	ck_assert_int_eq(at(WORDS(POP), WORDS(RETAA)), PDET_FRAME_CALL);
	/* to a function that has none yet */
	ck_assert_int_eq(at(WORDS(POP), WORDS(B_4, PUSH)), PDET_FRAME_CALL);
}
END_TEST

START_TEST(never)
{
	ck_assert_int_eq(at(WORDS(NOP), WORDS(LOAD, ADD, RET)),
			 PDET_FRAME_CALL);
	/* what does not return, and what does */
	ck_assert_int_eq(at(WORDS(NOP), WORDS(CBZ_8, BRK, RET)),
			 PDET_FRAME_CALL);
	ck_assert_int_eq(at(WORDS(NOP), WORDS(B_EQ_8, B_SELF, RET)),
			 PDET_FRAME_CALL);
	ck_assert_int_eq(at(WORDS(NOP), WORDS(TBNZ_8, BR_X16, RET)),
			 PDET_FRAME_CALL);
}
END_TEST

START_TEST(has_one)
{
	ck_assert_int_eq(at(WORDS(PUSH, POINT), WORDS(SAVE_19, BL)),
			 PDET_FRAME_AT);
	ck_assert_int_eq(at(WORDS(POINT), WORDS(LOAD, BLR_X1)), PDET_FRAME_AT);
	ck_assert_int_eq(at(WORDS(BL), WORDS(LOAD, POP, RET)), PDET_FRAME_AT);
	ck_assert_int_eq(at(WORDS(BL), WORDS(CBZ_8, BRK, POP, RET)),
			 PDET_FRAME_AT);
}
END_TEST

/* The code does not show it: a caller may be missing. */
START_TEST(unclear)
{
	ck_assert_int_eq(at(WORDS(NOP), WORDS(BR_X16)), PDET_FRAME_GAP);
	ck_assert_int_eq(at(WORDS(NOP), WORDS(B_SELF)), PDET_FRAME_GAP);
	ck_assert_int_eq(at(WORDS(NOP), WORDS(BRK)), PDET_FRAME_GAP);
	ck_assert_int_eq(at(WORDS(NOP), WORDS(ERET)), PDET_FRAME_GAP);
	ck_assert_int_eq(at(WORDS(NOP), WORDS(0)), PDET_FRAME_GAP);
	/* the entry of an exception: the register is of what was interrupted */
	ck_assert_int_eq(at(WORDS(NOP), WORDS(KEEP_28, KEEP_LR, POINT)),
			 PDET_FRAME_GAP);
	ck_assert_int_eq(at(WORDS(KEEP_28), WORDS(KEEP_LR, POINT)),
			 PDET_FRAME_GAP);
	ck_assert_int_eq(at(WORDS(KEEP_28, KEEP_LR), WORDS(POINT, BL)),
			 PDET_FRAME_GAP);
	ck_assert_int_eq(at(WORDS(NOP), WORDS(LOAD_LR, ERET)), PDET_FRAME_GAP);
}
END_TEST

/* What is in the register must be the address behind a call. */
START_TEST(stale)
{
	struct world *w = start(true);

	record(w, STACK + 0x100, last(w, true), TEXT + 0x30);
	CODE(w, AT, PUSH, POINT);
	CODE(w, CALLER - 4, NOP);
	w->at.ip = AT;
	w->at.is = PDET_FRAME_AT;
	w->at.lr = CALLER;
	ck_assert_uint_eq(walk(w), 3);
	is_frame(w, 1, AT, PDET_FRAME_GAP);
	/* not an address: it was saved */
	w->at.lr = 17;
	ck_assert_uint_eq(walk(w), 2);
	is_frame(w, 1, TEXT + 0x30, PDET_FRAME_CALL);
	/* the code is lost; the record has the same caller */
	kmem_fail(w->k, AT, -EIO);
	w->at.lr = CALLER;
	ck_assert_uint_eq(walk(w), 3);
	is_frame(w, 1, AT, PDET_FRAME_GAP);
	w->at.lr = TEXT + 0x30;
	ck_assert_uint_eq(walk(w), 2);
	is_frame(w, 1, TEXT + 0x30, PDET_FRAME_CALL);
	end(w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("frame_chain");

	unit_loop(s, exceptions, 2);
	unit_loop(s, other_stacks, 6);
	unit_loop(s, overflow_in_an_interrupt, 4);
	unit_loop(s, damage, 2);
	unit_loop(s, cycles, 2);
	unit_test(s, unknown_size);
	unit_test(s, no_types);
	unit_test(s, not_yet);
	unit_test(s, no_longer);
	unit_test(s, never);
	unit_test(s, has_one);
	unit_test(s, unclear);
	unit_test(s, stale);
	return unit_main(s);
}
