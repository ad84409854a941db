/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads slabs (mm/slab.h, mm/slub.c): the cache of a slab, the object at an
 * address, and which objects are free.
 */
#ifndef PDET_KERNEL_OBJECT_SLAB_H
#define PDET_KERNEL_OBJECT_SLAB_H

#include "kernel/object/sheaves.h"

#define PDET_SLAB_NAME 64
/* slab.objects has 15 bits. */
#define PDET_SLAB_OBJECTS 32768

struct pdet_slabs {
	struct pdet_struct slab, cache, cpu;
	struct pdet_sheaves sheaves;
};

/*
 * pdet_slabs_init - returns false if the types lack something that is needed.
 */
bool pdet_slabs_init(struct pdet_slabs *s, const struct pdet_btf *btf);

struct pdet_slab_cache {
	uint64_t addr;
	char name[PDET_SLAB_NAME];
	uint32_t object_size;	/* size for the user */
	uint32_t size;		/* distance between objects */
	uint32_t offset;	/* offset, in a free object, of the pointer to
				 * the next free object */
	uint32_t pad;		/* padding before each object */
	uint64_t random;	/* encodes these pointers */
	bool hides;
	uint64_t cpu_slab;	/* per-CPU; 0: none */
};

/* pdet_slab_cache_read - read the kmem_cache at @addr. Returns 0, or a result
 * of memory/memory.h. -EBADMSG: it is not a kmem_cache. */
int pdet_slab_cache_read(struct pdet_space *space, const struct pdet_slabs *s,
			 uint64_t addr, struct pdet_slab_cache *ret);

struct pdet_slab {
	uint64_t addr;		/* address of its first struct page */
	uint64_t cache;
	uint64_t freelist;
	uint32_t objects;
	uint32_t inuse;		/* as counted by the slab */
	bool frozen;		/* in use by one processor */
};

/* pdet_slab_read - the same for a slab, from its first struct page. */
int pdet_slab_read(struct pdet_space *space, const struct pdet_slabs *s,
		   uint64_t addr, struct pdet_slab *ret);

/* pdet_slab_index - find the object that contains the byte at @offset of the
 * slab. Returns false if there is none. *@within is the offset in the object as
 * its user sees it. Outside of the user's part it is negative, or beyond
 * object_size. */
bool pdet_slab_index(const struct pdet_slab_cache *c,
		     const struct pdet_slab *slab, uint64_t offset,
		     uint32_t *index, int64_t *within);

/* A set of objects in one slab. */
struct pdet_slab_set {
	uint8_t bits[PDET_SLAB_OBJECTS / 8];
};

static inline bool pdet_slab_has(const struct pdet_slab_set *set, uint32_t i)
{
	return set->bits[i / 8] >> i % 8 & 1;
}

/*
 * pdet_slab_free - find the free objects of a slab with its memory at @base.
 * @percpu and @nodes, the number of NUMA nodes, add those that processors and
 * nodes keep; 0: unknown. 0, or a result of memory/memory.h if others may be
 * free, too; -ENODATA: a processor or node may keep them; -EBADMSG: a list is
 * damaged, and @free has the objects before the damage; -ENOTSUP: it is one of
 * KFENCE, which has no lists.
 */
int pdet_slab_free(struct pdet_space *space, const struct pdet_slabs *s,
		   const struct pdet_slab_cache *c,
		   const struct pdet_slab *slab, uint64_t base,
		   const struct pdet_percpu *percpu, uint32_t nodes,
		   struct pdet_slab_set *free);

#endif
