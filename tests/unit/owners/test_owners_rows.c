/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests mixed page blocks in a kernel's memory. The memory is invented, with
 * zones whose borders are inside blocks. What the kernel would count in it is
 * counted here by the kernel's own walk (mm/page_owner.c), page after page.
 */
#include <errno.h>

#include "owners/owners.h"
#include "../fake.h"
#include "../unit.h"

#define F(name) PAGEDET_FIELD_##name
#define SOURCE PAGEDET_SOURCE_VMCORE

/* Pages of a block, of memory, and of the largest allocation. */
#define BLOCK 4u
#define PAGES 2048u
#define MOST 5u
#define BLOCKS (PAGES >> BLOCK)

enum { UNMOVABLE, MOVABLE, RECLAIMABLE, HIGHATOMIC, CMA, ISOLATE, TYPES };
static const char *const types[TYPES] = {
	"Unmovable", "Movable", "Reclaimable", "HighAtomic", "CMA", "Isolate",
};
enum { DMA, NORMAL, ZONES };

static struct {
	struct {
		bool buddy, reserved, known, allocated;
		unsigned order;	/* of the allocation, or of the free pages */
		unsigned mobility;
	} page[PAGES];
	unsigned block[BLOCKS];
	bool lost[PAGES];	/* the type of the block cannot be read */
	int order;		/* of a block, or a negative errno */
} memory;

static unsigned zone_of(uint64_t pfn)
{
	return pfn < 1000 ? DMA : NORMAL;
}

/* --- what the kernel counts --- */

/* Returns how many pages of a zone the walk goes on, and counts a block. */
static unsigned look(uint64_t pfn, unsigned zone, unsigned counts[TYPES],
		     bool *mixed)
{
	const unsigned type = memory.block[pfn >> BLOCK];

	*mixed = false;
	if (zone_of(pfn) != zone)
		return 1;
	if (memory.page[pfn].buddy)
		return 1u << memory.page[pfn].order;
	if (memory.page[pfn].reserved || !memory.page[pfn].known ||
	    !memory.page[pfn].allocated)
		return 1;
	*mixed = memory.page[pfn].mobility != type;
	counts[type] += *mixed;
	return 1u << memory.page[pfn].order;
}

static void count_zone(unsigned zone, unsigned counts[TYPES])
{
	uint64_t pfn = 0, end;
	bool mixed;

	while (pfn < PAGES) {
		end = (pfn | ((1u << BLOCK) - 1)) + 1;
		mixed = false;
		while (!mixed && pfn < end)
			pfn += look(pfn, zone, counts, &mixed);
		if (mixed)
			pfn = end;
	}
}

/* --- memory --- */

static void allocate(uint64_t at, unsigned order, uint64_t *state)
{
	const unsigned what = (unsigned)(unit_random(state) % 8);
	const unsigned mobility = unit_random(state) % 10 ?
		memory.block[at >> BLOCK] % HIGHATOMIC :
		(unsigned)(unit_random(state) % CMA);
	uint64_t i;

	for (i = at; i < at + (1u << order); i++) {
		memory.page[i].order = order;
		memory.page[i].buddy = what == 0;
		memory.page[i].reserved = what == 1;
		memory.page[i].known = what != 2;
		memory.page[i].allocated = what > 3 || what == 1;
		memory.page[i].mobility = mobility;
	}
	/* The kernel gives all blocks of a large allocation its type. */
	for (i = at; order > BLOCK && i < at + (1u << order); i++)
		memory.block[i >> BLOCK] = memory.block[at >> BLOCK];
}

static void make_memory(uint64_t seed)
{
	uint64_t state = seed, pfn;
	unsigned i, order;

	memset(&memory, 0, sizeof(memory));
	memory.order = BLOCK;
	for (i = 0; i < BLOCKS; i++)
		memory.block[i] = (unsigned)(unit_random(&state) % TYPES);
	for (pfn = 0; pfn < PAGES; pfn += 1u << order) {
		order = unit_random(&state) % 3 ? 0 :
			(unsigned)(unit_random(&state) % (MOST + 1));
		while (pfn & ((1u << order) - 1) ||
		       zone_of(pfn) != zone_of(pfn + (1u << order) - 1))
			order--;
		allocate(pfn, order, &state);
	}
}

/* --- the source --- */

static void put_text(struct pdet_batch *b, uint32_t row, unsigned field,
		     const char *text)
{
	pdet_put_text(b, row, field, text, strlen(text), SOURCE);
}

