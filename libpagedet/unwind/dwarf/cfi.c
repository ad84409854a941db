/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Runs the instructions of DWARF 4, section 6.4.2. No library does it here:
 * libunwind knows the machine that it was built for, and libdw believes the
 * numbers of registers, so that a dozen bytes of a table make it use gigabytes.
 * Here registers that have no number are left out, and the depth of states is
 * limited, so that the time is that of reading the bytes once.
 */
#include <errno.h>

#include "unwind/dwarf/cfi.h"
#include "unwind/dwarf/cie.h"
#include "unwind/dwarf/expression.h"

/* Compilers write one in another. */
#define MOST_STATES 16

enum { ADVANCE = 0x40, OFFSET = 0x80, RESTORE = 0xc0, LOW = 0x3f };

enum { CFA_NOP, CFA_SET_LOC, CFA_ADVANCE1, CFA_ADVANCE2, CFA_ADVANCE4,
       CFA_OFFSET_EXTENDED, CFA_RESTORE_EXTENDED, CFA_UNDEFINED,
       CFA_SAME_VALUE, CFA_REGISTER, CFA_REMEMBER, CFA_RECALL, CFA_DEF_CFA,
       CFA_DEF_CFA_REGISTER, CFA_DEF_CFA_OFFSET, CFA_DEF_CFA_EXPRESSION,
       CFA_EXPRESSION, CFA_OFFSET_EXTENDED_SF, CFA_DEF_CFA_SF,
       CFA_DEF_CFA_OFFSET_SF, CFA_VAL_OFFSET, CFA_VAL_OFFSET_SF,
       CFA_VAL_EXPRESSION, CFA_ARM64_SIGN = 0x2d, CFA_GNU_ARGS_SIZE };

struct machine {
	const struct pdet_cie *cie;
	struct pdet_frame_rest rest;
	const uint8_t *fde;	/* NULL: the CIE is run */
	uint64_t at;		/* of the process: where that is */
	uint64_t start;		/* of the function */
	unsigned word;		/* bytes of an address */
	/* From there: of the row, and the one that is asked for. */
	uint64_t ip, wanted;
	bool reached;		/* the next row is about a higher address */
	struct pdet_cfi_row row, first, state[MOST_STATES];
	unsigned states;
	bool strange;		/* libunwind may fail badly: a place is a
				 * register that there is not, an expression is
				 * not safe, it does not know the operands, or
				 * a row has no CFA */
	int error;
};

static void fail(struct machine *m, int error)
{
	if (!m->error)
		m->error = error;
}

static void set(struct machine *m, uint64_t reg, struct pdet_cfi_rule rule)
{
	if (reg < PDET_CFI_REGS)
		m->row.reg[reg] = rule;
}

static void set_number(struct machine *m, uint64_t reg, enum pdet_cfi is,
		       int64_t n)
{
	set(m, reg, (struct pdet_cfi_rule){ .is = is, .n = n });
}

/* Numbers of a hostile table may overflow. */
static int64_t scaled(const struct machine *m, uint64_t n)
{
	return (int64_t)(n * (uint64_t)m->cie->data);
}

static struct pdet_frame_rest take_code(struct machine *m)
{
	const struct pdet_frame_rest code =
		pdet_frame_part(&m->rest, pdet_frame_uleb(&m->rest));

	m->strange |= !pdet_expression_is_safe(code, PDET_CFI_X86_64);
	return code;
}

static void set_code(struct machine *m, uint64_t reg, enum pdet_cfi is)
{
	const struct pdet_frame_rest code = take_code(m);

	set(m, reg, (struct pdet_cfi_rule){ .is = is, .code = code });
}

static void restore(struct machine *m, uint64_t reg)
{
	if (reg < PDET_CFI_REGS)
		m->row.reg[reg] = m->first.reg[reg];
}

/* Addresses wrap. */
static uint64_t address(const struct machine *m, uint64_t v)
{
	return m->word == sizeof(uint32_t) ? (uint32_t)v : v;
}

/* Ends a row, if it is one of the function. */
static void go_to(struct machine *m, uint64_t ip)
{
	m->strange |= m->fde && m->row.cfa.is == PDET_CFI_NONE;
	m->reached = ip > m->wanted;
	m->ip = ip;
}

