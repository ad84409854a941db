/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares the kernel's counters with walks of its structures: the VMAs of each
 * process, and the pages of each inode. Prints TAP.
 *
 *   counts DUMP
 */
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "backend/image/image.h"

struct counting {
	struct image *im;
	uint64_t found;		/* of the current object */
	bool lost;
	/* Sums over all objects. */
	uint64_t number, sum, wrong;
};

static void compare(struct counting *c, const char *what, uint64_t which,
		    uint64_t counted)
{
	c->number++;
	c->sum += c->found;
	if (c->found == counted && !c->lost)
		return;
	c->wrong++;
	printf("# %s %#" PRIx64 ": found %" PRIu64 "%s, but the kernel counts %"
	       PRIu64 "\n", what, which, c->found, c->lost ? " or more" : "",
	       counted);
}

static void start(struct counting *c)
{
	c->found = 0;
	c->lost = false;
}

/* --- VMAs --- */

static int add_vma(void *arg, const struct pdet_vm_area *vma)
{
	struct counting *c = arg;

	(void)vma;
	c->found++;
	return 0;
}

static int lose(void *arg, uint64_t first, uint64_t last, int error)
{
	struct counting *c = arg;

	(void)first;
	(void)last;
	(void)error;
	c->lost = true;
	return 0;
}

static int count_vmas(void *arg, const struct pdet_task_struct *task)
{
	struct counting *c = arg;
	const struct pdet_vma_visit visit = { add_vma, lose, c };
	struct pdet_mm mm;

	if (!task->mm || task->kthread)
		return 0;
	start(c);
	if (pdet_mm_read(&c->im->space, &c->im->mm_types, task->mm, &mm) < 0) {
		c->lost = true;
		mm.map_count = 0;
	} else {
		pdet_vma_each(&c->im->space, &c->im->mm_types, task->mm, 0,
			      UINT64_MAX, &visit);
	}
	compare(c, "VMAs of task", task->pid, mm.map_count);
	return 0;
}

/* --- pages of inodes --- */

/* An evicted page has left a value, which is not counted. */
static int add_pages(void *arg, uint64_t first, uint64_t last, uint64_t entry)
{
	struct counting *c = arg;

	if (!(entry & 1))
		c->found += last - first + 1;
	return 0;
}

static int count_pages(void *arg, uint64_t addr)
{
	struct counting *c = arg;
	const struct pdet_xarray_visit visit = { add_pages, lose, c, false };
	struct pdet_space *space = &c->im->space;
	const struct pdet_files *types = &c->im->file_types;
	struct pdet_mapping mapping;
	struct pdet_inode inode;

	start(c);
	/* Pages of a block device belong to another inode. */
	if (pdet_inode_read(space, types, addr, &inode) < 0 ||
	    pdet_mapping_read(space, types, inode.mapping, &mapping) < 0) {
		c->lost = true;
		mapping.pages = 0;
	} else if (mapping.inode != addr) {
		return 0;
	} else {
		pdet_mapping_each(space, types, inode.mapping, 0, UINT64_MAX,
				  &visit);
	}
	compare(c, "pages of inode at", addr, mapping.pages);
	return 0;
}

static int look_at_super(void *arg, uint64_t addr)
{
	struct counting *c = arg;
	struct pdet_super super;

	start(c);
	if (pdet_super_read(&c->im->space, &c->im->file_types, addr,
			    &super) < 0) {
		c->lost = true;
		compare(c, "filesystem at", addr, 0);
		return 0;
	}
	/*
	 * Until 6.7 its entries count differently from the pages that they
	 * stand for (a08c7193e4f1).
	 */
	if (super.magic == HUGETLBFS_MAGIC)
		return 0;
	if (pdet_inodes_each(&c->im->space, &c->im->file_types, addr,
			     count_pages, c) < 0) {
		c->lost = true;
		compare(c, "inodes of the filesystem at", addr, 0);
	}
	return 0;
}

/* --- all --- */

static int report(unsigned n, const struct counting *c, const char *what,
		  const char *of)
{
	const bool good = c->number && !c->wrong;

	printf("%s %u - %" PRIu64 " %s of %" PRIu64 " %s\n",
	       good ? "ok" : "not ok", n, c->sum, what, c->number, of);
	return !good;
}

static int fail(struct pagedet *pd, const char *what)
{
	printf("Bail out! %s: %s\n", what, pagedet_error(pd));
	return 1;
}

int main(int argc, char **argv)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct counting vmas = { .number = 0 }, pages = { .number = 0 };
	const struct pdet_tasks_visit visit = { count_vmas, NULL, &vmas, true };
	const char *files[1];
	struct pagedet *pd;
	struct image *im;
	int r;

	if (argc != 2)
		return 64;
	files[0] = argv[1];
	o.files = files;
	o.n_files = 1;
	pd = pagedet_new();
	if (!pd)
		return 1;
	if (pagedet_open(pd, &o))
		return fail(pd, argv[1]);
	im = image_of(pd->backends[0]);
	if (pdet_image_task_types(im, &pd->env) < 0 ||
	    pdet_image_lists(im, &pd->env) < 0)
		return fail(pd, "types of tasks and files");
	vmas.im = pages.im = im;
	pdet_tasks_each(&im->space, &im->task_types, &visit);
	if (pdet_supers_each(&im->space, &im->file_types, im->super_blocks,
			     look_at_super, &pages) < 0)
		pages.wrong++;
	r = report(1, &vmas, "VMAs", "processes");
	r |= report(2, &pages, "pages", "inodes");
	printf("1..2\n");
	pagedet_free(pd);
	return r;
}
