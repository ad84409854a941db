/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests page_owner's text: every form of kernel versions, task names that look
 * like the kernel's text, and text that is not a record.
 */
#include "base/env.h"
#include "kernel/owner/blocks.h"
#include "kernel/owner/columns.h"
#include "../../unit.h"

#define STACK " post_alloc_hook+0x1/0x2\n do_fault+0x30/0x40 [xfs]\n"
#define FLAGS "Flags 0x17(locked|node=0|zone=1)\n"
#define PFN_LINE "PFN 0x1f type Movable Block 7 type Unmovable " FLAGS
#define NEW "Page allocated via order 2, mask 0xcc0(GFP_KERNEL), pid 7, " \
	    "tgid 6 (cat), ts 99 ns\n" PFN_LINE

/* Cuts records off a copy of exact size. */
struct cutting {
	char *copy;
	struct pdet_scan text;
	struct pdet_owner_record r;
};

static struct cutting cut(const char *text, size_t n)
{
	struct cutting c = { .copy = unit_exact(text, n) };

	c.text = (struct pdet_scan){ c.copy, c.copy + n };
	return c;
}

#define CUT(text) cut((text), sizeof(text) - 1)

static void is(struct cutting *c, enum pdet_owner_is expected)
{
	ck_assert_int_eq(pdet_owner_next(&c->text, true, 0, &c->r), expected);
}

static void end(struct cutting *c)
{
	is(c, PDET_OWNER_END);
	free(c->copy);
}

static void says(const struct pdet_scan *s, const char *expected)
{
	ck_assert_msg(pdet_scan_is(s, expected), "'%.*s' is not '%s'",
		      (int)(s->end - s->at), s->at, expected);
}

START_TEST(a_record_of_6_12)
{
	struct cutting c = CUT(NEW STACK "Page has been migrated, last migrate "
			       "reason: compaction\nSlab cache page\n"
			       "Charged (via objcg) to offline memcg a b\n\n");
	struct pdet_owner_record *r = &c.r;

	is(&c, PDET_OWNER_RECORD);
	ck_assert_uint_eq(r->order, 2);
	ck_assert_uint_eq(r->pages, 4);
	ck_assert_uint_eq(r->gfp_mask, 0xcc0);
	says(&r->gfp, "GFP_KERNEL");
	ck_assert_uint_eq(r->pid, 7);
	ck_assert_uint_eq(r->tgid, 6);
	says(&r->comm, "cat");
	ck_assert_uint_eq(r->ns, 99);
	ck_assert_uint_eq(r->pfn, 0x1f);
	says(&r->type, "Movable");
	says(&r->block_type, "Unmovable");
	ck_assert_uint_eq(r->block, 7);
	says(&r->stack, STACK);
	says(&r->reason, "compaction");
	says(&r->memcg, "a b");
	ck_assert_uint_eq(r->has, PDET_OWNER_PID | PDET_OWNER_TGID |
			  PDET_OWNER_NS | PDET_OWNER_MIGRATED |
			  PDET_OWNER_SLAB | PDET_OWNER_CHARGED |
			  PDET_OWNER_OBJCG | PDET_OWNER_OFFLINE);
	end(&c);
}
END_TEST

/* A block of 512 pages, one of a page, and numbers that say too little or
 * contradict each other. */
START_TEST(blocks)
{
	static const struct {
		uint64_t pfn, block, first;
	} right[] = {
		{ 0x12345, 0x91, 0x12200 }, { 77, 77, 77 }, { 511, 0, 0 },
		{ 512, 1, 512 }, { 0, 0, 0 }, { UINT64_MAX, 1, 1ull << 63 },
	};
	struct pdet_owner_record r = { .pfn = 0 };
	uint64_t first;
	unsigned i;

	for (i = 0; i < PDET_COUNT(right); i++) {
		r.pfn = right[i].pfn;
		r.block = right[i].block;
		ck_assert(pdet_owner_block(&r, &first));
		ck_assert_uint_eq(first, right[i].first);
	}
	r.pfn = 512;
	r.block = 3;
	ck_assert(!pdet_owner_block(&r, &first));
	r.block = 1024;
	ck_assert(!pdet_owner_block(&r, &first));
}
END_TEST

