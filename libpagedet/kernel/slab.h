/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Slabs (mm/slab.h, mm/slub.c): whose they are, which object an address is in,
 * and which objects are free.
 */
#ifndef PDET_KERNEL_SLAB_H
#define PDET_KERNEL_SLAB_H

#include "kernel/fields.h"
#include "kernel/percpu.h"

#define PDET_SLAB_NAME 64
/* slab.objects has 15 bits. */
#define PDET_SLAB_OBJECTS 32768

struct pdet_slabs {
	struct pdet_struct slab, cache, cpu;
};

/* pdet_slabs_init - false: the types do not say enough. */
bool pdet_slabs_init(struct pdet_slabs *s, const struct pdet_btf *btf);

struct pdet_slab_cache {
	uint64_t addr;
	char name[PDET_SLAB_NAME];
	uint32_t object_size;	/* that its user has */
	uint32_t size;		/* from one object to the next */
	uint32_t offset;	/* in a free object, of the pointer to the next
				 * free one */
	uint32_t pad;		/* before each object */
	uint64_t random;	/* hides such pointers */
	bool hides;
	uint64_t cpu_slab;	/* of each processor; 0: there is none */
	bool keeps;		/* free objects for processors, where slabs do
				 * not know it (sheaves, 6.18) */
};

/* pdet_slab_cache_read - the kmem_cache at @addr; 0, or a result of
 * memory/memory.h, -EBADMSG if there is none. */
int pdet_slab_cache_read(struct pdet_space *space, const struct pdet_slabs *s,
			 uint64_t addr, struct pdet_slab_cache *ret);

struct pdet_slab {
	uint64_t addr;		/* of its first struct page */
	uint64_t cache;
	uint64_t freelist;
	uint32_t objects;
	uint32_t inuse;		/* as far as the slab knows */
	bool frozen;		/* some processor's own */
};

/* pdet_slab_read - of the first struct page of a slab; the same. */
int pdet_slab_read(struct pdet_space *space, const struct pdet_slabs *s,
		   uint64_t addr, struct pdet_slab *ret);

/* pdet_slab_index - of the object that has the byte at @offset of the slab;
 * false: none has. *within: where in the object, as its user sees it; before
 * and behind that it is negative and beyond object_size. */
bool pdet_slab_index(const struct pdet_slab_cache *c,
		     const struct pdet_slab *slab, uint64_t offset,
		     uint32_t *index, int64_t *within);

/* Sets of objects. */
struct pdet_slab_set {
	uint8_t bits[PDET_SLAB_OBJECTS / 8];
};

static inline bool pdet_slab_has(const struct pdet_slab_set *set, uint32_t i)
{
	return set->bits[i / 8] >> i % 8 & 1;
}

/*
 * pdet_slab_free - which objects of a slab, whose memory is at @base, are free.
 * Those of its processor are among them, if @percpu has processors; else those
 * of a slab that is some processor's are not known: -ENODATA. -EBADMSG: the
 * list leads elsewhere, and what is in @free is what came before.
 */
int pdet_slab_free(struct pdet_space *space, const struct pdet_slabs *s,
		   const struct pdet_slab_cache *c,
		   const struct pdet_slab *slab, uint64_t base,
		   const struct pdet_percpu *percpu,
		   struct pdet_slab_set *free);

#endif
