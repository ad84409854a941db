/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Both are in the form of .eh_frame. */
#include <string.h>

#include "unwind/frame_pair.h"

static void put(struct pdet_frame_pair *p, const void *from, size_t n)
{
	memcpy(p->bytes + p->n, from, n);
	p->n += n;
}

static void put_length(struct pdet_frame_pair *p, size_t start)
{
	const uint32_t n = (uint32_t)(p->n - start - sizeof(n));

	memcpy(p->bytes + start, &n, sizeof(n));
}

void pdet_pair_begin(struct pdet_frame_pair *p, bool is_signal)
{
	/* Units of code and data, register of the return address, addresses of
	 * eight bytes. */
	static const uint8_t units[] = "\1\x78\x10\1\4";

	p->n = 0;
	put(p, "\0\0\0\0\0\0\0\0\1zR", 11); /* version 1 */
	if (is_signal)
		pdet_pair_put(p, 'S');
	pdet_pair_put(p, 0);
	put(p, units, sizeof(units) - 1);
}

void pdet_pair_put(struct pdet_frame_pair *p, unsigned byte)
{
	p->bytes[p->n++] = (uint8_t)byte;
}

void pdet_pair_put_number(struct pdet_frame_pair *p, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		pdet_pair_put(p, 0x80 | (n & 0x7f));
	pdet_pair_put(p, (unsigned)n);
}

void pdet_pair_end(struct pdet_frame_pair *p, uint64_t ip)
{
	const uint64_t bytes = 1;
	uint32_t back;

	put_length(p, 0);
	p->fde = p->n;
	back = (uint32_t)p->n + 4;
	put(p, "\0\0\0", 4);
	put(p, &back, sizeof(back));
	put(p, &ip, sizeof(ip));
	put(p, &bytes, sizeof(bytes));
	put(p, "\0\0\0", 4);	/* no augmentation, no instructions */
	put_length(p, p->fde);
}
