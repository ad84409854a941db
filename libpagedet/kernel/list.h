/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The kernel's doubly linked lists (include/linux/list.h): a ring of pairs of
 * pointers. One pointer that is wrong, or a kernel that moves, does not make
 * them endless, and hides no more than it must: what cannot be reached from
 * the front is looked for from the back.
 */
#ifndef PDET_KERNEL_LIST_H
#define PDET_KERNEL_LIST_H

#include "kernel/space.h"

/*
 * pdet_list_each - the address of each node but @head. Not 0 ends the walk. 0,
 * what a visit returned, or why nodes may be missing, a result of
 * memory/memory.h: -EBADMSG the list is damaged or has more than @most.
 */
int pdet_list_each(struct pdet_space *space, uint64_t head, uint64_t most,
		   int (*visit)(void *arg, uint64_t node), void *arg);

#endif
