/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The first types of a kernel's BTF, for questions that need a few of them:
 * reading and sorting out all 100,000 takes longer than counting the pages of
 * a large machine (Documentation/bpf/btf.rst).
 */
#ifndef PDET_KERNEL_BTF_PART_H
#define PDET_KERNEL_BTF_PART_H

#include "kernel/btf_enum.h"

/*
 * pdet_btf_part - BTF of the types in the first @bytes, as pdet_btf_new() takes
 * it; free with free(). What they refer to may be missing: ask
 * pdet_btf_is_whole(). NULL without memory, or if it is no BTF.
 */
void *pdet_btf_part(const struct pdet_btf_reader *reader, uint32_t bytes,
		    size_t *len);

#endif
