/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What is known of a kernel, loaded when a question first needs it: VMCOREINFO
 * tells how to read its addresses and where its memory map is, its own symbols
 * and types all the rest. What is missing is noted, and the rest goes on
 * without it.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image_area.h"
#include "backend/image_task.h"
#include "base/io.h"
#include "kernel/directmap.h"

/* The failure in @env becomes the part's. */
int pdet_image_note(struct image_part *part, struct pdet_env *env, int error)
{
	part->error = error;
	snprintf(part->advice, sizeof(part->advice), "%.*s",
		 (int)sizeof(part->advice) - 1, env->error);
	pdet_clear(env);
	return error;
}

int pdet_image_fail(struct pdet_env *env, const struct image_part *part)
{
	return pdet_fail(env, -part->error, "%s", part->advice);
}

int pdet_image_note_like(struct image_part *part,
			 const struct image_part *needs)
{
	part->error = needs->error;
	memcpy(part->advice, needs->advice, sizeof(part->advice));
	return part->error;
}

/* --- VMCOREINFO and page tables --- */

static int read_base(struct image *im, struct pdet_env *env)
{
	const char *text = im->memory->vmcoreinfo;
	size_t len = im->memory->vmcoreinfo_len;
	int r;

	if (!text) {
		r = pdet_image_read_vmcoreinfo(im, env);
		if (r < 0)
			return r;
		text = im->vmcoreinfo_text.data;
		len = im->vmcoreinfo_text.len;
	}
	if (!text && im->memory->notes_lost) {
		errno = EIO;
		return pdet_fail_errno(env, "needs VMCOREINFO, and the notes "
				       "of the dump cannot be read");
	}
	if (!text)
		return pdet_fail(env, ENODATA, "needs VMCOREINFO, which the "
				 "dump does not have: give it with "
				 "--vmcoreinfo");
	if (!pdet_vmcoreinfo_parse(&im->info, text, len))
		return pdet_fail(env, ENOMEM, "no memory");
	if (!pdet_paging_set_up(&im->paging, env, im->memory->machine,
				&im->info))
		return -ENODATA;
	pdet_space_init(&im->space, im->reader, &im->paging);
	return 0;
}

int pdet_image_base(struct image *im, struct pdet_env *env)
{
	int r;

	if (im->base.tried)
		return im->base.error;
	im->base.tried = true;
	if (pdet_image_open_live(im, env) < 0)
		return pdet_image_note_like(&im->base, &im->live);
	r = read_base(im, env);
	return r < 0 ? pdet_image_note(&im->base, env, r) : 0;
}

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
	im->changes++;
	return r < 0 ? pdet_image_note(&im->pages, env, r) : 0;
}

static uint64_t address_of(const struct pdet_symbol *s)
{
	return s->found ? s->address : 0;
}

/* --- types --- */

/* Which frames are zero pages: PFN_NONE where a variable says there is none. */
void pdet_image_set_zeros(struct image *im, const struct pdet_symbol *page,
			  const struct pdet_symbol *huge)
{
	struct pdet_page_zeros *z = &im->zeros;
	const unsigned shift = im->paging.page_shift;
	const uint64_t huge_pages = (uint64_t)1 << (shift - 3);
	uint64_t addr, len, pfn;

	if (!page->found ||
	    pdet_space_phys(&im->space, page->address, &addr, &len) < 0)
		return;
	z->maybe_huge = !huge->found ||
			pdet_space_u64(&im->space, huge->address, &pfn) < 0;
	if (z->maybe_huge)
		pfn = UINT64_MAX;
	z->known = true;
	z->pfn = addr >> shift;
	z->huge = pfn;
	z->n_huge = pfn == UINT64_MAX ? 0 : huge_pages;
	im->pagemap.zero_pfn = z->pfn;
	im->changes++;
}

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
	pdet_image_find(im, env, zero, PDET_COUNT(zero));
	/* Else zero pages would be something else. */
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

/* A part that needs nothing but types. */
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

