/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the symbols that the dynamic linker uses, without the list of sections.
 * That list is at the end of a file, and programs never read it, so a dump
 * seldom has it.
 */
#ifndef PDET_UNWIND_ELF_DYNAMIC_H
#define PDET_UNWIND_ELF_DYNAMIC_H

#include "symbol/elf_sections.h"

/* Where tables are in a file, in bytes. */
struct pdet_elf_tables {
	uint64_t symbols, symbols_len;
	uint64_t names, names_len;
};

/* pdet_elf_dynamic - returns false if there are none, or if not all that leads
 * to them is there. The tables themselves may be damaged, or not there. */
bool pdet_elf_dynamic(const struct pdet_elf_sections *in,
		      const Elf64_Phdr *segments, size_t n,
		      struct pdet_elf_tables *ret);

#endif
