/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the name of a VMA, in the kernel's order: file, vm_ops, purpose (such
 * as heap), and the name set by its owner. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/object/vma_name.h"

/* ANON_VMA_NAME_MAX_LEN */
#define ANON_NAME 80

void pdet_vma_names_init(struct pdet_vma_names *n, const struct pdet_btf *btf,
			 uint64_t special_mapping_vmops,
			 uint64_t special_mapping_name)
{
	static const pdet_field_names anon[] = { { "anon_vma_name.name" } };
	static const pdet_field_names special[] = {
		{ "vm_special_mapping.name" },
	};
	static const pdet_field_names ops[] = {
		{ "vm_operations_struct.name" },
	};

	pdet_struct_find(&n->anon, btf, anon, 1);
	pdet_struct_find(&n->special, btf, special, 1);
	pdet_struct_find(&n->ops, btf, ops, 1);
	n->special_ops = special_mapping_vmops;
	n->special_function = special_mapping_name;
	/* The name is a flexible array without a size, which BTF does not find.
	 * It follows a count of 4 bytes. */
	if (!pdet_struct_has(&n->anon, 0))
		n->anon.field[0].at = 4;
}

static ssize_t fixed(char *buf, const char *name)
{
	return (ssize_t)strlen(strcpy(buf, name));
}

static ssize_t anon_name(struct pdet_space *space,
			 const struct pdet_vma_names *n, uint64_t addr,
			 const char *kind, char *buf)
{
	char name[ANON_NAME];
	ssize_t r = pdet_is_address(addr) ?
		pdet_space_text(space, pdet_struct_addr(&n->anon, addr, 0),
				name, sizeof(name)) : -EBADMSG;

	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	return snprintf(buf, PDET_PATH, "[%s:%s]", kind, name);
}

static ssize_t special_name(struct pdet_space *space,
			    const struct pdet_vma_names *n, uint64_t mapping,
			    char *buf)
{
	uint64_t name;
	ssize_t r = pdet_struct_value(space, &n->special, mapping, 0, &name);

	if (!r)
		r = pdet_is_address(name) ?
			pdet_space_text(space, name, buf, ANON_NAME) : -EBADMSG;
	return r == -ENOENT ? -EBADMSG : r;
}

/* If data symbols are unknown, compare the function that gives the name. */
static bool is_special(struct pdet_space *space, const struct pdet_vma_names *n,
		       uint64_t ops)
{
	uint64_t function;

	if (!ops || n->special_ops || !n->special_function)
		return ops && ops == n->special_ops;
	return pdet_struct_value(space, &n->ops, ops, 0, &function) == 0 &&
	       function == n->special_function;
}

ssize_t pdet_vma_name(struct pdet_space *space, const struct pdet_vma_names *n,
		      const struct pdet_paths *paths, const struct pdet_mm *mm,
		      const struct pdet_vm_area *vma, char buf[PDET_PATH])
{
	*buf = '\0';
	if (vma->file)
		return vma->anon_name ?
			anon_name(space, n, vma->anon_name, "anon_shmem", buf) :
			pdet_path_of_file(space, paths, vma->file, buf);
	if (is_special(space, n, vma->ops))
		return special_name(space, n, vma->private_data, buf);
	if (vma->start < mm->brk && vma->end > mm->start_brk)
		return fixed(buf, "[heap]");
	if (vma->start <= mm->start_stack && vma->end >= mm->start_stack)
		return fixed(buf, "[stack]");
	return vma->anon_name ?
		anon_name(space, n, vma->anon_name, "anon", buf) : 0;
}
