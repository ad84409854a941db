/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Every size is checked against the limit of all files before libelf allocates
 * anything for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/elf_dynamic.h"
#include "unwind/elf_file.h"
#include "unwind/elf_packed.h"

/* Only browsers come near it. */
#define MOST_TABLE ((uint64_t)256 << 20)
#define MOST_NOTES ((uint64_t)64 << 10)

/* Symbols that overlap each other at an address. Compilers write two. */
#define MOST_OVERLAPS 1000

/* Returns -ENOENT if there are too many bytes of all files. */
static int spend(struct pdet_elf_file *e, uint64_t n)
{
	if (!e->spent)
		return 0;
	if (n > PDET_ELF_BYTES - *e->spent) {
		e->refused = true;
		return -ENOENT;
	}
	*e->spent += n;
	return 0;
}

/* Returns -ENOENT if there are none that can be used. */
static int read_part(struct pdet_elf_file *e,
		     const struct pdet_elf_sections *in, uint64_t offset,
		     uint64_t n, uint64_t most, char **ret)
{
	if (n > most || !pdet_elf_is_inside(in, offset, n) || spend(e, n) < 0)
		return -ENOENT;
	return pdet_elf_bytes(in, offset, n, most, ret);
}

static int read_table(struct pdet_elf_file *e,
		      const struct pdet_elf_sections *in, uint64_t offset,
		      uint64_t n, char **ret)
{
	return read_part(e, in, offset, n, MOST_TABLE, ret);
}

/* --- segments --- */

static int read_build_id(struct pdet_elf_file *e,
			 const struct pdet_elf_sections *in,
			 const Elf64_Phdr *p)
{
	char *notes;
	int r = read_part(e, in, p->p_offset, p->p_filesz, MOST_NOTES, &notes);

	if (r == 0)
		pdet_build_id_note(&e->build_id,
				   (struct pdet_notes){ notes, p->p_filesz });
	return r == -ENOENT ? 0 : r;
}

static int read_segments(struct pdet_elf_file *e,
			 const struct pdet_elf_sections *in)
{
	const size_t n = in->head.e_phnum;
	size_t i;
	int r = 0;

	if (!n || n > PDET_ELF_SEGMENTS)
		return -EBADMSG;
	for (i = 0; r == 0 && i < n; i++) {
		Elf64_Phdr *p = &e->segment[i];

		if (!pdet_elf_segment(in, i, p))
			return -EBADMSG;
		if (p->p_type == PT_GNU_EH_FRAME)
			e->header = p->p_vaddr;
		else if (p->p_type == PT_NOTE && !e->build_id.n)
			r = read_build_id(e, in, p);
	}
	e->n_segments = n;
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

static Elf64_Sym symbol_at(const struct pdet_elf_file *e, const char *table,
			   size_t i)
{
	Elf64_Sym s;
	Elf32_Sym n;

	if (!e->narrow) {
		memcpy(&s, table + i * sizeof(s), sizeof(s));
		return s;
	}
	memcpy(&n, table + i * sizeof(n), sizeof(n));
	return (Elf64_Sym){
		.st_name = n.st_name, .st_info = n.st_info,
		.st_other = n.st_other, .st_shndx = n.st_shndx,
		.st_value = n.st_value, .st_size = n.st_size,
	};
}

/* Keeps the symbols of code. */
static int sort_symbols(struct pdet_elf_file *e, const char *table, size_t n)
{
	size_t i, code = 0;
	Elf64_Sym s;

	for (i = 0; i < n; i++) {
		s = symbol_at(e, table, i);
		code += is_code(e, &s);
	}
	if (!code || spend(e, code * sizeof(*e->symbols)) < 0)
		return 0;
	e->symbols = malloc(code * sizeof(*e->symbols));
	if (!e->symbols)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		s = symbol_at(e, table, i);
		if (is_code(e, &s))
			e->symbols[e->n_symbols++] = (struct pdet_elf_symbol){
				.value = s.st_value,
				.size = s.st_size,
				.name = s.st_name,
				.order = (uint32_t)i,
				.section = s.st_shndx,
				.beauty = beauty(e, &s),
			};
	}
	qsort(e->symbols, e->n_symbols, sizeof(*e->symbols), worse_first);
	link_wider(e);
	return 0;
}

static int copy_names(struct pdet_elf_file *e, const char *names, size_t len)
{
	free(e->names);
	e->names = malloc(len + 1);
	if (!e->names)
		return -ENOMEM;
	memcpy(e->names, names, len);
	e->names[len] = '\0';
	e->names_len = len + 1;
	cut_versions(e->names, len);
	return 0;
}

static bool find_tables(const struct pdet_elf_sections *in, uint32_t type,
			struct pdet_elf_tables *ret)
{
	Elf64_Shdr s, names;

	if (!pdet_elf_find(in, NULL, type, &s) ||
	    s.sh_entsize != pdet_elf_symbol_size(in) ||
	    !pdet_elf_section(in, s.sh_link, &names) ||
	    names.sh_type != SHT_STRTAB)
		return false;
	*ret = (struct pdet_elf_tables){
		s.sh_offset, s.sh_size, names.sh_offset, names.sh_size
	};
	return true;
}

