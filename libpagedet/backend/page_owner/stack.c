/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Each stack of the text is read once; its frames are kept by their id. */
#include "backend/page_owner/ownertext.h"
#include "base/hash.h"

/* Keep the frames for lookups by id. */
static bool keep_frames(struct ownertext *o, uint64_t id, const char *frames,
			size_t n)
{
	bool kept;

	pthread_mutex_lock(&o->lock);
	kept = pdet_texts_add(&o->frames, id, frames, n);
	pthread_mutex_unlock(&o->lock);
	return kept;
}

int64_t pdet_ownertext_stack(struct ownertext *o, struct ownertext_stacks *s,
			     const struct pdet_scan *stack)
{
	const size_t size = (size_t)(stack->end - stack->at);
	const uint64_t hash = pdet_hash(stack->at, size);
	struct pdet_owner_stack is;
	uint64_t i;
	size_t n;

	if (pdet_pairs_get(&s->by_text, hash, &i))
		return (int64_t)i;
	s->frames.n = 0;
	if (!pdet_vec_reserve(&s->frames, size + 1))
		return -1;
	n = pdet_owner_frames(stack, s->frames.data);
	is = pdet_owner_stack_of(s->frames.data, n);
	i = s->list.n;
	if ((n && !keep_frames(o, is.id, s->frames.data, n)) ||
	    !pdet_vec_push(&s->list, is) ||
	    !pdet_pairs_set(&s->by_text, hash, i))
		return -1;
	return (int64_t)i;
}

int pdet_ownertext_stack_text(struct pdet_session *base, uint64_t id,
			      struct pdet_text *ret)
{
	struct ownertext *o = ownertext_of(base->backend);
	int r;

	pthread_mutex_lock(&o->lock);
	r = pdet_texts_get(&o->frames, id, ret);
	pthread_mutex_unlock(&o->lock);
	return r;
}
