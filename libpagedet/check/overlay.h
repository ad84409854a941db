/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the file below a file of overlayfs. */
#ifndef PDET_CHECK_OVERLAY_H
#define PDET_CHECK_OVERLAY_H

#include "check/check.h"

/*
 * pdet_check_overlay - if the file is of overlayfs and the file below can be
 * found, use that one instead.
 */
void pdet_check_overlay(struct pdet_checked *c);

#endif
