/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Checks that a kernel's types and its VMCOREINFO belong to the same kernel. */
#ifndef PDET_KERNEL_TYPES_SAME_KERNEL_H
#define PDET_KERNEL_TYPES_SAME_KERNEL_H

#include "kernel/text/vmcoreinfo.h"
#include "kernel/types/btf.h"

struct pdet_types_difference {
	char name[128];		/* first difference: "OFFSET(page.flags)" */
	uint64_t info, types;	/* the two values */
	unsigned n;		/* number of differences */
};

/*
 * pdet_types_agree - compare all sizes, offsets, lengths and page flag numbers
 * that both have, about a hundred. Returns false if they differ; *@ret then
 * describes the difference.
 */
bool pdet_types_agree(const struct pdet_vmcoreinfo *info,
		      const struct pdet_btf *btf,
		      struct pdet_types_difference *ret);

#endif
