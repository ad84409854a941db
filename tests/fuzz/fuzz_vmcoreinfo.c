/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes VMCOREINFO: any text. */
#include <elf.h>

#include "fuzz.h"
#include "kernel/address/paging.h"

/* A failed look-up changes nothing. */
static void ask(const struct pdet_vmcoreinfo *info,
		bool (*get)(const struct pdet_vmcoreinfo *, const char *,
			    uint64_t *), const char *key)
{
	uint64_t value = 0x5a5a5a5a5a5a5a5a;

	if (!get(info, key, &value))
		MUST(value == 0x5a5a5a5a5a5a5a5a);
}

/* Every value leads to results within bounds. */
static void set_up(const struct pdet_vmcoreinfo *info, uint16_t machine)
{
	struct pdet_env env = { .root = NULL };
	struct pdet_paging p;

	if (!pdet_paging_set_up(&p, &env, machine, info)) {
		MUST(strncmp(env.error, "cannot ", 7) == 0);
		return;
	}
	MUST(p.levels >= 2 && p.levels <= PDET_PAGING_LEVELS);
	MUST(p.va_bits < 64);
	/* The highest table has at least two entries, and at most a page. */
	MUST(p.va_bits > pdet_paging_shift(&p, p.levels - 1));
	MUST(p.va_bits <= pdet_paging_shift(&p, p.levels));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_vmcoreinfo info;
	struct pdet_scan s;
	size_t i;

	MUST(pdet_vmcoreinfo_parse(&info, (const char *)data, size));
	for (i = 0; i < info.n; i++) {
		const struct pdet_vmcoreinfo_entry *e = &info.data[i];

		MUST(e->key.at < e->key.end && e->value.at <= e->value.end);
		MUST(*e->key.end == '=' && e->value.at == e->key.end + 1);
	}
	if (pdet_vmcoreinfo_text(&info, "OSRELEASE", &s))
		MUST((const uint8_t *)s.end <= data + size);
	ask(&info, pdet_vmcoreinfo_symbol, "_stext");
	ask(&info, pdet_vmcoreinfo_offset, "page.flags");
	ask(&info, pdet_vmcoreinfo_size, "page");
	ask(&info, pdet_vmcoreinfo_length, "mem_section");
	ask(&info, pdet_vmcoreinfo_number, "phys_base");
	set_up(&info, EM_X86_64);
	set_up(&info, EM_AARCH64);
	pdet_vmcoreinfo_free(&info);
	return 0;
}
