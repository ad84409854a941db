/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes the Nth call of the system fail. The program is linked with --wrap, so
 * that what the library takes from the C library passes through here: memory,
 * files, mappings, threads. What was taken and not given back is counted.
 */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

enum fault {
	FAULT_MEMORY = 1,	/* malloc and everything like it: ENOMEM */
	FAULT_READ = 2,		/* read, pread, readdir, stat, mincore ... */
	FAULT_OPEN = 4,		/* open, openat, opendir, access */
	FAULT_IOCTL = 8,	/* ioctl, and system calls without a wrapper */
	FAULT_SHORT = 16,	/* read and pread give a part; no failure */
	FAULT_WRITE = 32,
	FAULT_THREAD = 64	/* pthread_create */
};

struct fault_plan {
	unsigned kinds;		/* FAULT_*: calls of these kinds count */
	uint64_t nth;		/* that fails, from 1 on; 0 only counts */
	int error;		/* errno, where the kind leaves a choice */
	bool on;		/* all later ones fail, too */
};

/* faults_begin - from now on, on all threads. */
void faults_begin(const struct fault_plan *plan);

/* faults_end - no more; returns how many calls counted. */
uint64_t faults_end(void);

/* faults_what - the call that failed first, "" if none has. */
const char *faults_what(void);

/* faults_error - the errno of the call that failed last. */
int faults_error(void);

/* faults_named - whether @words have the name of a file about which a call has
 * failed; true, too, if one failed that was about nothing with a name. */
bool faults_named(const char *words);

/* faults_kept - what was taken since faults_begin() and not given back, in
 * words, or NULL. */
const char *faults_kept(void);

#endif
