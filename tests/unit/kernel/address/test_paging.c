/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the meaning of page table entries, by architecture and page size. */
#include "../../tables.h"

#define USER 0x00007f0012345000ull

/* Translates @va with @entry in its table. */
static struct pdet_leaf leaf_of(const struct pdet_paging *p, uint64_t root,
				uint64_t va, unsigned level, uint64_t entry)
{
	struct physical *m = physical_new(p->page_shift);
	struct pdet_leaf leaf;

	m->next = 0x100000000;
	tables_map(m, p, root, va, level, entry);
	ck_assert_int_eq(pdet_paging_walk(&m->reader, p, root, va, &leaf), 0);
	ck_assert_uint_eq(leaf.level, level);
	ck_assert_uint_eq(leaf.entry, entry);
	ck_assert_uint_eq(leaf.size, 1ull << pdet_paging_shift(p, level));
	ck_assert_uint_eq(leaf.start, va & -leaf.size);
	physical_free(m);
	return leaf;
}

static int error_of(const struct pdet_paging *p, uint64_t root, uint64_t va,
		    unsigned level, uint64_t entry)
{
	struct physical *m = physical_new(p->page_shift);
	struct pdet_leaf leaf;
	int r;

	tables_map(m, p, root, va, level, entry);
	r = pdet_paging_walk(&m->reader, p, root, va, &leaf);
	physical_free(m);
	return r;
}

static void ck_page(const struct pdet_paging *p, uint64_t root, uint64_t va,
		    unsigned level, uint64_t entry, uint64_t addr)
{
	struct pdet_leaf leaf = leaf_of(p, root, va, level, entry);

	ck_assert_msg(leaf.is == PDET_PT_PAGE && leaf.addr == addr,
		      "%#llx, level %u: %d %#llx, not %#llx",
		      (unsigned long long)entry, level, leaf.is,
		      (unsigned long long)leaf.addr, (unsigned long long)addr);
}

static void ck_other(const struct pdet_paging *p, uint64_t root, uint64_t va,
		     unsigned level, uint64_t entry)
{
	struct pdet_leaf leaf = leaf_of(p, root, va, level, entry);

	ck_assert_msg(leaf.is == PDET_PT_OTHER, "%#llx, level %u: %d",
		      (unsigned long long)entry, level, leaf.is);
}

/* --- setting up --- */

START_TEST(x86_geometry)
{
	struct pdet_paging p = tables_x86(4);

	ck_assert_uint_eq(p.levels, 4);
	ck_assert_uint_eq(p.va_bits, 48);
	ck_assert_uint_eq(p.page_shift, 12);
	ck_assert_uint_eq(p.root, 0x1200000);
	ck_assert_uint_eq(0xffffffff81000000 - p.kernel_offset, 0x2000000);
	p = tables_x86(5);
	ck_assert_uint_eq(p.levels, 5);
	ck_assert_uint_eq(p.va_bits, 57);
	/* Kernels without five levels and encryption do not export it. */
	p = tables_of(EM_X86_64,
		      "SYMBOL(swapper_pg_dir)=ffffffffb0c10000\n"
		      "NUMBER(phys_base)=-318767104\n");
	ck_assert_uint_eq(p.levels, 4);
	ck_assert_uint_eq(p.root, 0x30c10000 - 318767104);
	ck_assert_uint_eq(p.address, 0x000ffffffffff000);
}
END_TEST

static const struct {
	unsigned page_size, va_bits, t1sz;
	unsigned levels, bits;	/* expected values */
	uint64_t highest;	/* highest physical page */
	unsigned blocks;	/* highest level with blocks */
} arm64s[] = {
	{ 4096, 39, 25, 3, 39, 0xfffffffff000, 2 },
	{ 4096, 39, 0, 3, 39, 0xfffffffff000, 2 },
	{ 4096, 48, 16, 4, 48, 0xfffffffff000, 2 },
	{ 4096, 52, 12, 5, 52, 0xffffffffff000, 2 },
	/* Built for 52 bits, on hardware with 48. */
	{ 4096, 52, 16, 4, 48, 0xfffffffff000, 2 },
	{ 16384, 36, 28, 2, 36, 0xffffffffc000, 1 },
	{ 16384, 47, 17, 3, 47, 0xffffffffc000, 1 },
	{ 16384, 48, 16, 4, 48, 0xffffffffc000, 1 },
	{ 16384, 52, 12, 4, 52, 0xfffffffffc000, 1 },
	{ 16384, 52, 17, 3, 47, 0xffffffffc000, 1 },
	{ 65536, 42, 22, 2, 42, 0xfffffffff0000, 1 },
	{ 65536, 48, 16, 3, 48, 0xfffffffff0000, 1 },
	{ 65536, 52, 12, 3, 52, 0xfffffffff0000, 1 },
	/* The table has 1024 entries; hardware sees the last 64. */
	{ 65536, 52, 16, 3, 52, 0xfffffffff0000, 1 },
};

