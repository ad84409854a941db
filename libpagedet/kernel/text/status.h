/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds numbers in the text of /proc/PID/status. */
#ifndef PDET_KERNEL_TEXT_STATUS_H
#define PDET_KERNEL_TEXT_STATUS_H

#include <limits.h>
#include <stdbool.h>

#include "base/text/text.h"

/* The text has at most 65536 groups. */
#define PDET_STATUS_BYTES (1 << 20)

#define PDET_STATUS_LAST UINT_MAX

/* pdet_status_has - whether there is a line @key, as "NStgid:". */
bool pdet_status_has(struct pdet_scan text, const char *key);

/* pdet_status_number - get the number at @place of the line @key, from 0, or
 * the last one. False: there is none. */
bool pdet_status_number(struct pdet_scan text, const char *key, unsigned place,
			uint64_t *ret);

#endif
