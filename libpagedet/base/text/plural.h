/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* pdet_plural - the ending of a noun after the number @n: "" or "s". */
#ifndef PDET_BASE_TEXT_PLURAL_H
#define PDET_BASE_TEXT_PLURAL_H

#include <stdint.h>

static inline const char *pdet_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
