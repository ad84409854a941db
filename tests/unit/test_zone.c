/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Zones, their free lists, what blocks are for, and huge pages. */
#include "kernel/hugetlb.h"
#include "kernel/pageblock.h"
#include "kernel/zone.h"
#include "kmem.h"
#include "structs.h"

enum { Z_FIRST = 128, Z_SPANNED = 144, Z_NAME = 168, Z_AREA = 256, Z_SETS = 104,
       ZONE = 2048, NODE = 8192, NR_ZONES = 4 * ZONE, NODE_ID = NR_ZONES + 8,
       AREA = 104, ORDERS = 11, TYPES = 6, LIST_AT = 8, LISTS_AT = 24,
       LISTS = 14, H_ORDER = 40, H_PAGES = 64, H_FREE = 72, H_RESERVED = 80,
       H_SURPLUS = 88, H_NAME = 96, HSTATE = 128 };

struct zones {
	struct kmem *k;
	struct structs s;
	struct pdet_zones z;
	struct pdet_vmcoreinfo info;
	char text[256];
	uint64_t table, node[2];
	struct pdet_free got[64];
	unsigned n;
};

static void add_types(struct structs *s, bool isolate_bit)
{
	static const struct structs_member node[] = {
		{ "node_zones", 0, 0, 0, 4 * ZONE },
		{ "nr_zones", NR_ZONES, 0, 0, 4 },
		{ "node_id", NODE_ID, 0, 0, 4 },
	}, zone[] = {
		{ "zone_start_pfn", Z_FIRST, 0, 0, 8 },
		{ "spanned_pages", Z_SPANNED, 0, 0, 8 },
		{ "name", Z_NAME, 0, 0, 8 },
		{ "free_area", Z_AREA, 0, 0, ORDERS * AREA },
		{ "per_cpu_pageset", Z_SETS, 0, 0, 8 },
	}, area[] = {
		{ "free_list", 0, 0, 0, TYPES * 16 },
		{ "nr_free", TYPES * 16, 0, 0, 8 },
	}, pageset[] = {
		{ "lists", LISTS_AT, 0, 0, LISTS * 16 },
	}, page[] = {
		{ "lru", LIST_AT, 0, 0, 16 },
	}, usage[] = {
		{ "pageblock_flags", 24, 0, 0, 8 },
	}, hstate[] = {
		{ "order", H_ORDER, 0, 0, 4 },
		{ "nr_huge_pages", H_PAGES, 0, 0, 8 },
		{ "free_huge_pages", H_FREE, 0, 0, 8 },
		{ "resv_huge_pages", H_RESERVED, 0, 0, 8 },
		{ "surplus_huge_pages", H_SURPLUS, 0, 0, 8 },
		{ "name", H_NAME, 0, 0, 32 },
	};
	static const struct structs_constant types[] = {
		{ "MIGRATE_UNMOVABLE", 0 }, { "MIGRATE_MOVABLE", 1 },
		{ "MIGRATE_RECLAIMABLE", 2 }, { "MIGRATE_HIGHATOMIC", 3 },
		{ "MIGRATE_CMA", 4 }, { "MIGRATE_ISOLATE", 5 },
	}, older[] = {
		{ "PB_migrate_skip", 3 }, { "NR_PAGEBLOCK_BITS", 4 },
	}, newer[] = {
		{ "PB_migrate_isolate", 4 }, { "__NR_PAGEBLOCK_BITS", 5 },
	};

#define ADD(name, size, m) \
	structs_add(s, name, size, m, sizeof(m) / sizeof(*m))
	ADD("pglist_data", NODE + 64, node);
	ADD("zone", ZONE, zone);
	ADD("free_area", AREA, area);
	ADD("per_cpu_pages", 256, pageset);
	ADD("page", 64, page);
	ADD("mem_section_usage", 32, usage);
	ADD("hstate", HSTATE, hstate);
#undef ADD
	structs_add_enum(s, "migratetype", types, 6);
	structs_add_enum(s, "pageblock_bits", isolate_bit ? newer : older, 2);
}

static uint64_t zone_at(const struct zones *z, unsigned node, unsigned i)
{
	return z->node[node] + i * ZONE;
}

