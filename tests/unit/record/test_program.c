/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests programs as the kernel would reject them: every jump has a place to
 * land, every place of the stack exists, and each path ends.
 */
#include "pagedet.h"
#include "record/program.h"
#include "trace/kmem.h"
#include "../unit.h"

#define NONE PDET_ARGUMENT_NONE
#define STACK 512

/* As Linux 5.10, 6.18, and the pages of both; then frees. */
static const struct pdet_signatures known = { 3, 6, {
	{ "kmalloc", PDET_KMEM_KMALLOC, 0, 1, NONE, 2, 3, 4, NONE, NONE, NONE,
	  0, 0, 0, false },
	{ "kmem_cache_alloc", PDET_KMEM_CACHE_ALLOC, 0, 1, 2, NONE, NONE, 3, 4,
	  NONE, NONE, 28, 24, 96, true },
	{ "mm_page_alloc", PDET_KMEM_PAGE_ALLOC, NONE, 0, NONE, NONE, NONE, 2,
	  NONE, 1, 3, 0, 0, 0, false },
	{ "kfree", PDET_KMEM_KFREE, 0, 1, NONE, NONE, NONE, NONE, NONE, NONE,
	  NONE, 0, 0, 0, false },
	{ "kmem_cache_free", PDET_KMEM_CACHE_FREE, 0, 1, NONE, NONE, NONE, NONE,
	  NONE, NONE, NONE, 0, 0, 0, false },
	{ "mm_page_free", PDET_KMEM_PAGE_FREE, NONE, 0, NONE, NONE, NONE, NONE,
	  NONE, 1, NONE, 0, 0, 0, false },
}, true };

static const struct pdet_program_key keys[] = {
	{ { PAGEDET_ALLOC_SITE }, 1, false },
	{ { PAGEDET_ALLOC_SITE, PAGEDET_ALLOC_STACK }, 2, false },
	{ { PAGEDET_ALLOC_SITE, PAGEDET_ALLOC_TID, PAGEDET_ALLOC_GFP,
	    PAGEDET_ALLOC_NODE, PAGEDET_ALLOC_ORDER, PAGEDET_ALLOC_MIGRATETYPE,
	    PAGEDET_ALLOC_BYTES_REQ, PAGEDET_ALLOC_BYTES_ALLOC,
	    PAGEDET_ALLOC_STACK, PAGEDET_ALLOC_CPU }, PDET_PROGRAM_WORDS,
	  true },
};

static bool is_wide(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_DW | BPF_IMM);
}

static bool is_exit(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_EXIT);
}

static bool is_jump(const struct bpf_insn *i)
{
	const unsigned class = BPF_CLASS(i->code);

	return (class == BPF_JMP || class == BPF_JMP32) && !is_exit(i) &&
	       i->code != (BPF_JMP | BPF_CALL);
}

/* Where instructions begin; the second half of a wide one does not. */
static void find_begins(const struct pdet_program *p, bool *begins)
{
	unsigned i;

	for (i = 0; i < p->n; i += 1 + is_wide(&p->insn[i]))
		begins[i] = true;
	ck_assert_uint_eq(i, p->n);
}

static void check_stack(const struct bpf_insn *i)
{
	const unsigned class = BPF_CLASS(i->code);
	const bool stores = (class == BPF_ST || class == BPF_STX) &&
			    i->dst_reg == 10;
	const bool loads = class == BPF_LDX && i->src_reg == 10;

	if (!stores && !loads)
		return;
	ck_assert_int_ge(i->off, -STACK);
	ck_assert_int_lt(i->off, 0);
}

static unsigned check(const struct pdet_program *p)
{
	bool begins[PDET_COUNT(p->insn) + 1] = { false };
	unsigned i, to, maps = 0;

	ck_assert_uint_le(p->n, PDET_COUNT(p->insn));
	ck_assert(is_exit(&p->insn[p->n - 1]));
	find_begins(p, begins);
	for (i = 0; i < p->n; i++) {
		const struct bpf_insn *in = &p->insn[i];

		if (!begins[i])
			continue;
		maps += is_wide(in);
		check_stack(in);
		if (!is_jump(in))
			continue;
		/* Only forward, so that it ends. */
		ck_assert_int_ge(in->off, 0);
		to = i + 1 + (unsigned)in->off;
		ck_assert_uint_lt(to, p->n);
		ck_assert(begins[to]);
	}
	return maps;
}

