/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which fast commits a replay applies, and their effects on a file. */
#include <errno.h>
#include <sys/types.h>

#include "../../fuzz/fast_commits.h"
#include "../unit.h"

#define INO 12

static struct fast *new_fast(void)
{
	struct fast *f = calloc(1, sizeof(*f));

	ck_assert_ptr_nonnull(f);
	fast_head(f, FAST_TID);
	return f;
}

static void add_range(struct fast *f, uint32_t ino, uint32_t at, uint32_t n,
		      uint64_t block)
{
	uint8_t v[16] = { 0 };

	fast_le(v, ino, 4);
	fast_le(v + 4, at, 4);
	fast_le(v + 8, n, 2);
	fast_le(v + 10, block >> 32, 2);
	fast_le(v + 12, block, 4);
	fast_tag(f, ADD_RANGE, v, sizeof(v));
}

static void del_range(struct fast *f, uint32_t ino, uint32_t at, uint32_t n)
{
	uint8_t v[12] = { 0 };

	fast_le(v, ino, 4);
	fast_le(v + 4, at, 4);
	fast_le(v + 8, n, 4);
	fast_tag(f, DEL_RANGE, v, sizeof(v));
}

static void name(struct fast *f, unsigned kind, uint32_t ino)
{
	uint8_t v[9] = { 2, 0, 0, 0, 0, 0, 0, 0, 'n' };

	fast_le(v + 4, ino, 4);
	fast_tag(f, kind, v, sizeof(v));
}

static void inode_of(struct fast *f, uint32_t ino, uint32_t links,
		     uint32_t bytes)
{
	uint8_t v[4 + 160] = { 0 };

	fast_le(v, ino, 4);
	fast_le(v + 4, 0x81a4, 2);
	fast_le(v + 4 + 4, bytes, 4);
	fast_le(v + 4 + 26, links, 2);
	fast_le(v + 4 + 100, 0x1234, 4);
	fast_tag(f, INODE, v, sizeof(v));
}

static int replay(struct fast *f, struct pdet_ext4_inode *inode)
{
	struct pdet_jbd2 log = fast_log(f);
	const struct pdet_ext4 fs = fast_ext4();

	return pdet_ext4_fc_replay(&log, &fs, INO, inode);
}

static void is_run(const struct pdet_ext4_inode *inode, size_t i, uint64_t at,
		   uint64_t n, uint64_t block, bool unwritten)
{
	const struct pdet_ext4_run *r = &inode->runs.data[i];

	ck_assert_uint_lt(i, inode->runs.n);
	ck_assert_uint_eq(r->at, at);
	ck_assert_uint_eq(r->n, n);
	ck_assert_uint_eq(r->block, block);
	ck_assert_int_eq(r->unwritten, unwritten);
}

START_TEST(ranges_take_the_place_of_others)
{
	struct pdet_ext4_inode inode = { .links = 1 };
	struct fast *f = new_fast();

	add_range(f, INO, 0, 10, 1000);
	add_range(f, INO + 1, 0, 10, 3000);
	add_range(f, INO, 4, 2, 2000);
	add_range(f, INO, 20, 32768 + 3, 5000);
	del_range(f, INO, 8, 1);
	inode_of(f, INO, 2, 12345);
	fast_tail(f, FAST_TID);
	ck_assert_int_eq(replay(f, &inode), 1);
	ck_assert_uint_eq(inode.runs.n, 5);
	is_run(&inode, 0, 0, 4, 1000, false);
	is_run(&inode, 1, 4, 2, 2000, false);
	is_run(&inode, 2, 6, 2, 1006, false);
	is_run(&inode, 3, 9, 1, 1009, false);
	is_run(&inode, 4, 20, 3, 5000, true);
	ck_assert_uint_eq(inode.bytes, 12345);
	ck_assert_uint_eq(inode.links, 2);
	ck_assert_uint_eq(inode.generation, 0x1234);
	pdet_ext4_inode_free(&inode);
	free(f);
}
END_TEST

START_TEST(names_are_links)
{
	struct pdet_ext4_inode inode = { .links = 0 };
	struct fast *f = new_fast();

	name(f, CREAT, INO);
	name(f, LINK, INO);
	name(f, LINK, INO);
	name(f, UNLINK, INO);
	name(f, UNLINK, INO + 1);
	fast_tail(f, FAST_TID);
	ck_assert_int_eq(replay(f, &inode), 1);
	ck_assert_uint_eq(inode.links, 2);
	free(f);
}
END_TEST

/* Several blocks, several commits; the last one has no tail. */
START_TEST(only_whole_ones)
{
	struct pdet_ext4_inode inode = { .links = 1 };
	struct fast *f = new_fast();
	uint32_t i;

	for (i = 0; i < 100; i++)
		add_range(f, INO, i, 1, 1000 + 2 * i);
	fast_tail(f, FAST_TID);
	inode_of(f, INO, 1, 4000);
	fast_tail(f, FAST_TID);
	inode_of(f, INO, 1, 9000);
	ck_assert_int_eq(replay(f, &inode), 2);
	ck_assert_uint_eq(inode.runs.n, 100);
	ck_assert_uint_eq(inode.bytes, 4000);
	pdet_ext4_inode_free(&inode);
	free(f);
}
END_TEST

/* Parts of other transactions, and damaged ones, are not applied. */
START_TEST(others_are_left)
{
	struct pdet_ext4_inode inode = { .links = 1, .bytes = 1 };
	struct fast *f = calloc(1, sizeof(*f));

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(replay(f, &inode), 0);
	fast_head(f, FAST_TID - 1);
	inode_of(f, INO, 1, 9000);
	fast_tail(f, FAST_TID - 1);
	ck_assert_int_eq(replay(f, &inode), 0);
	memset(f, 0, sizeof(*f));
	fast_head(f, FAST_TID);
	inode_of(f, INO, 1, 9000);
	fast_tail(f, FAST_TID);
	f->data[40] ^= 1;
	ck_assert_int_eq(replay(f, &inode), 0);
	ck_assert_uint_eq(inode.bytes, 1);
	f->data[40] ^= 1;
	ck_assert_int_eq(replay(f, &inode), 1);
	ck_assert_uint_eq(inode.bytes, 9000);
	free(f);
}
END_TEST

START_TEST(places_that_cannot_be)
{
	struct pdet_ext4_inode inode = { .links = 1 };
	struct fast *f = new_fast();

	add_range(f, INO, 0, 10, 65530);
	fast_tail(f, FAST_TID);
	ck_assert_int_eq(replay(f, &inode), -EBADMSG);
	pdet_ext4_inode_free(&inode);
	free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ext4_fc");

	unit_test(s, ranges_take_the_place_of_others);
	unit_test(s, names_are_links);
	unit_test(s, only_whole_ones);
	unit_test(s, others_are_left);
	unit_test(s, places_that_cannot_be);
	return unit_main(s);
}
