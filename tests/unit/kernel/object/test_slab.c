/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests slabs: whether each object is free. Damaged freelists are not followed
 * outside of the slab.
 */
#include "kernel/object/slab.h"
#include "../../kmem.h"
#include "../../structs.h"

enum { S_CACHE = 8, S_FREELIST = 32, S_COUNTERS = 40, PAGE_SIZE = 64,
       C_CPU = 0, C_SIZE = 24, C_OBJECT = 28, C_OFFSET = 40, C_PAD = 88,
       C_NAME = 96, C_RANDOM = 184, CACHE_SIZE = 256,
       CPU_FREELIST = 0, CPU_SLAB = 16 };

#define OBJECTS 16
#define STRIDE 256
#define RANDOM 0x123456789abcdef1ull
/* Distance of a CPU's data from the per-CPU address. */
#define CPU_OFFSET 0x100000

struct slabs {
	struct kmem *k;
	struct structs s;
	struct pdet_slabs l;
	struct pdet_slab_cache c;
	struct pdet_slab slab;
	struct pdet_percpu percpu;
	uint64_t offset[2];
	uint64_t page, cache, base, cpu;
	struct pdet_slab_set set;
	bool hides;
};

static struct slabs *start(bool hides)
{
	static const struct structs_member slab[] = {
		{ "slab_cache", S_CACHE, 0, 0, 8 },
		{ "freelist", S_FREELIST, 0, 0, 8 },
		{ "inuse", S_COUNTERS, 16, 0, 8 },
		{ "objects", S_COUNTERS, 15, 16, 8 },
		{ "frozen", S_COUNTERS, 1, 31, 8 },
	}, cpu[] = {
		{ "freelist", CPU_FREELIST, 0, 0, 8 },
		{ "slab", CPU_SLAB, 0, 0, 8 },
	}, cache[] = {
		{ "cpu_slab", C_CPU, 0, 0, 8 }, { "size", C_SIZE, 0, 0, 4 },
		{ "object_size", C_OBJECT, 0, 0, 4 },
		{ "offset", C_OFFSET, 0, 0, 4 },
		{ "red_left_pad", C_PAD, 0, 0, 4 },
		{ "name", C_NAME, 0, 0, 8 }, { "random", C_RANDOM, 0, 0, 8 },
	};
	struct slabs *s = calloc(1, sizeof(*s));
	uint64_t name;

	ck_assert_ptr_nonnull(s);
	s->k = kmem_new();
	s->hides = hides;
	structs_init(&s->s);
	structs_add(&s->s, "slab", 64, slab, 5);
	structs_add(&s->s, "kmem_cache_cpu", 32, cpu, 2);
	structs_add(&s->s, "kmem_cache", CACHE_SIZE, cache, hides ? 7 : 6);
	ck_assert(pdet_slabs_init(&s->l, structs_btf(&s->s)));
	s->page = kmem_object(s->k, PAGE_SIZE);
	s->cache = kmem_object(s->k, CACHE_SIZE);
	s->base = kmem_object_at(s->k, OBJECTS * STRIDE, 4096);
	s->cpu = kmem_object(s->k, 32);
	s->offset[1] = kmem_object(s->k, 32) - s->cpu;
	s->percpu = (struct pdet_percpu){ s->offset, 2 };
	name = kmem_object(s->k, 32);
	kmem_text(s->k, name, "kmalloc-192");
	kmem_u32(s->k, s->cache + C_SIZE, STRIDE);
	kmem_u32(s->k, s->cache + C_OBJECT, 192);
	kmem_u32(s->k, s->cache + C_OFFSET, 96);
	kmem_u64(s->k, s->cache + C_NAME, name);
	kmem_u64(s->k, s->cache + C_RANDOM, RANDOM);
	kmem_u64(s->k, s->cache + C_CPU, s->cpu);
	kmem_u64(s->k, s->page + S_CACHE, s->cache);
	return s;
}

static void end(struct slabs *s)
{
	structs_free(&s->s);
	kmem_free(s->k);
	free(s);
}

static uint64_t object(const struct slabs *s, unsigned i)
{
	return s->base + i * STRIDE;
}

/* Encodes it as the kernel does: xor with the byte-swapped address. */
static void link_free(struct slabs *s, uint64_t at, uint64_t next)
{
	uint64_t swapped = 0;
	unsigned i;

	at += 96;
	for (i = 0; i < 8; i++)
		swapped |= (at >> i * 8 & 0xff) << (56 - i * 8);
	kmem_u64(s->k, at, s->hides ? next ^ RANDOM ^ swapped : next);
}

