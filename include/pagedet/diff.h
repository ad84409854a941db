/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: the differences between the rows of two queries. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Differences: what changed between the rows of two questions
 */

/*
 * Kinds of changes at a place between two queries. The numbers are part of the
 * ABI. If several changes happened, the smallest number names the place.
 * CONTENT comes before FLAGS, however, because a write sets flags, too. A field
 * that one side does not know is not a change.
 */
enum pagedet_change_id {
	PAGEDET_CHANGE_APPEARED = 1, /* a page in use is here now, and none was
				 * before. None means: no row; or a kind without
				 * a page (free, hole, uninit, untouched,
				 * unmapped); or an unknown kind that rules out
				 * the kind of now; or, by address, no present
				 * page */
	PAGEDET_CHANGE_GONE = 2, /* the reverse of APPEARED */
	PAGEDET_CHANGE_REUSED = 3, /* another page at the same place: another
				 * kind, another file, another place in that
				 * file (by pfn, address), another slab cache,
				 * or another time of allocation (by pfn) */
	PAGEDET_CHANGE_MIGRATED = 4, /* the same page in another frame. By pfn:
				 * the page of a file is gone from one frame and
				 * appeared in another. By address or file: the
				 * pfn is another one, for example after copy on
				 * write */
	PAGEDET_CHANGE_MOVED = 5, /* by pfn: a page without a file is gone from
				 * one frame, and one of the same kind with the
				 * same hash appeared in another. No other page
				 * of either side has that hash, and the page is
				 * not zero. By address: a frame is gone from
				 * one address and appeared at another, and
				 * neither side has it elsewhere, as after
				 * mremap(2). Only if both queries are whole
				 * scans or tasks without a filter, and visited
				 * everything */
	PAGEDET_CHANGE_SPLIT = 6, /* the order is smaller; or, without an order,
				 * the page is no longer compound */
	PAGEDET_CHANGE_MERGED = 7, /* the reverse of SPLIT */
	PAGEDET_CHANGE_FLAGS = 8, /* bits of flags or pte that both sides know,
				 * or raw_flags */
	PAGEDET_CHANGE_OWNER = 9, /* its allocation or free: fields of groups
				 * owner and file, tgid, comm, slab_cache,
				 * object */
	PAGEDET_CHANGE_MAPCOUNT = 10, /* mapcount, if both are exact or both
				 * averages; or, if mapcount_kind is not known,
				 * if both are from one source of the same
				 * kernel; or user_maps */
	PAGEDET_CHANGE_MEMCG = 11, /* memcg_ino, memcg_path, memcg_name */
	PAGEDET_CHANGE_CONTENT = 12, /* content, entropy, or hash, if both
				 * hashes have the same key */
	PAGEDET_CHANGE_OTHER = 13 /* any other field */
};

#define PAGEDET_CHANGE_MAX 32

/* How rows of the two sides are matched. */
enum pagedet_diff_by {
	PAGEDET_DIFF_BY_PFN = 1, /* scan, cgroup, pfn, phys */
	PAGEDET_DIFF_BY_ADDRESS = 2, /* task, virt: pid and vaddr; only vaddr if
				 * each side has one task */
	PAGEDET_DIFF_BY_FILE = 3 /* file, block: index, even if their names
				 * differ; tree, mount: dev, inode and index */
};

/* Limits of a comparison, as bits. */
enum pagedet_diff_note {
	PAGEDET_DIFF_OTHER_BOOT = 1, /* the sides are of different boots or
				 * hosts: frames, inodes and other numbers are
				 * not comparable and not compared */
	PAGEDET_DIFF_UNKNOWN_BOOT = 2, /* one side does not tell its boot: both
				 * are assumed to be of the same */
	PAGEDET_DIFF_OTHER_KEY = 4, /* the hashes have different keys */
	PAGEDET_DIFF_OTHER_PLACES = 8, /* the queries are about different
				 * places: a place that one side lacks was not
				 * asked for, and is neither gone nor new */
	PAGEDET_DIFF_PARTIAL = 16 /* one side is incomplete, or its filter is
				 * unknown for some pages: as for
				 * OTHER_PLACES */
};

