/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Dumps: how soon there is an answer, who maps a page, memory used. */
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"

/* A peer starts with a second or more of its own. */
#define SLOW_ROUNDS 3

static void against(struct trial *t, struct command *peer,
		    const char *variable, const char *name)
{
	const char *path = command_peer(variable, &t->no_peer);

	t->peer = (struct trial_side){ NULL, NULL, NULL };
	if (!path)
		return;
	peer->argv[0] = path;
	t->peer = (struct trial_side){ name, command_run, peer };
}

int compare_dump_open(int argc, char **argv)
{
	struct command crash = { .argv = { "", "open", argv[1], argv[2] } };
	struct command drgn = crash;
	struct command pagedet = { .argv = {
		command_pagedet(), "--from", argv[1], "page", argv[2],
		"--fields", "raw_flags,refcount,mapcount", "--json"
	} };
	char work[160];
	struct trial t = {
		.work = work, .library = { "pagedet", command_run, &pagedet }
	};

	if (argc != 5)
		return 64;
	snprintf(work, sizeof(work), "%s: first page's raw flags,"
		 " refcount, mapcount, whole process, against drgn", argv[0]);
	t.most_ns = atof(argv[3]) * 1e6;
	t.faster = 3;
	against(&t, &drgn, "DUMP_DRGN", "drgn");
	trial_run(&t);
	snprintf(work, sizeof(work), "%s: the same, against crash", argv[0]);
	t.most_ns = 0;
	t.faster = 100;
	t.rounds = SLOW_ROUNDS;
	against(&t, &crash, "DUMP_CRASH", "crash");
	trial_run(&t);
	snprintf(work, sizeof(work), "%s: first page's all fields, with"
		 " symbols and types, whole process", argv[0]);
	t = (struct trial){
		.work = work, .library = { "pagedet", command_run, &pagedet },
		.most_ns = atof(argv[4]) * 1e6
	};
	pagedet.argv[6] = "all";
	pagedet.may_fail = true;	/* a dump has not all of them */
	trial_run(&t);
	return 0;
}

int compare_dump_mappers(int argc, char **argv)
{
	struct pagedet_item item = { .count = 1 };
	struct drain lib;
	struct trial t = {
		.work = "all mappings of one PFN, 100 tasks, after the first"
			" question",
		.library = { "pagedet_query", drain_run, &lib },
		.most_ns = 20e6
	};

	if (argc != 3)
		return 64;
	item.first = strtoull(argv[1], NULL, 0);
	drain_open_from(&lib, argv[0], 0);
	drain_want(&lib, PAGEDET_FIELD_PID);
	drain_want(&lib, PAGEDET_FIELD_VADDR);
	drain_want(&lib, PAGEDET_FIELD_PTE);
	lib.query.target = PAGEDET_TARGET_MAPPERS;
	lib.query.items = &item;
	lib.query.n_items = 1;
	trial_run(&t);
	/* and the kernel's own */
	compare_same("mappings of the pfn", lib.rows,
		     strtoull(argv[2], NULL, 0));
	drain_close(&lib);
	return 0;
}

int compare_dump_rss(int argc, char **argv)
{
	struct command pagedet = { .argv = { command_pagedet() } };
	int i;

	if (argc < 2 || argc > COMMAND_ARGS)
		return 64;
	for (i = 1; i < argc; i++)
		pagedet.argv[i] = argv[i];
	command_run(&pagedet);
	trial_value(argv[0], (double)pagedet.rss_kib / 1024, "MiB", 64);
	return 0;
}
