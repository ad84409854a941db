/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Declarations shared by file.c (files of a dump) and open_file.c (files that
 * this process has open). */
#ifndef PDET_BACKEND_IMAGE_FILE_H
#define PDET_BACKEND_IMAGE_FILE_H

#include "backend/image/image.h"

struct image_file {
	struct pdet_file file;
	uint64_t mapping;
	uint64_t counted;	/* pages, as counted by the kernel */
	char path[];
};

static inline struct image_file *image_file_of(struct pdet_file *f)
{
	return PDET_CONTAINER(f, struct image_file, file);
}

/* --- open_file.c --- */
/*
 * On a running kernel, mark a row as torn if the file no longer has its page.
 * Returns 0.
 */
int pdet_image_file_again(struct image_session *s, const struct image_file *f,
			  struct pdet_batch *b, uint32_t first, uint32_t n);

#endif