static void go_to_address(struct machine *m)
{
	const uint64_t at = m->at + (uint64_t)(m->rest.at - m->fde);

	go_to(m, address(m, pdet_cie_address(&m->rest, m->cie->form, m->word,
					     at) - m->start));
}

static void advance(struct machine *m, uint64_t units)
{
	go_to(m, m->ip + units * m->cie->code);
}

static void define_cfa(struct machine *m, uint64_t reg, int64_t n)
{
	m->row.cfa_register = reg;
	m->row.cfa = (struct pdet_cfi_rule){ .is = PDET_CFI_IS, .n = n };
}

/* It is a register and a number already. */
static void change_cfa(struct machine *m, uint64_t reg, int64_t n)
{
	if (m->row.cfa.is == PDET_CFI_IS)
		define_cfa(m, reg, n);
	else
		fail(m, -EBADMSG);
}

static void remember(struct machine *m)
{
	if (m->states == MOST_STATES)
		fail(m, -ENOTSUP);
	else
		m->state[m->states++] = m->row;
}

static void recall(struct machine *m)
{
	if (m->states)
		m->row = m->state[--m->states];
	else
		fail(m, -EBADMSG);
}

static bool move(struct machine *m, unsigned op)
{
	struct pdet_frame_rest *r = &m->rest;

	switch (op) {
	case CFA_NOP:
		return true;
	case CFA_SET_LOC:
		if (m->fde)
			go_to_address(m);
		else
			fail(m, -EBADMSG);
		return true;
	case CFA_ADVANCE1:
		advance(m, pdet_frame_u8(r));
		return true;
	case CFA_ADVANCE2:
		advance(m, pdet_frame_u16(r));
		return true;
	case CFA_ADVANCE4:
		advance(m, pdet_frame_u32(r));
		return true;
	case CFA_REMEMBER:
		remember(m);
		return true;
	case CFA_RECALL:
		recall(m);
		return true;
	case CFA_ARM64_SIGN:
		m->row.signature = !m->row.signature;
		return true;
	case CFA_GNU_ARGS_SIZE:
		pdet_frame_uleb(r);
		return true;
	default:
		return false;
	}
}

static bool set_cfa(struct machine *m, unsigned op)
{
	struct pdet_frame_rest *r = &m->rest;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = pdet_frame_uleb(r);
		define_cfa(m, reg, (int64_t)pdet_frame_uleb(r));
		return true;
	case CFA_DEF_CFA_SF:
		reg = pdet_frame_uleb(r);
		define_cfa(m, reg, scaled(m, (uint64_t)pdet_frame_sleb(r)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		change_cfa(m, pdet_frame_uleb(r), m->row.cfa.n);
		return true;
	case CFA_DEF_CFA_OFFSET:
		change_cfa(m, m->row.cfa_register,
			   (int64_t)pdet_frame_uleb(r));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		change_cfa(m, m->row.cfa_register,
			   scaled(m, (uint64_t)pdet_frame_sleb(r)));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		m->row.cfa = (struct pdet_cfi_rule){
			.is = PDET_CFI_IS_CODE,
			.code = take_code(m)
		};
		return true;
	default:
		return false;
	}
}

/* Its first operand is a register. */
static bool set_register(struct machine *m, unsigned op)
{
	struct pdet_frame_rest *r = &m->rest;
	const uint64_t reg = pdet_frame_uleb(r);
	uint64_t from;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_number(m, reg, PDET_CFI_AT, scaled(m, pdet_frame_uleb(r)));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		set_number(m, reg, PDET_CFI_AT,
			   scaled(m, (uint64_t)pdet_frame_sleb(r)));
		return true;
	case CFA_VAL_OFFSET:
		m->strange = true;
		set_number(m, reg, PDET_CFI_IS, scaled(m, pdet_frame_uleb(r)));
		return true;
	case CFA_VAL_OFFSET_SF:
		m->strange = true;
		set_number(m, reg, PDET_CFI_IS,
			   scaled(m, (uint64_t)pdet_frame_sleb(r)));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(m, reg);
		return true;
	case CFA_UNDEFINED:
		set_number(m, reg, PDET_CFI_UNDEFINED, 0);
		return true;
	case CFA_SAME_VALUE:
		set_number(m, reg, PDET_CFI_SAME, 0);
		return true;
	case CFA_REGISTER:
		from = pdet_frame_uleb(r);
		m->strange |= from >= PDET_CFI_X86_64;
		set_number(m, reg, PDET_CFI_IN, (int64_t)from);
		return true;
	case CFA_EXPRESSION:
		set_code(m, reg, PDET_CFI_AT_CODE);
		return true;
	case CFA_VAL_EXPRESSION:
		set_code(m, reg, PDET_CFI_IS_CODE);
		return true;
	default:
		return false;
	}
}

