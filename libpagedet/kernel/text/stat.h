/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads the state, or a number, of /proc/PID/stat. */
#ifndef PDET_KERNEL_TEXT_STAT_H
#define PDET_KERNEL_TEXT_STAT_H

#include "base/env.h"

/* Fields, counted from 1 (proc(5)). */
enum {
	PDET_STAT_FLAGS = 9,
	PDET_STAT_THREADS = 20,
	PDET_STAT_START = 22,	/* clock ticks since boot */
	PDET_STAT_RSS = 24,	/* resident pages */
	PDET_STAT_START_CODE = 26, /* from here on: 0 without memory, and to
				    * those who may not read the task: 1 */
	PDET_STAT_START_STACK = 28, /* and 0 */
	PDET_STAT_START_DATA = 45,
	PDET_STAT_START_BRK = 47,
	PDET_STAT_ARG_START = 48
};

/*
 * pdet_stat_number - read one of these. Returns 0, or a negative errno without
 * an error text: the file cannot be read, or, -EBADMSG, lacks the number. *ret
 * is 0 then.
 */
int pdet_stat_number(const struct pdet_env *env, uint32_t pid, unsigned wanted,
		     uint64_t *ret);

/*
 * pdet_stat_numbers - read the fields wanted[0] < ... < wanted[@n - 1], at
 * once. One that the file lacks is 0. Returns 0, or a negative errno as above.
 */
int pdet_stat_numbers(const struct pdet_env *env, uint32_t pid,
		      const unsigned *wanted, size_t n, uint64_t *ret);

/* pdet_stat_state - the letter of the task's state, 'Z' for a zombie; 0 if it
 * cannot be read. */
char pdet_stat_state(const struct pdet_env *env, uint32_t pid);

/* pdet_stat_life - the same, and the number of threads of the process, which is
 * 0 if it is not known. */
char pdet_stat_life(const struct pdet_env *env, uint32_t pid,
		    uint64_t *threads);

#endif
