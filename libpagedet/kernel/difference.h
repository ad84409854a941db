/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* How two contents differ. */
#ifndef PDET_KERNEL_DIFFERENCE_H
#define PDET_KERNEL_DIFFERENCE_H

#include <stddef.h>

#include "pagedet.h"

/*
 * pdet_compare_bytes - fills all of @ret but its size. Pure; time in proportion
 * to @n.
 */
void pdet_compare_bytes(const void *a, const void *b, size_t n,
			struct pagedet_difference *ret);

/* pdet_shape_name - NULL: there is no such shape. */
const char *pdet_shape_name(uint32_t shape);

#endif
