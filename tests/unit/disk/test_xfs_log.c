/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the log of xfs: its two ends, and what a replay makes of an inode. */
#include <errno.h>

#include "disk/xfs_log.h"
#include "../unit.h"
#include "../xfslog.h"

struct replay {
	struct pdet_xfs fs;
	struct pdet_xfs_log log;
	struct pdet_xfs_inode inode;
	int r;
};

static struct xfs *new_xfs(void)
{
	struct xfs *x = malloc(sizeof(*x));

	ck_assert_ptr_nonnull(x);
	xfs_super(x);
	xfs_home(x, 2000, 2, 0);
	return x;
}

/* Logs a transaction and a record. */
static void commit_inode(struct xfs *x, uint32_t tid, uint64_t size, uint32_t n,
			 int split)
{
	xfs_begin(x, tid);
	xfs_log_inode(x, tid, XFS_INO, size, n, split);
	xfs_op(x, tid, XOP_COMMIT, NULL, 0);
	xfs_record(x);
}

static void replay(struct xfs *x, struct replay *p)
{
	memset(p, 0, sizeof(*p));
	p->fs.read_at = xfs_read;
	p->log.read_at = xfs_read_log;
	p->fs.arg = p->log.arg = x;
	p->log.fs = &p->fs;
	ck_assert_int_eq(pdet_xfs_open(&p->fs), 0);
	ck_assert_uint_eq(p->fs.log_at, XFS_LOG_BLOCK * XFS_BLOCK);
	ck_assert_uint_eq(p->fs.log_bytes, XFS_SECTORS * 512);
	ck_assert_int_eq(pdet_xfs_read_inode(&p->fs, XFS_INO, &p->inode), 0);
	p->r = pdet_xfs_log_open(&p->log);
	if (p->r == 0)
		p->r = pdet_xfs_log_find(&p->log, XFS_INO, &p->inode);
}

/* Its only extent, if any, is at @block. */
static void is_inode(struct replay *p, uint64_t size, uint64_t block,
		     uint64_t n)
{
	ck_assert_int_eq(p->r, 0);
	ck_assert(p->inode.known);
	ck_assert_uint_eq(p->inode.size, size);
	ck_assert_uint_eq(p->inode.runs.n, n ? 1 : 0);
	if (n) {
		ck_assert_uint_eq(p->inode.runs.data[0].place,
				  block * XFS_BLOCK);
		ck_assert_uint_eq(p->inode.runs.data[0].n, n);
	}
	pdet_xfs_inode_free(&p->inode);
}

START_TEST(never_written)
{
	struct xfs *x = new_xfs();
	struct replay p;

	replay(x, &p);
	ck_assert(p.log.empty);
	is_inode(&p, 2000, 40, 2);
	free(x);
}
END_TEST

START_TEST(unmounted)
{
	struct xfs *x = new_xfs();
	struct replay p;

	commit_inode(x, 5, 3000, 3, 0);
	xfs_unmount(x);
	replay(x, &p);
	ck_assert(p.log.clean);
	/* The log's contents are on the disk by then. */
	is_inode(&p, 2000, 40, 2);
	free(x);
}
END_TEST

START_TEST(what_is_committed)
{
	struct xfs *x = new_xfs();
	struct replay p;

	xfs_begin(x, 5);
	xfs_log_inode(x, 5, XFS_INO + 1, 7777, 7, 0);
	xfs_log_inode(x, 5, XFS_INO, 3000, 3, _i);
	xfs_op(x, 5, XOP_COMMIT, NULL, 0);
	xfs_record(x);
	replay(x, &p);
	ck_assert(!p.log.clean && !p.log.empty);
	ck_assert_uint_eq(p.log.checkpoints, 1);
	ck_assert_uint_eq(p.log.records, 1);
	ck_assert_uint_eq(p.log.tail_lsn, (uint64_t)1 << 32);
	ck_assert_uint_eq(p.log.head, x->at);
	is_inode(&p, 3000, 44, 3);
	free(x);
}
END_TEST

START_TEST(what_is_not)
{
	struct xfs *x = new_xfs();
	struct replay p;

	xfs_begin(x, 5);
	xfs_log_inode(x, 5, XFS_INO, 3000, 3, 0);
	xfs_record(x);
	replay(x, &p);
	ck_assert_uint_eq(p.log.checkpoints, 0);
	is_inode(&p, 2000, 40, 2);
	/* The commit is in another record, between other items. */
	xfs_begin(x, 6);
	xfs_op(x, 5, XOP_COMMIT, NULL, 0);
	xfs_log_inode(x, 6, XFS_INO, 4000, 4, 0);
	xfs_record(x);
	replay(x, &p);
	ck_assert_uint_eq(p.log.checkpoints, 1);
	is_inode(&p, 3000, 44, 3);
	free(x);
}
END_TEST

