/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads the VMAs of a task. */
#include <errno.h>
#include <string.h>

#include "backend/image/owner.h"
#include "backend/image/task.h"

/* Set the owner of the pages in the area. */
static void put_owner(struct image_session *s, const struct pdet_vm_area *v,
		      struct pdet_vma *ret)
{
	struct pdet_mapping mapping;
	struct image_inode inode;

	if (pdet_mapping_of_file(&s->space, &s->image->file_types, v->file,
				 &mapping) < 0 ||
	    pdet_image_inode(s, mapping.addr, &inode) < 0) {
		ret->owner_unproved = true;
		return;
	}
	ret->dev = inode.dev;
	ret->inode = inode.is.ino;
	ret->cache = mapping.addr;
	ret->size = inode.is.size;
}

/* Describe a VMA for a query. Its name is valid until the next call. */
static int show(struct image_session *s, struct image_task *t,
		const struct pdet_vm_area *v, struct pdet_vma *ret)
{
	const struct image *im = s->image;
	ssize_t len;

	memset(ret, 0, sizeof(*ret));
	ret->start = v->start;
	ret->end = v->end;
	ret->offset = v->file ? v->pgoff << im->paging.page_shift : 0;
	ret->prot = (v->flags & PDET_VM_READ ? PAGEDET_PROT_READ : 0u) |
		    (v->flags & PDET_VM_WRITE ? PAGEDET_PROT_WRITE : 0u) |
		    (v->flags & PDET_VM_EXEC ? PAGEDET_PROT_EXEC : 0u) |
		    (v->flags & PDET_VM_MAYSHARE ? PAGEDET_PROT_SHARED : 0u);
	if (v->file)
		put_owner(s, v, ret);
	else if (v->start == t->mm.vdso)
		ret->cache = t->mm.vdso_image;
	len = pdet_vma_name(&s->space, &im->name_types, &im->path_types, &t->mm,
			    v, t->name);
	if (len > 0) {
		ret->name = t->name;
		ret->name_len = (size_t)len;
	}
	return 1;
}

/* @error: of the first unreadable VMA */
static int cannot_read(struct pdet_session *s, const struct pdet_task *t,
		       int error)
{
	if (error == -EIO || error == -EACCES || error == -ENOMEM) {
		errno = -error;
		return pdet_fail_errno(&s->env, "cannot read task %u: cannot "
				       "read its areas (VMAs)", t->pid);
	}
	return pdet_fail(&s->env, EBADMSG, "cannot read task %u: its areas "
			 "(VMAs) %s", t->pid,
			 image_of(s->backend)->memory->live ?
			 "change while they are read" :
			 "are damaged or not in the dump");
}

/* --- all of them --- */

static int add(void *arg, const struct pdet_vm_area *vma)
{
	struct image_task *t = arg;

	return pdet_vec_push(&t->vmas, *vma) ? 0 : -ENOMEM;
}

static int pass_over(void *arg, uint64_t start, uint64_t end, int error)
{
	struct image_task *t = arg;

	(void)start;
	(void)end;
	if (!t->vma_error)
		t->vma_error = error;
	return 0;
}

/* 0 or -ENOMEM. */
static int read_all(struct image_session *s, struct image_task *t)
{
	const struct pdet_vma_visit visit = { add, pass_over, t };
	const bool live = s->image->memory->live;

	if (t->has_vmas && !live)
		return 0;
	t->vmas.n = 0;
	t->vma_error = 0;
	if (pdet_vma_each(&s->space, &s->image->mm_types, t->mm.addr, 0,
			  UINT64_MAX, &visit) < 0)
		return -ENOMEM;
	/*
	 * If the tree was cut off, it has fewer VMAs than the kernel's count.
	 */
	if (!t->vma_error && !live && t->vmas.n < t->mm.map_count)
		t->vma_error = -EBADMSG;
	/* who asks next has more time, perhaps */
	t->has_vmas = t->vma_error != -ETIMEDOUT;
	return 0;
}

/*
 * Checks whether the task's tree has all VMAs. Returns 0 if it does, and always
 * for memory that changes. -EBADMSG: a VMA may be missing because it is damaged
 * or not in the dump. Or -ENOMEM.
 */
static int check_whole(struct image_session *s, struct image_task *t)
{
	int r;

	if (s->image->memory->live || !t->has_mm)
		return 0;
	r = read_all(s, t);
	return r < 0 ? r : t->vma_error ? -EBADMSG : 0;
}

/* --- one --- */

int pdet_image_vma_at(struct pdet_session *base, struct pdet_task *task,
		      uint64_t addr, struct pdet_vma *ret)
{
	struct image_session *s = image_session_of(base);
	struct image_task *t = image_task_of(task);
	struct pdet_vm_area first;
	int r, whole;

	if (!t->has_mm)
		return 0;
	r = pdet_vma_next(&s->space, &s->image->mm_types, t->mm.addr, addr,
			  &first);
	if (r < 0)
		return cannot_read(base, task, r);
	if (r > 0 && first.start <= addr)
		return show(s, t, &first, ret);
	whole = check_whole(s, t);
	if (whole < 0)
		return cannot_read(base, task, whole);
	return r > 0 ? show(s, t, &first, ret) : 0;
}

void pdet_image_area(struct image_session *s, struct image_task *t,
		     uint64_t va, struct image_area *area)
{
	struct pdet_vm_area v;
	int r;

	if (va >= area->start && va < area->end)
		return;
	*area = (struct image_area){ .start = va, .end = UINT64_MAX };
	r = pdet_vma_next(&s->space, &s->image->mm_types, t->mm.addr, va, &v);
	if (r >= 0 && !(r && v.start <= va)) {
		const int whole = check_whole(s, t);

		r = whole < 0 ? whole : r;
	}
	if (r < 0) {
		area->error = r;
		area->end = va + 1;
	} else if (r && v.start > va) {
		area->end = v.start;
	} else if (r) {
		area->start = v.start;
		area->end = v.end;
		area->flags = v.flags;
	}
}

/* --- one after the other --- */

int pdet_image_vma_first(struct pdet_session *base, struct pdet_task *task)
{
	struct image_task *t = image_task_of(task);

	t->at = 0;
	if (!t->has_mm)
		return 0;
	if (read_all(image_session_of(base), t) < 0)
		return pdet_fail(&base->env, ENOMEM, "no memory");
	if (!t->vmas.n && t->mm.map_count)
		return cannot_read(base, task, t->vma_error);
	return 0;
}

int pdet_image_vma_next(struct pdet_session *base, struct pdet_task *task,
			struct pdet_vma *ret)
{
	struct image_task *t = image_task_of(task);

	if (t->at < t->vmas.n)
		return show(image_session_of(base), t,
			    &t->vmas.data[t->at++], ret);
	/* a VMA between two known ones may be missing */
	if (t->vma_error && !image_of(base->backend)->memory->live)
		return cannot_read(base, task, -EBADMSG);
	return 0;
}