static struct pdet_paging arm64_of(int i)
{
	return tables_arm64(arm64s[i].page_size, arm64s[i].va_bits,
			    arm64s[i].t1sz);
}

START_TEST(arm64_geometry)
{
	struct pdet_paging p = arm64_of(_i);

	ck_assert_uint_eq(p.levels, arm64s[_i].levels);
	ck_assert_uint_eq(p.va_bits, arm64s[_i].bits);
	ck_assert_uint_eq(1u << p.page_shift, arm64s[_i].page_size);
	ck_assert_uint_eq(p.root, 0x10200000);
}
END_TEST

static const struct {
	uint16_t machine;
	const char *text;
	const char *words;
} refused[] = {
	{ EM_RISCV, "", "ELF machine 243" },
	{ EM_NONE, "", "ELF machine 0" },
	{ EM_X86_64, "NUMBER(phys_base)=0\n", "init_top_pgt" },
	{ EM_X86_64, "SYMBOL(init_top_pgt)=ffffffff80200000\n", "phys_base" },
	{ EM_AARCH64, "", "PAGESIZE" },
	{ EM_AARCH64, "PAGESIZE=x\n", "PAGESIZE" },
	{ EM_AARCH64, "PAGESIZE=4096\n", "swapper_pg_dir" },
	{ EM_AARCH64, "PAGESIZE=4096\nSYMBOL(swapper_pg_dir)=1\n",
	  "kimage_voffset" },
	{ EM_AARCH64, "PAGESIZE=4096\nSYMBOL(swapper_pg_dir)=1\n"
		      "NUMBER(kimage_voffset)=0x1\n", "VA_BITS" },
	{ EM_AARCH64, "PAGESIZE=8192\nSYMBOL(swapper_pg_dir)=1\n"
		      "NUMBER(kimage_voffset)=0x1\nNUMBER(VA_BITS)=48\n",
	  "pages of 8192 bytes" },
	{ EM_AARCH64, "PAGESIZE=4096\nSYMBOL(swapper_pg_dir)=1\n"
		      "NUMBER(kimage_voffset)=0x1\nNUMBER(VA_BITS)=48\n"
		      "NUMBER(TCR_EL1_T1SZ)=0x0\n", "64 bits of address" },
	{ EM_AARCH64, "PAGESIZE=65536\nSYMBOL(swapper_pg_dir)=1\n"
		      "NUMBER(kimage_voffset)=0x1\nNUMBER(VA_BITS)=16\n",
	  "16 bits of address" },
};

START_TEST(refused_with_words)
{
	static struct pdet_env env;
	struct pdet_paging p;

	ck_assert(!tables_set_up(&p, &env, refused[_i].machine,
				 refused[_i].text));
	ck_assert_msg(strstr(env.error, refused[_i].words), "\"%s\"",
		      env.error);
	ck_assert_int_eq(strncmp(env.error, "cannot ", 7), 0);
}
END_TEST

/* --- x86_64 --- */

#define NX (1ull << 63)
#define PROTECTION_KEY (15ull << 59)
#define SOFTWARE (0x7full << 52)
#define PAT_4K 0x80ull
#define PAT_HUGE 0x1000ull
#define GLOBAL 0x100ull
#define PROTNONE GLOBAL

