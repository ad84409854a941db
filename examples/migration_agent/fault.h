/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Shared by the files that do harm: the page, its bytes, and the truth. */
#ifndef FAULT_H
#define FAULT_H

#include "agent.h"

/* Prints the truth, for comparison with the report. */
void fault_done(const char *name, uint64_t page);
/* Of the source, which may have stopped before it was written. */
void fault_done_here(struct agent *a, const char *name, uint64_t page);
bool fault_not_done(void);

uint64_t fault_random(struct agent *a);
/*
 * Chooses a page that the guest has written and leaves alone, or, if @busy,
 * keeps writing.
 */
uint64_t fault_choose(struct agent *a, bool busy);
/* One that is not zero on that side, if a few tries find one. */
uint64_t fault_choose_data(struct agent *a, int side);
/* One of the source that is not zero, and that was sent; false: none yet. */
bool fault_choose_sent(struct agent *a, uint64_t *page);
bool fault_is_zero(const unsigned char *bytes);
bool fault_was_sent(struct agent *a, uint64_t page);
/* Reads or writes a page of a process: 0 or -1. */
int fault_transfer(struct agent *a, int side, uint64_t page, void *bytes,
		   bool write);
/*
 * Writes into a page's file, from its byte @from on, by write(2) or through
 * another mapping, which stays: 0 or -1.
 */
int fault_write_file(struct agent *a, int side, uint64_t page, bool mapped,
		     size_t from, const void *bytes, size_t len);

#endif
