/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: what changed between the rows of two questions. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Differences: what changed between the rows of two questions
 */

/*
 * What happened at a place, from one question to the other. Pinned. Where
 * several did, the first of them by number is the one that it is called by. A
 * field that one side does not know is no change.
 */
enum pagedet_change_id {
	PAGEDET_CHANGE_APPEARED = 1, /* there was no page in use: no row, or one
				 * of a kind that is no page (free, hole,
				 * uninit, untouched, unmapped), or unknown and
				 * now something that this is not; by address,
				 * no present page. Now there is */
	PAGEDET_CHANGE_GONE = 2, /* the reverse */
	PAGEDET_CHANGE_REUSED = 3, /* another page at the same place: of another
				 * kind, of another file, of another place in
				 * it (by pfn, address), of another slab cache,
				 * or allocated at another time (by pfn) */
	PAGEDET_CHANGE_MIGRATED = 4, /* another frame for the same page. By pfn:
				 * the page of a file that is gone from one
				 * frame and appeared in another. By address or
				 * file: the pfn there is another one; copied
				 * on write is one way to that */
	PAGEDET_CHANGE_MOVED = 5, /* by pfn: what is gone from one frame and
				 * appeared in another, of no file and of the
				 * same kind, has the same hash, which no other
				 * page has on either side, and is not zero. By
				 * address: the frame that is gone from one
				 * address appeared at another, and is at no
				 * other on either side, as after mremap(2).
				 * Only if all was asked for and seen: scans or
				 * tasks, as a whole, without filter */
	PAGEDET_CHANGE_SPLIT = 6, /* order is less; or, without it, the page is
				 * no longer compound */
	PAGEDET_CHANGE_MERGED = 7, /* the reverse */
	PAGEDET_CHANGE_FLAGS = 8, /* bits of flags or pte that both sides know,
				 * or raw_flags */
	PAGEDET_CHANGE_OWNER = 9, /* who allocated or freed it, and how: fields
				 * of groups owner and file, tgid, comm,
				 * slab_cache, object */
	PAGEDET_CHANGE_MAPCOUNT = 10, /* mapcount, if both are exact or both
				 * averages, or, where mapcount_kind is not
				 * known, of one source of the same kernel; or
				 * user_maps */
	PAGEDET_CHANGE_MEMCG = 11, /* memcg_ino, memcg_path, memcg_name */
	PAGEDET_CHANGE_CONTENT = 12, /* content, entropy, or hash, if both are
				 * made under the same key */
	PAGEDET_CHANGE_OTHER = 13 /* any other field */
};

#define PAGEDET_CHANGE_MAX 32

/* By what rows of the two belong together. */
enum pagedet_diff_by {
	PAGEDET_DIFF_BY_PFN = 1, /* scan, cgroup, pfn, phys */
	PAGEDET_DIFF_BY_ADDRESS = 2, /* task, virt: pid and vaddr; vaddr alone
				 * if each side is about one task */
	PAGEDET_DIFF_BY_FILE = 3 /* file, block: index, whatever their names
				 * are; tree, mount: dev, inode and index */
};

/* What is to be known of a comparison, as bits. */
enum pagedet_diff_note {
	PAGEDET_DIFF_OTHER_BOOT = 1, /* of another boot or host: frames, inodes
				 * and other numbers of one mean nothing to the
				 * other, and are not compared */
	PAGEDET_DIFF_UNKNOWN_BOOT = 2, /* one does not say of which boot it is:
				 * taken for the same */
	PAGEDET_DIFF_OTHER_KEY = 4, /* hashes are of different keys */
	PAGEDET_DIFF_OTHER_PLACES = 8, /* the questions are not about the same
				 * places: what one side lacks was not asked
				 * for, and is neither gone nor new */
	PAGEDET_DIFF_PARTIAL = 16 /* a side was not answered as a whole, or its
				 * filter is unknown of some pages: the same */
};

/* One place. An element of arrays: it will not grow. */
struct pagedet_change {
	uint32_t change;	/* PAGEDET_CHANGE_*: the first of changes */
	uint32_t changes;	/* all of them: bits 1 << PAGEDET_CHANGE_* */
	uint64_t fields[2];	/* that differ; of a place that one side lacks
				 * none */
	uint64_t undecided[2];	/* that cannot be compared */
};

struct pagedet_diff_options {
	uint64_t size;		/* sizeof(struct pagedet_diff_options) */
	uint64_t row_size;	/* sizeof(struct pagedet_page) */
	uint64_t candidates;	/* pages held to the end because they may be
				 * somewhere else; 0 is 262144 */
	uint64_t max_rows;	/* of a side whose rows must be sorted, which
				 * are kept; 0 is 4194304. Rows of scan and
				 * cgroup need not be */
};

#define PAGEDET_DIFF_OPTIONS_INIT \
	{ sizeof(struct pagedet_diff_options), sizeof(struct pagedet_page), \
	  0, 0 }

