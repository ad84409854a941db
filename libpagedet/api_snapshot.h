/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What a file of saved rows says besides them. */
#ifndef PDET_API_SNAPSHOT_H
#define PDET_API_SNAPSHOT_H

#include "handle.h"
#include "schema/snapshot_about.h"

/* pdet_about_snapshot - free with pdet_snapshot_about_free(), in any case. */
int pdet_about_snapshot(struct pagedet_iter *it, struct pdet_snapshot_about *a);

#endif
