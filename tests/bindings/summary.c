/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What memory_summary.py asks, asked in C: all of the memory below the root
 * that is named, counted by kind, as JSON.
 */
#include <pagedet.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const uint32_t by[] = { PAGEDET_FIELD_KIND };
	struct pagedet_options options = PAGEDET_OPTIONS_INIT;
	struct pagedet_emit_options json = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet *pd = pagedet_new();
	struct pagedet_emitter *out = NULL;
	struct pagedet_iter *it = NULL;
	int bad;

	options.root = argc > 1 ? argv[1] : NULL;
	json.fd = STDOUT_FILENO;
	q.target = PAGEDET_TARGET_SCAN;
	q.group_by = by;
	q.n_group_by = 1;
	bad = !pd || pagedet_open(pd, &options) || pagedet_query(pd, &q, &it) ||
	      pagedet_emitter_new(pd, &json, &out) ||
	      pagedet_emit_all(out, it) || pagedet_emitter_finish(out);
	if (bad && pd)
		fprintf(stderr, "summary: %s (%s)\n", pagedet_error(pd),
			pagedet_advice(pd));
	pagedet_emitter_free(out);
	pagedet_iter_free(it);
	pagedet_free(pd);
	return bad;
}
