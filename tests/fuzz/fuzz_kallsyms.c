/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes a kernel's symbol tables in any memory. The input has the begin of
 * each table in four bytes, the address of _stext, and the memory.
 */
#include <errno.h>

#include "fuzz.h"
#include "symbol/kallsyms.h"

#define BASE 0xffffffff80000000

struct kernel {
	struct pdet_memory memory;
	struct pdet_reader reader;
	const uint8_t *data;
	size_t size;
};

static int read_kvirt(struct pdet_reader *r, uint64_t addr, void *buf,
		      size_t n)
{
	const struct kernel *k = PDET_CONTAINER(r, struct kernel, reader);

	if (addr < BASE || addr - BASE >= k->size ||
	    n > k->size - (addr - BASE))
		return -ENOENT;
	memcpy(buf, k->data + (addr - BASE), n);
	return 0;
}

static const struct pdet_memory_ops ops = {
	.name = "fuzz",
	.read_kvirt = read_kvirt,
};

/* A single pass finds the same as the stored tables. */
static void pick(const struct pdet_kallsyms *k, struct pdet_space *space,
		 const struct pdet_vmcoreinfo *info)
{
	struct pdet_symbol s[] = { { .name = "init_task" },
				   { .name = "_stext" },
				   { .name = "not_there" } };
	struct pdet_symbol kept[] = { s[0], s[1], s[2] };
	unsigned i;

	MUST(pdet_kallsyms_pick(space, info, s, 3) == 0);
	pdet_kallsyms_find(k, kept, 3);
	for (i = 0; i < 3; i++) {
		MUST(s[i].found == kept[i].found);
		MUST(!s[i].found || (s[i].i == kept[i].i &&
				     s[i].address == kept[i].address));
	}
}

static void ask(const struct pdet_kallsyms *k)
{
	struct pdet_symbol find[] = { { .name = "_stext" },
				      { .name = "init_task" } };
	char name[PDET_SYMBOL_NAME], type;
	uint32_t i, at, step = k->n / 1000 + 1;

	for (i = 0; i < k->n; i += step) {
		MUST(pdet_kallsyms_name(k, i, name, &type) == strlen(name));
		if (!pdet_kallsyms_at(k, k->address[i], &at))
			MUST(!k->ascending);
		else
			MUST(k->address[at] == k->address[i]);
	}
	pdet_kallsyms_find(k, find, 2);
	/* It identified the coding. */
	MUST(find[0].found);
	for (i = 0; i < 2; i++) {
		if (!find[i].found)
			continue;
		pdet_kallsyms_name(k, find[i].i, name, NULL);
		MUST(strcmp(name, find[i].name) == 0);
		MUST(find[i].address == k->address[find[i].i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = {
		"num_syms", "names", "token_table", "token_index", "offsets",
		"relative_base",
	};
	struct kernel kernel = { .memory = { .ops = &ops } };
	struct pdet_env env = { .root = NULL };
	struct pdet_space *space = malloc(sizeof(*space));
	struct pdet_vmcoreinfo info;
	struct pdet_symbol stext = { .name = "_stext" };
	struct pdet_kallsyms k;
	char text[512];
	size_t i, len = 0;
	uint64_t at;

	if (!space)
		abort();
	for (i = 0; i < 6; i++) {
		at = fuzz_number(&data, &size, 4);
		/* It is optional. */
		if (i == 5 && at == 0xffffffff)
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"SYMBOL(kallsyms_%s)=%llx\n", keys[i],
					(unsigned long long)(BASE + at));
	}
	at = fuzz_number(&data, &size, 8);
	len += (size_t)snprintf(text + len, sizeof(text) - len,
				"SYMBOL(_stext)=%llx\n",
				(unsigned long long)at);
	kernel.reader.memory = &kernel.memory;
	kernel.data = data;
	kernel.size = size;
	MUST(pdet_vmcoreinfo_parse(&info, text, len));
	pdet_space_init(space, &kernel.reader, NULL);
	if (pdet_kallsyms_read(&k, &env, space, &info) == 0) {
		ask(&k);
		pick(&k, space, &info);
		pdet_kallsyms_free(&k);
	} else {
		MUST(strncmp(env.error, "cannot ", 7) == 0);
		(void)pdet_kallsyms_pick(space, &info, &stext, 1);
	}
	pdet_vmcoreinfo_free(&info);
	free(space);
	return 0;
}
