/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the memory map: every frame has its own struct page, or says why not.
 */
#include "kernel/page/memmap.h"
#include "../../kmem.h"
#include "../../structs.h"

#define VMEMMAP 0xffffea0000000000ull
#define ROOTS 0xffffffff82000000ull
#define PER_ROOT 256
#define PER_SECTION 32768
#define ONLINE_MAP 7		/* present, has a map, online */

static const char info_text[] =
	"SYMBOL(mem_section)=ffffffff82000000\n"
	"LENGTH(mem_section)=16\n"
	"SIZE(mem_section)=16\n"
	"OFFSET(mem_section.section_mem_map)=0\n"
	"NUMBER(SECTION_SIZE_BITS)=27\n"
	"SIZE(page)=64\n";

struct map {
	struct kmem *k;
	struct pdet_memmap m;
	struct pdet_vmcoreinfo info;
	char text[512];
	uint64_t root[16];
};

static struct map *map_new(const char *more)
{
	struct map *map = calloc(1, sizeof(*map));

	ck_assert_ptr_nonnull(map);
	map->k = kmem_new();
	kmem_u64(map->k, ROOTS + 15 * 8, 0);
	snprintf(map->text, sizeof(map->text), "%s%s", info_text, more);
	structs_info(&map->info, map->text);
	return map;
}

static void map_free(struct map *map)
{
	pdet_memmap_free(&map->m);
	pdet_vmcoreinfo_free(&map->info);
	kmem_free(map->k);
	free(map);
}

static void section(struct map *map, uint64_t i, uint64_t word, uint64_t usage)
{
	const uint64_t r = i / PER_ROOT;

	if (!map->root[r]) {
		map->root[r] = kmem_object_at(map->k, 4096, 4096);
		kmem_u64(map->k, ROOTS + r * 8, map->root[r]);
	}
	kmem_u64(map->k, map->root[r] + i % PER_ROOT * 16, word);
	kmem_u64(map->k, map->root[r] + i % PER_ROOT * 16 + 8, usage);
}

static int map_read(struct map *map)
{
	return pdet_memmap_read(&map->m, &map->k->env, &map->k->space,
				&map->info, 12);
}

START_TEST(frames)
{
	struct map *map = map_new("SYMBOL(vmemmap)=ffffea0000000000\n");
	int error;

	section(map, 0, VMEMMAP | ONLINE_MAP, 0);
	section(map, 1, VMEMMAP | 3, 0);	/* offline */
	section(map, 2, 0, 0);
	section(map, 300, VMEMMAP | ONLINE_MAP | 16, 0); /* shared */
	ck_assert_int_eq(map_read(map), 0);
	ck_assert_uint_eq(map->m.n_sections, 301);
	ck_assert_uint_eq(pdet_memmap_page(&map->m, 0), VMEMMAP);
	ck_assert_uint_eq(pdet_memmap_page(&map->m, 12345),
			  VMEMMAP + 12345 * 64);
	ck_assert_uint_eq(pdet_memmap_page(&map->m, 300 * PER_SECTION + 9),
			  VMEMMAP + (300 * PER_SECTION + 9) * 64ull);
	ck_assert_uint_eq(pdet_memmap_page(&map->m, 2 * PER_SECTION), 0);
	ck_assert_uint_eq(pdet_memmap_page(&map->m, UINT64_MAX), 0);
	ck_assert_int_eq(pdet_memmap_is(&map->m, 5, &error), PDET_MEMMAP_USED);
	ck_assert_int_eq(pdet_memmap_is(&map->m, PER_SECTION, &error),
			 PDET_MEMMAP_UNUSED);
	ck_assert_int_eq(pdet_memmap_is(&map->m, 2 * PER_SECTION, &error),
			 PDET_MEMMAP_NONE);
	ck_assert_int_eq(pdet_memmap_is(&map->m, 300 * PER_SECTION, &error),
			 PDET_MEMMAP_SHARED);
	map_free(map);
}
END_TEST

