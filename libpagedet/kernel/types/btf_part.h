/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the first types of a kernel's BTF, for queries that need only a few.
 * Reading and parsing all 100,000 types takes longer than counting the pages of
 * a large machine (Documentation/bpf/btf.rst).
 */
#ifndef PDET_KERNEL_TYPES_BTF_PART_H
#define PDET_KERNEL_TYPES_BTF_PART_H

#include "kernel/types/btf_enum.h"

/*
 * pdet_btf_part - BTF with the types in the first @bytes, for pdet_btf_new().
 * The caller frees it with free(). Some types that these refer to may be
 * missing, so check with pdet_btf_is_whole(). Returns NULL if memory is short
 * or if it is not BTF.
 */
void *pdet_btf_part(const struct pdet_btf_reader *reader, uint32_t bytes,
		    size_t *len);

#endif
