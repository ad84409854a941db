/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Whether the kernel's memory is nearly full. */
#ifndef PDET_MEMORIZER_SHORTAGE_H
#define PDET_MEMORIZER_SHORTAGE_H

#include "base/text/text.h"

/*
 * pdet_is_short - whether less than a quarter of memory is available, by the
 * text of /proc/meminfo; false if it does not tell.
 */
bool pdet_is_short(struct pdet_scan text);

#endif
