/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests what pages that differ have in common: one harm at a time, near misses,
 * and random harm, of which every statement is checked again.
 */
#include <errno.h>
#include <pagedet.h>

#include "../unit.h"

#define N 4096u
#define ZERO 0x5a5au		/* the hash of a page of zeroes */
#define MOST 16u

static struct pagedet_seen here[N], peer[N];
static struct pagedet_pattern found[MOST];
static uint8_t of[N];
static int n_found;
static struct pagedet_blocks *blocks;
static struct pagedet_versions *versions;
static char text[512];

static void set(struct pagedet_seen *s, uint32_t state, uint64_t hash)
{
	memset(s, 0, sizeof(*s));
	s->state = state;
	s->hash = state == PAGEDET_SEEN_DATA ? hash :
		  state == PAGEDET_SEEN_ZERO ? ZERO : 0;
}

/* Every page has contents of its own; the peer has the same. */
static void begin(void)
{
	unsigned i;

	blocks = NULL;
	versions = NULL;
	for (i = 0; i < N; i++) {
		set(&here[i], PAGEDET_SEEN_DATA, 0x10000u + i);
		peer[i] = here[i];
	}
}

static void look(void)
{
	uint64_t pages[MOST + 1] = { 0 };
	unsigned i;
	int k;

	memset(found, 0xee, sizeof(found));
	memset(of, 0xee, sizeof(of));
	n_found = pagedet_patterns(here, peer, N, blocks, versions, found,
				   MOST, of);
	ck_assert_int_ge(n_found, 0);
	ck_assert_int_le(n_found, (int)MOST);
	/* What is told of all pages is told of each. */
	for (i = 0; i < N; i++) {
		ck_assert_uint_le(of[i], (unsigned)n_found);
		pages[of[i]]++;
		if (of[i])
			ck_assert(i >= found[of[i] - 1].first &&
				  i <= found[of[i] - 1].last);
	}
	for (k = 0; k < n_found; k++)
		ck_assert_uint_eq(pages[k + 1], found[k].pages);
}

static const char *says(int i)
{
	const int n = pagedet_pattern_text(&found[i], 4096, "source",
					   "destination", text, sizeof(text));

	ck_assert_int_gt(n, 0);
	ck_assert_uint_eq((size_t)n, strlen(text));
	return text;
}

static const char *kind(int i)
{
	return i < n_found ? pagedet_pattern_name(found[i].kind) : "none";
}

START_TEST(equal)
{
	begin();
	look();
	ck_assert_int_eq(n_found, 0);
	/* What is not known does not differ. */
	set(&peer[7], PAGEDET_SEEN_LOST, 0);
	set(&here[8], PAGEDET_SEEN_NOTHING, 0);
	look();
	ck_assert_int_eq(n_found, 0);
	/* No page at all. */
	ck_assert_int_eq(pagedet_patterns(NULL, NULL, 0, NULL, NULL, found, 0,
					  NULL), 0);
}
END_TEST

/* After a restore pages lie behind their place. */
START_TEST(shifted)
{
	const int shift = _i ? -3 : 512;
	unsigned i;

	begin();
	for (i = 1024; i < 2048; i++)
		peer[i] = here[(int)i + shift];
	look();
	ck_assert_int_eq(n_found, 1);
	ck_assert_str_eq(kind(0), "shifted");
	ck_assert_uint_eq(found[0].pages, 1024);
	ck_assert_int_eq(found[0].shift, shift);
	ck_assert_uint_eq(found[0].first, 1024);
	ck_assert_uint_eq(found[0].last, 2047);
	ck_assert_uint_eq(found[0].from, (uint64_t)(1024 + shift));
	ck_assert_str_eq(says(0), _i ?
		"1024 pages have at the destination what the source has 3 "
		"pages (0x3000 bytes) further back: pages 1024 to 2047 "
		"without a gap" :
		"1024 pages have at the destination what the source has 512 "
		"pages (0x200000 bytes) further on: pages 1024 to 2047 "
		"without a gap");
}
END_TEST

/* Empty pages that are shifted, too, do not break it. */
START_TEST(shifted_with_empty_pages)
{
	unsigned i;

	begin();
	for (i = 0; i < N; i += 5)
		set(&here[i], PAGEDET_SEEN_ABSENT, 0);
	for (i = 0; i < N; i++)
		peer[i] = here[i];
	for (i = 1000; i < 2000; i++)
		peer[i] = here[i + 1];
	/* This is not a part of it. */
	set(&peer[3001], PAGEDET_SEEN_ZERO, 0);
	look();
	ck_assert_int_eq(n_found, 2);
	ck_assert_str_eq(kind(0), "shifted");
	ck_assert_uint_eq(found[0].pages, 1000);
	ck_assert_str_eq(kind(1), "empty_peer");
	ck_assert_uint_eq(found[1].pages, 1);
}
END_TEST