/* A name is whole, and may stand anywhere in the list. */
START_TEST(flags)
{
	static const char text[] = "Flags 0x1(locked|node=0|zone=12|x)";
	struct pdet_owner_record r = { .flags = {
		text, text + sizeof(text) - 1 } };
	struct pdet_scan value;

	ck_assert(pdet_owner_flag(&r, "locked", &value));
	ck_assert(pdet_owner_flag(&r, "x", &value));
	ck_assert(pdet_owner_flag(&r, "zone=", &value));
	says(&value, "12");
	ck_assert(!pdet_owner_flag(&r, "lock", &value));
	ck_assert(!pdet_owner_flag(&r, "ocked", &value));
	ck_assert(!pdet_owner_flag(&r, "one=", &value));
	ck_assert(!pdet_owner_flag(&r, "reserved", &value));
	r.flags.end = text + 11;
	ck_assert(!pdet_owner_flag(&r, "locked", &value));
	r.flags.end = text;
	ck_assert(!pdet_owner_flag(&r, "locked", &value));
}
END_TEST

/* 6.1: a decimal PFN, and the time of the previous free. */
START_TEST(a_record_of_6_1)
{
	struct cutting c = CUT("Page allocated via order 0, mask 0x0(), pid 1, "
			       "tgid 1 (swapper/0), ts 423237853 ns, "
			       "free_ts 12 ns\nPFN 256 type Unmovable Block 0 "
			       "type Unmovable Flags 0x0(node=0|zone=0)\n"
			       STACK "Charged to memcg x\n\n");

	is(&c, PDET_OWNER_RECORD);
	ck_assert_uint_eq(c.r.pfn, 256);
	ck_assert_uint_eq(c.r.gfp_mask, 0);
	says(&c.r.gfp, "");
	ck_assert_uint_eq(c.r.ns, 423237853);
	ck_assert_uint_eq(c.r.free_ns, 12);
	ck_assert_uint_eq(c.r.has, PDET_OWNER_PID | PDET_OWNER_TGID |
			  PDET_OWNER_NS | PDET_OWNER_FREE_NS |
			  PDET_OWNER_CHARGED);
	says(&c.r.memcg, "x");
	end(&c);
}
END_TEST

/* Without a name, and without anything about the task. */
START_TEST(older_records)
{
	static const char *const first[] = {
		"pid 5, ts 10 ns, free_ts 3 ns\n", "pid 5, ts 10 ns\n", NULL,
	};
	static const unsigned has[] = {
		PDET_OWNER_PID | PDET_OWNER_NS | PDET_OWNER_FREE_NS,
		PDET_OWNER_PID | PDET_OWNER_NS, 0,
	};
	char text[512];
	unsigned i;

	for (i = 0; i < PDET_COUNT(has); i++) {
		int n = snprintf(text, sizeof(text),
				 "Page allocated via order 1, "
				 "mask 0x2(__GFP_HIGHMEM)%s%sPFN 77 type "
				 "Movable Block 0 type Movable Flags 0x4(a)\n"
				 STACK "\n", first[i] ? ", " : "\n",
				 first[i] ? first[i] : "");
		struct cutting c = cut(text, (size_t)n);

		is(&c, PDET_OWNER_RECORD);
		ck_assert_uint_eq(c.r.has, has[i]);
		ck_assert_uint_eq(c.r.pfn, 77);
		ck_assert_uint_eq(c.r.pages, 2);
		says(&c.r.comm, "");
		says(&c.r.stack, STACK);
		end(&c);
	}
}
END_TEST

