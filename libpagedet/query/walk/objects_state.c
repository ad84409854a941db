/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A page that is not a slab holds no object of a cache: the slab was freed, and
 * all its objects before. An object of kmalloc() larger than two pages has its
 * own pages (KMALLOC_MAX_CACHE_SIZE in include/linux/slab.h). These have no
 * kind, or that of the kernel. Whether the object there is that of the trace,
 * or a later one of the same kind, cannot be told.
 */
#include "query/walk/objects_state.h"
#include "trace/kmem.h"

static bool has_own_pages(const struct pdet_iter *it, const struct pdet_live *l)
{
	return l->kind == PDET_KMEM_KMALLOC &&
	       l->allocated > 2 * it->page_size;
}

/*
 * Returns PAGEDET_OBJECT_*, or 0: not known. No slab has named the object,
 * which is so of those of KFENCE, too.
 */
static unsigned judge_object(const struct pdet_iter *it,
			     const struct pdet_live *l, unsigned kind)
{
	if (kind == PAGEDET_KIND_SLAB)
		return 0;
	return has_own_pages(it, l) && (kind == PAGEDET_KIND_UNKNOWN ||
					kind == PAGEDET_KIND_KERNEL) ?
	       PAGEDET_OBJECT_USED : PAGEDET_OBJECT_FREE;
}

/*
 * Memory of tasks is always movable, and slabs and page tables never are. Some
 * filesystems have files in pages that are not.
 */
static unsigned judge_pages(const struct pdet_live *l, unsigned kind)
{
	const bool fixed = kind == PAGEDET_KIND_SLAB ||
			   kind == PAGEDET_KIND_PGTABLE;
	const bool file = kind == PAGEDET_KIND_FILE ||
			  kind == PAGEDET_KIND_SHMEM;

	if (kind == PAGEDET_KIND_HOLE || kind == PAGEDET_KIND_UNINIT ||
	    kind == PAGEDET_KIND_OFFLINE)
		return 0;

	if ((l->mobility == PDET_LIVE_FIXED && kind == PAGEDET_KIND_ANON) ||
	    (l->mobility == PDET_LIVE_MOVABLE && fixed))
		return PAGEDET_OBJECT_FREE;
	return l->mobility == PDET_LIVE_FIXED && file ? 0 :
							PAGEDET_OBJECT_USED;
}

/* The page that is not a slab, or that was allocated as such. */
static void by_page(struct pdet_walk *w, struct pdet_session *s,
		    struct pdet_batch *b, const struct pdet_live *l)
{
	const bool is_page = l->kind == PDET_KMEM_PAGE_ALLOC;
	const uint32_t row = b->n - 1;
	unsigned kind, use, reason;
	bool uncounted;

	reason = w->backend->ops->kind(s, b->value[PAGEDET_FIELD_PFN][row],
				       &kind, &uncounted);
	use = reason != PAGEDET_HAVE ? 0 :
	      kind == PAGEDET_KIND_FREE ? PAGEDET_OBJECT_FREE :
	      is_page ? judge_pages(l, kind) : judge_object(w->it, l, kind);
	/* A processor may keep it as a free one; some are used without. */
	if (use == PAGEDET_OBJECT_USED && kind == PAGEDET_KIND_UNKNOWN &&
	    uncounted)
		use = 0;
	if (use)
		pdet_put(b, row, PAGEDET_FIELD_OBJECT_STATE, use,
			 PAGEDET_SOURCE_DERIVED);
	else
		pdet_put_lost(b, row, PAGEDET_FIELD_OBJECT_STATE,
			      reason == PAGEDET_HAVE ? PAGEDET_UNSUPPORTED :
						       reason,
			      PAGEDET_SOURCE_DERIVED);
}

/* Objects of another size, or elsewhere in the slab, were allocated later. */
static void by_slab(struct pdet_walk *w, struct pdet_session *s,
		    struct pdet_batch *b, const struct pdet_live *l)
{
	uint32_t bytes;
	bool begins;

	if (w->backend->ops->slab_object(s, l->object, &bytes, &begins) &&
	    (!begins || bytes != l->allocated))
		pdet_put(b, b->n - 1, PAGEDET_FIELD_OBJECT_STATE,
			 PAGEDET_OBJECT_FREE, PAGEDET_SOURCE_DERIVED);
}

void pdet_objects_state(struct pdet_walk *w, struct pdet_session *s,
			struct pdet_batch *b, const struct pdet_live *l)
{
	const uint32_t row = b->n - 1;

	if (!b->value[PAGEDET_FIELD_OBJECT_STATE])
		return;
	if (pdet_batch_state(b, row, PAGEDET_FIELD_OBJECT_STATE) !=
	    PAGEDET_NONE)
		by_slab(w, s, b, l);
	else if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) == PAGEDET_HAVE)
		by_page(w, s, b, l);
}
