/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes a kernel's types: any bytes, all of them and only the first ones. */
#include "fuzz.h"
#include "kernel/types/btf.h"
#include "kernel/types/btf_part.h"

static const char *const paths[] = {
	"page.flags", "page.deep", "page.a", "page.grid", "page.old",
	"page.more.hundred", "inside.bit", "a.b", "a.b.c.d",
};

static void ask_members(const struct pdet_btf *btf)
{
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
		/* Several may have one name: any of them is found. */
		MUST(pdet_btf_enumerator(btf, "page", constant, &same));
		if (i > 20)
			break;
	}
	pdet_btf_enumerator(btf, NULL, "PG_locked", &value);
}

/* Every function that is found has a name, and an end of its parameters. */
static void ask_functions(const struct pdet_btf *btf, const char *data,
			  size_t size)
{
	const uint32_t id = pdet_btf_function(btf, "page");
	const char *name;
	uint32_t i, function;

	for (function = 0; function < 64; function++)
		for (i = 0; (name = pdet_btf_parameter(btf, function, i)) &&
		     i < 20; i++)
			MUST(!*name || (name >= data && name < data + size));
	for (i = 0; pdet_btf_parameter(btf, id, i); i++)
		MUST(i < 65536);
}

/* A part gives the same as all of it, as far as types are complete in it. */
static void ask_part(const struct pdet_btf *btf, const void *data, size_t size,
		     uint32_t bytes)
{
	struct fuzz_file in = { data, size };
	const struct pdet_btf_reader reader = { fuzz_read_at, &in };
	struct pdet_btf_member m, same;
	struct pdet_btf *part;
	bool damaged;
	uint64_t a, b;
	size_t len, i;
	void *copy = pdet_btf_part(&reader, bytes, &len);

	if (!copy)
		return;
	part = pdet_btf_new(copy, len, &damaged);
	MUST(part && pdet_btf_length(copy, len) == len);
	ask_members(part);
	if (pdet_btf_is_whole(part, "page")) {
		MUST(pdet_btf_struct_size(part, "page", &a) &&
		     pdet_btf_struct_size(btf, "page", &b) && a == b);
		for (i = 0; i < 5; i++) {
			/* Bits of missing types are not known. */
			if (!pdet_btf_member(btf, paths[i], &m) || m.bit_size)
				continue;
			MUST(pdet_btf_member(part, paths[i], &same));
			MUST(same.type == m.type && !same.bit_size &&
			     same.bit_offset == m.bit_offset);
		}
	}
	pdet_btf_free(part);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Aligned, as in a kernel. */
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
		ask_functions(btf, (const char *)copy, size);
		pdet_btf_struct_size(btf, "page", &value);
		pdet_btf_is_whole(btf, "page");
		ask_part(btf, copy, size, 4 * (uint32_t)(size / 9));
		ask_part(btf, copy, size, UINT32_MAX);
		for (i = 0; i < 64; i++) {
			pdet_btf_type_size(btf, i, &value);
			pdet_btf_array_length(btf, i, &value);
		}
	}
	pdet_btf_free(btf);
	free(copy);
	return 0;
}