/*
 * A change of one place, or of neighbouring pages of one large folio. Pages of
 * a folio are joined if all of them appeared, are gone, were migrated, moved,
 * split or merged. For example, by address: 512 pages migrated when the kernel
 * made a huge page of small ones. The rows of pagedet_diff_next() are then
 * those of the first page. head_pfn, order or flags tell which pages belong to
 * one folio. Callers use the struct as an array element, so it will never grow.
 */
struct pagedet_change {
	uint32_t change;	/* PAGEDET_CHANGE_* that names the place */
	uint32_t changes;	/* all changes of all pages: bits
				 * 1 << PAGEDET_CHANGE_* */
	uint64_t fields[2];	/* fields of the first page that differ; none if
				 * one side lacks the place */
	uint64_t undecided[2];	/* fields of any page that cannot be compared */
	uint64_t pages;		/* how many, from the place of the rows on */
};

struct pagedet_diff_options {
	uint64_t size;		/* sizeof(struct pagedet_diff_options) */
	uint64_t row_size;	/* sizeof(struct pagedet_page) */
	uint64_t candidates;	/* limit of pages kept to the end because they
				 * may have moved; 0 is 262144 */
	uint64_t max_rows;	/* limit of rows of a side that must be sorted
				 * and therefore kept; 0 is 4194304. Rows of
				 * scan and cgroup need no sorting */
};

#define PAGEDET_DIFF_OPTIONS_INIT \
	{ sizeof(struct pagedet_diff_options), sizeof(struct pagedet_page), \
	  0, 0 }

/* The sums over all places so far. */
struct pagedet_diff_totals {
	uint64_t size;		/* sizeof(struct pagedet_diff_totals) */
	uint64_t rows[2];	/* of each side */
	uint64_t compared;	/* places that both sides have */
	uint64_t same;		/* places where all fields are equal, or that
				 * one side lacks and where the other has no
				 * page */
	uint64_t undecided;	/* places without a change, but with something
				 * that cannot be compared */
	uint64_t unmatched;	/* rows of one side, if it is not known whether
				 * the other side has none or was not asked, or
				 * whether a page exists at all */
	uint64_t unplaced;	/* rows without a place, or a second row of
				 * one */
	uint64_t ambiguous;	/* gone or appeared, with several pages that may
				 * be the same */
	uint64_t spilled;	/* gone or appeared, but too many to search for
				 * the same page elsewhere */
	uint64_t first[PAGEDET_CHANGE_MAX]; /* places (pages), by
				 * pagedet_change.change */
	uint64_t changes[PAGEDET_CHANGE_MAX]; /* places, by bit of
				 * pagedet_change.changes */
	uint64_t fields[2];	/* fields that both queries wanted */
	uint64_t decided[2];	/* of them, compared at some place */
	uint64_t undecided_in[PAGEDET_FIELDS_MAX]; /* places, by field */
	uint32_t why[PAGEDET_FIELDS_MAX]; /* the first reason, by field */
	uint32_t by;		/* PAGEDET_DIFF_BY_* */
	uint32_t notes;		/* PAGEDET_DIFF_* */
	uint32_t complete;	/* 1: both sides were read to their end */
	uint32_t reserved;
	uint64_t events[PAGEDET_CHANGE_MAX]; /* as first, but all pages of one
				 * struct pagedet_change count once */
};

struct pagedet_diff;

