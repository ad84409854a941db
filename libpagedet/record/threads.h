/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Names of threads. The kernel keeps those of few threads, in saved_cmdlines,
 * so that it must be read again and again.
 */
#ifndef PDET_RECORD_THREADS_H
#define PDET_RECORD_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "base/pairs.h"

struct pdet_thread_name {
	uint32_t tid;
	char comm[16];		/* not terminated if it is full */
};

struct pdet_thread_names {
	struct pdet_thread_name *data;
	size_t n, cap;
	struct pdet_pairs by;	/* which of data, by tid */
};

/*
 * pdet_thread_names_add - add the lines of a text: "TID NAME". The last name of
 * a thread counts. What has no room is left out.
 */
void pdet_thread_names_add(struct pdet_thread_names *t, const char *text,
			   size_t len);

/*
 * pdet_thread_names_text - the same form, by tid. Returns the length, and
 * memory that the caller frees; NULL: there is none.
 */
char *pdet_thread_names_text(const struct pdet_thread_names *t, size_t *len);

void pdet_thread_names_free(struct pdet_thread_names *t);

#endif
