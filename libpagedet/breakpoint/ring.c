/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A record may go on at the begin of the ring. */
#include <linux/perf_event.h>
#include <string.h>

#include "breakpoint/ring.h"

/* As PERF_SAMPLE_IDENTIFIER | _IP | _TID | _TIME has it. */
struct sample {
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
};

struct lost {
	uint64_t id, lost;
};

static void copy(const struct pdet_bp_ring *r, uint64_t at, void *to, size_t n)
{
	const uint64_t from = at & (r->size - 1);
	const size_t first = PDET_MIN(n, (size_t)(r->size - from));

	memcpy(to, r->data + from, first);
	memcpy((char *)to + first, r->data, n - first);
}

static bool is_sound(const struct perf_event_header *h, uint64_t left)
{
	const size_t body = h->type == PERF_RECORD_SAMPLE ?
				    sizeof(struct sample) :
			    h->type == PERF_RECORD_LOST ? sizeof(struct lost) :
							  0;

	return h->size <= left && h->size % 8 == 0 &&
	       h->size >= sizeof(*h) + body;
}

void pdet_bp_ring_take(const struct pdet_bp_ring *r, uint64_t tail,
		       uint64_t head,
		       void (*visit)(void *arg, const struct pdet_bp_sample *s),
		       void *arg, struct pdet_bp_seen *seen)
{
	struct perf_event_header h;
	struct sample s;
	struct lost l;

	if (head - tail > r->size) {
		seen->broken++;
		return;
	}
	for (; tail != head; tail += h.size) {
		h.size = 0;
		if (head - tail >= sizeof(h))
			copy(r, tail, &h, sizeof(h));
		if (!h.size || !is_sound(&h, head - tail)) {
			seen->broken++;
			return;
		}
		if (h.type == PERF_RECORD_SAMPLE) {
			copy(r, tail + sizeof(h), &s, sizeof(s));
			seen->samples++;
			visit(arg, &(struct pdet_bp_sample){
				s.id, s.ip, s.pid, s.tid, s.time });
		} else if (h.type == PERF_RECORD_LOST) {
			copy(r, tail + sizeof(h), &l, sizeof(l));
			seen->lost += l.lost;
		}
	}
}