/* Empty pages far from what is shifted are not. */
START_TEST(empty_between_shifted)
{
	unsigned i;

	begin();
	for (i = 100; i < 4000; i++)
		set(&here[i], i % 2 ? PAGEDET_SEEN_DATA : PAGEDET_SEEN_ZERO,
		    0x50000u + i);
	for (i = 0; i < N; i++)
		peer[i] = here[i];
	for (i = 0; i < 8; i++) {
		peer[50 + i] = here[51 + i];
		peer[4050 + i] = here[4051 + i];
	}
	/* In swap, and sent as empty. */
	for (i = 1001; i < 1201; i += 2) {
		here[i].bits = PAGEDET_SEEN_SWAPPED;
		set(&peer[i], PAGEDET_SEEN_ZERO, 0);
	}
	look();
	ck_assert_int_eq(n_found, 2);
	ck_assert_str_eq(kind(0), "empty_peer");
	ck_assert_uint_eq(found[0].pages, 100);
	ck_assert_uint_eq(found[0].swapped, 100);
	ck_assert_str_eq(kind(1), "shifted");
	ck_assert_uint_eq(found[1].pages, 16);
}
END_TEST

/* Many that are alike, and few others: what is searched for is told rightly. */
START_TEST(unsearched)
{
	static struct pagedet_seen a[200000], b[200000];
	int i, n;

	for (i = 0; i < 200000; i++) {
		set(&a[i], PAGEDET_SEEN_DATA, 0x10000u + (unsigned)i);
		set(&b[i], PAGEDET_SEEN_DATA, 7);
	}
	set(&b[1000], PAGEDET_SEEN_DATA, 8);
	n = pagedet_patterns(a, b, 200000, NULL, NULL, found, MOST, NULL);
	ck_assert_int_eq(n, 2);
	ck_assert_str_eq(pagedet_pattern_name(found[0].kind), "alike");
	ck_assert_uint_eq(found[0].pages, 199999);
	ck_assert_uint_le(found[1].unsearched, found[1].pages);
}
END_TEST

/* Two regions that changed places: two shifts. */
START_TEST(two_shifts)
{
	unsigned i;

	begin();
	for (i = 0; i < 100; i++) {
		peer[500 + i] = here[900 + i];
		peer[900 + i] = here[500 + i];
	}
	look();
	ck_assert_int_eq(n_found, 2);
	ck_assert_str_eq(kind(0), "shifted");
	ck_assert_str_eq(kind(1), "shifted");
	ck_assert_int_eq(found[0].shift + found[1].shift, 0);
	ck_assert_uint_eq(found[0].pages, 100);
}
END_TEST

/* The same distance by accident, or contents that are everywhere. */
START_TEST(not_shifted)
{
	unsigned i;

	begin();
	for (i = 0; i < 3; i++)
		peer[10 * i] = here[10 * i + 5];
	look();
	ck_assert_int_eq(n_found, 1);
	ck_assert_str_eq(kind(0), "moved");
	begin();
	for (i = 0; i < 64; i++) {
		set(&here[100 + i], PAGEDET_SEEN_DATA, 42);
		set(&peer[100 + i], PAGEDET_SEEN_DATA, 0x20000u + i);
		set(&peer[300 + i], PAGEDET_SEEN_DATA, 42);
	}
	look();
	ck_assert_int_eq(n_found, 2);
	ck_assert_str_ne(kind(0), "shifted");
	ck_assert_str_ne(kind(1), "shifted");
}
END_TEST

START_TEST(swapped_pages_that_are_empty)
{
	unsigned i;

	begin();
	for (i = 100; i < 200; i++) {
		here[i].bits = PAGEDET_SEEN_SWAPPED;
		set(&peer[i], PAGEDET_SEEN_ABSENT, 0);
	}
	look();
	ck_assert_int_eq(n_found, 1);
	ck_assert_str_eq(says(0), "100 pages have data at the source and are "
			 "absent at the destination, in swap at the source: "
			 "pages 100 to 199 without a gap");
	/* A page between them that is not known. */
	set(&peer[120], PAGEDET_SEEN_LOST, 0);
	look();
	ck_assert_ptr_null(strstr(says(0), "without a gap"));
	set(&peer[120], PAGEDET_SEEN_ABSENT, 0);
	/* Some of them, and some of them zero. */
	here[150].bits = here[151].bits = 0;
	set(&peer[160], PAGEDET_SEEN_ZERO, 0);
	peer[170] = here[170];
	look();
	ck_assert_str_eq(says(0), "99 pages have data at the source and are "
			 "empty at the destination (98 absent, 1 zero), 97 of "
			 "them in swap at the source: pages 100 to 199, "
			 "between which 1 is equal");
}
END_TEST

