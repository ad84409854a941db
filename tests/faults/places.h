/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What is asked about: captured machines, and pages and files of this very
 * process.
 */
#ifndef TESTS_PLACES_H
#define TESTS_PLACES_H

#include "asking.h"

/* places_make - what @q asks about; one at a time. */
void places_make(const struct question *q);

/* places_aim - puts into @q what is known only now. */
void places_aim(struct question *q);

/* places_hide, places_show - a file of the machine is not there, and is. */
void places_hide(const char *path);
void places_show(const char *path);

void places_free(void);

#endif
