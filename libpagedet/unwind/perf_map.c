/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A compiler only adds lines, also for code in the place of code that it freed,
 * so of two entries that overlap the later one is true. (perf does not decide
 * that: it takes any.)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "base/vec.h"
#include "unwind/perf_map.h"

/* --- lines --- */

/* Some write 0x before a number. */
static bool scan_number(struct pdet_scan *s, uint64_t *ret)
{
	(void)pdet_scan_word(s, "0x");
	return pdet_scan_hex(s, ret) && pdet_scan_char(s, ' ');
}

static bool scan_entry(const struct pdet_perf_map *m, struct pdet_scan line,
		       struct pdet_perf_entry *ret)
{
	uint64_t size;
	size_t len;

	*ret = (struct pdet_perf_entry){ .start = 0 };
	if (!scan_number(&line, &ret->start) || !scan_number(&line, &size) ||
	    !size || __builtin_add_overflow(ret->start, size, &ret->end))
		return false;
	len = (size_t)(line.end - line.at);
	ret->name = (uint32_t)(line.at - m->text.data);
	return len && len <= PDET_PERF_NAME && !memchr(line.at, '\0', len);
}

/* The last line counts only if it is complete: somebody may be writing it. */
static int parse_lines(struct pdet_perf_map *m)
{
	struct pdet_scan all = { m->text.data, m->text.data + m->text.len };
	struct pdet_perf_entry e;
	struct pdet_scan line;

	while (pdet_scan_line(&all, &line)) {
		if (line.end == all.end || !scan_entry(m, line, &e)) {
			m->bad++;
			continue;
		}
		if (m->entries.n == PDET_PERF_LINES)
			return -EFBIG;
		if (!pdet_vec_push(&m->entries, e))
			return -ENOMEM;
		m->text.data[line.end - m->text.data] = '\0';
	}
	return 0;
}

/* --- which entry is the last one at an address --- */

static int compare(const void *pa, const void *pb)
{
	const uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static int make_bounds(struct pdet_perf_map *m)
{
	uint64_t *bounds = calloc(2 * m->entries.n + 1, sizeof(*bounds));
	size_t i, n = 0;

	if (!bounds)
		return -ENOMEM;
	m->bounds = bounds;
	for (i = 0; i < m->entries.n; i++) {
		bounds[2 * i] = m->entries.data[i].start;
		bounds[2 * i + 1] = m->entries.data[i].end;
	}
	qsort(bounds, 2 * m->entries.n, sizeof(*bounds), compare);
	for (i = 0; i < 2 * m->entries.n; i++)
		if (!n || bounds[i] != bounds[n - 1])
			bounds[n++] = bounds[i];
	m->n_bounds = n;
	return 0;
}

/* The last bound that is not above @addr. The first one must not be. */
static size_t bound_at(const struct pdet_perf_map *m, uint64_t addr)
{
	size_t low = 0, high = m->n_bounds;

	while (high - low > 1) {
		const size_t mid = low + (high - low) / 2;

		if (m->bounds[mid] <= addr)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* The first place from @i on that is free: next[] leads there. */
static uint32_t free_at(uint32_t *next, uint32_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

/* The later entries have their places already. */
static void place(struct pdet_perf_map *m, uint32_t *next, uint32_t number)
{
	struct pdet_perf_entry *e = &m->entries.data[number];
	uint32_t i = (uint32_t)bound_at(m, e->start);

	for (; m->bounds[i] < e->end; i++) {
		const uint32_t at = free_at(next, i);

		e->cut = e->cut || at != i;
		i = at;
		if (m->bounds[i] >= e->end)
			break;
		m->owner[i] = number;
		next[i] = i + 1;
	}
}

static int make_index(struct pdet_perf_map *m)
{
	uint32_t *next, i;
	int r = make_bounds(m);

	if (r < 0)
		return r;
	next = calloc(m->n_bounds + 1, sizeof(*next));
	m->owner = calloc(m->n_bounds + 1, sizeof(*m->owner));
	if (!next || !m->owner) {
		free(next);
		return -ENOMEM;
	}
	for (i = 0; i < m->n_bounds; i++) {
		next[i] = i;
		m->owner[i] = UINT32_MAX;
	}
	for (i = (uint32_t)m->entries.n; i > 0; i--)
		place(m, next, i - 1);
	free(next);
	return 0;
}

int pdet_perf_map_parse(struct pdet_perf_map *m)
{
	const int r = parse_lines(m);

	return r < 0 ? r : make_index(m);
}

void pdet_perf_map_free(struct pdet_perf_map *m)
{
	pdet_text_free(&m->text);
	pdet_vec_free(&m->entries);
	free(m->bounds);
	free(m->owner);
	*m = (struct pdet_perf_map){ .n_bounds = 0 };
}

const struct pdet_perf_entry *pdet_perf_map_find(const struct pdet_perf_map *m,
						 uint64_t addr)
{
	uint32_t number;

	if (!m->n_bounds || addr < m->bounds[0])
		return NULL;
	number = m->owner[bound_at(m, addr)];
	return number == UINT32_MAX ? NULL : &m->entries.data[number];
}
