/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Watches objects of the running kernel: a thread moves the breakpoints from
 * word to word, takes what they hit, and asks whether the objects still exist.
 */
#ifndef PDET_BREAKPOINT_WATCH_H
#define PDET_BREAKPOINT_WATCH_H

#include "breakpoint/ask.h"
#include "breakpoint/hits.h"
#include "pagedet.h"

#define PDET_BP_NAME 64

/* A range of bytes to watch. */
struct pdet_bp_object {
	uint64_t address, bytes;
	char cache[PDET_BP_NAME]; /* its slab cache; "" none, or not known */
	bool is_data;		/* a variable of the kernel */
	unsigned state;		/* PAGEDET_OBJECT_*, or 0: not known */
};

/*
 * pdet_bp_object_take - take what is at its address now. An object that had a
 * cache is gone if its page is not a slab any more, or one of another cache.
 */
void pdet_bp_object_take(struct pdet_bp_object *o, const struct pdet_at *at);

struct pdet_bp_wants {
	struct pdet_bp_object *objects; /* copied */
	size_t n;
	uint64_t rate, window_ns; /* not 0 */
	uint32_t tid;		/* 0: all */
	bool only_writes;
	/* Sets the states; on the thread, or on that of the caller. NULL: it
	 * cannot be told. */
	void (*look)(void *arg, struct pdet_bp_object *objects, size_t n);
	void *arg;
};

struct pdet_bp_watch;

/* These return 0, or a negative errno with an error text. */
int pdet_bp_watch_new(struct pdet_env *env, const struct pdet_bp_wants *wants,
		      struct pdet_bp_watch **ret);
/* The second time it does nothing, and has the same result. */
int pdet_bp_watch_stop(struct pdet_bp_watch *w, struct pdet_env *env);
/* Writes it as a KMAP, when it has been stopped. */
int pdet_bp_watch_write(const struct pdet_bp_watch *w, struct pdet_env *env,
			int fd);

/* pdet_bp_watch_word - what was seen of word @i; false: there is none. */
bool pdet_bp_watch_word(const struct pdet_bp_watch *w, size_t i,
			struct pagedet_kmap_word *ret);
void pdet_bp_watch_total(const struct pdet_bp_watch *w,
			 struct pagedet_kmap_watch_total *ret);
void pdet_bp_watch_free(struct pdet_bp_watch *w);

/* --- turns.c --- */
/* How a piece was watched. */
struct pdet_bp_turns {
	uint64_t windows;	/* 0: it never had a turn, and is not written */
	uint64_t ns, limited;
	uint64_t turn_ns, turn_hits; /* of the turn that goes on */
};

/* pdet_bp_turns_add - a piece was watched for @ns more of its turn. */
void pdet_bp_turns_add(struct pdet_bp_turns *t, uint64_t ns, uint64_t hits,
		       bool limited);

/*
 * pdet_bp_turns_end - count the turn. One that took no time and had no hit is
 * none; a thread, @may_sleep, may have slept all the time.
 */
void pdet_bp_turns_end(struct pdet_bp_turns *t, bool may_sleep);

/* --- write.c --- */

struct pdet_bp_text {
	const struct pdet_bp_object *objects;
	const struct pdet_bp_turns *turns; /* of each piece */
	const struct pdet_bp_plan *plan;
	const struct pdet_bp_hits *hits;
};

/* pdet_bp_write - write a KMAP whose objects are the words. */
int pdet_bp_write(struct pdet_env *env, int fd, const struct pdet_bp_text *t);

#endif
