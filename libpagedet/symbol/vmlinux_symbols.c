/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Converts the symbols of a vmlinux to the form of the kernel's own table, so
 * that callers need not distinguish them. Each token is one character.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbol/vmlinux.h"

/* Longest name with a length of one byte, and with two bytes of 7 bits. */
#define SHORT 127
#define LONG (PDET_SYMBOL_NAME - 1)

struct entry {
	uint64_t address;
	const char *name;
	uint32_t i;		/* index in the file */
	uint8_t underscores;	/* number of leading underscores */
	bool weak;
	char type;
};

struct entries {
	struct entry *data;
	size_t n, cap;
};

/* True for symbols that the kernel's table omits (scripts/mksysmap,
 * kallsyms.c): compiler marks, checksums of exported names, and absolute
 * numbers. */
static bool is_noise(const char *name)
{
	return !*name || *name == '$' || !strncmp(name, ".L", 2) ||
	       !strncmp(name, "__crc_", 6);
}

static char type_of(const struct pdet_vmlinux *v, const Elf64_Sym *s)
{
	const bool local = ELF64_ST_BIND(s->st_info) == STB_LOCAL;

	if (pdet_vmlinux_is_code(v, s->st_shndx))
		return local ? 't' : 'T';
	return local ? 'd' : 'D';
}

static bool take(const struct pdet_vmlinux *v,
		 const struct pdet_vmlinux_move *move, uint32_t i,
		 struct entry *ret)
{
	const char *name;
	bool in_image;
	Elf64_Sym s;

	memcpy(&s, v->symbols + i * sizeof(s), sizeof(s));
	if (s.st_name >= v->names_len || s.st_shndx == SHN_UNDEF ||
	    s.st_shndx == SHN_ABS ||
	    ELF64_ST_TYPE(s.st_info) == STT_FILE ||
	    ELF64_ST_TYPE(s.st_info) == STT_SECTION)
		return false;
	name = v->names + s.st_name;
	if (is_noise(name))
		return false;
	in_image = s.st_value >= move->first && s.st_value <= move->end;
	*ret = (struct entry){
		.address = s.st_value + (in_image ? move->by : 0),
		.name = name, .i = i,
		.underscores = (uint8_t)PDET_MIN(strspn(name, "_"),
						 (size_t)255),
		.weak = ELF64_ST_BIND(s.st_info) == STB_WEAK,
		.type = type_of(v, &s),
	};
	return true;
}

/* If several symbols have the same address, sort the one first that the kernel
 * would print (scripts/kallsyms.c). */
static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->weak != y->weak)
		return x->weak ? 1 : -1;
	if (x->underscores != y->underscores)
		return x->underscores < y->underscores ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static int init_tokens(struct pdet_kallsyms *k)
{
	unsigned i;

	k->tokens.text = calloc(256, 2);
	if (!k->tokens.text)
		return -ENOMEM;
	k->tokens.text_len = 512;
	for (i = 0; i < 256; i++) {
		k->tokens.text[2 * i] = (char)i;
		k->tokens.at[i] = (uint16_t)(2 * i);
		k->tokens.len[i] = i ? 1 : 0;
	}
	return 0;
}

static size_t put_name(uint8_t *to, const struct entry *e)
{
	const size_t len = 1 + strnlen(e->name, LONG - 1);
	size_t n = 0;

	to[n++] = (uint8_t)(len <= SHORT ? len : (len & 0x7f) | 0x80);
	if (len > SHORT)
		to[n++] = (uint8_t)(len >> 7);
	to[n++] = (uint8_t)e->type;
	memcpy(to + n, e->name, len - 1);
	return n + len - 1;
}

static int write_table(struct pdet_kallsyms *k, const struct entries *all)
{
	size_t i, bytes = 0;

	for (i = 0; i < all->n; i++)
		bytes += 3 + strnlen(all->data[i].name, LONG - 1);
	k->names = malloc(bytes);
	k->at = calloc(all->n, sizeof(*k->at));
	k->address = calloc(all->n, sizeof(*k->address));
	if (!k->names || !k->at || !k->address || bytes > UINT32_MAX)
		return -ENOMEM;
	for (i = 0; i < all->n; i++) {
		k->at[i] = (uint32_t)k->names_len;
		k->address[i] = all->data[i].address;
		k->names_len += put_name(k->names + k->names_len,
					 &all->data[i]);
	}
	k->n = (uint32_t)all->n;
	k->ascending = true;
	return init_tokens(k);
}

int pdet_vmlinux_symbols(struct pdet_vmlinux *v,
			 const struct pdet_vmlinux_move *move,
			 struct pdet_kallsyms *ret)
{
	struct entries all = { NULL, 0, 0 };
	struct pdet_kallsyms k = { .n = 0 };
	struct entry e;
	uint32_t i;
	int r = 0;

	/* Read the symbols, unless that was already done. */
	pdet_vmlinux_find(v, NULL, 0);
	for (i = 1; i < v->n_symbols && r == 0; i++)
		if (take(v, move, i, &e) && !pdet_vec_push(&all, e))
			r = -ENOMEM;
	if (r == 0 && !all.n)
		r = -ENOENT;
	if (r == 0) {
		qsort(all.data, all.n, sizeof(*all.data), compare);
		r = write_table(&k, &all);
	}
	pdet_vec_free(&all);
	if (r < 0)
		pdet_kallsyms_free(&k);
	else
		*ret = k;
	return r;
}
