/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The small bundle that every room is handed: where to read, where to put the
 * words of a failure, whom to tell. Lower rooms never see the handle. Each
 * thread has an env of its own; workers have no log function, because
 * callbacks run on the caller's thread only.
 */
#ifndef PDET_BASE_ENV_H
#define PDET_BASE_ENV_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PDET_ERROR_SIZE 512

#define PDET_PRINTF(a, b) __attribute__((format(printf, a, b)))

#define PDET_CONTAINER(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define PDET_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PDET_MAX(a, b) ((a) > (b) ? (a) : (b))
#define PDET_COUNT(array) (sizeof(array) / sizeof(*(array)))

struct pdet_env {
	char *root;		/* "" for the real root; no final '/' */
	void (*log)(void *user, int level, const char *text);
	void *log_user;
	int log_level;
	char error[PDET_ERROR_SIZE];
	char advice[PDET_ERROR_SIZE];
};

/*
 * pdet_fail - note what went wrong and return -@code. @code is a positive
 * errno; EPERM becomes EACCES. The text says "cannot VERB OBJECT: why".
 */
int pdet_fail(struct pdet_env *env, int code, const char *fmt, ...)
	PDET_PRINTF(3, 4);

/* pdet_fail_errno - the same with ": " and the words for errno at the end. */
int pdet_fail_errno(struct pdet_env *env, const char *fmt, ...)
	PDET_PRINTF(2, 3);

/* pdet_context - put "context: " before the text of a failure below. */
void pdet_context(struct pdet_env *env, const char *fmt, ...)
	PDET_PRINTF(2, 3);

/* pdet_advise - say what would help. */
void pdet_advise(struct pdet_env *env, const char *fmt, ...)
	PDET_PRINTF(2, 3);

/* pdet_clear - forget an earlier failure. */
void pdet_clear(struct pdet_env *env);

/* pdet_take_words - those of a failure below, which had an env of its own. */
void pdet_take_words(struct pdet_env *env, const struct pdet_env *from);

/* pdet_log - tell the log callback, if there is one for this level. */
void pdet_log(struct pdet_env *env, int level, const char *fmt, ...)
	PDET_PRINTF(3, 4);

/* pdet_errno_closed - the errno of the public list that stands for it. */
int pdet_errno_closed(int code);

/* pdet_is_shortage - @r says that there is no memory, or no descriptor is left:
 * nothing about what was to be read, and nothing else will work. */
bool pdet_is_shortage(int r);

/* pdet_errno_kept - the same as pdet_errno_closed(), but shortages stay what
 * they are: for those who will say why. */
int pdet_errno_kept(int code);

#endif
