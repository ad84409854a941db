/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The data of a snapshot besides its rows: the query, the kernel, and the
 * coverage of the answer.
 */
#ifndef PDET_SNAPSHOT_ABOUT_H
#define PDET_SNAPSHOT_ABOUT_H

#include <stddef.h>

#include "schema/schema.h"

struct pdet_snapshot_field {
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s that were asked */
	uint8_t why;		/* PAGEDET_HAVE, or why no source answers */
	char advice[160];
};

/* Known when the snapshot begins. */
struct pdet_snapshot_about {
	char host[72];		/* "" not known, as for all texts here */
	char boot_id[40];
	char release[128];
	char arch[72];
	bool has_machine;	/* the following numbers are set */
	uint64_t page_size;	/* 0 unknown */
	uint64_t max_pfn;	/* 0 not known */
	uint64_t nodes;		/* 0 not known */
	bool big_endian, live;
	uint64_t first_ns;	/* CLOCK_REALTIME */
	uint64_t hash_key;	/* id of the key of field hash; 0 if there are
				 * no hashes */
	uint64_t hash_zero;	/* of a page of zeroes under that key; 0 not
				 * known */
	uint32_t target;	/* PAGEDET_TARGET_* */
	uint32_t options;	/* PAGEDET_Q_* */
	uint64_t n_items;	/* of the query */
	struct pagedet_item *items; /* the first n_kept items */
	size_t n_kept;
	char *path;		/* NULL: none */
	char *where;		/* NULL: none */
	struct pdet_fields fields; /* saved fields */
	struct pdet_snapshot_field field[PDET_FIELDS];
};

/* pdet_snapshot_about_free - free what it points to. */
void pdet_snapshot_about_free(struct pdet_snapshot_about *a);

/* Known when the snapshot ends. */
struct pdet_snapshot_end {
	struct pagedet_coverage coverage;
	uint64_t last_ns;	/* CLOCK_REALTIME */
	uint64_t rows;
	uint32_t flags;		/* PDET_SNAPSHOT_ALL_PFN, _SORTED */
};

struct pdet_snapshot_place {
	uint64_t at;		/* offset in the file */
	uint64_t first, last;	/* lowest and highest pfn; first > last if no
				 * row has one */
	uint32_t bytes;		/* including its head */
	uint32_t rows;
};

struct pdet_snapshot_places {
	struct pdet_snapshot_place *data;
	size_t n, cap;
};

/* Bytes that grow. @bad is set if memory is short. */
struct pdet_snapshot_bytes {
	char *data;
	size_t n, cap;
	bool bad;
};

/*
 * pdet_snapshot_put - append bytes. If @data is NULL, the room is only
 * reserved. Returns the place of the bytes, or NULL without memory.
 */
char *pdet_snapshot_put(struct pdet_snapshot_bytes *b, const void *data,
			size_t n);

/* Appends the records of one end. */
void pdet_snapshot_put_about(struct pdet_snapshot_bytes *b,
			     const struct pdet_snapshot_about *a);
void pdet_snapshot_put_end(struct pdet_snapshot_bytes *b,
			   const struct pdet_snapshot_end *e,
			   const struct pdet_snapshot_places *places);

/*
 * Parses the records. Returns 0, -EBADMSG or -ENOMEM, without an error text.
 * The caller frees the result in any case.
 */
int pdet_snapshot_get_about(const char *p, size_t n,
			    struct pdet_snapshot_about *a);
int pdet_snapshot_get_end(const char *p, size_t n, struct pdet_snapshot_end *e,
			  struct pdet_snapshot_places *places);

#endif
