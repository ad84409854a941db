/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What is inside of a watch, for the sums of a cache. */
#ifndef PDET_API_KMAP_WATCH_H
#define PDET_API_KMAP_WATCH_H

#include "breakpoint/ask.h"
#include "breakpoint/write.h"
#include "pagedet.h"

/* pdet_kmap_sources - those of a handle that say what is at an address now. */
struct pdet_bp_sources pdet_kmap_sources(const struct pagedet *pd);

/* pdet_kmap_seen - what a stopped watch has seen, until it is freed. */
struct pdet_bp_text pdet_kmap_seen(const struct pagedet_kmap_watch *watch);

/* pdet_kmap_found - what was there when the watch began. */
const struct pdet_bp_object *
pdet_kmap_found(const struct pagedet_kmap_watch *watch);

#endif
