/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Collects a snapshot's data besides its rows. */
#ifndef PDET_API_SNAPSHOT_H
#define PDET_API_SNAPSHOT_H

#include "api/handle.h"
#include "snapshot/about.h"

/*
 * pdet_about_snapshot - the caller frees the result with
 * pdet_snapshot_about_free(), in any case.
 */
int pdet_about_snapshot(struct pagedet_iter *it, struct pdet_snapshot_about *a);

#endif
