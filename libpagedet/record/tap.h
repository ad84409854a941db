/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Takes the pages out of the trace buffer of one processor: through a mapping
 * of the buffer (since Linux 6.10, include/uapi/linux/trace_mmap.h), otherwise
 * by read(2) of trace_pipe_raw.
 */
#ifndef PDET_RECORD_TAP_H
#define PDET_RECORD_TAP_H

#include <stdbool.h>

#include "record/spool.h"
#include "record/tracefs.h"

struct pdet_tap_map;

struct pdet_tap {
	uint32_t cpu;
	int fd;			/* trace_pipe_raw */
	int dir;		/* of the instance */
	const struct pdet_tap_map *map; /* NULL: by read(2) */
	size_t map_size;
	const unsigned char *pages; /* of the mapping */
	bool pending;		/* the page in the slot may still grow */
	uint32_t reader;	/* the page of the mapping that it is */
	struct pdet_spool spool;
	uint64_t buffer;	/* bytes of the trace buffer */
	uint64_t taken;		/* bytes since it was empty */
	uint64_t lost;		/* events, when it was last looked at */
	uint64_t most;		/* bytes that came between two empty moments,
				 * with those that were lost; 0: it was always
				 * far from full */
};

/*
 * pdet_tap_open - @dir: of the instance; @folder: for its spool; @page: bytes
 * of a page of the buffer; @buffer: bytes of all. Negative errno. In any case
 * the caller leaves it, and closes its spool.
 */
int pdet_tap_open(struct pdet_tap *t, int dir, uint32_t cpu, const char *folder,
		  uint32_t page, uint64_t buffer);

/* pdet_tap_leave - close the buffer; its spool stays. */
void pdet_tap_leave(struct pdet_tap *t);

/* pdet_tap_take - take at most @most pages. Returns how many there were, or a
 * negative errno. Fewer than @most: the buffer is empty now. */
int pdet_tap_take(struct pdet_tap *t, int most);

/* pdet_tap_end - nothing more will come. Negative errno. */
int pdet_tap_end(struct pdet_tap *t);

#endif
