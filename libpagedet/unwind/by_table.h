/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinds the stack of a thread that runs 32-bit code of x86, or code of arm64,
 * on any machine. No library is needed.
 */
#ifndef PDET_UNWIND_BY_TABLE_H
#define PDET_UNWIND_BY_TABLE_H

#include "unwind/libunwind.h"

/* pdet_table_unwind - as pdet_unwind(). The pairs of @t have addresses as large
 * as those of the code. */
size_t pdet_table_unwind(const struct pdet_unwind_target *t,
			 const struct pdet_user_regs *regs,
			 struct pdet_unwind_step *steps, size_t n,
			 const char **end);

#endif
