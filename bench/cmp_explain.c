/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A thousand pages that differ: gathering the evidence, and the rules. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compare.h"

#define PAGES 1000
#define ROOM ((size_t)PAGES * (4096 + 32))

struct explaining {
	struct drain drain;
	struct pagedet_item items[PAGES];
	struct pagedet_evidence *evidence;
	struct pagedet_finding *findings;
	void *arena;
	uint32_t options;
};

static uint64_t run_collect(void *arg)
{
	struct explaining *x = arg;
	struct pagedet_collect_options o = PAGEDET_COLLECT_OPTIONS_INIT;
	uint64_t start = probe_ns();
	int n;

	o.options = x->options;
	x->evidence->size = sizeof(*x->evidence);
	n = pagedet_collect(x->drain.pd, x->items, PAGES, &o, x->evidence);
	if (n < 0)
		drain_die(&x->drain, "pagedet_collect");
	start = probe_ns() - start;
	compare_same("pages with evidence", (uint64_t)n, PAGES);
	return start;
}

static uint64_t run_explain(void *arg)
{
	struct explaining *x = arg;
	uint64_t start = probe_ns();
	int n;

	x->findings->size = sizeof(*x->findings);
	n = pagedet_explain(x->evidence, PAGES, x->arena, ROOM, x->findings,
			    PAGES);
	if (n != PAGES)
		probe_die("pagedet_explain: %d findings", n);
	return probe_ns() - start;
}

/* As after a migration: one of each kind of mismatch after the other. */
static void make_mismatches(struct explaining *x)
{
	uint64_t i;
	unsigned v;

	for (i = 0; i < PAGES; i++) {
		struct pagedet_evidence *e = &x->evidence[i];

		e->questions = PAGEDET_ASK_MISMATCH;
		memcpy(e->peer, e->here, sizeof(e->peer));
		e->here_frozen = e->peer_frozen = PAGEDET_YES;
		e->track = (uint32_t)(i % 4);
		for (v = 0; v < 4; v++) {
			e->hash[v] = 10 * i + (i >> v) % 3;
			e->hash_state[v] = PAGEDET_HAVE;
			e->zero[v] = PAGEDET_NO;
		}
		e->hash[PAGEDET_AS_AGAIN] = e->hash[PAGEDET_AS_NOW];
	}
}

static void map_pages(struct explaining *x)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (memory == MAP_FAILED)
		probe_die("no memory");
	for (i = 0; i < PAGES; i++) {
		memory[i * page] = (char)i;
		x->items[i].first = (uint64_t)(uintptr_t)memory + i * page;
		x->items[i].count = 1;
	}
}

int compare_explain(int argc, char **argv)
{
	static struct explaining x;
	struct trial t = {
		.work = "evidence of 1000 pages, without who else maps them",
		.library = { "pagedet_collect", run_collect, &x },
		.per = PAGES, .most_ns = 50e6 / PAGES
	};

	(void)argv;
	if (argc)
		return 64;
	drain_open(&x.drain);
	x.evidence = calloc(PAGES, sizeof(*x.evidence));
	x.findings = calloc(PAGES, sizeof(*x.findings));
	x.arena = malloc(ROOM);
	if (!x.evidence || !x.findings || !x.arena)
		probe_die("no memory");
	map_pages(&x);
	trial_run(&t);
	make_mismatches(&x);
	t.work = "1000 mismatches explained";
	t.library.name = "pagedet_explain";
	t.library.run = run_explain;
	t.most_ns = 5e6 / PAGES;
	trial_run(&t);
	free(x.arena);
	free(x.findings);
	free(x.evidence);
	drain_close(&x.drain);
	return 0;
}
