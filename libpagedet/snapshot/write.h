/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes rows to the file that snapshot/format.h describes. */
#ifndef PDET_SNAPSHOT_WRITE_H
#define PDET_SNAPSHOT_WRITE_H

#include "base/env.h"
#include "base/text/strtab.h"
#include "snapshot/about.h"

/* Rows per block that this library writes. */
#define PDET_SNAPSHOT_ROWS_PER_BLOCK 16384

struct pdet_snapshot_writer;

/* The output. The writer never reads it back. */
struct pdet_snapshot_sink {
	void (*put)(void *arg, const void *data, size_t n);
	void *arg;
};

/*
 * Some rows in the form of columns. All columns that are saved must be present.
 */
struct pdet_snapshot_columns {
	uint32_t n;
	bool series;		/* row i has the pfn of row 0 plus i */
	const uint64_t *value[PDET_FIELDS];
	const uint16_t *cell[PDET_FIELDS];
	const struct pdet_strtab *strings;
};

/*
 * pdet_snapshot_write - begin a snapshot. Returns 0, -ENOSYS if no compression
 * was built, or -ENOMEM. A failure has an error text.
 */
int pdet_snapshot_write(struct pdet_env *env,
			const struct pdet_snapshot_about *about,
			const struct pdet_snapshot_sink *sink,
			struct pdet_snapshot_writer **ret);

/*
 * pdet_snapshot_add - add rows. Returns 0, -ENOMEM, or -EOVERFLOW if the block
 * would be too long.
 */
int pdet_snapshot_add(struct pdet_snapshot_writer *w,
		      const struct pdet_snapshot_columns *columns);

/*
 * pdet_snapshot_finish - write the remaining rows and the end. Without it the
 * file is incomplete.
 */
int pdet_snapshot_finish(struct pdet_snapshot_writer *w,
			 const struct pagedet_coverage *coverage,
			 uint64_t last_ns);

void pdet_snapshot_write_free(struct pdet_snapshot_writer *w);

#endif