START_TEST(x86_pages)
{
	const struct pdet_paging p = tables_x86(4 + (unsigned)_i);
	const uint64_t flags = NX | PROTECTION_KEY | SOFTWARE | GLOBAL |
			       X86_TABLE | 0x18 | 0xe00;
	const uint64_t kernel = 0xffffffff81234000;

	ck_page(&p, p.root, USER, 0, 0x123456000 | X86_TABLE, 0x123456000);
	ck_page(&p, p.root, kernel, 0, 0xffffffffff000 | flags | PAT_4K,
		0xffffffffff000);
	ck_page(&p, p.root, kernel, 1, 0xfffffffe00000 | flags | X86_HUGE |
		PAT_HUGE, 0xfffffffe00000);
	ck_page(&p, p.root, kernel, 2, 0xfffffc0000000 | flags | X86_HUGE |
		PAT_HUGE, 0xfffffc0000000);
	/* A present page is taken as it is, at any address. */
	ck_page(&p, p.root, kernel, 0, 0x8000000001000 | X86_PRESENT,
		0x8000000001000);
}
END_TEST

/* An entry that hardware ignores has an inverted address. */
static uint64_t x86_inverted(uint64_t addr, uint64_t size)
{
	return ~addr & 0x000ffffffffff000 & -size;
}

START_TEST(x86_pages_that_are_not_present)
{
	const struct pdet_paging p = tables_x86(4 + (unsigned)_i);
	const uint64_t sizes[] = { 1ull << 12, 1ull << 21, 1ull << 30 };
	unsigned level;

	for (level = 0; level < 3; level++) {
		const uint64_t size = sizes[level], addr = size * 5;
		const uint64_t huge = level ? X86_HUGE : 0;

		/* PROT_NONE, for all sizes. */
		ck_page(&p, p.root, USER, level, x86_inverted(addr, size) |
			huge | PROTNONE | 0x60 | NX, addr);
		/* The PAT bit of a huge page is below its address. */
		ck_page(&p, p.root, USER, level, x86_inverted(addr, size) |
			huge | PROTNONE | (level ? PAT_HUGE : PAT_4K), addr);
		ck_page(&p, p.root, USER, level, x86_inverted(0, size) | huge |
			PROTNONE, 0);
		/* KFENCE only cleared the present bit. */
		ck_page(&p, p.root, 0xffff888000000000 + addr, level, addr |
			huge | PROTNONE | 0x62 | NX, addr);
		/* During a split. */
		if (level)
			ck_page(&p, p.root, USER, level,
				x86_inverted(addr, size) | huge | 0x66, addr);
	}
}
END_TEST

/* arch/x86/include/asm/pgtable_64.h: __swp_entry() */
static uint64_t x86_swap(uint64_t type, uint64_t offset)
{
	return ~offset << 14 >> 5 | type << 59;
}

START_TEST(x86_what_is_no_page)
{
	const struct pdet_paging p = tables_x86(4 + (unsigned)_i);
	const uint64_t offsets[] = { 0, 1, 0x1234, (1ull << 36) - 1,
				     /* A frame, young and dirty. */
				     7ull << 39 | 5, (1ull << 50) - 1 };
	unsigned level, type, i;

	for (level = 0; level < 3; level++)
		for (type = 0; type < 32; type++)
			for (i = 0; i < 6; i++) {
				const uint64_t e = x86_swap(type, offsets[i]);

				/* Soft dirty, uffd-wp, exclusive. */
				ck_other(&p, p.root, USER, level, e | 0xe);
				if (e)
					ck_other(&p, p.root, USER, level, e);
			}
}
END_TEST

START_TEST(x86_encrypted)
{
	const unsigned bit = _i ? 51 : 47;
	const uint64_t mask = 1ull << bit;
	struct physical *m = physical_new(12);
	struct pdet_leaf leaf;
	struct pdet_paging p;
	char text[256];
	uint64_t table;

	snprintf(text, sizeof(text), "SYMBOL(init_top_pgt)=ffffffff80200000\n"
		 "NUMBER(phys_base)=0\nNUMBER(sme_mask)=%llu\n",
		 (unsigned long long)mask);
	p = tables_of(EM_X86_64, text);
	ck_page(&p, p.root, USER, 0, 0x5000 | X86_TABLE, 0x5000);
	ck_page(&p, p.root, USER, 0, 0x5000 | mask | X86_TABLE, 0x5000);
	ck_page(&p, p.root, USER, 1, 0x600000 | mask | X86_TABLE | X86_HUGE,
		0x600000);
	/* An inverted address does not contain the mask. */
	ck_page(&p, p.root, USER, 0, (x86_inverted(0x5000, 4096) & ~mask) |
		PROTNONE, 0x5000);
	ck_page(&p, p.root, USER, 0, x86_inverted(0x5000, 4096) | mask |
		PROTNONE, 0x5000);
	/* Tables are encrypted, too. */
	table = tables_map(m, &p, p.root, USER, 0, 0x7000 | mask | X86_TABLE);
	tables_map(m, &p, p.root, USER, 1, table | mask | X86_TABLE);
	ck_assert_int_eq(pdet_paging_walk(&m->reader, &p, p.root, USER, &leaf),
			 0);
	ck_assert_uint_eq(leaf.addr, 0x7000);
	physical_free(m);
}
END_TEST

