/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Areas of the kernel's address space: an address is in the right one, with and
 * without what each kernel version exports.
 */
#include "kernel/address/areas.h"
#include "kernel/address/kernel_entry.h"
#include "pagedet.h"
#include "../../tables.h"

#define PTE(name) PAGEDET_PTE(PAGEDET_PTE_##name)

/* Symbols of Debian 12's kernels. VMALLOC_START was exported later. */
#define X86_COMMON "SYMBOL(_stext)=ffffffffbc400000\n" \
	"NUMBER(KERNEL_IMAGE_SIZE)=1073741824\n"
#define X86_START "NUMBER(VMALLOC_START)=0xffffcd1a00000000\n"
#define ARM64_INFO "SYMBOL(_stext)=ffffc838f4c10000\n" \
	"NUMBER(MODULES_VADDR)=0xffff800000000000\n" \
	"NUMBER(MODULES_END)=0xffff800080000000\n" \
	"NUMBER(VMALLOC_START)=0xffff800080000000\n" \
	"NUMBER(VMALLOC_END)=0xfffffdffbf800000\n"

#define X86_DIRECT 0xffff8a2200000000ull
#define X86_MAP 0xfffff261c0000000ull

static const struct pdet_areas_facts x86_facts = {
	.end = 0x10000000, .memmap = X86_MAP,
	.memmap_end = X86_MAP + (1ull << 40),
};

static void init(struct pdet_areas *a, const struct pdet_paging *p,
		 const char *text, const uint64_t *direct,
		 const struct pdet_areas_facts *facts)
{
	struct pdet_vmcoreinfo info;

	ck_assert(pdet_vmcoreinfo_parse(&info, text, strlen(text)));
	pdet_areas_init(a, p, &info, direct, facts);
	pdet_vmcoreinfo_free(&info);
}

static const char *name_of(const struct pdet_areas *a, uint64_t va)
{
	const struct pdet_area *area =
		pdet_areas_find(a, pdet_areas_canonical(a, va));

	return area ? area->name : "?";
}

START_TEST(x86)
{
	static const struct { uint64_t va; const char *name; } where[] = {
		{ 0, "[user half]" }, { 0x00007fffffffffff, "[user half]" },
		{ 0x0000800000000000, "[not canonical]" },
		{ 0x8000000000000000, "[not canonical]" },
		{ 0xffff7fffffffffff, "[not canonical]" },
		{ 0xffff800000000000, "?" },
		{ X86_DIRECT - 1, "?" }, { X86_DIRECT, "[direct map]" },
		{ X86_DIRECT + 0xfffffff, "[direct map]" },
		{ X86_DIRECT + 0x10000000, "?" },
		{ 0xffffcd1a00000000, "[vmalloc]" },
		{ 0xffffcd1a00000000 + (32ull << 40) - 1, "[vmalloc]" },
		{ X86_MAP, "[vmemmap]" },
		{ 0xfffffe0000001000, "[cpu entry area]" },
		{ 0xffffff0000000000, "[espfix]" },
		{ 0xffffffef00000000, "[EFI]" },
		{ 0xffffffff80000000, "[kernel image]" },
		{ 0xffffffffbfffffff, "[kernel image]" },
		{ 0xffffffffc0000000, "[modules]" },
		{ 0xfffffffffeffffff, "[modules]" },
		{ 0xffffffffff000000, "[fixmap]" },
		{ 0xffffffffff600000, "[vsyscall]" },
		{ 0xffffffffff601000, "[fixmap]" },
		{ -(uint64_t)4096, "[fixmap]" },
		{ -(uint64_t)4095, "[error pointer]" },
		{ UINT64_MAX, "[error pointer]" },
	};
	const struct pdet_paging p = tables_x86(4);
	const uint64_t direct = X86_DIRECT;
	struct pdet_areas a;
	size_t i;

	init(&a, &p, X86_COMMON X86_START, &direct, &x86_facts);
	for (i = 0; i < PDET_COUNT(where); i++)
		ck_assert_msg(!strcmp(name_of(&a, where[i].va), where[i].name),
			      "%#llx: %s", (unsigned long long)where[i].va,
			      name_of(&a, where[i].va));
	ck_assert(pdet_areas_find(&a, 0xffffcd1a00000000)->pieces);
	ck_assert(pdet_areas_find(&a, 0xffffffffc0000000)->pieces);
	ck_assert(!pdet_areas_find(&a, X86_MAP)->pieces);
	ck_assert(!pdet_areas_is_kernel(&a, 0xffff7fffffffffff));
	ck_assert(pdet_areas_is_kernel(&a, 0xffff800000000000));
}
END_TEST

