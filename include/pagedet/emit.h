/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: rows become text. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Emitters: rows become text
 */

enum pagedet_format_id {
	PAGEDET_FORMAT_TEXT = 1, /* for people */
	PAGEDET_FORMAT_JSON = 2, /* one object a line */
	PAGEDET_FORMAT_CSV = 3,	/* RFC 4180 but for line ends, which are LF;
				 * one header line */
	PAGEDET_FORMAT_ARROW = 4, /* IPC stream */
	PAGEDET_FORMAT_SVG = 5,	/* a picture of memory: cells in the colour of
				 * what most of their pages are. For
				 * PAGEDET_TARGET_SCAN and _CGROUP, with the
				 * pfn and the field "by" among the fields;
				 * with flags, poisoned and offline pages are
				 * marked. It is written when the emitter is
				 * finished, and shows the last query; pages
				 * that only queries before it had are pale,
				 * as what does not match a filter */
	PAGEDET_FORMAT_SNAPSHOT = 6 /* a file that pagedet_open() opens: rows of
				 * one query, no groups or runs */
};

enum pagedet_emit_option {
	PAGEDET_EMIT_COLOUR = 1,
	PAGEDET_EMIT_SOURCES = 2, /* say where each field came from */
	PAGEDET_EMIT_POINTERS = 4, /* show kernel addresses */
	PAGEDET_EMIT_STACKS = 8, /* rows are about who allocated and freed a
				 * page: text and JSON have the frames of each
				 * stack, JSON in objects "alloc" and "free" */
	PAGEDET_EMIT_LINEAR = 16, /* SVG: cells row by row instead of along
				 * Hilbert's curve */
	PAGEDET_EMIT_TOTALS = 32 /* differences: how many, not which */
};

struct pagedet_emit_options {
	uint64_t size;		/* sizeof(struct pagedet_emit_options) */
	uint32_t format;	/* PAGEDET_FORMAT_* */
	uint32_t options;	/* PAGEDET_EMIT_* */
	int32_t fd;		/* written to; -1 keeps the text in memory */
	uint32_t width;		/* terminal columns for text; 0 any */
	uint32_t by;		/* SVG: PAGEDET_FIELD_* of the colours; 0 is
				 * PAGEDET_FIELD_KIND */
	uint32_t reserved;
	const char *title;	/* [nullable] SVG: above the picture; NULL says
				 * what it shows */
};

#define PAGEDET_EMIT_OPTIONS_INIT \
	{ sizeof(struct pagedet_emit_options), PAGEDET_FORMAT_JSON, 0, -1, 0, \
	  0, 0, NULL }

/**
 * pagedet_emitter_new - make an emitter
 * @pd: [in]
 * @options: [in]
 * @ret: [out] [owned: pagedet_emitter_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL no such format or field; E2BIG options has a non-zero byte
 *         that this library does not know; ENOSYS the format was not built;
 *         ENOMEM.
 * Since: 0.1
 */
int pagedet_emitter_new(struct pagedet *pd,
			const struct pagedet_emit_options *options,
			struct pagedet_emitter **ret);

/**
 * pagedet_emit_all - write everything that is left of an iterator
 * Makes no rows: the fast way out. Groups end with their total; mappers with a
 * summary per pfn. PAGEDET_FORMAT_SNAPSHOT takes the rows of one iterator; if
 * this fails, what was written is no whole file; but after a deadline or a
 * cancel it has the rows that came, and its coverage says that they are a part.
 * @emitter: [in]
 * @it: [in]
 * Return: 0, or a negative errno.
 * Errors: as pagedet_next(); EINVAL the format is SVG and the query cannot be
 *         drawn, or a snapshot, and there are groups, runs, or a second
 *         iterator; EIO writing failed.
 * Since: 0.1
 */
int pagedet_emit_all(struct pagedet_emitter *emitter, struct pagedet_iter *it);

/**
 * pagedet_emit_survey - write what every source can answer here
 * @emitter: [in]
 * @pd: [in] opened
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, or the format is SVG; EIO writing failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_survey(struct pagedet_emitter *emitter, struct pagedet *pd);

/**
 * pagedet_emit_owners - write groups of owners, up to the end or a number
 * @emitter: [in]
 * @owners: [in] from the next group on
 * @max: [in] groups; UINT64_MAX is all
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is SVG; EIO writing failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_owners(struct pagedet_emitter *emitter,
			struct pagedet_owners *owners, uint64_t max);

/**
 * pagedet_emit_findings - write findings
 * @emitter: [in]
 * @findings: [in] [len: n] of pagedet_explain()
 * @n: [in]
 * @evidence: [in,nullable] that they were made of: then each one says of which
 *            page it is
 * Return: 0, or a negative errno.
 * Errors: EINVAL a size is not that of any version; EIO writing failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_findings(struct pagedet_emitter *emitter,
			  const struct pagedet_finding *findings, uint64_t n,
			  const struct pagedet_evidence *evidence);

/**
 * pagedet_emit_checked - write what a check found, from the next range on
 * @emitter: [in]
 * @checked: [in]
 * Return: 0, or a negative errno.
 * Errors: EIO writing failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_checked(struct pagedet_emitter *emitter,
			 struct pagedet_checked *checked);

/**
 * pagedet_emit_diff - write what changed, up to the end
 * What was read by pagedet_diff_next() is not written again. SVG is a picture
 * of the frames of both: for PAGEDET_DIFF_BY_PFN, and if nothing was read yet.
 * @emitter: [in] that nothing else is written to
 * @diff: [in]
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is a snapshot, or SVG and this cannot be drawn;
 *         EIO writing failed; as pagedet_diff_next().
 * Since: 0.1
 */
int pagedet_emit_diff(struct pagedet_emitter *emitter,
		      struct pagedet_diff *diff);

/**
 * pagedet_emitter_finish - write what is held back
 * @emitter: [in]
 * Return: 0, or a negative errno.
 * Errors: EIO writing failed, for lack of space too.
 * Since: 0.1
 */
int pagedet_emitter_finish(struct pagedet_emitter *emitter);

/**
 * pagedet_emitter_text - what was written, for emitters without fd
 * @emitter: [in]
 * @len: [out] bytes
 * Return: the text; never NULL [borrowed: the next call on the emitter].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_emitter_text(struct pagedet_emitter *emitter, size_t *len);

/**
 * pagedet_emitter_free - free an emitter
 * What was not finished is not written.
 * @emitter: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_emitter_free(struct pagedet_emitter *emitter);