/* Builds a list of free objects that ends with @n. Returns its begin. */
static uint64_t list(struct slabs *s, const unsigned *i, unsigned n)
{
	unsigned k;

	for (k = 0; k < n; k++)
		link_free(s, object(s, i[k]), k + 1 < n ?
			  object(s, i[k + 1]) : 0);
	return object(s, i[0]);
}

static void counters(struct slabs *s, unsigned inuse, bool frozen)
{
	kmem_u64(s->k, s->page + S_COUNTERS, inuse | OBJECTS << 16 |
		 (uint64_t)frozen << 31);
}

static int free_of(struct slabs *s)
{
	ck_assert_int_eq(pdet_slab_read(&s->k->space, &s->l, s->page,
					&s->slab), 0);
	ck_assert_int_eq(pdet_slab_cache_read(&s->k->space, &s->l,
					      s->slab.cache, &s->c), 0);
	return pdet_slab_free(&s->k->space, &s->l, &s->c, &s->slab, s->base,
			      &s->percpu, 1, &s->set);
}

static uint32_t free_bits(const struct slabs *s)
{
	uint32_t bits;

	memcpy(&bits, s->set.bits, sizeof(bits));
	return bits;
}

START_TEST(partial)
{
	static const unsigned some[] = { 3, 15, 0, 7 };
	struct slabs *s = start(_i);
	uint32_t index;
	int64_t within;

	kmem_u64(s->k, s->page + S_FREELIST, list(s, some, 4));
	counters(s, OBJECTS - 4, false);
	ck_assert_int_eq(free_of(s), 0);
	ck_assert_uint_eq(free_bits(s), 1u << 3 | 1u << 15 | 1 | 1u << 7);
	ck_assert_str_eq(s->c.name, "kmalloc-192");
	ck_assert_uint_eq(s->c.object_size, 192);
	ck_assert_uint_eq(s->slab.objects, OBJECTS);
	ck_assert_uint_eq(s->slab.inuse, OBJECTS - 4);
	ck_assert(!s->slab.frozen);
	ck_assert(pdet_slab_index(&s->c, &s->slab, 5 * STRIDE + 191, &index,
				  &within));
	ck_assert_uint_eq(index, 5);
	ck_assert_int_eq(within, 191);
	ck_assert(!pdet_slab_index(&s->c, &s->slab, OBJECTS * STRIDE, &index,
				   &within));
	/* Before each object a zone that is not an object. */
	s->c.pad = 16;
	ck_assert(pdet_slab_index(&s->c, &s->slab, 2 * STRIDE + 8, &index,
				  &within));
	ck_assert_uint_eq(index, 2);
	ck_assert_int_eq(within, -8);
	end(s);
}
END_TEST

START_TEST(of_a_processor)
{
	static const unsigned own[] = { 1, 2 }, others[] = { 9 };
	struct slabs *s = start(_i);
	const uint64_t cpu = s->cpu + s->offset[1];

	kmem_u64(s->k, s->page + S_FREELIST, list(s, others, 1));
	kmem_u64(s->k, cpu + CPU_FREELIST, list(s, own, 2));
	kmem_u64(s->k, cpu + CPU_SLAB, s->page);
	counters(s, OBJECTS - 1, true);
	ck_assert_int_eq(free_of(s), 0);
	ck_assert_uint_eq(free_bits(s), 1u << 1 | 1u << 2 | 1u << 9);
	/* By now another slab belongs to that CPU. */
	kmem_u64(s->k, cpu + CPU_SLAB, s->page + 64);
	ck_assert_int_eq(free_of(s), 0);
	ck_assert_uint_eq(free_bits(s), 1u << 9);
	s->percpu.n = 0;
	ck_assert_int_eq(free_of(s), -ENODATA);
	end(s);
}
END_TEST