/*
 * Each section has its own map. RAM does not begin at frame 0, so the base is
 * below the range of numbers.
 */
START_TEST(own_maps)
{
	const uint64_t maps = 0xffff800000000000ull;
	const uint64_t first = 8 * PER_SECTION;
	struct map *map = map_new("");

	section(map, 8, (maps - first * 64) | ONLINE_MAP, 0);
	section(map, 9, (maps + (1ull << 40) - (first + PER_SECTION) * 64) |
		ONLINE_MAP, 0);
	ck_assert_int_eq(map_read(map), 0);
	ck_assert_uint_eq(pdet_memmap_page(&map->m, first + 3), maps + 3 * 64);
	ck_assert_uint_eq(pdet_memmap_page(&map->m, first + PER_SECTION),
			  maps + (1ull << 40));
	map_free(map);
}
END_TEST

/* Every byte of a struct page leads to its own page. */
START_TEST(found_by_any_byte)
{
	struct map *map = map_new("");
	const uint64_t other = VMEMMAP + (1ull << 40);
	uint64_t pfn, within, base;

	section(map, 3, VMEMMAP | ONLINE_MAP, 0);
	section(map, 300, VMEMMAP | ONLINE_MAP, 0);
	ck_assert_int_eq(map_read(map), 0);
	ck_assert(pdet_memmap_base(&map->m, &base));
	ck_assert_uint_eq(base, VMEMMAP);
	ck_assert_uint_eq(pdet_memmap_first(&map->m), 3 * PER_SECTION);
	ck_assert(pdet_memmap_find(&map->m,
				   VMEMMAP + (3 * PER_SECTION + 7) * 64,
				   &pfn, &within));
	ck_assert_uint_eq(pfn, 3 * PER_SECTION + 7);
	ck_assert_uint_eq(within, 0);
	ck_assert(pdet_memmap_find(&map->m, VMEMMAP +
				   (301 * PER_SECTION - 1) * 64 + 63, &pfn,
				   &within));
	ck_assert_uint_eq(pfn, 301 * PER_SECTION - 1);
	ck_assert_uint_eq(within, 63);
	ck_assert(!pdet_memmap_find(&map->m, VMEMMAP, &pfn, &within));
	ck_assert(!pdet_memmap_find(&map->m, VMEMMAP + 4 * PER_SECTION * 64,
				    &pfn, &within));
	ck_assert(!pdet_memmap_find(&map->m, 0, &pfn, &within));
	ck_assert(!pdet_memmap_find(&map->m, UINT64_MAX, &pfn, &within));
	map_free(map);
	/* Each section has its own map. */
	map = map_new("");
	section(map, 0, VMEMMAP | ONLINE_MAP, 0);
	section(map, 1, (other - PER_SECTION * 64) | ONLINE_MAP, 0);
	section(map, 2, VMEMMAP | ONLINE_MAP, 0);
	ck_assert_int_eq(map_read(map), 0);
	ck_assert(!pdet_memmap_base(&map->m, &base));
	ck_assert(pdet_memmap_find(&map->m, other + 65, &pfn, &within));
	ck_assert(pfn == PER_SECTION + 1 && within == 1);
	ck_assert(pdet_memmap_find(&map->m, VMEMMAP + 2 * PER_SECTION * 64,
				   &pfn, &within));
	ck_assert_uint_eq(pfn, 2 * PER_SECTION);
	ck_assert(!pdet_memmap_find(&map->m, VMEMMAP + PER_SECTION * 64, &pfn,
				    &within));
	map_free(map);
}
END_TEST

