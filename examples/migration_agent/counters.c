/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads this host's counters of memory errors: EDAC, if a driver for the memory
 * controllers is loaded, and machine check exceptions. Without EDAC corrected
 * errors may be invisible, so unchanged counters then prove nothing.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"

static void add_files(struct counters *c, const char *pattern)
{
	unsigned long long n;
	glob_t g;
	size_t i;
	FILE *f;

	if (glob(pattern, 0, NULL, &g))
		return;
	for (i = 0; i < g.gl_pathc; i++) {
		f = fopen(g.gl_pathv[i], "re");
		if (f && fscanf(f, "%llu", &n) == 1) {
			c->sum += n;
			c->known = true;
		}
		if (f)
			fclose(f);
	}
	globfree(&g);
}

/* "MCE:  0  0   Machine check exceptions" */
static void add_exceptions(struct counters *c)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char line[8192], *at, *end;

	while (f && fgets(line, sizeof(line), f)) {
		at = line + strspn(line, " ");
		if (strncmp(at, "MCE:", 4))
			continue;
		for (at += 4; ; at = end) {
			c->sum += strtoull(at, &end, 10);
			if (end == at)
				break;
		}
	}
	if (f)
		fclose(f);
}

void counters_read(struct counters *c)
{
	*c = (struct counters){ .is_read = true };
	add_files(c, "/sys/devices/system/edac/mc/mc*/?e_count");
	add_exceptions(c);
}
