/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes journals, alone or in a filesystem: the first byte decides. */
#include "disk/ext4.h"
#include "disk/jbd2.h"
#include "fuzz.h"

static void read_copies(const struct pdet_jbd2 *j)
{
	char *buf = malloc(j->block_size);
	size_t i;

	if (!buf)
		abort();
	MUST(j->copies.n + j->revokes.n == 0 || j->transactions);
	MUST(j->copies.n <= j->last - j->first);
	for (i = 0; i < j->copies.n; i++) {
		const struct pdet_jbd2_copy *c = &j->copies.data[i], *found;

		MUST(c->at >= j->first && c->at < j->last);
		MUST(!i || c[-1].block <= c->block);
		found = pdet_jbd2_find(j, c->block);
		MUST(!found || found->block == c->block);
		(void)pdet_jbd2_read(j, c, buf);
	}
	free(buf);
}

static void try_log(struct fuzz_file *in)
{
	struct pdet_jbd2 j = { .read_at = fuzz_read_at, .arg = in };

	if (pdet_jbd2_open(&j) == 0) {
		MUST(j.first && j.first < j.last && j.last <= j.max_len);
		if (pdet_jbd2_walk(&j) == 0)
			read_copies(&j);
	}
	pdet_jbd2_free(&j);
}

/* As in any file: with holes and unwritten blocks. */
static void try_inode(const struct pdet_ext4 *fs)
{
	struct pdet_ext4_inode inode = { .links = 0 };
	uint64_t place;
	size_t i;

	if (pdet_ext4_inode_place(fs, fs->journal_inode, &place) == 0)
		(void)pdet_ext4_read_inode(fs, place, &inode);
	for (i = 0; i < inode.runs.n; i++) {
		const struct pdet_ext4_run *r = &inode.runs.data[i];

		MUST(r->n && r->block + r->n <= fs->blocks);
		MUST(!i || r[-1].at + r[-1].n <= r->at);
		MUST(pdet_ext4_run_behind(&inode, r->at) == i);
	}
	pdet_ext4_inode_free(&inode);
}

static void try_filesystem(struct fuzz_file *in)
{
	struct pdet_ext4 fs = { .read_at = fuzz_read_at, .arg = in };
	uint64_t at = 0, follow, block;

	if (pdet_ext4_open(&fs) == 0 && !fs.is_journal) {
		try_inode(&fs);
		if (pdet_ext4_find_journal(&fs) < 0)
			at = 64;
		while (at < 64 && (block = pdet_ext4_place(&fs, at, &follow))) {
			MUST(follow && block + follow <= fs.blocks);
			at += follow;
		}
	}
	pdet_ext4_free(&fs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t which = fuzz_number(&data, &size, 1);
	struct fuzz_file in = { data, size };

	if (which & 1)
		try_filesystem(&in);
	else
		try_log(&in);
	return 0;
}
