/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * who-maps - who maps a page?
 *
 *   who-maps PFN          a page frame number, decimal or 0x hex
 *   who-maps PID ADDRESS  the page at a hex address of a process
 *
 * Teaches: using the answer of one query in the next, rows that are mappings,
 * and the summary that tells whether the list is complete.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pagedet.h>

/* Prints the error. Returns the exit status. */
static int failed(const struct pagedet *pd, int error, const char *what)
{
	fprintf(stderr, "who-maps: %s: %s\n", what, pagedet_error(pd));
	if (*pagedet_advice(pd))
		fprintf(stderr, "who-maps: hint: %s\n", pagedet_advice(pd));
	/* A missing privilege is an answer, not a failure of this program. */
	return error == -EACCES ? 0 : 1;
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

/*
 * Sets *found if *pfn is the page behind the address. Otherwise there is none,
 * or it is hidden. Returns the exit status.
 */
static int translate(struct pagedet *pd, uint64_t pid, uint64_t address,
		     int *found, uint64_t *pfn)
{
	struct pagedet_item item = { address, 1, (uint32_t)pid, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	struct pagedet_page row;
	unsigned state;
	char pte[128];
	int n, error;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	error = pagedet_fields_parse(pd, "pfn,pte", &q);
	if (!error)
		error = pagedet_query(pd, &q, &it);
	if (error)
		return failed(pd, error, "cannot look at the process");
	n = pagedet_next(it, &row, 1);
	if (n < 1) {
		pagedet_iter_free(it);
		return failed(pd, n, "cannot look at the address");
	}
	state = PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_PFN]);
	*pfn = row.pfn;
	*found = state == PAGEDET_HAVE;
	if (state != PAGEDET_HAVE) {
		/* No page, and a hidden page, are different results. */
		pagedet_format(it, &row, PAGEDET_FIELD_PTE, pte, sizeof(pte));
		printf("no page frame number: %s; the entry: %s\n",
		       pagedet_state_text(state), pte);
		if (*pagedet_why_advice(it, PAGEDET_FIELD_PFN))
			printf("hint: %s\n",
			       pagedet_why_advice(it, PAGEDET_FIELD_PFN));
	}
	pagedet_iter_free(it);
	return 0;
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

/*
 * Prints how complete the list is. An empty list does not prove that no one
 * maps the page.
 */
static int print_summary(const struct pagedet *pd,
			 const struct pagedet_iter *it)
{
	struct pagedet_mappers m = { .size = sizeof(m) };
	uint64_t i;
	int error;

	error = pagedet_mappers(it, 0, &m);
	if (error)
		return failed(pd, error, "no summary");
	if (m.found_state == PAGEDET_HAVE)
		printf("found %" PRIu64, m.found);
	else
		printf("nobody could look for user mappings");
	if (m.expected_state == PAGEDET_HAVE)
		printf(", the kernel counts %" PRIu64 "%s", m.expected,
		       m.mapcount_kind == PAGEDET_MAPCOUNT_AVERAGE ?
		       " (average of its folio)" : "");
	else
		printf(", what the kernel counts is not known: %s",
		       pagedet_state_text(m.expected_state));
	printf("\n");
	if (m.n_unread)
		printf("tasks that could not be read: %" PRIu64 ", pid",
		       m.n_unread);
	for (i = 0; i < m.n_unread && i < 10; i++)
		printf(" %" PRIu32, m.unread[i]);
	if (m.n_unread)
		printf("%s\n", i < m.n_unread ? " ..." : "");
	return 0;
}

static int who_maps(struct pagedet *pd, uint64_t pfn)
{
	struct pagedet_item item = { pfn, 1, 0, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_page rows[64];
	struct pagedet_iter *it;
	int n, i, r, error;

	q.target = PAGEDET_TARGET_MAPPERS;
	q.items = &item;
	q.n_items = 1;
	error = pagedet_fields_parse(pd, "map,pid,comm,vaddr,vma", &q);
	if (!error)
		error = pagedet_query(pd, &q, &it);
	if (error)
		return failed(pd, error, "cannot look for mappings");
	printf("page frame %" PRIu64 " (0x%" PRIx64 ")\n", pfn, pfn);
	while ((n = pagedet_next(it, rows, 64)) > 0)
		for (i = 0; i < n; i++)
			print_row(it, &rows[i]);
	r = n < 0 ? failed(pd, n, "stopped") : print_summary(pd, it);
	pagedet_iter_free(it);
	return r;
}

static int run(struct pagedet *pd, int n, const uint64_t *numbers)
{
	uint64_t pfn = numbers[0];
	int found = n == 1, r;

	r = pagedet_open(pd, NULL);
	if (r)
		return failed(pd, r, "cannot open the running kernel");
	if (n == 2)
		r = translate(pd, numbers[0], numbers[1], &found, &pfn);
	return r || !found ? r : who_maps(pd, pfn);
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
