/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * libpagedet - what is this page?
 *
 * A query names pages of the running kernel, of a memory dump or of a saved
 * text. libpagedet answers each page with a row of fields. Every field of a row
 * is in one of four states: answered, definitely nothing, lost, or impossible
 * to know here. It also names the source of its answer.
 *
 *   struct pagedet *pd = pagedet_new();
 *   struct pagedet_query q = PAGEDET_QUERY_INIT;
 *   struct pagedet_item item = { 0x1234, 1, 0, 0 };
 *   struct pagedet_page row;
 *   struct pagedet_iter *it;
 *
 *   q.target = PAGEDET_TARGET_PFN;
 *   q.items = &item;
 *   q.n_items = 1;
 *   q.options = PAGEDET_Q_CHEAP;
 *   if (pd && pagedet_open(pd, NULL) == 0 && pagedet_query(pd, &q, &it) == 0) {
 *           if (pagedet_next(it, &row, 1) == 1)
 *                   use(&row);
 *           pagedet_iter_free(it);
 *   }
 *   pagedet_free(pd);
 *
 * Conventions
 *   - A function that can fail returns 0 or a count on success. On failure it
 *     returns a negative errno from this closed list: EINVAL E2BIG ENOMEM
 *     EACCES ENOENT ESRCH ENODATA EBADMSG EIO EOVERFLOW ENOTSUP ENOSYS EINTR
 *     EAGAIN ETIMEDOUT ECANCELED. pagedet_error() explains the failure, and
 *     pagedet_advice() says what would help. ENOMEM is also the answer if the
 *     process has no free descriptor.
 *   - A field that no source can answer is not an error. Its cell holds the
 *     reason.
 *   - Out-parameters come last. A failed call leaves them unchanged, unless its
 *     comment says otherwise.
 *   - Only one thread at a time may use a handle and everything made from it.
 *     The exception is pagedet_cancel(), which any thread may call. Types that
 *     are made without a handle say which threads may use them. Functions
 *     without any object may run in any number of threads.
 *   - libpagedet prints nothing and changes no signal handling. It starts no
 *     process, except the helper of the source page_detective, which
 *     pagedet_open(3) describes: a program that waits for any child, or counts
 *     them, leaves that source out. Its descriptors are close-on-exec. After
 *     fork() the child may only free the handle.
 *   - Integers have a fixed width. Sizes and addresses are in bytes, page frame
 *     numbers (pfn) and page offsets in base pages, times in ns.
 *
 * The parts of this header are below pagedet/, in the order of the includes at
 * the end. A program includes only this header.
 *
 * Marks in the comments, which scripts/gen-api reads for the bindings:
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
#include "pagedet/kernel.h"
#include "pagedet/usage.h"
#include "pagedet/heat.h"
#include "pagedet/owners.h"
#include "pagedet/allocs.h"
#include "pagedet/alloc_findings.h"
#include "pagedet/blame.h"
#include "pagedet/timeline.h"
#include "pagedet/record.h"
#include "pagedet/kmap.h"
#include "pagedet/kmap_pages.h"
#include "pagedet/memorizer.h"
#include "pagedet/kmap_watch.h"
#include "pagedet/explain.h"
#include "pagedet/check.h"
#include "pagedet/diff.h"
#include "pagedet/emit.h"
#include "pagedet/track.h"
#include "pagedet/migrate.h"

#ifdef __cplusplus
}
#endif

#endif /* PAGEDET_H */