START_TEST(damage)
{
	static const unsigned some[] = { 3, 4, 5, 6 };
	static const uint64_t wrong[] = { 0x1000, 0xffff888000000000ull,
					  0xdead000000000100ull, 1 };
	struct slabs *s = start(_i < 10);

	kmem_u64(s->k, s->page + S_FREELIST, list(s, some, 4));
	counters(s, OBJECTS - 4, false);
	switch (_i % 10) {
	case 4:			/* back to the first object */
		link_free(s, object(s, 4), object(s, 3));
		break;
	case 5:			/* inside an object */
		link_free(s, object(s, 4), object(s, 9) + 8);
		break;
	case 6:			/* past the last object */
		link_free(s, object(s, 4), object(s, OBJECTS));
		break;
	case 7:			/* overwritten by its user */
		kmem_u64(s->k, object(s, 4) + 96, 0x4141414141414141);
		break;
	case 8:
		link_free(s, object(s, 4), s->base - STRIDE);
		break;
	case 9:
		link_free(s, object(s, 4), object(s, 4));
		break;
	default:
		link_free(s, object(s, 4), wrong[_i % 10]);
	}
	ck_assert_int_eq(free_of(s), -EBADMSG);
	/* Earlier objects are certain. */
	ck_assert_uint_eq(free_bits(s), 1u << 3 | 1u << 4);
	end(s);
}
END_TEST

/* A list that ends early looks whole. The slab's own count tells. */
START_TEST(cut_short)
{
	static const unsigned some[] = { 3, 4, 5, 6 };
	struct slabs *s = start(_i);

	kmem_u64(s->k, s->page + S_FREELIST, list(s, some, 4));
	counters(s, OBJECTS - 4, false);
	link_free(s, object(s, 4), 0);
	ck_assert_int_eq(free_of(s), -EBADMSG);
	/* Earlier objects are certain. */
	ck_assert_uint_eq(free_bits(s), 1u << 3 | 1u << 4);
	kmem_u64(s->k, s->page + S_FREELIST, 0);
	ck_assert_int_eq(free_of(s), -EBADMSG);
	end(s);
}
END_TEST

/* KFENCE keeps no list of its objects, and counts none. */
START_TEST(of_kfence)
{
	struct slabs *s = start(_i);

	kmem_u64(s->k, s->page + S_FREELIST, 0);
	counters(s, 0, false);
	ck_assert_int_eq(free_of(s), -ENOTSUP);
	end(s);
}
END_TEST

/* Offsets of 7.3, and of 6.18 with a barn of the node itself */
enum { C_SHEAVES = 200, C_CAPACITY = 44, C_NODES = 208, PCS_MAIN = 8,
       PCS_SPARE = 16, PCS_RCU = 24, F_LIST = 0, F_CACHE = 16, F_SIZE = 24,
       F_OBJECTS = 32, B_FULL = 8, N_BARN = 64, CAPACITY = 8 };

static void add_sheaves(struct slabs *s, bool newer)
{
	static const struct structs_member cache[] = {
		{ "size", C_SIZE, 0, 0, 4 },
		{ "object_size", C_OBJECT, 0, 0, 4 },
		{ "offset", C_OFFSET, 0, 0, 4 }, { "name", C_NAME, 0, 0, 8 },
		{ "cpu_sheaves", C_SHEAVES, 0, 0, 8 },
		{ "sheaf_capacity", C_CAPACITY, 0, 0, 4 },
		{ "per_node", C_NODES, 0, 0, 8 },
	}, older[] = {
		{ "size", C_SIZE, 0, 0, 4 },
		{ "object_size", C_OBJECT, 0, 0, 4 },
		{ "offset", C_OFFSET, 0, 0, 4 }, { "name", C_NAME, 0, 0, 8 },
		{ "cpu_sheaves", C_SHEAVES, 0, 0, 8 },
		{ "sheaf_capacity", C_CAPACITY, 0, 0, 4 },
		{ "node", C_NODES, 0, 0, 8 },
	}, slab[] = {
		{ "slab_cache", S_CACHE, 0, 0, 8 },
		{ "freelist", S_FREELIST, 0, 0, 8 },
		{ "inuse", S_COUNTERS, 16, 0, 8 },
		{ "objects", S_COUNTERS, 15, 16, 8 },
		{ "frozen", S_COUNTERS, 1, 31, 8 },
	}, pcs[] = {
		{ "main", PCS_MAIN, 0, 0, 8 }, { "spare", PCS_SPARE, 0, 0, 8 },
	}, sheaf[] = {
		{ "barn_list", F_LIST, 0, 0, 8 }, { "cache", F_CACHE, 0, 0, 8 },
		{ "size", F_SIZE, 0, 0, 4 }, { "objects", F_OBJECTS, 0, 0, 0 },
	}, barn[] = {
		{ "sheaves_full", B_FULL, 0, 0, 8 },
	}, per_node[] = {
		{ "barn", 0, 0, 0, 8 },
	}, node[] = {
		{ "barn", N_BARN, 0, 0, 8 },
	};

	structs_free(&s->s);
	structs_init(&s->s);
	structs_add(&s->s, "slab", 64, slab, 5);
	structs_add(&s->s, "kmem_cache", CACHE_SIZE, newer ? cache : older, 7);
	structs_add(&s->s, "slub_percpu_sheaves", 32, pcs, 2);
	structs_add(&s->s, "slab_sheaf", 32, sheaf, 4);
	structs_add(&s->s, "node_barn", 48, barn, 1);
	if (newer)
		structs_add(&s->s, "kmem_cache_per_node_ptrs", 16, per_node, 1);
	else
		structs_add(&s->s, "kmem_cache_node", 80, node, 1);
	ck_assert(pdet_slabs_init(&s->l, structs_btf(&s->s)));
	ck_assert(s->l.sheaves.known);
	kmem_u64(s->k, s->cache + C_SHEAVES, s->cpu);
	kmem_u32(s->k, s->cache + C_CAPACITY, CAPACITY);
}

