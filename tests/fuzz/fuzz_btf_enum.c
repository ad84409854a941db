/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes reading an enum from a kernel's BTF: any bytes. */
#include "fuzz.h"
#include "kernel/types/btf_enum.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_file in = { data, size };
	const struct pdet_btf_reader reader = { fuzz_read_at, &in };
	struct pdet_btf_enum e;
	uint32_t value, i;

	if (!pdet_btf_enum_find(&reader, "pageflags", "PG_locked", 2, &e))
		return 0;
	MUST(e.n >= 2 && e.n <= PDET_BTF_MEMBERS);
	MUST(pdet_btf_enum_value(&e, "PG_locked", &value));
	MUST(value == e.member[0].value);
	for (i = 0; i < e.n; i++)
		MUST(strlen(e.member[i].name) < sizeof(e.member[i].name));
	return 0;
}