/* A task chooses its name. */
START_TEST(hostile_names)
{
	static const char *const names[] = {
		"a) ts 1 ns", "), ts 1 ns\n", "a), ts 1 ns\nPF", "\n\nPage all",
		")", "", "(a) (b)), ts 5", "x\n\n y+0x1/0x2", "123456789012345",
		"), ts 1 ns\n)))", "\xff\xfe\n\t ", "Slab cache pag",
	};
	char text[512];
	unsigned i;

	for (i = 0; i < PDET_COUNT(names); i++) {
		int n = snprintf(text, sizeof(text),
				 "Page allocated via order 0, mask 0xcc0("
				 "GFP_KERNEL), pid 1, tgid 2 (%s), ts 77 ns%s"
				 "\n" PFN_LINE STACK "\n", names[i],
				 i % 2 ? ", free_ts 8 ns" : "");
		struct cutting c = cut(text, (size_t)n);

		is(&c, PDET_OWNER_RECORD);
		says(&c.r.comm, names[i]);
		ck_assert_uint_eq(c.r.ns, 77);
		ck_assert_uint_eq(c.r.free_ns, i % 2 ? 8 : 0);
		ck_assert_uint_eq(c.r.pfn, 0x1f);
		end(&c);
	}
}
END_TEST

START_TEST(files_of_stacks)
{
	struct cutting c = CUT(STACK "nr_base_pages: 12\n\n"
			       STACK "handle: 3\nnr_base_pages: 5\n\n"
			       "handle: 4\nnr_base_pages: 6\n\n");

	is(&c, PDET_OWNER_RECORD);
	ck_assert_uint_eq(c.r.has, PDET_OWNER_STACK_ONLY);
	ck_assert_uint_eq(c.r.pages, 12);
	says(&c.r.stack, STACK);
	is(&c, PDET_OWNER_RECORD);
	ck_assert_uint_eq(c.r.pages, 5);
	is(&c, PDET_OWNER_RECORD);
	ck_assert_uint_eq(c.r.pages, 6);
	says(&c.r.stack, "");
	end(&c);
}
END_TEST

/* A truncated record does not count, and the next one is not lost. */
START_TEST(cut_anywhere)
{
	static const char record[] = NEW STACK "Charged to memcg a\n\n";
	char text[2 * sizeof(record)];
	size_t n;

	for (n = 1; n < sizeof(record) - 2; n++) {
		struct cutting c;

		memcpy(text, record, n);
		memcpy(text + n, record, sizeof(record) - 1);
		c = cut(text, n + sizeof(record) - 1);
		/* If the first line is cut, the second record continues. */
		while (pdet_owner_next(&c.text, true, 0, &c.r) ==
		       PDET_OWNER_DAMAGED)
			;
		if (n > sizeof(NEW) && record[n - 1] == '\n') {
			says(&c.r.memcg, "a");
			ck_assert_uint_eq(c.r.pid, 7);
		}
		free(c.copy);

		/* And at the end. */
		c = cut(record, n);
		ck_assert_int_eq(pdet_owner_next(&c.text, true, 0, &c.r),
				 n >= sizeof(NEW) - 1 && record[n - 1] == '\n' ?
				 PDET_OWNER_RECORD : PDET_OWNER_DAMAGED);
		end(&c);
	}
}
END_TEST

START_TEST(what_is_none)
{
	struct cutting c = CUT("# a comment\n\n\n" NEW STACK "\n"
			       "Page allocated via order 31, mask 0x0()\n\n"
			       NEW STACK "Unknown line\n\n"
			       NEW STACK NEW STACK "\n"
			       " lonely+0x1/0x2\n\n"
			       "Page allocated via order 0, mask 0x0(), "
			       "pid 4294967296, ts 1 ns\n" PFN_LINE "\n"
			       "PFN 0x1\n");

	is(&c, PDET_OWNER_DAMAGED);
	is(&c, PDET_OWNER_RECORD);
	is(&c, PDET_OWNER_DAMAGED);
	is(&c, PDET_OWNER_DAMAGED);
	/* A record that runs into the next one. */
	is(&c, PDET_OWNER_DAMAGED);
	is(&c, PDET_OWNER_RECORD);
	is(&c, PDET_OWNER_DAMAGED);
	is(&c, PDET_OWNER_DAMAGED);
	is(&c, PDET_OWNER_DAMAGED);
	end(&c);
}
END_TEST

