/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Rows from the file that schema/snapshot_format.h describes. Nothing of it is
 * believed: what does not fit is -EBADMSG, and no row comes of it.
 */
#ifndef PDET_SCHEMA_SNAPSHOT_READ_H
#define PDET_SCHEMA_SNAPSHOT_READ_H

#include "base/env.h"
#include "schema/batch.h"
#include "schema/snapshot_about.h"

struct pdet_snapshot;

struct pdet_snapshot_file {
	/* Bytes read, short only at the end, or negative errno. */
	ssize_t (*read_at)(void *arg, void *buf, size_t n, uint64_t offset);
	void *arg;
	uint64_t size;
	const char *name;	/* for words; stays the caller's */
};

/* pdet_is_snapshot - whether a file begins like one. */
bool pdet_is_snapshot(const void *head, size_t len);

/* pdet_snapshot_open - both ends. -EBADMSG damaged; -ENOTSUP of a later
 * version; -EIO, -ENOMEM; with words. */
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

/* One block in memory, to be loaded again and again. One thread's. */
struct pdet_snapshot_block;

struct pdet_snapshot_block *pdet_snapshot_block_new(void);
void pdet_snapshot_block_free(struct pdet_snapshot_block *b);

/* pdet_snapshot_load - columns @fields of block @n; nothing to do if they are
 * there already. -EBADMSG, -EIO, -ENOSYS: no library decompresses it; -ENOMEM;
 * with words. */
int pdet_snapshot_load(const struct pdet_snapshot *s, struct pdet_env *env,
		       size_t n, const struct pdet_fields *fields,
		       struct pdet_snapshot_block *b);

/* pdet_snapshot_get - rows @at .. @at + @n - 1 of the block into @row ... of
 * @to: the columns of @fields that were loaded and that both have. They are
 * said to be from @source. */
void pdet_snapshot_get(const struct pdet_snapshot_block *b, uint32_t at,
		       uint32_t n, const struct pdet_fields *fields,
		       struct pdet_batch *to, uint32_t row, unsigned source);

/* pdet_snapshot_find - the row of a frame, -1 there is none; of a file that is
 * sorted and with PFN loaded. */
int64_t pdet_snapshot_find(const struct pdet_snapshot_block *b, uint64_t pfn);

/* A column from row at on: up to row end, it goes on in the same way. */
struct pdet_snapshot_runs {
	uint32_t at, end;
	unsigned state;
	uint64_t value;		/* of row at, if the state is HAVE; of texts
				 * their number in this block */
	uint64_t stride;	/* each is more than the one before by it */
	const char *text;	/* the block's; NULL of others */
	const struct pdet_snapshot_block *block;
	unsigned field;
	bool values;
	uint32_t cell_run, value_run;
};

/* pdet_snapshot_first_run - of a column that was loaded; without @values, of
 * rows of the same state. */
void pdet_snapshot_first_run(const struct pdet_snapshot_block *b,
			     unsigned field, bool values,
			     struct pdet_snapshot_runs *ret);

/* pdet_snapshot_pass - on to row @to, which is not behind r->end; behind the
 * last row nothing happens. */
void pdet_snapshot_pass(struct pdet_snapshot_runs *r, uint32_t to);

/* --- snapshot_block.c --- */

/* pdet_snapshot_decode - the same from @n bytes, once they are decompressed,
 * which must be @rows rows. They stay the caller's, and there. -EBADMSG or
 * -ENOMEM, without words. */
int pdet_snapshot_decode(struct pdet_snapshot_block *b, const char *p, size_t n,
			 uint32_t rows, const struct pdet_fields *fields);

struct pdet_codec;

/* What pdet_snapshot_load() keeps with a block. */
struct pdet_snapshot_loaded {
	bool is;		/* there is something in the block ... */
	size_t n;		/* ... and which */
	struct pdet_fields fields;
	struct pdet_codec *codec; /* of @codec_is */
	unsigned codec_is;
	struct pdet_snapshot_bytes stored, raw;
};

struct pdet_snapshot_loaded *
pdet_snapshot_loaded(struct pdet_snapshot_block *b);

#endif
