/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A kernel's virtual memory. Only pages that a test writes are mapped. */
#ifndef TESTS_UNIT_KMEM_H
#define TESTS_UNIT_KMEM_H

#include "kernel/address/space.h"
#include "tables.h"

struct kmem {
	struct physical *m;
	struct pdet_paging p;
	struct pdet_space space;
	struct pdet_env env;
	uint64_t next;		/* address of the next new object */
};

static inline struct kmem *kmem_new(void)
{
	struct kmem *k = calloc(1, sizeof(*k));

	ck_assert_ptr_nonnull(k);
	k->m = physical_new(12);
	k->p = tables_x86(4);
	physical_at(k->m, k->p.root);
	pdet_space_init(&k->space, &k->m->reader, &k->p);
	k->next = 0xffff888000100000ull;
	return k;
}

static inline void kmem_free(struct kmem *k)
{
	physical_free(k->m);
	free(k);
}

/* The byte at @va; maps its page if necessary. */
static inline char *kmem_at(struct kmem *k, uint64_t va)
{
	struct pdet_leaf leaf;

	if (pdet_paging_walk(&k->m->reader, &k->p, k->p.root, va, &leaf) < 0 ||
	    leaf.is != PDET_PT_PAGE) {
		tables_map(k->m, &k->p, k->p.root, va & -4096ull, 0,
			   tables_page(&k->p, physical_page(k->m), 0));
		ck_assert_int_eq(pdet_paging_walk(&k->m->reader, &k->p,
						  k->p.root, va, &leaf), 0);
	}
	return physical_at(k->m, leaf.addr + (va & 4095));
}

static inline void kmem_write(struct kmem *k, uint64_t va, const void *data,
			      size_t n)
{
	const char *from = data;

	for (; n; n--)
		*kmem_at(k, va++) = *from++;
}

static inline void kmem_u64(struct kmem *k, uint64_t va, uint64_t v)
{
	kmem_write(k, va, &v, sizeof(v));
}

static inline void kmem_u32(struct kmem *k, uint64_t va, uint32_t v)
{
	kmem_write(k, va, &v, sizeof(v));
}

static inline void kmem_text(struct kmem *k, uint64_t va, const char *text)
{
	kmem_write(k, va, text, strlen(text) + 1);
}

/* Allocates @n zero bytes, aligned to @align. */
static inline uint64_t kmem_object_at(struct kmem *k, uint64_t n,
				      uint64_t align)
{
	const uint64_t va = (k->next + align - 1) & -align;
	uint64_t i;

	for (i = 0; i < n; i += 512)
		kmem_at(k, va + i);
	kmem_at(k, va + n - 1);
	k->next = va + n;
	return va;
}

static inline uint64_t kmem_object(struct kmem *k, uint64_t n)
{
	return kmem_object_at(k, n, 64);
}

/* Makes reads of the page at @va fail from now on. */
static inline void kmem_fail(struct kmem *k, uint64_t va, int error)
{
	struct pdet_leaf leaf;

	kmem_at(k, va);
	ck_assert_int_eq(pdet_paging_walk(&k->m->reader, &k->p, k->p.root, va,
					  &leaf), 0);
	physical_fail(k->m, leaf.addr, error);
}

#endif
