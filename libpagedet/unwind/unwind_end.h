/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Why a stack ends before it is complete. */
#ifndef PDET_UNWIND_UNWIND_END_H
#define PDET_UNWIND_UNWIND_END_H

#include <errno.h>

#define PDET_UNWIND_DAMAGED_STACK "the stack is damaged"
#define PDET_UNWIND_DAMAGED_TABLE "the table for unwinding is damaged"
#define PDET_UNWIND_MORE "there are more frames"
#define PDET_UNWIND_NO_MEMORY "there is no memory to unwind it"
#define PDET_UNWIND_NO_REGISTER "a register that is needed is not known"
#define PDET_UNWIND_NO_TABLE "there is no table for unwinding this code"
#define PDET_UNWIND_SIGNAL_AT_0 "a signal came at address 0"
#define PDET_UNWIND_THREAD_AT_0 "the thread is at address 0"
#define PDET_UNWIND_UNKNOWN_FORM \
	"the table for unwinding has an unknown form"

/* pdet_unwind_unread - why it ends where read() of struct pdet_unwind_target
 * failed. */
static inline const char *pdet_unwind_unread(int error)
{
	switch (error) {
	case -ENXIO:
		return "memory that is needed is not present: perhaps swapped "
		       "out";
	case -ENODATA:
		return "memory that is needed is not in the dump";
	default:
		return "memory that is needed cannot be read";
	}
}

#endif
