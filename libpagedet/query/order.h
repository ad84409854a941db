/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the first rows by one field among any number of rows, in bounded
 * memory.
 */
#ifndef PDET_QUERY_ORDER_H
#define PDET_QUERY_ORDER_H

#include "schema/batch.h"

struct pdet_order;

/*
 * @n rows are delivered, with at most @max_text bytes of text. During the
 * search there may be three times as much text. Returns NULL without memory.
 */
struct pdet_order *pdet_order_new(const struct pdet_fields *columns,
				  unsigned by, bool down, uint32_t n,
				  size_t max_text);
void pdet_order_free(struct pdet_order *o);

/* Adds rows. pdet_order_take() decides which texts are lost. */
void pdet_order_add(struct pdet_order *o, const struct pdet_batch *b);

/*
 * Returns the rows in order, with string ids from @string_base on. It ends the
 * search: the object takes no more rows. Valid until pdet_order_free().
 */
struct pdet_batch *pdet_order_take(struct pdet_order *o, uint64_t string_base);
/* The number of texts that were lost for lack of memory. */
uint64_t pdet_order_lost(const struct pdet_order *o);

#endif
