/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the order of the mapping index: by block of frames, then as chunks
 * came.
 */
#include "query/mapindex_sort.h"
#include "../unit.h"

#define MOST_CHUNKS 200

/* The distribution of frames in a run. */
static const struct shape {
	size_t chunks, in_chunk;
	uint64_t frames;	/* frames are below this */
	unsigned same;		/* percentage with the same frame */
	unsigned threads;
} shapes[] = {
	{ 0, 0, 1, 0, 1 },
	{ 1, 0, 1, 0, 3 },
	{ 1, 1, 1, 0, 1 },
	{ 1, 1, (uint64_t)1 << 40, 0, 8 },
	{ 1, 5000, 1, 100, 2 },
	{ 7, 3, 4, 0, 2 },
	{ 50, 40, 1000, 0, 1 },
	{ 50, 40, (uint64_t)1 << 40, 0, 5 },
	{ 100, 1000, 6 << 20, 0, 1 },
	{ 100, 1000, 6 << 20, 30, 2 },
	{ 200, 700, (uint64_t)1 << 40, 50, 3 },
	{ 200, 700, 60000, 0, 2 },
};

/* Chunks ordered by task, as the index collects them; places count up. */
static size_t make(const struct shape *shape, struct pdet_mapping *all,
		   struct pdet_mapping_chunk *chunks)
{
	uint64_t state = 88172645463325252, pfn;
	size_t c, i, n = 0;

	for (c = 0; c < shape->chunks; c++) {
		chunks[c].data = all + n;
		chunks[c].n = shape->in_chunk;
		chunks[c].bits = 0;
		for (i = 0; i < shape->in_chunk; i++, n++) {
			pfn = unit_random(&state) % shape->frames;
			if (unit_random(&state) % 100 < shape->same)
				pfn = shape->frames / 2;
			/* Two chunks per task. */
			all[n].key = pfn << PDET_MAPPING_TASK_BITS | c / 2;
			all[n].place = n;
			chunks[c].bits |= all[n].key;
		}
	}
	return n;
}

/* Places show the order to keep within a block. */
static int in_order(const void *a, const void *b)
{
	const struct pdet_mapping *x = a, *y = b;
	const uint64_t i = x->key >> PDET_MAPPING_BLOCK_SHIFT;
	const uint64_t j = y->key >> PDET_MAPPING_BLOCK_SHIFT;

	if (i != j)
		return i < j ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

START_TEST(sorted_by_block_and_then_as_they_came)
{
	const struct shape *shape = &shapes[_i];
	struct pdet_mapping_chunk chunks[MOST_CHUNKS];
	struct pdet_mapping *all, *sorted;
	size_t n, n_sorted;

	all = malloc((shape->chunks * shape->in_chunk + 1) * sizeof(*all));
	ck_assert_ptr_nonnull(all);
	n = make(shape, all, chunks);
	ck_assert_int_eq(pdet_mapping_sort(chunks, shape->chunks,
					   shape->threads, &sorted, &n_sorted),
			 0);
	qsort(all, n, sizeof(*all), in_order);
	ck_assert_uint_eq(n_sorted, n);
	ck_assert_mem_eq(sorted, all, n * sizeof(*all));
	free(sorted);
	free(all);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mapindex_sort");

	unit_loop(s, sorted_by_block_and_then_as_they_came,
		  sizeof(shapes) / sizeof(*shapes));
	return unit_main(s);
}
