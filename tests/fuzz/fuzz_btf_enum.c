/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A kernel's BTF: any bytes. */
#include "fuzz.h"
#include "kernel/btf_enum.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* where a mapped or read file would be: aligned */
	uint8_t *btf = malloc(size ? size : 1);
	const char *begin = (const char *)btf, *end = begin + size;
	struct pdet_btf_enum e;
	uint32_t value, i;

	if (!btf)
		abort();
	memcpy(btf, data, size);
	if (pdet_btf_enum_find(btf, size, "pageflags", "PG_locked", &e)) {
		MUST(e.n > 0);
		MUST(e.strings >= begin && e.strings_len <=
		     (size_t)(end - e.strings));
		MUST((const char *)e.members >= begin &&
		     (size_t)(end - (const char *)e.members) / 8 >= e.n);
		MUST(pdet_btf_enum_value(&e, "PG_locked", &value));
		MUST(value == e.members[1]);
		if (pdet_btf_enum_value(&e, "PG_owner_2", &value)) {
			for (i = 0; i < e.n; i++)
				if (e.members[2 * i + 1] == value)
					break;
			MUST(i < e.n);
		}
	}
	free(btf);
	return 0;
}
