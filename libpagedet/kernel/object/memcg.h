/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Memory cgroups (include/linux/memcontrol.h): the cgroup that is charged for a
 * page, and the name of its directory.
 */
#ifndef PDET_KERNEL_OBJECT_MEMCG_H
#define PDET_KERNEL_OBJECT_MEMCG_H

#include "kernel/text/cgroup_path.h"
#include "kernel/types/fields.h"

struct pdet_memcgs {
	struct pdet_struct memcg, css, cgroup, node, objcg;
};

/*
 * pdet_memcgs_init - returns false if the kernel has no memcgs, or if the types
 * lack them.
 */
bool pdet_memcgs_init(struct pdet_memcgs *m, const struct pdet_btf *btf);

/* The offset of the cgroup_subsys_state in a mem_cgroup. */
static inline uint64_t pdet_memcg_css(const struct pdet_memcgs *m)
{
	return (uint64_t)m->memcg.field[0].at;
}

/*
 * pdet_memcg_of_page - the memcg charged for a page, from memcg_data of its
 * folio. *@ret is 0 if there is none. Returns 0, or a result of
 * memory/memory.h. -ENOTSUP: the page is a slab, whose objects are charged
 * individually.
 */
int pdet_memcg_of_page(struct pdet_space *space, const struct pdet_memcgs *m,
		       uint64_t memcg_data, uint64_t *ret);

struct pdet_memcg {
	uint64_t addr;
	bool online;
	uint64_t ino;		/* inode number of its directory */
	uint64_t online_ino;	/* inode of the nearest online memcg, which may
				 * be this one; 0 if there is none */
};

int pdet_memcg_read(struct pdet_space *space, const struct pdet_memcgs *m,
		    uint64_t addr, struct pdet_memcg *ret);

/*
 * pdet_memcg_path - the path from the root of its hierarchy. Returns its
 * length.
 */
ssize_t pdet_memcg_path(struct pdet_space *space, const struct pdet_memcgs *m,
			uint64_t addr, char buf[PDET_CGROUP_PATH]);

#endif
