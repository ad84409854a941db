/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Advice for a caller that may not inspect a task. */
#ifndef PDET_BASE_PRIVILEGE_H
#define PDET_BASE_PRIVILEGE_H

#include "base/env.h"

/* pdet_advise_trace - advise @needs. If the caller already has CAP_SYS_PTRACE,
 * advise that something else denies the access. */
void pdet_advise_trace(struct pdet_env *env, const char *needs);

#endif