/* A page that was freed keeps the record of its allocation. */
static void put_known(struct pdet_batch *b, uint32_t row, unsigned field,
		      uint64_t pfn)
{
	if (!memory.page[pfn].known)
		pdet_put_none(b, row, field, SOURCE);
	else if (field == F(PAGE_MOBILITY))
		put_text(b, row, field, types[memory.page[pfn].mobility]);
	else if (field == F(ALLOC_ORDER))
		pdet_put(b, row, field, memory.page[pfn].order, SOURCE);
	else if (field == F(FREE_NS) && memory.page[pfn].allocated)
		pdet_put_none(b, row, field, SOURCE);
	else
		pdet_put(b, row, field, field == F(FREE_NS) ? 9 : 5, SOURCE);
}

static void put(struct pdet_batch *b, uint32_t row, unsigned field)
{
	const uint64_t pfn = b->value[F(PFN)][row];

	if (field == F(MIGRATETYPE) && memory.lost[pfn])
		pdet_put_lost(b, row, field, PAGEDET_IO, SOURCE);
	else if (field == F(MIGRATETYPE))
		put_text(b, row, field, types[memory.block[pfn >> BLOCK]]);
	else if (field == F(KIND))
		pdet_put(b, row, field, memory.page[pfn].buddy ?
			 PAGEDET_KIND_FREE : memory.page[pfn].reserved ?
			 PAGEDET_KIND_RESERVED : PAGEDET_KIND_KERNEL, SOURCE);
	else if (field == F(FLAGS))
		pdet_put(b, row, field, (uint64_t)memory.page[pfn].reserved <<
			 PAGEDET_PF_RESERVED, SOURCE);
	else if (field == F(FLAGS_KNOWN))
		pdet_put(b, row, field, UINT64_MAX, SOURCE);
	else if (field == F(ZONE))
		pdet_put(b, row, field, zone_of(pfn) == DMA ?
			 PAGEDET_ZONE_DMA : PAGEDET_ZONE_NORMAL, SOURCE);
	else if (field == F(NODE))
		pdet_put(b, row, field, 1, SOURCE);
	else
		put_known(b, row, field, pfn);
}

static int fill(struct pdet_session *s, struct pdet_batch *b,
		const struct pdet_fields *want, unsigned source)
{
	uint32_t row;
	unsigned field;

	(void)s;
	(void)source;
	pdet_fields_for(field, want)
		for (row = 0; row < b->n; row++)
			put(b, row, field);
	return 0;
}

static int ranges(struct pdet_backend *b, struct pdet_env *env,
		  struct pdet_ranges *ret)
{
	const struct pdet_range all = { 0, PAGES - 1 };

	(void)b;
	(void)env;
	return pdet_vec_push(ret, all) ? 0 : -ENOMEM;
}

static int block_order(struct pdet_backend *b, struct pdet_env *env)
{
	(void)b;
	(void)env;
	return memory.order;
}

static const struct pdet_backend_ops ops = {
	.name = "invented",
	.survey = fake_able,
	.prepare = fake_prepare,
	.session_new = fake_session_new,
	.session_free = fake_session_free,
	.fill = fill,
	.memory = ranges,
	.block_order = block_order,
};

/* --- queries --- */

static struct pdet_env env;
static struct pdet_owners *owners;

static int ask(const uint32_t *by, uint64_t n_by, uint32_t options)
{
	static char no_root[] = "";
	struct pdet_backend backend = {
		.ops = &ops, .sources = PAGEDET_SOURCE_BIT(SOURCE),
	};
	struct pdet_backend *list[] = { &backend };
	struct pagedet_owners_query q = PAGEDET_OWNERS_QUERY_INIT;
	const struct pdet_owners_args args = {
		.env = &env, .backends = list, .n_backends = 1,
		.sources = UINT32_MAX, .query = &q, .page_size = 4096,
	};

	env.root = no_root;
	q.by = by;
	q.n_by = n_by;
	q.options = options;
	q.threads = 2;
	return pdet_owners_new(&args, &owners);
}

static bool is_text(uint64_t id, const char *text)
{
	return !strcmp(pdet_owners_text(owners, id, &(size_t){ 0 }), text);
}

/* The blocks of a zone and a type, by the groups. */
static uint64_t answered(unsigned zone, unsigned type)
{
	struct pagedet_owner_group g;
	uint64_t blocks = 0;

	ck_assert_int_eq(pdet_owners_order(owners, &env, "zone", 0), 0);
	while (pdet_owners_next(owners, &g) == 1)
		if (is_text(g.value[0], zone == DMA ? "DMA" : "Normal") &&
		    is_text(g.value[2], types[type])) {
			ck_assert_uint_eq(g.value[1], 1);
			blocks += g.blocks;
		}
	return blocks;
}

