/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Rules as compilers write them for ordinary functions. libunwind does the
 * rest: expressions, signal frames, and all that fails, so that this need not
 * say why. bench: stacks
 */
#include "unwind/dwarf/cfi.h"
#include "unwind/frame_rule.h"

/* Returns false if the rule is another kind of rule. */
static bool take_register(const struct pdet_cfi_rule *from, unsigned reg,
			  struct pdet_frame_rule *ret)
{
	switch (from->is) {
	case PDET_CFI_NONE:
	case PDET_CFI_SAME:
		ret->is[reg] = PDET_RULE_SAME;
		return true;
	case PDET_CFI_UNDEFINED:
		ret->is[reg] = PDET_RULE_UNKNOWN;
		return true;
	case PDET_CFI_AT:
		ret->is[reg] = PDET_RULE_STORED;
		ret->at[reg] = (int32_t)from->n;
		return ret->at[reg] == from->n;
	default:
		return false;
	}
}

/* The stack pointer is the CFA, and the return address is stored or, at the end
 * of a stack, not known. */
static bool take_row(const struct pdet_cfi_row *row,
		     struct pdet_frame_rule *ret)
{
	unsigned i;

	ret->cfa = (int32_t)row->cfa.n;
	ret->cfa_reg = (uint8_t)row->cfa_register;
	if (row->cfa.is != PDET_CFI_IS || row->cfa_register >= PDET_USER_IP ||
	    ret->cfa != row->cfa.n || row->ra != PDET_USER_IP || row->signal ||
	    row->signature)
		return false;
	for (i = 0; i < PDET_USER_REGS; i++)
		if (!take_register(&row->reg[i], i, ret))
			return false;
	return ret->is[PDET_USER_SP] == PDET_RULE_SAME &&
	       ret->is[PDET_USER_IP] != PDET_RULE_SAME;
}

bool pdet_frame_rule_get(const struct pdet_eh_memory *m, uint64_t header,
			 uint64_t ip, struct pdet_frame_pair *pair,
			 struct pdet_frame_rule *ret, uint64_t *fde)
{
	struct pdet_frame_rest first, rest;
	struct pdet_cfi_row row;

	return pdet_eh_search(m, header, ip, fde) == 0 &&
	       pdet_eh_records(m, *fde, pair) == 0 &&
	       pdet_frame_record(pair->bytes, pair->n, 0, &first) &&
	       pdet_frame_record(pair->bytes, pair->n, pair->fde, &rest) &&
	       pdet_cfi_row(first, rest, *fde + sizeof(uint32_t), ip,
			    sizeof(uint64_t), &row) == 0 &&
	       take_row(&row, ret);
}

/* --- frames --- */

/* The value of a register, which is fetched when it is needed. */
static bool value_of(struct pdet_rule_frame *f, unsigned reg,
		     const struct pdet_eh_memory *m)
{
	if (f->is[reg] == PDET_RULE_STORED) {
		if (m->read(m->arg, f->value[reg], &f->value[reg],
			    sizeof(*f->value)) < 0)
			return false;
		f->is[reg] = PDET_RULE_SAME;
	}
	return f->is[reg] == PDET_RULE_SAME;
}

bool pdet_frame_rule_apply(const struct pdet_frame_rule *rule,
			   const struct pdet_eh_memory *m,
			   struct pdet_rule_frame *f, uint64_t *ip,
			   uint64_t *sp)
{
	const uint64_t from_ip = *ip, from_sp = *sp;
	uint64_t cfa;
	unsigned i;

	if (!value_of(f, rule->cfa_reg, m))
		return false;
	cfa = f->value[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa;
	for (i = 0; i < PDET_USER_REGS; i++) {
		if (rule->is[i] == PDET_RULE_SAME)
			continue;
		f->is[i] = rule->is[i];
		f->value[i] = cfa + (uint64_t)(int64_t)rule->at[i];
	}
	f->value[PDET_USER_SP] = *sp = cfa;
	*ip = 0;
	if (f->is[PDET_USER_IP] == PDET_RULE_STORED) {
		if (!value_of(f, PDET_USER_IP, m))
			return false;
		*ip = f->value[PDET_USER_IP];
	}
	return *ip != from_ip || cfa != from_sp;
}
