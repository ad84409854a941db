/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads a kernel's vmlinux: its build id, its symbols, and its types as BTF.
 * dwarf.h reads its debug information.
 */
#ifndef PDET_SYMBOL_VMLINUX_H
#define PDET_SYMBOL_VMLINUX_H

#include "symbol/build_id.h"
#include "symbol/elf_sections.h"
#include "symbol/kallsyms.h"

struct pdet_vmlinux {
	int fd;
	uint64_t size;		/* file size */
	uint16_t machine;	/* EM_* */
	struct pdet_build_id build_id;
	struct pdet_libelf *libelf;
	struct pdet_elf_sections elf;
	bool symbols_tried;
	char *symbols, *names; /* .symtab and its strings */
	size_t n_symbols, names_len;
};

/* pdet_vmlinux_open - read headers and build id. Returns 0, or a negative errno
 * with an error text: "cannot read FILE: it is ...". */
int pdet_vmlinux_open(struct pdet_vmlinux *v, struct pdet_env *env,
		      const char *path);
void pdet_vmlinux_close(struct pdet_vmlinux *v);

/*
 * pdet_vmlinux_check - check that it belongs to a kernel, by build id and
 * machine (0: unknown). What could not be compared is logged. Errors as above.
 */
int pdet_vmlinux_check(const struct pdet_vmlinux *v, struct pdet_env *env,
		       const char *path, uint16_t machine,
		       const struct pdet_build_id *kernel);

/* pdet_vmlinux_find - like pdet_kallsyms_find(), but with addresses in the
 * file, because the kernel may have been relocated. Symbols that were already
 * found are left unchanged. */
void pdet_vmlinux_find(struct pdet_vmlinux *v, struct pdet_symbol *s,
		       size_t n);

/* True if that section has instructions. */
bool pdet_vmlinux_is_code(const struct pdet_vmlinux *v, uint16_t section);

/* Instructions, as the file has them: the kernel changes some at boot. */
struct pdet_vmlinux_code {
	const unsigned char *bytes; /* valid as long as the vmlinux is open */
	uint64_t first;		/* their address in the file */
	size_t n;
};

/* pdet_vmlinux_code - the section of instructions that has an address. Returns
 * false if there is none, or if the file has only debug information. */
bool pdet_vmlinux_code(const struct pdet_vmlinux *v, uint64_t address,
		       struct pdet_vmlinux_code *ret);

/* The relocation of the kernel at boot (KASLR). The whole image moves by one
 * offset, except the per-CPU symbols. */
struct pdet_vmlinux_move {
	uint64_t by;
	uint64_t first, end;	/* of the image, as addresses in the file */
};

/* pdet_vmlinux_symbols - get all symbols, in the form of the kernel's own
 * table. Returns 0, -ENOENT if there are none, or -ENOMEM. */
int pdet_vmlinux_symbols(struct pdet_vmlinux *v,
			 const struct pdet_vmlinux_move *move,
			 struct pdet_kallsyms *ret);

/*
 * pdet_vmlinux_btf - get a copy of its BTF, which the caller frees. -ENOENT: it
 * has none.
 */
int pdet_vmlinux_btf(const struct pdet_vmlinux *v, void **ret, size_t *len);

/* pdet_vmlinux_dwarf - check for debug information that libdw can read. Returns
 * 0, -ENOENT if there is none, or another failure with an error text as in
 * dwarf.h. */
int pdet_vmlinux_dwarf(const struct pdet_vmlinux *v, struct pdet_env *env);

#endif
