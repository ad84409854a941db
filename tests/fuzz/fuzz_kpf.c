/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes words of /proc/kpageflags on any kernel. The first byte chooses the
 * kernel's names, the second what else is known. The rest are pairs of a word
 * and its head page's word.
 */
#include "fuzz.h"
#include "kernel/page/kpf.h"

static const char *const names[] = {
	"PG_error", "PG_hwpoison", "PG_idle", "PG_uncached", "PG_arch_2",
	"PG_arch_3", "PG_owner_2", "PG_mappedtodisk",
};

static bool has(const void *types, const char *name)
{
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return *(const uint8_t *)types >> i & 1;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t which = (uint8_t)fuzz_number(&data, &size, 1);
	uint8_t what = (uint8_t)fuzz_number(&data, &size, 1);
	struct pdet_kpf kpf = { .ksm_lies = what & 1, .tails_own = what & 2 };

	pdet_kpf_known(&kpf, what & 4 ? NULL : has, &which);
	while (size) {
		uint64_t word = fuzz_number(&data, &size, 8);
		uint64_t head = fuzz_number(&data, &size, 8);
		uint64_t known = 0;
		uint64_t flags = pdet_kpf_flags(&kpf, word, head, &known);

		MUST(!(flags & ~known));
		MUST(!(flags >> 62));
		MUST(pdet_kpf_kind(flags) <= PAGEDET_KIND_UNMAPPED);
		MUST((pdet_kpf_kind(flags) == PAGEDET_KIND_HOLE) ==
		     !!(word & KPF(NOPAGE)));
	}
	return 0;
}
