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
#include "unwind/dwarf/cie.h"
#include "unwind/dwarf/eh_frame.h"

#define UNKNOWN 0xff

struct section {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
	unsigned word;
	size_t cie;		/* the last one; SIZE_MAX: none */
	unsigned form;		/* of its FDEs */
};

/* The form of addresses below the CIE at an offset. */
static unsigned form_at(struct section *s, size_t cie)
{
	struct pdet_frame_rest r;
	struct pdet_cie is;

	if (s->cie == cie)
		return s->form;
	s->cie = cie;
	s->form = pdet_frame_record(s->bytes, s->size, cie, &r) &&
		  pdet_cie_read(r, s->word, &is) ? is.form : UNKNOWN;
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

	if (!back || back > here || form_at(s, here - back) != PDET_FORM_PC_S4)
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
			unsigned word, struct pdet_eh_frame *ret)
{
	struct section s = { bytes, size, address, word, SIZE_MAX, UNKNOWN };
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

const struct pdet_eh_entry *pdet_eh_frame_before(const struct pdet_eh_frame *f,
						 int32_t ip)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (f->entries[mid].ip <= ip)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &f->entries[low - 1] : NULL;
}
