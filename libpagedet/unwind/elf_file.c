/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Every count and offset is checked against the size of the file before
 * anything is allocated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/elf_file.h"

/* Only browsers come near it. */
#define MOST_TABLE ((uint64_t)256 << 20)
#define MOST_SECTIONS 65536
#define MOST_NAMES ((uint64_t)16 << 20)
#define MOST_NOTES ((uint64_t)64 << 10)

/* Symbols that overlap each other at an address. Compilers write two. */
#define MOST_OVERLAPS 1000

static int read_at(const struct pdet_elf_file *e, uint64_t offset, void *buf,
		   uint64_t n)
{
	if (offset > e->size || n > e->size - offset)
		return -EBADMSG;
	return e->read(e->arg, offset, buf, (size_t)n);
}

/* Returns -EBADMSG if there are too many bytes of all files. */
static int spend(struct pdet_elf_file *e, uint64_t n)
{
	if (!e->spent)
		return 0;
	if (n > PDET_ELF_BYTES - *e->spent) {
		e->refused = true;
		return -EBADMSG;
	}
	*e->spent += n;
	return 0;
}

/* A copy of a part of the file, which the caller frees; and a NUL after it. */
static int copy_at(struct pdet_elf_file *e, uint64_t offset, uint64_t n,
		   uint64_t most, char **ret)
{
	int r;

	if (!n || n > most || offset > e->size || n > e->size - offset ||
	    spend(e, n) < 0)
		return -EBADMSG;
	*ret = malloc((size_t)n + 1);
	if (!*ret)
		return -ENOMEM;
	(*ret)[n] = '\0';
	r = read_at(e, offset, *ret, n);
	if (r < 0)
		free(*ret);
	return r;
}

/* --- segments --- */

static int read_build_id(struct pdet_elf_file *e, const Elf64_Phdr *p)
{
	char *notes;
	int r = copy_at(e, p->p_offset, p->p_filesz, MOST_NOTES, &notes);

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	pdet_build_id_note(&e->build_id,
			   (struct pdet_notes){ notes, p->p_filesz });
	free(notes);
	return 0;
}

static int read_segments(struct pdet_elf_file *e, const Elf64_Ehdr *h)
{
	size_t i;
	int r;

	if (h->e_phentsize != sizeof(*e->segment) || !h->e_phnum ||
	    h->e_phnum > PDET_ELF_SEGMENTS)
		return -EBADMSG;
	r = read_at(e, h->e_phoff, e->segment,
		    h->e_phnum * sizeof(*e->segment));
	if (r < 0)
		return r;
	e->n_segments = h->e_phnum;
	for (i = 0; r == 0 && i < e->n_segments; i++) {
		const Elf64_Phdr *p = &e->segment[i];

		if (p->p_type == PT_GNU_EH_FRAME)
			e->header = p->p_vaddr;
		else if (p->p_type == PT_NOTE && !e->build_id.n)
			r = read_build_id(e, p);
	}
	return r;
}

/* --- symbols --- */

/* .symtab has names such as clock_nanosleep@GLIBC_2.17. */
static void cut_versions(char *names, size_t len)
{
	char *at;

	while ((at = memchr(names, '@', len))) {
		*at = '\0';
		len -= (size_t)(at + 1 - names);
		names = at + 1;
	}
}

/* The C library gives a function several names: nanosleep is the one that
 * programs call, and __nanosleep and the local __GI___nanosleep are not. */
static uint8_t beauty(const struct pdet_elf_file *e, const Elf64_Sym *s)
{
	if (ELF64_ST_BIND(s->st_info) == STB_LOCAL)
		return 0;
	return e->names[s->st_name] != '_' ? 2 : 1;
}

static bool is_code(const struct pdet_elf_file *e, const Elf64_Sym *s)
{
	const unsigned type = ELF64_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC ||
		type == STT_NOTYPE) &&
	       s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS &&
	       s->st_name < e->names_len && e->names[s->st_name];
}

