/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A kernel's BTF: any bytes. */
#include "fuzz.h"
#include "kernel/btf_enum.h"

struct input {
	const uint8_t *data;
	size_t size;
};

static ssize_t read_input(void *arg, void *buf, size_t n, uint64_t offset)
{
	const struct input *in = arg;

	if (offset >= in->size)
		return 0;
	if (n > in->size - offset)
		n = in->size - offset;
	memcpy(buf, in->data + offset, n);
	return (ssize_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	const struct pdet_btf_reader reader = { read_input, &in };
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
