/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Describes how two contents differ. */
#ifndef PDET_CONTENT_DIFFERENCE_H
#define PDET_CONTENT_DIFFERENCE_H

#include <stddef.h>

#include "pagedet.h"

/*
 * pdet_compare_bytes - fill all of @ret except its size. No side effects; the
 * time is linear in @n.
 */
void pdet_compare_bytes(const void *a, const void *b, size_t n,
			struct pagedet_difference *ret);

/*
 * pdet_shape_name - the name of a shape. Returns NULL if the shape is unknown.
 */
const char *pdet_shape_name(uint32_t shape);

#endif