/**
 * pagedet_change_name - name a change
 * @change: [in] PAGEDET_CHANGE_*
 * Return: "appeared" ..., or NULL if the number is not a change [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_change_name(uint32_t change);

/**
 * pagedet_saved_query - get the query of a snapshot
 * With it, a program can make the same query on another kernel or at another
 * time. Sets fields, target, items, path and where, and leaves the rest
 * unchanged. With EOVERFLOW it sets only fields and target.
 * @pd: [in] opened: a snapshot
 * @query: [in,out] as for pagedet_query(); what it then points to
 *         [borrowed: pagedet_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, or size is not that of any version; ENOENT it is not
 *         a snapshot; EOVERFLOW there were more items than a snapshot keeps.
 * Since: 0.1
 */
int pagedet_saved_query(struct pagedet *pd, struct pagedet_query *query);

/**
 * pagedet_diff - compare the answers of two queries
 * Takes two iterators, of one handle or of two, of which nothing was read yet:
 * for example now and before, a dump and the running kernel, or two hosts. Rows
 * are matched by place, see PAGEDET_DIFF_BY_*. libpagedet compares the fields
 * that both queries wanted, if they have the same meaning on both sides. This
 * call reads the rows of tasks and files; pagedet_diff_next() reads all others.
 * @was: [in] returns rows, not groups or runs; PAGEDET_Q_KEEP_STRINGS has no
 *       effect. The caller must not use it otherwise, and must free it after
 *       the difference
 * @now: [in] the same
 * @options: [in,nullable] NULL is PAGEDET_DIFF_OPTIONS_INIT
 * @ret: [out] [owned: pagedet_diff_free] the new comparison
 * Return: 0, or a negative errno; the handle of @was has the error text.
 * Errors: EINVAL an iterator groups, folds runs or was read from, or the two
 *         are not about the same places, as a task and a file; ENODATA they
 *         cannot be compared: page size, architecture, frames of another boot,
 *         rows that do not tell their place; EOVERFLOW more than max_rows;
 *         EBADMSG a snapshot's rows are not as it says; E2BIG options has a
 *         non-zero byte that this library does not know; ENOMEM; as
 *         pagedet_next().
 * Since: 0.1
 */
int pagedet_diff(struct pagedet_iter *was, struct pagedet_iter *now,
		 const struct pagedet_diff_options *options,
		 struct pagedet_diff **ret);

/**
 * pagedet_diff_next - get the next places where something changed
 * They come in the order of places. Places that appeared or are gone come last
 * if they may match others.
 * @diff: [in] from pagedet_diff()
 * @changes: [out] [len: n] receives the changes
 * @was: [out,nullable] [len: n], each options.row_size bytes; no cell is set if
 *       this side lacks the place
 * @now: [out,nullable] [len: n] the same
 * @n: [in] size of @changes in elements, at least 1
 * Return: how many were written, 0 at the end, or a negative errno. Fewer than
 *         @n does not mean the end. After ETIMEDOUT and ECANCELED the earlier
 *         results are valid.
 * Errors: EINVAL no room; EBADMSG a snapshot's rows are not as it says; as
 *         pagedet_next().
 * Since: 0.1
 */
int pagedet_diff_next(struct pagedet_diff *diff,
		      struct pagedet_change *changes, struct pagedet_page *was,
		      struct pagedet_page *now, uint32_t n);

/**
 * pagedet_diff_string - get the text of a string id in was or now
 * @diff: [in] from pagedet_diff()
 * @now: [in] 0 if the row is of was, 1 if it is of now
 * @id: [in] value of a field of type STRING or LIST
 * @len: [out,nullable] bytes, without the terminating NUL
 * Return: the text, or NULL if the id is no longer valid [nullable]
 *         [borrowed: the next call of pagedet_diff_next()].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_diff_string(const struct pagedet_diff *diff, uint32_t now,
				uint64_t id, size_t *len);

/**
 * pagedet_diff_totals - get how many places changed, and what was not compared
 * @diff: [in] from pagedet_diff()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_diff_totals(const struct pagedet_diff *diff,
			struct pagedet_diff_totals *ret);

/**
 * pagedet_diff_free - end a comparison and free it
 * @diff: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_diff_free(struct pagedet_diff *diff);
