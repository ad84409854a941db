/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Sets the columns of rows that their VMA tells. */
#ifndef PDET_QUERY_WALK_VMA_COLUMNS_H
#define PDET_QUERY_WALK_VMA_COLUMNS_H

#include "query/query.h"

/* pdet_vma_put - set the columns of rows [row, row + n), which lie in @vma. */
void pdet_vma_put(const struct pdet_iter *it, struct pdet_batch *b,
		  uint32_t row, uint32_t n, const struct pdet_vma *vma,
		  unsigned source);

/*
 * pdet_vma_put_none - set the columns of rows [row, row + n), which lie in no
 * VMA. vaddr is set already.
 */
void pdet_vma_put_none(struct pdet_batch *b, uint32_t row, uint32_t n,
		       unsigned source);

/* pdet_vma_put_lost - record that it is not known whether rows [row, row + n)
 * lie in a VMA. @state is the reason. */
void pdet_vma_put_lost(struct pdet_batch *b, uint32_t row, uint32_t n,
		       unsigned state, unsigned source);

/* Whether a query needs to know the VMAs of rows that have an entry. */
bool pdet_vma_wanted(const struct pdet_plan *plan);

/* pdet_task_put - set pid, tgid and comm of rows [row, row + n). */
void pdet_task_put(struct pdet_session *s, struct pdet_task *t,
		   struct pdet_batch *b, uint32_t row, uint32_t n,
		   unsigned source);

#endif
