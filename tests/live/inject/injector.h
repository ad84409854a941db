/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The injector: it makes faults and knows them. */
#ifndef PAGEDET_TESTS_INJECTOR_H
#define PAGEDET_TESTS_INJECTOR_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "inject.h"

#define PAGES_MAX 64

enum ram {
	ANON = 1,
	THP = 2,
	MEMFD = 4,
	ON_DISK = 8
};

struct side {
	pid_t pid;
	int orders;
	int ram;		/* file of its memory; -1: none */
	uint64_t at[PAGES_MAX];	/* addresses */
};

struct move {
	struct side src, dst;
	int peer;		/* memory for evidence */
	enum ram ram;
	uint32_t pages;
	uint64_t *random;
	struct order came[PAGES_MAX]; /* the packet that was last delivered */
	/*
	 * While the source explains or the destination collects, another
	 * process stores to this page.
	 */
	uint32_t moving_page;
	struct side *moving;
	void *mapped;		/* this process's mapping of the source's
				 * memory */
	const char *no_swap;	/* why there is no swap; NULL: there is */
};

/* A kind of fault, and the finding that must result. */
struct kind {
	const char *name;
	unsigned rule;
	const char *confidence;
	unsigned ram;		/* enum ram: memory where it is possible */
	uint32_t pages;		/* number of consecutive pages it needs */
	bool alone;		/* it affects all pages */
	bool in_guest;		/* not every host supports it */
	bool absent;		/* the page is never sent before */
	bool zero;		/* it is zero before it is last sent */
	/* Changes packets on their way; NULL: changes none. */
	void (*deliver)(struct move *m, struct order *packets, uint32_t page);
	/* Runs after delivery. Returns why it is not possible, or NULL. */
	const char *(*then)(struct move *m, uint32_t page);
	bool running;		/* then runs before the source stops */
	bool same;		/* the last version sent equals the one
				 * before */
};

extern const struct kind kinds[];
extern const size_t n_kinds;

uint64_t random_of(uint64_t *state);
void nap(unsigned ms);
void die(const char *what) __attribute__((noreturn));

/* --- injector_move.c --- */

struct where {
	const char *vmm, *dir, *key, *nobodys_key;
	int findings;
};

/* move_begin - start two processes as user @uid; the source keeps @keeps. */
void move_begin(struct move *m, const struct where *w, uint32_t keeps,
		uid_t uid);
void move_end(struct move *m);
/* tell - send an order and return its answer. */
uint64_t tell(struct side *s, enum what what, uint32_t page, uint64_t arg);
void send_page(struct move *m, uint32_t page, struct order *packet);
void deliver(struct move *m, struct order *packet, uint32_t page);
/* Freezes both guests and lets them explain everything. */
void explain(struct move *m);
/* store - write bytes to a process's memory through /proc/PID/mem. */
void store(const struct side *s, uint32_t page, const void *bytes, size_t len,
	   size_t offset);
void load(const struct side *s, uint32_t page, void *bytes);
uint64_t pagemap(const struct side *s, uint32_t page);

#define PM_PRESENT ((uint64_t)1 << 63)
#define PM_SWAP ((uint64_t)1 << 62)
#define PM_PFN (((uint64_t)1 << 55) - 1)

#endif
