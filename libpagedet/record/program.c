/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * r6 is the context, which has the arguments; r7 and r8 are the bytes that were
 * requested and allocated. The stack has the key, and below it a live object,
 * its address, and a sum.
 */
#include "pagedet.h"
#include "record/program.h"
#include "trace/kmem.h"

#define WORD 8
#define AT(member) ((int16_t)offsetof(struct pdet_program_sum, member))
#define LIVE ((int)sizeof(struct pdet_program_live))
#define OF_LIVE(member) ((int16_t)offsetof(struct pdet_program_live, member))

struct writing {
	struct pdet_program *p;
	const struct pdet_program_wants *w;
	const struct pdet_signature *s;
	int sum;		/* bytes of one */
	/* Places of the key, the live object, its address, and the sum. */
	int16_t key, live, object, below;
};

static unsigned put(struct writing *w, int code, int dst, int src, int off,
		    int imm)
{
	w->p->insn[w->p->n] = (struct bpf_insn){
		.code = (uint8_t)code, .dst_reg = dst & 15, .src_reg = src & 15,
		.off = (int16_t)off, .imm = imm };
	return w->p->n++;
}

/* The next instruction is the one that @jump jumps to. */
static void land(struct writing *w, unsigned jump)
{
	w->p->insn[jump].off = (int16_t)(w->p->n - jump - 1);
}

