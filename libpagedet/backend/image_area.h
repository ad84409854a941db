/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What a task's areas say of the entries in them. */
#ifndef PDET_BACKEND_IMAGE_AREA_H
#define PDET_BACKEND_IMAGE_AREA_H

#include "backend/image_task.h"

/* The area, or gap between areas, that was looked at last. Begins as zeros. */
struct image_area {
	uint64_t start, end;
	uint64_t flags;		/* PDET_VM_* */
	int error;		/* it cannot be read */
};

/* pdet_image_area - where the task's address @va is. */
void pdet_image_area(struct image_session *s, const struct image_task *t,
		     uint64_t va, struct image_area *area);

/* pdet_image_soft_dirty - whether the kernel has soft-dirty bits: every area
 * has its own while nobody has cleared it. */
bool pdet_image_soft_dirty(struct image *im);

#endif
