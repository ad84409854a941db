/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads headers and tables of ELF files with libelf, which is loaded on first
 * use: of 64-bit files, and of 32-bit files of x86. The file may be damaged,
 * and it may change.
 */
#ifndef PDET_SYMBOL_ELF_SECTIONS_H
#define PDET_SYMBOL_ELF_SECTIONS_H

#include <elf.h>

#include "base/env.h"

/* Bytes of the names of sections. */
#define PDET_ELF_NAMES ((uint64_t)16 << 20)

struct pdet_libelf;

/* pdet_libelf_new - load libelf to read @path. Returns 0, or a negative errno
 * with an error text: -ENOSYS if it is not there. */
int pdet_libelf_new(struct pdet_libelf **ret, struct pdet_env *env,
		    const char *path);
void pdet_libelf_free(struct pdet_libelf *lib);

/* A file, or a copy of it in memory. */
struct pdet_elf_input {
	int fd;
	char *bytes;		/* NULL: it is a file */
	uint64_t size;
	/* Puts a part of the file into @bytes, which are zero before. Returns 0
	 * or a negative errno. NULL: all bytes are there. */
	int (*load)(void *arg, uint64_t offset, uint64_t n);
	void *arg;
};

struct pdet_elf_sections {
	const struct pdet_libelf *lib;
	struct Elf *elf;	/* that of libelf */
	struct pdet_elf_input in;
	bool narrow;		/* it is a 32-bit file; all headers are given as
				 * those of a 64-bit file */
	Elf64_Ehdr head;
	size_t n;		/* the table may be damaged or lost */
};

/*
 * pdet_elf_sections_open - read the header. The descriptor or bytes of @in stay
 * until the end. Returns 0, -EBADMSG if it is not such a little-endian ELF
 * file, or the failure to read it. Close it in all cases.
 */
int pdet_elf_sections_open(struct pdet_elf_sections *e,
			   const struct pdet_libelf *lib,
			   const struct pdet_elf_input *in);
void pdet_elf_sections_close(struct pdet_elf_sections *e);

/* Return false if there is none of this number. */
bool pdet_elf_section(const struct pdet_elf_sections *e, size_t i,
		      Elf64_Shdr *ret);
bool pdet_elf_segment(const struct pdet_elf_sections *e, size_t i,
		      Elf64_Phdr *ret);

/* Bytes of a symbol in the file. */
static inline size_t pdet_elf_symbol_size(const struct pdet_elf_sections *e)
{
	return e->narrow ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
}

/* Whether the file has all bytes of a part. */
bool pdet_elf_is_inside(const struct pdet_elf_sections *e, uint64_t offset,
			uint64_t n);

/* pdet_elf_find - the first section of that name, or, without a name, of that
 * type, that has bytes in the file. Returns false if there is none. */
bool pdet_elf_find(const struct pdet_elf_sections *e, const char *name,
		   uint32_t type, Elf64_Shdr *ret);

/*
 * pdet_elf_bytes - a part of the file; compressed sections stay compressed. The
 * bytes are valid until the end. Returns 0, -ENOENT if there are none or more
 * than @most, or if they are not in the file or cannot be loaded; or the
 * failure to read them.
 */
int pdet_elf_bytes(const struct pdet_elf_sections *e, uint64_t offset,
		   uint64_t n, uint64_t most, char **ret);

#endif
