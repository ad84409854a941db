/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes fast commits. The input is a sequence of tags, each with a byte for
 * its kind, two for its length, and its value. The first byte says whether they
 * get right checksums or stay as they are.
 */
#include "fast_commits.h"
#include "fuzz.h"

#define INO 12

static void lay_out(struct fast *f, const uint8_t *data, size_t size)
{
	static uint8_t value[FAST_BLOCK];
	unsigned kind;
	size_t len;

	fast_head(f, FAST_TID);
	while (size) {
		kind = (unsigned)fuzz_number(&data, &size, 1) % 11;
		len = (size_t)fuzz_number(&data, &size, 2) % FAST_BLOCK;
		memset(value, 0, sizeof(value));
		memcpy(value, data, len < size ? len : size);
		data += len < size ? len : size;
		size -= len < size ? len : size;
		if (kind == TAIL ? !fast_tail(f, FAST_TID) :
				   !fast_tag(f, kind, value, len))
			break;
	}
	fast_tail(f, FAST_TID);
}

static void check_runs(const struct pdet_ext4 *fs,
		       const struct pdet_ext4_inode *inode)
{
	size_t i;

	for (i = 0; i < inode->runs.n; i++) {
		const struct pdet_ext4_run *r = &inode->runs.data[i];

		MUST(r->n && pdet_ext4_is_block(fs, r->block, r->n));
		MUST(!i || r[-1].at + r[-1].n <= r->at);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t how = fuzz_number(&data, &size, 1);
	struct pdet_ext4_inode inode = { .links = 1 };
	struct fast *f = calloc(1, sizeof(*f));
	const struct pdet_ext4 fs = fast_ext4();
	struct pdet_jbd2 log;

	if (!f)
		abort();
	log = fast_log(f);
	if (how & 1)
		lay_out(f, data, size);
	else
		memcpy(f->data, data, size < sizeof(f->data) ?
		       size : sizeof(f->data));
	if (pdet_ext4_fc_replay(&log, &fs, INO, &inode) >= 0)
		MUST(inode.bytes <= INT64_MAX);
	check_runs(&fs, &inode);
	pdet_ext4_inode_free(&inode);
	free(f);
	return 0;
}