/* Where the first process sees files. */
static uint64_t first_mounts(struct image *im, struct pdet_env *env)
{
	static const pdet_field_names names[] = { { "nsproxy.mnt_ns" } };
	char buf[PDET_STRUCT_BYTES];
	struct pdet_task_struct init;
	struct pdet_struct nsproxy;

	pdet_struct_find(&nsproxy, im->btf, names, PDET_COUNT(names));
	if (pdet_image_task_types(im, env) < 0 ||
	    pdet_tasks_find(&im->space, &im->task_types, 1, &init) < 0 ||
	    pdet_struct_read(&im->space, &nsproxy, init.nsproxy, buf) < 0)
		return 0;
	return pdet_struct_get(&nsproxy, buf, 0);
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
	/* Removed when hugetlb began to count as all others do, 6.7
	 * (a08c7193e4f1). */
	pdet_image_find(im, env, &old, 1);
	im->huge_index = old.found;
	return 0;
}

/* By a filesystem that is in the list. */
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
		pdet_fail(env, ENOTSUP, "cannot look for files in memory that "
			  "changes: needs procfs");
		return pdet_image_note(&im->lists, env, -ENOTSUP);
	}
	pdet_image_find(im, env, &supers, 1);
	if (!supers.found && !find_supers(im, env, &supers)) {
		pdet_fail(env, ENODATA, "cannot find the list of filesystems: "
			  "the kernel's symbols do not say where it is");
		return pdet_image_note(&im->lists, env, -ENODATA);
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

/* Where no symbol says, by the task that asks. */
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

static int read_task_types(struct image *im, struct pdet_env *env)
{
	struct pdet_symbol s[] = {
		{ .name = "init_task" },
		{ .name = "special_mapping_vmops" },
		{ .name = "nr_swapfiles" },
		{ .name = "special_mapping_name" },
	};
	struct pdet_symbol f[] = {
		{ .name = "memory_failure" },
		{ .name = "migrate_pages" },
		{ .name = "make_device_exclusive_range" },
		{ .name = "make_device_exclusive" },
		{ .name = "uffd_wp_range" },
	};
	struct pdet_swap_functions functions;
	uint32_t areas;
	int r;

	pdet_image_find(im, env, s, PDET_COUNT(s));
	pdet_image_find(im, env, f, PDET_COUNT(f));
	functions = (struct pdet_swap_functions){
		f[0].found, f[1].found, f[2].found, f[3].found,
	};
	/* Its bit means something where this can be done. */
	im->pagemap.uffd_wp = f[4].found &&
			      im->memory->machine == EM_X86_64;
	pdet_swap_form_init(&im->swap_form, &im->paging, &im->info, im->btf,
			    &functions);
	r = find_init(im, &s[0]);
	if (r < 0)
		return refuse_tasks(env, r);
	if (!pdet_tasks_init(&im->task_types, im->btf, s[0].address) ||
	    !pdet_mms_init(&im->mm_types, im->btf))
		return pdet_fail(env, ENODATA, "cannot read tasks: the types "
				 "(BTF) do not say enough");
	pdet_vma_names_init(&im->name_types, im->btf, address_of(&s[1]),
			    address_of(&s[3]));
	if (s[2].found &&
	    pdet_space_u32(&im->space, s[2].address, &areas) == 0)
		im->pagemap.swap_areas = PDET_MIN(areas, (uint32_t)32);
	im->pagemap.soft_dirty = pdet_image_soft_dirty(im);
	im->other_pids = pdet_image_counts_otherwise(im);
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
	pdet_image_kernel_unload(im);
	pdet_image_page_owner_unload(im);
	pdet_vec_free(&im->bytes.ram);
	pdet_zones_free(&im->zone_list);
	pdet_image_drop_types(im);
	pdet_image_vmlinux_close(im);
	pdet_kallsyms_free(&im->kallsyms);
	pdet_memmap_free(&im->memmap);
	pdet_vmcoreinfo_free(&im->info);
	pdet_text_free(&im->vmcoreinfo_text);
}
