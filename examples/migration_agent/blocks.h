/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The blocks of guest memory, as QEMU's monitor names them. */
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

struct backing {		/* the place of a block on one side */
	uint64_t hva;		/* 0: not known, why has the reason */
	uint64_t file_offset;	/* offset of hva in its file, if any */
	uint64_t dev, inode;	/* 0: anonymous */
	bool shared;
	char prot[5];
	char path[256];
	char why[160];
	int fd;			/* descriptor of that file, or -1 */
};

struct block {
	char name[256];
	uint64_t used, total;	/* bytes */
	uint64_t first, pages;	/* page numbers; 0 pages: not compared */
	struct range ranges[MAX_RANGES]; /* its guest addresses */
	unsigned n_ranges;
	struct backing at[SIDES];
	uint64_t written_ns;	/* mtime of the source's file; 0 not known */
	uint64_t allocated;	/* its sectors, when last read */
	uint64_t others_ns;	/* written_ns if the guest did not write */
};

/*
 * Parses the text of "info ramblock" and fills in at most MAX_BLOCKS of
 * @blocks. Returns how many. @odd gets the first line, within @text, that names
 * a block which is not among them, or NULL. Both functions change @text.
 */
unsigned blocks_parse(char *text, struct block *blocks, const char **odd);
/* Parses the text of "info mtree -f", and adds the guest addresses. */
void blocks_parse_views(char *text, struct block *blocks, unsigned n);
/* The largest block that is not compared, or NULL. */
const struct block *blocks_missing(const struct block *blocks, unsigned n);

#endif
