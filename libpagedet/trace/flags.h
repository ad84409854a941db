/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The names of flags, from the format file of an event: its "print fmt" has a
 * list of masks and names. Bits differ between kernels, so nothing else may say
 * what they mean.
 */
#ifndef PDET_TRACE_FLAGS_H
#define PDET_TRACE_FLAGS_H

#include "base/text/text.h"
#include "kernel/owner/names.h"

/*
 * pdet_trace_flags - the names of the flags of @field, in the kernel's order;
 * none if the format does not have them. A mask that is not a number there,
 * because the kernel has not replaced a name of an enum, is left out.
 */
void pdet_trace_flags(struct pdet_scan format, const char *field,
		      struct pdet_gfp_names *ret);

#endif
