/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes DAMON's events: a format file up to a NUL, then records of 64 bytes.
 * Whatever they say, regions are in order, and a page is in at most one.
 */
#include "fuzz.h"
#include "heat/heat.h"
#include "pagedet.h"

#define RECORD 64u

static void check(const struct pdet_heat_monitor *m)
{
	size_t i;

	for (i = 0; i < m->regions.n; i++) {
		MUST(m->regions.data[i].start < m->regions.data[i].end);
		MUST(!i || m->regions.data[i - 1].end <=
			   m->regions.data[i].start);
		MUST(!m->checks || m->regions.data[i].accesses <= m->checks);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_damon damon = { .is_physical = true, .unit = 4096,
				    .sample_us = 1, .interval_us = 20 };
	const uint8_t *end = memchr(data, 0, size);
	struct pdet_heat h = { .state = PAGEDET_HAVE };
	struct pdet_heat_layout layout;
	struct pdet_heat_event e;
	size_t i;

	if (!end || pdet_heat_layout_parse((const char *)data,
					   (size_t)(end - data), &layout))
		return 0;
	h.damons = (struct pdet_damons){ .data = &damon, .n = 1 };
	for (end++; end < data + size; end += RECORD) {
		const size_t left = (size_t)(data + size - end);
		const uint32_t len = left < RECORD ? (uint32_t)left : RECORD;

		if (pdet_heat_take(&layout, end, len, false, &e) <= 0)
			continue;
		damon.thread = e.thread;
		e.ns = e.target >> 32;
		e.target &= 3;
		MUST(pdet_heat_add(&h, &e));
		if (e.age % 8 == 0)
			MUST(pdet_heat_digest(&h, false));
	}
	MUST(pdet_heat_digest(&h, true));
	MUST(!h.events.n);
	for (i = 0; i < h.monitors.n; i++)
		check(&h.monitors.data[i]);
	h.damons = (struct pdet_damons){ .n = 0 };
	pdet_heat_end(&h);
	return 0;
}
