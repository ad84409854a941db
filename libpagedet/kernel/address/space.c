/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Translates kernel addresses, with a cache of recent translations. */
#include <errno.h>
#include <string.h>

#include "kernel/address/space.h"

/* Slots of huge pages use this shift; smaller pages use the page shift. */
#define HUGE_SHIFT 21
/* Copying up to this size is cheaper than a view. */
#define COPIED 4096

void pdet_space_init(struct pdet_space *s, struct pdet_reader *reader,
		     const struct pdet_paging *paging)
{
	memset(s, 0, sizeof(*s));
	s->reader = reader;
	s->paging = paging;
}

static struct pdet_space_slot *slot_of(struct pdet_space *s, uint64_t va,
				       unsigned shift)
{
	return &s->slot[((va >> shift) * 0x9e3779b97f4a7c15 >> 32) %
			PDET_SPACE_SLOTS];
}

static bool holds(const struct pdet_space_slot *slot, uint64_t va)
{
	return va - slot->start < slot->size;
}

static int translate(struct pdet_space *s, uint64_t va,
		     struct pdet_space_slot **ret)
{
	const unsigned shift = s->paging->page_shift;
	struct pdet_space_slot *slot = slot_of(s, va, HUGE_SHIFT);
	struct pdet_leaf leaf;
	int r;

	if (!holds(slot, va))
		slot = slot_of(s, va, shift);
	if (!holds(slot, va)) {
		r = pdet_paging_walk(s->reader, s->paging, s->paging->root, va,
				     &leaf);
		if (r < 0)
			return r;
		if (leaf.is != PDET_PT_PAGE)
			return -ENOENT;
		if (leaf.size >> HUGE_SHIFT)
			slot = slot_of(s, va, HUGE_SHIFT);
		slot->start = leaf.start;
		slot->size = leaf.size;
		slot->addr = leaf.addr;
	}
	*ret = slot;
	return 0;
}

int pdet_space_phys(struct pdet_space *s, uint64_t va, uint64_t *addr,
		    uint64_t *len)
{
	struct pdet_space_slot *slot;
	int r = translate(s, va, &slot);

	if (r < 0)
		return r;
	*addr = slot->addr + (va - slot->start);
	*len = slot->size - (va - slot->start);
	return 0;
}

int pdet_space_read(struct pdet_space *s, uint64_t va, void *buf, size_t n)
{
	const struct pdet_memory_ops *ops = s->reader->memory->ops;
	uint64_t addr, len;
	char *to = buf;
	int r;

	if (ops->read_kvirt)
		return pdet_read_kvirt(s->reader, va, buf, n);
	for (; n; n -= len, va += len, to += len) {
		r = pdet_space_phys(s, va, &addr, &len);
		if (r < 0)
			return r;
		len = PDET_MIN(len, (uint64_t)n);
		r = pdet_read_phys(s->reader, addr, to, (size_t)len);
		if (r < 0)
			return r;
	}
	return 0;
}

int pdet_space_view(struct pdet_space *s, uint64_t va, void *buf, size_t n,
		    const char **ret)
{
	const struct pdet_memory_ops *ops = s->reader->memory->ops;

	if (ops->view_kvirt && n > COPIED && n <= PDET_VIEW_BYTES)
		return pdet_view_kvirt(s->reader, va, n, ret);
	*ret = buf;
	return pdet_space_read(s, va, buf, n);
}

int pdet_space_gather(struct pdet_space *s, struct pdet_gather *pieces,
		      size_t n, const char **ret)
{
	const struct pdet_memory_ops *ops = s->reader->memory->ops;

	return ops->gather ? pdet_gather(s->reader, pieces, n, ret) : -ENOSYS;
}

int pdet_space_u64(struct pdet_space *s, uint64_t va, uint64_t *ret)
{
	return pdet_space_read(s, va, ret, sizeof(*ret));
}

int pdet_space_u32(struct pdet_space *s, uint64_t va, uint32_t *ret)
{
	return pdet_space_read(s, va, ret, sizeof(*ret));
}

ssize_t pdet_space_text(struct pdet_space *s, uint64_t va, char *buf,
			size_t size)
{
	size_t n = 0, step;
	char *nul;
	int r;

	/* Do not read past the string: the next bytes may be missing. */
	while (n < size - 1) {
		step = 64 - ((va + n) & 63);
		step = PDET_MIN(step, size - 1 - n);
		r = pdet_space_read(s, va + n, buf + n, step);
		if (r < 0)
			return r;
		nul = memchr(buf + n, '\0', step);
		if (nul)
			return nul - buf;
		n += step;
	}
	buf[n] = '\0';
	return (ssize_t)n;
}