/* A sheaf with one object of this slab, and one of another. */
static uint64_t new_sheaf(struct slabs *s, unsigned i)
{
	const uint64_t sheaf = kmem_object(s->k, F_OBJECTS + CAPACITY * 8);

	kmem_u64(s->k, sheaf + F_CACHE, s->cache);
	kmem_u32(s->k, sheaf + F_SIZE, 2);
	kmem_u64(s->k, sheaf + F_OBJECTS, s->base + 4096 * 16);
	kmem_u64(s->k, sheaf + F_OBJECTS + 8, object(s, i));
	/* The sheaf had this one before. */
	kmem_u64(s->k, sheaf + F_OBJECTS + 16, object(s, 0));
	return sheaf;
}

static uint64_t new_barn(struct slabs *s, uint64_t sheaf)
{
	const uint64_t barn = kmem_object(s->k, 48), head = barn + B_FULL;

	kmem_u64(s->k, head, sheaf + F_LIST);
	kmem_u64(s->k, head + 8, sheaf + F_LIST);
	kmem_u64(s->k, sheaf + F_LIST, head);
	kmem_u64(s->k, sheaf + F_LIST + 8, head);
	return barn;
}

START_TEST(sheaves)
{
	static const unsigned some[] = { 3 };
	struct slabs *s = start(false);
	const uint64_t cpu = s->cpu + s->offset[1];
	const uint64_t empty = kmem_object(s->k, 64);
	const bool newer = _i;
	uint64_t barn, node, sheaf;

	add_sheaves(s, newer);
	kmem_u64(s->k, s->page + S_FREELIST, list(s, some, 1));
	counters(s, OBJECTS - 1, false);
	/* All caches that have none share an empty one. */
	kmem_u64(s->k, s->cpu + PCS_MAIN, empty);
	kmem_u64(s->k, cpu + PCS_MAIN, new_sheaf(s, 5));
	kmem_u64(s->k, cpu + PCS_SPARE, new_sheaf(s, 6));
	/* RCU readers may still use these. */
	kmem_u64(s->k, cpu + PCS_RCU, new_sheaf(s, 7));
	sheaf = new_sheaf(s, 9);
	barn = new_barn(s, sheaf);
	node = kmem_object(s->k, 80);
	kmem_u64(s->k, node + N_BARN, barn);
	kmem_u64(s->k, s->cache + C_NODES, newer ? barn : node);
	ck_assert_int_eq(free_of(s), 0);
	ck_assert_uint_eq(free_bits(s), 1u << 3 | 1u << 5 | 1u << 6 | 1u << 9);
	/* a sheaf of another cache, or with too many objects */
	kmem_u64(s->k, sheaf + F_CACHE, s->base);
	ck_assert_int_eq(free_of(s), -EBADMSG);
	ck_assert_uint_eq(free_bits(s), 1u << 3 | 1u << 5 | 1u << 6);
	kmem_u64(s->k, sheaf + F_CACHE, s->cache);
	kmem_u32(s->k, sheaf + F_SIZE, CAPACITY + 1);
	ck_assert_int_eq(free_of(s), -EBADMSG);
	kmem_u32(s->k, sheaf + F_SIZE, 2);
	/* A processor may have any of the others. */
	s->percpu.n = 0;
	ck_assert_int_eq(free_of(s), -ENODATA);
	ck_assert_uint_eq(free_bits(s), 1u << 3);
	/* This cache has none. */
	kmem_u32(s->k, s->cache + C_CAPACITY, 0);
	ck_assert_int_eq(free_of(s), 0);
	ck_assert_uint_eq(free_bits(s), 1u << 3);
	s->percpu.n = 2;
	ck_assert_int_eq(free_of(s), 0);
	ck_assert_uint_eq(free_bits(s), 1u << 3);
	end(s);
}
END_TEST

