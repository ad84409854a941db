/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Checks assertions about the cached pages of a file or block device. */
#ifndef PDET_CHECK_CHECK_H
#define PDET_CHECK_CHECK_H

#include <stdbool.h>
#include <sys/stat.h>

#include "backend/backend.h"
#include "disk/cachestat.h"

struct pdet_checked;

struct pdet_check_args {
	struct pdet_env *env;
	struct pdet_backend *const *backends;
	size_t n_backends;
	uint32_t sources;
	uint64_t page_size;
	const struct pagedet_check *check;
};

int pdet_check_run(const struct pdet_check_args *args,
		   struct pdet_checked **ret);
/* pdet_checked_next - get the next range. Returns 1, or 0 at the end. */
int pdet_checked_next(struct pdet_checked *c, struct pagedet_verdict *ret);
void pdet_checked_whole(const struct pdet_checked *c,
			struct pagedet_verdict *ret);
const char *pdet_checked_text(const struct pdet_checked *c, uint64_t id);
/* pdet_checked_name, _path - describe what was checked. */
const char *pdet_checked_name(const struct pdet_checked *c);
const char *pdet_checked_path(const struct pdet_checked *c);
void pdet_checked_free(struct pdet_checked *c);

/* Names; NULL if the number has none. */
const char *pdet_check_name(uint32_t kind);
const char *pdet_verdict_name(uint32_t verdict);
const char *pdet_cause_name(uint32_t cause);

/*
 * pdet_mark - write the current counters. Returns the number of bytes, -ENOMEM
 * or -EIO.
 */
int pdet_mark(struct pdet_env *env, void *mark, size_t size);
/* pdet_mark_watch - the same, and also start to trace failed writeback. */
int pdet_mark_watch(struct pdet_env *env, void *mark, size_t size);
/* pdet_mark_end - end that trace. Returns 0, -EBADMSG, or another errno. */
int pdet_mark_end(struct pdet_env *env, const void *mark, size_t size);

/* --- for the files of this room --- */

struct pdet_checked {
	const struct pdet_check_args *args; /* during the check only */
	struct pdet_env *env;
	const struct pagedet_check *check;
	uint32_t kind;
	char *path;		/* as the caller named it; "" for a
				 * descriptor */
	int fd;
	bool block;
	struct stat named;	/* status of the named file; for overlayfs, */
	struct stat st;		/* this is the file below it */
	unsigned long magic;	/* of the filesystem */
	unsigned shift;		/* of the page size */
	uint64_t bytes;		/* size of the file */
	uint64_t first, end;	/* existing pages of the wanted range */
	uint64_t deadline_ns;	/* CLOCK_MONOTONIC; 0 no deadline */
	/* the result */
	struct { struct pagedet_verdict *data; size_t n, cap; } found;
	struct { char **data; size_t n, cap; } texts;
	struct pagedet_verdict whole;
	bool no_memory;
	size_t at;
};

/*
 * pdet_check_add - add a violated or unknown range. If it continues the last
 * range, for the same reason, the two are merged.
 */
void pdet_check_add(struct pdet_checked *c, unsigned verdict, unsigned cause,
		    uint64_t first, uint64_t pages, const char *fmt, ...)
	PDET_PRINTF(6, 7);
/*
 * pdet_check_say - set the text for the whole. It is used if no range has a
 * text.
 */
void pdet_check_say(struct pdet_checked *c, const char *fmt, ...)
	PDET_PRINTF(2, 3);
/*
 * pdet_check_late - whether the deadline has come. Adds the range from @first
 * on.
 */
bool pdet_check_late(struct pdet_checked *c, uint64_t first);

/* check_file.c: returns 0, or negative errno with an error text. */
int pdet_check_open(struct pdet_checked *c);
/* pdet_check_take - replace the file by @fd, and take ownership of it. */
bool pdet_check_take(struct pdet_checked *c, int fd);
/* For checks of errors: opens a directory or device, or nothing. */
int pdet_check_name_only(struct pdet_checked *c);
/* Whether the files are on another machine or a server. */
bool pdet_check_is_remote(const struct pdet_checked *c);
/* Whether the kernel makes up what is read: the files have no pages. */
bool pdet_check_is_made_up(const struct pdet_checked *c);
/*
 * pdet_check_diskless - if nothing of the filesystem is on a disk, or if the
 * file is not cached but mapped from its device, add that the whole is unknown.
 * Returns whether it did.
 */
bool pdet_check_diskless(struct pdet_checked *c);
/* check_disk.c: whether the file's data goes through a journal, or may. */
bool pdet_check_journals_data(const struct pdet_checked *c);
/* Adds what happened to the file during the check. */
void pdet_check_same(struct pdet_checked *c);

/* pdet_check_stat - cachestat(2) for pages of the file. */
int pdet_check_stat(const struct pdet_checked *c, uint64_t first, uint64_t n,
		    struct pdet_cachestat *ret);
/*
 * pdet_check_is_whole - whether each page is up to date as a whole, if it is
 * cached. Otherwise only cachestat(2) shows all that are cached: mincore(2)
 * does not show one of which a part is up to date and perhaps dirty.
 */
bool pdet_check_is_whole(const struct pdet_checked *c);
#define PDET_CHECK_PART "not cached as a whole; the kernel does not say " \
			"whether a part is"

/*
 * pdet_check_uncounted - cachestat failed with @r: add the reason why the whole
 * is unknown.
 */
void pdet_check_uncounted(struct pdet_checked *c, int r);

/*
 * There is one function for each kind. Each returns 0, or negative errno with
 * an error text.
 */
int pdet_check_clean(struct pdet_checked *c);
int pdet_check_absent(struct pdet_checked *c);
int pdet_check_disk(struct pdet_checked *c);
int pdet_check_stable(struct pdet_checked *c);
int pdet_check_errors(struct pdet_checked *c);

#endif
