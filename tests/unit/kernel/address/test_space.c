/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests reads at kernel addresses: every byte comes from its own page. */
#include "kernel/address/space.h"
#include "../../tables.h"

#define AREA 0xffffc90000000000ull

struct kernel {
	struct physical *m;
	struct pdet_paging p;
	struct pdet_space *space;
};

static struct kernel kernel_of(struct pdet_paging p)
{
	struct kernel k = { physical_new(p.page_shift), p,
			    malloc(sizeof(*k.space)) };

	ck_assert_ptr_nonnull(k.space);
	/* Earlier contents must not matter. */
	memset(k.space, 0x5a, sizeof(*k.space));
	return k;
}

static void kernel_init(struct kernel *k)
{
	pdet_space_init(k->space, &k->m->reader, &k->p);
}

static void kernel_free(struct kernel *k)
{
	physical_free(k->m);
	free(k->space);
}

static void map(struct kernel *k, uint64_t va, uint64_t addr, unsigned level)
{
	tables_map(k->m, &k->p, k->p.root, va, level,
		   tables_page(&k->p, addr, level));
}

/* Bytes that encode their address. */
static uint64_t mark(uint64_t addr)
{
	return addr * 0x2545f4914f6cdd1d;
}

static void fill(struct kernel *k, uint64_t addr)
{
	const uint64_t size = 1ull << k->p.page_shift;
	uint64_t at;

	for (at = 0; at < size; at += 8)
		physical_set(k->m, addr + at, 0, mark(addr + at));
}

START_TEST(across_pages)
{
	struct kernel k = kernel_of(tables_x86(4 + (unsigned)_i));
	const uint64_t frames[] = { 0x700000, 0x40000000, 0x123456000 };
	unsigned char got[3 * 4096], want[3 * 4096];
	uint64_t addr, len;
	uint32_t u32;
	unsigned i, n;

	for (i = 0; i < 3; i++) {
		map(&k, AREA + i * 4096, frames[i], 0);
		fill(&k, frames[i]);
		memcpy(want + i * 4096, physical_at(k.m, frames[i]), 4096);
	}
	kernel_init(&k);
	for (i = 0; i < 3 * 4096; i += 61)
		for (n = 1; n <= 3 * 4096 - i; n = n * 3 + 1) {
			memset(got, 0, sizeof(got));
			ck_assert_int_eq(pdet_space_read(k.space, AREA + i,
							 got, n), 0);
			ck_assert_mem_eq(got, want + i, n);
		}
	ck_assert_int_eq(pdet_space_read(k.space, AREA, got, 0), 0);
	/* A read must not pass the end of the mapping. */
	ck_assert_int_eq(pdet_space_read(k.space, AREA + 1, got, 3 * 4096),
			 -ENOENT);
	ck_assert_int_eq(pdet_space_read(k.space, AREA - 1, got, 2), -ENOENT);
	ck_assert_int_eq(pdet_space_phys(k.space, AREA + 4096 + 5, &addr,
					 &len), 0);
	ck_assert_uint_eq(addr, frames[1] + 5);
	ck_assert_uint_eq(len, 4096 - 5);
	/* A number across two pages. */
	ck_assert_int_eq(pdet_space_u32(k.space, AREA + 4094, &u32), 0);
	ck_assert_mem_eq(&u32, want + 4094, 4);
	kernel_free(&k);
}
END_TEST

START_TEST(huge_pages)
{
	struct kernel k = kernel_of(tables_x86(4));
	const uint64_t g = 1ull << 30, m2 = 1 << 21;
	uint64_t addr, len, word, i;

	/* 1 GiB, 2 MiB and 4 KiB pages with distant frames. */
	map(&k, AREA, 8 * g, 2);
	map(&k, AREA + g, 64 * g, 1);
	map(&k, AREA + g + m2, 5 << 12, 0);
	fill(&k, 9 * g - 4096);
	fill(&k, 64 * g);
	fill(&k, 64 * g + m2 - 4096);
	fill(&k, 5 << 12);
	kernel_init(&k);
	/* The second time from the cache. */
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(pdet_space_u64(k.space, AREA + g - 8, &word),
				 0);
		ck_assert_uint_eq(word, mark(9 * g - 8));
		ck_assert_int_eq(pdet_space_u64(k.space, AREA + g, &word), 0);
		ck_assert_uint_eq(word, mark(64 * g));
		ck_assert_int_eq(pdet_space_u64(k.space, AREA + g + m2 - 8,
						&word), 0);
		ck_assert_uint_eq(word, mark(64 * g + m2 - 8));
		ck_assert_int_eq(pdet_space_u64(k.space, AREA + g + m2, &word),
				 0);
		ck_assert_uint_eq(word, mark(5 << 12));
		ck_assert_int_eq(pdet_space_u64(k.space, AREA + g + m2 + 4096,
						&word), -ENOENT);
		ck_assert_int_eq(pdet_space_phys(k.space, AREA + 3 * m2 + 7,
						 &addr, &len), 0);
		ck_assert_uint_eq(addr, 8 * g + 3 * m2 + 7);
		ck_assert_uint_eq(len, g - 3 * m2 - 7);
	}
	/* across all three */
	ck_assert_int_eq(pdet_space_read(k.space, AREA + g - 4, &word, 8), 0);
	ck_assert_uint_eq(word >> 32, mark(64 * g) & 0xffffffff);
	ck_assert_uint_eq(word & 0xffffffff, mark(9 * g - 8) >> 32);
	kernel_free(&k);
}
END_TEST