static unsigned count(const struct pdet_program *p, int code, int imm)
{
	unsigned i, n = 0;

	for (i = 0; i < p->n; i++)
		n += p->insn[i].code == code && p->insn[i].imm == imm;
	return n;
}

static void assemble_with(size_t signature, size_t key, uint32_t without,
			  bool nests, int live, struct pdet_program *ret)
{
	pdet_program_assemble(&(struct pdet_program_wants){
		.known = &known, .signature = &known.data[signature],
		.key = &keys[key], .sums = { 51, 52, 53 }, .stacks = 6,
		.counters = 7, .live = live, .stay = 12, .without = without,
		.nests = nests }, ret);
}

static void assemble(size_t signature, size_t key, uint32_t without,
		     bool nests, struct pdet_program *ret)
{
	assemble_with(signature, key, without, nests, -1, ret);
}

START_TEST(every_program_is_sound)
{
	struct pdet_program p;
	size_t s, k;
	unsigned bits;

	for (s = 0; s < known.n; s++)
		for (k = 0; k < PDET_COUNT(keys); k++)
			for (bits = 0; bits < 4; bits++) {
				assemble(s, k, bits & 1 ? 4711 : 0, bits & 2,
					 &p);
				/* Three times the sums, and what is full. */
				ck_assert_uint_eq(check(&p), 4 + (k > 0));
			}
}
END_TEST

/* What nests must not lose a sum between a load and a store. */
START_TEST(sums_of_what_nests_are_atomic)
{
	const int atomic = BPF_STX | BPF_ATOMIC | BPF_DW;
	struct pdet_program p;

	assemble(0, 0, 0, false, &p);
	ck_assert_uint_eq(count(&p, atomic, BPF_ADD), 1);
	assemble(0, 0, 0, true, &p);
	ck_assert_uint_eq(count(&p, atomic, BPF_ADD), 5);
}
END_TEST

/* kfree may interrupt kmem_cache_free, and both count in the same sums. */
START_TEST(sums_of_several_programs_are_atomic)
{
	const int atomic = BPF_STX | BPF_ATOMIC | BPF_DW;
	struct pdet_program p;

	/* Freed, gone, cross_cpu, mismatched, and what is counted beside. */
	assemble_with(3, 0, 0, false, 8, &p);
	ck_assert_uint_eq(count(&p, atomic, BPF_ADD), 5);
	/* Replaced and gone; stay; gone; twice what is counted beside. */
	assemble_with(0, 0, 0, false, 8, &p);
	ck_assert_uint_eq(count(&p, atomic, BPF_ADD), 6);
}
END_TEST

START_TEST(sizes_are_those_of_the_cache)
{
	const int call = BPF_JMP | BPF_CALL;
	struct pdet_program p;

	assemble(0, 0, 0, false, &p);
	ck_assert_uint_eq(count(&p, call, BPF_FUNC_probe_read_kernel), 0);
	assemble(1, 0, 0, false, &p);
	ck_assert_uint_eq(count(&p, call, BPF_FUNC_probe_read_kernel), 1);
	/* From the first of both on, 8 bytes. */
	ck_assert_uint_eq(count(&p, BPF_ALU64 | BPF_ADD | BPF_K, 24), 1);
	ck_assert_uint_eq(count(&p, BPF_ALU64 | BPF_MOV | BPF_K, 8), 1);
}
END_TEST

START_TEST(names_of_caches)
{
	const int call = BPF_JMP | BPF_CALL;
	struct pdet_program p;

	assemble(0, 2, 0, false, &p);
	ck_assert_uint_eq(count(&p, call, BPF_FUNC_probe_read_kernel_str), 0);
	assemble(1, 2, 0, false, &p);
	ck_assert_uint_eq(count(&p, call, BPF_FUNC_probe_read_kernel_str), 1);
	ck_assert_uint_eq(count(&p, BPF_ALU64 | BPF_ADD | BPF_K, 96), 1);
}
END_TEST