/* By value. The last one of a value is the one that names it best. */
static int worse_first(const void *a, const void *b)
{
	const struct pdet_elf_symbol *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	if (x->beauty != y->beauty)
		return x->beauty < y->beauty ? -1 : 1;
	return (x->order < y->order) - (x->order > y->order);
}

static uint64_t end_of(const struct pdet_elf_symbol *s)
{
	return s->size > UINT64_MAX - s->value ? UINT64_MAX :
	       s->value + s->size;
}

static void link_wider(struct pdet_elf_file *e)
{
	size_t i;

	for (i = 0; i < e->n_symbols; i++) {
		struct pdet_elf_symbol *s = &e->symbols[i];
		uint32_t at = (uint32_t)i - 1;

		while (at != UINT32_MAX && end_of(&e->symbols[at]) <= end_of(s))
			at = e->symbols[at].wider;
		s->wider = at;
	}
}

/* Keeps the symbols of code. */
static int sort_symbols(struct pdet_elf_file *e, const Elf64_Sym *table,
			size_t n)
{
	size_t i, code = 0;

	for (i = 0; i < n; i++)
		code += is_code(e, &table[i]);
	if (!code || spend(e, code * sizeof(*e->symbols)) < 0)
		return 0;
	e->symbols = malloc(code * sizeof(*e->symbols));
	if (!e->symbols)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (is_code(e, &table[i]))
			e->symbols[e->n_symbols++] = (struct pdet_elf_symbol){
				.value = table[i].st_value,
				.size = table[i].st_size,
				.name = table[i].st_name,
				.order = (uint32_t)i,
				.section = table[i].st_shndx,
				.beauty = beauty(e, &table[i]),
			};
	qsort(e->symbols, e->n_symbols, sizeof(*e->symbols), worse_first);
	link_wider(e);
	return 0;
}

static int read_symbols(struct pdet_elf_file *e, const Elf64_Shdr *table,
			const Elf64_Shdr *names)
{
	char *symbols;
	int r;

	if (table->sh_entsize != sizeof(Elf64_Sym) ||
	    names->sh_type != SHT_STRTAB)
		return 0;
	r = copy_at(e, table->sh_offset, table->sh_size, MOST_TABLE, &symbols);
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	r = copy_at(e, names->sh_offset, names->sh_size, MOST_TABLE,
		    &e->names);
	if (r < 0) {
		free(symbols);
		e->names = NULL;
		return r == -EBADMSG ? 0 : r;
	}
	e->names_len = names->sh_size + 1;
	cut_versions(e->names, names->sh_size);
	e->whole = table->sh_type == SHT_SYMTAB;
	r = sort_symbols(e, (const Elf64_Sym *)(void *)symbols,
			 table->sh_size / sizeof(Elf64_Sym));
	free(symbols);
	return r;
}

static const Elf64_Shdr *find_table(const Elf64_Shdr *s, size_t n,
				    uint32_t type)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (s[i].sh_type == type && s[i].sh_link < n)
			return &s[i];
	return NULL;
}

/* --- tables for unwinding --- */

static int read_frames(struct pdet_elf_file *e, const Elf64_Shdr *s)
{
	char *bytes;
	int r = copy_at(e, s->sh_offset, s->sh_size, MOST_TABLE, &bytes);

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	r = pdet_eh_frame_index((const uint8_t *)bytes, s->sh_size, s->sh_addr,
				&e->frames);
	free(bytes);
	return r;
}

static int find_frames(struct pdet_elf_file *e, const Elf64_Shdr *names)
{
	static const char name[] = ".eh_frame";
	char *text;
	size_t i;
	int r = copy_at(e, names->sh_offset, names->sh_size, MOST_NAMES, &text);

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	for (i = 0; i < e->n_sections; i++) {
		const Elf64_Shdr *s = &e->sections[i];

		if (s->sh_type == SHT_NOBITS || s->sh_name >= names->sh_size ||
		    strcmp(text + s->sh_name, name))
			continue;
		r = read_frames(e, s);
		break;
	}
	free(text);
	return r;
}

