/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The kernel's own addresses; between the image_*.c files that know them. */
#ifndef PDET_BACKEND_IMAGE_KERNEL_H
#define PDET_BACKEND_IMAGE_KERNEL_H

#include "backend/backend.h"
#include "kernel/areas.h"
#include "kernel/kernel_maps.h"
#include "kernel/modules.h"
#include "kernel/percpu.h"
#include "kernel/task_stack.h"
#include "kernel/vmap.h"

struct image;
struct image_part;
struct image_session;

#define IMAGE_SECTIONS 5

/* What is known of one kernel; loaded by prepare(). */
struct image_kernel {
	struct pdet_areas areas;
	/* Areas of vmalloc, modules and symbols: each may be missing. */
	bool has_vmaps, has_modules;
	struct pdet_vmaps vmaps;
	struct pdet_modules modules;
	/* The image, if symbols name its data, too; else last is 0. So are its
	 * sections. */
	struct pdet_range named;
	struct image_section {
		const char *name;
		struct pdet_range range;
	} section[IMAGE_SECTIONS];
	struct pdet_percpu percpu;
	struct pdet_range percpu_symbols; /* addresses as of no processor */
	bool has_stacks;
	struct pdet_task_stacks stacks;
};

/* One address, translated. */
struct image_address {
	uint64_t va;		/* without a tag */
	bool is_kernel;		/* of the kernel's half */
	int error;		/* a result of memory/memory.h: why leaf does
				 * not say what is there */
	struct pdet_leaf leaf;
	bool mapped;
	bool has_addr;
	uint64_t addr;		/* physical: where it is mapped, or would be if
				 * the kernel had not taken the page away */
};

/* --- image_kernel.c --- */

/* How the kernel's half is divided: 0, or negative errno with why in
 * im->kernel_areas. Caller's thread; so are all that load. */
int pdet_image_kernel_areas(struct image *im, struct pdet_env *env);
/* What names addresses, as far as it is there. */
void pdet_image_kernel_names(struct image *im, struct pdet_env *env);
void pdet_image_kernel_unload(struct image *im);

/* Whether a field is answered by what knows the kernel's addresses, and what it
 * costs; then it needs pdet_image_kernel_areas(). */
bool pdet_image_kernel_field(uint32_t target, unsigned field,
			     struct pdet_ability *ret);
int pdet_image_kernel_prepare(struct image *im, struct pdet_env *env,
			      const struct pdet_wants *wants);

void pdet_image_address(struct image_session *s, uint64_t va,
			struct image_address *ret);

/* "name+0x10/0x40", as the kernel writes it: by the kernel's own table of
 * symbols, whatever the address is; of code and data, in modules, too. The
 * length; 0: there is none. */
#define IMAGE_SYMBOL 640
size_t pdet_image_symbol(const struct image *im, uint64_t va,
			 char buf[IMAGE_SYMBOL]);
size_t pdet_image_code(struct image_session *s, uint64_t va,
		       char buf[IMAGE_SYMBOL]);

/* PAGEDET_* for a result of memory/memory.h, of what may be moving. */
unsigned pdet_image_kernel_reason(const struct image_session *s, int error);

/* The first frame of a page's folio and PAGEDET_KIND_*. 0, or a result of
 * memory/memory.h. */
int pdet_image_folio(struct image_session *s, uint64_t pfn, uint64_t *head,
		     unsigned *kind);

/* --- image_kernel_area.c: answers VMA_* of a row --- */
void pdet_image_put_kernel_area(struct image_session *s, struct pdet_batch *b,
			 uint32_t row, const struct image_address *a);

/* --- image_object.c: answers OBJECT --- */
void pdet_image_put_object(struct image_session *s, struct pdet_batch *b,
			   uint32_t row, const struct image_address *a);

/* --- image_kaddr.c, image_kernel_maps.c: as in backend.h --- */
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

/* KERNEL_MAPS of all rows. 0, or -ENOMEM. */
int pdet_image_put_kernel_maps(struct image_session *s, struct pdet_batch *b,
			       unsigned source);

#endif
