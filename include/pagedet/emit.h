/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Part of pagedet.h: writes rows as text, JSON, CSV, Arrow, SVG or snapshots.
 */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Emitters: rows become text
 */

enum pagedet_format_id {
	PAGEDET_FORMAT_TEXT = 1, /* for people */
	PAGEDET_FORMAT_JSON = 2, /* one object per line */
	PAGEDET_FORMAT_CSV = 3,	/* RFC 4180, but lines end with LF; one header
				 * line */
	PAGEDET_FORMAT_ARROW = 4, /* Arrow IPC stream */
	PAGEDET_FORMAT_SVG = 5,	/* a picture of memory. Each cell has the colour
				 * of most of its pages. For PAGEDET_TARGET_SCAN
				 * and _CGROUP; the fields must include the pfn
				 * and the field "by". With flags, poisoned and
				 * offline pages are marked. The picture is
				 * written when the emitter is finished, and
				 * shows the last query. Pages that only earlier
				 * queries had, and pages that do not match a
				 * filter, are pale */
	PAGEDET_FORMAT_SNAPSHOT = 6 /* a file for pagedet_open(): rows of one
				 * query, without groups or runs */
};

enum pagedet_emit_option {
	PAGEDET_EMIT_COLOUR = 1,
	PAGEDET_EMIT_SOURCES = 2, /* name the source of each field */
	PAGEDET_EMIT_POINTERS = 4, /* show kernel addresses */
	PAGEDET_EMIT_STACKS = 8, /* for queries about who allocated and freed
				 * pages: text and JSON include the frames of
				 * each stack, JSON in objects "alloc" and
				 * "free" */
	PAGEDET_EMIT_LINEAR = 16, /* SVG: cells row by row instead of along a
				 * Hilbert curve */
	PAGEDET_EMIT_TOTALS = 32, /* differences: only their number */
	PAGEDET_EMIT_ALTERNATIVES = 64 /* findings: include the alternatives,
				 * and what excludes them */
};

struct pagedet_emit_options {
	uint64_t size;		/* sizeof(struct pagedet_emit_options) */
	uint32_t format;	/* PAGEDET_FORMAT_* */
	uint32_t options;	/* PAGEDET_EMIT_* */
	int32_t fd;		/* descriptor to write to; -1 keeps the text in
				 * memory */
	uint32_t width;		/* terminal columns for text; 0 no limit */
	uint32_t by;		/* SVG: PAGEDET_FIELD_* that chooses the
				 * colours; 0 is PAGEDET_FIELD_KIND */
	uint32_t limit;		/* differences: largest number of changes to
				 * write, besides the totals; 0: all */
	const char *title;	/* [nullable] SVG: heading; NULL describes the
				 * content */
};

#define PAGEDET_EMIT_OPTIONS_INIT \
	{ sizeof(struct pagedet_emit_options), PAGEDET_FORMAT_JSON, 0, -1, 0, \
	  0, 0, NULL }

/**
 * pagedet_emitter_new - create an emitter
 * @pd: [in] the handle, opened or not
 * @options: [in] see struct pagedet_emit_options
 * @ret: [out] [owned: pagedet_emitter_free] the new emitter
 * Return: 0, or a negative errno.
 * Errors: EINVAL no such format, field or option; E2BIG options has a non-zero
 *         byte that this library does not know; ENOSYS the format was not
 *         built; ENOMEM.
 * Since: 0.1
 */
int pagedet_emitter_new(struct pagedet *pd,
			const struct pagedet_emit_options *options,
			struct pagedet_emitter **ret);

/**
 * pagedet_emit_all - write the remaining rows of an iterator
 * This is the fastest output, because the caller handles no rows. Groups end
 * with their total, and mappers with a summary per pfn. PAGEDET_FORMAT_SNAPSHOT
 * takes the rows of one iterator. After a failure the file is not complete.
 * After a deadline or a cancel it holds the rows so far, and its coverage says
 * that they are a part.
 * @emitter: [in] from pagedet_emitter_new()
 * @it: [in] from pagedet_query()
 * Return: 0, or a negative errno.
 * Errors: as pagedet_next(); EINVAL the format is SVG and the query cannot be
 *         drawn, or a snapshot, and there are groups, runs, or a second
 *         iterator; EIO writing failed.
 * Since: 0.1
 */
int pagedet_emit_all(struct pagedet_emitter *emitter, struct pagedet_iter *it);

/**
 * pagedet_emit_survey - write which fields each source can answer here
 * @emitter: [in] from pagedet_emitter_new()
 * @pd: [in] opened
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, or the format is SVG or a snapshot; EIO writing
 *         failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_survey(struct pagedet_emitter *emitter, struct pagedet *pd);

/**
 * pagedet_emit_owners - write groups of owners
 * @emitter: [in] from pagedet_emitter_new()
 * @owners: [in] written from its next group on
 * @max: [in] largest number of groups; UINT64_MAX is all
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is SVG or a snapshot; EIO writing failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_owners(struct pagedet_emitter *emitter,
			struct pagedet_owners *owners, uint64_t max);

/**
 * pagedet_emit_allocs - write groups of allocations
 * @emitter: [in] from pagedet_emitter_new()
 * @allocs: [in] written from its next group on
 * @max: [in] largest number of groups; UINT64_MAX is all
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is SVG or a snapshot; EIO writing failed.
 * Since: 0.1
 */
