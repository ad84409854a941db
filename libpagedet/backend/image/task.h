/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Declarations for one task of an image, shared by task.c, vma.c and entry.c.
 */
#ifndef PDET_BACKEND_IMAGE_TASK_H
#define PDET_BACKEND_IMAGE_TASK_H

#include "backend/image/image.h"

/* pdet_image_again - whether to read again what looks damaged: the structures
 * of a running kernel change meanwhile. @looks: 0 before the first call. */
static inline bool pdet_image_again(const struct image *im, bool damaged,
				    unsigned *looks)
{
	return damaged && im->memory->live && ++*looks < 8;
}

struct image_task {
	struct pdet_task task;
	struct pdet_task_struct is; /* the thread whose memory it is */
	char comm[PDET_COMM];	/* of the task itself */
	bool has_ended;		/* the task itself */
	bool has_mm;		/* false for kernel threads */
	struct pdet_mm mm;
	uint64_t root;		/* physical address of its root page table */
	/* All VMAs. */
	bool has_vmas;
	struct {
		struct pdet_vm_area *data;
		size_t n, cap;
	} vmas;
	int vma_error;		/* of the first unreadable VMA */
	size_t at;
	char name[PDET_PATH];	/* of the last VMA */
};

/* pdet_image_refuse_pids - fail because the kernel uses other pids than the
 * caller, so that @what cannot be found by its number. */
int pdet_image_refuse_pids(struct pdet_env *env, const char *what);

/* pdet_image_broken - why something that was found makes no sense: "it ...".
 * That of a running kernel changes, and was read in vain several times. */
const char *pdet_image_broken(const struct image *im);

/* pdet_image_task_is_same - whether it still is the task that was opened, with
 * the same address space. */
bool pdet_image_task_is_same(struct image_session *s,
			     const struct image_task *t);

/*
 * pdet_image_find_task - returns 0, or a negative errno with an error text in
 * the session.
 */
int pdet_image_find_task(struct image_session *s, uint32_t pid,
			 struct pdet_task_struct *ret);

/* pdet_image_seek_task - find a task in the list, without an error text. */
int pdet_image_seek_task(struct image *im, struct pdet_space *space,
			 uint32_t pid, struct pdet_task_struct *ret);

/*
 * pdet_image_living - if @task is a main thread that has ended, replace it with
 * a thread of its process that has not. Returns 1, 0 if there is nothing to
 * replace, or -EBADMSG, without an error text, if that is not known.
 */
int pdet_image_living(struct image_session *s, struct pdet_task_struct *task);

/* The VMA, or the gap between VMAs, that was examined last. Zero it first. */
struct image_area {
	uint64_t start, end;
	uint64_t flags;		/* PDET_VM_* */
	int error;		/* 0, or why it cannot be read */
};

/*
 * pdet_image_area - find the area of the task that contains @va. Does not find
 * its name.
 */
void pdet_image_area(struct image_session *s, struct image_task *t,
		     uint64_t va, struct image_area *area);

static inline struct image_task *image_task_of(struct pdet_task *t)
{
	return PDET_CONTAINER(t, struct image_task, task);
}

#endif