static void run_one(struct machine *m, unsigned op)
{
	switch (op & ~LOW) {
	case ADVANCE:
		advance(m, op & LOW);
		return;
	case OFFSET:
		set_number(m, op & LOW, PDET_CFI_AT,
			   scaled(m, pdet_frame_uleb(&m->rest)));
		return;
	case RESTORE:
		restore(m, op & LOW);
		return;
	default:
		if (!move(m, op) && !set_cfa(m, op) && !set_register(m, op))
			fail(m, -ENOTSUP);
	}
}

static void run(struct machine *m, struct pdet_frame_rest instructions)
{
	m->rest = instructions;
	while (!m->error && !m->reached && m->rest.at < m->rest.end) {
		run_one(m, pdet_frame_u8(&m->rest));
		if (m->rest.bad)
			fail(m, -EBADMSG);
	}
}

/* Takes the addresses of the function off its record. Returns -ENOENT if @ip is
 * not one of them. */
static int find_function(struct machine *m, struct pdet_frame_rest *fde,
			 uint64_t ip)
{
	const unsigned form = m->cie->form;
	uint64_t bytes;

	m->fde = fde->at;
	pdet_frame_u32(fde);	/* leads to the CIE */
	m->start = address(m, pdet_cie_address(fde, form, m->word,
					       m->at + sizeof(uint32_t)));
	bytes = pdet_cie_address(fde, form & PDET_FORM_SIZE, m->word, 0);
	if (m->cie->sized)
		pdet_frame_part(fde, pdet_frame_uleb(fde));
	if (fde->bad)
		return -EBADMSG;
	m->wanted = address(m, ip - m->start);
	return m->wanted < bytes ? 0 : -ENOENT;
}

/* Runs the CIE, and goes to the instructions of the function. Returns -ENOENT
 * if @ip is not one of its addresses. @head has to last. */
static int begin(struct machine *m, struct pdet_cie *head,
		 struct pdet_frame_rest cie, struct pdet_frame_rest *fde,
		 uint64_t ip)
{
	if (!pdet_cie_read(cie, m->word, head))
		return -ENOTSUP;
	m->cie = head;
	m->row.ra = head->ra;
	m->row.signal = head->signal;
	run(m, head->instructions);
	m->first = m->row;
	m->ip = 0;
	return m->error ? m->error : find_function(m, fde, ip);
}

int pdet_cfi_row(struct pdet_frame_rest cie, struct pdet_frame_rest fde,
		 uint64_t at, uint64_t ip, unsigned word,
		 struct pdet_cfi_row *ret)
{
	struct machine m = { .at = at, .wanted = UINT64_MAX, .word = word };
	struct pdet_cie head;
	int r = begin(&m, &head, cie, &fde, ip);

	if (r < 0)
		return r;
	run(&m, fde);
	*ret = m.row;
	return m.error;
}

int pdet_cfi_check(struct pdet_frame_rest cie, struct pdet_frame_rest fde,
		   uint64_t at, unsigned word)
{
	struct machine m = { .at = at, .wanted = UINT64_MAX, .word = word };
	struct pdet_cie head;
	int r = begin(&m, &head, cie, &fde, 0);

	if (r < 0 && r != -ENOENT)
		return r;
	m.wanted = UINT64_MAX;
	run(&m, fde);
	return m.error ? m.error :
	       !head.plain || m.strange || head.ra >= PDET_CFI_X86_64 ||
	       m.row.cfa.is == PDET_CFI_NONE ? -EBADMSG : 0;
}
