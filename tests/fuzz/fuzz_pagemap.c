/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes words of /proc/PID/pagemap on any kernel. The first 16 bytes say what
 * is known, the next 8 are a kpageflags word, and the rest are words to decode.
 */
#include "fuzz.h"
#include "kernel/page/pagemap.h"

#define P(name) PAGEDET_PTE(PAGEDET_PTE_##name)
#define WHAT (P(PRESENT) | P(SWAPPED) | P(GUARD) | P(MIGRATION) | \
	      P(HWPOISON) | P(DEVICE))

static void check(const struct pdet_entry *e, uint64_t word)
{
	uint32_t what = e->pte & WHAT;

	MUST(!(e->pte & ~e->known));
	MUST(!(what & (what - 1)));
	MUST((what == P(PRESENT)) == (word >> 63));
	MUST((what == P(SWAPPED)) == e->has_swap);
	MUST(!e->has_pfn || !e->has_swap);
	MUST(!e->hidden || (!e->has_pfn && !e->has_swap));
	MUST(!(word & PDET_PM_GUARD) || word >> 63 || what == P(GUARD));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_pagemap pm = { 0 };
	uint64_t word, flags;
	struct pdet_entry e;

	word = fuzz_number(&data, &size, 8);
	pm.soft_dirty = word & 1;
	pm.uffd_wp = word & 2;
	pm.guard = word & 4;
	pm.swap_areas = word >> 8 & 31;
	pm.zero_pfn = fuzz_number(&data, &size, 8);
	flags = fuzz_number(&data, &size, 8);
	while (size) {
		word = fuzz_number(&data, &size, 8);
		pdet_pagemap_decode(&pm, word, &e);
		check(&e, word);
		pdet_pagemap_resolve(&e, flags);
		check(&e, word);
	}
	return 0;
}