START_TEST(pages_of_arm64)
{
	static const unsigned sizes[] = { 4096, 16384, 65536 };
	struct kernel k = kernel_of(tables_arm64(sizes[_i], 48, 16));
	const uint64_t area = 0xffff800000000000, size = sizes[_i];
	const uint64_t block = 1ull << pdet_paging_shift(&k.p, 1);
	uint64_t word, i;

	for (i = 0; i < 8; i++) {
		map(&k, area + i * size, (100 - i) * size, 0);
		fill(&k, (100 - i) * size);
	}
	map(&k, area + block, 7 * block, 1);
	fill(&k, 8 * block - size);
	kernel_init(&k);
	for (i = 0; i < 8 * size; i += 1000 * 8) {
		ck_assert_int_eq(pdet_space_u64(k.space, area + i, &word), 0);
		ck_assert_uint_eq(word, mark((100 - i / size) * size +
					     i % size));
	}
	ck_assert_int_eq(pdet_space_u64(k.space, area + 2 * block - 8, &word),
			 0);
	ck_assert_uint_eq(word, mark(8 * block - 8));
	/* The user half has another root. */
	ck_assert_int_eq(pdet_space_u64(k.space, area & 0xffffffffffff, &word),
			 -ENOENT);
	kernel_free(&k);
}
END_TEST

START_TEST(failures_are_those_of_the_memory)
{
	struct kernel k = kernel_of(tables_x86(4));
	uint64_t word;
	char text[64];

	map(&k, AREA, 0x700000, 0);
	map(&k, AREA + 4096, 0x800000, 0);
	map(&k, AREA + 8192, 0x900000, 0);
	/* An entry that is not a page. */
	tables_map(k.m, &k.p, k.p.root, AREA + 12288, 0, ~0ull << 9);
	tables_map(k.m, &k.p, k.p.root, AREA + (1ull << 39), 3,
		   X86_HUGE | X86_TABLE);
	fill(&k, 0x700000);
	physical_fail(k.m, 0x800000, -ENODATA);
	kernel_init(&k);
	ck_assert_int_eq(pdet_space_u64(k.space, AREA + 4088, &word), 0);
	ck_assert_int_eq(pdet_space_u64(k.space, AREA + 4092, &word),
			 -ENODATA);
	ck_assert_int_eq(pdet_space_text(k.space, AREA + 4096, text, 8),
			 -ENODATA);
	ck_assert_int_eq(pdet_space_u64(k.space, AREA + 8192, &word), -ENOENT);
	ck_assert_int_eq(pdet_space_u64(k.space, AREA + 12288, &word),
			 -ENOENT);
	ck_assert_int_eq(pdet_space_u64(k.space, AREA + (1ull << 39), &word),
			 -EBADMSG);
	/* Invalid addresses, and past the last one. */
	ck_assert_int_eq(pdet_space_u64(k.space, 0xdead000000000100, &word),
			 -ENOENT);
	ck_assert_int_eq(pdet_space_u64(k.space, -4ull, &word), -ENOENT);
	kernel_free(&k);
}
END_TEST

/* --- what is remembered --- */

#define M2 (1ull << 21)
#define SLOTS 64		/* of 2 MiB, in each of four areas */

static const uint64_t areas[] = {
	AREA, 0xffff888000000000, 0xffffffff80000000, 0xffffea0000000000,
};

static uint64_t some_address(uint64_t *seed)
{
	const uint64_t any = unit_random(seed);

	return areas[any % 4] + (any >> 8) % (SLOTS * M2);
}

