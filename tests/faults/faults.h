/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes the Nth system call or allocation fail. The program is linked with
 * --wrap, so that the library's calls of the C library come here: memory,
 * files, mappings, threads. It also counts resources that were not released.
 */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

enum fault {
	FAULT_MEMORY = 1,	/* malloc and similar functions: ENOMEM */
	FAULT_READ = 2,		/* read, pread, readdir, stat, mincore ... */
	FAULT_OPEN = 4,		/* open, openat, opendir, access */
	FAULT_IOCTL = 8,	/* ioctl, and system calls without a wrapper */
	FAULT_SHORT = 16,	/* read and pread return a part; not a
				 * failure */
	FAULT_WRITE = 32,
	FAULT_THREAD = 64	/* pthread_create */
};

struct fault_plan {
	unsigned kinds;		/* FAULT_*: the kinds of calls to count */
	uint64_t nth;		/* index of the failing call, from 1; 0: only
				 * count */
	int error;		/* errno, if the kind allows a choice */
	bool on;		/* all later calls fail as well */
};

/* faults_begin - start to count, on all threads. */
void faults_begin(const struct fault_plan *plan);

/* faults_end - stop. Returns the number of calls. */
uint64_t faults_end(void);

/* faults_what - the first call that failed; "" if none has. */
const char *faults_what(void);

/* faults_error - errno of the last call that failed. */
int faults_error(void);

/*
 * faults_named - whether @words name a file about which a call has failed; also
 * true if a call without a name failed.
 */
bool faults_named(const char *words);

/*
 * faults_kept - describes resources taken since faults_begin() and not
 * released; NULL if there are none.
 */
const char *faults_kept(void);

#endif
