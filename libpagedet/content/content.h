/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Classifies a page by its bytes alone. */
#ifndef PDET_CONTENT_CONTENT_H
#define PDET_CONTENT_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDET_CONTENT_NAME 24

/*
 * pdet_content_is_poison - true if pages filled with this byte have the name of
 * a poison; false for zero.
 */
bool pdet_content_is_poison(unsigned char byte);

/*
 * pdet_content_class - the class of a whole page: @n is a multiple of 4096.
 * The first class that matches, in the order of content.c:
 *
 *   zero, ones, poison:..., byte:0xNN	all bytes are equal
 *   text		ASCII, then zeroes to the end
 *   elf, stack-end, jbd2:..., fs:...	a magic number at its offset
 *   poison:slab-...	freed or unused slab objects fill half of it
 *   pgtable		only entries of a page table
 *   code:x86		instructions
 *   slab-redzones	slab objects with red zones between them
 *   list-poison	an element that was deleted from a list
 *   data		none of these
 *
 * The name is in @buf or constant.
 */
const char *pdet_content_class(const void *page, size_t n,
			       char buf[PDET_CONTENT_NAME]);

#endif