START_TEST(x86_entries_that_are_none)
{
	const struct pdet_paging p = tables_x86(5);
	unsigned level;

	for (level = 3; level < 5; level++) {
		ck_assert_int_eq(error_of(&p, p.root, USER, level,
					  0x1000 | X86_TABLE | X86_HUGE),
				 -EBADMSG);
		ck_assert_int_eq(error_of(&p, p.root, USER, level,
					  x86_inverted(0x1000, 4096) |
						  PROTNONE), -EBADMSG);
		ck_assert_int_eq(error_of(&p, p.root, USER, level,
					  x86_swap(3, 4)), -EBADMSG);
	}
	/* Neither a table nor a huge page. */
	for (level = 1; level < 3; level++)
		ck_assert_int_eq(error_of(&p, p.root, USER, level,
					  x86_inverted(0x1000, 4096) |
						  PROTNONE), -EBADMSG);
}
END_TEST

/* --- arm64 --- */

#define NOT_GLOBAL (1ull << 11)
#define AF (1ull << 10)
#define RDONLY (1ull << 7)
#define AP_USER (1ull << 6)
#define CONT (1ull << 52)
#define PXN (1ull << 53)
#define UXN (1ull << 54)
#define ARM64_FLAGS (CONT | PXN | UXN | 0xfull << 55 | 1ull << 63 | \
		     1ull << 51 | 1ull << 50 | 0xfc | AF | NOT_GLOBAL)

/* The lowest and another address of the kernel's half. */
static uint64_t arm64_kernel(const struct pdet_paging *p, unsigned i)
{
	return -(1ull << p->va_bits) + (i ? 5ull << (p->va_bits - 4) |
					    3ull << p->page_shift : 0);
}

START_TEST(arm64_pages)
{
	const struct pdet_paging p = arm64_of(_i);
	const bool lpa2 = p.page_shift < 16 && p.va_bits > 48;
	/* Above 48 bits only if the other address bits are elsewhere. */
	const uint64_t flags = ARM64_FLAGS & (lpa2 ? ~0x300ull : ~0ull);
	const uint64_t user_root = 0x40000000;
	unsigned level, i;

	for (level = 0; level <= arm64s[_i].blocks && level < p.levels;
	     level++) {
		const uint64_t size = 1ull << pdet_paging_shift(&p, level);
		const uint64_t high = arm64s[_i].highest & -size;
		const uint64_t low = size * 3;

		for (i = 0; i < 2; i++) {
			const uint64_t va = arm64_kernel(&p, i);

			ck_page(&p, p.root, va, level,
				tables_page(&p, high, level) | flags, high);
			ck_page(&p, p.root, va, level,
				tables_page(&p, low, level), low);
			/* The same below the root of a process. */
			ck_page(&p, user_root, va & ((1ull << p.va_bits) - 1),
				level, tables_page(&p, low, level), low);
		}
	}
}
END_TEST

START_TEST(arm64_tables_beyond_48_bits)
{
	const struct pdet_paging p = arm64_of(_i);
	struct physical *m = physical_new(p.page_shift);
	const uint64_t va = arm64_kernel(&p, 1);
	struct pdet_leaf leaf;

	m->next = arm64s[_i].highest - (15ull << p.page_shift);
	tables_map(m, &p, p.root, va, 0, tables_page(&p, 7 << 16, 0));
	ck_assert_int_eq(pdet_paging_walk(&m->reader, &p, p.root, va, &leaf),
			 0);
	ck_assert_uint_eq(leaf.addr, 7 << 16);
	ck_assert_uint_eq(m->n, p.levels);
	physical_free(m);
}
END_TEST

/* _PAGE_DEFAULT without its type, then the bits of all user pages. */
#define ARM64_USER (AF | 0x300 | NOT_GLOBAL | PXN)
/* PAGE_NONE without the present bit, before 6.10 and since. */
#define ARM64_NONE (ARM64_USER | UXN | RDONLY | 2)
#define PROT_NONE_6_1 (1ull << 58)
#define SPLIT_6_1 (1ull << 59)

