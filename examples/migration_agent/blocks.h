/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Blocks of guest memory, as QEMU's monitor names them. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE_BYTES 4096u
#define MAX_BLOCKS 64u
#define MAX_RANGES 32u

enum { SOURCE, DESTINATION, SIDES };

struct range {
	uint64_t gpa, offset, len;
	bool rom;
};

struct backing {		/* where a block is, on one side */
	uint64_t hva;		/* 0: not known, why says so */
	uint64_t file_offset;	/* of hva, if it is a file's */
	uint64_t dev, inode;	/* 0: anonymous */
	bool shared;
	char prot[5];
	char path[256];
	char why[160];
	int fd;			/* of that file, or -1 */
};

struct block {
	char name[256];
	uint64_t used, total;	/* bytes */
	uint64_t first, pages;	/* page numbers; no pages: not compared */
	struct range ranges[MAX_RANGES]; /* where the guest has it */
	unsigned n_ranges;
	struct backing at[SIDES];
	uint64_t written_ns;	/* mtime of the source's file; 0 not known */
	uint64_t allocated;	/* sectors of it, when last looked at */
	uint64_t others_ns;	/* written_ns when that was not the guest */
};

/*
 * The text of "info ramblock": how many of @blocks, of which there are
 * MAX_BLOCKS, were filled. @odd: the first line that names a block which is not
 * among them, within @text, or NULL. Both write into @text.
 */
unsigned blocks_parse(char *text, struct block *blocks, const char **odd);
/* The text of "info mtree -f": adds where the guest has each of them. */
void blocks_parse_views(char *text, struct block *blocks, unsigned n);
/* One that no other is larger than and that is not compared, or NULL. */
const struct block *blocks_missing(const struct block *blocks, unsigned n);

#endif
