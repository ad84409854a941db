/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A trace instance for one recording. Whoever made it holds a lock on its
 * directory, so that others see if the recorder has died.
 */
#ifndef PDET_RECORD_INSTANCE_H
#define PDET_RECORD_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

/* The name begins with this. */
#define PDET_INSTANCE_PREFIX "pagedet-kmem-"

struct pdet_instance {
	int instances;		/* the directory that it is in; -1: not open */
	int dir;		/* its own; -1: there is none */
	int on;			/* tracing_on, so that the end opens no file */
	const char *purpose;	/* "record allocations", of its errors */
	char name[48];
};

/*
 * pdet_instance_new - make one, and remove those of recorders that have died.
 * -EACCES: the caller may not trace; -ENOTSUP: the kernel cannot.
 */
int pdet_instance_new(struct pdet_env *env, const char *purpose,
		      struct pdet_instance *ret);

/*
 * pdet_instance_stray - the name of an instance whose recorder has died, by its
 * number from 0 on. False: there are not so many, or they cannot be seen.
 */
bool pdet_instance_stray(unsigned n, char *name, size_t size);

/* pdet_instance_end - remove it; nothing may be open below it. */
void pdet_instance_end(struct pdet_instance *i);

/*
 * pdet_instance_self - find the number that this thread has in the events of
 * the kernel: in a pid namespace it is not the one that gettid() has.
 */
int pdet_instance_self(struct pdet_env *env, const struct pdet_instance *i,
		       uint64_t *ret);

/* What is recorded. */
struct pdet_instance_wants {
	const char *clock;
	uint64_t buffer;	/* bytes of each processor */
	bool pages;		/* events of pages, too */
	bool stacks;		/* the stack of each event */
	uint64_t without[2];	/* threads whose own events are left out */
	unsigned n_without;
};

/*
 * pdet_instance_prepare - set everything but its events and its switch, and
 * forget what it has recorded so far. -ENOMEM: the buffers are too large.
 */
int pdet_instance_prepare(struct pdet_env *env, const struct pdet_instance *i,
			  const struct pdet_instance_wants *w);

/* pdet_instance_set - write one of its files, with an error text. */
int pdet_instance_set(struct pdet_env *env, const struct pdet_instance *i,
		      const char *name, const char *text);

/* pdet_instance_set_up - prepare it, and turn on events of allocation. */
int pdet_instance_set_up(struct pdet_env *env, const struct pdet_instance *i,
			 const struct pdet_instance_wants *w);

/* pdet_instance_switch - begin, or end. */
int pdet_instance_switch(struct pdet_env *env, const struct pdet_instance *i,
			 bool on);

/*
 * pdet_instance_event - the name of each event, for pages or not, from 0 on.
 * NULL: there are no more.
 */
const char *pdet_instance_event(bool pages, unsigned n);

#endif
