/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes a struct page: bytes in, facts out. The caller reads the bytes, and
 * decides when to read them again. The layout must have pages.
 */
#ifndef PDET_KERNEL_PAGE_PAGE_H
#define PDET_KERNEL_PAGE_PAGE_H

#include "kernel/page/facts.h"
#include "kernel/types/layout.h"

enum pdet_page_is {
	PDET_PAGE_PLAIN,	/* a single page, or the head of a folio */
	PDET_PAGE_TAIL,		/* another page of a folio */
	PDET_PAGE_UNINIT,	/* never written */
	PDET_PAGE_DAMAGED	/* no kernel writes these bytes */
};

/*
 * pdet_page_is - classify @page, which is at @addr. For a tail page, *head is
 * the address of its head's struct page; all that is checked is that it is
 * before the tail. @next is the struct page after @page. If it is NULL, a
 * hugetlb tail may be taken for a head: kernels until 7.0 may map the first
 * struct pages of such a folio repeatedly.
 */
enum pdet_page_is pdet_page_is(const struct pdet_layout *l, const char *page,
			       const char *next, uint64_t addr,
			       uint64_t *head);

/*
 * pdet_page_decode - @page is the page's own struct page. @head is the struct
 * page of its folio's head, which is @page for a plain page. @second is the
 * struct page after @head, which is needed only for large folios. @head and
 * @second are NULL if they could not be read.
 */
void pdet_page_decode(const struct pdet_layout *l, const char *page,
		      const char *head, const char *second,
		      struct pdet_page_facts *ret);

/* A fact that a struct page alone cannot show: a page without references may be
 * within a free block. */
enum pdet_page_free { PDET_FREE_NOT, PDET_FREE_BLOCK };

/*
 * Another such fact: whether the page is the zero page, or a part of the huge
 * zero page.
 */
enum pdet_page_zero { PDET_ZERO_NOT, PDET_ZERO_PAGE, PDET_ZERO_HUGE };

void pdet_page_add_zero(struct pdet_page_facts *f, enum pdet_page_zero zero);

#endif
