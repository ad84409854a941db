/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes the map files of compilers at run time: any text. At the bounds of
 * each entry, the answer is the last entry that has the address.
 */
#include "fuzz.h"
#include "unwind/perf_map.h"

/* The oracle takes a time that grows with the square. */
#define MOST 200

static void check(const struct pdet_perf_map *m, uint64_t addr)
{
	const struct pdet_perf_entry *last = NULL, *e;
	size_t i;

	for (i = 0; i < m->entries.n; i++) {
		e = &m->entries.data[i];
		if (addr >= e->start && addr < e->end)
			last = e;
	}
	MUST(pdet_perf_map_find(m, addr) == last);
}

/* Whether a later entry has a part of it, or all. */
static bool is_cut(const struct pdet_perf_map *m, size_t n)
{
	const struct pdet_perf_entry *e = &m->entries.data[n];
	size_t i;

	for (i = n + 1; i < m->entries.n; i++)
		if (m->entries.data[i].start < e->end &&
		    e->start < m->entries.data[i].end)
			return true;
	return false;
}

static void check_all(const struct pdet_perf_map *m)
{
	size_t i;

	for (i = 0; i < m->entries.n; i++) {
		const struct pdet_perf_entry *e = &m->entries.data[i];
		const char *name = m->text.data + e->name;

		MUST(e->start < e->end);
		MUST(e->name < m->text.len);
		MUST(*name && strlen(name) <= PDET_PERF_NAME);
		if (m->entries.n > MOST)
			continue;
		MUST(e->cut == is_cut(m, i));
		check(m, e->start);
		check(m, e->start - 1);
		check(m, e->end);
		check(m, e->end - 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_perf_map m = { .text = { malloc(size + 1), size } };

	MUST(m.text.data);
	memcpy(m.text.data, data, size);
	m.text.data[size] = '\0';
	if (pdet_perf_map_parse(&m) == 0)
		check_all(&m);
	pdet_perf_map_free(&m);
	return 0;
}
