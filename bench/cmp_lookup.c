/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Single look-ups: warm ones in one process, cold ones as a whole process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define LOOKUPS 20000
#define STARTS 200

struct raw {
	struct probe_lookup lookup;
	unsigned steps;
};

static uint64_t run_raw(void *arg)
{
	const struct raw *r = arg;
	uint64_t start = probe_ns();

	probe_lookup(&r->lookup, r->steps, LOOKUPS);
	return probe_ns() - start;
}

struct warm {
	struct drain drain;
	const struct probe_lookup *lookup;
	struct pagedet_iter *it;
	struct pagedet_item item;
};

static void warm_open(struct warm *w, const struct probe_lookup *lookup,
		      int pid, uint32_t options)
{
	static const uint32_t want[] = {
		PAGEDET_FIELD_VMA_START, PAGEDET_FIELD_VMA_END,
		PAGEDET_FIELD_VMA_PROT, PAGEDET_FIELD_PFN,
		PAGEDET_FIELD_FLAGS, PAGEDET_FIELD_MAPCOUNT,
		PAGEDET_FIELD_MEMCG_INO
	};
	struct drain *d = &w->drain;
	size_t i;

	drain_open(d);
	for (i = 0; i < PROBE_COUNT_OF(want); i++)
		drain_want(d, want[i]);
	w->lookup = lookup;
	w->item.first = lookup->addr;
	w->item.count = 4096;
	w->item.pid = (uint32_t)pid;
	w->item.flags = 0;
	d->query.target = PAGEDET_TARGET_VIRT;
	d->query.items = &w->item;
	d->query.n_items = 1;
	d->query.options = options;
	if (pagedet_query(d->pd, &d->query, &w->it) < 0)
		drain_die(d, "pagedet_query");
}

static void warm_close(struct warm *w)
{
	pagedet_iter_free(w->it);
	drain_close(&w->drain);
}

static uint64_t run_warm(void *arg)
{
	struct warm *w = arg;
	struct pagedet_page row;
	uint64_t start = probe_ns(), i, answered = 0;

	for (i = 0; i < LOOKUPS; i++) {
		w->item.first = probe_lookup_addr(w->lookup, i);
		if (pagedet_iter_retarget(w->it, &w->item, 1) < 0)
			drain_die(&w->drain, "pagedet_iter_retarget");
		if (pagedet_next(w->it, &row, 1) != 1)
			drain_die(&w->drain, "pagedet_next");
		answered += PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_FLAGS])
			== PAGEDET_HAVE;
	}
	start = probe_ns() - start;
	compare_same("look-ups with flags", answered, LOOKUPS);
	return start;
}

int compare_lookup(int argc, char **argv)
{
	static const char five[] = "five raw calls";
	static const char six[] = "six raw calls";
	struct raw raw;
	struct warm checked, unchecked;
	struct trial t = {
		.work = "translation not checked",
		.bound = { five, run_raw, &raw },
		.library = { "pagedet_iter_retarget", run_warm, &unchecked },
		.per = LOOKUPS, .bound_most = 1.15, .tight = true
	};
	int pid;

	if (argc != 3)
		return 64;
	pid = atoi(argv[0]);
	probe_lookup_open(&raw.lookup, pid, strtoull(argv[1], NULL, 0),
			  strtoull(argv[2], NULL, 0));
	warm_open(&checked, &raw.lookup, pid, 0);
	warm_open(&unchecked, &raw.lookup, pid, PAGEDET_Q_UNCHECKED);
	raw.steps = PROBE_STEP_FIVE;
	trial_run(&t);
	t.work = "default: translation read again";
	t.library.arg = &checked;
	raw.steps = PROBE_STEP_SIX;
	t.bound.name = six;
	trial_run(&t);
	t.work = "default, against the calls without the second reading";
	raw.steps = PROBE_STEP_FIVE;
	t.bound.name = five;
	t.bound_most = 0;
	trial_run(&t);
	warm_close(&checked);
	warm_close(&unchecked);
	probe_lookup_close(&raw.lookup);
	return 0;
}

int compare_page(int argc, char **argv)
{
	char range[64];
	struct command page_types = { .argv = {
		command_page_types(), "-a", range, "-N", "-L"
	} };
	struct command pagedet = { .argv = { command_pagedet(), "page" } };
	struct trial t = {
		.work = "one pfn, whole process",
		.peer = { "page-types -a PFN,PFN+1 -N -L", command_run,
			  &page_types },
		.library = { "pagedet page PFN", command_run, &pagedet },
		.rounds = STARTS, .peer_most = 1
	};

	if (argc != 1)
		return 64;
	snprintf(range, sizeof(range), "%s,%llu", argv[0],
		 strtoull(argv[0], NULL, 0) + 1);
	pagedet.argv[2] = argv[0];
	trial_run(&t);
	return 0;
}