static const uint32_t places[] = {
	PAGEDET_OWNER_ZONE, PAGEDET_OWNER_NODE, PAGEDET_OWNER_MIGRATETYPE,
};

START_TEST(as_the_kernel_counts)
{
	struct pagedet_owners_total total;
	unsigned zone, type, all = 0;

	make_memory((uint64_t)_i + 1);
	ck_assert_int_eq(ask(places, 3, PAGEDET_OWNERS_MIXED), 0);
	for (zone = 0; zone < ZONES; zone++) {
		unsigned counts[TYPES] = { 0 };

		count_zone(zone, counts);
		for (type = 0; type < TYPES; type++) {
			ck_assert_uint_eq(answered(zone, type), counts[type]);
			all += counts[type];
		}
	}
	pdet_owners_total(owners, &total);
	/* One block is in both zones. */
	ck_assert_uint_gt(total.blocks, 5);
	ck_assert_uint_le(total.blocks, all);
	ck_assert_uint_ge(total.blocks + 1, all);
	ck_assert_uint_eq(total.undecided, 0);
	pdet_owners_free(owners);
}
END_TEST

/* Each allocation in use is in the block of its first page. */
START_TEST(by_block)
{
	static const uint32_t by[] = { PAGEDET_OWNER_BLOCK };
	uint64_t times[BLOCKS] = { 0 }, pfn;
	struct pagedet_owner_group g;

	make_memory(7);
	for (pfn = 0; pfn < PAGES; pfn++)
		times[pfn >> BLOCK] += memory.page[pfn].known &&
			memory.page[pfn].allocated && !memory.page[pfn].buddy &&
			!(pfn & ((1u << memory.page[pfn].order) - 1));
	ck_assert_int_eq(ask(by, 1, 0), 0);
	while (pdet_owners_next(owners, &g) == 1) {
		ck_assert_uint_eq(g.state[0], PAGEDET_HAVE);
		ck_assert_uint_eq(g.value[0] % (1u << BLOCK), 0);
		ck_assert_uint_eq(g.times, times[g.value[0] >> BLOCK]);
		ck_assert_uint_eq(g.blocks, 0);
		times[g.value[0] >> BLOCK] = 0;
	}
	for (pfn = 0; pfn < BLOCKS; pfn++)
		ck_assert_uint_eq(times[pfn], 0);
	pdet_owners_free(owners);
}
END_TEST

/* Groups of other records are not compared. */
START_TEST(compared)
{
	struct pdet_owners *all;

	make_memory(5);
	ck_assert_int_eq(ask(places, 3, 0), 0);
	all = owners;
	ck_assert_int_eq(ask(places, 3, PAGEDET_OWNERS_MIXED), 0);
	ck_assert_int_eq(pdet_owners_compare(owners, &env, all), -EINVAL);
	ck_assert_int_eq(pdet_owners_compare(all, &env, owners), -EINVAL);
	ck_assert_int_eq(pdet_owners_compare(owners, &env, owners), 0);
	pdet_owners_free(all);
	pdet_owners_free(owners);
}
END_TEST

START_TEST(what_is_not_known)
{
	static const uint32_t by[] = { PAGEDET_OWNER_BLOCK };
	struct pagedet_owners_total total;
	struct pagedet_owner_group g;

	make_memory(3);
	memset(memory.lost, 1, sizeof(memory.lost));
	ck_assert_int_eq(ask(places, 3, PAGEDET_OWNERS_MIXED), 0);
	pdet_owners_total(owners, &total);
	ck_assert_uint_eq(total.groups, 0);
	ck_assert_uint_gt(total.undecided, 100);
	pdet_owners_free(owners);
	/* Without the size of blocks they cannot be counted. */
	memory.order = -ENODATA;
	ck_assert_int_eq(ask(places, 3, PAGEDET_OWNERS_MIXED), -ENODATA);
	ck_assert_str_eq(env.error, "cannot count page blocks: their size is "
			 "not known here");
	ck_assert_int_eq(ask(by, 1, 0), 0);
	ck_assert_int_eq(pdet_owners_next(owners, &g), 1);
	ck_assert_uint_eq(g.state[0], PAGEDET_NO_TYPES);
	ck_assert_int_eq(pdet_owners_next(owners, &g), 0);
	pdet_owners_free(owners);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("owners_rows");

	unit_loop(s, as_the_kernel_counts, 40);
	unit_test(s, by_block);
	unit_test(s, compared);
	unit_test(s, what_is_not_known);
	return unit_main(s);
}