START_TEST(empty_here)
{
	begin();
	set(&here[5], PAGEDET_SEEN_ZERO, 0);
	peer[5].bits = PAGEDET_SEEN_SWAPPED;
	set(&peer[5], PAGEDET_SEEN_DATA, 77);
	look();
	ck_assert_str_eq(says(0), "1 page has data at the destination and is "
			 "zero at the source: page 5");
}
END_TEST

START_TEST(moved)
{
	begin();
	peer[40] = here[2000];
	look();
	ck_assert_str_eq(says(0), "1 page has at the destination what another "
			 "page has at the source: page 40; it has what is at "
			 "page 2000");
	ck_assert_uint_eq(found[0].from, 2000);
}
END_TEST

static void exchange(unsigned a, unsigned b)
{
	peer[a] = here[b];
	peer[b] = here[a];
}

START_TEST(exchanged)
{
	begin();
	exchange(40, 41);
	look();
	ck_assert_int_eq(n_found, 1);
	ck_assert_str_eq(kind(0), "exchanged");
	ck_assert_uint_eq(found[0].from, 41);
	ck_assert_str_eq(says(0), "2 pages have changed places at the "
			 "destination: pages 40 to 41 without a gap");
	/* Far from each other, and with another one between them. */
	exchange(30, 50);
	look();
	ck_assert_int_eq(n_found, 1);
	ck_assert_str_eq(says(0), "4 pages have changed places in pairs at the "
			 "destination: pages 30 to 50, between which 17 are "
			 "equal; the first with page 50");
	/* A copy alone, and three that go round. */
	begin();
	peer[40] = here[41];
	peer[100] = here[110];
	peer[110] = here[120];
	peer[120] = here[100];
	look();
	ck_assert_int_eq(n_found, 1);
	ck_assert_str_eq(kind(0), "moved");
	ck_assert_uint_eq(found[0].pages, 4);
}
END_TEST

/* Many neighbours are not two shifts. */
START_TEST(exchanged_neighbours)
{
	unsigned i;

	begin();
	for (i = 100; i < 300; i += 2)
		exchange(i, i + 1);
	look();
	ck_assert_int_eq(n_found, 1);
	ck_assert_str_eq(kind(0), "exchanged");
	ck_assert_uint_eq(found[0].pages, 200);
	/* Empty pages have no place of their own. */
	begin();
	set(&here[7], PAGEDET_SEEN_ZERO, 0);
	exchange(7, 8);
	look();
	ck_assert_int_eq(n_found, 2);
	ck_assert_str_ne(kind(0), "exchanged");
	ck_assert_str_ne(kind(1), "exchanged");
}
END_TEST

START_TEST(alike)
{
	unsigned i;

	begin();
	for (i = 0; i < 8; i++)
		set(&peer[i * 3], PAGEDET_SEEN_DATA, 0xdead);
	set(&peer[1], PAGEDET_SEEN_DATA, 0xbeef);
	look();
	ck_assert_int_eq(n_found, 2);
	ck_assert_str_eq(says(0), "8 pages have one and the same contents at "
			 "the destination: pages 0 to 21, between which 13 "
			 "are equal");
	ck_assert_uint_eq(found[0].differ, 1);
	ck_assert_str_eq(says(1), "1 page is in no pattern of whole pages: "
			 "page 1");
}
END_TEST

static void tell_versions(void)
{
	struct pagedet_versions_options o = PAGEDET_VERSIONS_OPTIONS_INIT;

	o.pages = N;
	o.hash_zero = ZERO;
	ck_assert_int_eq(pagedet_versions_new(&o, &versions), 0);
}

