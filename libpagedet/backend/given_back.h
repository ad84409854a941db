/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Frames that were given away, and back. Where memory is short, a page may be
 * swapped out and its frame be the next one that the same address gets: the
 * entry is the same before and after, but the page was looked at in between,
 * when the frame was nobody's or somebody else's. What a row says that is not
 * as it is of mapped pages is therefore read again. Pages of drivers stay as
 * they are: mapped, and nothing of the page says so.
 */
#ifndef PDET_BACKEND_GIVEN_BACK_H
#define PDET_BACKEND_GIVEN_BACK_H

#include "schema/batch.h"

enum pdet_given_back {
	PDET_READ_FLAGS = 1,
	PDET_READ_MAPCOUNT = 2
};

/* pdet_given_back_read - what must be read again of the page of a row that has
 * a present entry: PDET_READ_*, mostly nothing. Only what @source has said is
 * looked at. */
unsigned pdet_given_back_read(const struct pdet_batch *b, uint32_t row,
			      unsigned source);

/* pdet_given_back - whether what was read again, @flags (KPF bits) and
 * @mapcount, shows that the row has another page. @read says which of them
 * were. */
bool pdet_given_back(const struct pdet_batch *b, uint32_t row, unsigned source,
		     unsigned read, uint64_t flags, uint64_t mapcount);

#endif
