/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parses one line of /proc/iomem (Linux kernel/resource.c, r_show). */
#ifndef PDET_KERNEL_TEXT_IOMEM_H
#define PDET_KERNEL_TEXT_IOMEM_H

#include "base/text/text.h"

struct pdet_iomem {
	uint64_t first;		/* byte addresses, inclusive */
	uint64_t last;
	const char *name;	/* points into the line */
	size_t name_len;
};

enum pdet_iomem_use {
	PDET_IOMEM_OTHER,
	PDET_IOMEM_RAM,		/* ordinary memory, also hotplugged */
	PDET_IOMEM_DEVICE	/* device memory with struct pages */
};

/* pdet_iomem_line - false if the line has another form, or shows only zeroes.
 * The kernel shows zeroes to readers without privilege. */
bool pdet_iomem_line(struct pdet_scan line, struct pdet_iomem *ret);

enum pdet_iomem_use pdet_iomem_use(const struct pdet_iomem *entry);

#endif
