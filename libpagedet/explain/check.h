/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Assertions about the cached pages of a file or block device. */
#ifndef PDET_EXPLAIN_CHECK_H
#define PDET_EXPLAIN_CHECK_H

#include <stdbool.h>
#include <sys/stat.h>

#include "backend/backend.h"
#include "kernel/cachestat.h"

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
/* pdet_checked_next - 1, or 0 at the end. */
int pdet_checked_next(struct pdet_checked *c, struct pagedet_verdict *ret);
void pdet_checked_whole(const struct pdet_checked *c,
			struct pagedet_verdict *ret);
const char *pdet_checked_text(const struct pdet_checked *c, uint64_t id);
/* pdet_checked_name, _path - of what was checked. */
const char *pdet_checked_name(const struct pdet_checked *c);
const char *pdet_checked_path(const struct pdet_checked *c);
void pdet_checked_free(struct pdet_checked *c);

/* Names; NULL: there is no such number. */
const char *pdet_check_name(uint32_t kind);
const char *pdet_verdict_name(uint32_t verdict);
const char *pdet_cause_name(uint32_t cause);

/* pdet_mark - what is counted now; how many bytes, -ENOMEM, -EIO. */
int pdet_mark(struct pdet_env *env, void *mark, size_t size);
/* pdet_mark_watch - the same, and from now on failed writeback is traced. */
int pdet_mark_watch(struct pdet_env *env, void *mark, size_t size);
/* pdet_mark_end - ends that. 0, -EBADMSG, or what the system says. */
int pdet_mark_end(struct pdet_env *env, const void *mark, size_t size);

/* --- for the files of this room --- */

struct pdet_checked {
	const struct pdet_check_args *args; /* while it is made */
	struct pdet_env *env;
	const struct pagedet_check *check;
	uint32_t kind;
	char *path;		/* as it was named; "" a descriptor */
	int fd;
	bool block;
	struct stat st;
	unsigned long magic;	/* of the filesystem */
	unsigned shift;		/* of a page */
	uint64_t bytes;		/* of the file */
	uint64_t first, end;	/* pages asked for, that there are */
	uint64_t deadline_ns;	/* CLOCK_MONOTONIC; 0 none */
	/* what was found */
	struct { struct pagedet_verdict *data; size_t n, cap; } found;
	struct { char **data; size_t n, cap; } texts;
	struct pagedet_verdict whole;
	bool no_memory;
	size_t at;
};

/* pdet_check_add - a range that is not as asserted, or is unknown; one that
 * goes on where the last one ended, for the same reason, becomes part of it. */
void pdet_check_add(struct pdet_checked *c, unsigned verdict, unsigned cause,
		    uint64_t first, uint64_t pages, const char *fmt, ...)
	PDET_PRINTF(6, 7);
/* pdet_check_say - words for the whole, if nothing is wrong with it. */
void pdet_check_say(struct pdet_checked *c, const char *fmt, ...)
	PDET_PRINTF(2, 3);
/* pdet_check_late - the deadline has come; then it was said, from @first on. */
bool pdet_check_late(struct pdet_checked *c, uint64_t first);

/* check_file.c: 0, or negative errno with words. */
int pdet_check_open(struct pdet_checked *c);
/* For a question about errors: of a directory or device, or of nothing, too. */
int pdet_check_name_only(struct pdet_checked *c);
/* The filesystem is another machine's, or a server's. */
bool pdet_check_is_remote(const struct pdet_checked *c);
/* What became of the file meanwhile is added. */
void pdet_check_same(struct pdet_checked *c);

/* pdet_check_stat - cachestat(2) of pages of the file. */
int pdet_check_stat(const struct pdet_checked *c, uint64_t first, uint64_t n,
		    struct pdet_cachestat *ret);
/* pdet_check_uncounted - cachestat failed with @r: adds why all of it is
 * unknown. */
void pdet_check_uncounted(struct pdet_checked *c, int r);

/* What is done for each kind. 0, or a negative errno with words. */
int pdet_check_clean(struct pdet_checked *c);
int pdet_check_absent(struct pdet_checked *c);
int pdet_check_disk(struct pdet_checked *c);
int pdet_check_stable(struct pdet_checked *c);
int pdet_check_errors(struct pdet_checked *c);

#endif
