/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the kernel objects of a dump by type, for tests that damage them. It
 * uses the library and the undamaged dump.
 */
#ifndef TESTS_DUMPS_OBJECTS_H
#define TESTS_DUMPS_OBJECTS_H

#include "api/handle.h"
#include "backend/image/image.h"

enum object_kind {
	OBJECT_TASK, OBJECT_MM, OBJECT_VMA, OBJECT_MAPLE, OBJECT_INODE,
	OBJECT_MAPPING, OBJECT_XNODE, OBJECT_SUPER, OBJECT_DENTRY,
	OBJECT_MOUNT, OBJECT_MEMCG, OBJECT_CGROUP, OBJECT_KERNFS, OBJECT_CACHE,
	OBJECT_PAGE, OBJECT_NODE, OBJECT_ZONE, OBJECT_FREE_PAGE, OBJECT_VMAP,
	OBJECT_VM,
	/* What is kept beside struct pages (page_ext), and pools of stacks. */
	OBJECT_EXT, OBJECT_SECTION, OBJECT_POOL,
	/* Physical: page tables, highest level first. */
	OBJECT_PGD, OBJECT_PUD, OBJECT_PMD, OBJECT_PTE,
	/* Bytes at a symbol. */
	OBJECT_BTF, OBJECT_TOKENS, OBJECT_TOKEN_INDEX, OBJECT_NAMES,
	OBJECT_COUNT_OF_NAMES, OBJECT_OFFSETS, OBJECT_ORC, OBJECT_ORC_IP,
	OBJECT_PRB, OBJECT_SECTIONS,
	OBJECT_INFO,		/* text of VMCOREINFO, not memory */
	OBJECTS
};

struct object {
	uint64_t addr;		/* virtual; physical for page tables */
	uint64_t id;		/* a pid, or a frame */
};

struct objects {
	struct pagedet *pd;
	struct image *im;
	struct {
		struct object *data;
		size_t n, cap;
	} of[OBJECTS];
	uint64_t zero;		/* frame of the zero page; 0: not known */
};

/* A failure ends the program. */
void objects_find(struct objects *o, const char *dump);
void objects_free(struct objects *o);

/*
 * objects_field - find a member of the object at @addr by its type; false if
 * the kernel has no such member.
 */
bool objects_field(const struct objects *o, const char *member, uint64_t addr,
		   uint64_t *ret, uint64_t *bytes);

/* objects_read - read a number from the whole dump; 0 if that fails. */
uint64_t objects_read(const struct objects *o, uint64_t addr);

#endif
