/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One line of /proc/iomem (Linux kernel/resource.c, r_show). */
#ifndef PDET_KERNEL_IOMEM_H
#define PDET_KERNEL_IOMEM_H

#include "base/text.h"

struct pdet_iomem {
	uint64_t first;		/* byte addresses, inclusive */
	uint64_t last;
	const char *name;	/* in the line */
	size_t name_len;
};

enum pdet_iomem_use {
	PDET_IOMEM_OTHER,
	PDET_IOMEM_RAM,		/* ordinary memory, added memory too */
	PDET_IOMEM_DEVICE	/* memory of devices with struct pages */
};

/* pdet_iomem_line - false if the line is not of that form, or shows only
 * zeroes, which is what the kernel gives to those without privilege. */
bool pdet_iomem_line(struct pdet_scan line, struct pdet_iomem *ret);

enum pdet_iomem_use pdet_iomem_use(const struct pdet_iomem *entry);

#endif
