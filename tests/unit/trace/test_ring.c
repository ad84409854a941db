/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests format files, and pages of the trace ring buffer of both byte orders:
 * whatever an event is made of, and what no kernel writes.
 */
#include <endian.h>
#include <errno.h>

#include "trace/format.h"
#include "trace/kmem.h"
#include "trace/ring.h"
#include "../unit.h"

#define HEAD(commit, at, size) \
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n" \
	"\tfield: local_t commit;\toffset:8;\tsize:" commit ";\tsigned:1;\n" \
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n" \
	"\tfield: char data;\toffset:" at ";\tsize:" size ";\tsigned:0;\n"

static const char kfree[] =
	"name: kfree\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"call_site=%pS ptr=%p\", REC->call_site, REC->ptr\n";

static int parse(const char *text, struct pdet_trace_format *ret)
{
	return pdet_trace_format_parse(text, strlen(text), ret);
}

START_TEST(formats)
{
	static const char *const bad[] = {
		"", "name: x\n", "ID: 1\n", "name: x\nID: y\n",
		"name: x\nID: 99999999999999999999\n", "name: x\nID: 70000\n",
		"name: x\nID: 1\n\tfield:int a;\n",
		"name: x\nID: 1\n\tfield:int a;\toffset:1;\n",
		"name: x\nID: 1\n\tfield:int a\toffset:1\tsize:2\n",
		"name: x\nID: 1\n\tfield:int a;\toffset:99999999;\tsize:2;\n",
		"name: x\nID: 1\n\tfield:int a;\toffset:-1;\tsize:2;\n",
	};
	struct pdet_trace_format f;
	size_t i;

	ck_assert_int_eq(parse(kfree, &f), 0);
	ck_assert_str_eq(f.name, "kfree");
	ck_assert_uint_eq(f.id, 7);
	ck_assert_uint_eq(f.n, 4);
	ck_assert_uint_eq(pdet_trace_field(&f, "ptr")->offset, 16);
	ck_assert_uint_eq(pdet_trace_field(&f, "ptr")->size, 8);
	ck_assert(pdet_trace_field(&f, "common_pid")->is_signed);
	ck_assert(!pdet_trace_field(&f, "call_site")->is_signed);
	ck_assert_ptr_null(pdet_trace_field(&f, "name"));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(parse(bad[i], &f) == -EBADMSG, "%s", bad[i]);
	ck_assert_int_eq(parse("name: x\nID: 1\n"
			       "\tfield:__data_loc char[] name;\toffset:8;"
			       "\tsize:4;\tsigned:0;\n"
			       "\tfield:char comm[16];\toffset:12;\tsize:16;\n",
			       &f), 0);
	ck_assert(pdet_trace_field(&f, "name")->is_text);
	ck_assert(!pdet_trace_field(&f, "name")->is_array);
	ck_assert(pdet_trace_field(&f, "comm")->is_array);
}
END_TEST

START_TEST(layouts)
{
	static const char *const bad[] = {
		"", HEAD("8", "16", "4081"), HEAD("3", "16", "4080"),
		HEAD("8", "12", "4084"), HEAD("8", "16", "48"),
		/* No kernel has them of 2 MB. */
		HEAD("8", "16", "2097136"),
	};
	struct pdet_ring_layout l;
	const char *good = HEAD("8", "16", "4080");
	size_t i;

	ck_assert_int_eq(pdet_ring_layout_parse(good, strlen(good), false, &l),
			 0);
	ck_assert_uint_eq(l.bytes, 4096);
	ck_assert_uint_eq(l.data_at, 16);
	good = HEAD("4", "12", "16372");
	ck_assert_int_eq(pdet_ring_layout_parse(good, strlen(good), true, &l),
			 0);
	ck_assert_uint_eq(l.bytes, 16384);
	ck_assert_uint_eq(l.commit_size, 4);
	good = HEAD("8", "16", "1048560");
	ck_assert_int_eq(pdet_ring_layout_parse(good, strlen(good), true, &l),
			 0);
	ck_assert_uint_eq(l.bytes, 1048576);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(pdet_ring_layout_parse(bad[i], strlen(bad[i]),
						     false, &l) == -EBADMSG,
			      "%s", bad[i]);
}
END_TEST

/* --- pages --- */

static unsigned char page[4096];
static size_t at;
static struct pdet_ring_layout layout = { 4096, 8, 8, 16, false };

static void put(uint64_t value, unsigned size)
{
	unsigned i;

	for (i = 0; i < size; i++)
		page[at + i] = (unsigned char)
			(value >> 8 * (layout.big_endian ? size - 1 - i : i));
	at += size;
}

