/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The bytes may be hostile: a search takes at most 32 reads, and records have a
 * limit. */
#include <errno.h>

#include "unwind/dwarf/eh_frame.h"
#include "unwind/dwarf/eh_header.h"
#include "unwind/dwarf/eh_search.h"

static int get(const struct pdet_eh_memory *m, uint64_t addr, void *buf,
	       size_t n)
{
	return m->read(m->arg, addr, buf, n);
}

int pdet_eh_search(const struct pdet_eh_memory *m, uint64_t header, uint64_t ip,
		   uint64_t *fde)
{
	const int32_t wanted = (int32_t)(ip - header);
	struct pdet_eh_header h;
	struct pdet_eh_entry e, found = { 0, 0 };
	uint32_t low = 0, high;
	int r = get(m, header, &h, sizeof(h));

	if (r < 0)
		return r;
	if (!pdet_eh_header_known(&h))
		return -ENOTSUP;
	high = h.count;
	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		r = get(m, header + sizeof(h) + (uint64_t)mid * sizeof(e), &e,
			sizeof(e));
		if (r < 0)
			return r;
		if (e.ip <= wanted) {
			found = e;
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	*fde = header + (uint64_t)(int64_t)found.fde;
	return low ? 0 : -ENOENT;
}

/* Appends a record with its length. */
static int take(const struct pdet_eh_memory *m, uint64_t addr,
		struct pdet_frame_pair *p)
{
	const size_t room = sizeof(p->bytes) - p->n;
	uint32_t length;
	int r = get(m, addr, &length, sizeof(length));

	if (r < 0)
		return r;
	/* Records of 64-bit DWARF have no length here. */
	if (room < sizeof(length) || length > room - sizeof(length))
		return -EBADMSG;
	memcpy(p->bytes + p->n, &length, sizeof(length));
	r = get(m, addr + sizeof(length), p->bytes + p->n + sizeof(length),
		length);
	p->n += sizeof(length) + length;
	return r;
}

/* @back: the distance from the word after the length, which has it. libunwind
 * takes it for a signed number. */
static uint64_t cie_of(uint64_t fde, int32_t back)
{
	return fde + sizeof(uint32_t) - (uint64_t)(int64_t)back;
}

uint64_t pdet_eh_cie(const struct pdet_frame_pair *p, uint64_t fde)
{
	int32_t back;

	memcpy(&back, p->bytes + p->fde + sizeof(uint32_t), sizeof(back));
	return cie_of(fde, back);
}

int pdet_eh_records(const struct pdet_eh_memory *m, uint64_t fde,
		    struct pdet_frame_pair *ret)
{
	int32_t back;
	int r = get(m, fde + sizeof(uint32_t), &back, sizeof(back));

	ret->n = 0;
	if (r == 0)
		r = take(m, cie_of(fde, back), ret);
	ret->fde = ret->n;
	if (r == 0)
		r = take(m, fde, ret);
	return r < 0 ? r : ret->n - ret->fde < 2 * sizeof(back) ? -EBADMSG : 0;
}
