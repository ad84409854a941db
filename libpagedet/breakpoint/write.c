/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A KMAP with 11 columns, whose accesses have threads. Each word is an object:
 * otherwise the accesses would not tell which word they are to.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "breakpoint/write.h"
#include "pagedet.h"

/* A place that is not told; the kernel prints it for one that it hides. */
#define UNTOLD "(____ptrval____)"

static const char *type_of(const struct pdet_bp_object *o)
{
	return o->is_data ? "GLOBAL" : !*o->cache ? "NONE" :
	       !strncmp(o->cache, "kmalloc-", 8) ? "KMALLOC" : "KMEM_CACHE";
}

/* A name must not end its column. */
static void put_name(FILE *f, const char *name)
{
	for (; *name; name++)
		putc(*name == ',' || (unsigned char)*name < ' ' ? '_' : *name,
		     f);
}

/*
 * Nobody knows when it was allocated. A free before the allocation tells the
 * reader that its lifetime is not known, nor whether it has ended.
 */
static void put_word(FILE *f, const struct pdet_bp_text *t, size_t piece)
{
	const struct pdet_bp_piece *p = &t->plan->data[piece];
	const struct pdet_bp_object *o = &t->objects[p->object];
	const bool is_live = o->state && o->state != PAGEDET_OBJECT_FREE;

	fprintf(f, UNTOLD ",0,%" PRIx64 ",%u,%d,%d,(null),%s,,", p->address,
		p->bytes, is_live ? 0 : 2, is_live ? 0 : 1, type_of(o));
	put_name(f, o->cache);
	fprintf(f, ",\n");
}

static void put_hit(FILE *f, const struct pdet_bp_text *t, size_t at)
{
	const uint64_t *key = pdet_groups_value(&t->hits->by, at);
	const struct pdet_bp_hit *h = &t->hits->sums.data[at];

	fprintf(f, "  %" PRIx64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		key[PDET_BP_IP], h->writes, h->reads, key[PDET_BP_TID]);
}

struct ranked {
	uint64_t piece, count, ip;
	size_t at;
};

/* By word, the most frequent first. */
static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->piece != y->piece)
		return x->piece < y->piece ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static struct ranked *rank(const struct pdet_bp_hits *h)
{
	struct ranked *all = calloc(h->sums.n + 1, sizeof(*all));
	size_t i;

	for (i = 0; all && i < h->sums.n; i++) {
		const uint64_t *key = pdet_groups_value(&h->by, i);

		all[i] = (struct ranked){ key[PDET_BP_PIECE],
			h->sums.data[i].reads + h->sums.data[i].writes,
			key[PDET_BP_IP], i };
	}
	if (all)
		qsort(all, h->sums.n, sizeof(*all), compare);
	return all;
}

/* The descriptor stays that of the caller, and no other one is needed. */
static ssize_t put_bytes(void *cookie, const char *bytes, size_t n)
{
	const int *fd = cookie;
	size_t done = 0;
	ssize_t some;

	while (done < n) {
		some = write(*fd, bytes + done, n - done);
		if (some < 0 && errno == EINTR)
			continue;
		if (some <= 0)
			return 0;
		done += (size_t)some;
	}
	return (ssize_t)done;
}

int pdet_bp_write(struct pdet_env *env, int fd, const struct pdet_bp_text *t)
{
	struct ranked *all = rank(t->hits);
	FILE *f = all ? fopencookie(&fd, "w", (cookie_io_functions_t){
					.write = put_bytes }) : NULL;
	size_t i, at = 0;
	bool failed;
	int r = 0;

	if (!f)
		r = pdet_fail(env, ENOMEM, "cannot write a KMAP: no memory");
	for (i = 0; r == 0 && i < t->plan->n; i++) {
		if (t->turns[i].windows)
			put_word(f, t, i);
		for (; at < t->hits->sums.n && all[at].piece == i; at++)
			if (t->turns[i].windows)
				put_hit(f, t, all[at].at);
	}
	if (f) {
		failed = ferror(f);
		failed |= fclose(f) != 0;
		if (failed)
			r = pdet_fail_errno(env, "cannot write a KMAP");
	}
	free(all);
	return r;
}
