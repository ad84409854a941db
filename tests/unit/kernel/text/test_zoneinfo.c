/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests zones from /proc/zoneinfo. */
#include "kernel/text/zoneinfo.h"
#include "pagedet.h"
#include "../../unit.h"

#define TAIL \
	"        cma      0\n" \
	"        protection: (0, 0, 0, 0)\n"

static const char two_nodes[] =
	"Node 0, zone      DMA\n"
	"  per-node stats\n"
	"      nr_inactive_anon 2132\n"
	"      nr_spanned_by_nobody 77\n"
	"  pages free     3840\n"
	"        spanned  4095\n"
	"        present  3998\n"
	"        managed  3840\n" TAIL
	"      nr_free_pages 3840\n"
	"  pagesets\n"
	"    cpu: 0\n"
	"              count: 0\n"
	"  vm stats threshold: 4\n"
	"  node_unreclaimable:  0\n"
	"  start_pfn:           1\n"
	"Node 0, zone    DMA32\n"
	"  pages free     1\n"
	"        spanned  1044480\n"
	"        present  782336\n" TAIL
	"  start_pfn:           4096\n"
	"Node 0, zone  Movable\n"
	"  pages free     0\n"
	"        spanned  0\n"
	"        present  0\n" TAIL
	"Node 1, zone   Normal\n"
	"  pages free     0\n"
	"        spanned  5505024\n"
	"        present  5505024\n" TAIL
	"  start_pfn:           1048576\n"
	"Node 1, zone   Device\n"
	"  pages free     0\n"
	"        spanned  0\n" TAIL;

static const struct pdet_zoneinfo zones[] = {
	{ 0, PAGEDET_ZONE_DMA, 1, 4095 },
	{ 0, PAGEDET_ZONE_DMA32, 4096, 1044480 },
	{ 1, PAGEDET_ZONE_NORMAL, 1048576, 5505024 },
};

static bool same(const struct pdet_zoneinfo *a, const struct pdet_zoneinfo *b)
{
	return a->node == b->node && a->zone == b->zone &&
	       a->start_pfn == b->start_pfn && a->spanned == b->spanned;
}

START_TEST(zones_that_span_memory)
{
	struct pdet_scan text = { two_nodes,
				  two_nodes + strlen(two_nodes) };
	struct pdet_zoneinfo z;
	unsigned i;

	for (i = 0; i < 3; i++) {
		ck_assert(pdet_zoneinfo_next(&text, &z));
		ck_assert(same(&z, &zones[i]));
	}
	ck_assert(!pdet_zoneinfo_next(&text, &z));
	ck_assert(!pdet_zoneinfo_next(&text, &z));
}
END_TEST

/*
 * The part that is cut off is missing; the rest is right, except for digits of
 * a cut number.
 */
START_TEST(cut_at_every_byte)
{
	size_t len = strlen(two_nodes), cut;

	for (cut = 0; cut < len; cut++) {
		char *bytes = unit_exact(two_nodes, cut);
		struct pdet_scan text = { bytes, bytes + cut };
		struct pdet_zoneinfo z;
		unsigned i = 0;

		while (pdet_zoneinfo_next(&text, &z)) {
			ck_assert_uint_lt(i, 3);
			if (text.at == text.end && cut &&
			    bytes[cut - 1] != '\n')
				z.start_pfn = zones[i].start_pfn;
			ck_assert(same(&z, &zones[i++]));
		}
		free(bytes);
	}
}
END_TEST

static const char *const nothing[] = {
	"",
	"\n",
	"Node 0, zone   Normal\n",
	/* No start, no size, no known name. */
	"Node 0, zone   Normal\n        spanned  10\n",
	"Node 0, zone   Normal\n  start_pfn:           4096\n",
	"Node 0, zone   Twilight\n        spanned  10\n  start_pfn:  1\n",
	"Node x, zone   Normal\n        spanned  10\n  start_pfn:  1\n",
	"Node 4294967296, zone Normal\n spanned 10\n start_pfn: 1\n",
	"zone   Normal\n        spanned  10\n  start_pfn:  1\n",
	/* The last page would have no number. */
	"Node 0, zone Normal\n spanned 10\n start_pfn: 18446744073709551610\n",
	"Node 0, zone Normal\n spanned 18446744073709551615\n start_pfn: 2\n",
	"Node 0, zone Normal\n spanned -5\n start_pfn: 2\n",
};

START_TEST(half_a_zone_is_none)
{
	struct pdet_scan text = { nothing[_i],
				  nothing[_i] + strlen(nothing[_i]) };
	struct pdet_zoneinfo z;

	ck_assert(!pdet_zoneinfo_next(&text, &z));
}
END_TEST

START_TEST(a_zone_of_unknown_name_hides_no_other)
{
	static const char words[] =
		"Node 0, zone   Normal\n        spanned  10\n"
		"  start_pfn:           4096\n"
		"Node 0, zone   Twilight\n        spanned  20\n"
		"  start_pfn:           8192\n"
		"Node 0, zone   Movable\n        spanned  30\n"
		"  start_pfn:           16384\n";
	struct pdet_scan text = { words, words + strlen(words) };
	struct pdet_zoneinfo z;

	ck_assert(pdet_zoneinfo_next(&text, &z));
	ck_assert_uint_eq(z.zone, PAGEDET_ZONE_NORMAL);
	ck_assert_uint_eq(z.spanned, 10);
	ck_assert(pdet_zoneinfo_next(&text, &z));
	ck_assert_uint_eq(z.zone, PAGEDET_ZONE_MOVABLE);
	ck_assert_uint_eq(z.start_pfn, 16384);
	ck_assert(!pdet_zoneinfo_next(&text, &z));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("zoneinfo");

	unit_test(s, zones_that_span_memory);
	unit_test(s, cut_at_every_byte);
	unit_loop(s, half_a_zone_is_none,
		  sizeof(nothing) / sizeof(*nothing));
	unit_test(s, a_zone_of_unknown_name_hides_no_other);
	return unit_main(s);
}
