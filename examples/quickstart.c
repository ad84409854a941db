/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What is the page behind an address? Asks about "quickstart PID ADDRESS", or
 * about an address of its own, that of the variable "item". Prints one field by
 * hand, and then all of them as JSON.
 */
#include <pagedet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct pagedet_item item = { (uintptr_t)&item, 1, getpid(), 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_emit_options json = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet *pd = pagedet_new();
	struct pagedet_emitter *out = NULL;
	struct pagedet_iter *it = NULL;
	struct pagedet_page row;
	int bad;

	if (argc > 2) {
		item.pid = strtoul(argv[1], NULL, 0);
		item.first = strtoull(argv[2], NULL, 0);
	}
	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	q.options = PAGEDET_Q_CHEAP; /* every field that costs nothing */
	json.fd = STDOUT_FILENO;
	bad = !pd || pagedet_open(pd, NULL) || pagedet_query(pd, &q, &it);
	bad = bad || pagedet_next(it, &row, 1) < 1;

	/*
	 * A cell tells whether its field is answered. Without privilege the pfn
	 * is not, and printing zero would be wrong.
	 */
	if (!bad && PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_PFN]) ==
	    PAGEDET_HAVE)
		dprintf(json.fd, "pfn %llu\n", (unsigned long long)row.pfn);

	/* Make the same query again, and write the whole answer as JSON. */
	bad = bad || pagedet_iter_retarget(it, &item, 1) ||
	      pagedet_emitter_new(pd, &json, &out) ||
	      pagedet_emit_all(out, it) || pagedet_emitter_finish(out);
	if (bad && pd)
		printf("%s (%s)\n", pagedet_error(pd), pagedet_advice(pd));
	pagedet_emitter_free(out);
	pagedet_iter_free(it);
	pagedet_free(pd);
	return bad;
}
