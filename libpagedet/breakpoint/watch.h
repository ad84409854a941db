/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Watches objects of the running kernel: a thread moves the breakpoints from
 * word to word, takes what they hit, and asks whether the objects still exist.
 */
#ifndef PDET_BREAKPOINT_WATCH_H
#define PDET_BREAKPOINT_WATCH_H

#include "breakpoint/ask.h"
#include "breakpoint/write.h"
#include "pagedet.h"

/*
 * pdet_bp_object_take - take what is at its address now. An object that had a
 * cache is gone if its page is not a slab any more, or one of another cache.
 */
void pdet_bp_object_take(struct pdet_bp_object *o, const struct pdet_at *at);

/*
 * pdet_bp_object_look - ask what is at its address now, and take it. What
 * changed while it was read is asked for again, some times. What cannot be told
 * has state 0.
 */
void pdet_bp_object_look(const struct pdet_bp_sources *sources,
			 struct pdet_env *env, struct pdet_bp_object *o);

/*
 * pdet_bp_object_map - whether memory is mapped at all of its addresses, which
 * do not wrap, and are as many as can be watched. Returns PAGEDET_HAVE;
 * PAGEDET_NONE, and sets *@hole to the first address that has none; or the
 * reason why that is not known.
 */
unsigned pdet_bp_object_map(const struct pdet_bp_sources *sources,
			    struct pdet_env *env,
			    const struct pdet_bp_object *o, uint64_t page_size,
			    uint64_t *hole);

struct pdet_bp_wants {
	struct pdet_bp_object *objects; /* copied */
	size_t n;
	uint64_t rate, window_ns; /* not 0 */
	uint32_t tid;		/* 0: all */
	bool only_writes;
	/* Sets state, why and cache; on the thread. NULL: nothing ever will
	 * be told. */
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
/* What it has seen, when it has been stopped, until it is freed. */
struct pdet_bp_text pdet_bp_watch_seen(const struct pdet_bp_watch *w);

/* pdet_bp_watch_word - what was seen of word @i; false: there is none. */
bool pdet_bp_watch_word(const struct pdet_bp_watch *w, size_t i,
			struct pagedet_kmap_word *ret);
void pdet_bp_watch_total(const struct pdet_bp_watch *w,
			 struct pagedet_kmap_watch_total *ret);
void pdet_bp_watch_free(struct pdet_bp_watch *w);

#endif
