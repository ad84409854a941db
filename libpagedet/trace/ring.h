/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A page of the kernel's trace ring buffer, as trace_pipe_raw and trace.dat
 * have it (kernel/trace/ring_buffer.c): a time, the length of its data, and
 * events, each with the time since the one before it.
 */
#ifndef PDET_TRACE_RING_H
#define PDET_TRACE_RING_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* From the file events/header_page. */
struct pdet_ring_layout {
	uint32_t bytes;		/* of a page */
	uint32_t commit_at, commit_size;
	uint32_t data_at;
	bool big_endian;	/* the file does not say it */
};

/*
 * pdet_ring_layout_parse - read header_page. -EBADMSG: it is not one, or has
 * pages of impossible sizes.
 */
int pdet_ring_layout_parse(const char *text, size_t len, bool big_endian,
			   struct pdet_ring_layout *ret);

/*
 * pdet_ring_fits - whether a page of layout->bytes bytes can be one in this
 * byte order.
 */
bool pdet_ring_fits(const struct pdet_ring_layout *layout,
		    const unsigned char *page);

/* How many events were lost right before a page. */
#define PDET_RING_LOST_UNKNOWN UINT64_MAX

struct pdet_ring {
	const unsigned char *at, *end;
	uint64_t ns;		/* of the last event */
	uint64_t lost;		/* before this page, or UNKNOWN */
	bool big_endian;
};

/*
 * pdet_ring_begin - start with a page of layout->bytes bytes. -EBADMSG: its
 * length does not fit; nothing of it can be read.
 */
int pdet_ring_begin(struct pdet_ring *r, const struct pdet_ring_layout *layout,
		    const unsigned char *page);

/*
 * pdet_ring_next - the next event: 1 and its record; 0 at the end of the page;
 * -EBADMSG if what follows is not an event: the rest of the page is lost.
 */
int pdet_ring_next(struct pdet_ring *r, const unsigned char **record,
		   uint32_t *len);

/* pdet_ring_number - an integer of 1, 2, 4 or 8 bytes; others are 0. */
static inline uint64_t pdet_ring_number(const unsigned char *p, unsigned size,
					bool big_endian)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (size) {
	case 1:
		return *p;
	case 2:
		memcpy(&v16, p, 2);
		return big_endian ? be16toh(v16) : le16toh(v16);
	case 4:
		memcpy(&v32, p, 4);
		return big_endian ? be32toh(v32) : le32toh(v32);
	case 8:
		memcpy(&v64, p, 8);
		return big_endian ? be64toh(v64) : le64toh(v64);
	default:
		return 0;
	}
}

#endif