START_TEST(largest_numbers)
{
	struct cutting c = CUT("Page allocated via order 30, mask 0xffffffff("
			       "0xffffffff), pid 4294967295, tgid 0 (), "
			       "ts 18446744073709551615 ns\n"
			       "PFN 0xffffffffffffffff type a Block "
			       "18446744073709551615 type b Flags 0x0()\n\n"
			       "Page allocated via order 0, mask 0x0(), pid 1, "
			       "ts 18446744073709551616 ns\n" PFN_LINE "\n"
			       "Page allocated via order 0, mask 0x0()\n"
			       "PFN 18446744073709551615 type a Block 0 "
			       "type b Flags 0x0()\n\n");

	is(&c, PDET_OWNER_RECORD);
	ck_assert_uint_eq(c.r.pages, (uint64_t)1 << 30);
	ck_assert_uint_eq(c.r.pfn, UINT64_MAX);
	ck_assert_uint_eq(c.r.ns, UINT64_MAX);
	ck_assert_uint_eq(c.r.pid, UINT32_MAX);
	is(&c, PDET_OWNER_DAMAGED);
	is(&c, PDET_OWNER_RECORD);
	ck_assert_uint_eq(c.r.pfn, UINT64_MAX);
	end(&c);
}
END_TEST

START_TEST(a_deep_stack)
{
	enum { FRAMES = 10000 };
	char *text = malloc(FRAMES * 40 + 1000), *at = text, *frames;
	struct cutting c;
	unsigned i;
	size_t n;

	at += sprintf(at, "%s", NEW);
	for (i = 0; i < FRAMES; i++)
		at += sprintf(at, " function_%u+0x%x/0x%x\n", i, i, i + 1);
	at += sprintf(at, "\n%s\n", NEW STACK);
	c = cut(text, (size_t)(at - text));
	is(&c, PDET_OWNER_RECORD);
	n = (size_t)(c.r.stack.end - c.r.stack.at);
	frames = malloc(n);
	ck_assert_uint_eq(pdet_owner_frames(&c.r.stack, frames), n - FRAMES);
	ck_assert_mem_eq(frames, "function_0+0x0/0x1\nfunction_1+", 30);
	free(frames);
	is(&c, PDET_OWNER_RECORD);
	says(&c.r.stack, STACK);
	end(&c);
	free(text);
}
END_TEST

/* Before 4.6: no names, and numbers of types that differ between kernels. */
START_TEST(a_record_of_3_19)
{
	struct cutting c = CUT("Page allocated via order 1, mask 0x280da\n"
			       "PFN 4550 Block 8 type 2 Fallback Flags   U "
			       "L\n"
			       " [<ffffffff8116147e>] alloc+0x1de/0xb00\n"
			       " [<ffffffff8118d35b>] do_fault+0x1/0x2 [xfs]\n"
			       " [<ffffffffffffffff>] 0xffffffffffffffff\n\n");
	static const char frames[] = "alloc+0x1de/0xb00\n"
				     "do_fault+0x1/0x2 [xfs]\n";
	struct pdet_scan value;
	char buf[256];

	is(&c, PDET_OWNER_RECORD);
	ck_assert_uint_eq(c.r.has, PDET_OWNER_OLD);
	ck_assert_uint_eq(c.r.order, 1);
	ck_assert_uint_eq(c.r.gfp_mask, 0x280da);
	ck_assert_uint_eq(c.r.pfn, 4550);
	ck_assert_uint_eq(c.r.block, 8);
	says(&c.r.gfp, "");
	says(&c.r.type, "");
	says(&c.r.block_type, "");
	ck_assert(!pdet_owner_flag(&c.r, "node=", &value));
	ck_assert_uint_eq(pdet_owner_frames(&c.r.stack, buf),
			  sizeof(frames) - 1);
	ck_assert_mem_eq(buf, frames, sizeof(frames) - 1);
	end(&c);
}
END_TEST

