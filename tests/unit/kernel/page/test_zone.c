/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests zones and the types of page blocks. */
#include "kernel/page/pageblock.h"
#include "kernel/page/zone.h"
#include "../../kmem.h"
#include "../../structs.h"

enum { Z_FIRST = 128, Z_SPANNED = 144, Z_NAME = 168, ZONE = 2048, NODE = 8192,
       NR_ZONES = 4 * ZONE, NODE_ID = NR_ZONES + 8 };

struct zones {
	struct kmem *k;
	struct structs s;
	struct pdet_zones z;
	struct pdet_vmcoreinfo info;
	char text[256];
	uint64_t table, node[2];
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
	}, usage[] = {
		{ "pageblock_flags", 24, 0, 0, 8 },
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
	ADD("mem_section_usage", 32, usage);
#undef ADD
	/* with hugetlb a block has the size of a huge page */
	structs_add(s, "hstate", 128, NULL, 0);
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

	kmem_text(z->k, text, name);
	kmem_u64(z->k, at + Z_FIRST, first);
	kmem_u64(z->k, at + Z_SPANNED, n);
	kmem_u64(z->k, at + Z_NAME, text);
}

/* Two nodes, 0 and 2; the first one has two zones and an empty one. */
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
	/* In both, in none. */
	ck_assert_ptr_null(pdet_zone_find(&z->z, 0x17000));
	ck_assert_ptr_null(pdet_zone_find(&z->z, 0xfff));
	ck_assert_ptr_null(pdet_zone_find(&z->z, 0x1f000));
	pdet_zones_free(&z->z);
	kmem_u32(z->k, z->node[0] + NR_ZONES, 900);
	ck_assert_int_lt(zones_read(z), 0);
	ck_assert_ptr_nonnull(strstr(z->k->env.error, "zones"));
	/* A table in unmapped memory is damage, not a missing file. */
	pdet_vmcoreinfo_free(&z->info);
	structs_info(&z->info, "SYMBOL(node_data)=ffff88ff00000000\n"
		     "SYMBOL(node_online_map)=ffff88ff00000000\n"
		     "SIZE(nodemask_t)=8\n");
	ck_assert_int_eq(zones_read(z), -EBADMSG);
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
	/*
	 * Blocks of the second section: movable and skipped, reclaimable,
	 * isolated, without a type.
	 */
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

int main(void)
{
	Suite *s = suite_create("zone");

	unit_test(s, spans);
	unit_loop(s, blocks, 2);
	return unit_main(s);
}
