/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A process that stands in for a VMM with an agent in it. */
#ifndef PAGEDET_TESTS_VMM_H
#define PAGEDET_TESTS_VMM_H

#include <stdbool.h>

#include "inject.h"
#include "pagedet.h"

#define PASSES 8

/* What is known of a page that was sent. */
struct sent {
	uint64_t hash[PASSES];	/* by pass, of those that it was sent in */
	bool in[PASSES];
	unsigned last;		/* pass; 0 never */
	uint64_t last_ns;
	bool zero;
	bool written;		/* since then, as far as it was read */
};

struct vmm {
	struct pagedet *pd;
	struct pagedet_track *track;
	unsigned char *ram;
	size_t ram_len;
	bool huge;
	uint32_t pages;		/* that are in play */
	uint32_t keeps;
	unsigned pass;
	bool paused;
	struct sent *sent;
	char mark[65536];
	int mark_len;
};

void vmm_die(const char *what) __attribute__((noreturn));

unsigned char *vmm_at(const struct vmm *v, uint32_t page);

/* vmm_give - gathers evidence, and puts it, with the bytes, into FD_PEER.
 * Returns the length of the evidence. */
uint64_t vmm_give(struct vmm *v);

/* vmm_explain - explains all pages; findings go to FD_FINDINGS. */
void vmm_explain(struct vmm *v, uint64_t peer_len);

#endif
