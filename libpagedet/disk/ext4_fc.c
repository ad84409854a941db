/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Replays fast commits. They are tags with length and value, and none crosses a
 * block. A tail tag has the checksum of all tags since the tail before. Tags
 * without a valid tail after them are not replayed. Blocks may still hold older
 * tags, with another transaction number. Numbers are little-endian.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/env.h"
#include "base/vec.h"
#include "disk/ext4_fc.h"

enum {
	ADD_RANGE = 1, DEL_RANGE = 2, CREAT = 3, LINK = 4, UNLINK = 5,
	INODE = 6, PAD = 7, TAIL = 8, HEAD = 9,
};

#define TAG_BYTES 4		/* tag and length */
#define NAME_AT 8		/* offset of the name, after the parent's and
				 * the inode's number */
#define MAX_NAME 255
#define UNWRITTEN 32768		/* a longer extent is unwritten */
/* Limit of runs visited for all ranges of one file. */
#define BUDGET ((uint64_t)1 << 24)

struct fc {
	const struct pdet_jbd2 *log;
	const struct pdet_ext4 *fs;
	struct pdet_ext4_inode *inode;
	uint64_t ino;
	uint8_t *block;
	uint32_t crc;
	uint64_t tags;		/* tags seen */
	uint64_t whole;		/* tags up to the last valid tail */
	uint64_t done;		/* tags replayed */
	uint64_t budget;
	int commits;
};

struct tag {
	uint32_t kind;
	uint32_t len;
	const uint8_t *value;
};

static uint32_t le16(const uint8_t *p)
{
	return (uint32_t)p[1] << 8 | p[0];
}

static uint32_t le32(const uint8_t *p)
{
	return le16(p + 2) << 16 | le16(p);
}

static bool is_length(const struct fc *f, const struct tag *t)
{
	switch (t->kind) {
	case ADD_RANGE:
		return t->len == 16;
	case DEL_RANGE:
		return t->len == 12;
	case CREAT:
	case LINK:
	case UNLINK:
		return t->len > NAME_AT && t->len <= NAME_AT + MAX_NAME;
	case INODE:
		return t->len >= 4 + PDET_EXT4_INODE_BYTES &&
		       t->len <= 4 + f->fs->inode_size;
	case PAD:
		return true;
	case TAIL:
		return t->len >= 8;
	case HEAD:
		return t->len == 8;
	default:
		return false;
	}
}

/* The tag at *@at, which is advanced to the next one. Returns false if there is
 * none, or a replay would not accept it. */
static bool next(const struct fc *f, uint32_t *at, struct tag *t)
{
	const uint32_t size = f->log->block_size;
	const uint8_t *p = f->block + *at;

	if (*at > size - TAG_BYTES)
		return false;
	t->kind = le16(p);
	t->len = le16(p + 2);
	t->value = p + TAG_BYTES;
	if (t->len > size - TAG_BYTES - *at || !is_length(f, t))
		return false;
	*at += TAG_BYTES + t->len;
	return true;
}

/* --- valid tags --- */

/* False if a replay ends before this tag. */
static bool scan_tag(struct fc *f, const struct tag *t)
{
	const uint8_t *begin = t->value - TAG_BYTES;
	const size_t len = TAG_BYTES + (t->kind == TAIL ? 4 : t->len);

	if (t->kind == HEAD &&
	    (le32(t->value) || le32(t->value + 4) != f->log->next))
		return false;
	f->tags++;
	f->crc = pdet_crc32c(f->crc, begin, len);
	if (t->kind != TAIL)
		return true;
	if (le32(t->value) != f->log->next || le32(t->value + 4) != f->crc)
		return false;
	f->crc = 0;
	f->whole = f->tags;
	f->commits++;
	return true;
}

static bool scan_block(struct fc *f, bool first)
{
	uint32_t at = 0;
	struct tag t;

	if (first && le16(f->block) != HEAD)
		return false;
	while (at <= f->log->block_size - TAG_BYTES)
		if (!next(f, &at, &t) || !scan_tag(f, &t))
			return false;
	return true;
}

/* --- effect on the file --- */

static int push(struct pdet_ext4_inode *to, struct pdet_ext4_run run)
{
	return !run.n || pdet_vec_push(&to->runs, run) ? 0 : -ENOMEM;
}

/*
 * The part of @r before block @at of the file, or the part that begins there.
 */
static struct pdet_ext4_run before(struct pdet_ext4_run r, uint64_t at)
{
	r.n = at > r.at ? PDET_MIN(r.n, at - r.at) : 0;
	return r;
}

