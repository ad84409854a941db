/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The context that every function gets: the root for paths, the error text, and
 * the log callback. Lower rooms never see the handle. Each thread has its own
 * env. Workers have no log function, because callbacks run only on the caller's
 * thread.
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
	/* Set from the handle during a call: true if the caller no longer waits
	 * for the answer. NULL: the caller always waits. */
	bool (*stop)(void *arg);
	void *stop_arg;
};

/*
 * pdet_fail - set the error text and return -@code. @code is a positive errno;
 * EPERM becomes EACCES. The text is "cannot VERB OBJECT: why".
 */
int pdet_fail(struct pdet_env *env, int code, const char *fmt, ...)
	PDET_PRINTF(3, 4);

/* pdet_fail_errno - the same, with ": " and the text of errno appended. */
int pdet_fail_errno(struct pdet_env *env, const char *fmt, ...)
	PDET_PRINTF(2, 3);

/* pdet_add_words - append to the error text. */
void pdet_add_words(struct pdet_env *env, const char *fmt, ...)
	PDET_PRINTF(2, 3);

/* pdet_context - put "context: " before the error text of a called function. */
void pdet_context(struct pdet_env *env, const char *fmt, ...)
	PDET_PRINTF(2, 3);

/* pdet_advise - set the advice for the failure. */
void pdet_advise(struct pdet_env *env, const char *fmt, ...)
	PDET_PRINTF(2, 3);

/* pdet_clear - clear the error text. */
void pdet_clear(struct pdet_env *env);

/*
 * pdet_take_words - copy the error text of a called function that had its own
 * env.
 */
void pdet_take_words(struct pdet_env *env, const struct pdet_env *from);

/* pdet_log - call the log callback if it is set for this level. */
void pdet_log(struct pdet_env *env, int level, const char *fmt, ...)
	PDET_PRINTF(3, 4);

/* pdet_errno_closed - map @code to an errno of the public list. */
int pdet_errno_closed(int code);

/* pdet_is_shortage - true if @r means no memory or no free descriptor. It says
 * nothing about the file, and further calls will fail too. */
bool pdet_is_shortage(int r);

/* pdet_errno_kept - as pdet_errno_closed(), but keeps ENOMEM, EMFILE and
 * ENFILE, for callers that report the cause. */
int pdet_errno_kept(int code);

#endif
