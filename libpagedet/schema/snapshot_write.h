/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Rows become the file that schema/snapshot_format.h describes. */
#ifndef PDET_SCHEMA_SNAPSHOT_WRITE_H
#define PDET_SCHEMA_SNAPSHOT_WRITE_H

#include "base/env.h"
#include "base/strtab.h"
#include "schema/snapshot_about.h"

/* Rows of a block of ours. */
#define PDET_SNAPSHOT_ROWS_PER_BLOCK 16384

struct pdet_snapshot_writer;

/* Where the bytes go; they are never asked for again. */
struct pdet_snapshot_sink {
	void (*put)(void *arg, const void *data, size_t n);
	void *arg;
};

/* Some rows as columns. Those that are saved must be there. */
struct pdet_snapshot_columns {
	uint32_t n;
	bool series;		/* pfn of row i is that of row 0 + i, for all */
	const uint64_t *value[PDET_FIELDS];
	const uint16_t *cell[PDET_FIELDS];
	const struct pdet_strtab *strings;
};

/* pdet_snapshot_write - begins, with what is known then. -ENOSYS: nothing
 * compresses here; -ENOMEM. With words. */
int pdet_snapshot_write(struct pdet_env *env,
			const struct pdet_snapshot_about *about,
			const struct pdet_snapshot_sink *sink,
			struct pdet_snapshot_writer **ret);

/* pdet_snapshot_add - 0, -ENOMEM or -EOVERFLOW: a block cannot be as long as
 * this. */
int pdet_snapshot_add(struct pdet_snapshot_writer *w,
		      const struct pdet_snapshot_columns *columns);

/* pdet_snapshot_finish - what is left, and the end. Without it the file is no
 * whole one. */
int pdet_snapshot_finish(struct pdet_snapshot_writer *w,
			 const struct pagedet_coverage *coverage,
			 uint64_t last_ns);

void pdet_snapshot_write_free(struct pdet_snapshot_writer *w);

#endif
