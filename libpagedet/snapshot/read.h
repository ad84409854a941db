/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the file that snapshot/format.h describes. Nothing in the file is
 * trusted. If something does not fit, the result is -EBADMSG and no row.
 */
#ifndef PDET_SNAPSHOT_READ_H
#define PDET_SNAPSHOT_READ_H

#include "base/env.h"
#include "schema/batch.h"
#include "snapshot/about.h"

struct pdet_snapshot;

struct pdet_snapshot_file {
	/* Returns the bytes read, fewer only at the end, or negative errno. */
	ssize_t (*read_at)(void *arg, void *buf, size_t n, uint64_t offset);
	void *arg;
	uint64_t size;
	const char *name;	/* for error texts; remains the caller's */
};

/* pdet_is_snapshot - whether a file begins like a snapshot. */
bool pdet_is_snapshot(const void *head, size_t len);

/*
 * pdet_snapshot_open - read both ends. Returns 0, -EBADMSG if the file is
 * damaged, -ENOTSUP if it is of a later version, -EIO or -ENOMEM. A failure has
 * an error text.
 */
int pdet_snapshot_open(struct pdet_env *env,
		       const struct pdet_snapshot_file *file,
		       struct pdet_snapshot **ret);
void pdet_snapshot_close(struct pdet_snapshot *s);

const struct pdet_snapshot_about *
pdet_snapshot_about(const struct pdet_snapshot *s);
const struct pdet_snapshot_end *
pdet_snapshot_end(const struct pdet_snapshot *s);
const struct pdet_snapshot_places *
pdet_snapshot_places(const struct pdet_snapshot *s);

/* A block in memory, which can be loaded repeatedly. For one thread. */
struct pdet_snapshot_block;

struct pdet_snapshot_block *pdet_snapshot_block_new(void);
void pdet_snapshot_block_free(struct pdet_snapshot_block *b);

/*
 * pdet_snapshot_load - load columns @fields of block @n, unless they are loaded
 * already. Returns 0, -EBADMSG, -EIO, -ENOMEM, or -ENOSYS if no library can
 * decompress it. A failure has an error text.
 */
int pdet_snapshot_load(const struct pdet_snapshot *s, struct pdet_env *env,
		       size_t n, const struct pdet_fields *fields,
		       struct pdet_snapshot_block *b);

/*
 * pdet_snapshot_get - write rows @at .. @at + @n - 1 of the block to @to, from
 * row @row on. It writes the columns of @fields that were loaded and that both
 * have. @source becomes their source.
 */
void pdet_snapshot_get(const struct pdet_snapshot_block *b, uint32_t at,
		       uint32_t n, const struct pdet_fields *fields,
		       struct pdet_batch *to, uint32_t row, unsigned source);

/*
 * pdet_snapshot_find - find the row of a frame. Returns -1 if there is none.
 * The file must be sorted, and PFN must be loaded.
 */
int64_t pdet_snapshot_find(const struct pdet_snapshot_block *b, uint64_t pfn);

/* A run of a column from row at on. It ends before row end. */
struct pdet_snapshot_runs {
	uint32_t at, end;
	unsigned state;
	uint64_t value;		/* the value of row at, if the state is HAVE;
				 * for texts, the index in this block */
	uint64_t stride;	/* difference from each value to the next */
	const char *text;	/* of the block; NULL for other types */
	const struct pdet_snapshot_block *block;
	unsigned field;
	bool values;
	uint32_t cell_run, value_run;
};

/*
 * pdet_snapshot_first_run - get the first run of a loaded column; without
 * @values, a run of rows with the same state.
 */
void pdet_snapshot_first_run(const struct pdet_snapshot_block *b,
			     unsigned field, bool values,
			     struct pdet_snapshot_runs *ret);

/*
 * pdet_snapshot_pass - go to row @to, which is not after r->end. After the last
 * row it does nothing.
 */
void pdet_snapshot_pass(struct pdet_snapshot_runs *r, uint32_t to);

/* --- block.c --- */

/*
 * pdet_snapshot_decode - the same from @n decompressed bytes, which must have
 * @rows rows. The caller keeps the bytes valid. Returns -EBADMSG or -ENOMEM,
 * without an error text.
 */
int pdet_snapshot_decode(struct pdet_snapshot_block *b, const char *p, size_t n,
			 uint32_t rows, const struct pdet_fields *fields);

struct pdet_codec;

/* The state of pdet_snapshot_load() for a block. */
struct pdet_snapshot_loaded {
	bool is;		/* a block is loaded */
	size_t n;		/* its number */
	struct pdet_fields fields;
	struct pdet_codec *codec; /* of type @codec_is */
	unsigned codec_is;
	struct pdet_snapshot_bytes stored, raw;
};

struct pdet_snapshot_loaded *
pdet_snapshot_loaded(struct pdet_snapshot_block *b);

#endif
