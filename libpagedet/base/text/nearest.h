/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Suggests the name that a mistyped word probably means. */
#ifndef PDET_BASE_TEXT_NEAREST_H
#define PDET_BASE_TEXT_NEAREST_H

#include <stddef.h>

/*
 * pdet_nearest - the index of the name that is like @word, or -1. A name is
 * like it if few letters are wrong, missing, added or swapped, or if it begins
 * with @word. The first one wins if two are equally near.
 */
int pdet_nearest(const char *word, size_t len, const char *const *names,
		 size_t n);

#endif
