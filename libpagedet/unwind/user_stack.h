/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The stack of a thread in user code, with names. */
#ifndef PDET_UNWIND_USER_STACK_H
#define PDET_UNWIND_USER_STACK_H

#include "pagedet.h"
#include "unwind/libunwind.h"
#include "unwind/modules.h"
#include "unwind/perf_file.h"

/* The most frames of a stack, and one more that says why it ends there. */
#define PDET_USER_FRAMES 128

/* The texts of the frames live as long as the stack. */
struct pdet_user_stack {
	struct pdet_code code;
	struct pdet_user_cache *cache; /* NULL: nothing was read yet */
	struct pagedet_frame frames[PDET_USER_FRAMES + 1];
	size_t n;
};

/* A page of a task that can be read without touching the task. */
#define PDET_USER_PAGE 4096

struct pdet_user_source {
	/* Reads the page at @addr. Returns 0, -ENOENT if the task has no entry
	 * for it, so that it is as the file has it, -ENXIO if it is not present
	 * (perhaps swapped out), -ENODATA if the dump does not have it, or
	 * another failure. */
	int (*page)(void *arg, uint64_t addr, void *buf);
	void *arg;
	const struct pdet_code_dump *dump; /* NULL: it is a task of /proc */
	/* A number of the mappings of a task of /proc, which are the same if it
	 * is; 0: it is not known. NULL: it never is. */
	uint64_t (*maps)(void *arg);
	/* The map file of the task's compiler, which names code without a file.
	 * NULL: it was not asked for. It is not that of a task of a dump. */
	const struct pdet_perf_file *perf;
};

/*
 * pdet_user_stack_read - unwind the stack of thread @tid and name its frames.
 * @u may be NULL if it runs 32-bit code, or is of arm64.
 * *ret is zero, or the stack of another thread, whose files are used again if
 * they are the same. Returns 0, or a negative errno with an error text. Free it
 * in both cases.
 */
int pdet_user_stack_read(struct pdet_env *env, const struct pdet_unwinder *u,
			 uint32_t tid, const struct pdet_user_regs *regs,
			 const struct pdet_user_source *source,
			 struct pdet_user_stack *ret);
void pdet_user_stack_free(struct pdet_user_stack *s);

#endif
