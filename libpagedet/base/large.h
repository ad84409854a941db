/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Allocates large arrays that are filled once from start to end, on huge pages
 * if the kernel provides them. Filling 16 MB of small pages costs 4 ms of page
 * faults.
 */
#ifndef PDET_BASE_LARGE_H
#define PDET_BASE_LARGE_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PDET_HUGE_PAGE ((size_t)2 << 20)

/* At least @size bytes, to be freed with free(); NULL if memory is short. */
static inline void *pdet_large_alloc(size_t size)
{
	void *p;

	if (size < PDET_HUGE_PAGE)
		return malloc(size ? size : 1);
	if (size > SIZE_MAX - PDET_HUGE_PAGE)
		return NULL;
	size = (size + PDET_HUGE_PAGE - 1) & ~(PDET_HUGE_PAGE - 1);
	p = aligned_alloc(PDET_HUGE_PAGE, size);
	if (p)
		(void)madvise(p, size, MADV_HUGEPAGE);
	return p;
}

/*
 * pdet_large_grow - make @now bytes of the @before ones at @old, of which there
 * may be none: whole pages, and new bytes are 0. What was there may move. NULL
 * if memory is short; then @old is as it was. To be freed with munmap().
 */
static inline void *pdet_large_grow(void *old, size_t before, size_t now)
{
	void *p = before ? mremap(old, before, now, MREMAP_MAYMOVE) :
			   mmap(NULL, now, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (now >= PDET_HUGE_PAGE)
		(void)madvise(p, now, MADV_HUGEPAGE);
	return p;
}

#endif
