/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The numbers are those of SplitMix64, whose results are the same on every
 * machine, so that a seed repeats a choice.
 */
#include <string.h>

#include "base/text/text.h"
#include "breakpoint/draw.h"

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* What a modulus prefers is less than 1 of 2^24, as memory is smaller. */
uint64_t pdet_bp_draw(struct pdet_bp_draw *d)
{
	const uint64_t pfn = d->pfns.data[next(&d->state) % d->pfns.n];

	return d->direct + pfn * d->page_size +
	       next(&d->state) % d->page_size;
}

/* A name may have blanks: the offset is behind the last one with a sign. */
bool pdet_bp_said(const char *text, size_t len, struct pdet_bp_said *ret)
{
	static const char object[] = "object ", in[] = " in ";
	const char *end = text + len, *name, *sign;
	struct pdet_scan s;
	uint64_t v;

	if (len < strlen(object) || memcmp(text, object, strlen(object)))
		return false;
	name = memmem(text, len, in, strlen(in));
	if (!name)
		return false;
	name += strlen(in);
	for (sign = end - 4; sign > name; sign--)
		if (sign[0] == ' ' && (sign[1] == '+' || sign[1] == '-') &&
		    sign[2] == '0' && sign[3] == 'x')
			break;
	if (sign <= name)
		return false;
	s = (struct pdet_scan){ sign + 4, end };
	if (!pdet_scan_hex(&s, &v) || v > INT64_MAX)
		return false;
	*ret = (struct pdet_bp_said){ name, (size_t)(sign - name),
				      sign[1] == '-' ? -(int64_t)v :
						       (int64_t)v };
	return true;
}
