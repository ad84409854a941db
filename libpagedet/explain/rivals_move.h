/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Alternatives of the rules about pages that cannot be moved. */
#ifndef PDET_EXPLAIN_RIVALS_MOVE_H
#define PDET_EXPLAIN_RIVALS_MOVE_H

#include "explain/explain.h"

extern const char pdet_pins_unknown[];
extern const struct pdet_rival *const pdet_rivals_movable[];
extern const struct pdet_rival *const pdet_rivals_reclaimable[];
extern const struct pdet_rival *const pdet_rivals_driver[];
extern const struct pdet_rival *const pdet_rivals_pin[];

#endif
