/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Prints how much a dump tells about its kernel with VMCOREINFO alone, with its
 * symbols and types, or with vmlinux, and what each step adds.
 */
#include <string.h>

#include "cli.h"

#define WIDTH 79
#define INDENT 4

void cli_tiers_add(struct cli_tiers *t, uint32_t field,
		   const struct pagedet_ability *a)
{
	const uint64_t bit = (uint64_t)1 << (field % 64);

	if (!a->tier || a->tier > PAGEDET_TIER_VMLINUX)
		return;
	t->fields[a->tier][field / 64] |= bit;
	if (a->can)
		t->can[a->tier][field / 64] |= bit;
}

static bool any(const uint64_t set[2])
{
	return set[0] | set[1];
}

/* Prints names of fields in lines that fit any terminal. */
static void print_fields(FILE *f, const uint64_t set[2])
{
	size_t at = 0, len;
	uint32_t i;

	for (i = 0; i < PAGEDET_FIELDS_MAX; i++) {
		if (!(set[i / 64] >> (i % 64) & 1))
			continue;
		len = strlen(pagedet_field(i)->name);
		if (at && at + 1 + len > WIDTH) {
			fprintf(f, "\n");
			at = 0;
		}
		at += (size_t)fprintf(f, "%*s%s", at ? 1 : INDENT, "",
				      pagedet_field(i)->name);
	}
	if (at)
		fprintf(f, "\n");
}

static void print_tier(FILE *f, unsigned tier, const char *what,
		       const char *where)
{
	fprintf(f, "tier %-9u %s - %s\n", tier, what, where);
}

void cli_tiers_print(FILE *f, const struct cli_tiers *t, bool vmlinux)
{
	const bool info = any(t->can[PAGEDET_TIER_VMCOREINFO]);
	const bool types = any(t->can[PAGEDET_TIER_TYPES]);

	if (!any(t->fields[PAGEDET_TIER_VMCOREINFO]))
		return;
	print_tier(f, PAGEDET_TIER_VMCOREINFO, "VMCOREINFO",
		   info ? "here" : "missing, would add");
	print_fields(f, t->fields[PAGEDET_TIER_VMCOREINFO]);
	print_tier(f, PAGEDET_TIER_TYPES, "and symbols and types (kallsyms, "
		   "BTF)", types ? "here" : "missing, would add");
	fprintf(f, "%*smore flags and kinds, and\n", INDENT, "");
	print_fields(f, t->fields[PAGEDET_TIER_TYPES]);
	print_tier(f, PAGEDET_TIER_VMLINUX, "and vmlinux",
		   vmlinux ? "here" : "not given (--vmlinux), would add");
	fprintf(f, "%*s%s\n\n", INDENT, "", types ?
		"names of data where the kernel's own symbols have none" :
		"the same as symbols and types");
}
