/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Walks linked lists, and checks each step by the node's back pointer. */
#include <errno.h>

#include "kernel/container/list.h"
#include "kernel/types/fields.h"

struct node {
	uint64_t next, prev;
};

static int read_node(struct pdet_space *space, uint64_t addr, struct node *ret)
{
	int r;

	if (!pdet_is_address(addr) || addr % 8)
		return -EBADMSG;
	r = pdet_space_read(space, addr, ret, sizeof(*ret));
	return r == -ENOENT ? -EBADMSG : r;
}

/* @node follows the last node reached from the front, but does not point back
 * to it. True if its prev node points to it, so that more nodes precede it. */
static bool follows_others(struct pdet_space *space, const struct node *node,
			   uint64_t addr)
{
	struct node before;

	return read_node(space, node->prev, &before) == 0 &&
	       before.next == addr;
}

bool pdet_list_has(struct pdet_space *space, uint64_t addr)
{
	struct node node;

	return read_node(space, addr, &node) == 0 &&
	       follows_others(space, &node, addr);
}

int pdet_list_each(struct pdet_space *space, uint64_t head, uint64_t most,
		   int (*visit)(void *arg, uint64_t node), void *arg)
{
	uint64_t at, last = head, after, from, n = 0;
	struct node node, first;
	int r, error;

	r = read_node(space, head, &first);
	if (r < 0)
		return r;
	for (at = first.next, error = 0; at != head;
	     last = at, at = node.next) {
		error = n++ == most ? -EBADMSG : read_node(space, at, &node);
		if (!error && node.prev != last)
			error = -EBADMSG;
		if (error)
			break;
		r = visit(arg, at);
		if (r)
			return r;
	}
	/* A node that wrongly points to @head ends the list early. A running
	 * kernel may have added nodes since. */
	if (!error && (first.prev == last || space->reader->memory->live ||
		       !follows_others(space, &first, head)))
		return 0;
	/* The list is broken after @last. Walk from the back up to @last, or up
	 * to the node that @last points to. */
	after = at;
	for (from = head, at = first.prev; at != last; from = at,
	     at = node.prev) {
		r = at == head ? -EBADMSG : read_node(space, at, &node);
		if (r < 0 || node.next != from || n++ > most)
			return r < 0 ? r : error;
		r = visit(arg, at);
		if (r || (at == after && !follows_others(space, &node, at)))
			return r;
	}
	return 0;
}
