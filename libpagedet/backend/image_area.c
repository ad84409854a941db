/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Areas are found by address, without their names. */
#include <elf.h>

#include "backend/image_area.h"

void pdet_image_area(struct image_session *s, const struct image_task *t,
		     uint64_t va, struct image_area *area)
{
	struct pdet_vm_area v;
	int r;

	if (va >= area->start && va < area->end)
		return;
	*area = (struct image_area){ .start = va, .end = UINT64_MAX };
	r = pdet_vma_next(&s->space, &s->image->mm_types, t->mm.addr, va, &v);
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

/* --- is there any? --- */

static int note_dirty(void *arg, const struct pdet_vm_area *v)
{
	bool *found = arg;

	*found = v->flags & PDET_VM_SOFTDIRTY;
	return *found;
}

static int pass_over(void *arg, uint64_t start, uint64_t end, int error)
{
	(void)arg;
	(void)start;
	(void)end;
	(void)error;
	return 0;
}

struct tasks {
	struct image *im;
	bool found;
};

static int look_at(void *arg, const struct pdet_task_struct *task)
{
	struct tasks *q = arg;
	const struct pdet_vma_visit visit = { note_dirty, pass_over,
					      &q->found };
	struct pdet_mm mm;

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

bool pdet_image_soft_dirty(struct image *im)
{
	struct tasks q = { im, false };
	const struct pdet_tasks_visit visit = { look_at, skip_lost, &q,
						.processes = true };

	/* What arm64 does with that bit is another matter. */
	if (im->memory->machine == EM_X86_64)
		pdet_tasks_each(&im->space, &im->task_types, &visit);
	return q.found;
}
