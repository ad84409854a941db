/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Names the kernel allocator that took a page, from the page's stack. */
#ifndef PDET_KERNEL_OWNER_ALLOCATOR_H
#define PDET_KERNEL_OWNER_ALLOCATOR_H

#include <stddef.h>

/*
 * pdet_allocator_of - the caller of the page allocator: "slab", "vmalloc",
 * "cma" or "others". NULL if the stack does not show it. @frames has
 * "name+0x10/0x40" for each function, innermost first, each with a newline.
 */
const char *pdet_allocator_of(const char *frames, size_t len);

#endif
