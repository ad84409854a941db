/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests .debug_frame: made by hand, right and damaged. */
#include "../unit.h"
#include "unwind/debug_frame.h"

#define BASE 0x7f0000000000ull

struct section {
	uint8_t bytes[2 * PDET_FRAME_PAIR];
	size_t n;
};

static void put(struct section *s, const void *from, size_t n)
{
	memcpy(s->bytes + s->n, from, n);
	s->n += n;
}

/* A CIE of a version, whose header goes on with @head. */
static void put_cie(struct section *s, unsigned version, const char *head,
		    size_t n)
{
	const uint32_t words[] = { (uint32_t)(4 + 1 + n + 4), UINT32_MAX };

	put(s, words, sizeof(words));
	put(s, &(uint8_t){ (uint8_t)version }, 1);
	put(s, head, n);
	put(s, "\1\x78\x10\0", 4);
}

static void put_fde(struct section *s, uint32_t cie, uint64_t ip,
		    uint64_t bytes, size_t code)
{
	const uint32_t words[] = { (uint32_t)(20 + code), cie };

	put(s, words, sizeof(words));
	put(s, &ip, sizeof(ip));
	put(s, &bytes, sizeof(bytes));
	memset(s->bytes + s->n, 0xaa, code);
	s->n += code;
}

static struct pdet_debug_frame index_of(const struct section *s)
{
	struct pdet_debug_frame f = {
		.bytes = malloc(s->n ? s->n : 1), .size = s->n
	};

	ck_assert_ptr_nonnull(f.bytes);
	memcpy(f.bytes, s->bytes, s->n);
	ck_assert_int_eq(pdet_debug_frame_index(&f), 0);
	return f;
}

static struct section s;
static struct pdet_frame_pair pair;

static bool get(const struct pdet_debug_frame *f, uint64_t ip)
{
	memset(&pair, 0, sizeof(pair));
	return pdet_debug_frame_get(f, ip, BASE, &pair);
}

/* The pair refers to itself, and has addresses of the process. */
START_TEST(forms)
{
	static const struct {
		unsigned version, becomes;
		const char *head;
		size_t n;
	} cies[] = {
		{ 1, 1, "", 1 }, { 3, 3, "", 1 }, { 4, 3, "\0\x08", 3 },
	};
	struct pdet_debug_frame f;
	uint64_t words[2];
	uint32_t head[2];

	s.n = 0;
	put_cie(&s, 1, "", 1);
	put_cie(&s, cies[_i].version, cies[_i].head, cies[_i].n);
	put_fde(&s, 14, 0x2000, 0x10, 3);
	put_fde(&s, 14, 0x1000, 0x10, 5);
	f = index_of(&s);
	ck_assert_uint_eq(f.n, 2);
	ck_assert(get(&f, 0x100f));
	memcpy(head, pair.bytes, 8);
	ck_assert_uint_eq(head[0] + 4, pair.fde);
	ck_assert_uint_eq(head[1], 0);
	ck_assert_uint_eq(pair.bytes[8], cies[_i].becomes);
	ck_assert_mem_eq(pair.bytes + 9, "\0\1\x78\x10", 5);
	memcpy(head, pair.bytes + pair.fde, 8);
	memcpy(words, pair.bytes + pair.fde + 8, 16);
	ck_assert_uint_eq(head[0] + 4, pair.n - pair.fde);
	ck_assert_uint_eq(head[1], pair.fde + 4);
	ck_assert_uint_eq(words[0], BASE + 0x1000);
	ck_assert_uint_eq(words[1], 0x10);
	ck_assert_mem_eq(pair.bytes + pair.n - 5, "\xaa\xaa\xaa\xaa\xaa", 5);
	ck_assert(get(&f, 0x2000));
	ck_assert(!get(&f, 0xfff));
	ck_assert(!get(&f, 0x1010));
	ck_assert(!get(&f, UINT64_MAX));
	pdet_debug_frame_free(&f);
	ck_assert_ptr_null(f.bytes);
}
END_TEST

/* What is not known is nothing. */
START_TEST(unknown)
{
	static const struct {
		unsigned version;
		const char *head;
		size_t n;
	} cies[] = {
		{ 2, "", 1 }, { 5, "", 1 }, { 1, "zR", 3 }, { 3, "eh", 3 },
		{ 4, "\0\x04", 3 }, { 4, "\0\x08\x01", 3 },
	};
	struct pdet_debug_frame f;

	s.n = 0;
	put_cie(&s, cies[_i].version, cies[_i].head, cies[_i].n);
	put_fde(&s, 0, 0x1000, 0x10, 0);
	f = index_of(&s);
	ck_assert_uint_eq(f.n, 1);
	ck_assert(!get(&f, 0x1000));
	pdet_debug_frame_free(&f);
}
END_TEST

/* The CIE is an FDE, or not there; a function has too many instructions. */
START_TEST(wrong)
{
	static const uint32_t cie[] = { 14, 15, 1000, UINT32_MAX - 1, 0 };
	struct pdet_debug_frame f;

	s.n = 0;
	put_cie(&s, 1, "", 1);
	put_fde(&s, cie[_i], 0x1000, 0x10, cie[_i] ? 0 : PDET_FRAME_PAIR);
	f = index_of(&s);
	ck_assert_uint_eq(f.n, 1);
	ck_assert(!get(&f, 0x1000));
	pdet_debug_frame_free(&f);
}
END_TEST

/* No byte behind the end is read, which a sanitizer would see. */
START_TEST(cut)
{
	struct pdet_debug_frame f;
	struct section part;
	unsigned found = 0;

	s.n = 0;
	put_cie(&s, 1, "", 1);
	put_fde(&s, 0, 0x1000, 0x10, 1);
	for (part = s, part.n = 0; part.n <= s.n; part.n++) {
		f = index_of(&part);
		found += get(&f, 0x1000);
		pdet_debug_frame_free(&f);
	}
	ck_assert_uint_eq(found, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("debug_frame");

	unit_loop(suite, forms, 3);
	unit_loop(suite, unknown, 6);
	unit_loop(suite, wrong, 5);
	unit_test(suite, cut);
	return unit_main(suite);
}
