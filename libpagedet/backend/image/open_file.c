/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds open files of tasks of the running kernel. Lists cached pages of one
 * that this process has open, from the page cache. It maps and touches nothing,
 * and is faster than /proc. The page cache changes during the read: anything
 * inconsistent is not an answer, and the caller uses /proc instead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image/file.h"
#include "backend/image/task.h"
#include "backend/reused_frame.h"

int pdet_image_open_files(struct image *im, struct pdet_env *env)
{
	if (im->open_files.tried)
		return im->open_files.error;
	im->open_files.tried = true;
	if (pdet_image_types(im, env) < 0)
		return pdet_image_note_like(&im->open_files, &im->types);
	if (im->memory->ops->current_task &&
	    pdet_files_init(&im->file_types, im->btf) &&
	    pdet_open_files_init(&im->open_types, im->btf))
		return 0;
	pdet_fail(env, ENODATA, "cannot find open files in memory");
	return pdet_image_note(&im->open_files, env, -ENODATA);
}

/* The inode's address_space, if the inode is the one that stat shows. */
static int find_mapping(struct image_session *s, int fd,
			const struct pdet_file *as, uint64_t *ret)
{
	const struct pdet_files *types = &s->image->file_types;
	struct pdet_mapping mapping;
	struct pdet_inode inode;
	uint64_t task, file;
	int r;

	r = s->image->memory->ops->current_task(s->reader, &task);
	if (r == 0)
		r = pdet_open_file(&s->space, &s->image->open_types, task,
				   (unsigned)fd, &file);
	if (r == 0)
		r = pdet_mapping_of_file(&s->space, types, file, &mapping);
	if (r == 0)
		r = pdet_inode_read(&s->space, types, mapping.inode, &inode);
	if (r < 0)
		return r;
	*ret = mapping.addr;
	return inode.mapping == mapping.addr && inode.ino == as->inode ?
		0 : -EBADMSG;
}

int pdet_image_file_opened(struct pdet_session *base, int fd,
			   const struct pdet_file *as, struct pdet_file **ret)
{
	struct image_session *s = image_session_of(base);
	const size_t len = strlen(as->path);
	struct image_file *f;
	uint64_t mapping;

	/* An index of hugetlb may count huge pages. */
	if (!s->image->open_files.tried || s->image->open_files.error ||
	    as->block || as->kind == PAGEDET_KIND_HUGETLB || !as->inode ||
	    find_mapping(s, fd, as, &mapping) < 0)
		return 0;
	f = calloc(1, sizeof(*f) + len + 1);
	if (!f)
		return pdet_fail(&base->env, ENOMEM, "no memory");
	memcpy(f->path, as->path, len);
	f->file = *as;
	f->file.backend = base->backend;
	f->file.path = f->path;
	f->mapping = mapping;
	*ret = &f->file;
	return 1;
}

/* --- of any task --- */

/* The table of a running task may be replaced by a larger one. */
static int find_of(struct image_session *s, uint64_t task, uint32_t fd,
		   const struct pdet_open_files *types, uint64_t *ret)
{
	unsigned looks = 0;
	int r;

	do {
		r = pdet_open_file(&s->space, types, task, fd, ret);
	} while (pdet_image_again(s->image, r == -EBADMSG, &looks));
	return r;
}

int pdet_image_file_object(struct pdet_session *base, uint32_t pid, uint32_t fd,
			   uint64_t *addr, uint64_t *bytes)
{
	struct image_session *s = image_session_of(base);
	struct image *im = s->image;
	struct pdet_open_files types;
	struct pdet_task_struct task;
	int r;

	if (!im->memory->live)
		return pdet_fail(&base->env, ENOTSUP, "a dump has no objects "
				 "that run");
	if (pdet_image_task_types(im, &base->env) < 0)
		return pdet_image_fail(&base->env, &im->tasks);
	if (!pdet_open_files_init(&types, im->btf) ||
	    !pdet_btf_struct_size(im->btf, "file", bytes))
		return pdet_fail(&base->env, ENOTSUP, "cannot find open files: "
				 "the kernel's types lack them");
	r = pdet_image_find_task(s, pid, &task);
	if (r == 0)
		(void)pdet_image_living(s, &task);
	if (r < 0)
		return r;
	r = find_of(s, task.addr, fd, &types, addr);
	return r == 0 ? 0 :
	       pdet_fail(&base->env, -r, r == -ENOENT ?
			 "process %u has no descriptor %u" :
			 "cannot read the descriptors of process %u, to find "
			 "%u", pid, fd);
}

/* --- recheck --- */

/* Rows are in the order of file positions. Rows before @row were found again,
 * or have a note. */
struct again {
	struct image_session *s;
	struct pdet_batch *b;
	const uint64_t *index, *pfn;
	uint32_t row, end;
};

/* Compare rows up to position @stop. If @found, the page at @start is @pfn. */
static void compare(struct again *a, uint64_t start, uint64_t stop, bool found,
		    uint64_t pfn)
{
	for (; a->row < a->end && a->index[a->row] < stop; a->row++) {
		const uint64_t at = a->index[a->row];

		if (pdet_batch_state(a->b, a->row, PAGEDET_FIELD_PFN) ==
			    PAGEDET_HAVE &&
		    (!found || at < start ||
		     a->pfn[a->row] != pfn + (at - start)))
			pdet_put_note(a->b, a->row, PAGEDET_NOTE_TORN);
	}
}

static int see(void *arg, uint64_t first, uint64_t last, uint64_t entry)
{
	struct again *a = arg;
	uint64_t pfn = 0, within = 0;
	const bool found = !pdet_xarray_is_value(entry) &&
		pdet_memmap_find(&a->s->image->memmap, entry, &pfn, &within) &&
		!within;

	compare(a, first, last + 1, found, pfn);
	return 0;
}

/* A page that cannot be read counts as not found. */
static int see_nothing(void *arg, uint64_t first, uint64_t last, int error)
{
	(void)error;
	compare(arg, first, last == UINT64_MAX ? last : last + 1, false, 0);
	return 0;
}

int pdet_image_file_again(struct image_session *s, const struct image_file *f,
			  struct pdet_batch *b, uint32_t first, uint32_t n)
{
	struct again a = {
		.s = s, .b = b, .row = first, .end = first + n,
		.index = b->value[PAGEDET_FIELD_INDEX],
		.pfn = b->value[PAGEDET_FIELD_PFN],
	};
	const struct pdet_xarray_visit visit = { see, see_nothing, &a, true };

	if (!n)
		return 0;
	pdet_reused_cached(b, first, n);
	pdet_mapping_each(&s->space, &s->image->file_types, f->mapping,
			  a.index[first], a.index[first + n - 1], &visit);
	compare(&a, UINT64_MAX, UINT64_MAX, false, 0);
	return 0;
}
