/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes filter expressions: any text, on rows that are answered, empty, lost
 * and partly known. Accepted filters must obey three-valued logic.
 */
#include "fuzz.h"
#include "query/filter.h"

#define ROWS 5
#define PROCFS PAGEDET_SOURCE_PROCFS
#define PFN PAGEDET_FIELD_PFN

static char no_root[] = "";

static void fill(struct pdet_batch *b)
{
	struct pdet_fields all = pdet_fields_all();
	unsigned f;

	MUST(pdet_batch_init(b, &all, ROWS, 4096));
	pdet_batch_grow(b, ROWS);
	for (f = 0; f < PDET_FIELDS; f++) {
		unsigned type = pdet_field_info(f)->type;

		if (type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST) {
			pdet_put_text(b, 0, f, "a|b", 3, PROCFS);
			pdet_put_text(b, 1, f, "/tmp/x\n", 7, PROCFS);
			pdet_put_text(b, 4, f, "", 0, PROCFS);
		} else {
			pdet_put(b, 0, f, f, PROCFS);
			pdet_put(b, 1, f, UINT64_MAX, PROCFS);
			pdet_put(b, 4, f, 0, PROCFS);
		}
		pdet_put_none(b, 2, f, PROCFS);
		pdet_put_lost(b, 3, f, PAGEDET_NO_ACCESS, PROCFS);
	}
}

static void run(const struct pdet_filter *f, const struct pdet_batch *b,
		uint8_t *ret)
{
	/* Exactly the documented size, so that overruns are detected. */
	uint8_t *scratch = malloc(pdet_filter_scratch(f, ROWS));

	if (!scratch)
		abort();
	pdet_filter_eval(f, b, scratch);
	memcpy(ret, scratch, ROWS);
	free(scratch);
}

static void check(struct pdet_env *env, const struct pdet_filter *f,
		  const char *text, const struct pdet_batch *b)
{
	struct pdet_fields fields = pdet_filter_fields(f);
	struct pdet_filter *opposite;
	uint8_t is[ROWS], is_not[ROWS];
	uint64_t first, last;
	unsigned i;
	char *inverted;

	run(f, b, is);
	pdet_filter_range(f, PFN, &first, &last);
	for (i = 0; i < ROWS; i++) {
		MUST(is[i] <= PDET_TRUE);
		if (pdet_batch_state(b, i, PFN) == PAGEDET_HAVE &&
		    (b->value[PFN][i] < first || b->value[PFN][i] > last))
			MUST(is[i] == PDET_FALSE);
	}
	MUST(!pdet_fields_empty(&fields));
	/* A lost row is always unknown. */
	MUST(is[3] == PDET_UNKNOWN);
	inverted = malloc(strlen(text) + 8);
	if (!inverted)
		abort();
	sprintf(inverted, "not (%s)", text);
	if (pdet_filter_new(env, inverted, &opposite) == 0) {
		run(opposite, b, is_not);
		for (i = 0; i < ROWS; i++)
			MUST(is[i] + is_not[i] == PDET_TRUE);
		pdet_filter_free(opposite);
	}
	free(inverted);
}

/* --- of names, such as those of sums of allocations --- */

static int find(void *arg, const char *name, size_t len, bool *is_text)
{
	unsigned number = 0;

	(void)arg;
	while (len--)
		number = number * 31 + (unsigned char)name[len];
	*is_text = number % 4 == 0;
	return number % 5 ? (int)(number % 256) : -1;
}

/* The tests of a thing have cells of one kind, or all of them. */
static void get(void *arg, unsigned name, struct pdet_filter_cell *ret)
{
	static const struct pdet_filter_cell cells[] = {
		{ .state = PAGEDET_HAVE, .number = 0 },
		{ .state = PAGEDET_HAVE, .number = UINT64_MAX },
		{ .state = PAGEDET_HAVE, .number = 1, .negative = true },
		{ .state = PAGEDET_NONE },
		{ .state = PAGEDET_UNSUPPORTED },
	};
	const unsigned *kind = arg;

	*ret = cells[(*kind < ROWS ? *kind : name) % ROWS];
	if (name % 4 == 0 && ret->state == PAGEDET_HAVE)
		ret->text = ret->number ? "/tmp/x\n" : "";
}

static void check_names(struct pdet_env *env, const char *text)
{
	const struct pdet_filter_names names = { .find = find,
						 .none = "it has no number" };
	char *inverted = malloc(strlen(text) + 8);
	struct pdet_filter *f, *opposite;
	enum pdet_truth is, is_not;
	unsigned kind;

	if (!inverted)
		abort();
	sprintf(inverted, "not (%s)", text);
	if (pdet_filter_of(env, text, &names, &f) < 0) {
		MUST(env->error[0]);
		free(inverted);
		return;
	}
	if (pdet_filter_of(env, inverted, &names, &opposite) == 0) {
		for (kind = 0; kind <= ROWS; kind++) {
			is = pdet_filter_test(f, get, &kind);
			is_not = pdet_filter_test(opposite, get, &kind);
			MUST(is + is_not == PDET_TRUE);
			MUST(kind != 4 || is == PDET_UNKNOWN);
		}
		pdet_filter_free(opposite);
	}
	pdet_filter_free(f);
	free(inverted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_env env = { .root = no_root };
	struct pdet_filter *f;
	struct pdet_batch b;
	char *text;

	/* The cost of regular expressions belongs to the C library. */
	if (memchr(data, '~', size) && size > 32)
		return 0;
	text = malloc(size + 1);
	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	fill(&b);
	if (pdet_filter_new(&env, text, &f) == 0) {
		check(&env, f, text, &b);
		pdet_filter_free(f);
	} else {
		MUST(env.error[0]);
	}
	check_names(&env, text);
	pdet_batch_free(&b);
	free(text);
	return 0;
}
