/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The records of kmemtrace, which the kernel had from 2.6.29 to 2.6.35, and as
 * patches before. A record begins with u8 id, u8 family and u16 size, and its
 * size tells the width and the byte order.
 */
#ifndef PDET_TRACE_OLD_OLD_H
#define PDET_TRACE_OLD_OLD_H

#include "trace/kmem.h"

/* How records are written. */
struct pdet_old_form {
	bool relay;		/* u32 sequence, and all words have 8 bytes; a
				 * file for each processor. Otherwise u32
				 * processor and u64 ns, and words are those of
				 * the kernel */
	bool big_endian;
	uint8_t word;		/* 4 or 8 bytes */
	uint16_t extra;		/* bytes that every record has at its end, and
				 * nothing here knows */
};

/* What a record has beside the event. */
struct pdet_old_record {
	uint32_t size;
	uint32_t sequence;	/* of relay */
};

/* Room for the records that a form is found by. */
#define PDET_OLD_PEEK 4096u

/*
 * pdet_old_form - find the form of records that begin at @bytes. False: these
 * are not records. @relay: they are those of a processor.
 */
bool pdet_old_form(const unsigned char *bytes, size_t n, bool relay,
		   struct pdet_old_form *ret);

/*
 * pdet_old_take - decode a record. Returns 1; 0: there is only a part of it,
 * which needs ret->size bytes; -EBADMSG: it is not one. Of relay ns and cpu are
 * not set. Between those of the tracer there may be a line of text that events
 * were lost, which is an event without ns.
 */
int pdet_old_take(const struct pdet_old_form *f, const unsigned char *bytes,
		  size_t n, struct pdet_kmem_event *event,
		  struct pdet_old_record *ret);

#endif
