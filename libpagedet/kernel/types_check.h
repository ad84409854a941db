/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Whether a kernel's types and its VMCOREINFO are of the same kernel. */
#ifndef PDET_KERNEL_TYPES_CHECK_H
#define PDET_KERNEL_TYPES_CHECK_H

#include "kernel/btf.h"
#include "kernel/vmcoreinfo.h"

struct pdet_types_difference {
	char name[128];		/* of the first one: "OFFSET(page.flags)" */
	uint64_t info, types;	/* what the two say */
	unsigned n;		/* how many there are */
};

/*
 * pdet_types_agree - compares all sizes, offsets, lengths and numbers of page
 * flags that both know, a hundred or so. False: what the difference is.
 */
bool pdet_types_agree(const struct pdet_vmcoreinfo *info,
		      const struct pdet_btf *btf,
		      struct pdet_types_difference *ret);

#endif