/* Returns 1 if there are symbols. */
static int read_tables(struct pdet_elf_file *e,
		       const struct pdet_elf_sections *in,
		       const struct pdet_elf_tables *t)
{
	char *table, *names;
	int r = read_table(e, in, t->symbols, t->symbols_len, &table);

	if (r == 0)
		r = read_table(e, in, t->names, t->names_len, &names);
	if (r == 0)
		r = copy_names(e, names, t->names_len);
	if (r == 0)
		r = sort_symbols(e, table, t->symbols_len /
						  pdet_elf_symbol_size(in));
	return r < 0 && r != -ENOENT ? r : e->n_symbols > 0;
}

/* The first of these tables that is there has the most symbols. */
static int read_symbols(struct pdet_elf_file *e,
			const struct pdet_elf_sections *in)
{
	struct pdet_elf_tables t;
	int r = 0;

	if (find_tables(in, SHT_SYMTAB, &t))
		r = read_tables(e, in, &t);
	e->whole = r > 0;
	if (r == 0 && find_tables(in, SHT_DYNSYM, &t))
		r = read_tables(e, in, &t);
	else if (r == 0 && pdet_elf_dynamic(in, e->segment, e->n_segments, &t))
		r = read_tables(e, in, &t);
	return PDET_MIN(r, 0);
}

/* --- tables for unwinding --- */

static int read_frames(struct pdet_elf_file *e,
		       const struct pdet_elf_sections *in)
{
	Elf64_Shdr s;
	char *bytes;
	int r;

	if (!pdet_elf_section(in, in->head.e_shstrndx, &s) ||
	    s.sh_size > PDET_ELF_NAMES || spend(e, s.sh_size) < 0 ||
	    !pdet_elf_find(in, ".eh_frame", 0, &s))
		return 0;
	r = read_table(e, in, s.sh_offset, s.sh_size, &bytes);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return pdet_eh_frame_index((const uint8_t *)bytes, s.sh_size,
				   s.sh_addr, e->narrow ? 4 : 8, &e->frames);
}

/* Files have none of them if compilers wrote .eh_frame. */
static int read_debug_frame(struct pdet_elf_file *e,
			    const struct pdet_elf_sections *in)
{
	struct pdet_debug_frame *f = &e->debug_frame;
	struct pdet_elf_packed p;
	int r = pdet_elf_packed(in, ".debug_frame", &p);

	/* The index is not larger than the section. */
	if (r < 0 || p.size > MOST_TABLE || spend(e, 2 * p.size) < 0)
		return r == -ENOMEM ? r : 0;
	f->bytes = malloc(p.size ? p.size : 1);
	if (!f->bytes)
		return -ENOMEM;
	f->size = p.size;
	f->narrow = e->narrow;
	r = pdet_elf_unpack(&p, f->bytes);
	if (r == 0)
		r = pdet_debug_frame_index(f);
	if (r < 0)
		pdet_debug_frame_free(f);
	return r == -ENOMEM ? r : 0;
}

static int read_sections(struct pdet_elf_file *e,
			 const struct pdet_elf_sections *in)
{
	size_t i;

	if (!in->n || spend(e, in->n * sizeof(*e->sections)) < 0)
		return 0;
	e->sections = malloc(in->n * sizeof(*e->sections));
	if (!e->sections)
		return -ENOMEM;
	errno = 0;
	for (i = 0; i < in->n; i++)
		if (!pdet_elf_section(in, i, &e->sections[i]))
			return -errno;	/* 0: the table is damaged */
	e->n_sections = in->n;
	return 0;
}

int pdet_elf_file_open(struct pdet_elf_file *e, const struct pdet_libelf *lib,
		       const struct pdet_elf_input *in)
{
	struct pdet_elf_sections s;
	int r = pdet_elf_sections_open(&s, lib, in);

	e->narrow = s.narrow;
	e->machine = s.head.e_machine;
	if (r == 0)
		r = read_segments(e, &s);
	if (r == 0)
		r = read_sections(e, &s);
	if (r == 0)
		r = read_symbols(e, &s);
	if (r == 0 && !e->header)
		r = read_frames(e, &s);
	if (r == 0)
		r = read_debug_frame(e, &s);
	pdet_elf_sections_close(&s);
	if (r < 0)
		pdet_elf_file_free(e);
	return r;
}

int pdet_elf_file_build_id(struct pdet_build_id *ret,
			   const struct pdet_libelf *lib,
			   const struct pdet_elf_input *in)
{
	struct pdet_elf_file e = { .spent = NULL };
	struct pdet_elf_sections s;
	int r = pdet_elf_sections_open(&s, lib, in);

	if (r == 0)
		r = read_segments(&e, &s);
	pdet_elf_sections_close(&s);
	*ret = e.build_id;
	return r;
}

void pdet_elf_file_free(struct pdet_elf_file *e)
{
	pdet_debug_frame_free(&e->debug_frame);
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
