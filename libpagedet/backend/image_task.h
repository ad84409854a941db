/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A task of an image, between image_task.c, image_vma.c and image_entry.c. */
#ifndef PDET_BACKEND_IMAGE_TASK_H
#define PDET_BACKEND_IMAGE_TASK_H

#include "backend/image.h"

/* How often what seems damaged is looked at, where memory moves. */
#define PDET_IMAGE_LOOKS 8

struct image_task {
	struct pdet_task task;
	struct pdet_task_struct is;
	bool has_mm;		/* no kernel thread */
	struct pdet_mm mm;
	uint64_t root;		/* of its page tables, physical */
	/* For one VMA after the other. */
	struct {
		struct pdet_vm_area *data;
		size_t n, cap;
	} vmas;
	int vma_error;		/* of the first that could not be read */
	size_t at;
	char name[PDET_PATH];	/* of the last one */
};

/* pdet_image_counts_otherwise - whether the caller's pids are not those of the
 * kernel's own list, which has those of the first pid namespace: task 2 of here
 * is another one there. */
bool pdet_image_counts_otherwise(const struct image *im);

/* pdet_image_find_task - 0, or negative errno with words in the session. */
int pdet_image_find_task(struct image_session *s, uint32_t pid,
			 struct pdet_task_struct *ret);

static inline struct image_task *image_task_of(struct pdet_task *t)
{
	return PDET_CONTAINER(t, struct image_task, task);
}

#endif
