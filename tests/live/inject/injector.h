/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What makes faults, and knows them. */
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
	int ram;		/* the file behind its memory; -1 none */
	uint64_t at[PAGES_MAX];	/* addresses */
};

struct move {
	struct side src, dst;
	int peer;		/* memory that evidence goes through */
	enum ram ram;
	uint32_t pages;
	uint64_t *random;
	struct order came[PAGES_MAX]; /* the packet that was delivered last */
	/* What goes on while the source explains, or the destination gathers:
	 * somebody stores there. */
	uint32_t moving_page;
	struct side *moving;
	void *mapped;		/* by us, of the source's memory */
	const char *no_swap;	/* why there is none; NULL: there is */
};

/* What happens to a page, and what has to be found. */
struct kind {
	const char *name;
	unsigned rule;
	const char *confidence;
	unsigned ram;		/* enum ram, where it can be done */
	uint32_t pages;		/* that it takes, one after the other */
	bool alone;		/* what it does is to all pages */
	bool in_guest;		/* needs what hosts need not have */
	bool absent;		/* is not sent at all before */
	bool zero;		/* is zero before it is sent last */
	/* The packets of its pages on their way; NULL: nothing happens. */
	void (*deliver)(struct move *m, struct order *packets, uint32_t page);
	/* Afterwards; the reason if it cannot be done. */
	const char *(*then)(struct move *m, uint32_t page);
	bool same;		/* what is sent last is what was there */
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

/* move_begin - two processes; @uid of both, @keeps of the source. */
void move_begin(struct move *m, const struct where *w, uint32_t keeps,
		uid_t uid);
void move_end(struct move *m);
/* tell - an order, and its answer. */
uint64_t tell(struct side *s, enum what what, uint32_t page, uint64_t arg);
void send_page(struct move *m, uint32_t page, struct order *packet);
void deliver(struct move *m, struct order *packet, uint32_t page);
/* The guests stand still, and all is explained. */
void explain(struct move *m);
/* store - somebody else's bytes into memory of a process, by /proc/PID/mem */
void store(const struct side *s, uint32_t page, const void *bytes, size_t len,
	   size_t offset);
void load(const struct side *s, uint32_t page, void *bytes);
uint64_t pagemap(const struct side *s, uint32_t page);

#define PM_PRESENT ((uint64_t)1 << 63)
#define PM_SWAP ((uint64_t)1 << 62)
#define PM_PFN (((uint64_t)1 << 55) - 1)

#endif