/* Written after the last pass. */
START_TEST(older)
{
	unsigned i;

	begin();
	tell_versions();
	for (i = 0; i < 50; i++)
		set(&here[i], PAGEDET_SEEN_DATA, 0x30000u + i);
	set(&here[49], PAGEDET_SEEN_ABSENT, 0);
	ck_assert_int_eq(pagedet_versions_look(versions, here, N, 0), 0);
	for (i = 0; i < 50; i++)
		peer[i] = here[i];
	for (i = 0; i < 50; i++)
		set(&here[i], PAGEDET_SEEN_DATA, 0x40000u + i);
	ck_assert_int_eq(pagedet_versions_look(versions, here, N, 0), 0);
	look();
	ck_assert_int_eq(n_found, 2);
	ck_assert_str_eq(says(0), "49 pages have at the destination what the "
			 "source had earlier: pages 0 to 48 without a gap");
	ck_assert_str_eq(says(1), "1 page has data at the source and is absent "
			 "at the destination, and was empty at the source, "
			 "too, earlier: page 49");
	pagedet_versions_free(versions);
}
END_TEST

/* Memory of a guest with a hole below 4 GiB, and a block that is hidden. */
static void tell_blocks(uint64_t pages)
{
	struct pagedet_block b = { sizeof(b), "pc.ram", 3072 * 4096,
				   { 0x10000000, 0x20000000 } };

	ck_assert_int_eq(pagedet_blocks_new(4096, &blocks), 0);
	ck_assert_int_eq(pagedet_blocks_add(blocks, &b), 0);
	ck_assert_int_eq(pagedet_blocks_add_range(blocks, "pc.ram", 0, 0,
						  2048 * 4096, 0), 0);
	ck_assert_int_eq(pagedet_blocks_add_range(blocks, "pc.ram", 2048 * 4096,
						  (uint64_t)1 << 32,
						  1024 * 4096, 0), 0);
	b.name = "vga";
	b.bytes = (pages - 3072) * 4096;
	b.addr[0] = 0x40000000;
	b.addr[1] = 0x50000000;
	ck_assert_int_eq(pagedet_blocks_add(blocks, &b), 0);
}

START_TEST(borders)
{
	unsigned i;

	begin();
	tell_blocks(N);
	for (i = 2048; i < 3072; i++)
		set(&peer[i], PAGEDET_SEEN_ZERO, 0);
	look();
	ck_assert_uint_eq(found[0].borders,
			  PAGEDET_BORDER_FIRST | PAGEDET_BORDER_LAST);
	ck_assert_str_eq(says(0), "1024 pages have data at the source and are "
			 "zero at the destination: pages 2048 to 3071 without "
			 "a gap; a range of guest memory begins with the "
			 "first, and one ends with the last");
	peer[2048] = here[2048];
	look();
	ck_assert_uint_eq(found[0].borders, PAGEDET_BORDER_LAST);
	ck_assert_ptr_nonnull(strstr(says(0), "gap; one ends with the last"));
	pagedet_blocks_free(blocks);
	/* A shift does not lead into another block. */
	begin();
	tell_blocks(N);
	for (i = 3000; i < 3072; i++)
		peer[i] = here[i + 100];
	look();
	ck_assert_int_eq(n_found, 1);
	ck_assert_str_eq(kind(0), "moved");
	pagedet_blocks_free(blocks);
	tell_blocks(N + 1);
	ck_assert_int_eq(pagedet_patterns(here, peer, N, blocks, NULL, found,
					  MOST, NULL), -EINVAL);
	pagedet_blocks_free(blocks);
}
END_TEST

START_TEST(room)
{
	unsigned i;

	begin();
	for (i = 0; i < 10; i++)
		set(&peer[i], PAGEDET_SEEN_ZERO, 0);
	set(&peer[100], PAGEDET_SEEN_DATA, 1);
	memset(found, 0xee, sizeof(found));
	ck_assert_int_eq(pagedet_patterns(here, peer, N, NULL, NULL, found, 1,
					  NULL), 2);
	ck_assert_uint_eq(found[0].pages, 10);
	ck_assert_uint_eq(found[1].pages, 0xeeeeeeeeeeeeeeee);
	/* A text that is cut, and one without room. */
	i = (unsigned)strlen(says(0));
	ck_assert_int_eq(pagedet_pattern_text(found, 4096, "source",
					      "destination", text, 10),
			 (int)i);
	ck_assert_str_eq(text, "10 pages ");
	ck_assert_int_eq(pagedet_pattern_text(found, 4096, "source",
					      "destination", NULL, 0), (int)i);
	found[0].kind = 99;
	ck_assert_int_eq(pagedet_pattern_text(found, 4096, "a", "b", text, 10),
			 -EINVAL);
	ck_assert_ptr_null(pagedet_pattern_name(0));
	ck_assert_ptr_null(pagedet_pattern_name(99));
}
END_TEST

/* --- random harm --- */

static uint64_t seed;

static uint64_t draw(uint64_t most)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 20) % most;
}

