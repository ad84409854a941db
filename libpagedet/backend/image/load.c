/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Loads facts of a kernel on demand. VMCOREINFO gives address translation and
 * the memory map; the kernel's symbols and types give the rest. A missing part
 * is recorded, and other parts work without it.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/image/image.h"
#include "base/io.h"
#include "base/namespace.h"
#include "kernel/address/directmap.h"

/* --- the memory map --- */

int pdet_image_pages(struct image *im, struct pdet_env *env)
{
	int r;

	if (im->pages.tried)
		return im->pages.error;
	im->pages.tried = true;
	if (pdet_image_base(im, env) < 0)
		return pdet_image_note_like(&im->pages, &im->base);
	pdet_layout_init(&im->layout, &im->info);
	if (!im->layout.pages) {
		pdet_fail(env, ENODATA, "cannot read struct page: VMCOREINFO "
			  "does not say how");
		return pdet_image_note(&im->pages, env, -ENODATA);
	}
	r = pdet_memmap_read(&im->memmap, env, &im->space, &im->info,
			     im->paging.page_shift);
	pdet_image_say_cut(im, env, r);
	im->changes++;
	return r < 0 ? pdet_image_note(&im->pages, env, r) : 0;
}

static uint64_t address_of(const struct pdet_symbol *s)
{
	return s->found ? s->address : 0;
}

/* --- types --- */

static int read_types(struct image *im, struct pdet_env *env)
{
	struct pdet_symbol zero[] = {
		{ .name = PDET_IMAGE_ZERO }, { .name = PDET_IMAGE_HUGE_ZERO },
	};
	int r;

	r = pdet_image_find_types(im, env);
	im->changes++;
	if (r < 0)
		return r;
	/* A running kernel often needs no other symbol. */
	if (im->memory->live)
		pdet_image_pick(im, env, zero, PDET_COUNT(zero));
	else
		pdet_image_find(im, env, zero, PDET_COUNT(zero));
	/* Without this check the zero pages would be misclassified. */
	if (pdet_is_shortage(im->symbols.error))
		return pdet_image_fail(env, &im->symbols);
	pdet_image_set_zeros(im, &zero[0], &zero[1]);
	if (!im->zeros.known && im->memory->live)
		pdet_image_look_at_zero(im, env);
	return pdet_memmap_add_types(&im->memmap, env, &im->space,
				     &im->layout);
}

int pdet_image_types(struct image *im, struct pdet_env *env)
{
	int r;

	if (im->types.tried)
		return im->types.error;
	im->types.tried = true;
	if (pdet_image_pages(im, env) < 0)
		return pdet_image_note_like(&im->types, &im->pages);
	r = read_types(im, env);
	if (r == 0)
		return 0;
	pdet_image_drop_types(im);
	return pdet_image_note(&im->types, env, r);
}

/* --- owners --- */

/* Load a part that needs only types. */
static int need_types(struct image *im, struct pdet_env *env,
		      struct image_part *part)
{
	part->tried = true;
	return pdet_image_types(im, env) < 0 ?
	       pdet_image_note_like(part, &im->types) : 0;
}

static int say_too_little(struct image_part *part, struct pdet_env *env,
			  const char *what)
{
	pdet_fail(env, ENODATA, "cannot read %s: the types (BTF) do not say "
		  "enough", what);
	return pdet_image_note(part, env, -ENODATA);
}

int pdet_image_memcgs(struct image *im, struct pdet_env *env)
{
	if (im->memcgs.tried || need_types(im, env, &im->memcgs) < 0)
		return im->memcgs.error;
	return pdet_memcgs_init(&im->memcg_types, im->btf) ? 0 :
		say_too_little(&im->memcgs, env, "memory cgroups");
}

int pdet_image_slabs(struct image *im, struct pdet_env *env)
{
	if (im->slabs.tried || need_types(im, env, &im->slabs) < 0)
		return im->slabs.error;
	return pdet_slabs_init(&im->slab_types, im->btf) ? 0 :
		say_too_little(&im->slabs, env, "slabs");
}

/* The mount namespace of the first process, which kernel threads also use. */
static uint64_t first_mounts(struct image *im, struct pdet_env *env)
{
	static const pdet_field_names names[] = { { "nsproxy.mnt_ns" } };
	char buf[PDET_STRUCT_BYTES];
	struct pdet_task_struct init;
	struct pdet_struct nsproxy;
	uint32_t pid;

	pdet_struct_find(&nsproxy, im->btf, names, PDET_COUNT(names));
	if (pdet_image_task_types(im, env) < 0)
		return 0;
	for (pid = 1; pid <= 2; pid++)
		if (pdet_tasks_find(&im->space, &im->task_types, pid,
				    &init) == 0 &&
		    pdet_struct_read(&im->space, &nsproxy, init.nsproxy,
				     buf) == 0)
			return pdet_struct_get(&nsproxy, buf, 0);
	return 0;
}