/* What an address in brackets is, and what is not. */
START_TEST(addresses_of_frames)
{
	static const struct {
		const char *stack, *frames;
	} stacks[] = {
		{ " [<c01234ab>] f+0x1/0x2\n", "f+0x1/0x2\n" },
		{ "  [<0>] f+0x1/0x2\n", "f+0x1/0x2\n" },
		{ " [<c01234ab>] 0xc01234ab\n", "0xc01234ab\n" },
		{ " f [xfs]\n", "f [xfs]\n" },
		{ " [<c01234ab>]\n", "[<c01234ab>]\n" },
		{ " [<c01234ab>] \n", "[<c01234ab>] \n" },
		{ " [<zz>] f\n", "[<zz>] f\n" },
		{ " [<ff", "[<ff" },
		{ " [<ffffffffffffffff>] 0xffffffffffffffff\n", "" },
	};
	const char *stack = stacks[_i].stack;
	struct cutting c = cut(stack, strlen(stack));
	char buf[64];
	size_t n = pdet_owner_frames(&c.text, buf);

	ck_assert_uint_eq(n, strlen(stacks[_i].frames));
	ck_assert_mem_eq(buf, stacks[_i].frames, n);
	free(c.copy);
}
END_TEST

/* The number of a stack, alone or behind its lines. */
START_TEST(numbers_of_stacks)
{
	struct cutting c = CUT(NEW "handle: 17432583\n"
			       "Charged to memcg a\n\n"
			       NEW STACK "handle: 5\n\n"
			       NEW "handle: x\n\n");
	struct pdet_owner_stack stack;

	is(&c, PDET_OWNER_RECORD);
	ck_assert(c.r.has & PDET_OWNER_HANDLE);
	ck_assert_uint_eq(c.r.handle, 17432583);
	says(&c.r.stack, "handle: 17432583\n");
	says(&c.r.memcg, "a");
	stack = pdet_owner_stack_of(c.r.stack.at, (size_t)(c.r.stack.end -
							   c.r.stack.at));
	ck_assert(stack.unknown);
	ck_assert_ptr_null(stack.allocator);
	is(&c, PDET_OWNER_RECORD);
	ck_assert(!(c.r.has & PDET_OWNER_HANDLE));
	says(&c.r.stack, STACK);
	is(&c, PDET_OWNER_DAMAGED);
	end(&c);
}
END_TEST

/* Groups that page_owner_sort has written. */
START_TEST(groups)
{
	static const struct {
		const char *text;
		uint64_t times, pages;
	} texts[] = {
		{ "3 times, 12 pages:\n" NEW STACK "Slab cache page\n\n",
		  3, 12 },
		{ "3 times, 12 pages, by slab :\nPage allocated via order 2, "
		  "mask 0xcc0(GFP_KERNEL), pid 7, tgid 6 (cat), ts 99 ns\n"
		  STACK "\n", 3, 12 },
		{ "12 times:\nPage allocated via order 2, mask 0x52d0\n"
		  STACK "\n", 12, 48 },
		{ "3 times, 9 pages, PID 7, task_comm_name: a:b:\n" STACK
		  "\n", 3, 9 },
		/* without the number of pages, or out of any range */
		{ "3 times:\n" STACK "\n", 0, 0 },
		{ "18446744073709551615 times:\nPage allocated via order 1, "
		  "mask 0x0\n" STACK "\n", 0, 0 },
		{ "18446744073709551616 times, 1 pages:\n" STACK "\n", 0, 0 },
		{ "3 times, x pages:\n" STACK "\n", 0, 0 },
		{ "3 times, 9 pages, PID 7\n\n", 0, 0 },
		{ "3 apples:\n" STACK "\n", 0, 0 },
		{ "3 times, 9 pages:\n" STACK NEW "\n", 0, 0 },
	};
	const char *text = texts[_i].text;
	struct cutting c = cut(text, strlen(text));
	enum pdet_owner_is what;

	if (!texts[_i].times) {
		do
			what = pdet_owner_next(&c.text, true, 0, &c.r);
		while (what == PDET_OWNER_DAMAGED);
		/* A plain record may follow. */
		ck_assert(what == PDET_OWNER_END ||
			  !(c.r.has & PDET_OWNER_STACK_ONLY));
		free(c.copy);
		return;
	}
	is(&c, PDET_OWNER_RECORD);
	ck_assert_uint_eq(c.r.has, PDET_OWNER_STACK_ONLY);
	ck_assert_uint_eq(c.r.times, texts[_i].times);
	ck_assert_uint_eq(c.r.pages, texts[_i].pages);
	says(&c.r.stack, STACK);
	end(&c);
}
END_TEST