static void harm(void)
{
	const uint64_t first = draw(N), n = draw(N - first) + 1;
	const uint64_t how = draw(7), by = draw(2 * N);
	uint64_t i;

	for (i = first; i < first + n; i += how == 5 ? draw(9) + 1 : 1) {
		const uint64_t from = i + by - N;

		switch (how) {
		case 0:
			set(&peer[i], PAGEDET_SEEN_ABSENT + (uint32_t)draw(2),
			    0);
			break;
		case 1:
			set(&here[i], PAGEDET_SEEN_ZERO, 0);
			break;
		case 2:
			if (from < N)
				peer[i] = here[from];
			break;
		case 3:
			set(&peer[i], PAGEDET_SEEN_DATA, draw(4) + 1);
			break;
		case 4:
			set(&peer[i], PAGEDET_SEEN_LOST, 0);
			break;
		case 6:
			if (from < N)
				exchange((unsigned)i, (unsigned)from);
			break;
		default:
			set(&peer[i], PAGEDET_SEEN_DATA, seed);
			break;
		}
	}
}

static uint64_t count_differing(void)
{
	uint64_t i, n = 0;

	for (i = 0; i < N; i++)
		n += pagedet_seen_equal(&here[i], &peer[i]) == PAGEDET_NO;
	return n;
}

/* Pages of which the statement of the pattern is true. */
static uint64_t count_true(const struct pagedet_pattern *p)
{
	uint64_t i, k, n = 0;

	for (i = p->first; i <= p->last; i++) {
		const uint64_t from = i + (uint64_t)p->shift;
		const bool here_empty = here[i].state == PAGEDET_SEEN_ABSENT ||
					here[i].state == PAGEDET_SEEN_ZERO;
		const bool peer_empty = peer[i].state == PAGEDET_SEEN_ABSENT ||
					peer[i].state == PAGEDET_SEEN_ZERO;

		if (pagedet_seen_equal(&here[i], &peer[i]) != PAGEDET_NO)
			continue;
		if (p->kind == PAGEDET_PATTERN_EMPTY_PEER)
			n += peer_empty;
		else if (p->kind == PAGEDET_PATTERN_EMPTY_HERE)
			n += here_empty;
		else if (p->kind == PAGEDET_PATTERN_SHIFTED)
			n += from < N && pagedet_seen_equal(
				&here[from], &peer[i]) == PAGEDET_YES;
		else if (p->kind == PAGEDET_PATTERN_MOVED ||
			 p->kind == PAGEDET_PATTERN_EXCHANGED)
			for (k = 0; k < N; k++)
				if (here[k].state == PAGEDET_SEEN_DATA &&
				    here[k].hash == peer[i].hash) {
					n++;
					break;
				}
	}
	return n;
}

START_TEST(random_harm)
{
	uint64_t sum = 0;
	int i, k;

	seed = 0x9e3779b97f4a7c15u + (uint64_t)_i * 977;
	begin();
	for (i = (int)draw(4); i >= 0; i--)
		harm();
	look();
	for (i = 0; i < n_found; i++) {
		const struct pagedet_pattern *p = &found[i];

		sum += p->pages;
		ck_assert_uint_gt(p->pages, 0);
		ck_assert_uint_le(p->first, p->last);
		ck_assert_uint_le(p->pages + p->equal + p->differ,
				  p->last - p->first + 1);
		if (i)
			ck_assert_uint_le(p->pages, p[-1].pages);
		for (k = 0; k < i; k++)
			ck_assert(p->kind != found[k].kind ||
				  p->shift != found[k].shift);
		if (p->kind != PAGEDET_PATTERN_ALIKE &&
		    p->kind != PAGEDET_PATTERN_OTHER)
			ck_assert_uint_ge(count_true(p), p->pages);
		says(i);
	}
	ck_assert_uint_eq(sum, count_differing());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("patterns");

	unit_test(s, equal);
	unit_loop(s, shifted, 2);
	unit_test(s, shifted_with_empty_pages);
	unit_test(s, empty_between_shifted);
	unit_test(s, unsearched);
	unit_test(s, two_shifts);
	unit_test(s, not_shifted);
	unit_test(s, swapped_pages_that_are_empty);
	unit_test(s, empty_here);
	unit_test(s, moved);
	unit_test(s, exchanged);
	unit_test(s, exchanged_neighbours);
	unit_test(s, alike);
	unit_test(s, older);
	unit_test(s, borders);
	unit_test(s, room);
	unit_loop(s, random_harm, 200);
	return unit_main(s);
}