/* The address tells where its page is: huge, small, or a hole. */
static bool must_be(uint64_t va, uint64_t *addr, uint64_t *size)
{
	const uint64_t huge = mark(va / M2) >> 20, small = mark(va >> 12);

	*size = huge % 3 ? 4096 : M2;
	*addr = ((huge % 3 ? small : huge) & 0xfffffffffff) & -*size;
	return huge % 3 == 0 || (huge % 3 == 1 && (small >> 40) % 4);
}

START_TEST(what_is_remembered_is_no_other_page)
{
	struct kernel k = kernel_of(tables_x86(4));
	uint64_t seed = 0x9e3779b97f4a7c15, va = 0, addr, len, want, size, i;
	unsigned found = 0;

	for (i = 0; i < 4 * SLOTS * 512; i++) {
		va = areas[i / (SLOTS * 512)] + (i % (SLOTS * 512) << 12);
		if (must_be(va, &want, &size) && va % size == 0)
			map(&k, va, want, size == M2);
	}
	kernel_init(&k);
	for (i = 0; i < 300000; i++) {
		/* Often near the previous one. */
		va = i % 4 ? (va & -M2) + unit_random(&seed) % M2 :
			     some_address(&seed);
		if (!must_be(va, &want, &size)) {
			if (pdet_space_phys(k.space, va, &addr, &len) !=
			    -ENOENT)
				ck_abort_msg("%#llx is a hole",
					     (unsigned long long)va);
			continue;
		}
		found++;
		if (pdet_space_phys(k.space, va, &addr, &len) ||
		    addr != want + va % size || len != size - va % size)
			ck_abort_msg("%#llx is at %#llx, not %#llx",
				     (unsigned long long)va,
				     (unsigned long long)addr,
				     (unsigned long long)(want + va % size));
	}
	ck_assert_uint_gt(found, 100000);
	/* It is cached: tables are not read each time. */
	k.m->reads = 0;
	for (i = 0; i < 1000; i++)
		pdet_space_phys(k.space, va, &addr, &len);
	ck_assert_uint_le(k.m->reads, 4000);
	kernel_free(&k);
}
END_TEST

START_TEST(one_page_is_translated_once)
{
	struct kernel k = kernel_of(tables_x86(4));
	uint64_t word, i;

	map(&k, AREA, 0x700000, 0);
	map(&k, AREA + (1 << 30), 0x40000000, 1);
	fill(&k, 0x700000);
	fill(&k, 0x40000000);
	kernel_init(&k);
	ck_assert_int_eq(pdet_space_u64(k.space, AREA, &word), 0);
	ck_assert_int_eq(pdet_space_u64(k.space, AREA + (1 << 30), &word), 0);
	k.m->reads = 0;
	for (i = 0; i < 512; i++) {
		ck_assert_int_eq(pdet_space_u64(k.space, AREA + i * 8, &word),
				 0);
		ck_assert_uint_eq(word, mark(0x700000 + i * 8));
		ck_assert_int_eq(pdet_space_u64(k.space, AREA + (1 << 30) +
						i * 8, &word), 0);
		ck_assert_uint_eq(word, mark(0x40000000 + i * 8));
	}
	ck_assert_uint_eq(k.m->reads, 1024);
	kernel_free(&k);
}
END_TEST

/* --- text --- */

START_TEST(text_ends_where_it_ends)
{
	struct kernel k = kernel_of(tables_x86(4));
	char *page, text[256], want[256];
	unsigned n, at;

	map(&k, AREA, 0x700000, 0);
	map(&k, AREA + 4096, 0x40000000, 0);
	page = physical_at(k.m, 0x700000);
	memset(page, 'x', 4096);
	physical_at(k.m, 0x40000000);
	/* Up to the last existing byte; nothing behind is read. */
	map(&k, AREA + 4096, 0, 0);
	kernel_init(&k);
	for (n = 0; n < 200; n++) {
		page[4095] = '\0';
		memset(want, 'x', n);
		want[n] = '\0';
		memset(text, '?', sizeof(text));
		ck_assert_int_eq(pdet_space_text(k.space, AREA + 4095 - n,
						 text, sizeof(text)), n);
		ck_assert_str_eq(text, want);
	}
	/* Without an end, into an absent page. */
	page[4095] = 'x';
	ck_assert_int_eq(pdet_space_text(k.space, AREA + 4000, text,
					 sizeof(text)), -ENOENT);
	/* But only as much as there is room for. */
	for (n = 1; n < 97; n++) {
		char *exact = malloc(n);

		ck_assert_int_eq(pdet_space_text(k.space, AREA + 4000, exact,
						 n), n - 1);
		ck_assert_uint_eq(strlen(exact), n - 1);
		free(exact);
	}
	/* Across pages that are not neighbours. */
	map(&k, AREA + 4096, 0x40000000, 0);
	kernel_init(&k);
	for (at = 0; at < 130; at++) {
		physical_write(k.m, 0x40000000, "yyyyy", at % 6 + 1);
		*physical_at(k.m, 0x40000000 + at % 6) = '\0';
		ck_assert_int_eq(pdet_space_text(k.space, AREA + 4096 - at,
						 text, sizeof(text)),
				 at + at % 6);
		memset(want, 'x', at);
		memset(want + at, 'y', at % 6);
		want[at + at % 6] = '\0';
		ck_assert_str_eq(text, want);
	}
	kernel_free(&k);
}
END_TEST

