/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes the objects of queries: captured machines, and pages and files of this
 * process.
 */
#ifndef TESTS_PLACES_H
#define TESTS_PLACES_H

#include "asking.h"

/* places_make - make the objects of @q; one query at a time. */
void places_make(const struct question *q);

/* places_aim - set what @q can know only now. */
void places_aim(struct question *q);

/* places_hide, places_show - remove and restore a file of the machine. */
void places_hide(const char *path);
void places_show(const char *path);

void places_free(void);

#endif
