/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Files as far as tasks map them: all that is left of a page cache that is not
 * there to be looked at, as in a captured tree.
 */
#ifndef PDET_QUERY_MAPPED_H
#define PDET_QUERY_MAPPED_H

#include "query/query.h"

struct pdet_mapped_page {
	uint64_t index;
	uint64_t pfn;		/* 0: the number is hidden */
};

/* Identifies a file. */
struct pdet_mapped_key {
	uint64_t dev;
	uint64_t inode;
	uint64_t name;		/* hash of it; 0: no other file has the same
				 * dev and inode */
};

struct pdet_mapped_file {
	struct pdet_mapped_key key;
	bool proved;		/* its pages are those of dev and inode */
	char *path;		/* as maps shows it */
	struct {
		struct pdet_mapped_page *data;
		size_t n, cap;
	} pages;
	size_t sorted;		/* of them are in order, each once */
	size_t at;		/* where the next one would be among these */
};

struct pdet_mapped {
	uint64_t first, end;	/* pages of each file that are asked for */
	uint64_t max_pages;	/* kept in memory */
	uint64_t n_pages;	/* that are */
	uint32_t *pids;		/* tasks whose maps could be read */
	size_t n_pids;
	struct {
		struct pdet_mapped_file *data;
		size_t n, cap;
	} files;
	uint32_t *slot;		/* hash table of file number + 1 */
	size_t slots;
};

void pdet_mapped_free(struct pdet_mapped *m);

/* The file that a VMA maps, if it is one of them; NULL. */
struct pdet_mapped_file *pdet_mapped_file(const struct pdet_mapped *m,
					  const struct pdet_vma *vma);
/* Makes it one of them, known by name, too, unless it is @unique without; false
 * without memory. */
bool pdet_mapped_add(struct pdet_mapped *m, const struct pdet_vma *vma,
		     bool unique, bool proved);

/*
 * mapped_find.c: which files the question of @w is about. -ENODATA no task
 * maps one, so that nothing is known; -ENOTSUP there is no table of mounts.
 */
int pdet_mapped_find(struct pdet_mapped *m, struct pdet_walk *w,
		     struct pdet_worker *k);

/* Their pages, in order; the files in order of their names. */
int pdet_mapped_collect(struct pdet_mapped *m, struct pdet_walk *w,
			struct pdet_worker *k);

/* The first page of index @index or behind it. */
size_t pdet_mapped_seek(const struct pdet_mapped_file *f, uint64_t index);

/* A task that could not be read is data: counts it and forgets the words. 0,
 * or what ends the work. */
int pdet_mapped_unread(struct pdet_walk *w, struct pdet_worker *k, int error);

#endif