static void put_zone(struct zones *z, unsigned node, unsigned i,
		     const char *name, uint64_t first, uint64_t n)
{
	const uint64_t at = zone_at(z, node, i);
	const uint64_t text = kmem_object(z->k, 16);
	unsigned k;

	kmem_text(z->k, text, name);
	kmem_u64(z->k, at + Z_FIRST, first);
	kmem_u64(z->k, at + Z_SPANNED, n);
	kmem_u64(z->k, at + Z_NAME, text);
	for (k = 0; k < ORDERS * TYPES; k++) {
		const uint64_t list = at + Z_AREA + k / TYPES * AREA +
				      k % TYPES * 16;

		kmem_u64(z->k, list, list);
		kmem_u64(z->k, list + 8, list);
	}
}

/* Behind the head, before what was there. */
static uint64_t put_page(struct zones *z, uint64_t list)
{
	const uint64_t page = kmem_object(z->k, 64), node = page + LIST_AT;
	uint64_t first;

	ck_assert_int_eq(pdet_space_u64(&z->k->space, list, &first), 0);
	kmem_u64(z->k, node, first);
	kmem_u64(z->k, node + 8, list);
	kmem_u64(z->k, first + 8, node);
	kmem_u64(z->k, list, node);
	return page;
}

static uint64_t list_of(const struct zones *z, unsigned node, unsigned i,
			unsigned order, unsigned type)
{
	return zone_at(z, node, i) + Z_AREA + order * AREA + type * 16;
}

/* Two nodes, 0 and 2; the first with two zones and one that is empty. */
static struct zones *start(bool isolate_bit)
{
	struct zones *z = calloc(1, sizeof(*z));
	unsigned i;

	ck_assert_ptr_nonnull(z);
	z->k = kmem_new();
	structs_init(&z->s);
	add_types(&z->s, isolate_bit);
	structs_btf(&z->s);
	z->table = kmem_object(z->k, 512);
	for (i = 0; i < 2; i++) {
		z->node[i] = kmem_object(z->k, NODE + 64);
		kmem_u64(z->k, z->table + i * 16, z->node[i]);
		kmem_u32(z->k, z->node[i] + NR_ZONES, i ? 1 : 3);
		kmem_u32(z->k, z->node[i] + NODE_ID, i * 2);
	}
	put_zone(z, 0, 0, "DMA32", 0x1000, 0xf000);
	put_zone(z, 0, 1, "Normal", 0x10000, 0x8000);
	put_zone(z, 1, 0, "Normal", 0x17000, 0x8000);
	kmem_u64(z->k, z->table + 256, 1 | 1 << 2);
	snprintf(z->text, sizeof(z->text), "SYMBOL(node_data)=%llx\n"
		 "SYMBOL(node_online_map)=%llx\nSIZE(nodemask_t)=8\n",
		 (unsigned long long)z->table,
		 (unsigned long long)z->table + 256);
	structs_info(&z->info, z->text);
	return z;
}

static int zones_read(struct zones *z)
{
	return pdet_zones_read(&z->z, &z->k->env, &z->k->space, &z->info,
			       z->s.btf, 0);
}

static void end(struct zones *z)
{
	pdet_zones_free(&z->z);
	pdet_vmcoreinfo_free(&z->info);
	structs_free(&z->s);
	kmem_free(z->k);
	free(z);
}

static int see(void *arg, const struct pdet_free *block)
{
	struct zones *z = arg;

	ck_assert_uint_lt(z->n, 64);
	z->got[z->n++] = *block;
	return 0;
}

START_TEST(spans)
{
	struct zones *z = start(false);
	const struct pdet_zone *zone;

	ck_assert_int_eq(zones_read(z), 0);
	ck_assert_uint_eq(z->z.zone_of.n, 3);
	zone = pdet_zone_find(&z->z, 0x1000);
	ck_assert(zone && zone->node == 0 && !strcmp(zone->name, "DMA32"));
	zone = pdet_zone_find(&z->z, 0x16fff);
	ck_assert(zone && zone->node == 0 && !strcmp(zone->name, "Normal"));
	zone = pdet_zone_find(&z->z, 0x1efff);
	ck_assert(zone && zone->node == 2);
	/* of both, of none */
	ck_assert_ptr_null(pdet_zone_find(&z->z, 0x17000));
	ck_assert_ptr_null(pdet_zone_find(&z->z, 0xfff));
	ck_assert_ptr_null(pdet_zone_find(&z->z, 0x1f000));
	pdet_zones_free(&z->z);
	kmem_u32(z->k, z->node[0] + NR_ZONES, 900);
	ck_assert_int_lt(zones_read(z), 0);
	ck_assert_ptr_nonnull(strstr(z->k->env.error, "zones"));
	/* a table where nothing is mapped is damage, and not a missing file */
	pdet_vmcoreinfo_free(&z->info);
	structs_info(&z->info, "SYMBOL(node_data)=ffff88ff00000000\n"
		     "SYMBOL(node_online_map)=ffff88ff00000000\n"
		     "SIZE(nodemask_t)=8\n");
	ck_assert_int_eq(zones_read(z), -EBADMSG);
	end(z);
}
END_TEST