START_TEST(arm64_pages_that_are_not_valid)
{
	const struct pdet_paging p = arm64_of(_i);
	const bool lpa2 = p.page_shift < 16 && p.va_bits > 48;
	const uint64_t keep = lpa2 ? ~0x300ull : ~0ull;
	const uint64_t kinds[] = {
		ARM64_NONE | PROT_NONE_6_1,
		ARM64_NONE,
		/* uffd-wp, written, dirty, BTI */
		ARM64_NONE | 1ull << 58,
		ARM64_NONE | 1ull << 51 | 1ull << 55 | 1ull << 50,
		/* A huge page of each kind during a split. */
		(ARM64_USER & ~2ull) | SPLIT_6_1 | AP_USER | UXN,
		(ARM64_USER & ~2ull) | AP_USER | UXN,
		(ARM64_USER & ~2ull) | AP_USER,
		(ARM64_NONE & ~2ull) | SPLIT_6_1 | PROT_NONE_6_1,
	};
	const uint64_t root = 0x40000000;
	unsigned level, i;

	for (level = 0; level <= arm64s[_i].blocks && level < p.levels;
	     level++) {
		const uint64_t size = 1ull << pdet_paging_shift(&p, level);
		const uint64_t addr = arm64s[_i].highest & -size;

		for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			ck_page(&p, root, 5 << 16, level,
				tables_address(&p, addr) | (kinds[i] & keep),
				addr);
	}
}
END_TEST

static uint64_t swap_6_1(uint64_t type, uint64_t offset)
{
	return type << 3 | offset << 8;
}

static uint64_t swap_6_12(uint64_t type, uint64_t offset)
{
	return type << 6 | offset << 12;
}

START_TEST(arm64_what_is_no_page)
{
	const struct pdet_paging p = arm64_of(_i);
	/*
	 * The highest physical address, and the two flags of migration entries.
	 */
	const unsigned frame_bits = 52 - p.page_shift;
	const uint64_t offsets[] = {
		0, 1, 0x1234, 8, 0xfff, (1ull << 36) - 1,
		(1ull << frame_bits) - 1, (4ull << frame_bits) - 1,
		3ull << frame_bits | 9,
	};
	const unsigned n = sizeof(offsets) / sizeof(*offsets);
	unsigned level, type, i;

	for (level = 0; level <= arm64s[_i].blocks && level < p.levels;
	     level++)
		for (i = 0; i < n * 32; i++) {
			const uint64_t offset = offsets[i % n];

			type = i / n;
			/* Exclusive, and since 6.10 uffd-wp. */
			ck_other(&p, 0x40000000, 5 << 16, level,
				 swap_6_1(type, offset) | 4);
			ck_other(&p, 0x40000000, 5 << 16, level,
				 swap_6_12(type, offset) | 12);
			if (!type && !offset)
				continue;
			ck_other(&p, 0x40000000, 5 << 16, level,
				 swap_6_1(type, offset));
			ck_other(&p, 0x40000000, 5 << 16, level,
				 swap_6_12(type, offset));
		}
}
END_TEST

START_TEST(arm64_entries_that_are_none)
{
	const struct pdet_paging p = arm64_of(_i);
	unsigned level;

	/* A block in the lowest level. */
	ck_assert_int_eq(error_of(&p, p.root, -(1ull << p.page_shift), 0,
				  ARM64_BLOCK), -EBADMSG);
	for (level = arm64s[_i].blocks + 1; level < p.levels; level++) {
		const uint64_t bad[] = { ARM64_BLOCK, ARM64_NONE,
					 swap_6_1(3, 4), swap_6_12(3, 4) };
		unsigned i;

		for (i = 0; i < 4; i++)
			ck_assert_int_eq(error_of(&p, p.root,
						  -(1ull << p.page_shift),
						  level, bad[i]), -EBADMSG);
	}
}
END_TEST

/* --- addresses --- */

