/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Memory cgroups (include/linux/memcontrol.h): who is charged for a page or an
 * object, and what its directory is called.
 */
#ifndef PDET_KERNEL_MEMCG_H
#define PDET_KERNEL_MEMCG_H

#include "kernel/cgroup_path.h"
#include "kernel/fields.h"

struct pdet_memcgs {
	struct pdet_struct memcg, css, cgroup, node, objcg, ext;
	uint32_t ext_size;	/* of what a slab has for each object */
};

/* pdet_memcgs_init - false: the kernel has none, or the types do not say. */
bool pdet_memcgs_init(struct pdet_memcgs *m, const struct pdet_btf *btf);

/* Where in a mem_cgroup its cgroup_subsys_state is. */
static inline uint64_t pdet_memcg_css(const struct pdet_memcgs *m)
{
	return (uint64_t)m->memcg.field[0].at;
}

/*
 * pdet_memcg_of_page - by its folio's memcg_data; *ret 0: nobody is charged.
 * 0, or a result of memory/memory.h. -ENOTSUP: it is a slab, and each object
 * is charged for itself.
 */
int pdet_memcg_of_page(struct pdet_space *space, const struct pdet_memcgs *m,
		       uint64_t memcg_data, uint64_t *ret);

/* pdet_memcg_of_object - of object @index of a slab with that memcg_data. */
int pdet_memcg_of_object(struct pdet_space *space, const struct pdet_memcgs *m,
			 uint64_t memcg_data, uint32_t index, uint64_t *ret);

struct pdet_memcg {
	uint64_t addr;
	bool online;
	uint64_t ino;		/* of its directory */
	uint64_t online_ino;	/* of itself or of the nearest that is online;
				 * 0: there is none */
};

int pdet_memcg_read(struct pdet_space *space, const struct pdet_memcgs *m,
		    uint64_t addr, struct pdet_memcg *ret);

/* pdet_memcg_path - from the root of its hierarchy; its length. */
ssize_t pdet_memcg_path(struct pdet_space *space, const struct pdet_memcgs *m,
			uint64_t addr, char buf[PDET_CGROUP_PATH]);

#endif