static void move(struct writing *w, int to, int from)
{
	put(w, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void set(struct writing *w, int to, int number)
{
	put(w, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, number);
}

static void add(struct writing *w, int to, int number)
{
	put(w, BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, number);
}

static void call(struct writing *w, int helper)
{
	put(w, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void load(struct writing *w, int to, int from, int off)
{
	put(w, BPF_LDX | BPF_MEM | BPF_DW, to, from, off, 0);
}

static void store(struct writing *w, int size, int to, int from, int off)
{
	put(w, BPF_STX | BPF_MEM | size, to, from, off, 0);
}

static void store_number(struct writing *w, int size, int to, int off,
			 int number)
{
	put(w, BPF_ST | BPF_MEM | size, to, 0, off, number);
}

static void load_argument(struct writing *w, int to, uint8_t argument)
{
	load(w, to, 6, WORD * argument);
}

static void load_map(struct writing *w, int to, int map)
{
	put(w, BPF_LD | BPF_DW | BPF_IMM, to, BPF_PSEUDO_MAP_FD, 0, map);
	put(w, 0, 0, 0, 0, 0);
}

static void load_place(struct writing *w, int to, int off)
{
	move(w, to, 10);
	add(w, to, off);
}

/* --- the key --- */

uint8_t pdet_program_argument(const struct pdet_signature *s, uint32_t word)
{
	switch (word) {
	case PAGEDET_ALLOC_SITE:
		return s->site;
	case PAGEDET_ALLOC_GFP:
		return s->gfp;
	case PAGEDET_ALLOC_NODE:
		return s->node;
	case PAGEDET_ALLOC_ORDER:
		return s->order;
	case PAGEDET_ALLOC_MIGRATETYPE:
		return s->migratetype;
	default:
		return PDET_ARGUMENT_NONE;
	}
}

bool pdet_program_key_has(const struct pdet_program_key *k, uint32_t word)
{
	unsigned i;

	for (i = 0; i < k->n; i++)
		if (k->word[i] == word)
			return true;
	return false;
}

/* Loads what the word is into r0. */
static void load_word(struct writing *w, uint32_t word)
{
	const uint8_t argument = pdet_program_argument(w->s, word);

	if (argument != PDET_ARGUMENT_NONE) {
		load_argument(w, 0, argument);
	} else if (word == PAGEDET_ALLOC_TID) {
		call(w, BPF_FUNC_get_current_pid_tgid);
		put(w, BPF_ALU | BPF_MOV | BPF_X, 0, 0, 0, 0);
	} else if (word == PAGEDET_ALLOC_CPU) {
		call(w, BPF_FUNC_get_smp_processor_id);
	} else if (word == PAGEDET_ALLOC_STACK) {
		move(w, 1, 6);
		load_map(w, 2, w->w->stacks);
		set(w, 3, 0);
		call(w, BPF_FUNC_get_stackid);
	} else if (word == PAGEDET_ALLOC_BYTES_REQ) {
		move(w, 0, 7);
	} else if (word == PAGEDET_ALLOC_BYTES_ALLOC) {
		move(w, 0, 8);
	} else {
		set(w, 0, 0);
	}
}

static void write_key(struct writing *w)
{
	const struct pdet_program_key *key = w->w->key;
	unsigned i;

	for (i = 0; i < key->n; i++) {
		load_word(w, key->word[i]);
		put(w, BPF_STX | BPF_MEM | BPF_DW, 10, 0,
		    w->key + WORD * (int)i, 0);
	}
}

/* Nothing, if the event does not tell it. */
static void write_name(struct writing *w)
{
	const int name = w->key + WORD * (int)w->w->key->n;
	int off;

	for (off = 0; off < PDET_PROGRAM_NAME; off += WORD)
		put(w, BPF_ST | BPF_MEM | BPF_DW, 10, 0, name + off, 0);
	if (!w->s->tells_name)
		return;
	load_place(w, 1, w->below);
	set(w, 2, WORD);
	load_argument(w, 3, w->s->cache);
	add(w, 3, (int)w->s->name_at);
	call(w, BPF_FUNC_probe_read_kernel);
	load(w, 3, 10, w->below);
	load_place(w, 1, name);
	set(w, 2, PDET_PROGRAM_NAME);
	call(w, BPF_FUNC_probe_read_kernel_str);
}

/* --- sizes --- */

static void load_sizes_of_cache(struct writing *w)
{
	const uint32_t first = PDET_MIN(w->s->requested_at,
					w->s->allocated_at);
	const uint32_t last = PDET_MAX(w->s->requested_at, w->s->allocated_at);

	load_place(w, 1, w->below);
	set(w, 2, (int)(last - first) + 4);
	load_argument(w, 3, w->s->cache);
	add(w, 3, (int)first);
	call(w, BPF_FUNC_probe_read_kernel);
	put(w, BPF_LDX | BPF_MEM | BPF_W, 7, 10,
	    w->below + (int)(w->s->requested_at - first), 0);
	put(w, BPF_LDX | BPF_MEM | BPF_W, 8, 10,
	    w->below + (int)(w->s->allocated_at - first), 0);
}

static void load_sizes(struct writing *w)
{
	if (w->s->kind == PDET_KMEM_PAGE_ALLOC) {
		load_argument(w, 1, w->s->order);
		set(w, 7, 1);
		put(w, BPF_ALU64 | BPF_LSH | BPF_X, 7, 1, 0, 0);
		move(w, 8, 7);
	} else if (w->s->requested == PDET_ARGUMENT_NONE) {
		load_sizes_of_cache(w);
	} else {
		load_argument(w, 7, w->s->requested);
		load_argument(w, 8, w->s->allocated);
	}
}

/* --- the sum --- */

/* The number of an allocation's signature, and of its table of sums. */
static unsigned number(const struct writing *w)
{
	return (unsigned)(w->s - w->w->known->data);
}

static void look_up(struct writing *w)
{
	load_map(w, 1, w->w->sums[number(w)]);
	load_place(w, 2, w->key);
	call(w, BPF_FUNC_map_lookup_elem);
}

/* A new sum. Another processor may have been faster: it is found, then. */
static void insert(struct writing *w)
{
	int off;

	for (off = 0; off < w->sum; off += WORD)
		put(w, BPF_ST | BPF_MEM | BPF_DW, 10, 0, w->below + off, 0);
	load_map(w, 1, w->w->sums[number(w)]);
	load_place(w, 2, w->key);
	load_place(w, 3, w->below);
	set(w, 4, BPF_NOEXIST);
	call(w, BPF_FUNC_map_update_elem);
	look_up(w);
}

/* [r0 + off] += r1; an interrupt may do the same in between. */
static void count(struct writing *w, int off, bool atomic)
{
	if (atomic) {
		put(w, BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, off, BPF_ADD);
		return;
	}
	load(w, 2, 0, off);
	put(w, BPF_ALU64 | BPF_ADD | BPF_X, 2, 1, 0, 0);
	put(w, BPF_STX | BPF_MEM | BPF_DW, 0, 2, off, 0);
}

static void count_one(struct writing *w, int off)
{
	set(w, 1, 1);
	count(w, off, w->w->nests);
}

/* What several programs count: one may interrupt another. */
static void count_one_of_all(struct writing *w, int off)
{
	set(w, 1, 1);
	count(w, off, true);
}

/* Of a live object at @at. */
static void count_gone(struct writing *w, int at)
{
	load(w, 1, at, OF_LIVE(allocated));
	count(w, AT(gone), true);
}

static void leave(struct writing *w)
{
	set(w, 0, 0);
	put(w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static unsigned jump(struct writing *w)
{
	return put(w, BPF_JMP | BPF_JA, 0, 0, 0, 0);
}

/* Jumps if the register is @number. */
static unsigned jump_if(struct writing *w, int reg, int number)
{
	return put(w, BPF_JMP | BPF_JEQ | BPF_K, reg, 0, 0, number);
}

/* In the sum of r0. Afterwards it has what did not fail. */
static void add_up(struct writing *w)
{
	unsigned failed, end;

	load_argument(w, 1, w->s->object);
	failed = jump_if(w, 1, 0);
	move(w, 1, 7);
	count(w, AT(requested), w->w->nests);
	move(w, 1, 8);
	count(w, AT(allocated), w->w->nests);
	count_one(w, AT(times));
	end = jump(w);
	land(w, failed);
	count_one(w, AT(failed));
	leave(w);
	land(w, end);
}

/* r0 becomes the counter that r7 says, or 0. */
static void look_up_counter(struct writing *w)
{
	store(w, BPF_W, 10, 7, w->below);
	load_map(w, 1, w->w->counters);
	load_place(w, 2, w->below);
	call(w, BPF_FUNC_map_lookup_elem);
}

/* One more of the counter that r7 says. */
static void count_beside(struct writing *w)
{
	unsigned none;

	look_up_counter(w);
	none = jump_if(w, 0, 0);
	count_one_of_all(w, 0);
	land(w, none);
}

/* Returns the jump if this is the thread. */
static unsigned if_without(struct writing *w)
{
	call(w, BPF_FUNC_get_current_pid_tgid);
	return put(w, BPF_JMP32 | BPF_JEQ | BPF_K, 0, 0, 0,
		   (int)w->w->without);
}

/* --- live objects --- */

/*
 * r0 becomes the sum of the live object at @at, or 0. Of a free, r9 becomes
 * whether it is of another family.
 */
static void look_up_live(struct writing *w, int at)
{
	const struct pdet_signatures *known = w->w->known;
	unsigned end[PDET_SIGNATURES], other, i;

	put(w, BPF_LDX | BPF_MEM | BPF_H, 0, at, OF_LIVE(of), 0);
	move(w, 2, at);
	add(w, 2, LIVE);
	for (i = 0; i < known->n; i++) {
		other = put(w, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 0, (int)i + 1);
		load_map(w, 1, w->w->sums[i]);
		call(w, BPF_FUNC_map_lookup_elem);
		if (!pdet_kmem_is_alloc(w->s->kind))
			set(w, 9, !pdet_kmem_is_of_family(known->data[i].kind,
							  w->s->kind));
		end[i] = jump(w);
		land(w, other);
	}
	set(w, 0, 0);
	for (i = 0; i < known->n; i++)
		land(w, end[i]);
}

static void write_live(struct writing *w)
{
	load_argument(w, 1, w->s->object);
	store(w, BPF_DW, 10, 1, w->object);
	store(w, BPF_DW, 10, 8, w->live + OF_LIVE(allocated));
	call(w, BPF_FUNC_get_smp_processor_id);
	store(w, BPF_W, 10, 0, w->live + OF_LIVE(cpu));
	store_number(w, BPF_H, 10, w->live + OF_LIVE(of), (int)number(w) + 1);
	store_number(w, BPF_H, 10, w->live + OF_LIVE(stays), 0);
}

/* Over the entry at r7, which stays if it did. Nobody else has this object. */
static void copy_live(struct writing *w)
{
	int off;

	load(w, 1, 10, w->live + OF_LIVE(allocated));
	store(w, BPF_DW, 7, 1, OF_LIVE(allocated));
	put(w, BPF_LDX | BPF_MEM | BPF_W, 1, 10, w->live + OF_LIVE(cpu), 0);
	store(w, BPF_W, 7, 1, OF_LIVE(cpu));
	put(w, BPF_LDX | BPF_MEM | BPF_H, 1, 10, w->live + OF_LIVE(of), 0);
	store(w, BPF_H, 7, 1, OF_LIVE(of));
	for (off = LIVE; off < -w->live; off += WORD) {
		load(w, 1, 10, w->live + off);
		store(w, BPF_DW, 7, 1, off);
	}
}

/* The entry at r0. Unless it is freed, that was without an event. */
static void replace(struct writing *w)
{
	unsigned none;

	move(w, 7, 0);
	look_up_live(w, 7);
	none = jump_if(w, 0, 0);
	count_one_of_all(w, AT(replaced));
	count_gone(w, 7);
	land(w, none);
	copy_live(w);
	leave(w);
}

/* Whether the new entry stays. */
static void let_stay(struct writing *w)
{
	unsigned none, many;

	set(w, 7, PDET_COUNTER_STAY);
	look_up_counter(w);
	none = jump_if(w, 0, 0);
	load(w, 1, 0, 0);
	many = put(w, BPF_JMP | BPF_JGE | BPF_K, 1, 0, 0, (int)w->w->stay);
	count_one_of_all(w, 0);
	store_number(w, BPF_H, 10, w->live + OF_LIVE(stays), 1);
	land(w, many);
	land(w, none);
}

/* r9 is its sum, or 0 if it is in none. */
static void track(struct writing *w)
{
	unsigned new, done, unsummed;

	load_map(w, 1, w->w->live);
	load_place(w, 2, w->object);
	call(w, BPF_FUNC_map_lookup_elem);
	new = jump_if(w, 0, 0);
	replace(w);
	land(w, new);
	let_stay(w);
	load_map(w, 1, w->w->live);
	load_place(w, 2, w->object);
	load_place(w, 3, w->live);
	set(w, 4, BPF_NOEXIST);
	call(w, BPF_FUNC_map_update_elem);
	done = jump_if(w, 0, 0);
	unsummed = jump_if(w, 9, 0);
	move(w, 0, 9);
	count_one(w, AT(untracked));
	move(w, 1, 8);
	count(w, AT(gone), true);
	leave(w);
	land(w, unsummed);
	set(w, 7, PDET_COUNTER_UNTRACKED);
	count_beside(w);
	land(w, done);
	leave(w);
}

/*
 * What is in no sum is live, too: its free is not one of an unknown object.
 * Returns the jump to where it is tracked.
 */
static unsigned pass_unsummed(struct writing *w)
{
	unsigned failed, track;

	load_argument(w, 1, w->s->object);
	failed = jump_if(w, 1, 0);
	store_number(w, BPF_H, 10, w->live + OF_LIVE(of), 0);
	set(w, 9, 0);
	track = jump(w);
	land(w, failed);
	leave(w);
	return track;
}

/* --- programs --- */

static void assemble_alloc(struct writing *w)
{
	const bool frees = w->w->live >= 0;
	unsigned skip = 0, unsummed = 0, found, found_later;

	load_sizes(w);
	if (frees)
		write_live(w);
	write_key(w);
	if (w->w->key->has_name)
		write_name(w);
	if (w->w->without)
		skip = if_without(w);
	look_up(w);
	found = put(w, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 0, 0);
	insert(w);
	found_later = put(w, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 0, 0);
	set(w, 7, PDET_COUNTER_FULL);
	count_beside(w);
	if (w->w->without)
		land(w, skip);
	if (frees)
		unsummed = pass_unsummed(w);
	else
		leave(w);
	land(w, found);
	land(w, found_later);
	if (frees)
		move(w, 9, 0);
	add_up(w);
	if (frees) {
		land(w, unsummed);
		track(w);
	} else {
		leave(w);
	}
}

/*
 * r7 is the object, and r8 its entry. While another processor gets its place in
 * the table for another object, nothing is read from it: it is removed last.
 */
static void end_live(struct writing *w)
{
	unsigned none, same, right, goes;

	call(w, BPF_FUNC_get_smp_processor_id);
	move(w, 7, 0);
	look_up_live(w, 8);
	none = jump_if(w, 0, 0);
	count_one_of_all(w, AT(freed));
	count_gone(w, 8);
	put(w, BPF_LDX | BPF_MEM | BPF_W, 1, 8, OF_LIVE(cpu), 0);
	same = put(w, BPF_JMP | BPF_JEQ | BPF_X, 1, 7, 0, 0);
	count_one_of_all(w, AT(cross_cpu));
	land(w, same);
	right = jump_if(w, 9, 0);
	count_one_of_all(w, AT(mismatched));
	land(w, right);
	land(w, none);
	/* That holds if the kernel does not remove it, too. */
	store_number(w, BPF_H, 8, OF_LIVE(of), PDET_PROGRAM_FREED);
	put(w, BPF_LDX | BPF_MEM | BPF_H, 1, 8, OF_LIVE(stays), 0);
	goes = jump_if(w, 1, 0);
	leave(w);
	land(w, goes);
	load_map(w, 1, w->w->live);
	load_place(w, 2, w->object);
	call(w, BPF_FUNC_map_delete_elem);
	leave(w);
}

/* As pdet_kmem_is_nothing() has it. */
static void assemble_free(struct writing *w)
{
	const bool kfree = w->s->kind == PDET_KMEM_KFREE;
	unsigned skip = 0, null, zero = 0, unknown, freed, end;

	load_argument(w, 7, w->s->object);
	store(w, BPF_DW, 10, 7, w->object);
	null = jump_if(w, 7, 0);
	if (kfree)
		zero = jump_if(w, 7, PDET_KMEM_ZERO_SIZE);
	load_map(w, 1, w->w->live);
	load_place(w, 2, w->object);
	call(w, BPF_FUNC_map_lookup_elem);
	unknown = jump_if(w, 0, 0);
	move(w, 8, 0);
	put(w, BPF_LDX | BPF_MEM | BPF_H, 0, 8, OF_LIVE(of), 0);
	freed = jump_if(w, 0, PDET_PROGRAM_FREED);
	end_live(w);
	land(w, unknown);
	land(w, freed);
	set(w, 7, pdet_kmem_is_page(w->s->kind) ? PDET_COUNTER_PAGES :
						  PDET_COUNTER_OBJECTS);
	end = jump(w);
	land(w, null);
	if (kfree)
		land(w, zero);
	set(w, 7, PDET_COUNTER_NOTHING);
	land(w, end);
	if (w->w->without)
		skip = if_without(w);
	count_beside(w);
	if (w->w->without)
		land(w, skip);
	leave(w);
}

void pdet_program_assemble(const struct pdet_program_wants *wants,
			   struct pdet_program *ret)
{
	const int bytes = (int)pdet_program_key_bytes(wants->key);
	const bool frees = wants->live >= 0;
	struct writing w = {
		.p = ret, .w = wants, .s = wants->signature,
		.sum = (int)pdet_program_sum_bytes(frees),
		.key = (int16_t)-bytes, .live = (int16_t)(-bytes - LIVE),
	};

	w.object = (int16_t)(w.live - WORD);
	w.below = (int16_t)((frees ? w.object : w.key) - w.sum);
	ret->n = 0;
	move(&w, 6, 1);
	if (pdet_kmem_is_alloc(w.s->kind))
		assemble_alloc(&w);
	else
		assemble_free(&w);
}
