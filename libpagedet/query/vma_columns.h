/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What a VMA says of the rows inside it. */
#ifndef PDET_QUERY_VMA_COLUMNS_H
#define PDET_QUERY_VMA_COLUMNS_H

#include "query/query.h"

/* pdet_vma_put - rows [row, row + n) lie in @vma. */
void pdet_vma_put(const struct pdet_iter *it, struct pdet_batch *b,
		  uint32_t row, uint32_t n, const struct pdet_vma *vma,
		  unsigned source);

/* pdet_vma_put_none - rows [row, row + n) lie in no VMA: vaddr is set. */
void pdet_vma_put_none(struct pdet_batch *b, uint32_t row, uint32_t n,
		       unsigned source);

/* Whether a query needs to know VMAs for rows with an entry. */
bool pdet_vma_wanted(const struct pdet_plan *plan);

/* pdet_task_put - pid, tgid and comm of rows [row, row + n). */
void pdet_task_put(struct pdet_session *s, struct pdet_task *t,
		   struct pdet_batch *b, uint32_t row, uint32_t n,
		   unsigned source);

#endif