START_TEST(damage)
{
	struct map *map = map_new("SYMBOL(vmemmap)=ffffea0000000000\n");
	int error = 0;

	section(map, 0, VMEMMAP | ONLINE_MAP, 0);
	section(map, 1, 0x4141414141414007, 0);
	section(map, 256, VMEMMAP | ONLINE_MAP, 0);
	section(map, 512, VMEMMAP | ONLINE_MAP, 0);
	kmem_fail(map->k, map->root[1], -ENODATA);
	kmem_u64(map->k, ROOTS + 3 * 8, 0xdead000000000100);
	ck_assert_int_eq(map_read(map), 0);
	ck_assert_uint_eq(pdet_memmap_page(&map->m, 4), VMEMMAP + 256);
	ck_assert_uint_ne(pdet_memmap_page(&map->m, 512 * PER_SECTION), 0);
	ck_assert_int_eq(pdet_memmap_is(&map->m, PER_SECTION, &error),
			 PDET_MEMMAP_LOST);
	ck_assert_int_eq(error, -EBADMSG);
	ck_assert_int_eq(pdet_memmap_is(&map->m, 300 * PER_SECTION, &error),
			 PDET_MEMMAP_LOST);
	ck_assert_int_eq(error, -ENODATA);
	ck_assert_int_eq(pdet_memmap_is(&map->m, 800 * PER_SECTION, &error),
			 PDET_MEMMAP_LOST);
	ck_assert_int_eq(error, -EBADMSG);
	map_free(map);
}
END_TEST

START_TEST(nothing)
{
	struct map *map = map_new("");

	/* No section has memory. */
	ck_assert_int_lt(map_read(map), 0);
	ck_assert_ptr_nonnull(strstr(map->k->env.error, "memory map"));
	map_free(map);
	map = map_new("SIZE(mem_section)=24\n");
	ck_assert_int_eq(map_read(map), -ENODATA);
	map_free(map);
	map = map_new("SYMBOL(mem_section)=0\nNUMBER(SECTION_SIZE_BITS)=11\n");
	ck_assert_int_eq(map_read(map), -ENODATA);
	map_free(map);
	/* A section of 128 TiB: a damaged digit. */
	map = map_new("NUMBER(SECTION_SIZE_BITS)=47\n");
	section(map, 0, VMEMMAP | ONLINE_MAP, 0);
	ck_assert_int_eq(map_read(map), -ENODATA);
	map_free(map);
}
END_TEST

START_TEST(parts)
{
	struct map *map = map_new("SYMBOL(vmemmap)=ffffea0000000000\n");
	struct pdet_layout l;
	uint64_t usage;
	int error;

	usage = kmem_object(map->k, 64);
	/* 2 MiB each: the first and the last one. */
	kmem_u64(map->k, usage + 16, 1ull | 1ull << 63);
	section(map, 0, VMEMMAP | ONLINE_MAP, usage);
	section(map, 1, VMEMMAP | ONLINE_MAP, 0xdead000000000100);
	ck_assert_int_eq(map_read(map), 0);
	memset(&l, -1, sizeof(l));
	ck_assert_int_eq(pdet_memmap_add_types(&map->m, &map->k->env,
					       &map->k->space, &l), 0);
	ck_assert_int_eq(pdet_memmap_is(&map->m, 512, &error),
			 PDET_MEMMAP_USED);
	l.member[PDET_MEMBER_SECTION_USAGE] = 8;
	l.member[PDET_MEMBER_USAGE_SUBSECTIONS] = 16;
	ck_assert_int_eq(pdet_memmap_add_types(&map->m, &map->k->env,
					       &map->k->space, &l), 0);
	ck_assert_int_eq(pdet_memmap_is(&map->m, 511, &error),
			 PDET_MEMMAP_USED);
	ck_assert_int_eq(pdet_memmap_is(&map->m, 512, &error),
			 PDET_MEMMAP_UNUSED);
	ck_assert_int_eq(pdet_memmap_is(&map->m, 63 * 512, &error),
			 PDET_MEMMAP_USED);
	/* An unreadable bitmap excludes nothing. */
	ck_assert_int_eq(pdet_memmap_is(&map->m, PER_SECTION + 512, &error),
			 PDET_MEMMAP_USED);
	map_free(map);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("memmap");

	unit_test(s, frames);
	unit_test(s, own_maps);
	unit_test(s, found_by_any_byte);
	unit_test(s, damage);
	unit_test(s, nothing);
	unit_test(s, parts);
	return unit_main(s);
}