static int read_sections(struct pdet_elf_file *e, const Elf64_Ehdr *h)
{
	const uint64_t bytes = (uint64_t)h->e_shnum * sizeof(Elf64_Shdr);
	const Elf64_Shdr *s, *table;
	char *data;
	int r;

	if (h->e_shentsize != sizeof(Elf64_Shdr))
		return 0;
	r = copy_at(e, h->e_shoff, bytes, MOST_SECTIONS * sizeof(*s), &data);
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	e->sections = (Elf64_Shdr *)(void *)data;
	e->n_sections = h->e_shnum;
	s = e->sections;
	table = find_table(s, h->e_shnum, SHT_SYMTAB);
	if (!table)
		table = find_table(s, h->e_shnum, SHT_DYNSYM);
	if (table)
		r = read_symbols(e, table, &s[table->sh_link]);
	if (r == 0 && !e->header && h->e_shstrndx < e->n_sections)
		r = find_frames(e, &s[h->e_shstrndx]);
	return r;
}

int pdet_elf_file_open(struct pdet_elf_file *e)
{
	Elf64_Ehdr h;
	int r = read_at(e, 0, &h, sizeof(h));

	if (r < 0)
		return r;
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB)
		return -EBADMSG;
	r = read_segments(e, &h);
	if (r == 0)
		r = read_sections(e, &h);
	if (r < 0)
		pdet_elf_file_free(e);
	return r;
}

void pdet_elf_file_free(struct pdet_elf_file *e)
{
	free(e->frames.entries);
	free(e->sections);
	free(e->symbols);
	free(e->names);
	e->frames = (struct pdet_eh_frame){ NULL, 0 };
	e->sections = NULL;
	e->symbols = NULL;
	e->names = NULL;
	e->n_sections = e->n_symbols = 0;
}

/* --- questions --- */

bool pdet_elf_file_address(const struct pdet_elf_file *e, uint64_t offset,
			   uint64_t *ret)
{
	size_t i;

	for (i = 0; i < e->n_segments; i++) {
		const Elf64_Phdr *p = &e->segment[i];

		if (p->p_type != PT_LOAD || offset < p->p_offset ||
		    offset - p->p_offset >= p->p_filesz)
			continue;
		*ret = offset - p->p_offset + p->p_vaddr;
		return true;
	}
	return false;
}

/* The best symbol that begins at or before an address: the nearest one. */
static const struct pdet_elf_symbol *symbol_before(
	const struct pdet_elf_file *e, uint64_t address)
{
	size_t low = 0, high = e->n_symbols;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (e->symbols[mid].value <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &e->symbols[low - 1] : NULL;
}

/* The nearest one that has the address. @s: what is before it. */
static const struct pdet_elf_symbol *symbol_around(
	const struct pdet_elf_file *e, const struct pdet_elf_symbol *s,
	uint64_t address)
{
	unsigned i;

	for (i = 0; s && i < MOST_OVERLAPS; i++) {
		if (address - s->value < s->size)
			return s;
		s = s->wider == UINT32_MAX ? NULL : &e->symbols[s->wider];
	}
	return NULL;
}

/* A symbol of assembly may have no size: then it reaches to the next one in its
 * section. */
static bool reaches(const struct pdet_elf_file *e,
		    const struct pdet_elf_symbol *s, uint64_t address)
{
	const Elf64_Shdr *in = s->section < e->n_sections ?
			       &e->sections[s->section] : NULL;

	return !s->size && in && in->sh_flags & SHF_EXECINSTR &&
	       address - in->sh_addr < in->sh_size;
}

/* Only .symtab has all symbols, and shows which is the next one. */
const char *pdet_elf_file_symbol(const struct pdet_elf_file *e,
				 uint64_t address, uint64_t *offset,
				 uint64_t *size)
{
	const struct pdet_elf_symbol *before = symbol_before(e, address);
	const struct pdet_elf_symbol *best = symbol_around(e, before, address);

	if (!best && e->whole && before && reaches(e, before, address))
		best = before;
	if (!best)
		return NULL;
	*offset = address - best->value;
	*size = best->size;
	return e->names + best->name;
}
