/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Which of the kernel's allocators took a page, by the stack. */
#ifndef PDET_KERNEL_ALLOCATOR_H
#define PDET_KERNEL_ALLOCATOR_H

#include <stddef.h>

/*
 * pdet_allocator_of - "slab", "vmalloc", "cma" or "others": who called the page
 * allocator; NULL: the stack does not tell. @frames is "name+0x10/0x40" of each
 * function, innermost first, each with a newline behind it.
 */
const char *pdet_allocator_of(const char *frames, size_t len);

#endif
