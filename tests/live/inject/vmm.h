/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A process that stands in for a VMM with an agent. */
#ifndef PAGEDET_TESTS_VMM_H
#define PAGEDET_TESTS_VMM_H

#include <stdbool.h>

#include "inject.h"
#include "pagedet.h"

#define PASSES 8

/* The known facts about a sent page. */
struct sent {
	uint64_t hash[PASSES];	/* for each pass in which it was sent */
	bool in[PASSES];
	unsigned last;		/* pass; 0 never sent */
	uint64_t last_ns;
	bool zero;
	uint64_t before;	/* hash of its memory just before that */
	bool zero_before;
	bool written;		/* since then, as far as it was read */
};

/* The known facts about a page when the guest stopped. */
struct stopped {
	uint64_t hash;
	bool known, zero;
};

struct vmm {
	struct pagedet *pd;
	struct pagedet_track *track;
	unsigned char *ram;
	size_t ram_len;
	bool huge;
	uint32_t pages;		/* pages in use */
	uint32_t keeps;
	unsigned pass;
	bool paused, ran;	/* ran: resumed after it had stopped */
	struct sent *sent;
	struct stopped *stopped;
	char mark[65536];
	int mark_len;
};

void vmm_die(const char *what) __attribute__((noreturn));

unsigned char *vmm_at(const struct vmm *v, uint32_t page);

/* vmm_look_stopped - read all existing pages when the guest stops. */
void vmm_look_stopped(struct vmm *v);

/*
 * vmm_give - collect evidence and write it, with the bytes, to FD_PEER. Returns
 * the length of the evidence.
 */
uint64_t vmm_give(struct vmm *v);

/* vmm_explain - explain all pages; findings go to FD_FINDINGS. */
void vmm_explain(struct vmm *v, uint64_t peer_len);

#endif
