/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Alternative reasons why a page cannot be moved. */
#include "explain/rivals_move.h"

const char pdet_pins_unknown[] =
	"its references and pins" PDET_IN_MEMORY;

static struct pdet_state poisoned(const struct pdet_case *c)
{
	return pdet_needs(pdet_row_flag(&c->here, PAGEDET_PF_HWPOISON),
			  "it does not have the flag", "it has the flag",
			  "its flag hwpoison");
}

static struct pdet_state locked(const struct pdet_case *c)
{
	return pdet_needs(pdet_row_flag(&c->here, PAGEDET_PF_LOCKED),
			  "it is not locked", "it is locked",
			  "its flag locked");
}

static struct pdet_state writeback(const struct pdet_case *c)
{
	return pdet_needs(pdet_row_flag(&c->here, PAGEDET_PF_WRITEBACK),
			  "it is not being written", "it is being written",
			  "its flag writeback");
}

static struct pdet_state off_list(const struct pdet_case *c)
{
	switch (pdet_row_flag(&c->here, PAGEDET_PF_LRU)) {
	case PAGEDET_YES:
		return pdet_gone("it is on an LRU list");
	case PAGEDET_NO:
		return pdet_maybe("it is on no LRU list");
	default:
		return pdet_unseen("its flag lru");
	}
}

static struct pdet_state held(const struct pdet_case *c)
{
	uint64_t expected, extra;

	if (!pdet_case_extra(c, &expected, &extra))
		return pdet_unseen("whether there are references beyond those "
				   "of mappings and caches");
	return extra ? pdet_maybe("it has more references than mappings and "
				 "caches explain") :
		       pdet_gone("mappings and caches explain all of its "
				 "references");
}

static bool is_not_of_a_file(const struct pdet_case *c)
{
	return pdet_row_is_user(&c->here) &&
	       !pdet_row_is(&c->here, PAGEDET_KIND_FILE);
}

/*
 * The kernel never moves pages of memfd_secret(2). Each is unevictable, and no
 * other page of a file lacks a kernel address.
 */
static struct pdet_state secret(const struct pdet_case *c)
{
	if (is_not_of_a_file(c))
		return pdet_gone("it does not belong to a file");
	if (pdet_row_was_moved(&c->here))
		return pdet_gone("it was moved before");
	if (pdet_row_flag(&c->here, PAGEDET_PF_UNEVICTABLE) == PAGEDET_NO)
		return pdet_gone("it is evictable");
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_KERNEL_MAPS))
		return pdet_unseen("whether it is secret memory "
				   "(memfd_secret), which the kernel does not "
				   "move");
	return c->here.kernel_maps ?
	       pdet_gone("the kernel has an address of it") :
	       pdet_maybe("the kernel has no address of it");
}

/* ramfs cannot move pages, and marks all of them unevictable. */
static struct pdet_state unmovable_file(const struct pdet_case *c)
{
	if (is_not_of_a_file(c))
		return pdet_gone("it does not belong to a file");
	if (pdet_row_was_moved(&c->here))
		return pdet_gone("it was moved before");
	if (pdet_row_flag(&c->here, PAGEDET_PF_MLOCKED) == PAGEDET_YES)
		return pdet_gone("it is unevictable because it is mlocked");
	if (pdet_row_flag(&c->here, PAGEDET_PF_UNEVICTABLE) == PAGEDET_NO)
		return pdet_gone("it is evictable");
	return pdet_unseen("whether its filesystem lets it be moved (ramfs "
			   "does not)");
}

static struct pdet_state pinned(const struct pdet_case *c)
{
	uint32_t is;

	switch (pdet_row_pinned(&c->here, &is)) {
	case PAGEDET_NO:
		return pdet_gone("a pin would show in its counts");
	case PAGEDET_YES:
		return pdet_maybe("it is pinned");
	default:
		return pdet_unseen(pdet_pins_unknown);
	}
}

/* No source reads the protection of a cgroup. */
static struct pdet_state kept(const struct pdet_case *c)
{
	const struct pdet_state s = pinned(c);

	return s.state == PAGEDET_ALTERNATIVE_EXCLUDED ?
	       pdet_unseen("whether limits protect its cgroup "
			   "(memory.min)") : s;
}

static struct pdet_state no_swap(const struct pdet_case *c)
{
	if (pdet_row_is(&c->here, PAGEDET_KIND_FILE) ||
	    pdet_row_flag(&c->here, PAGEDET_PF_SWAPBACKED) == PAGEDET_NO)
		return pdet_gone("it does not go to swap");
	if (c->e.no_swap == PAGEDET_NO)
		return pdet_gone("there is swap space");
	return c->e.no_swap == PAGEDET_YES ?
	       pdet_maybe("there is no swap space") :
	       pdet_unseen("whether there is swap space");
}

static struct pdet_state driver(const struct pdet_case *c)
{
	(void)c;
	return pdet_unseen("whether its driver can move it");
}

static struct pdet_state references(const struct pdet_case *c)
{
	uint64_t expected, extra;

	return pdet_case_extra(c, &expected, &extra) ?
	       pdet_gone("mappings and caches explain the others") :
	       pdet_unseen("whether 1024 references are one pin or 1024 "
			   "ordinary references");
}

#define LOOK(rival, name, look, cause) \
	static const struct pdet_rival rival = \
		{ name, cause, look, PDET_MEDIUM }

LOOK(is_poisoned, "poisoned", poisoned, "it was marked as a memory error");
LOOK(is_locked, "locked", locked, "it is locked");
LOOK(is_written, "writeback", writeback, "it is being written");
LOOK(is_off_list, "off-list", off_list, "it was taken off its LRU list");
LOOK(is_held, "held", held, "there is another reference to it");
LOOK(is_secret, "secret", secret, "it is secret memory, which stays");
LOOK(is_unmovable, "unmovable-file", unmovable_file,
     "its filesystem does not move pages");
LOOK(is_pinned, "pinned", pinned, "it is pinned");
LOOK(is_kept, "kept", kept, "it is pinned, or its cgroup is protected");
LOOK(has_no_swap, "no-swap", no_swap, "it could only go to swap, and there is "
					"no space");
LOOK(is_driver, "movable-driver", driver, "its driver can move it");
LOOK(is_counted, "references", references, "they are ordinary references");

const struct pdet_rival *const pdet_rivals_movable[] = {
	&pdet_rival_moved, &pdet_rival_stale, &pdet_rival_estimated,
	&is_poisoned, &is_pinned, &is_written, &is_locked, &is_held,
	&is_off_list, &is_secret, &is_unmovable, NULL
};
const struct pdet_rival *const pdet_rivals_reclaimable[] = {
	&pdet_rival_moved, &pdet_rival_stale, &is_kept, &has_no_swap, NULL
};
const struct pdet_rival *const pdet_rivals_driver[] = {
	&pdet_rival_moved, &pdet_rival_stale, &is_driver, NULL
};
const struct pdet_rival *const pdet_rivals_pin[] = {
	&pdet_rival_moved, &pdet_rival_stale, &pdet_rival_estimated,
	&is_counted, NULL
};