START_TEST(free_lists)
{
	struct zones *z = start(false);
	const struct pdet_zone *zone;
	uint64_t pages[4], wrong;
	unsigned i;

	pages[0] = put_page(z, list_of(z, 0, 0, 0, 1));
	pages[1] = put_page(z, list_of(z, 0, 0, 10, 0));
	pages[2] = put_page(z, list_of(z, 0, 0, 3, 5));
	pages[3] = put_page(z, list_of(z, 0, 0, 3, 5));
	put_page(z, list_of(z, 0, 1, 3, 5));
	ck_assert_int_eq(zones_read(z), 0);
	zone = pdet_zone_find(&z->z, 0x1000);
	ck_assert_int_eq(pdet_zone_each_free(&z->k->space, &z->z, zone, NULL,
					     see, z), 0);
	ck_assert_uint_eq(z->n, 4);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(z->got[i].cpu, -1);
	ck_assert(z->got[0].page == pages[0] && z->got[0].order == 0 &&
		  z->got[0].type == 1);
	ck_assert(z->got[1].page == pages[3] && z->got[2].page == pages[2] &&
		  z->got[2].order == 3 && z->got[2].type == 5);
	ck_assert(z->got[3].page == pages[1] && z->got[3].order == 10);
	/* one list that leads nowhere takes no other away */
	wrong = list_of(z, 0, 0, 0, 1);
	kmem_u64(z->k, wrong, 0x4141414141414141);
	kmem_u64(z->k, wrong + 8, 0x4141414141414141);
	z->n = 0;
	ck_assert_int_eq(pdet_zone_each_free(&z->k->space, &z->z, zone, NULL,
					     see, z), -EBADMSG);
	ck_assert_uint_eq(z->n, 3);
	end(z);
}
END_TEST

START_TEST(of_processors)
{
	struct zones *z = start(false);
	uint64_t offset[2] = { 0, 0x100000 }, sets, list, page[2];
	const struct pdet_percpu percpu = { offset, 2 };
	const struct pdet_zone *zone;
	unsigned i, cpu;

	sets = kmem_object(z->k, 256);
	kmem_u64(z->k, zone_at(z, 0, 0) + Z_SETS, sets);
	for (cpu = 0; cpu < 2; cpu++)
		for (i = 0; i < LISTS; i++) {
			list = sets + offset[cpu] + LISTS_AT + i * 16;
			kmem_u64(z->k, list, list);
			kmem_u64(z->k, list + 8, list);
		}
	page[0] = put_page(z, sets + LISTS_AT + 4 * 16);
	page[1] = put_page(z, sets + offset[1] + LISTS_AT + 12 * 16);
	ck_assert_int_eq(zones_read(z), 0);
	zone = pdet_zone_find(&z->z, 0x1000);
	ck_assert_int_eq(pdet_zone_each_free(&z->k->space, &z->z, zone,
					     &percpu, see, z), 0);
	ck_assert_uint_eq(z->n, 2);
	ck_assert(z->got[0].page == page[0] && z->got[0].order == 1 &&
		  z->got[0].type == 1 && z->got[0].cpu == 0);
	ck_assert(z->got[1].page == page[1] && z->got[1].order == 9 &&
		  z->got[1].cpu == 1);
	/* where that is, is unknown */
	kmem_u64(z->k, zone_at(z, 0, 0) + Z_SETS, 0);
	pdet_zones_free(&z->z);
	ck_assert_int_eq(zones_read(z), 0);
	ck_assert_int_eq(pdet_zone_each_free(&z->k->space, &z->z,
					     pdet_zone_find(&z->z, 0x1000),
					     &percpu, see, z), -ENODATA);
	end(z);
}
END_TEST

