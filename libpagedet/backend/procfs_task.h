/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A task opened through /proc, shared by the files about tasks. */
#ifndef PDET_BACKEND_PROCFS_TASK_H
#define PDET_BACKEND_PROCFS_TASK_H

#include "backend/procfs.h"

/* A line of maps is at most a path of 4096 bytes, four for an escaped one. */
#define PROCFS_MAPS_BUFFER 65536

struct procfs_task {
	struct pdet_task task;
	struct procfs *p;
	int pagemap;		/* -1: a kernel thread, which has no address
				 * space */
	int maps;		/* -1: not opened yet */
	bool pagemap_handed;	/* descriptors that are not ours to close */
	bool maps_handed;
	uint64_t start_time;	/* in clock ticks since boot; 0 not read */
	int sparse;		/* -1 not looked yet */
	char *text;		/* of maps, for one VMA after the other */
	size_t text_at, text_len;
	bool text_end;
	char name[4096];	/* of the last vma_at() */
};

static inline struct procfs_task *procfs_task_of(struct pdet_task *t)
{
	return PDET_CONTAINER(t, struct procfs_task, task);
}

/* From the ioctl, of the VMA that covers @addr or is the next one: 1, 0 none,
 * or negative errno without words; -ENOTTY where it does not exist. The name
 * is there only if the query wants it. */
int procfs_query_vma(struct pdet_session *s, struct procfs_task *t,
		     uint64_t addr, struct pdet_vma *ret);

/* @n words of pagemap from @start on: how many, fewer at the end of the address
 * space, 0 when it is gone; or negative errno. */
ssize_t procfs_pagemap_words(struct pdet_session *s, struct procfs_task *t,
			     uint64_t start, size_t n, uint64_t *ret);

#endif
