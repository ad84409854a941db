/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads records of .eh_frame and .debug_frame, which may be damaged. */
#ifndef PDET_UNWIND_DWARF_FRAME_RECORD_H
#define PDET_UNWIND_DWARF_FRAME_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What is left of a record. */
struct pdet_frame_rest {
	const uint8_t *at, *end;
	bool bad;		/* it ended too early */
};

/* Bytes of a CIE and an FDE. Those of large functions have 10 KB. */
#define PDET_FRAME_PAIR 65536

/* A CIE and an FDE in the form of .eh_frame, with their lengths. Unless they
 * are as the process has them, addresses are absolute. */
struct pdet_frame_pair {
	uint8_t bytes[PDET_FRAME_PAIR];
	size_t n, fde;		/* all, and the offset of the FDE */
	bool guessed;		/* perhaps the code has not that frame */
};

static inline void pdet_frame_take(struct pdet_frame_rest *r, void *to,
				   size_t n)
{
	r->bad = r->bad || (size_t)(r->end - r->at) < n;
	if (r->bad) {
		memset(to, 0, n);
		return;
	}
	memcpy(to, r->at, n);
	r->at += n;
}

static inline unsigned pdet_frame_u8(struct pdet_frame_rest *r)
{
	uint8_t v;

	pdet_frame_take(r, &v, sizeof(v));
	return v;
}

static inline uint32_t pdet_frame_u32(struct pdet_frame_rest *r)
{
	uint32_t v;

	pdet_frame_take(r, &v, sizeof(v));
	return v;
}

static inline unsigned pdet_frame_u16(struct pdet_frame_rest *r)
{
	uint16_t v;

	pdet_frame_take(r, &v, sizeof(v));
	return v;
}

static inline uint64_t pdet_frame_u64(struct pdet_frame_rest *r)
{
	uint64_t v;

	pdet_frame_take(r, &v, sizeof(v));
	return v;
}

/* LEB128 of 64 bits has at most 10 bytes. *@last is the last one. */
static inline uint64_t pdet_frame_leb(struct pdet_frame_rest *r,
				      unsigned *shift, unsigned *last)
{
	uint64_t v = 0;

	*shift = 0;
	do {
		*last = pdet_frame_u8(r);
		r->bad = r->bad || *shift > 63;
		if (r->bad)
			return 0;
		v |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += 7;
	} while (*last & 0x80);
	return v;
}

static inline uint64_t pdet_frame_uleb(struct pdet_frame_rest *r)
{
	unsigned shift, last;

	return pdet_frame_leb(r, &shift, &last);
}

static inline int64_t pdet_frame_sleb(struct pdet_frame_rest *r)
{
	unsigned shift, last;
	uint64_t v = pdet_frame_leb(r, &shift, &last);

	if (last & 0x40 && shift < 64)
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

/* A part of a record. It is empty if the record ends before. */
static inline struct pdet_frame_rest pdet_frame_part(struct pdet_frame_rest *r,
						     uint64_t n)
{
	struct pdet_frame_rest part = { r->at, r->at, false };

	r->bad = r->bad || n > (uint64_t)(r->end - r->at);
	if (r->bad) {
		part.bad = true;
		return part;
	}
	r->at += n;
	part.end = r->at;
	return part;
}

/* pdet_frame_record - the record at an offset of a section, without its length.
 * Returns false at the end, and for records of 64-bit DWARF. */
static inline bool pdet_frame_record(const uint8_t *bytes, size_t size,
				     size_t at, struct pdet_frame_rest *ret)
{
	struct pdet_frame_rest r;
	uint32_t length;

	if (at >= size)
		return false;
	r = (struct pdet_frame_rest){ bytes + at, bytes + size, false };
	length = pdet_frame_u32(&r);
	if (r.bad || !length || length > (size_t)(r.end - r.at))
		return false;
	*ret = (struct pdet_frame_rest){ r.at, r.at + length, false };
	return true;
}

#endif