/* All places together; what was so far. */
struct pagedet_diff_totals {
	uint64_t size;		/* sizeof(struct pagedet_diff_totals) */
	uint64_t rows[2];	/* of each side */
	uint64_t compared;	/* places that both sides have */
	uint64_t same;		/* places where all fields are the same, or
				 * that one side lacks and the other has no
				 * page at */
	uint64_t undecided;	/* places without a change of which something
				 * cannot be compared */
	uint64_t unmatched;	/* rows of one side, if it is not known whether
				 * the other has none or was not asked, or
				 * whether there is a page at all */
	uint64_t unplaced;	/* rows of no place, or a second one of it */
	uint64_t ambiguous;	/* gone or appeared, and more than one page may
				 * be the same */
	uint64_t spilled;	/* gone or appeared, and not looked for
				 * elsewhere: there were too many */
	uint64_t first[PAGEDET_CHANGE_MAX]; /* places, by change */
	uint64_t changes[PAGEDET_CHANGE_MAX]; /* places, by each of changes */
	uint64_t fields[2];	/* that both sides were asked for */
	uint64_t decided[2];	/* of them, compared at some place */
	uint64_t undecided_in[PAGEDET_FIELDS_MAX]; /* places, by field */
	uint32_t why[PAGEDET_FIELDS_MAX]; /* the first reason for that */
	uint32_t by;		/* PAGEDET_DIFF_BY_* */
	uint32_t notes;		/* PAGEDET_DIFF_* */
	uint32_t complete;	/* 1: both sides came to their end */
	uint32_t reserved;
};

struct pagedet_diff;

/**
 * pagedet_change_name - the name of a change
 * @change: [in] PAGEDET_CHANGE_*
 * Return: "appeared" ..., or NULL for a number that is none
 *         [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_change_name(uint32_t change);

/**
 * pagedet_saved_query - what a snapshot was the answer to
 * To ask the same of another kernel, or later: fields, target, items, path and
 * where are set, the rest is left as it is. With EOVERFLOW fields and target
 * are.
 * @pd: [in] opened: a snapshot
 * @query: [in,out] as for pagedet_query(); what it points to then
 *         [borrowed: pagedet_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, or size is that of no version; ENOENT it is no
 *         snapshot; EOVERFLOW there were more items than a snapshot keeps.
 * Since: 0.1
 */
int pagedet_saved_query(struct pagedet *pd, struct pagedet_query *query);

/**
 * pagedet_diff - what changed from one answer to another
 * Two iterators of one handle or of two, of which nothing was read yet: now and
 * before, a dump and what runs, two hosts. Rows belong together by place, see
 * PAGEDET_DIFF_BY_*; fields that both were asked for are compared, as far as
 * they mean the same on both sides. Rows of tasks and files are read here,
 * others by pagedet_diff_next().
 * @was: [in] lists rows: neither groups nor runs, PAGEDET_Q_KEEP_STRINGS has no
 *       effect; stays the caller's, is not to be used otherwise and to be freed
 *       after the difference
 * @now: [in] the same
 * @options: [in,nullable]
 * @ret: [out] [owned: pagedet_diff_free]
 * Return: 0, or a negative errno; the words are in the handle of @was.
 * Errors: EINVAL an iterator groups, folds runs or was read from, or the two
 *         are not about the same places, as a task and a file; ENODATA they
 *         cannot be compared: page size, architecture, frames of another boot,
 *         rows without what places are made of; EOVERFLOW more than max_rows;
 *         EBADMSG a snapshot's rows are not as it says; E2BIG options has a
 *         non-zero byte that this library does not know; ENOMEM; as
 *         pagedet_next().
 * Since: 0.1
 */
int pagedet_diff(struct pagedet_iter *was, struct pagedet_iter *now,
		 const struct pagedet_diff_options *options,
		 struct pagedet_diff **ret);

/**
 * pagedet_diff_next - the next places where something changed
 * In the order of places; those that appeared or are gone come last, if they
 * may be the same as others.
 * @diff: [in]
 * @changes: [out] [len: n]
 * @was: [out,nullable] [len: n], each options.row_size bytes; no cell is set of
 *       a place that this side lacks
 * @now: [out,nullable] [len: n] the same
 * @n: [in] how many fit, at least 1
 * Return: how many were written, 0 at the end, or a negative errno. Fewer than
 *         @n does not mean the end. After ETIMEDOUT and ECANCELED what was
 *         said so far is right.
 * Errors: EINVAL no room; EBADMSG a snapshot's rows are not as it says; as
 *         pagedet_next().
 * Since: 0.1
 */
int pagedet_diff_next(struct pagedet_diff *diff,
		      struct pagedet_change *changes, struct pagedet_page *was,
		      struct pagedet_page *now, uint32_t n);

/**
 * pagedet_diff_string - the text behind an id in was or now
 * @diff: [in]
 * @now: [in] 0 the row is of was, 1 of now
 * @id: [in] value of a field of type STRING or LIST
 * @len: [out,nullable] bytes, without the terminating NUL
 * Return: the text, or NULL if the id is no longer valid
 *         [nullable] [borrowed: the next call of pagedet_diff_next()].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_diff_string(const struct pagedet_diff *diff, uint32_t now,
				uint64_t id, size_t *len);

/**
 * pagedet_diff_totals - how many places changed, and what was not compared
 * @diff: [in]
 * @ret: [in,out] size is set by the caller
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is that of no version.
 * Since: 0.1
 */
int pagedet_diff_totals(const struct pagedet_diff *diff,
			struct pagedet_diff_totals *ret);

/**
 * pagedet_diff_free - end a comparison
 * @diff: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_diff_free(struct pagedet_diff *diff);
