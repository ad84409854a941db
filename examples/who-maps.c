/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * who-maps - who maps a page?
 *
 *   who-maps PFN          a page frame number, decimal or 0x hex
 *   who-maps PID ADDRESS  the page at a hex address of a process
 *
 * Teaches: one query whose answer is the question of the next one, rows that
 * are mappings, and the summary that says whether the list is complete.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pagedet.h>

static int failed(const struct pagedet *pd, const char *what)
{
	fprintf(stderr, "who-maps: %s: %s\n", what, pagedet_error(pd));
	if (*pagedet_advice(pd))
		fprintf(stderr, "who-maps: hint: %s\n", pagedet_advice(pd));
	return 1;
}

static int parse(const char *word, int base, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(word, &end, base);
	if (errno || end == word || *end || strchr(word, '-')) {
		fprintf(stderr, "who-maps: '%s' is not a number\n", word);
		return -1;
	}
	return 0;
}

/* 1: *pfn is the page behind the address. 0: there is none, or it is hidden. */
static int translate(struct pagedet *pd, uint64_t pid, uint64_t address,
		     uint64_t *pfn)
{
	struct pagedet_item item = { address, 1, (uint32_t)pid, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	struct pagedet_page row;
	unsigned state;
	char pte[128];
	int n;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	if (pagedet_fields_parse(pd, "pfn,pte", &q) ||
	    pagedet_query(pd, &q, &it))
		return -failed(pd, "cannot look at the process");
	n = pagedet_next(it, &row, 1);
	if (n < 0)
		failed(pd, "cannot look at the address");
	if (n < 1) {
		pagedet_iter_free(it);
		return -1;
	}
	state = PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_PFN]);
	*pfn = row.pfn;
	if (state != PAGEDET_HAVE) {
		/* Two different things: no page, or a page we may not know. */
		pagedet_format(it, &row, PAGEDET_FIELD_PTE, pte, sizeof(pte));
		printf("no page frame number: %s; the entry: %s\n",
		       pagedet_state_text(state), pte);
		if (*pagedet_why_advice(it, PAGEDET_FIELD_PFN))
			printf("hint: %s\n",
			       pagedet_why_advice(it, PAGEDET_FIELD_PFN));
	}
	pagedet_iter_free(it);
	return state == PAGEDET_HAVE;
}

static void print_row(const struct pagedet_iter *it,
		      const struct pagedet_page *row)
{
	static const uint32_t fields[] = {
		PAGEDET_FIELD_MAP, PAGEDET_FIELD_PID, PAGEDET_FIELD_COMM,
		PAGEDET_FIELD_VADDR, PAGEDET_FIELD_VMA_PROT,
		PAGEDET_FIELD_VMA_NAME,
	};
	char text[256];
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (pagedet_format(it, row, fields[i], text, sizeof(text)) < 0)
			continue;
		printf("%s%s", i ? "  " : "", text);
	}
	printf("\n");
}

/* Says how complete the list is. Nothing found is not the same as nobody. */
static int print_summary(const struct pagedet *pd,
			 const struct pagedet_iter *it)
{
	struct pagedet_mappers m = { .size = sizeof(m) };
	uint64_t i;

	if (pagedet_mappers(it, 0, &m))
		return failed(pd, "no summary");
	printf("found %" PRIu64, m.found);
	if (m.expected_state == PAGEDET_HAVE)
		printf(", the kernel counts %" PRIu64 "%s", m.expected,
		       m.mapcount_kind == PAGEDET_MAPCOUNT_AVERAGE ?
		       " (average of its folio)" : "");
	else
		printf(", what the kernel counts is not known: %s",
		       pagedet_state_text(m.expected_state));
	printf("\n");
	if (m.n_unread)
		printf("%" PRIu64 " tasks could not be read:", m.n_unread);
	for (i = 0; i < m.n_unread; i++)
		printf(" %" PRIu32, m.unread[i]);
	if (m.n_unread)
		printf("\n");
	return 0;
}

static int who_maps(struct pagedet *pd, uint64_t pfn)
{
	struct pagedet_item item = { pfn, 1, 0, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_page rows[64];
	struct pagedet_iter *it;
	int n, i, r;

	q.target = PAGEDET_TARGET_MAPPERS;
	q.items = &item;
	q.n_items = 1;
	if (pagedet_fields_parse(pd, "map,pid,comm,vaddr,vma", &q) ||
	    pagedet_query(pd, &q, &it))
		return failed(pd, "cannot look for mappings");
	printf("page frame %" PRIu64 " (0x%" PRIx64 ")\n", pfn, pfn);
	while ((n = pagedet_next(it, rows, 64)) > 0)
		for (i = 0; i < n; i++)
			print_row(it, &rows[i]);
	r = n < 0 ? failed(pd, "stopped") : print_summary(pd, it);
	pagedet_iter_free(it);
	return r;
}

static int run(struct pagedet *pd, int n, const uint64_t *numbers)
{
	uint64_t pfn = numbers[0];
	int found = 1;

	if (pagedet_open(pd, NULL))
		return failed(pd, "cannot open the running kernel");
	if (n == 2)
		found = translate(pd, numbers[0], numbers[1], &pfn);
	return found > 0 ? who_maps(pd, pfn) : found < 0;
}

int main(int argc, char **argv)
{
	uint64_t numbers[2];
	struct pagedet *pd;
	int wrong, r;

	if (argc == 2)
		wrong = parse(argv[1], strncmp(argv[1], "0x", 2) ? 10 : 16,
			      &numbers[0]);
	else
		wrong = argc != 3 || parse(argv[1], 10, &numbers[0]) ||
			parse(argv[2], 16, &numbers[1]);
	if (wrong) {
		fprintf(stderr, "usage: who-maps PFN | PID ADDRESS\n");
		return 2;
	}
	pd = pagedet_new();
	if (!pd) {
		fprintf(stderr, "who-maps: out of memory\n");
		return 1;
	}
	r = run(pd, argc - 1, numbers);
	pagedet_free(pd);
	return r;
}
