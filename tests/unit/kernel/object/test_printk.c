/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests reading the kernel log from memory: both forms, wrapped around, and
 * damaged.
 */
#include "../../../fuzz/printk_layout.h"
#include "../../unit.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* The ring: 4 descriptors, 64 bytes of text. */
enum { RB = 64, DESCS = 256, INFOS = 512, TEXT = 1024, BYTES = 1024 + 4096 };

static uint8_t memory[BYTES];
static char said[1024];

static void put(size_t at, uint64_t value, size_t n)
{
	memcpy(memory + at, &value, n);
}

static int say(void *arg, const struct pdet_printk_record *r)
{
	size_t at = strlen(said);

	(void)arg;
	snprintf(said + at, sizeof(said) - at, "%llu %llu <%u.%u> %.*s\n",
		 (unsigned long long)r->seq, (unsigned long long)r->time_ns,
		 r->facility, r->level, (int)r->len, r->text);
	return 0;
}

static int read_log(const char *info, uint64_t *lost)
{
	struct pdet_printk_visit visit = { say, NULL, 0 };
	int r;

	said[0] = '\0';
	r = log_each(info, memory, sizeof(memory), &visit);
	*lost = visit.lost;
	return r;
}

static void make_ring(uint64_t tail, uint64_t head)
{
	memset(memory, 0, sizeof(memory));
	put(0, LOG_BASE + RB, 8);
	put(RB, 2, 4);
	put(RB + 8, LOG_BASE + DESCS, 8);
	put(RB + 16, LOG_BASE + INFOS, 8);
	put(RB + 24, head, 8);
	put(RB + 32, tail, 8);
	put(RB + 48, 6, 4);
	put(RB + 56, LOG_BASE + TEXT, 8);
}

/*
 * Adds a record at @begin of the text, which never wraps; @state: 2 finalized.
 */
static void add(uint64_t id, uint64_t state, uint64_t begin, uint64_t next,
		const char *text)
{
	const size_t i = id % 4;
	const uint64_t at = (begin ^ (next - 1)) / 64 ? 0 : begin % 64;

	put(DESCS + i * 24, id | state << 62, 8);
	put(DESCS + i * 24 + 8, begin, 8);
	put(DESCS + i * 24 + 16, next, 8);
	put(INFOS + i * 88, id + 100, 8);
	put(INFOS + i * 88 + 8, id * 1000, 8);
	put(INFOS + i * 88 + 16, strlen(text), 2);
	put(INFOS + i * 88 + 18, 3, 1);
	put(INFOS + i * 88 + 19, 5 << 5 | 1, 1);
	if (begin & 1)
		return;
	put(TEXT + at, id, 8);
	memcpy(memory + TEXT + at + 8, text, strlen(text));
}

START_TEST(ring)
{
	uint64_t lost;

	make_ring(5, 7);
	add(5, 2, 88, 104, "one");
	add(6, 1, 104, 120, "two");
	/* Does not fit at the end, so it is at the beginning. */
	add(7, 2, 120, 128 + 16, "three");
	ck_assert_int_eq(read_log(log_ring_info, &lost), 0);
	ck_assert_str_eq(said, "105 5000 <3.5> one\n"
			 "106 6000 <3.5> two\n"
			 "107 7000 <3.5> three\n");
	ck_assert_uint_eq(lost, 0);
}
END_TEST

START_TEST(ring_to_its_last_byte)
{
	uint64_t lost;

	make_ring(5, 5);
	add(5, 2, 64 + 40, 128, "the last");
	ck_assert_int_eq(read_log(log_ring_info, &lost), 0);
	ck_assert_str_eq(said, "105 5000 <3.5> the last\n");
	ck_assert_uint_eq(lost, 0);
}
END_TEST

static int take_len(void *arg, const struct pdet_printk_record *r)
{
	*(size_t *)arg = r->len;
	ck_assert_int_eq(r->text[0], 'a');
	ck_assert_int_eq(r->text[r->len - 1], 'z');
	ck_assert_uint_eq(r->facility, 3);
	ck_assert_uint_eq(r->level, 5);
	return 0;
}

/* A length has two bytes, whatever room a hostile block has. */
START_TEST(ring_of_one_long_text)
{
	enum { BITS = 20, LONGEST = 65535 };
	uint8_t *big = calloc(1, TEXT + (1 << BITS));
	size_t len = 0;
	struct pdet_printk_visit visit = { take_len, &len, 0 };

	ck_assert_ptr_nonnull(big);
	make_ring(5, 5);
	put(RB + 48, BITS, 4);
	add(5, 2, 0, 1 << BITS, "");
	memcpy(big, memory, TEXT + 8);
	memset(big + INFOS + 88 + 16, 0xff, 2);
	memset(big + TEXT + 8, 'z', (1 << BITS) - 8);
	big[TEXT + 8] = 'a';
	ck_assert_int_eq(log_each(log_ring_info, big, TEXT + (1 << BITS),
				  &visit), 0);
	ck_assert_uint_eq(visit.lost, 0);
	ck_assert_uint_eq(len, LONGEST);
	free(big);
}
END_TEST

