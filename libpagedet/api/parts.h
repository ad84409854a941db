/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parts that a build may leave out. */
#ifndef PDET_API_PARTS_H
#define PDET_API_PARTS_H

#include "pagedet.h"

#include "base/env.h"

/* pdet_part - part @n, or NULL past the last. */
const struct pagedet_part *pdet_part(uint32_t n);

/* pdet_part_test - whether part @n can be used now. Returns 0, or -EINVAL,
 * -ENOSYS or -ENOMEM with an error text. */
int pdet_part_test(struct pdet_env *env, uint32_t n);

#endif
