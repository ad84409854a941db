/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Declarations of a task opened through /proc, shared by the files about tasks.
 */
#ifndef PDET_BACKEND_PROCFS_TASK_H
#define PDET_BACKEND_PROCFS_TASK_H

#include "backend/procfs/procfs.h"

/* A line of maps has at most a path of 4096 bytes, four for each if escaped. */
#define PROCFS_MAPS_BUFFER 65536

struct procfs_task {
	struct pdet_task task;
	struct procfs *p;
	int pagemap;		/* -1: a kernel thread, which has no address
				 * space */
	int maps;		/* -1: not opened yet */
	bool pagemap_handed;	/* descriptors passed in, not to be closed */
	bool maps_handed;
	bool has_start;
	uint64_t start_time;	/* in clock ticks since boot */
	int sparse;		/* -1: not determined yet */
	bool whole;		/* populated() covers all addresses */
	uint64_t ahead;		/* bytes assumed to be full last time */
	char *text;		/* of maps, for sequential VMAs */
	size_t text_at, text_len;
	bool text_end;
	bool flags_read;	/* smaps was read for procfs_blind() */
	int flags_error;	/* negative errno of that */
	struct pdet_ranges flagged; /* areas of drivers, by smaps; ascending */
	struct procfs_hold *hold; /* NULL: it is not stopped */
	char name[4096];	/* of the last vma_at() */
};

static inline struct procfs_task *procfs_task_of(struct pdet_task *t)
{
	return PDET_CONTAINER(t, struct procfs_task, task);
}

/* Use the ioctl to find the VMA that covers @addr, or the next one. Returns 1,
 * 0 if there is none, or a negative errno without an error text. -ENOTTY: the
 * kernel does not have it. The name is set only if the query needs it. */
int procfs_query_vma(struct pdet_session *s, struct procfs_task *t,
		     uint64_t addr, struct pdet_vma *ret);

/* Read @n words of pagemap from @start on. Returns their number: fewer at the
 * end of the address space, 0 if it is gone; or a negative errno. */
ssize_t procfs_pagemap_words(struct pdet_session *s, struct procfs_task *t,
			     uint64_t start, size_t n, uint64_t *ret);

/* --- task.c --- */
/* A zombie, or a task that is just ending. */
bool procfs_is_ending(struct pdet_env *env, uint32_t pid);

/* --- space.c --- */
/* pdet_backend_ops.space_key, without a session. */
uint64_t procfs_key_of(const struct pdet_env *env, uint32_t tid);

/* --- main_thread.c --- */
/* Whether the main thread of a process has ended, but others have not. */
bool procfs_main_ended(const struct pdet_env *env, uint32_t pid);
/* Whether a thread has ended. */
bool procfs_has_ended(const struct pdet_env *env, uint32_t tid);
/* The first thread of process @pid above @after that is not its main thread and
 * has not ended; 0: there is none. */
uint32_t procfs_other_thread(struct pdet_env *env, uint32_t pid,
			     uint32_t after);

/* --- hold.c --- */
/* Lets a stopped thread go on. */
void procfs_release(struct procfs_task *t);

/* --- unshown.c --- */
/*
 * Gets the ranges of [start, end) whose entries pagemap cannot show, ascending.
 * They may include addresses outside of all VMAs. Starts the list of VMAs
 * again. Returns 0 or a negative errno.
 */
int procfs_unshown(struct pdet_session *s, struct procfs_task *t,
		   uint64_t start, uint64_t end, struct pdet_ranges *ret);

#endif
