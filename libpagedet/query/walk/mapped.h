/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Files, as far as the mappings of tasks show them. A captured tree has no page
 * cache, so it shows nothing else of a file.
 */
#ifndef PDET_QUERY_WALK_MAPPED_H
#define PDET_QUERY_WALK_MAPPED_H

#include "query/query.h"

struct pdet_mapped_page {
	uint64_t index;
	uint64_t pfn;		/* 0: the number is hidden */
};

/* Identifies a file. */
struct pdet_mapped_key {
	uint64_t dev;
	uint64_t inode;
	uint64_t name;		/* hash of the name; 0 if no other file has the
				 * same dev and inode */
};

struct pdet_mapped_file {
	struct pdet_mapped_key key;
	bool proved;		/* its pages all have that dev and inode */
	char *path;		/* as /proc/PID/maps shows it */
	struct {
		struct pdet_mapped_page *data;
		size_t n, cap;
	} pages;
	size_t sorted;		/* the number of pages that are in order and
				 * occur once */
	size_t at;		/* where the next page would go among these */
};

struct pdet_mapped {
	uint64_t first, end;	/* wanted pages of each file */
	uint64_t max_pages;	/* limit of pages in memory */
	uint64_t n_pages;	/* pages in memory */
	uint32_t *pids;		/* tasks with readable maps */
	size_t n_pids;
	struct {
		struct pdet_mapped_file *data;
		size_t n, cap;
	} files;
	uint32_t *slot;		/* hash table of file index + 1 */
	size_t slots;
};

void pdet_mapped_free(struct pdet_mapped *m);

/* Finds the file that a VMA maps. Returns NULL if it is not in the table. */
struct pdet_mapped_file *pdet_mapped_file(const struct pdet_mapped *m,
					  const struct pdet_vma *vma);
/*
 * Adds the file. Unless @unique says that dev and inode suffice, its name
 * identifies it as well. Returns false without memory.
 */
bool pdet_mapped_add(struct pdet_mapped *m, const struct pdet_vma *vma,
		     bool unique, bool proved);

/*
 * mapped_find.c: finds the files of the query of @w. -ENODATA: no task maps
 * such a file, so nothing is known; -ENOTSUP: there is no mount table.
 */
int pdet_mapped_find(struct pdet_mapped *m, struct pdet_walk *w,
		     struct pdet_worker *k);

/* Collects the pages of the files, in order, and sorts the files by name. */
int pdet_mapped_collect(struct pdet_mapped *m, struct pdet_walk *w,
			struct pdet_worker *k);

/* The first page whose index is @index or higher. */
size_t pdet_mapped_seek(const struct pdet_mapped_file *f, uint64_t index);

/*
 * If a task could not be read, that is a result: counts the task and drops the
 * error text. Returns 0, or the error that ends the work.
 */
int pdet_mapped_unread(struct pdet_walk *w, struct pdet_worker *k, uint32_t pid,
		       int error);

#endif