static void begin(uint64_t ns, bool big_endian)
{
	memset(page, 0xee, sizeof(page));
	layout.big_endian = big_endian;
	at = 0;
	put(ns, 8);
	at = 16;
}

static void head(unsigned type, uint32_t delta)
{
	put(layout.big_endian ? type << 27 | delta : delta << 5 | type, 4);
}

static void data(unsigned words, uint32_t delta, uint32_t first)
{
	unsigned i;

	head(words, delta);
	for (i = 0; i < words; i++)
		put(first + i, 4);
}

/* @flags: of the length. */
static void end(uint64_t flags)
{
	const size_t n = at - 16;

	at = 8;
	put(n | flags, 8);
	at = n + 16;
}

static struct pdet_ring ring;

static void next_is(uint64_t ns, uint32_t len, uint32_t first)
{
	const unsigned char *record;
	uint32_t n;

	ck_assert_int_eq(pdet_ring_next(&ring, &record, &n), 1);
	ck_assert_uint_eq(ring.ns, ns);
	ck_assert_uint_eq(n, len);
	ck_assert_uint_eq(pdet_ring_number(record, 4, layout.big_endian),
			  first);
}

static int next(void)
{
	const unsigned char *record;
	uint32_t n;

	return pdet_ring_next(&ring, &record, &n);
}

START_TEST(events)
{
	begin(((uint64_t)3 << 59) + 1000, _i);
	data(1, 5, 11);
	data(28, 0, 22);
	head(30, 3);		/* a long time */
	put(2, 4);
	data(2, 1, 33);
	head(0, 7);		/* a long record: 4 + 10 bytes */
	put(14, 4);
	put(44, 4);
	put(0, 8);
	head(29, 9);		/* one that was discarded: 4 + 8 bytes */
	put(8, 4);
	put(55, 4);
	head(31, 100);		/* the time itself */
	put(1, 4);
	data(1, 1, 66);
	head(29, 0);		/* nothing more */
	put(0xffffffff, 4);
	end(0);
	ck_assert_int_eq(pdet_ring_begin(&ring, &layout, page), 0);
	ck_assert_uint_eq(ring.lost, 0);
	next_is(((uint64_t)3 << 59) + 1005, 4, 11);
	next_is(((uint64_t)3 << 59) + 1005, 112, 22);
	next_is(((uint64_t)3 << 59) + 1009 + ((uint64_t)2 << 27), 8, 33);
	next_is(((uint64_t)3 << 59) + 1016 + ((uint64_t)2 << 27), 10, 44);
	next_is(((uint64_t)3 << 59) + 101 + ((uint64_t)1 << 27), 4, 66);
	ck_assert_int_eq(next(), 0);
	ck_assert_int_eq(next(), 0);
}
END_TEST

START_TEST(losses)
{
	const uint64_t missed = 0xffffffff80000000, stored = 0x40000000;

	begin(1, _i);
	data(1, 0, 1);
	end(missed);
	ck_assert_int_eq(pdet_ring_begin(&ring, &layout, page), 0);
	ck_assert_uint_eq(ring.lost, PDET_RING_LOST_UNKNOWN);
	next_is(1, 4, 1);
	ck_assert_int_eq(next(), 0);
	end(missed | stored);
	put(1104, 8);
	ck_assert_int_eq(pdet_ring_begin(&ring, &layout, page), 0);
	ck_assert_uint_eq(ring.lost, 1104);
	/* No room for the count. */
	at = 4096;
	end(missed | stored);
	ck_assert_int_eq(pdet_ring_begin(&ring, &layout, page), 0);
	ck_assert_uint_eq(ring.lost, PDET_RING_LOST_UNKNOWN);
}
END_TEST