/* The kernel has sheaves in a way that is not known yet. */
START_TEST(strange_sheaves)
{
	static const struct structs_member cache[] = {
		{ "cpu_sheaves", C_SHEAVES, 0, 0, 8 },
	};
	static const unsigned some[] = { 3 };
	struct slabs *s = start(false);
	struct structs strange;

	structs_init(&strange);
	structs_add(&strange, "kmem_cache", CACHE_SIZE, cache, 1);
	pdet_sheaves_init(&s->l.sheaves, structs_btf(&strange));
	structs_free(&strange);
	ck_assert(!s->l.sheaves.known);
	kmem_u64(s->k, s->page + S_FREELIST, list(s, some, 1));
	counters(s, OBJECTS - 1, false);
	ck_assert_int_eq(free_of(s), -ENODATA);
	ck_assert_uint_eq(free_bits(s), 1u << 3);
	end(s);
}
END_TEST

START_TEST(no_slabs)
{
	struct slabs *s = start(true);

	ck_assert_int_eq(pdet_slab_read(&s->k->space, &s->l, s->page,
					&s->slab), -EBADMSG);
	counters(s, OBJECTS + 1, false);
	ck_assert_int_eq(pdet_slab_read(&s->k->space, &s->l, s->page,
					&s->slab), -EBADMSG);
	ck_assert_int_eq(pdet_slab_read(&s->k->space, &s->l, 0x1000,
					&s->slab), -EBADMSG);
	kmem_u32(s->k, s->cache + C_SIZE, 0);
	ck_assert_int_eq(pdet_slab_cache_read(&s->k->space, &s->l, s->cache,
					      &s->c), -EBADMSG);
	kmem_u32(s->k, s->cache + C_SIZE, STRIDE);
	kmem_u64(s->k, s->cache + C_NAME, 0xffffc90000000000);
	ck_assert_int_eq(pdet_slab_cache_read(&s->k->space, &s->l, s->cache,
					      &s->c), -EBADMSG);
	kmem_u64(s->k, s->cache + C_NAME, s->base + 4096 - 64);
	kmem_fail(s->k, s->base, -ENODATA);
	ck_assert_int_eq(pdet_slab_cache_read(&s->k->space, &s->l, s->cache,
					      &s->c), -ENODATA);
	end(s);
}
END_TEST

START_TEST(processors)
{
	struct slabs *s = start(true);
	const uint64_t table = kmem_object(s->k, 64);
	struct pdet_percpu p;

	kmem_u64(s->k, table + 8, CPU_OFFSET);
	kmem_u32(s->k, table + 32, 2);
	ck_assert_int_eq(pdet_percpu_read(&p, &s->k->space, table, table + 32),
			 0);
	ck_assert_uint_eq(p.n, 2);
	ck_assert_uint_eq(p.offset[1], CPU_OFFSET);
	pdet_percpu_free(&p);
	kmem_u32(s->k, table + 32, 0x7fffffff);
	ck_assert_int_eq(pdet_percpu_read(&p, &s->k->space, table, table + 32),
			 -EBADMSG);
	ck_assert_uint_eq(p.n, 0);
	ck_assert_int_eq(pdet_percpu_read(&p, &s->k->space, 0, 0), -ENODATA);
	end(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slab");

	unit_loop(s, partial, 2);
	unit_loop(s, of_a_processor, 2);
	unit_loop(s, damage, 20);
	unit_loop(s, cut_short, 2);
	unit_loop(s, of_kfence, 2);
	unit_loop(s, sheaves, 2);
	unit_test(s, strange_sheaves);
	unit_test(s, no_slabs);
	unit_test(s, processors);
	return unit_main(s);
}
