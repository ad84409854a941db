/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes a stack as a text when it comes first. */
#include <string.h>

#include "allocs/keys.h"
#include "base/hash.h"

/* Of the texts of all stacks together: names can be long. */
#define MOST_BYTES ((size_t)256 << 20)

struct line {
	char *data;
	size_t n, cap;
};

static bool put(struct line *l, const char *text, size_t n)
{
	if (!pdet_vec_reserve(l, n))
		return false;
	memcpy(l->data + l->n, text, n);
	l->n += n;
	return true;
}

static bool put_frame(struct pdet_alloc_keys *k, struct line *l,
		      uint64_t address)
{
	const struct pdet_alloc_site *s = pdet_alloc_keys_site(k, address);
	const char *text;
	size_t n;

	if (!s)
		return false;
	text = pdet_groups_text(&k->groups, s->site, &n);
	return (!l->n || put(l, ";", 1)) && put(l, text, n);
}

/* Whose code a frame is of. */
enum owner { RECORDER, UNNAMED, OTHER };

/* Code that records is in the stacks of ftrace and BPF, not in perf's. */
static enum owner owner_of(struct pdet_alloc_keys *k, uint64_t address)
{
	static const char *const begins[] = { "trace_event_raw_event_",
					      "__traceiter_", "__bpf_trace_",
					      "bpf_trace_run", "bpf_prog_",
					      "___bpf_prog_run",
					      "__bpf_prog_run" };
	const struct pdet_alloc_site *s = pdet_alloc_keys_site(k, address);
	const char *text;
	size_t i, n;

	if (!s)
		return OTHER;
	if (!s->function)
		return UNNAMED;
	text = pdet_groups_text(&k->groups, s->site, &n);
	for (i = 0; i < PDET_COUNT(begins); i++)
		if (n > strlen(begins[i]) &&
		    !memcmp(text, begins[i], strlen(begins[i])))
			return RECORDER;
	return OTHER;
}

/*
 * The frames of the recorder, which are the innermost. The innermost of all may
 * be its program, and the program the last of all symbols, so that its end, and
 * with it the name of an address behind it, is not known: what the recorder has
 * called is the recorder.
 */
static size_t recorder_frames(struct pdet_alloc_keys *k, const uint64_t *frame,
			      size_t n)
{
	size_t i = n > 1 && owner_of(k, frame[0]) == UNNAMED;
	const size_t first = i;

	while (i < n && owner_of(k, frame[i]) == RECORDER)
		i++;
	return i > first ? i : 0;
}

/* The outermost first. *many is set if there is no room. */
static bool put_frames(struct pdet_alloc_keys *k, struct line *l,
		       uint32_t number, bool *many)
{
	size_t n;
	const uint64_t *frame = pdet_trace_stacks_get(k->stacks, number, &n);
	const size_t first = recorder_frames(k, frame, n);

	while (n > first && !*many) {
		if (!put_frame(k, l, frame[--n]))
			return false;
		*many = l->n > MOST_BYTES - k->stack_bytes;
	}
	return !*many;
}

uint64_t pdet_alloc_keys_stack(struct pdet_alloc_keys *k, uint32_t number,
			       bool *many)
{
	struct line l = { 0 };
	uint64_t id;

	*many = number == PDET_STACK_TOO_MANY;
	if (*many || pdet_pairs_get(&k->stack_at, number, &id))
		return *many ? 0 : id;
	id = 0;
	if (put_frames(k, &l, number, many)) {
		id = pdet_hash(l.data, l.n);
		if (!pdet_groups_keep(&k->groups, id, l.data, l.n) ||
		    !pdet_pairs_set(&k->stack_at, number, id))
			id = 0;
		k->stack_bytes += l.n;
	}
	pdet_vec_free(&l);
	return id;
}