START_TEST(x86_addresses_that_are_none)
{
	const struct pdet_paging p = tables_x86(4 + (unsigned)_i);
	const uint64_t half = 1ull << (p.va_bits - 1);
	const uint64_t low[] = { 0, half - 1 }, high[] = { -half, -1ull };
	const uint64_t none[] = { half, -half - 1, 1ull << 63, half * 2,
				  0xdead000000000100, 0x0100000000000000,
				  0x6b6b6b6b6b6b6b6b };
	struct physical *m = physical_new(12);
	struct pdet_leaf leaf;
	unsigned i;

	/* Every address that is cut to its bits finds a page. */
	for (i = 0; i < 512; i++)
		tables_map(m, &p, p.root, (uint64_t)i <<
			   pdet_paging_shift(&p, p.levels - 1), 2,
			   0x40000000 | X86_TABLE | X86_HUGE);
	for (i = 0; i < 2; i++) {
		tables_map(m, &p, p.root, low[i], 0, 0x5000 | X86_TABLE);
		ck_assert_int_eq(pdet_paging_walk(&m->reader, &p, p.root,
						  low[i], &leaf), 0);
		tables_map(m, &p, p.root, high[i], 0, 0x6000 | X86_TABLE);
		ck_assert_int_eq(pdet_paging_walk(&m->reader, &p, p.root,
						  high[i], &leaf), 0);
	}
	for (i = 0; i < 7; i++)
		ck_assert_int_eq(pdet_paging_walk(&m->reader, &p, p.root,
						  none[i], &leaf), -ENOENT);
	physical_free(m);
}
END_TEST

START_TEST(arm64_each_half_has_a_root)
{
	const struct pdet_paging p = arm64_of(_i);
	const uint64_t root = 0x40000000, page = 1ull << p.page_shift;
	const uint64_t low = 3 * page, high = low | -(1ull << p.va_bits);
	struct physical *m = physical_new(p.page_shift);
	struct pdet_reader *r = &m->reader;
	struct pdet_leaf leaf;

	tables_map(m, &p, root, low, 0, tables_page(&p, 5 * page, 0));
	tables_map(m, &p, p.root, high, 0, tables_page(&p, 6 * page, 0));
	ck_assert_int_eq(pdet_paging_walk(r, &p, root, low, &leaf), 0);
	ck_assert_uint_eq(leaf.addr, 5 * page);
	ck_assert_int_eq(pdet_paging_walk(r, &p, p.root, high, &leaf), 0);
	ck_assert_uint_eq(leaf.addr, 6 * page);
	ck_assert_int_eq(pdet_paging_walk(r, &p, root, high, &leaf), -ENOENT);
	ck_assert_int_eq(pdet_paging_walk(r, &p, p.root, low, &leaf),
			 -ENOENT);
	/* A tag is not part of the address; another bit is. */
	ck_assert_int_eq(pdet_paging_walk(r, &p, root, low | 0xa5ull << 56,
					  &leaf), 0);
	ck_assert_uint_eq(leaf.start, low | 0xa5ull << 56);
	ck_assert_int_eq(pdet_paging_walk(r, &p, p.root,
					  high & ~(0xfull << 56), &leaf), 0);
	ck_assert_int_eq(pdet_paging_walk(r, &p, root, low | 1ull << 53,
					  &leaf), -ENOENT);
	ck_assert_int_eq(pdet_paging_walk(r, &p, p.root,
					  high & ~(1ull << 53), &leaf),
			 -ENOENT);
	physical_free(m);
}
END_TEST

int main(void)
{
	const int n = sizeof(arm64s) / sizeof(*arm64s);
	Suite *s = suite_create("paging");

	unit_test(s, x86_geometry);
	unit_loop(s, arm64_geometry, n);
	unit_loop(s, refused_with_words,
		  sizeof(refused) / sizeof(*refused));
	unit_loop(s, x86_pages, 2);
	unit_loop(s, x86_pages_that_are_not_present, 2);
	unit_loop(s, x86_what_is_no_page, 2);
	unit_loop(s, x86_encrypted, 2);
	unit_test(s, x86_entries_that_are_none);
	unit_loop(s, arm64_pages, n);
	unit_loop(s, arm64_tables_beyond_48_bits, n);
	unit_loop(s, arm64_pages_that_are_not_valid, n);
	unit_loop(s, arm64_what_is_no_page, n);
	unit_loop(s, arm64_entries_that_are_none, n);
	unit_loop(s, x86_addresses_that_are_none, 2);
	unit_loop(s, arm64_each_half_has_a_root, n);
	return unit_main(s);
}