START_TEST(a_thread_is_left_out)
{
	struct pdet_program p;

	assemble(0, 0, 0, false, &p);
	ck_assert_uint_eq(count(&p, BPF_JMP32 | BPF_JEQ | BPF_K, 4711), 0);
	assemble(0, 0, 4711, false, &p);
	ck_assert_uint_eq(count(&p, BPF_JMP32 | BPF_JEQ | BPF_K, 4711), 1);
}
END_TEST

/* How often it takes the map. */
static unsigned takes(const struct pdet_program *p, int map)
{
	return count(p, BPF_LD | BPF_DW | BPF_IMM, map);
}

START_TEST(every_program_with_frees_is_sound)
{
	struct pdet_program p;
	size_t s, k;
	unsigned bits, i;

	for (s = 0; s < known.n_all; s++)
		for (k = 0; k < PDET_COUNT(keys); k++)
			for (bits = 0; bits < 4; bits++) {
				assemble_with(s, k, bits & 1 ? 4711 : 0,
					      bits & 2, 8, &p);
				check(&p);
				/* Once to look up, and once to insert or to
				 * remove. */
				ck_assert_uint_eq(takes(&p, 8), 2);
				for (i = 0; i < known.n; i++)
					ck_assert_uint_eq(takes(&p, 51 +
								(int)i),
							  s == i ? 4 : 1);
				ck_assert_uint_eq(takes(&p, 7),
						  s < known.n ? 3 : 1);
			}
}
END_TEST

/* The allocations that this free does not fit. */
static unsigned mismatches(size_t signature)
{
	struct pdet_program p;
	unsigned i, n = 0;

	assemble_with(signature, 0, 0, false, 8, &p);
	for (i = 0; i < p.n; i++)
		n += p.insn[i].code == (BPF_ALU64 | BPF_MOV | BPF_K) &&
		     p.insn[i].dst_reg == 9 && p.insn[i].imm == 1;
	return n;
}

START_TEST(families)
{
	ck_assert_uint_eq(mismatches(3), 1);
	ck_assert_uint_eq(mismatches(4), 1);
}
END_TEST

/* kfree(NULL), and of what kmalloc(0) gives: no other free may be of that. */
START_TEST(frees_of_nothing)
{
	const int jump = BPF_JMP | BPF_JEQ | BPF_K;
	struct pdet_program p;

	assemble_with(3, 0, 0, false, 8, &p);
	ck_assert_uint_eq(count(&p, jump, PDET_KMEM_ZERO_SIZE), 1);
	assemble_with(4, 0, 0, false, 8, &p);
	ck_assert_uint_eq(count(&p, jump, PDET_KMEM_ZERO_SIZE), 0);
}
END_TEST

/* It may be used again at once: nothing follows that reads it. */
START_TEST(a_live_object_is_removed_last)
{
	struct pdet_program p;
	unsigned i, removed = 0;

	assemble_with(3, 0, 0, false, 8, &p);
	for (i = 0; i < p.n; i++) {
		if (p.insn[i].code == (BPF_JMP | BPF_CALL) &&
		    p.insn[i].imm == BPF_FUNC_map_delete_elem)
			removed = i;
		if (removed)
			ck_assert(BPF_CLASS(p.insn[i].code) != BPF_LDX ||
				  p.insn[i].src_reg != 8);
	}
	ck_assert_uint_gt(removed, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("program");

	unit_test(s, every_program_is_sound);
	unit_test(s, sums_of_what_nests_are_atomic);
	unit_test(s, sums_of_several_programs_are_atomic);
	unit_test(s, sizes_are_those_of_the_cache);
	unit_test(s, names_of_caches);
	unit_test(s, a_thread_is_left_out);
	unit_test(s, every_program_with_frees_is_sound);
	unit_test(s, families);
	unit_test(s, frees_of_nothing);
	unit_test(s, a_live_object_is_removed_last);
	return unit_main(s);
}
