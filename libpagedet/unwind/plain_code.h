/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinds code of x86-64 without a table by its own instructions, from the
 * start of the function.
 */
#ifndef PDET_UNWIND_PLAIN_CODE_H
#define PDET_UNWIND_PLAIN_CODE_H

#include "unwind/debug_frame.h"

#define PDET_PLAIN_HEAD 64
#define PDET_PLAIN_TAIL 6

struct pdet_plain_code {
	/* The first bytes of the function. */
	uint8_t head[PDET_PLAIN_HEAD];
	/* The last bytes up to where the thread is, and one more: if that is a
	 * return address, they end with a call. Zeros before the function. */
	uint8_t tail[PDET_PLAIN_TAIL];
	uint64_t n;		/* bytes from the start to the end of tail */
};

enum pdet_plain {
	PDET_PLAIN_NOT,		/* it cannot be said */
	PDET_PLAIN_PROVED,	/* the instructions so far only pushed */
	PDET_PLAIN_LIKELY	/* the function began with making a frame
				 * pointer, and perhaps it still has it */
};

/* pdet_plain_pair - make the pair for @ip, the address of the last byte of the
 * tail, unless the answer is PDET_PLAIN_NOT. */
enum pdet_plain pdet_plain_pair(const struct pdet_plain_code *c, uint64_t ip,
				struct pdet_frame_pair *ret);

#endif
