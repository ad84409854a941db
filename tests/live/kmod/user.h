/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Shared by the programs that use page_detective in a guest. */
#ifndef TESTS_LIVE_KMOD_USER_H
#define TESTS_LIVE_KMOD_USER_H

#include <stddef.h>
#include <stdint.h>

#define DETECTIVE "/sys/kernel/debug/page_detective/"

/*
 * user.c: asks a question on an open file and returns the answer, which the
 * caller frees; NULL with errno.
 */
char *user_ask(int fd, const char *text, size_t len);
int user_open(void);
uint64_t user_random(uint64_t *state);
/* The number behind the first place of a key; 0 if there is none. */
uint64_t user_number(const char *answer, const char *key);

/* user_stress.c */
int user_parallel(int processes, int rounds);
int user_random_frames(uint64_t seed, long count, uint64_t last);
int user_random_addresses(uint64_t seed, long count);

/* user_refs.c */
int user_refs(int rounds);

/* user_churn.c */
int user_churn(void);

/* user_sweep.c */
int user_sweep(uint64_t first, long count);

/* user_cases.c */
int user_case(const char *name);

/* user_bench.c */
int user_bench(uint64_t first, long count);

#endif
