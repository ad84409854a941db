/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * r6 is the context, which has the arguments; r7 and r8 are the bytes that were
 * requested and allocated. The stack has the key, and below it a sum.
 */
#include "pagedet.h"
#include "record/program.h"
#include "trace/kmem.h"

#define WORD 8
#define SUM ((int)sizeof(struct pdet_program_sum))
#define AT(member) ((int16_t)offsetof(struct pdet_program_sum, member))

struct writing {
	struct pdet_program *p;
	const struct pdet_program_wants *w;
	const struct pdet_signature *s;
	int16_t key, below;	/* places of the key, and of the sum */
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

/* Loads what the word is into r0. */
static void load_word(struct writing *w, uint32_t word)
{
	const uint8_t argument = pdet_program_argument(w->s, word);

	if (argument != PDET_ARGUMENT_NONE) {
		load_argument(w, 0, argument);
	} else if (word == PAGEDET_ALLOC_TID) {
		call(w, BPF_FUNC_get_current_pid_tgid);
		put(w, BPF_ALU | BPF_MOV | BPF_X, 0, 0, 0, 0);
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

static void look_up(struct writing *w)
{
	load_map(w, 1, w->w->sums);
	load_place(w, 2, w->key);
	call(w, BPF_FUNC_map_lookup_elem);
}

/* A new sum. Another processor may have been faster: it is found, then. */
static void insert(struct writing *w)
{
	int off;

	for (off = 0; off < SUM; off += WORD)
		put(w, BPF_ST | BPF_MEM | BPF_DW, 10, 0, w->below + off, 0);
	load_map(w, 1, w->w->sums);
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

static void leave(struct writing *w)
{
	set(w, 0, 0);
	put(w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Of r0. */
static void add_up(struct writing *w)
{
	const bool atomic = w->w->nests;
	unsigned failed;

	load_argument(w, 1, w->s->object);
	failed = put(w, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0, 0);
	move(w, 1, 7);
	count(w, AT(requested), atomic);
	move(w, 1, 8);
	count(w, AT(allocated), atomic);
	set(w, 1, 1);
	count(w, AT(times), atomic);
	leave(w);
	land(w, failed);
	set(w, 1, 1);
	count(w, AT(failed), atomic);
	leave(w);
}

static void count_as_full(struct writing *w)
{
	unsigned none;

	put(w, BPF_ST | BPF_MEM | BPF_W, 10, 0, w->below, 0);
	load_map(w, 1, w->w->full);
	load_place(w, 2, w->below);
	call(w, BPF_FUNC_map_lookup_elem);
	none = put(w, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0, 0);
	set(w, 1, 1);
	count(w, 0, true);
	land(w, none);
	leave(w);
}

/* Returns the jump to the end. */
static unsigned skip_thread(struct writing *w)
{
	call(w, BPF_FUNC_get_current_pid_tgid);
	return put(w, BPF_JMP32 | BPF_JEQ | BPF_K, 0, 0, 0,
		   (int)w->w->without);
}

void pdet_program_assemble(const struct pdet_program_wants *wants,
			   struct pdet_program *ret)
{
	const int bytes = (int)pdet_program_key_bytes(wants->key);
	struct writing w = {
		.p = ret, .w = wants, .s = wants->signature,
		.key = (int16_t)-bytes, .below = (int16_t)(-bytes - SUM),
	};
	unsigned skip = 0, found, found_later;

	ret->n = 0;
	move(&w, 6, 1);
	if (wants->without)
		skip = skip_thread(&w);
	load_sizes(&w);
	write_key(&w);
	if (wants->key->has_name)
		write_name(&w);
	look_up(&w);
	found = put(&w, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 0, 0);
	insert(&w);
	found_later = put(&w, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 0, 0);
	count_as_full(&w);
	land(&w, found);
	land(&w, found_later);
	add_up(&w);
	if (!wants->without)
		return;
	land(&w, skip);
	leave(&w);
}
