/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes one KMAP of what is read again and again. Each object is kept once, as
 * it was at last: one that is live when it is read comes again, and so does one
 * that the kernel did not clear. The lines stay as they are.
 */
#ifndef PDET_MEMORIZER_MERGE_H
#define PDET_MEMORIZER_MERGE_H

#include "base/pairs.h"
#include "base/text/text.h"
#include "record/spool.h"

/* Longer lines are strange. */
#define PDET_MERGE_LINE ((size_t)1 << 16)

struct pdet_merge {
	struct pdet_spool spool;
	size_t staged;		/* bytes in its slot */
	char *line;		/* the begin of a line whose end is not there */
	size_t n_line;
	bool skips;		/* inside a line that is too long */
	bool keeps;		/* what belongs to the last object */
	bool is_last;		/* live objects are kept, too */
	bool repeats;		/* the reading before was not cleared */
	/* How many objects of each key were read, and may come again. */
	struct pdet_pairs live[2], freed[2]; /* before, and now */
	uint64_t objects, n_live, accesses, bytes;
	uint64_t repeated, vanished, strange;
	bool cut;
};

/* These return 0, or a negative errno. */

/* pdet_merge_open - begin, with a file below the directory @folder. */
int pdet_merge_open(struct pdet_merge *m, const char *folder);
void pdet_merge_close(struct pdet_merge *m);

/* pdet_merge_begin - begin a reading; @is_last: nothing comes after it. */
void pdet_merge_begin(struct pdet_merge *m, bool is_last);

/* pdet_merge_feed - take the next text, which may end anywhere. */
int pdet_merge_feed(struct pdet_merge *m, const char *text, size_t n);

/*
 * pdet_merge_end - end a reading. @cleared: the kernel has forgotten the freed
 * objects of it.
 */
void pdet_merge_end(struct pdet_merge *m, bool cleared);

/* pdet_merge_write - write all that was kept to @fd. */
int pdet_merge_write(struct pdet_merge *m, int fd);

#endif
