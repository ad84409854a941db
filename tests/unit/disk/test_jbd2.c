/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests what a replay writes for every form of journal, and damaged journals.
 */
#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/io.h"
#include "disk/ext4.h"
#include "disk/jbd2.h"
#include "../journal.h"

static const uint32_t forms[] = {
	0, LOG_64BIT, LOG_CSUM_V2, LOG_CSUM_V2 | LOG_64BIT, LOG_CSUM_V3,
	LOG_CSUM_V3 | LOG_64BIT, LOG_CSUM_V3 | LOG_64BIT | LOG_FAST,
};

static struct log *new_log(uint32_t form)
{
	struct log *l = calloc(1, sizeof(*l));

	ck_assert_ptr_nonnull(l);
	l->incompat = form;
	return l;
}

/* Two transactions, a revoked block, and an uncommitted transaction. */
static void fill(struct log *l, uint32_t start)
{
	log_super(l, start, 7);
	log_blocks(l, 100, 3, 0x11, 0);
	log_commit(l);
	log_revoke(l, 102);
	log_blocks(l, 101, 1, 0x77, 0);
	log_commit(l);
	log_blocks(l, 200, 1, 0x99, 0);
}

static struct pdet_jbd2 jbd2_of(struct log *l)
{
	return (struct pdet_jbd2){ .read_at = log_read, .arg = l };
}

static int byte_of(const struct pdet_jbd2 *j, uint64_t block)
{
	const struct pdet_jbd2_copy *c = pdet_jbd2_find(j, block);
	uint8_t buf[LOG_BLOCK];

	if (!c)
		return -1;
	ck_assert_int_eq(pdet_jbd2_read(j, c, buf), 0);
	ck_assert_uint_eq(buf[LOG_BLOCK - 1], buf[LOG_BLOCK / 2]);
	return buf[LOG_BLOCK - 1];
}

START_TEST(what_a_replay_writes)
{
	struct log *l = new_log(forms[_i]);
	struct pdet_jbd2 j = jbd2_of(l);

	fill(l, 1);
	ck_assert_int_eq(pdet_jbd2_open(&j), 0);
	ck_assert_int_eq(pdet_jbd2_walk(&j), 0);
	ck_assert_uint_eq(j.transactions, 2);
	ck_assert_uint_eq(j.uncommitted, 1);
	ck_assert_uint_eq(j.next, 9);
	ck_assert_int_eq(byte_of(&j, 100), 0x11);
	/* the later copy */
	ck_assert_int_eq(byte_of(&j, 101), 0x77);
	/* revoked by a later transaction */
	ck_assert_int_eq(byte_of(&j, 102), -1);
	/* without a commit */
	ck_assert_int_eq(byte_of(&j, 200), -1);
	ck_assert_int_eq(byte_of(&j, 99), -1);
	pdet_jbd2_free(&j);
	free(l);
}
END_TEST

/* The log wraps around. */
START_TEST(logs_wrap)
{
	struct log *l = new_log(forms[_i] & ~(uint32_t)LOG_FAST);
	struct pdet_jbd2 j = jbd2_of(l);

	fill(l, LOG_BLOCKS - 2);
	ck_assert_int_eq(pdet_jbd2_open(&j), 0);
	ck_assert_int_eq(pdet_jbd2_walk(&j), 0);
	ck_assert_uint_eq(j.transactions, 2);
	ck_assert_int_eq(byte_of(&j, 101), 0x77);
	pdet_jbd2_free(&j);
	free(l);
}
END_TEST

START_TEST(large_numbers_and_escapes)
{
	struct log *l = new_log(LOG_64BIT | LOG_CSUM_V3);
	struct pdet_jbd2 j = jbd2_of(l);
	const struct pdet_jbd2_copy *c;
	uint8_t buf[LOG_BLOCK];

	log_super(l, 1, 0xffffffff);
	log_blocks(l, 0x123456789a, 1, 0x11, 1);
	log_commit(l);
	log_blocks(l, 5, 1, 0x22, 0);
	log_commit(l);
	ck_assert_int_eq(pdet_jbd2_open(&j), 0);
	ck_assert_int_eq(pdet_jbd2_walk(&j), 0);
	ck_assert_uint_eq(j.next, 1);
	c = pdet_jbd2_find(&j, 0x123456789a);
	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(pdet_jbd2_read(&j, c, buf), 0);
	ck_assert_int_eq(memcmp(buf, "\xc0\x3b\x39\x98\x11", 5), 0);
	ck_assert_int_eq(byte_of(&j, 5), 0x22);
	pdet_jbd2_free(&j);
	free(l);
}
END_TEST

START_TEST(empty_logs)
{
	struct log *l = new_log(0);
	struct pdet_jbd2 j = jbd2_of(l);

	fill(l, 1);
	log_super(l, 0, 7);
	ck_assert_int_eq(pdet_jbd2_open(&j), 0);
	ck_assert_int_eq(pdet_jbd2_walk(&j), 0);
	ck_assert_uint_eq(j.transactions, 0);
	ck_assert_ptr_null(pdet_jbd2_find(&j, 100));
	pdet_jbd2_free(&j);
	free(l);
}
END_TEST