START_TEST(blocks)
{
	struct zones *z = start(_i);
	const uint64_t usage = kmem_object(z->k, 64);
	const uint64_t roots = kmem_object(z->k, 8);
	const uint64_t root = kmem_object_at(z->k, 4096, 4096);
	struct pdet_vmcoreinfo info;
	struct pdet_pageblocks b;
	struct pdet_layout l;
	struct pdet_memmap m;
	char text[256];
	const char *type;

	snprintf(text, sizeof(text), "SYMBOL(mem_section)=%llx\n"
		 "LENGTH(mem_section)=1\nSIZE(mem_section)=16\n"
		 "OFFSET(mem_section.section_mem_map)=0\n"
		 "NUMBER(SECTION_SIZE_BITS)=27\nSIZE(page)=64\n",
		 (unsigned long long)roots);
	structs_info(&info, text);
	kmem_u64(z->k, roots, root);
	kmem_u64(z->k, root + 16, 0xffffea0000000007);
	kmem_u64(z->k, root + 24, usage);
	ck_assert_int_eq(pdet_memmap_read(&m, &z->k->env, &z->k->space, &info,
					  12), 0);
	pdet_layout_init(&l, &info);
	l.member[PDET_MEMBER_SECTION_USAGE] = 8;
	ck_assert(pdet_pageblocks_init(&b, z->s.btf, &z->k->p, &l));
	ck_assert_uint_eq(b.shift, 9);
	ck_assert_uint_eq(b.bits, _i ? 8 : 4);
	/* the blocks of the second section: movable and skipped, reclaimable,
	 * isolated, of no type */
	kmem_u64(z->k, usage + 24, _i ? 0x07110209 : 0x7529);
#define IS(block) \
	pdet_pageblock_type(&z->k->space, &b, &m, &l, \
			    32768 + (block) * 512 + 511, &type)
	ck_assert_int_eq(IS(0), 0);
	ck_assert_str_eq(type, "Movable");
	ck_assert_int_eq(IS(1), 0);
	ck_assert_str_eq(type, "Reclaimable");
	ck_assert_int_eq(IS(2), 0);
	ck_assert_str_eq(type, "Isolate");
	ck_assert_int_eq(IS(3), -EBADMSG);
	ck_assert_int_eq(IS(4), 0);
	ck_assert_str_eq(type, "Unmovable");
#undef IS
	ck_assert_int_eq(pdet_pageblock_type(&z->k->space, &b, &m, &l, 5,
					     &type), -ENOENT);
	pdet_memmap_free(&m);
	pdet_vmcoreinfo_free(&info);
	end(z);
}
END_TEST

START_TEST(huge_pages)
{
	struct zones *z = start(false);
	const uint64_t h = kmem_object(z->k, 4 * HSTATE + 8);
	const uint64_t most = h + 4 * HSTATE;
	struct pdet_hstates got;

	kmem_u32(z->k, most, 2);
	kmem_u32(z->k, h + H_ORDER, 18);
	kmem_u32(z->k, h + HSTATE + H_ORDER, 9);
	kmem_u64(z->k, h + HSTATE + H_PAGES, 20);
	kmem_u64(z->k, h + HSTATE + H_FREE, 7);
	kmem_text(z->k, h + HSTATE + H_NAME, "hugepages-2048kB");
	ck_assert_int_eq(pdet_hstates_read(&got, &z->k->space, z->s.btf, h,
					   most), 0);
	ck_assert_uint_eq(got.n, 2);
	ck_assert_ptr_null(pdet_hstate_find(&got, 4));
	ck_assert_uint_eq(pdet_hstate_find(&got, 9)->free, 7);
	ck_assert_uint_eq(pdet_hstate_find(&got, 9)->pages, 20);
	ck_assert_str_eq(pdet_hstate_find(&got, 9)->name, "hugepages-2048kB");
	kmem_u64(z->k, h + HSTATE + H_FREE, 21);
	ck_assert_int_eq(pdet_hstates_read(&got, &z->k->space, z->s.btf, h,
					   most), -EBADMSG);
	kmem_u32(z->k, most, 9);
	ck_assert_int_eq(pdet_hstates_read(&got, &z->k->space, z->s.btf, h,
					   most), -EBADMSG);
	ck_assert_uint_eq(got.n, 0);
	ck_assert_int_eq(pdet_hstates_read(&got, &z->k->space, z->s.btf, 0, 0),
			 -ENODATA);
	end(z);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("zone");

	unit_test(s, spans);
	unit_test(s, free_lists);
	unit_test(s, of_processors);
	unit_loop(s, blocks, 2);
	unit_test(s, huge_pages);
	return unit_main(s);
}
