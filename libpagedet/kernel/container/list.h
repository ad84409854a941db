/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks the kernel's doubly linked lists (include/linux/list.h), rings of
 * pointer pairs. A wrong pointer, or a kernel that changes the list, cannot
 * cause an endless walk. Nodes that cannot be reached from the front are
 * visited from the back. So are nodes of a dump behind one that wrongly points
 * to the head.
 */
#ifndef PDET_KERNEL_CONTAINER_LIST_H
#define PDET_KERNEL_CONTAINER_LIST_H

#include "kernel/address/space.h"

/*
 * pdet_list_each - visit the address of each node except @head. A visit that
 * returns another value than 0 ends the walk. Returns 0, the result of a visit,
 * or the reason why nodes may be missing, as in memory/memory.h. -EBADMSG: the
 * list is damaged or has more than @most nodes.
 */
int pdet_list_each(struct pdet_space *space, uint64_t head, uint64_t most,
		   int (*visit)(void *arg, uint64_t node), void *arg);

/* pdet_list_has - whether the node at @addr is in a list: the one before it
 * leads to it. */
bool pdet_list_has(struct pdet_space *space, uint64_t addr);

#endif
