/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Plays the driver Page Detective: started in the place of the library's
 * page-detective-write, it answers each question that comes with the records of
 * ROOT/answer, into ROOT/dev/kmsg, which is a FIFO, and then reports a write
 * that went well. If there is a file ROOT/pace, it takes as long for each
 * record as the driver did that they are from; else no time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

#define MAX_RECORDS 100

struct records {
	char *line[MAX_RECORDS]; /* behind "LEVEL,NUMBER," */
	char level[MAX_RECORDS];
	uint64_t us[MAX_RECORDS]; /* when it was written */
	unsigned n;
	bool pace;
};

/* Lines like "6,383,12883386,-;Page Detective: ..." */
static void load(struct records *r, const char *path)
{
	char line[4096], *rest;
	FILE *f = fopen(path, "r");

	if (!f)
		probe_die("cannot read %s", path);
	r->n = 0;
	while (fgets(line, sizeof(line), f)) {
		rest = strchr(line, ',');
		rest = rest ? strchr(rest + 1, ',') : NULL;
		if (*line == '#' || !rest || r->n == MAX_RECORDS)
			continue;
		r->level[r->n] = *line;
		r->us[r->n] = strtoull(rest + 1, NULL, 10);
		r->line[r->n] = strdup(rest + 1);
		if (!r->line[r->n++])
			probe_die("no memory");
	}
	fclose(f);
}

/* Records have numbers that follow each other, and are later than those of an
 * earlier answer, whoever gave it. */
static void say(const struct records *r, int kmsg)
{
	const uint64_t start = probe_ns();
	unsigned long long number = start / 1000;
	char line[4200];
	unsigned i;
	int n;

	for (i = 0; i < r->n; i++) {
		n = snprintf(line, sizeof(line), "%c,%llu,%s", r->level[i],
			     number + i, r->line[i]);
		/* as a driver does, which does not sleep */
		while (r->pace && (probe_ns() - start) / 1000 <
		       r->us[i] - r->us[0])
			;
		if (write(kmsg, line, (size_t)n) != n)
			probe_die("cannot write the log");
	}
}

int main(int argc, char **argv)
{
	char root[4096], path[4200], question[128];
	struct records r;
	char *end;
	int kmsg;

	if (argc < 2)
		return 64;
	snprintf(root, sizeof(root), "%s", argv[1]);
	end = strstr(root, "/sys/kernel/debug/");
	if (!end)
		return 64;
	*end = '\0';
	snprintf(path, sizeof(path), "%s/answer", root);
	load(&r, path);
	snprintf(path, sizeof(path), "%s/pace", root);
	r.pace = access(path, F_OK) == 0;
	snprintf(path, sizeof(path), "%s/dev/kmsg", root);
	kmsg = open(path, O_RDWR | O_CLOEXEC);
	if (kmsg < 0)
		probe_die("cannot open %s", path);
	while (fgets(question, sizeof(question), stdin)) {
		say(&r, kmsg);
		printf("w %zu 0 0\n", strlen(question) - 2);
		fflush(stdout);
	}
	return 0;
}
