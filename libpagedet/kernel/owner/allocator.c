/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the allocator of a page from its stack. The innermost functions belong
 * to the page allocator; the first function outside it decides. An outer frame
 * of vmalloc does not decide, because vmalloc also allocates page tables.
 */
#include <stdbool.h>
#include <string.h>

#include "base/env.h"
#include "kernel/owner/allocator.h"

static const struct {
	const char *function, *allocator;
} callers[] = {
	/* mm/slub.c, until 6.7 mm/slab.c */
	{ "alloc_slab_page", "slab" },
	{ "allocate_slab", "slab" },
	{ "new_slab", "slab" },
	{ "___slab_alloc", "slab" },
	{ "cache_grow_begin", "slab" },
	/* mm/vmalloc.c */
	{ "vm_area_alloc_pages", "vmalloc" },
	{ "__vmalloc_area_node", "vmalloc" },
	{ "__vmalloc_node_range", "vmalloc" },
	/* mm/cma.c */
	{ "cma_alloc", "cma" },
	{ "__cma_alloc", "cma" },
};

/* Parts of names of the page allocator's functions, and of page_owner's
 * functions around them. */
static const char *const own[] = {
	"alloc_page", "alloc_frozen_pages", "folio_alloc", "post_alloc_hook",
	"prep_new_page", "get_page_from_freelist", "alloc_contig",
	"set_page_owner", "save_stack",
};

/* Placeholder stacks of page_owner for pages without a stack: allocated before
 * page_owner was ready, by page_owner itself, or without memory
 * (mm/page_owner.c). */
static const char *const unknown[] = {
	"register_early_stack", "register_dummy_stack",
	"register_failure_stack",
};

/*
 * The length without suffixes from the compiler and from allocation profiling.
 */
static size_t plain_length(const char *name, size_t len)
{
	static const char noprof[] = "_noprof";
	const size_t n = sizeof(noprof) - 1;
	size_t i;

	for (i = 1; i < len; i++)
		if (name[i] == '.' || name[i] == '+')
			len = i;
	if (len > n && !memcmp(name + len - n, noprof, n))
		len -= n;
	return len;
}

static const char *allocator_of(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(callers); i++)
		if (strlen(callers[i].function) == len &&
		    !memcmp(callers[i].function, name, len))
			return callers[i].allocator;
	return NULL;
}

static bool is_unknown(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(unknown); i++)
		if (strlen(unknown[i]) == len &&
		    !memcmp(unknown[i], name, len))
			return true;
	return false;
}

static bool is_own(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(own); i++)
		if (memmem(name, len, own[i], strlen(own[i])))
			return true;
	return false;
}

const char *pdet_allocator_of(const char *frames, size_t len)
{
	const char *end = frames + len, *line, *found;
	size_t n;

	for (; frames < end; frames = line + 1) {
		line = memchr(frames, '\n', (size_t)(end - frames));
		if (!line)
			break;
		n = plain_length(frames, (size_t)(line - frames));
		found = allocator_of(frames, n);
		if (found)
			return found;
		if (is_unknown(frames, n))
			return NULL;
		if (!is_own(frames, n))
			break;
	}
	return "others";
}
