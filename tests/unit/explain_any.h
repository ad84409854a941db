/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Makes random evidence, for tests of properties that hold for any evidence. */
#ifndef TESTS_UNIT_EXPLAIN_ANY_H
#define TESTS_UNIT_EXPLAIN_ANY_H

#include "explain.h"

/* libcheck's own macro is too slow for so many checks. */
#define HOLDS(promise) do {                                                  \
	if (!(promise))                                                      \
		ck_abort_msg("broken: %s", #promise);                        \
} while (0)

static uint64_t seed;

static inline uint64_t some(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static inline void some_row(struct pagedet_page *row)
{
	unsigned f;
	uint64_t i;

	for (i = 0; i < sizeof(*row) / 8; i++) {
		const uint64_t v = some(3) ? some(4) : some(~0ull);

		memcpy((char *)row + i * 8, &v, 8);
	}
	for (f = 0; f < PAGEDET_FIELDS_MAX; f++)
		row->cell[f] = (uint16_t)(some(3) ? PAGEDET_HAVE :
					  some(0x10000));
	if (some(2))
		row->kind = (uint32_t)some(20);
	if (some(2))
		row->flags_known = ~0ull;
	if (some(2))
		row->pte_known = 0xffff;
}

static inline void some_evidence(void)
{
	unsigned v;

	setup();
	if (some(50) == 0) {	/* not even valid numbers */
		uint64_t i, x;

		for (i = 8; i < sizeof(e); i += 8) {
			x = some(~0ull);
			memcpy((char *)&e + i, &x, 8);
		}
	}
	some_row(&here);
	some_row(&peer);
	for (v = 0; v < 4; v++) {
		e.hash[v] = some(4);
		e.hash_key[v] = some(8) == 0;
		e.hash_state[v] = some(3) ? PAGEDET_HAVE : (uint32_t)some(31);
		e.zero[v] = (uint32_t)some(3);
	}
	e.one_host = (uint32_t)some(3);
	e.here_frozen = some(3) ? PAGEDET_YES : (uint32_t)some(3);
	e.peer_frozen = some(3) ? PAGEDET_YES : (uint32_t)some(3);
	e.here_read = (uint32_t)some(4);
	e.peer_read = (uint32_t)some(4);
	e.track = (uint32_t)some(5);
	e.compared = (uint32_t)some(3);
	e.bits = some(3);
	e.bytes = e.bits;
	e.shape = (uint32_t)some(12);
	e.file_written = (uint32_t)some(3);
	e.extra_mappers = (uint32_t)some(3);
	e.counters_here = (uint32_t)some(3);
	e.counters_peer = (uint32_t)some(3);
	e.same_as_other = (uint32_t)some(3);
	e.unique = (uint32_t)some(3);
	e.earlier = (uint32_t)some(3);
	e.mode = (uint32_t)some(7);
	e.peer_complete = (uint32_t)some(3);
	e.peer_discarded = (uint32_t)some(3);
	e.alloc_task = (uint32_t)some(3);
	e.no_swap = (uint32_t)some(3);
	e.peer_hole = (uint32_t)some(3);
	for (v = 0; v < 4; v++) {
		e.more_hash[v] = some(4);
		e.more_key[v] = some(8) == 0;
		e.more_state[v] = some(3) ? PAGEDET_HAVE : (uint32_t)some(31);
		e.more_zero[v] = (uint32_t)some(3);
	}
	e.here_hole = (uint32_t)some(3);
	e.here_missing = some(3) ? PAGEDET_NO : (uint32_t)some(3);
	e.peer_missing = some(3) ? PAGEDET_NO : (uint32_t)some(3);
	e.here_discarded = (uint32_t)some(3);
	e.sent_stopped = (uint32_t)some(3);
	e.here_ran = some(3) ? PAGEDET_NO : (uint32_t)some(3);
	e.peer_ran = some(3) ? PAGEDET_NO : (uint32_t)some(3);
	e.stopped_drained = some(3) ? PAGEDET_YES : (uint32_t)some(3);
	e.here_other_maps = (uint32_t)some(3);
	e.peer_other_maps = (uint32_t)some(3);
	e.file_ns = some(3);
	e.hash_ns[PAGEDET_AS_SENT] = some(3);
	e.size = sizeof(e);
	e.id = 77;
}

#endif
