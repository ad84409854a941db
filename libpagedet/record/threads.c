/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* In the order in which they came, and sorted by number when they are told. */
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

/* The entry of a thread, perhaps a new one; NULL: there is no room. */
static struct pdet_thread_name *entry(struct pdet_thread_names *t, uint32_t tid)
{
	const struct pdet_thread_name one = { .tid = tid };
	uint64_t i;

	if (pdet_pairs_get(&t->by, tid, &i))
		return &t->data[i];
	if (t->n == MOST_THREADS || !pdet_vec_reserve(t, 1) ||
	    !pdet_pairs_set(&t->by, tid, t->n))
		return NULL;
	t->data[t->n++] = one;
	return &t->data[t->n - 1];
}

static void add(struct pdet_thread_names *t, uint32_t tid,
		const struct pdet_scan *name)
{
	const size_t len = (size_t)(name->end - name->at);
	struct pdet_thread_name *one = entry(t, tid);

	if (!one)
		return;
	memset(one->comm, 0, sizeof(one->comm));
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

static int compare(const void *a, const void *b)
{
	const struct pdet_thread_name *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

char *pdet_thread_names_text(const struct pdet_thread_names *t, size_t *len)
{
	struct pdet_thread_name *all = malloc(t->n * sizeof(*all) + 1);
	char *text = all ? malloc(t->n * MOST_LINE + 1) : NULL;
	size_t i;

	*len = 0;
	if (text) {
		*text = '\0';
		if (t->n)
			memcpy(all, t->data, t->n * sizeof(*all));
		qsort(all, t->n, sizeof(*all), compare);
	}
	for (i = 0; text && i < t->n; i++)
		*len += (size_t)sprintf(text + *len, "%u %.16s\n", all[i].tid,
					all[i].comm);
	free(all);
	return text;
}

void pdet_thread_names_free(struct pdet_thread_names *t)
{
	pdet_vec_free(t);
	pdet_pairs_free(&t->by);
}
