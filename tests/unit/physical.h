/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A simulated physical memory: a test places pages, and a provider reads them.
 */
#ifndef TESTS_UNIT_PHYSICAL_H
#define TESTS_UNIT_PHYSICAL_H

#include <errno.h>

#include "memory/memory.h"
#include "unit.h"

#define PHYSICAL_PAGES 4096

struct physical {
	struct pdet_memory memory;
	struct pdet_reader reader;
	unsigned page_shift;
	uint64_t next;		/* place of the next new page */
	uint64_t reads;
	size_t n, last;
	struct {
		uint64_t number;
		char *bytes;
		int error;	/* error of a read */
	} page[PHYSICAL_PAGES];
};

static inline char *physical_find(struct physical *m, uint64_t addr,
				  int *error)
{
	const uint64_t number = addr >> m->page_shift;
	size_t i;

	if (m->last >= m->n || m->page[m->last].number != number) {
		for (i = 0; i < m->n && m->page[i].number != number; i++)
			;
		m->last = i;
	}
	*error = m->last < m->n ? m->page[m->last].error : -ENOENT;
	return m->last < m->n ? m->page[m->last].bytes : NULL;
}

static inline int physical_read(struct pdet_reader *r, uint64_t addr,
				void *buf, size_t n)
{
	struct physical *m = PDET_CONTAINER(r, struct physical, reader);
	const uint64_t size = (uint64_t)1 << m->page_shift;
	char *to = buf;
	int error;

	m->reads++;
	while (n) {
		uint64_t from = addr & (size - 1), len = size - from;
		const char *bytes = physical_find(m, addr, &error);

		if (error)
			return error;
		if (len > n)
			len = n;
		memcpy(to, bytes + from, len);
		addr += len;
		to += len;
		n -= len;
	}
	return 0;
}

static const struct pdet_memory_ops physical_ops = {
	.name = "physical",
	.read_phys = physical_read,
};

static inline struct physical *physical_new(unsigned page_shift)
{
	struct physical *m = calloc(1, sizeof(*m));

	ck_assert_ptr_nonnull(m);
	m->memory.ops = &physical_ops;
	m->reader.memory = &m->memory;
	m->page_shift = page_shift;
	m->next = (uint64_t)1 << 20;
	return m;
}

static inline void physical_free(struct physical *m)
{
	while (m->n)
		free(m->page[--m->n].bytes);
	free(m);
}

/* The byte at @addr; adds its page if necessary. */
static inline char *physical_at(struct physical *m, uint64_t addr)
{
	const uint64_t size = (uint64_t)1 << m->page_shift;
	int error;
	char *bytes = physical_find(m, addr, &error);

	if (!bytes) {
		ck_assert_uint_lt(m->n, PHYSICAL_PAGES);
		bytes = calloc(1, size);
		ck_assert_ptr_nonnull(bytes);
		m->last = m->n++;
		m->page[m->last].number = addr >> m->page_shift;
		m->page[m->last].bytes = bytes;
	}
	return bytes + (addr & (size - 1));
}

/* Makes reads of the page at @addr fail from now on. */
static inline void physical_fail(struct physical *m, uint64_t addr, int error)
{
	physical_at(m, addr);
	m->page[m->last].error = error;
}

static inline void physical_write(struct physical *m, uint64_t addr,
				  const void *data, size_t n)
{
	const char *from = data;

	for (; n; n--)
		*physical_at(m, addr++) = *from++;
}

/* Allocates an empty page. */
static inline uint64_t physical_page(struct physical *m)
{
	uint64_t addr = m->next;

	m->next += (uint64_t)1 << m->page_shift;
	physical_at(m, addr);
	return addr;
}

static inline uint64_t physical_word(struct physical *m, uint64_t table,
				     unsigned i)
{
	uint64_t word;

	memcpy(&word, physical_at(m, table + i * 8), sizeof(word));
	return word;
}

static inline void physical_set(struct physical *m, uint64_t table,
				unsigned i, uint64_t word)
{
	memcpy(physical_at(m, table + i * 8), &word, sizeof(word));
}

#endif