/*
 * A kernel that does not export the start of vmalloc: from a variable, or
 * between its neighbours.
 */
START_TEST(x86_vmalloc)
{
	const struct pdet_paging p = tables_x86(4);
	struct pdet_areas_facts facts = x86_facts;
	const uint64_t direct = X86_DIRECT;
	struct pdet_areas a;

	init(&a, &p, X86_COMMON, &direct, &facts);
	ck_assert_str_eq(name_of(&a, 0xffffcd1a00000000), "[vmalloc]");
	ck_assert(pdet_areas_find(&a, 0xffffcd1a00000000)->vague);
	ck_assert_uint_eq(pdet_areas_map(&a, 0xffffcd1a00005000, 0x5000),
			  PAGEDET_MAP_VMALLOC);
	facts.vmalloc = 0xffffcd1a00000000;
	init(&a, &p, X86_COMMON, &direct, &facts);
	ck_assert(!pdet_areas_find(&a, 0xffffcd1a00000000)->vague);
	ck_assert_str_eq(name_of(&a, 0xffffcd19fffff000), "?");
	/* Five levels have far more. */
	const struct pdet_paging five = tables_x86(5);

	facts.vmalloc = 0xffa0000000000000;
	facts.memmap = 0;
	init(&a, &five, X86_COMMON, NULL, &facts);
	ck_assert_str_eq(name_of(&a, 0xffa0000000000000 + (100ull << 40)),
			 "[vmalloc]");
	ck_assert_str_eq(name_of(&a, 0x00ff000000000000), "[user half]");
	ck_assert_str_eq(name_of(&a, 0xfeff000000000000), "[not canonical]");
}
END_TEST

/* The kind of each area. */
START_TEST(kinds)
{
	const struct pdet_paging p = tables_x86(4);
	const uint64_t direct = X86_DIRECT;
	const uint64_t text = 0xffffffffbc400000;
	struct pdet_areas a;

	init(&a, &p, X86_COMMON X86_START, &direct, &x86_facts);
	ck_assert_uint_eq(pdet_areas_map(&a, X86_DIRECT + 0x5000, 0x5000),
			  PAGEDET_MAP_DIRECT);
	/* Another page there is not a direct mapping. */
	ck_assert_uint_eq(pdet_areas_map(&a, X86_DIRECT + 0x5000, 0x6000),
			  PAGEDET_MAP_OTHER);
	ck_assert_uint_eq(pdet_areas_map(&a, 0xffffcd1a00005000, 0x5000),
			  PAGEDET_MAP_VMALLOC);
	ck_assert_uint_eq(pdet_areas_map(&a, X86_MAP, 0x5000),
			  PAGEDET_MAP_OTHER);
	ck_assert_uint_eq(pdet_areas_map(&a, text, text - p.kernel_offset),
			  PAGEDET_MAP_OTHER);
	ck_assert_uint_eq(pdet_areas_map(&a, 0xffff880000000000, 0x5000),
			  PAGEDET_MAP_OTHER);
	/*
	 * Without the direct map, an address outside of all areas is not known.
	 */
	init(&a, &p, X86_COMMON X86_START, NULL, &x86_facts);
	ck_assert_uint_eq(pdet_areas_map(&a, X86_DIRECT + 0x5000, 0x5000), 0);
	ck_assert_uint_eq(pdet_areas_map(&a, 0xffffcd1a00005000, 0x5000),
			  PAGEDET_MAP_VMALLOC);
}
END_TEST

