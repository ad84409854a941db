/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * libpagedet - what is this page?
 *
 * One question, one answer shape. A query names pages of the running kernel,
 * of a dump or of a saved text; each page comes back as a row of fields, and
 * every field says whether it is answered, is definitely nothing, was lost, or
 * cannot be known here - and from which source.
 *
 *   struct pagedet *pd = pagedet_new();
 *   struct pagedet_query q = PAGEDET_QUERY_INIT;
 *   struct pagedet_item item = { 0x1234, 1, 0, 0 };
 *   struct pagedet_page row;
 *   struct pagedet_iter *it;
 *
 *   pagedet_open(pd, NULL);
 *   q.target = PAGEDET_TARGET_PFN;
 *   q.items = &item;
 *   q.n_items = 1;
 *   q.options = PAGEDET_Q_CHEAP;
 *   if (pagedet_query(pd, &q, &it) == 0 && pagedet_next(it, &row, 1) == 1)
 *           use(&row);
 *
 * Conventions
 *   - Functions that can fail return 0 or a count; below zero is a negative
 *     errno from this closed list: EINVAL E2BIG ENOMEM EACCES ENOENT ESRCH
 *     ENODATA EBADMSG EIO EOVERFLOW ENOTSUP ENOSYS EINTR EAGAIN ETIMEDOUT
 *     ECANCELED. The words are in pagedet_error(), what would help in
 *     pagedet_advice().
 *   - A question that nobody can answer is not an error: it is a cell with a
 *     reason.
 *   - Out-parameters are last and untouched on failure.
 *   - One handle, and everything made from it, is used by one thread at a
 *     time. Only pagedet_cancel() may be called from elsewhere.
 *   - Nothing is printed, no signal is touched, nothing is forked. Descriptors
 *     are close-on-exec. After fork() the child may only free the handle.
 *   - Integers have fixed width. Sizes are in bytes, addresses in bytes, page
 *     frame numbers (pfn) and page offsets in base pages, times in ns.
 *
 * Its parts are below pagedet/, in the order of the includes at the end; a
 * program includes this header alone.
 *
 * Marks in the comments, read by scripts/gen-api for the bindings:
 *   [in] [out] [nullable] [len: PARAM] [borrowed: UNTIL] [owned: FREE_FUNCTION]
 */
#ifndef PAGEDET_H
#define PAGEDET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAGEDET_VERSION_MAJOR 0
#define PAGEDET_VERSION_MINOR 1
#define PAGEDET_VERSION_PATCH 0

#include "pagedet/page.h"
#include "pagedet/handle.h"
#include "pagedet/query.h"
#include "pagedet/content.h"
#include "pagedet/mapindex.h"
#include "pagedet/owners.h"
#include "pagedet/explain.h"
#include "pagedet/check.h"
#include "pagedet/diff.h"
#include "pagedet/emit.h"
#include "pagedet/track.h"

#ifdef __cplusplus
}
#endif

#endif /* PAGEDET_H */
