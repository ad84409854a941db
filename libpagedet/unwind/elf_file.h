/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the parts of an ELF file of a program that name its code: segments,
 * build id and symbols. The file may be damaged, and it may change.
 */
#ifndef PDET_UNWIND_ELF_FILE_H
#define PDET_UNWIND_ELF_FILE_H

#include "symbol/build_id.h"
#include "symbol/elf_sections.h"
#include "unwind/debug_frame.h"
#include "unwind/dwarf/eh_frame.h"

#define PDET_ELF_SEGMENTS 64

/* Bytes of all tables that are read for one process. */
#define PDET_ELF_BYTES ((uint64_t)512 << 20)

/* A symbol of code. */
struct pdet_elf_symbol {
	uint64_t value, size;
	uint32_t name;		/* offset in the names */
	uint32_t order;		/* in the file's table */
	uint32_t wider;		/* the nearest one before it that ends later;
				 * UINT32_MAX: there is none */
	uint16_t section;
	uint8_t beauty;		/* among symbols of one value */
};

struct pdet_elf_file {
	uint64_t *spent;	/* bytes for all files of a process; NULL: they
				 * are not counted */
	uint16_t machine;	/* EM_* */
	bool narrow;		/* it is a 32-bit file of x86 */
	bool refused;		/* PDET_ELF_BYTES are spent, so something was
				 * not read */
	Elf64_Phdr segment[PDET_ELF_SEGMENTS];
	size_t n_segments;
	uint64_t header;	/* address of .eh_frame_hdr in the file; 0:
				 * there is none */
	struct pdet_eh_frame frames; /* if there is none */
	struct pdet_debug_frame debug_frame;
	struct pdet_build_id build_id;
	Elf64_Shdr *sections;
	size_t n_sections;
	struct pdet_elf_symbol *symbols; /* of .symtab, or else those of the
				 * dynamic linker: by value; the last one of a
				 * value is best */
	size_t n_symbols;
	char *names;
	size_t names_len;	/* the last byte is a NUL */
	bool whole;		/* they are those of .symtab */
};

/* pdet_elf_file_open - read all that; @in may go away then. *e is zero, except
 * perhaps @spent. Returns 0, -EBADMSG if it is not such a file, -ENOMEM, or the
 * failure to read it. A file without symbols is right. */
int pdet_elf_file_open(struct pdet_elf_file *e, const struct pdet_libelf *lib,
		       const struct pdet_elf_input *in);
void pdet_elf_file_free(struct pdet_elf_file *e);

/* pdet_elf_file_build_id - read nothing but that; its n is 0 if there is none.
 * Returns as pdet_elf_file_open(). */
int pdet_elf_file_build_id(struct pdet_build_id *ret,
			   const struct pdet_libelf *lib,
			   const struct pdet_elf_input *in);

/* pdet_elf_file_address - the address in the file of the code at a file
 * offset. Returns false if no segment has it. */
bool pdet_elf_file_address(const struct pdet_elf_file *e, uint64_t offset,
			   uint64_t *ret);

/*
 * pdet_elf_file_symbol - the function that has an address in the file. Returns
 * its name, or NULL if there is none; *offset is the distance from its start,
 * and *size its length.
 */
const char *pdet_elf_file_symbol(const struct pdet_elf_file *e,
				 uint64_t address, uint64_t *offset,
				 uint64_t *size);

#endif
