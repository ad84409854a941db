/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * page_owner of the running kernel, against raw reads of its file; a static
 * program, which bench/live takes into a kernel that has one.
 *
 *   live_owners lookup N		N pages, one after the other
 *   live_owners owners THREADS FASTER	the whole file
 *
 * Prints lines as compare does.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"

#define FILE_NAME "/sys/kernel/debug/page_owner"
/* As cat reads, and as dd does if it is told nothing else than bs=4096. */
#define CAT_SIZE 131072
#define RECORD_SIZE 4096

#define MAX_PARTS 16

void compare_same(const char *what, uint64_t got, uint64_t want)
{
	uint64_t off = got > want ? got - want : want - got;

	if (off > want / 20)
		probe_die("%s: the library saw %llu, the raw calls %llu", what,
			  (unsigned long long)got, (unsigned long long)want);
}

/* --- the records --- */

/* First pages of allocations. */
struct pages {
	uint64_t *pfn;
	size_t n;
};

static uint64_t page_of(const char *text)
{
	const char *at = strstr(text, "\nPFN ");

	return at ? strtoull(at + 5, NULL, 0) : 0;
}

static void list_pages(struct pages *p)
{
	char buf[RECORD_SIZE + 1];
	int fd = probe_open(FILE_NAME);
	size_t room = 0;
	ssize_t got;

	*p = (struct pages){ NULL, 0 };
	while ((got = read(fd, buf, RECORD_SIZE)) > 0) {
		buf[got] = '\0';
		if (p->n == room) {
			room = room ? 2 * room : 1024;
			p->pfn = realloc(p->pfn, room * sizeof(*p->pfn));
			if (!p->pfn)
				probe_die("no memory");
		}
		p->pfn[p->n++] = page_of(buf);
	}
	close(fd);
}

/* @n of them, of all memory, in no order. */
static void find_pages(struct pages *p, size_t n)
{
	uint64_t state = 88172645463325252u, keep;
	size_t i, k;

	list_pages(p);
	if (p->n < n)
		probe_die("there are %zu records", p->n);
	for (i = 0; i < n; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		k = i + (size_t)(state % (p->n - i));
		keep = p->pfn[i];
		p->pfn[i] = p->pfn[k];
		p->pfn[k] = keep;
	}
	p->n = n;
}

/* --- the whole file --- */

struct raw {
	size_t size;		/* of a read */
	uint64_t records;	/* that the last run saw */
};

static uint64_t read_file(void *arg)
{
	struct raw *r = arg;
	char *buf = malloc(r->size);
	const uint64_t start = probe_ns();
	int fd = probe_open(FILE_NAME);
	ssize_t n;

	if (!buf)
		probe_die("no memory");
	r->records = 0;
	while ((n = read(fd, buf, r->size)) > 0)
		r->records++;
	if (n < 0)
		probe_die("%s: %s", FILE_NAME, strerror(errno));
	close(fd);
	free(buf);
	return probe_ns() - start;
}

/* The same by several threads, each with a part of the records: what two
 * processors of this machine can do. */
struct part {
	uint64_t from, end, records;
	pthread_t thread;
};

struct parts {
	struct part part[MAX_PARTS];
	unsigned n;
};

static void *read_part(void *arg)
{
	struct part *p = arg;
	char buf[RECORD_SIZE + 1];
	uint64_t at = p->from, pfn;
	int fd = probe_open(FILE_NAME);
	ssize_t n;

	p->records = 0;
	while ((n = pread(fd, buf, RECORD_SIZE, (off_t)at)) > 0) {
		buf[n] = '\0';
		pfn = page_of(buf);
		if (pfn >= p->end)
			break;
		at = pfn + 1;
		p->records++;
	}
	close(fd);
	return NULL;
}

static uint64_t read_parts(void *arg)
{
	struct parts *p = arg;
	const uint64_t start = probe_ns();
	unsigned i;

	for (i = 1; i < p->n; i++)
		if (pthread_create(&p->part[i].thread, NULL, read_part,
				   &p->part[i]))
			probe_die("no thread");
	read_part(&p->part[0]);
	for (i = 1; i < p->n; i++)
		pthread_join(p->part[i].thread, NULL);
	return probe_ns() - start;
}

struct whole {
	struct pagedet *pd;
	uint32_t threads;
	const struct raw *raw;
};

static void whole_open(struct whole *w, const char *threads,
		       const struct raw *raw)
{
	struct pagedet_options options = PAGEDET_OPTIONS_INIT;

	w->threads = (uint32_t)atoi(threads);
	w->raw = raw;
	w->pd = pagedet_new();
	options.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PAGE_OWNER);
	if (!w->pd)
		probe_die("no memory");
	if (pagedet_open(w->pd, &options) < 0)
		probe_die("pagedet_open: %s", pagedet_error(w->pd));
}

static uint64_t run_whole(void *arg)
{
	struct whole *w = arg;
	struct pagedet_owners_query q = PAGEDET_OWNERS_QUERY_INIT;
	struct pagedet_owners_total total = { .size = sizeof(total) };
	struct pagedet_owners *owners;
	uint64_t start = probe_ns();

	q.threads = w->threads;
	if (pagedet_owners(w->pd, &q, &owners) < 0)
		probe_die("pagedet_owners: %s", pagedet_error(w->pd));
	start = probe_ns() - start;
	pagedet_owners_total(owners, &total);
	pagedet_owners_free(owners);
	if (!total.complete)
		probe_die("pagedet_owners: not complete");
	compare_same("records", total.times, w->raw->records);
	return start;
}

