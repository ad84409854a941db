/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The ELF file that a kernel was made from: its build id, its symbols and its
 * types in the form of BTF. What only debug information has is dwarf.h's.
 */
#ifndef PDET_KERNEL_VMLINUX_H
#define PDET_KERNEL_VMLINUX_H

#include "kernel/build_id.h"
#include "kernel/kallsyms.h"

struct pdet_vmlinux {
	int fd;
	uint64_t size;		/* of the file */
	uint16_t machine;	/* EM_* */
	struct pdet_build_id build_id;
	struct pdet_elf_sections *elf;
	bool symbols_tried;
	const char *symbols, *names; /* .symtab and its strings */
	size_t n_symbols, names_len;
};

/* pdet_vmlinux_open - looks at its headers and its build id. 0, or negative
 * errno with words: "cannot read FILE: it is ...". */
int pdet_vmlinux_open(struct pdet_vmlinux *v, struct pdet_env *env,
		      const char *path);
void pdet_vmlinux_close(struct pdet_vmlinux *v);

/*
 * pdet_vmlinux_check - whether it is that of a kernel: by its build id, and
 * the machine (0: unknown). What cannot be compared is said to the log. Words
 * as above.
 */
int pdet_vmlinux_check(const struct pdet_vmlinux *v, struct pdet_env *env,
		       const char *path, uint16_t machine,
		       const struct pdet_build_id *kernel);

/* pdet_vmlinux_find - as pdet_kallsyms_find(), by addresses of the file: the
 * kernel may have moved. Those that are found already are left alone. */
void pdet_vmlinux_find(struct pdet_vmlinux *v, struct pdet_symbol *s,
		       size_t n);

/* Whether that section is of instructions. */
bool pdet_vmlinux_is_code(const struct pdet_vmlinux *v, uint16_t section);

/* How the kernel was moved when it was booted (KASLR): all of the image by the
 * same, what each processor has of its own not at all. */
struct pdet_vmlinux_move {
	uint64_t by;
	uint64_t first, end;	/* of the image, addresses of the file */
};

/* pdet_vmlinux_symbols - all of them, as the kernel's own table would have
 * them. 0, -ENOENT there are none, or -ENOMEM. */
int pdet_vmlinux_symbols(struct pdet_vmlinux *v,
			 const struct pdet_vmlinux_move *move,
			 struct pdet_kallsyms *ret);

/* pdet_vmlinux_btf - a copy of its BTF, to be freed. -ENOENT: it has none. */
int pdet_vmlinux_btf(const struct pdet_vmlinux *v, void **ret, size_t *len);

/* pdet_vmlinux_dwarf - whether it has debug information that libdw may be
 * given: 0, -ENOENT it has none, or another failure with words as dwarf.h's. */
int pdet_vmlinux_dwarf(const struct pdet_vmlinux *v, struct pdet_env *env);

#endif
