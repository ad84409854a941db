/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes unwinding by ORC in any memory. The input has a byte for the form of
 * entries, the begin of offsets and entries with their number, and the
 * registers, all as offsets of two bytes; then the memory.
 */
#include <errno.h>

#include "fuzz.h"
#include "symbol/orc.h"

#define BASE 0xffffffff80000000
#define STEPS 64

/* --- types: as the kernel has them, in BTF --- */

static const char names[] =
	"\0int\0orc_entry\0sp_offset\0bp_offset\0sp_reg\0bp_reg\0type\0signal"
	"\0end\0pt_regs\0ip\0sp\0bp\0cs\0r10\0r13\0di\0dx\0short\0long";

struct types {
	struct pdet_btf_header head;
	uint32_t word[160];
	char names[sizeof(names)];
};

static uint32_t name(const char *text)
{
	size_t at = 0;

	while (strcmp(names + at, text))
		at += strlen(names + at) + 1;
	return (uint32_t)at;
}

static void add(struct types *t, uint32_t word)
{
	t->word[t->head.type_len++] = word;
}

static void add_int(struct types *t, const char *text, uint32_t bytes)
{
	add(t, name(text));
	add(t, 1u << 24);
	add(t, bytes);
	add(t, bytes * 8);
}

static void add_member(struct types *t, const char *text, uint32_t type,
		       uint32_t bit, uint32_t bits)
{
	add(t, name(text));
	add(t, type);
	add(t, bit | bits << 24);
}

static struct pdet_btf *make_types(struct types *t, bool old)
{
	static const char *const regs[] = {
		"r13", "bp", "r10", "dx", "di", "ip", "cs", "sp"
	};
	bool damaged;
	uint32_t i;

	memset(t, 0, sizeof(*t));
	t->head = (struct pdet_btf_header){
		.magic = PDET_BTF_MAGIC, .version = 1,
		.hdr_len = sizeof(t->head), .str_off = sizeof(t->word),
		.str_len = sizeof(names),
	};
	memcpy(t->names, names, sizeof(names));
	add_int(t, "int", 4);
	add_int(t, "short", 2);
	add_int(t, "long", 8);
	add(t, name("orc_entry"));
	add(t, 4u << 24 | 1u << 31 | 6);
	add(t, 6);
	add_member(t, "sp_offset", 2, 0, 0);
	add_member(t, "bp_offset", 2, 16, 0);
	add_member(t, "sp_reg", 1, 32, 4);
	add_member(t, "bp_reg", 1, 36, 4);
	add_member(t, "type", 1, 40, old ? 2 : 3);
	add_member(t, old ? "end" : "signal", 1, old ? 42 : 43, 1);
	add(t, name("pt_regs"));
	add(t, 4u << 24 | 8);
	add(t, 64);
	for (i = 0; i < 8; i++)
		add_member(t, regs[i], 3, i * 64, 0);
	t->head.type_len *= sizeof(uint32_t);
	return pdet_btf_new(t, sizeof(*t), &damaged);
}

/* --- memory --- */

struct kernel {
	struct pdet_memory memory;
	struct pdet_reader reader;
	struct fuzz_file bytes;
};

static int read_kvirt(struct pdet_reader *r, uint64_t addr, void *buf,
		      size_t n)
{
	struct kernel *k = PDET_CONTAINER(r, struct kernel, reader);

	return addr >= BASE && fuzz_read_at(&k->bytes, buf, n, addr - BASE) ==
	       (ssize_t)n ? 0 : -ENOENT;
}

static const struct pdet_memory_ops ops = {
	.name = "fuzz",
	.read_kvirt = read_kvirt,
};

static uint64_t place(const uint8_t **data, size_t *size)
{
	return BASE + fuzz_number(data, size, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel kernel = { .memory = { .ops = &ops } };
	struct pdet_space *space = malloc(sizeof(*space));
	struct types types;
	struct pdet_btf *btf = make_types(&types, fuzz_number(&data, &size, 1) &
						  1);
	struct pdet_orc_table table = { 0 };
	struct pdet_orc_state s = { 0 };
	struct pdet_orc orc;
	unsigned i;
	int r = 1;

	MUST(space && btf);
	table.ips = place(&data, &size);
	table.entries = place(&data, &size);
	table.n = fuzz_number(&data, &size, 2);
	s.ip = place(&data, &size);
	s.sp = place(&data, &size);
	s.bp = place(&data, &size);
	kernel.bytes = (struct fuzz_file){ data, size };
	kernel.reader.memory = &kernel.memory;
	pdet_space_init(space, &kernel.reader, NULL);
	if (pdet_orc_init(&orc, btf, &table, NULL)) {
		for (i = 0; r == 1 && i < STEPS; i++) {
			r = pdet_orc_next(space, &orc, &s);
			MUST(r <= 1);
			MUST(r < 1 || pdet_is_address(s.ip));
		}
	} else {
		MUST(!table.n);
	}
	pdet_btf_free(btf);
	free(space);
	return 0;
}