START_TEST(damage)
{
	/* Longer than a page. */
	begin(1, _i);
	at = 8;
	put(4081, 8);
	ck_assert_int_eq(pdet_ring_begin(&ring, &layout, page), -EBADMSG);
	ck_assert_int_eq(next(), 0);
	/* The other byte order. */
	begin(1, _i);
	data(2, 0, 1);
	end(0);
	ck_assert(pdet_ring_fits(&layout, page));
	layout.big_endian = !layout.big_endian;
	ck_assert(!pdet_ring_fits(&layout, page));
	/* A record behind the end. */
	begin(1, _i);
	data(2, 0, 1);
	at -= 4;
	end(0);
	ck_assert_int_eq(pdet_ring_begin(&ring, &layout, page), 0);
	ck_assert_int_eq(next(), -EBADMSG);
	/* A length of nothing, which would never end; one that is too long. */
	begin(1, _i);
	head(0, 0);
	put(0, 4);
	end(0);
	ck_assert_int_eq(pdet_ring_begin(&ring, &layout, page), 0);
	ck_assert_int_eq(next(), -EBADMSG);
	begin(1, _i);
	head(29, 1);
	put(0xfffffffe, 4);
	end(0);
	ck_assert_int_eq(pdet_ring_begin(&ring, &layout, page), 0);
	ck_assert_int_eq(next(), -EBADMSG);
	/* A time without its second word. */
	begin(1, _i);
	head(30, 1);
	end(0);
	ck_assert_int_eq(pdet_ring_begin(&ring, &layout, page), 0);
	ck_assert_int_eq(next(), -EBADMSG);
}
END_TEST

/* --- records --- */

static const char cache_free[] =
	"name: kmem_cache_free\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:const void * ptr;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:16;\tsize:4;\tsigned:0;\n";

/* A name that nobody asks for is not looked at. */
START_TEST(caches)
{
	static struct pdet_kmem_layouts l;
	struct pdet_trace_format f;
	struct pdet_kmem_event e = { 0 };
	unsigned char record[24] = { 7, [16] = 20, [18] = 4,
				     [20] = 'b', [21] = 'i', [22] = 'o' };

	ck_assert_int_eq(parse(cache_free, &f), 0);
	ck_assert_int_eq(pdet_kmem_learn(&l, &f), 0);
	ck_assert_int_eq(pdet_kmem_take(&l, record, 24, false, &e), 0);
	ck_assert_uint_eq(e.cache_len, 3);
	ck_assert_mem_eq(e.cache, "bio", 3);
	l.no_caches = true;
	ck_assert_int_eq(pdet_kmem_take(&l, record, 24, false, &e), 0);
	ck_assert_ptr_null(e.cache);
	ck_assert_uint_eq(e.cache_len, 0);
}
END_TEST

START_TEST(records)
{
	static struct pdet_kmem_layouts l;
	struct pdet_trace_format f;
	struct pdet_kmem_event e = { 0 };
	unsigned char record[24] = { 7, 0, 0, 0, 0xff, 0xff, 0xff, 0xff };

	record[8] = 0x80;
	record[16] = 0x34;
	record[23] = 0xff;
	ck_assert_int_eq(pdet_kmem_take(&l, record, 24, false, &e), -ENOENT);
	ck_assert_int_eq(parse(kfree, &f), 0);
	/* A type is not a negative number, whatever a file says. */
	f.field[0].is_signed = true;
	ck_assert_int_eq(pdet_kmem_learn(&l, &f), 0);
	ck_assert_int_eq(pdet_kmem_take(&l, record, 24, false, &e), 0);
	ck_assert_uint_eq(e.kind, PDET_KMEM_KFREE);
	ck_assert_int_eq(e.pid, -1);
	ck_assert_uint_eq(e.site, 0x80);
	ck_assert_uint_eq(e.object, 0xff00000000000034);
	ck_assert_int_eq(e.node, PDET_KMEM_NO_NUMBER);
	ck_assert_ptr_null(e.cache);
	ck_assert_int_eq(pdet_kmem_take(&l, record, 23, false, &e), -EBADMSG);
	record[0] = 8;
	ck_assert_int_eq(pdet_kmem_take(&l, record, 24, false, &e), -ENOENT);
	/* Its id is taken; what must be there is not. */
	ck_assert_int_eq(pdet_kmem_learn(&l, &f), -EBADMSG);
	f.id = 9;
	f.n--;
	ck_assert_int_eq(pdet_kmem_learn(&l, &f), -EBADMSG);
	strcpy(f.name, "sched_switch");
	ck_assert_int_eq(pdet_kmem_learn(&l, &f), 0);
	record[0] = 9;
	ck_assert_int_eq(pdet_kmem_take(&l, record, 24, false, &e), 0);
	ck_assert_uint_eq(e.kind, PDET_KMEM_OTHER);
	record[1] = 0x80;
	ck_assert_int_eq(pdet_kmem_take(&l, record, 24, false, &e), -ENOENT);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ring");

	unit_test(s, formats);
	unit_test(s, layouts);
	unit_loop(s, events, 2);
	unit_loop(s, losses, 2);
	unit_loop(s, damage, 2);
	unit_test(s, caches);
	unit_test(s, records);
	return unit_main(s);
}
