/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests parsing of QEMU's streams from which the fuzzer starts. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>

#include <pagedet.h>

#include "../unit.h"

struct said {
	char text[4096];
};

__attribute__((format(printf, 2, 3)))
static void say(struct said *s, const char *fmt, ...)
{
	const size_t n = strlen(s->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->text + n, sizeof(s->text) - n, fmt, ap);
	va_end(ap);
}

/* The second byte identifies a page that is sent completely. */
static void say_page(struct said *s, const struct pagedet_streamed_page *p)
{
	static const char *const words[] = { "", "has", "all", "packed",
					     "dropped" };
	const unsigned char *bytes = p->bytes;

	ck_assert_int_eq(bytes != NULL, p->kind == PAGEDET_STREAMED_BYTES);
	if (p->kind != PAGEDET_STREAMED_DROP)
		ck_assert_uint_eq(p->len, 4096);
	say(s, "%s+%x %s %u turn %u\n", p->block, (unsigned)p->offset,
	    words[p->kind], bytes ? bytes[1] :
	    p->kind == PAGEDET_STREAMED_DROP ? (unsigned)p->len : p->fill,
	    (unsigned)p->turn);
}

static size_t read_corpus(const char *name, void *bytes, size_t size)
{
	char path[4096], of[128];
	size_t n;
	FILE *f;

	snprintf(of, sizeof(of), "tests/fuzz/corpus/migration/%s", name);
	f = fopen(unit_source(path, sizeof(path), of), "rb");
	ck_assert_msg(f != NULL, "cannot read %s", path);
	n = fread(bytes, 1, size, f);
	fclose(f);
	return n;
}

static const struct {
	const char *name, *said, *why;
	unsigned main, turns;
} streams[] = {
	{ "precopy",
	  "pc.ram+1000 has 6 turn 1\npc.ram+2000 all 0 turn 1\n"
	  "pc.ram+3000 all 170 turn 1\npc.bios+0 has 14 turn 1\n"
	  "pc.ram+1000 has 10 turn 2\npc.ram+4000 packed 0 turn 2\n"
	  "pc.ram+5000 packed 0 turn 2\n", NULL, 1, 3 },
	{ "postcopy",
	  "pc.ram+1000 has 6 turn 1\npc.ram+1000 dropped 4096 turn 2\n"
	  "pc.ram+1000 has 8 turn 2\n", NULL, 1, 3 },
	{ "shared", "pc.bios+0 has 18 turn 1\n", NULL, 1, 2 },
	/*
	 * A page after a synchronisation of all channels is in the next turn.
	 */
	{ "multifd",
	  "pc.ram+1000 has 6 turn 0\npc.ram+2000 has 8 turn 0\n"
	  "pc.ram+4000 all 0 turn 1\npc.ram+3000 has 10 turn 1\n"
	  "pc.ram+5000 packed 0 turn 2\n", NULL, 0, 2 },
	/*
	 * A packet that only synchronises has room for offsets that it does not
	 * mention.
	 */
	{ "multifd-qemu10", "pc.ram+1000 has 6 turn 1\n", NULL, 0, 2 },
	{ "cut",
	  "pc.ram+1000 has 6 turn 1\npc.ram+2000 all 0 turn 1\n"
	  "pc.ram+3000 all 170 turn 1\n", "it ended before everything was sent",
	  1,
	  1 },
	{ "other", "", "a section other than that of memory", 1, 0 },
};

/* In one piece, and byte by byte. */
static void take(struct pagedet_stream *s, const unsigned char *bytes,
		 size_t len, size_t piece, struct said *said)
{
	struct pagedet_streamed_page page = { .size = sizeof(page) };
	size_t i;
	int r;

	for (i = 0; i < len; i += piece) {
		const size_t n = len - i < piece ? len - i : piece;
		uint64_t at = 0;

		while ((r = pagedet_stream_take(s, bytes + i, n, &at,
						&page)) == 1)
			say_page(said, &page);
		ck_assert_int_eq(r, 0);
		ck_assert_uint_eq(at, n);
	}
}

static void check(unsigned i, bool bytewise)
{
	static unsigned char bytes[1 << 16];
	struct pagedet_stream_options o = PAGEDET_STREAM_OPTIONS_INIT;
	struct pagedet_stream_info info = { .size = sizeof(info) };
	struct said said = { "" };
	struct pagedet_stream *s;
	const size_t n = read_corpus(streams[i].name, bytes, sizeof(bytes));

	if (!strcmp(streams[i].name, "shared"))
		o.options = PAGEDET_STREAM_IGNORE_SHARED;
	ck_assert_int_eq(pagedet_stream_new(&o, &s), 0);
	take(s, bytes, n, bytewise ? 1 : n, &said);
	ck_assert_str_eq(said.text, streams[i].said);
	ck_assert_int_eq(pagedet_stream_info(s, &info), 0);
	ck_assert_pstr_eq(info.why, streams[i].why);
	ck_assert_uint_eq(info.is_main, streams[i].main);
	ck_assert_uint_eq(info.turns, streams[i].turns);
	pagedet_stream_free(s);
}

START_TEST(what_streams_say)
{
	check((unsigned)_i, false);
	check((unsigned)_i, true);
}
END_TEST

START_TEST(a_stream_that_is_none_is_passed_over)
{
	struct pagedet_streamed_page page = { .size = sizeof(page) };
	struct pagedet_stream_info info = { .size = sizeof(info) };
	struct pagedet_stream *s;
	uint64_t at = 0;

	ck_assert_int_eq(pagedet_stream_new(NULL, &s), 0);
	ck_assert_int_eq(pagedet_stream_take(s, "this isn't migration", 20,
					     &at, &page), 0);
	ck_assert_uint_eq(at, 20);
	ck_assert_int_eq(pagedet_stream_info(s, &info), 0);
	ck_assert_uint_eq(info.over, 1);
	ck_assert_pstr_eq(info.why, "neither a migration nor one of its "
			  "channels");
	at = 21;
	ck_assert_int_eq(pagedet_stream_take(s, "this isn't migration", 20,
					     &at, &page), -EINVAL);
	pagedet_stream_free(s);
}
END_TEST

START_TEST(options_are_checked)
{
	struct pagedet_stream_options o = PAGEDET_STREAM_OPTIONS_INIT;
	struct pagedet_stream *s = NULL;

	o.page_size = 4097;
	ck_assert_int_eq(pagedet_stream_new(&o, &s), -EINVAL);
	o.page_size = 1 << 17;
	ck_assert_int_eq(pagedet_stream_new(&o, &s), -EINVAL);
	o.page_size = 4096;
	o.packet_bytes = 64u << 20;
	ck_assert_int_eq(pagedet_stream_new(&o, &s), -EINVAL);
	o.packet_bytes = 0;
	o.options = 2;
	ck_assert_int_eq(pagedet_stream_new(&o, &s), -E2BIG);
	ck_assert_ptr_null(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stream");

	unit_loop(s, what_streams_say,
		  (int)(sizeof(streams) / sizeof(*streams)));
	unit_test(s, a_stream_that_is_none_is_passed_over);
	unit_test(s, options_are_checked);
	return unit_main(s);
}