int pagedet_emit_allocs(struct pagedet_emitter *emitter,
			struct pagedet_allocs *allocs, uint64_t max);

/**
 * pagedet_emit_alloc_findings - write what is wrong with a trace
 * JSON ends with how many findings there are, how many of others the kernel
 * allows, and how many events are lost.
 * @emitter: [in] from pagedet_emitter_new()
 * @allocs: [in] from pagedet_allocs()
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is SVG or a snapshot; EIO writing failed.
 * Since: 0.1
 */
int pagedet_emit_alloc_findings(struct pagedet_emitter *emitter,
				struct pagedet_allocs *allocs);

/**
 * pagedet_emit_blame - write who holds blocks of memory
 * The total has how many pages and blocks are explained.
 * @emitter: [in] from pagedet_emitter_new()
 * @blame: [in] written from its next holder, or block, on
 * @blocks: [in] 1: a row is a block, with the group that holds most of it; 0: a
 *          row is a holder
 * @max: [in] largest number of rows; UINT64_MAX is all
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is SVG or a snapshot; EIO writing failed.
 * Since: 0.1
 */
int pagedet_emit_blame(struct pagedet_emitter *emitter,
		       struct pagedet_blame *blame, int blocks, uint64_t max);

/**
 * pagedet_emit_timeline - write the events that concern pages
 * The total says how many there are, and whether objects are among them.
 * Kernel addresses are shown with PAGEDET_EMIT_POINTERS.
 * @emitter: [in] from pagedet_emitter_new()
 * @timeline: [in] written from its next event on
 * @max: [in] largest number of rows; UINT64_MAX is all
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is SVG or a snapshot; EIO writing failed.
 * Since: 0.1
 */
int pagedet_emit_timeline(struct pagedet_emitter *emitter,
			  struct pagedet_timeline *timeline, uint64_t max);

/**
 * pagedet_emit_kmap - write a KMAP
 * Objects are read while they are written. The last line has the sums of all,
 * even of those that come after @max; CSV has no such line.
 * @emitter: [in] from pagedet_emitter_new(); it hides the addresses of objects
 *           unless it has PAGEDET_EMIT_POINTERS
 * @kmap: [in] written from its next object, or group, on
 * @accesses: [in] 1: each object has its accesses; groups ignore it
 * @max: [in] largest number of objects or groups; UINT64_MAX is all
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is SVG or a snapshot; EIO writing failed; or as
 *         pagedet_kmap_next().
 * Since: 0.1
 */
int pagedet_emit_kmap(struct pagedet_emitter *emitter,
		      struct pagedet_kmap *kmap, int accesses, uint64_t max);

/**
 * pagedet_emit_kmap_calls - write a log of calls
 * The last line has the sums of all; CSV has no such line.
 * @emitter: [in] from pagedet_emitter_new()
 * @calls: [in] written from its next pair on
 * @max: [in] largest number of pairs; UINT64_MAX is all
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is SVG or a snapshot; EIO writing failed.
 * Since: 0.1
 */
int pagedet_emit_kmap_calls(struct pagedet_emitter *emitter,
			    struct pagedet_kmap_calls *calls, uint64_t max);

/**
 * pagedet_emit_findings - write findings
 * @emitter: [in] from pagedet_emitter_new()
 * @findings: [in] [len: n] from pagedet_explain()
 * @n: [in] number of @findings
 * @evidence: [in,nullable] the evidence of the findings, which lets each one
 *            name its page
 * Return: 0, or a negative errno.
 * Errors: EINVAL a size is not that of any version, or the format is SVG or a
 *         snapshot; EIO writing failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_findings(struct pagedet_emitter *emitter,
			  const struct pagedet_finding *findings, uint64_t n,
			  const struct pagedet_evidence *evidence);

/**
 * pagedet_emit_checked - write the results of a check
 * @emitter: [in] from pagedet_emitter_new()
 * @checked: [in] written from its next range on
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is SVG or a snapshot; EIO writing failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_checked(struct pagedet_emitter *emitter,
			 struct pagedet_checked *checked);

/**
 * pagedet_emit_diff - write the remaining changes of a difference
 * Changes that pagedet_diff_next() has returned are not written again. SVG
 * draws the page frames of both sides. It needs PAGEDET_DIFF_BY_PFN and a
 * difference of which nothing was read yet.
 * @emitter: [in] must not be used for other output
 * @diff: [in] from pagedet_diff()
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is a snapshot, or SVG and this cannot be drawn; EIO
 *         writing failed; as pagedet_diff_next().
 * Since: 0.1
 */
int pagedet_emit_diff(struct pagedet_emitter *emitter,
		      struct pagedet_diff *diff);

/**
 * pagedet_emitter_finish - write buffered output
 * @emitter: [in] from pagedet_emitter_new()
 * Return: 0, or a negative errno.
 * Errors: EIO writing failed, also for lack of space.
 * Since: 0.1
 */
int pagedet_emitter_finish(struct pagedet_emitter *emitter);

/**
 * pagedet_emitter_text - get the text of an emitter without fd
 * @emitter: [in] from pagedet_emitter_new()
 * @len: [out] bytes
 * Return: the text; never NULL [borrowed: the next call on the emitter].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_emitter_text(struct pagedet_emitter *emitter, size_t *len);

/**
 * pagedet_emitter_free - free an emitter
 * Output that was not finished is discarded.
 * @emitter: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_emitter_free(struct pagedet_emitter *emitter);
