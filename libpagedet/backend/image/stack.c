/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads stacks from the kernel's stack depot and names their frames. The id of
 * a stack is a hash of names, because addresses change with every boot. All
 * pages together have a few thousand stacks, and all stacks a few thousand code
 * addresses, so each thread looks up each of them only once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image/kernel.h"
#include "backend/image/page_owner.h"
#include "base/hash.h"
#include "kernel/owner/allocator.h"

/* Limit of cached names; names beyond it are looked up every time. */
#define TEXT_BYTES ((size_t)8 << 20)

struct image_stacks {
	struct pdet_pairs by_number; /* index in list */
	struct {
		struct image_stack *data;
		size_t n, cap;
	} list;
	struct pdet_pairs by_address; /* id in names */
	struct pdet_strtab names;
	/* buffers of the current stack */
	uint64_t frames[PDET_STACK_FRAMES];
	struct {
		char *data;
		size_t n, cap;
	} lines;
};

void pdet_image_stacks_free(struct image_stacks *stacks)
{
	if (!stacks)
		return;
	pdet_pairs_free(&stacks->by_number);
	pdet_vec_free(&stacks->list);
	pdet_pairs_free(&stacks->by_address);
	pdet_strtab_free(&stacks->names);
	pdet_vec_free(&stacks->lines);
	free(stacks);
}

static struct image_stacks *stacks_of(struct image_session *s)
{
	if (s->stacks)
		return s->stacks;
	s->stacks = calloc(1, sizeof(*s->stacks));
	if (s->stacks)
		pdet_strtab_init(&s->stacks->names, 1, TEXT_BYTES);
	return s->stacks;
}

/* The name as the kernel prints it, or the address if it has none. */
static const char *name_of(struct image_session *s, uint64_t va,
			   char buf[IMAGE_SYMBOL], size_t *len)
{
	struct image_stacks *stacks = s->stacks;
	uint64_t id;

	if (pdet_pairs_get(&stacks->by_address, va, &id))
		return pdet_strtab_get(&stacks->names, id, len);
	*len = pdet_image_code(s, va, buf);
	if (!*len)
		*len = (size_t)snprintf(buf, IMAGE_SYMBOL, "0x%llx",
					(unsigned long long)va);
	*len = PDET_MIN(*len, (size_t)IMAGE_SYMBOL - 1);
	id = pdet_strtab_add(&stacks->names, buf, *len);
	/* without room it is looked up again */
	if (id)
		(void)pdet_pairs_set(&stacks->by_address, va, id);
	return buf;
}

/*
 * Read the stack's frames into stacks->lines. Returns 0, or a result of
 * memory/memory.h.
 */
static int read_lines(struct image_session *s, uint32_t number)
{
	const struct image_page_owner *o = &s->image->page_owner;
	struct image_stacks *stacks = s->stacks;
	char buf[IMAGE_SYMBOL];
	const char *name;
	ssize_t n, i;
	size_t len;

	stacks->lines.n = 0;
	n = pdet_stackdepot_read(&s->space, &o->depot, number, stacks->frames);
	/* a stored stack is never empty */
	if (n <= 0)
		return n ? (int)n : -EBADMSG;
	for (i = 0; i < n; i++) {
		name = name_of(s, stacks->frames[i], buf, &len);
		if (!pdet_vec_reserve(&stacks->lines, len + 1))
			return -ENOMEM;
		memcpy(stacks->lines.data + stacks->lines.n, name, len);
		stacks->lines.n += len;
		stacks->lines.data[stacks->lines.n++] = '\n';
	}
	return 0;
}

static struct image_stack look_up(struct image_session *s, uint32_t number)
{
	struct image_page_owner *o = &s->image->page_owner;
	struct image_stacks *stacks = s->stacks;
	struct image_stack found = { .error = read_lines(s, number) };
	bool kept;

	if (found.error)
		return found;
	found.id = pdet_hash(stacks->lines.data, stacks->lines.n);
	found.allocator = pdet_allocator_of(stacks->lines.data,
					    stacks->lines.n);
	pthread_mutex_lock(&o->lock);
	kept = pdet_pairs_set(&o->number_of, found.id, number);
	pthread_mutex_unlock(&o->lock);
	if (!kept)
		found.error = -ENOMEM;
	return found;
}

struct image_stack pdet_image_stack(struct image_session *s, uint32_t number)
{
	struct image_stacks *stacks = stacks_of(s);
	struct image_stack found = { .error = -ENOMEM };
	uint64_t i;

	if (!stacks)
		return found;
	if (pdet_pairs_get(&stacks->by_number, number, &i))
		return stacks->list.data[i];
	found = look_up(s, number);
	/* a running kernel may have it the next time */
	if (found.error == -ENOMEM ||
	    (found.error && s->image->memory->live))
		return found;
	i = stacks->list.n;
	if (!pdet_vec_push(&stacks->list, found) ||
	    !pdet_pairs_set(&stacks->by_number, number, i))
		found.error = -ENOMEM;
	return found;
}

int pdet_image_stack_text(struct pdet_session *base, uint64_t id,
			  struct pdet_text *ret)
{
	struct image_session *s = image_session_of(base);
	struct image_page_owner *o = &s->image->page_owner;
	struct image_stacks *stacks;
	uint64_t number;
	bool known;
	int r;

	if (!o->has_lock)
		return -ENOENT;
	pthread_mutex_lock(&o->lock);
	known = pdet_pairs_get(&o->number_of, id, &number);
	pthread_mutex_unlock(&o->lock);
	if (!known)
		return -ENOENT;
	stacks = stacks_of(s);
	r = stacks ? read_lines(s, (uint32_t)number) : -ENOMEM;
	if (r < 0)
		return r;
	/* a running kernel may have replaced it */
	if (pdet_hash(stacks->lines.data, stacks->lines.n) != id)
		return -ENOENT;
	ret->len = stacks->lines.n;
	ret->data = malloc(ret->len);
	if (!ret->data)
		return -ENOMEM;
	memcpy(ret->data, stacks->lines.data, ret->len);
	return 0;
}