START_TEST(ring_without_text)
{
	uint64_t lost;

	make_ring(4, 7);
	add(4, 3, 0, 0, "");	/* never used */
	add(5, 2, 3, 3, "");	/* an empty line */
	add(6, 2, 1, 1, "lost"); /* there was no room */
	add(7, 0, 64, 80, "is being written");
	ck_assert_int_eq(read_log(log_ring_info, &lost), 0);
	ck_assert_str_eq(said, "105 5000 <3.5> \n");
	ck_assert_uint_eq(lost, 2);
}
END_TEST

START_TEST(ring_damaged)
{
	uint64_t lost;

	make_ring(5, 6);
	add(5, 2, 64, 80, "one");
	add(6, 2, 80, 104, "and two");
	put(TEXT + 16, 99, 8);	/* the text of another record */
	ck_assert_int_eq(read_log(log_ring_info, &lost), 0);
	ck_assert_str_eq(said, "105 5000 <3.5> one\n");
	ck_assert_uint_eq(lost, 1);
	/* the head is not reached: there may be others */
	make_ring(5, 6);
	add(5, 2, 64, 80, "one");
	put(RB + 24, 1 << 20, 8);
	ck_assert_int_eq(read_log(log_ring_info, &lost), 0);
	ck_assert_uint_ge(lost, 1);
	put(RB, 40, 4);
	ck_assert_int_eq(read_log(log_ring_info, &lost), -EBADMSG);
	make_ring(5, 6);
	put(RB + 48, 32, 4);
	ck_assert_int_eq(read_log(log_ring_info, &lost), -EBADMSG);
	put(0, 0x1000, 8);
	ck_assert_int_lt(read_log(log_ring_info, &lost), 0);
	ck_assert_int_eq(read_log("SYMBOL(prb)=ffffffff80000000\n", &lost),
			 -ENODATA);
	ck_assert_int_eq(read_log("", &lost), -ENODATA);
}
END_TEST

/* --- the older form --- */

static size_t add_old(size_t at, uint64_t ns, const char *text)
{
	const size_t len = strlen(text), whole = (16 + len + 3) / 4 * 4;

	put(TEXT + at, ns, 8);
	put(TEXT + at + 8, whole, 2);
	put(TEXT + at + 10, len, 2);
	put(TEXT + at + 14, 0, 1);
	put(TEXT + at + 15, 6 << 5, 1);
	memcpy(memory + TEXT + at + 16, text, len);
	return at + whole;
}

static void make_buffer(uint32_t size, uint32_t first, uint32_t next)
{
	memset(memory, 0, sizeof(memory));
	put(0, LOG_BASE + TEXT, 8);
	put(8, size, 4);
	put(12, first, 4);
	put(16, next, 4);
}

START_TEST(buffer)
{
	uint64_t lost;
	size_t next;

	make_buffer(128, 0, 0);
	next = add_old(add_old(0, 1, "one"), 2, "two");
	put(16, next, 4);
	ck_assert_int_eq(read_log(log_buffer_info, &lost), 0);
	ck_assert_str_eq(said, "0 1 <0.6> one\n0 2 <0.6> two\n");
	ck_assert_uint_eq(lost, 0);
}
END_TEST

START_TEST(buffer_wrapped)
{
	uint64_t lost;
	size_t next;

	make_buffer(128, 80, 0);
	add_old(80, 1, "one");	/* no room behind it */
	next = add_old(0, 2, "two");
	put(16, next, 4);
	ck_assert_int_eq(read_log(log_buffer_info, &lost), 0);
	ck_assert_str_eq(said, "0 1 <0.6> one\n0 2 <0.6> two\n");
	ck_assert_uint_eq(lost, 0);
}
END_TEST

START_TEST(buffer_damaged)
{
	uint64_t lost;
	size_t next;

	make_buffer(128, 0, 0);
	next = add_old(add_old(0, 1, "one"), 2, "two");
	put(16, next, 4);
	put(TEXT + 20 + 8, 8, 2);	/* shorter than a record */
	ck_assert_int_eq(read_log(log_buffer_info, &lost), 0);
	ck_assert_str_eq(said, "0 1 <0.6> one\n");
	ck_assert_uint_eq(lost, 1);
	/* Reaches past the begin of the next one. */
	make_buffer(128, 0, 4);
	add_old(0, 1, "one");
	ck_assert_int_eq(read_log(log_buffer_info, &lost), 0);
	ck_assert_uint_eq(lost, 1);
	make_buffer(128, 128, 4);
	ck_assert_int_eq(read_log(log_buffer_info, &lost), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("printk");

	unit_test(s, ring);
	unit_test(s, ring_to_its_last_byte);
	unit_test(s, ring_of_one_long_text);
	unit_test(s, ring_without_text);
	unit_test(s, ring_damaged);
	unit_test(s, buffer);
	unit_test(s, buffer_wrapped);
	unit_test(s, buffer_damaged);
	return unit_main(s);
}