int pdet_image_files(struct image *im, struct pdet_env *env)
{
	struct pdet_symbol old = { .name = "hugetlb_basepage_index" };

	if (im->files.tried || need_types(im, env, &im->files) < 0)
		return im->files.error;
	if (!pdet_files_init(&im->file_types, im->btf) ||
	    !pdet_paths_init(&im->path_types, im->btf))
		return say_too_little(&im->files, env, "files");
	im->mnt_ns = first_mounts(im, env);
	/* Removed in 6.7 (a08c7193e4f1), when hugetlb switched to normal
	 * indexes. */
	pdet_image_find(im, env, &old, 1);
	im->huge_index = old.found;
	return 0;
}

/* Find super_blocks through a filesystem in its list. */
static bool find_supers(struct image *im, struct pdet_env *env,
			struct pdet_symbol *ret)
{
	struct pdet_task_struct init;
	uint64_t super, first;

	ret->found = pdet_image_task_types(im, env) == 0 &&
		pdet_tasks_find(&im->space, &im->task_types, 1, &init) == 0 &&
		pdet_super_of_fs(&im->space, &im->file_types, init.fs,
				 &super) == 0 &&
		pdet_directmap_find(im->space.reader, &im->paging,
				    &first) == 0 &&
		pdet_super_blocks_find(&im->space, &im->file_types, super,
				       first,
				       pdet_directmap_end(&im->paging, first) -
				       1, &ret->address) == 0;
	return ret->found;
}

int pdet_image_lists(struct image *im, struct pdet_env *env)
{
	struct pdet_symbol supers = { .name = "super_blocks" };

	if (im->lists.tried)
		return im->lists.error;
	im->lists.tried = true;
	if (pdet_image_files(im, env) < 0)
		return pdet_image_note_like(&im->lists, &im->files);
	if (im->memory->live) {
		pdet_fail(env, ENOTSUP, "cannot search for files in memory "
			  "that changes: needs procfs");
		return pdet_image_note(&im->lists, env, -ENOTSUP);
	}
	pdet_image_find(im, env, &supers, 1);
	if (!supers.found && !find_supers(im, env, &supers)) {
		pdet_fail(env, ENODATA, "cannot find the list of filesystems: "
			  "the kernel's symbols do not say where it is");
		return pdet_image_note(&im->lists, env, -ENODATA);
	}
	if (!im->mnt_ns) {
		pdet_fail(env, EBADMSG, "cannot find the paths of files: the "
			  "mounts of the first process cannot be read");
		return pdet_image_note(&im->lists, env, -EBADMSG);
	}
	im->super_blocks = supers.address;
	return 0;
}

/* --- zones --- */

int pdet_image_zones(struct image *im, struct pdet_env *env)
{
	struct pdet_symbol nodes = { .name = "node_data" };
	int r;

	if (im->zones.tried || need_types(im, env, &im->zones) < 0)
		return im->zones.error;
	pdet_image_find(im, env, &nodes, 1);
	r = pdet_zones_read(&im->zone_list, env, &im->space, &im->info,
			    im->btf, address_of(&nodes));
	return r < 0 ? pdet_image_note(&im->zones, env, r) : 0;
}

/* --- tasks --- */

/* Start from the current task if there is no symbol. */
static int find_init(struct image *im, struct pdet_symbol *init)
{
	int (*current)(struct pdet_reader *r, uint64_t *ret) =
		im->memory->ops->current_task;
	uint64_t task;
	int r;

	if (init->found)
		return 0;
	if (!current || !pdet_tasks_init(&im->task_types, im->btf, 0))
		return -ENODATA;
	r = current(im->space.reader, &task);
	if (r == 0)
		r = pdet_tasks_root(&im->space, &im->task_types, task,
				    &init->address);
	init->found = r == 0;
	return r;
}

static int refuse_tasks(struct pdet_env *env, int r)
{
	if (r != -EIO && r != -EACCES)
		return pdet_fail(env, ENODATA, "cannot find the list of tasks: "
				 "the kernel's symbols do not say where it is");
	errno = -r;
	return pdet_fail_errno(env, "cannot find the list of tasks");
}

struct looking {
	struct image *im;
	bool found;
	unsigned left;		/* areas of this process */
};

/* On a running kernel this process is one of them, whose bits nobody clears: a
 * few areas of each are enough. */
#define AREAS 64

static int note_dirty(void *arg, const struct pdet_vm_area *v)
{
	struct looking *q = arg;

	q->found = v->flags & PDET_VM_SOFTDIRTY;
	return q->found || (q->im->memory->live && !--q->left);
}

static int pass_over(void *arg, uint64_t start, uint64_t end, int error)
{
	(void)arg;
	(void)start;
	(void)end;
	(void)error;
	return 0;
}