/* A core without extents leaves them unchanged, */
START_TEST(size_alone)
{
	struct xfs *x = new_xfs();
	struct replay p;

	commit_inode(x, 5, 2048, 0, 1);
	replay(x, &p);
	is_inode(&p, 2048, 40, 2);
	/* but they must be known. */
	x->disk[XFS_INO_AT + 200] ^= 1;
	replay(x, &p);
	ck_assert_int_eq(p.r, 0);
	ck_assert(!p.inode.known);
	free(x);
}
END_TEST

START_TEST(disk_is_newer)
{
	struct xfs *x = new_xfs();
	struct replay p;

	xfs_home(x, 2000, 2, (uint64_t)1 << 32 | 9);
	commit_inode(x, 5, 3000, 3, 0);
	replay(x, &p);
	is_inode(&p, 2000, 40, 2);
	free(x);
}
END_TEST

/* Room for inodes exists, but none was written. */
START_TEST(no_inode_on_the_disk)
{
	struct xfs *x = new_xfs();
	struct replay p;

	memset(x->disk + XFS_INO_AT, 0x55, 512);
	replay(x, &p);
	is_inode(&p, 0, 0, 0);
	commit_inode(x, 5, 3000, 3, 0);
	replay(x, &p);
	is_inode(&p, 3000, 44, 3);
	free(x);
}
END_TEST

/* The log is full, and overwrites its oldest records. */
START_TEST(logs_wrap)
{
	struct xfs *x = new_xfs();
	struct replay p;
	int i;

	for (i = 0; i < 7 + _i; i++)
		xfs_fill(x, 7);
	x->tail = (uint64_t)x->cycle << 32 | x->at;
	commit_inode(x, 5, 3000, 3, 1);
	xfs_fill(x, 5);
	replay(x, &p);
	ck_assert_uint_eq(p.log.records, 2);
	ck_assert_uint_eq(p.log.head, x->at);
	is_inode(&p, 3000, 44, 3);
	free(x);
}
END_TEST

/* A crash while records were being written. */
START_TEST(torn_at_the_end)
{
	struct xfs *x = new_xfs();
	struct replay p;
	uint32_t second;

	commit_inode(x, 5, 3000, 3, 0);
	second = x->at;
	commit_inode(x, 6, 4000, 4, 0);
	xfs_log(x)[second * 512 + 700] ^= 1;
	replay(x, &p);
	ck_assert_uint_eq(p.log.head, second);
	is_inode(&p, 3000, 44, 3);
	/* Its first sector was never written. */
	memset(xfs_log(x) + (size_t)second * 512, 0, 512);
	replay(x, &p);
	ck_assert_uint_eq(p.log.head, second);
	is_inode(&p, 3000, 44, 3);
	free(x);
}
END_TEST

/* With any byte damaged, the log is rejected or ends there. */
START_TEST(damage)
{
	struct xfs *x = new_xfs();
	struct replay p;
	uint32_t i, all;

	commit_inode(x, 5, 3000, 3, 1);
	all = x->at * 512;
	for (i = 0; i < all; i++) {
		xfs_log(x)[i] ^= 0x10;
		replay(x, &p);
		ck_assert(p.r == 0 || p.r == -EBADMSG);
		if (p.r == 0)
			ck_assert(p.inode.size == 2000 ||
				  p.inode.size == 3000);
		/* Except for bytes without a checksum: the rest of sectors. */
		if (p.r == 0 && p.inode.size == 3000)
			ck_assert(i >= 328 && (i < 512 || i >= all - 512));
		pdet_xfs_inode_free(&p.inode);
		xfs_log(x)[i] ^= 0x10;
	}
	free(x);
}
END_TEST

static const struct {
	size_t at;
	uint8_t value;
} wrong[] = {
	{ 0, 'Y' }, { 6, 3 }, { 101, 4 }, { 104, 0xff }, { 120, 11 },
	{ 123, 2 }, { 124, 5 }, { 84, 0xff }, { 91, 0 }, { 55, 200 },
	{ 96, 0xff }, { 8, 0xff },
};

START_TEST(superblocks)
{
	struct xfs *x = new_xfs();
	struct pdet_xfs fs = { .read_at = xfs_read, .arg = x };
	uint8_t was;

	was = x->disk[wrong[_i].at];
	ck_assert_int_eq(pdet_xfs_open(&fs), 0);
	x->disk[wrong[_i].at] = wrong[_i].value;
	ck_assert_uint_ne(was, wrong[_i].value);
	ck_assert_int_eq(pdet_xfs_open(&fs), -EBADMSG);
	free(x);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("xfs_log");

	unit_test(s, never_written);
	unit_test(s, unmounted);
	unit_loop(s, what_is_committed, 2);
	unit_test(s, what_is_not);
	unit_test(s, size_alone);
	unit_test(s, disk_is_newer);
	unit_test(s, no_inode_on_the_disk);
	unit_loop(s, logs_wrap, 24);
	unit_test(s, torn_at_the_end);
	unit_test(s, damage);
	unit_loop(s, superblocks, (int)(sizeof(wrong) / sizeof(*wrong)));
	return unit_main(s);
}
