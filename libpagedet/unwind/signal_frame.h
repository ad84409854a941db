/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The frame that the kernel puts on a stack to call the handler of a signal. */
#ifndef PDET_UNWIND_SIGNAL_FRAME_H
#define PDET_UNWIND_SIGNAL_FRAME_H

#include "unwind/debug_frame.h"

/* Bytes of code that calls rt_sigreturn(). */
#define PDET_SIGNAL_RETURN 9

/* pdet_is_signal_return - whether a handler that returns there ends. */
bool pdet_is_signal_return(const uint8_t code[PDET_SIGNAL_RETURN]);

/* pdet_signal_pair - how that code at @ip is unwound, for C libraries that have
 * no table for it. */
void pdet_signal_pair(uint64_t ip, struct pdet_frame_pair *ret);

#endif