/* --- a provider that knows addresses itself --- */

static int read_kvirt(struct pdet_reader *r, uint64_t addr, void *buf,
		      size_t n)
{
	unsigned char *to = buf;
	size_t i;

	(void)r;
	for (i = 0; i < n; i++, addr++) {
		if (addr >= AREA + 5000)
			return -EACCES;
		to[i] = (unsigned char)mark(addr);
	}
	return 0;
}

START_TEST(a_provider_of_virtual_addresses_is_asked)
{
	static const struct pdet_memory_ops ops = {
		.name = "virtual",
		.read_kvirt = read_kvirt,
	};
	struct pdet_memory memory = { .ops = &ops };
	struct pdet_reader reader = { .memory = &memory };
	struct pdet_space *space = malloc(sizeof(*space));
	unsigned char got[300], want[300];
	char text[300];
	size_t i;

	ck_assert_ptr_nonnull(space);
	for (i = 0; i < sizeof(want); i++)
		want[i] = (unsigned char)mark(AREA + 4700 + i);
	/* Page tables are optional. */
	pdet_space_init(space, &reader, NULL);
	ck_assert_int_eq(pdet_space_read(space, AREA + 4700, got, 300), 0);
	ck_assert_mem_eq(got, want, 300);
	ck_assert_int_eq(pdet_space_read(space, AREA + 4701, got, 300),
			 -EACCES);
	/* Up to the first zero byte, and not into unreadable memory. */
	ck_assert_ptr_null(memchr(want, 0, 1));
	i = (size_t)pdet_space_text(space, AREA + 4700, text, 200);
	ck_assert_uint_eq(i, strlen((char *)want) < 199 ?
			     strlen((char *)want) : 199);
	ck_assert_mem_eq(text, want, i);
	free(space);
}
END_TEST

static bool waits_no_more(void *arg)
{
	++*(unsigned *)arg;
	return true;
}

/* After a cancel all reads fail at once, until the next call. */
START_TEST(who_does_not_wait_gets_nothing)
{
	struct kernel k = kernel_of(tables_x86(4));
	unsigned asked = 0, reads;
	uint64_t value;
	int r = 0;

	map(&k, AREA, 0x700000, 0);
	fill(&k, 0x700000);
	kernel_init(&k);
	ck_assert_int_eq(pdet_space_u64(k.space, AREA, &value), 0);
	k.m->reader.stop.ask = waits_no_more;
	k.m->reader.stop.arg = &asked;
	for (reads = 0; reads < 2 * PDET_STOP_STEPS && !r; reads++)
		r = pdet_space_u64(k.space, AREA, &value);
	ck_assert_int_eq(r, -ETIMEDOUT);
	ck_assert_uint_le(reads, PDET_STOP_STEPS);
	ck_assert_uint_eq(asked, 1);
	ck_assert_int_eq(pdet_space_u64(k.space, AREA + 8, &value), -ETIMEDOUT);
	/* Untranslated addresses fail as well. */
	ck_assert_int_eq(pdet_space_u64(k.space, AREA + 4096, &value),
			 -ETIMEDOUT);
	k.m->reader.stop.stopped = false;
	ck_assert_int_eq(pdet_space_u64(k.space, AREA, &value), 0);
	kernel_free(&k);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("space");

	unit_loop(s, across_pages, 2);
	unit_test(s, huge_pages);
	unit_loop(s, pages_of_arm64, 3);
	unit_test(s, failures_are_those_of_the_memory);
	unit_test(s, what_is_remembered_is_no_other_page);
	unit_test(s, one_page_is_translated_once);
	unit_test(s, text_ends_where_it_ends);
	unit_test(s, a_provider_of_virtual_addresses_is_asked);
	unit_test(s, who_does_not_wait_gets_nothing);
	return unit_main(s);
}
