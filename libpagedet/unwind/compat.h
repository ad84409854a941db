/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinds the stack of a thread that runs 32-bit code on x86-64, on any
 * machine. No library is needed.
 */
#ifndef PDET_UNWIND_COMPAT_H
#define PDET_UNWIND_COMPAT_H

#include "unwind/libunwind.h"

/* pdet_compat_unwind - as pdet_unwind(). The pairs of @t have addresses of 4
 * bytes. */
size_t pdet_compat_unwind(const struct pdet_unwind_target *t,
			  const struct pdet_user_regs *regs,
			  struct pdet_unwind_step *steps, size_t n,
			  const char **end);

#endif
