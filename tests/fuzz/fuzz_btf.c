/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A kernel's types: any bytes. */
#include "fuzz.h"
#include "kernel/btf.h"

static void ask_members(const struct pdet_btf *btf)
{
	static const char *const paths[] = {
		"page.flags", "page.deep", "page.a", "page.grid", "page.old",
		"page.more.hundred", "inside.bit", "a.b", "a.b.c.d",
	};
	struct pdet_btf_member m;
	uint64_t value;
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (!pdet_btf_member(btf, paths[i], &m))
			continue;
		MUST(m.type);
		MUST(m.bit_size < 256);
		pdet_btf_type_size(btf, m.type, &value);
		pdet_btf_array_length(btf, m.type, &value);
	}
}

static void ask_enums(const struct pdet_btf *btf, const char *data,
		      size_t size)
{
	const char *constant;
	uint64_t value, same;
	uint32_t i;

	for (i = 0; pdet_btf_enum_at(btf, "page", i, &constant, &value); i++) {
		MUST(i < 65536);
		MUST(!*constant ||
		     (constant >= data && constant < data + size));
		/* many may have one name: some of them is found */
		MUST(pdet_btf_enumerator(btf, "page", constant, &same));
		if (i > 20)
			break;
	}
	pdet_btf_enumerator(btf, NULL, "PG_locked", &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* as it is in a kernel: aligned */
	uint32_t *copy = malloc(size + 4);
	struct pdet_btf *btf;
	uint64_t value;
	bool damaged;
	uint32_t i;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	btf = pdet_btf_new(copy, size, &damaged);
	MUST(btf || damaged);
	if (btf) {
		MUST(pdet_btf_length(copy, size) <= size);
		ask_members(btf);
		ask_enums(btf, (const char *)copy, size);
		pdet_btf_struct_size(btf, "page", &value);
		for (i = 0; i < 64; i++) {
			pdet_btf_type_size(btf, i, &value);
			pdet_btf_array_length(btf, i, &value);
		}
	}
	pdet_btf_free(btf);
	free(copy);
	return 0;
}