/* Returns 1 for the whole log, 0 for less or nothing. Anything else fails. */
static int outcome(struct log *l)
{
	struct pdet_jbd2 j = jbd2_of(l);
	uint8_t buf[LOG_BLOCK];
	uint64_t block;
	int whole = 0, got, r;

	if (pdet_jbd2_open(&j) == 0) {
		ck_assert_int_eq(pdet_jbd2_walk(&j), 0);
		whole = j.transactions == 2;
		for (block = 99; block < 210 && log_has_sums(l); block++) {
			const struct pdet_jbd2_copy *c;

			c = pdet_jbd2_find(&j, block);
			r = c ? pdet_jbd2_read(&j, c, buf) : -ENOENT;
			if (r < 0)
				continue;
			got = buf[9];
			/* One of the logged copies, and complete. */
			ck_assert_msg(got == 0x11 + (int)block - 100 ||
				      got == 0x77, "block %d: %#x",
				      (int)block, got);
			ck_assert_int_eq(memcmp(buf, buf + 1, LOG_BLOCK - 1),
					 0);
		}
	}
	pdet_jbd2_free(&j);
	return whole;
}

START_TEST(every_byte_flipped)
{
	struct log *l = new_log(forms[_i]);
	size_t at;

	fill(l, 1);
	for (at = 0; at < (size_t)12 * LOG_BLOCK; at++) {
		l->data[at] ^= 0x40;
		outcome(l);
		l->data[at] ^= 0x40;
	}
	ck_assert_int_eq(outcome(l), 1);
	free(l);
}
END_TEST

START_TEST(every_truncation)
{
	struct log *l = new_log(forms[_i]);

	fill(l, 1);
	for (l->size = 0; l->size < (size_t)12 * LOG_BLOCK; l->size += 64)
		ck_assert_int_eq(outcome(l), l->size >= 10u * LOG_BLOCK);
	free(l);
}
END_TEST

START_TEST(checksums_are_crc32c)
{
	/* RFC 3720, B.4, inverted at the end as there */
	uint8_t zero[32] = { 0 };

	ck_assert_uint_eq(~pdet_crc32c(~0u, zero, 32), 0x8a9136aa);
	ck_assert_uint_eq(~pdet_crc32c(~0u, "123456789", 9), 0xe3069283);
}
END_TEST

/* --- what mke2fs makes --- */

static ssize_t read_fd(void *arg, void *buf, size_t n, uint64_t offset)
{
	return pdet_pread(*(int *)arg, buf, n, offset);
}

static const char *const made[] = {
	"-t ext4 -b 4096", "-t ext4 -b 1024", "-t ext3 -b 1024",
	"-t ext3 -b 4096", "-t ext4 -b 4096 -O ^64bit,^metadata_csum",
};

struct image {
	int fd;
	struct pdet_ext4 *fs;
};

static ssize_t read_log(void *arg, void *buf, size_t n, uint64_t offset)
{
	struct image *i = arg;
	uint64_t follow, block;

	block = pdet_ext4_place(i->fs, offset / i->fs->block_size, &follow);
	return !block ? 0 : pdet_pread(i->fd, buf, n,
				       block * i->fs->block_size +
				       offset % i->fs->block_size);
}

START_TEST(journals_that_mke2fs_makes)
{
	char path[] = "/tmp/pagedet-ext4-XXXXXX", command[256];
	struct image i = { .fd = mkstemp(path) };
	struct pdet_ext4 fs = { .read_at = read_fd, .arg = &i.fd };
	struct pdet_jbd2 j = { .read_at = read_log, .arg = &i };
	uint64_t blocks = 0;
	size_t n;
	int r;

	i.fs = &fs;
	ck_assert_int_ge(i.fd, 0);
	snprintf(command, sizeof(command), "PATH=$PATH:/sbin:/usr/sbin; "
		 "mke2fs -q -F %s -J size=5 %s 40M > /dev/null 2>&1",
		 made[_i], path);
	r = system(command);
	unlink(path);
	if (r)
		unit_skip("there is no mke2fs that can make it");
	ck_assert_int_eq(pdet_ext4_open(&fs), 0);
	ck_assert(fs.has_journal);
	ck_assert_uint_eq(fs.journal_inode, 8);
	ck_assert_int_eq(pdet_ext4_find_journal(&fs), 0);
	for (n = 0; n < fs.journal.runs.n; n++)
		blocks += fs.journal.runs.data[n].n;
	ck_assert_uint_eq(blocks * fs.block_size, fs.journal.bytes);
	ck_assert_int_eq(pdet_jbd2_open(&j), 0);
	ck_assert_uint_eq(j.block_size, fs.block_size);
	ck_assert_uint_eq(j.max_len, blocks);
	ck_assert_uint_eq(j.start, 0);
	ck_assert_int_eq(pdet_jbd2_walk(&j), 0);
	pdet_jbd2_free(&j);
	pdet_ext4_free(&fs);
	close(i.fd);
}
END_TEST

int main(void)
{
	const int n = (int)(sizeof(forms) / sizeof(*forms));
	Suite *s = suite_create("jbd2");

	unit_test(s, checksums_are_crc32c);
	unit_loop(s, what_a_replay_writes, n);
	unit_loop(s, logs_wrap, n);
	unit_test(s, large_numbers_and_escapes);
	unit_test(s, empty_logs);
	unit_loop(s, every_byte_flipped, n);
	unit_loop(s, every_truncation, n);
	unit_loop(s, journals_that_mke2fs_makes,
		  (int)(sizeof(made) / sizeof(*made)));
	return unit_main(s);
}
