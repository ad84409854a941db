/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Sorted by number, so that each is there once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/text/text.h"
#include "base/vec.h"
#include "record/threads.h"

/* Five megabytes of them. */
#define MOST_THREADS 262144u
/* "4194304 ", the name and a newline. */
#define MOST_LINE 32

/* The place of a thread, or where it belongs. */
static size_t place(const struct pdet_thread_names *t, uint32_t tid)
{
	size_t low = 0, high = t->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (t->data[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add(struct pdet_thread_names *t, uint32_t tid,
		const struct pdet_scan *name)
{
	const size_t at = place(t, tid);
	const size_t len = (size_t)(name->end - name->at);
	struct pdet_thread_name *one;

	if (at == t->n || t->data[at].tid != tid) {
		if (t->n == MOST_THREADS || !pdet_vec_reserve(t, 1))
			return;
		memmove(t->data + at + 1, t->data + at,
			(t->n++ - at) * sizeof(*t->data));
	}
	one = &t->data[at];
	memset(one, 0, sizeof(*one));
	one->tid = tid;
	memcpy(one->comm, name->at, PDET_MIN(len, sizeof(one->comm)));
}

void pdet_thread_names_add(struct pdet_thread_names *t, const char *text,
			   size_t len)
{
	struct pdet_scan all = { text, text + len }, line;
	uint64_t tid;

	while (pdet_scan_line(&all, &line))
		if (pdet_scan_dec(&line, &tid) && tid <= UINT32_MAX &&
		    pdet_scan_char(&line, ' ') && line.at < line.end)
			add(t, (uint32_t)tid, &line);
}

char *pdet_thread_names_text(const struct pdet_thread_names *t, size_t *len)
{
	char *text = malloc(t->n * MOST_LINE + 1);
	size_t i;

	*len = 0;
	if (text)
		*text = '\0';
	for (i = 0; text && i < t->n; i++)
		*len += (size_t)sprintf(text + *len, "%u %.16s\n",
					t->data[i].tid, t->data[i].comm);
	return text;
}