START_TEST(arm64)
{
	const struct pdet_paging p = tables_arm64(4096, 48, 16);
	/* The direct map does not begin with frame 0. */
	const uint64_t direct = 0xffff4cbf00000000ull - 0x40000000;
	const struct pdet_areas_facts facts = {
		.end = 0x60000000, .memmap = 0xffffff32bd000000,
		.memmap_end = 0xffffffffc0000000,
	};
	const uint64_t text = 0xffffc838f4c10000;
	struct pdet_areas a;

	init(&a, &p, ARM64_INFO, &direct, &facts);
	ck_assert_str_eq(name_of(&a, 0x0000ffffffffffff), "[user half]");
	ck_assert_str_eq(name_of(&a, 0x0001000000000000), "[not canonical]");
	ck_assert_str_eq(name_of(&a, 0xffff000000000000), "[direct map]");
	ck_assert_str_eq(name_of(&a, 0xffff7fffffffffff), "[direct map]");
	ck_assert_str_eq(name_of(&a, 0xffff800000000000), "[modules]");
	ck_assert_str_eq(name_of(&a, 0xffff800080000000), "[vmalloc]");
	ck_assert_str_eq(name_of(&a, text), "[vmalloc]");
	ck_assert_str_eq(name_of(&a, 0xffffff32bd000000), "[vmemmap]");
	/* A tag, which hardware ignores. */
	ck_assert_str_eq(name_of(&a, 0xf0ff4cbf00001000), "[direct map]");
	ck_assert_str_eq(name_of(&a, 0x3400ffffffffffff), "[user half]");
	/* The image is within the vmalloc area. */
	ck_assert_ptr_eq(pdet_areas_of(&a, text, text - p.kernel_offset),
			 &a.image);
	ck_assert_uint_eq(pdet_areas_map(&a, text, text - p.kernel_offset),
			  PAGEDET_MAP_OTHER);
	ck_assert_uint_eq(pdet_areas_map(&a, text, 0x40001000),
			  PAGEDET_MAP_VMALLOC);
	ck_assert_uint_eq(pdet_areas_map(&a, direct + 0x40001000, 0x40001000),
			  PAGEDET_MAP_DIRECT);
}
END_TEST

/*
 * Entries of Debian 12's kernels: text, rodata and data, the same on arm64, and
 * a page that was removed from the direct map.
 */
START_TEST(entries)
{
	static const struct {
		uint16_t machine;
		uint64_t entry;
		uint32_t pte;
	} e[] = {
		{ EM_X86_64, 0x00000000074001a1,
		  PTE(PRESENT) | PTE(YOUNG) | PTE(EXEC) },
		{ EM_X86_64, 0x80000000084001a1, PTE(PRESENT) | PTE(YOUNG) },
		{ EM_X86_64, 0x80000000090001e3, PTE(PRESENT) | PTE(YOUNG) |
		  PTE(DIRTY) | PTE(WRITE) },
		{ EM_X86_64, 0x800ffffff5dff160, PTE(YOUNG) | PTE(DIRTY) },
		{ EM_AARCH64, 0x00d0000040210f83,
		  PTE(PRESENT) | PTE(YOUNG) | PTE(DIRTY) | PTE(EXEC) },
		{ EM_AARCH64, 0x00e0000040ff0f83,
		  PTE(PRESENT) | PTE(YOUNG) | PTE(DIRTY) },
		{ EM_AARCH64, 0x00f8000042090f03, PTE(PRESENT) | PTE(YOUNG) |
		  PTE(DIRTY) | PTE(WRITE) },
		{ EM_AARCH64, 0x00f8000042090f02, PTE(YOUNG) | PTE(DIRTY) |
		  PTE(WRITE) },
	};
	const struct pdet_paging_arch arch = { .machine = e[_i].machine };
	const struct pdet_paging p = { .arch = &arch };

	ck_assert_uint_eq(pdet_kernel_entry(&p, e[_i].entry), e[_i].pte);
	ck_assert(!(e[_i].pte & ~pdet_kernel_entry_known(true)));
	ck_assert(!(pdet_kernel_entry_known(true) & PTE(FILE)));
	ck_assert(pdet_kernel_entry_known(false) & PTE(FILE));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("areas");

	unit_test(s, x86);
	unit_test(s, x86_vmalloc);
	unit_test(s, kinds);
	unit_test(s, arm64);
	unit_loop(s, entries, 8);
	return unit_main(s);
}