/* Records of a text with other ends of lines are the same, in any block. */
START_TEST(ends_of_lines)
{
	static const char record[] = NEW STACK "Charged to memcg a\n\n";
	enum { RECORDS = 20000 };
	char *text = malloc(RECORDS * sizeof(record) * 2), *to = text;
	char *buf = malloc(PDET_OWNER_BLOCK);
	struct pdet_text_stream *stream;
	struct pdet_owner_blocks cutter;
	struct pdet_owner_record r;
	struct pdet_env env = { 0 };
	unsigned n = 0, got = 0;
	struct pdet_scan head;
	const char *at;
	ssize_t size;

	for (n = 0; n < RECORDS; n++)
		for (at = record; *at; at++) {
			if (*at == '\n' && _i)
				*to++ = '\r';
			*to++ = *at;
		}
	ck_assert_int_eq(pdet_text_stream_memory(&env, text,
						 (size_t)(to - text), "text",
						 &stream), 0);
	ck_assert_int_eq(pdet_owner_blocks_begin(&cutter, stream, &env, &head),
			 0);
	while ((size = pdet_owner_blocks_read(&cutter, &env, buf)) > 0) {
		struct pdet_scan block = { buf, buf };
		enum pdet_owner_is what;

		block.end += pdet_owner_blocks_plain(&cutter, buf,
						     (size_t)size);
		while ((what = pdet_owner_next(&block, false, 0, &r)) !=
		       PDET_OWNER_END) {
			ck_assert_int_eq(what, PDET_OWNER_RECORD);
			says(&r.stack, STACK);
			says(&r.memcg, "a");
			got++;
		}
	}
	ck_assert_int_eq(size, 0);
	ck_assert_uint_eq(got, RECORDS);
	pdet_text_stream_close(stream);
	free(text);
	free(buf);
}
END_TEST

/* Two files that have only half of the data. */
START_TEST(halves)
{
	static const struct {
		const char *text, *missing;
	} texts[] = {
		{ STACK "handle: 3\n\n" STACK "handle: 4\n\n", "counts" },
		{ "handle: 3\nnr_base_pages: 5\n\nhandle: 4\n"
		  "nr_base_pages: 6\n\n", "stacks" },
		{ STACK "nr_base_pages: 5\n\n", NULL },
		{ STACK "handle: 3\nnr_base_pages: 5\n\n", NULL },
		{ NEW STACK "\n", NULL },
		{ "handler: 3\n", NULL },
		{ "", NULL },
	};
	const char *missing;
	struct pdet_scan s;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		s.at = texts[i].text;
		s.end = s.at + strlen(s.at);
		missing = pdet_owner_half(&s);
		ck_assert_msg(missing == texts[i].missing ||
			      (missing && texts[i].missing &&
			       !strcmp(missing, texts[i].missing)),
			      "%zu: %s", i, missing);
		ck_assert_int_eq(pdet_owner_is_text(&s), i < 5);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("owner_text");

	unit_test(suite, a_record_of_6_12);
	unit_test(suite, a_record_of_6_1);
	unit_test(suite, blocks);
	unit_test(suite, flags);
	unit_test(suite, older_records);
	unit_test(suite, hostile_names);
	unit_test(suite, files_of_stacks);
	unit_test(suite, cut_anywhere);
	unit_test(suite, what_is_none);
	unit_test(suite, largest_numbers);
	unit_test(suite, a_deep_stack);
	unit_test(suite, halves);
	unit_test(suite, a_record_of_3_19);
	unit_loop(suite, addresses_of_frames, 9);
	unit_test(suite, numbers_of_stacks);
	unit_loop(suite, groups, 11);
	unit_loop(suite, ends_of_lines, 2);
	return unit_main(suite);
}
