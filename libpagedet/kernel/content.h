/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What a page's bytes look like, judged by nothing but them. */
#ifndef PDET_KERNEL_CONTENT_H
#define PDET_KERNEL_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDET_CONTENT_NAME 24

/* pdet_content_is_poison - a page of this byte has a name, and is not zero. */
bool pdet_content_is_poison(unsigned char byte);

/*
 * pdet_content_class - the class of @n bytes, a whole page: a multiple of 4096.
 * The first of these that holds, which is the order of content.c:
 *
 *   zero, ones, poison:..., byte:0xNN	all bytes are the same one
 *   text		ASCII, then zeroes to the end
 *   elf, stack-end, jbd2:..., fs:...	a mark where it belongs
 *   poison:slab-...	half of it are freed or unused objects of a slab
 *   pgtable		entries of a page table, and nothing else
 *   code:x86		instructions
 *   slab-redzones	objects of a slab with guards between them
 *   list-poison	an element that was taken off a list
 *   data		none of them
 *
 * The name is in @buf or constant.
 */
const char *pdet_content_class(const void *page, size_t n,
			       char buf[PDET_CONTENT_NAME]);

#endif