static struct pdet_ext4_run from(struct pdet_ext4_run r, uint64_t at)
{
	const uint64_t gone = at > r.at ? PDET_MIN(r.n, at - r.at) : 0;

	r.at += gone;
	r.block += gone;
	r.n -= gone;
	return r;
}

/* Replace a range by @new. If that has no block, the range becomes a hole. */
static int set_range(struct fc *f, struct pdet_ext4_run new)
{
	const uint64_t end = new.at + new.n;
	struct pdet_ext4_inode old = *f->inode, *to = f->inode;
	bool placed = !new.block;
	int r = 0;
	size_t i;

	if (old.runs.n >= f->budget)
		return -EBADMSG;
	f->budget -= old.runs.n + 1;
	memset(&to->runs, 0, sizeof(to->runs));
	for (i = 0; i < old.runs.n && r == 0; i++) {
		const struct pdet_ext4_run run = old.runs.data[i];

		r = push(to, before(run, new.at));
		if (r == 0 && !placed && run.at + run.n > new.at) {
			r = push(to, new);
			placed = true;
		}
		if (r == 0)
			r = push(to, from(run, end));
	}
	if (r == 0 && !placed)
		r = push(to, new);
	pdet_ext4_inode_free(&old);
	return r;
}

static int add_range(struct fc *f, const uint8_t *v)
{
	struct pdet_ext4_run run = {
		.at = le32(v + 4),
		.block = (uint64_t)le16(v + 10) << 32 | le32(v + 12),
		.n = le16(v + 8),
	};

	run.unwritten = run.n > UNWRITTEN;
	if (run.unwritten)
		run.n -= UNWRITTEN;
	if (!run.n || !pdet_ext4_is_block(f->fs, run.block, run.n))
		return -EBADMSG;
	return set_range(f, run);
}

static int replay_tag(struct fc *f, const struct tag *t)
{
	const bool names = t->kind == CREAT || t->kind == LINK ||
			   t->kind == UNLINK;
	struct pdet_ext4_inode *inode = f->inode;

	if (t->kind == PAD || t->kind == TAIL || t->kind == HEAD ||
	    le32(t->value + (names ? 4 : 0)) != f->ino)
		return 0;
	switch (t->kind) {
	case ADD_RANGE:
		return add_range(f, t->value);
	case DEL_RANGE:
		return set_range(f, (struct pdet_ext4_run){
			.at = le32(t->value + 4), .n = le32(t->value + 8) });
	case INODE:
		pdet_ext4_inode_head(t->value + 4, inode);
		return inode->bytes > INT64_MAX ? -EBADMSG : 0;
	case CREAT:
		inode->links = 1;
		return 0;
	case LINK:
		inode->links++;
		return 0;
	default:
		inode->links -= inode->links > 0;
		return 0;
	}
}

static int replay_block(struct fc *f)
{
	uint32_t at = 0;
	struct tag t;
	int r = 0;

	while (r == 0 && f->done < f->whole && next(f, &at, &t)) {
		f->done++;
		r = replay_tag(f, &t);
	}
	return r;
}

/* The kernel leaves one block unused between the log and these. */
static int read_block(struct fc *f, uint32_t i)
{
	const struct pdet_jbd2 *log = f->log;
	const ssize_t got = log->read_at(log->arg, f->block, log->block_size,
					 (uint64_t)(log->last + 1 + i) *
					 log->block_size);

	if (got < 0)
		return (int)got;
	return (size_t)got == log->block_size ? 0 : -EBADMSG;
}

static int go(struct fc *f)
{
	const uint32_t n = f->log->max_len - f->log->last - 1;
	uint32_t i;
	int r = 0;

	for (i = 0; i < n && r == 0; i++) {
		r = read_block(f, i);
		if (r == 0 && !scan_block(f, !i))
			break;
	}
	for (i = 0; i < n && r == 0 && f->done < f->whole; i++) {
		r = read_block(f, i);
		if (r == 0)
			r = replay_block(f);
	}
	return r < 0 ? r : f->commits;
}

int pdet_ext4_fc_replay(const struct pdet_jbd2 *log, const struct pdet_ext4 *fs,
			uint64_t ino, struct pdet_ext4_inode *inode)
{
	struct fc f = { .log = log, .fs = fs, .inode = inode, .ino = ino,
			.budget = BUDGET };
	int r;

	/* Without a transaction nothing is replayed. */
	if (!log->fast_commits || !log->start || log->last >= log->max_len)
		return 0;
	f.block = malloc(log->block_size);
	if (!f.block)
		return -ENOMEM;
	r = go(&f);
	free(f.block);
	return r;
}