/* As many records for each. */
static void deal(struct parts *p, unsigned n)
{
	struct pages pages;
	unsigned i;

	if (!n || n > MAX_PARTS)
		probe_die("%u threads", n);
	list_pages(&pages);
	p->n = n;
	for (i = 0; i < n; i++) {
		p->part[i].from = i ? p->part[i - 1].end : 0;
		p->part[i].end = i + 1 == n ? UINT64_MAX :
				 pages.pfn[pages.n * (i + 1) / n];
	}
	free(pages.pfn);
}

static int owners(int argc, char **argv)
{
	struct raw raw = { .size = CAT_SIZE }, small = { .size = RECORD_SIZE };
	struct parts parts = { .n = 0 };
	struct whole whole;
	char work[120];
	struct trial t = {
		.work = work,
		.peer = { "reads of 128 KiB, as cat does", read_file, &raw },
		.bound = { "reads of 4 KiB", read_file, &small },
		.library = { "pagedet_owners", run_whole, &whole },
	};

	if (argc != 2)
		return 64;
	deal(&parts, (unsigned)atoi(argv[0]));
	if (parts.n > 1)
		t.bound = (struct trial_side){ "preads by as many threads",
					       read_parts, &parts };
	read_file(&raw);
	snprintf(work, sizeof(work), "all of page_owner, %llu records, %s "
		 "thread(s)", (unsigned long long)raw.records, argv[0]);
	t.faster = atof(argv[1]);
	whole_open(&whole, argv[0], &raw);
	trial_run(&t);
	pagedet_free(whole.pd);
	return 0;
}

/* --- single pages --- */

struct raw_lookup {
	const struct pages *pages;
	int fd;
};

static uint64_t look_raw(void *arg)
{
	const struct raw_lookup *r = arg;
	char buf[RECORD_SIZE + 1];
	uint64_t start = probe_ns(), same = 0;
	ssize_t n;
	size_t i;

	for (i = 0; i < r->pages->n; i++) {
		if (lseek(r->fd, (off_t)r->pages->pfn[i], SEEK_SET) < 0)
			probe_die("lseek: %s", strerror(errno));
		n = read(r->fd, buf, RECORD_SIZE);
		buf[n > 0 ? n : 0] = '\0';
		same += page_of(buf) == r->pages->pfn[i];
	}
	start = probe_ns() - start;
	compare_same("pages, raw", same, r->pages->n);
	return start;
}

struct warm {
	struct drain drain;
	struct pagedet_iter *it;
	struct pagedet_item item;
	const struct pages *pages;
};

static uint64_t look_warm(void *arg)
{
	struct warm *w = arg;
	struct pagedet_page row;
	uint64_t start = probe_ns(), answered = 0;
	size_t i;

	for (i = 0; i < w->pages->n; i++) {
		w->item.first = w->pages->pfn[i];
		if (pagedet_iter_retarget(w->it, &w->item, 1) < 0)
			drain_die(&w->drain, "pagedet_iter_retarget");
		if (pagedet_next(w->it, &row, 1) != 1)
			drain_die(&w->drain, "pagedet_next");
		answered += PAGEDET_CELL_STATE(
			row.cell[PAGEDET_FIELD_ALLOC_ORDER]) == PAGEDET_HAVE;
	}
	start = probe_ns() - start;
	compare_same("pages", answered, w->pages->n);
	return start;
}

static void warm_open(struct warm *w, const struct pages *pages)
{
	static const uint32_t want[] = {
		PAGEDET_FIELD_PFN, PAGEDET_FIELD_ALLOC_STACK,
		PAGEDET_FIELD_ALLOC_ORDER, PAGEDET_FIELD_ALLOC_PID,
		PAGEDET_FIELD_ALLOC_COMM, PAGEDET_FIELD_ALLOC_NS,
		PAGEDET_FIELD_GFP
	};
	struct drain *d = &w->drain;
	size_t i;

	drain_open_from(d, NULL,
			PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PAGE_OWNER) |
			PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS));
	for (i = 0; i < PROBE_COUNT_OF(want); i++)
		drain_want(d, want[i]);
	w->pages = pages;
	w->item = (struct pagedet_item){ .first = pages->pfn[0], .count = 1 };
	d->query.target = PAGEDET_TARGET_PFN;
	d->query.items = &w->item;
	d->query.n_items = 1;
	if (pagedet_query(d->pd, &d->query, &w->it) < 0)
		drain_die(d, "pagedet_query");
}

static int lookup(int argc, char **argv)
{
	struct pages pages;
	struct raw_lookup raw = { .pages = &pages };
	struct warm warm;
	struct trial t = {
		.work = "who allocated one page, warm",
		.bound = { "lseek and read", look_raw, &raw },
		.library = { "pagedet_iter_retarget", look_warm, &warm },
		.bound_most = 1.2, .tight = true
	};

	if (argc != 1)
		return 64;
	find_pages(&pages, (size_t)atol(argv[0]));
	raw.fd = probe_open(FILE_NAME);
	warm_open(&warm, &pages);
	t.per = (double)pages.n;
	trial_run(&t);
	pagedet_iter_free(warm.it);
	drain_close(&warm.drain);
	close(raw.fd);
	free(pages.pfn);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 64;

	if (argc > 1 && !strcmp(argv[1], "lookup"))
		status = lookup(argc - 2, argv + 2);
	if (argc > 1 && !strcmp(argv[1], "owners"))
		status = owners(argc - 2, argv + 2);
	if (status == 64)
		fprintf(stderr, "live_owners: the comment at the top of"
			" bench/live_owners.c says how it is called\n");
	return status;
}