static int look_at(void *arg, const struct pdet_task_struct *task)
{
	struct looking *q = arg;
	const struct pdet_vma_visit visit = { note_dirty, pass_over, q };
	struct pdet_mm mm;

	q->left = AREAS;
	if (task->mm && !task->kthread &&
	    pdet_mm_read(&q->im->space, &q->im->mm_types, task->mm, &mm) == 0)
		pdet_vma_each(&q->im->space, &q->im->mm_types, mm.addr, 0,
			      UINT64_MAX, &visit);
	return q->found;
}

static void skip_lost(void *arg, uint64_t addr, int error)
{
	(void)arg;
	(void)addr;
	(void)error;
}

/* True if the kernel has soft-dirty bits: each area has its own bit as long as
 * nobody has cleared it. */
static bool has_soft_dirty(struct image *im)
{
	struct looking q = { .im = im };
	const struct pdet_tasks_visit visit = { look_at, skip_lost, &q,
						.processes = true };

	/* On arm64 the bit has another meaning. */
	if (im->memory->machine == EM_X86_64)
		pdet_tasks_each(&im->space, &im->task_types, &visit);
	return q.found;
}

/* True if the caller, or its /proc, is of another pid namespace than the first
 * one, whose pids the kernel's own list has: task 2 may be another task there.
 */
static bool counts_otherwise(const struct image *im)
{
	return im->memory->live &&
	       (pdet_first_namespace("", PDET_NAMESPACE_PID) == 0 ||
		pdet_proc_is_others());
}

static int read_task_types(struct image *im, struct pdet_env *env)
{
	enum { INIT, VMOPS, SWAP_AREAS, NAME, FAILURE, MIGRATE, DEVICE, RANGE,
	       EXCLUSIVE, UFFD_WP, SYMBOLS };
	/* One search finds all of them. */
	struct pdet_symbol s[SYMBOLS] = {
		[INIT] = { .name = "init_task" },
		[VMOPS] = { .name = "special_mapping_vmops" },
		[SWAP_AREAS] = { .name = "nr_swapfiles" },
		[NAME] = { .name = "special_mapping_name" },
		[FAILURE] = { .name = "memory_failure" },
		[MIGRATE] = { .name = "migrate_pages" },
		[DEVICE] = { .name = "migrate_vma_setup" },
		[RANGE] = { .name = "make_device_exclusive_range" },
		[EXCLUSIVE] = { .name = "make_device_exclusive" },
		[UFFD_WP] = { .name = "uffd_wp_range" },
	};
	struct pdet_swap_functions functions;
	uint32_t areas;
	int r;

	pdet_image_find(im, env, s, SYMBOLS);
	functions = (struct pdet_swap_functions){
		s[FAILURE].found, s[MIGRATE].found, s[DEVICE].found,
		s[RANGE].found, s[EXCLUSIVE].found,
	};
	/* The uffd-wp bit is valid only on kernels with this function. */
	im->pagemap.uffd_wp = s[UFFD_WP].found &&
			      im->memory->machine == EM_X86_64;
	pdet_swap_form_init(&im->swap_form, &im->paging, &im->info, im->btf,
			    &functions);
	r = find_init(im, &s[INIT]);
	if (r < 0)
		return refuse_tasks(env, r);
	if (!pdet_tasks_init(&im->task_types, im->btf, s[INIT].address) ||
	    !pdet_mms_init(&im->mm_types, im->btf))
		return pdet_fail(env, ENODATA, "cannot read tasks: the types "
				 "(BTF) do not say enough");
	pdet_vma_names_init(&im->name_types, im->btf, address_of(&s[VMOPS]),
			    address_of(&s[NAME]));
	if (s[SWAP_AREAS].found &&
	    pdet_space_u32(&im->space, s[SWAP_AREAS].address, &areas) == 0)
		im->pagemap.swap_areas = PDET_MIN(areas, (uint32_t)32);
	im->pagemap.soft_dirty = has_soft_dirty(im);
	im->other_pids = counts_otherwise(im);
	return 0;
}

int pdet_image_task_types(struct image *im, struct pdet_env *env)
{
	int r;

	if (im->tasks.tried)
		return im->tasks.error;
	im->tasks.tried = true;
	if (pdet_image_types(im, env) < 0)
		return pdet_image_note_like(&im->tasks, &im->types);
	if (pdet_image_symbols(im, env) < 0)
		return pdet_image_note_like(&im->tasks, &im->symbols);
	r = read_task_types(im, env);
	if (r < 0)
		return pdet_image_note(&im->tasks, env, r);
	if (pdet_image_files(im, env) < 0)
		return pdet_image_note_like(&im->tasks, &im->files);
	return 0;
}

void pdet_image_unload(struct image *im)
{
	pdet_vec_free(&im->bytes.ram);
	pdet_zones_free(&im->zone_list);
	pdet_image_drop_types(im);
	pdet_image_vmlinux_close(im);
	pdet_kallsyms_free(&im->kallsyms);
	pdet_memmap_free(&im->memmap);
	pdet_vmcoreinfo_free(&im->info);
	pdet_text_free(&im->vmcoreinfo_text);
}
