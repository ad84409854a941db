/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* pdet_plural - the ending of a noun after the number @n: "" or "s".
 * pdet_is_or_are - the verb behind it. */
#ifndef PDET_BASE_TEXT_PLURAL_H
#define PDET_BASE_TEXT_PLURAL_H

#include <stdint.h>

static inline const char *pdet_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static inline const char *pdet_is_or_are(uint64_t n)
{
	return n == 1 ? "is" : "are";
}

#endif
