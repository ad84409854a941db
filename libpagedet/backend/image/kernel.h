/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Declarations about the kernel's own addresses, shared by the files that know
 * them.
 */
#ifndef PDET_BACKEND_IMAGE_KERNEL_H
#define PDET_BACKEND_IMAGE_KERNEL_H

#include "backend/image/image.h"

/* A translated address. */
struct image_address {
	uint64_t va;		/* without a tag */
	bool is_kernel;		/* in the kernel's half */
	int error;		/* a result of memory/memory.h: the reason why
				 * leaf is not set */
	struct pdet_leaf leaf;
	bool mapped;
	bool has_addr;
	uint64_t addr;		/* physical address that it maps, or that it
				 * mapped before the kernel unmapped it */
};

/* --- kernel.c --- */

/* Load the areas of the kernel's address space. Returns 0, or a negative errno
 * with the reason in im->kernel_areas. All load functions run on the caller's
 * thread. */
int pdet_image_kernel_areas(struct image *im, struct pdet_env *env);
/* See direct_map in backend.h. */
int pdet_image_direct_map(struct pdet_backend *b, struct pdet_env *env,
			  uint64_t *ret);
/* Load names for addresses, as far as available. */
void pdet_image_kernel_names(struct image *im, struct pdet_env *env);
void pdet_image_kernel_unload(struct image *im);

/*
 * Load the areas and the names that a query needs. Returns 0, or a negative
 * errno with an error text.
 */
int pdet_image_kernel_prepare(struct image *im, struct pdet_env *env,
			      const struct pdet_wants *wants);

void pdet_image_address(struct image_session *s, uint64_t va,
			struct image_address *ret);

/* The name of an address as the kernel prints it: "name+0x10/0x40". The
 * kernel's symbol table has names for any address, and modules have names for
 * their code and data. Returns the length, or 0 if there is no name. */
#define IMAGE_SYMBOL 640
size_t pdet_image_symbol(const struct image *im, uint64_t va,
			 char buf[IMAGE_SYMBOL]);
size_t pdet_image_code(struct image_session *s, uint64_t va,
		       char buf[IMAGE_SYMBOL]);

/* --- kernel_area.c: fills the VMA_* fields of a row --- */
void pdet_image_put_kernel_area(struct image_session *s, struct pdet_batch *b,
			 uint32_t row, const struct image_address *a);

/* --- object.c: answers OBJECT --- */
/* See slab_object in backend.h. */
bool pdet_image_slab_object(struct pdet_session *base, uint64_t addr,
			    uint32_t *bytes, bool *begins);
/* See object_at there. */
void pdet_image_object_at(struct pdet_session *base, uint64_t addr,
			  struct pdet_at *ret);
void pdet_image_put_object(struct image_session *s, struct pdet_batch *b,
			   uint32_t row, const struct image_address *a);

/* --- kaddr.c, kernel_maps.c: as in backend.h --- */
int pdet_image_kaddr(struct pdet_session *s, uint64_t addr, unsigned as,
		     struct pdet_batch *b);
void pdet_image_kaddr_recheck(struct pdet_session *s, uint64_t addr,
			      unsigned as, struct pdet_batch *b, uint32_t row);
int pdet_image_kernel_mappings(struct pdet_session *s,
			       const struct pdet_pfnset *set,
			       bool (*stop)(void *arg), void *arg,
			       struct pdet_kernel_found_list *ret);
void pdet_image_kernel_area(struct pdet_session *s, uint64_t addr,
			    struct pdet_batch *b, uint32_t row);

/* Fill KERNEL_MAPS of all rows. Returns 0, or -ENOMEM. */
int pdet_image_put_kernel_maps(struct image_session *s, struct pdet_batch *b,
			       unsigned source);

#endif
