/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the records of .eh_frame (LSB, "Exception Frames"): a CIE says in what
 * form the addresses of its FDEs are. Only the form that compilers use for
 * programs below 2 GB is known; functions in another form are left out.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "unwind/eh_frame.h"
#include "unwind/frame_record.h"

#define FORM_PC_S4 0x1b

/* Each function may have a CIE of its own, so its length is limited. */
#define MOST_LETTERS 8
#define MOST_LEB 10		/* bytes of 64 bits */

static void skip(struct pdet_frame_rest *r, ptrdiff_t n)
{
	r->bad = r->bad || r->end - r->at < n;
	r->at += r->bad ? 0 : n;
}

static void skip_leb(struct pdet_frame_rest *r)
{
	unsigned n = 1;

	while (pdet_frame_u8(r) & 0x80)
		r->bad = r->bad || n++ == MOST_LEB;
}

static void skip_letters(struct pdet_frame_rest *r)
{
	unsigned n = 0;

	while (pdet_frame_u8(r))
		r->bad = r->bad || n++ == MOST_LETTERS;
}

static void skip_pointer(struct pdet_frame_rest *r, unsigned form)
{
	switch (form & 7) {
	case 0:
	case 4:
		skip(r, 8);
		break;
	case 2:
		skip(r, 2);
		break;
	case 3:
		skip(r, 4);
		break;
	default:
		r->bad = true;
	}
}

/* The form of addresses of a CIE's FDEs; 0xff: it is not known. */
static unsigned form_of(struct pdet_frame_rest r)
{
	const unsigned version = pdet_frame_u8(&r);
	const char *letters = (const char *)r.at;

	skip_letters(&r);
	if (r.bad || *letters++ != 'z')
		return 0xff;
	skip_leb(&r);		/* unit of code */
	skip_leb(&r);		/* unit of data */
	if (version == 1)
		pdet_frame_u8(&r); /* register of the return address */
	else
		skip_leb(&r);
	skip_leb(&r);		/* bytes of what the letters are about */
	for (; !r.bad; letters++) {
		if (*letters == 'R')
			return pdet_frame_u8(&r);
		if (*letters == 'P')
			skip_pointer(&r, pdet_frame_u8(&r));
		else if (*letters == 'L')
			pdet_frame_u8(&r);
		else if (*letters != 'S' && *letters != 'B')
			break;
	}
	return 0xff;
}

struct section {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
	size_t cie;		/* the last one; SIZE_MAX: none */
	unsigned form;		/* of its FDEs */
};

/* The form of addresses below the CIE at an offset. */
static unsigned form_at(struct section *s, size_t cie)
{
	struct pdet_frame_rest r;

	if (s->cie == cie)
		return s->form;
	s->cie = cie;
	s->form = pdet_frame_record(s->bytes, s->size, cie, &r) &&
		  !pdet_frame_u32(&r) ? form_of(r) : 0xff;
	return s->form;
}

/* Takes the record at an offset if it is an FDE. Returns false without
 * memory. */
static bool take_record(struct section *s, size_t at, struct pdet_frame_rest r,
			struct pdet_eh_frame *ret, size_t *cap)
{
	const size_t here = (size_t)(r.at - s->bytes);
	const uint32_t back = pdet_frame_u32(&r);
	struct pdet_eh_entry *bigger;
	int64_t ip;

	if (!back || back > here || form_at(s, here - back) != FORM_PC_S4)
		return true;
	ip = (int64_t)(s->address + here + 4) + (int32_t)pdet_frame_u32(&r);
	if (r.bad || ip != (int32_t)ip ||
	    (int64_t)(s->address + at) != (int32_t)(s->address + at))
		return true;
	if (ret->n == *cap) {
		bigger = pdet_vec_grow(ret->entries, cap, sizeof(*bigger));
		if (!bigger)
			return false;
		ret->entries = bigger;
	}
	ret->entries[ret->n++] = (struct pdet_eh_entry){
		(int32_t)ip, (int32_t)(s->address + at)
	};
	return true;
}

static int ascending(const void *a, const void *b)
{
	const struct pdet_eh_entry *x = a, *y = b;

	return (x->ip > y->ip) - (x->ip < y->ip);
}

int pdet_eh_frame_index(const uint8_t *bytes, size_t size, uint64_t address,
			struct pdet_eh_frame *ret)
{
	struct section s = { bytes, size, address, SIZE_MAX, 0xff };
	size_t at = 0, cap = 0;
	struct pdet_frame_rest r;

	*ret = (struct pdet_eh_frame){ NULL, 0 };
	while (pdet_frame_record(bytes, size, at, &r)) {
		if (!take_record(&s, at, r, ret, &cap)) {
			free(ret->entries);
			*ret = (struct pdet_eh_frame){ NULL, 0 };
			return -ENOMEM;
		}
		at = (size_t)(r.end - bytes);
	}
	if (ret->n)
		qsort(ret->entries, ret->n, sizeof(*ret->entries), ascending);
	return 0;
}
