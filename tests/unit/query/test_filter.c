/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests filters: results for rows that are answered, empty, lost or partly
 * known, and rejected filters.
 */
#include <errno.h>

#include "query/filter.h"
#include "../unit.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define PROCFS PAGEDET_SOURCE_PROCFS
#define F(name) PAGEDET_FIELD_##name
#define PF(name) PAGEDET_PF(PAGEDET_PF_##name)

static char no_root[] = "";
static struct pdet_env env = { .root = no_root };
static struct pdet_batch batch;

/*
 * Row 0: an anonymous page, all known. Row 1: a file's page, all known. Row 2:
 * an address without a page, all nothing. Row 3: everything lost. Row 4: an
 * anonymous page whose ksm bit and mapcount are not known.
 */
#define ROWS 5

static void text(uint32_t row, unsigned field, const char *value)
{
	pdet_put_text(&batch, row, field, value, strlen(value), PROCFS);
}

static void make_rows(void)
{
	struct pdet_fields all = pdet_fields_all();
	const uint64_t every = UINT64_MAX >> 2;
	unsigned f;

	/* A column that the query did not want. */
	pdet_fields_remove(&all, F(NODE));
	ck_assert(pdet_batch_init(&batch, &all, ROWS, 4096));
	pdet_batch_grow(&batch, ROWS);
	pdet_fields_for(f, &all) {
		pdet_put_none_run(&batch, 0, 3, f, PROCFS);
		pdet_put_lost(&batch, 3, f, PAGEDET_NO_ACCESS, PROCFS);
		pdet_put_none(&batch, 4, f, PROCFS);
	}
	pdet_put(&batch, 0, F(PFN), 0x100, PROCFS);
	pdet_put(&batch, 0, F(KIND), PAGEDET_KIND_ANON, PROCFS);
	pdet_put(&batch, 0, F(FLAGS), PF(LRU) | PF(ANON), PROCFS);
	pdet_put(&batch, 0, F(FLAGS_KNOWN), every, PROCFS);
	pdet_put(&batch, 0, F(MAPCOUNT), 1, PROCFS);
	pdet_put(&batch, 0, F(REFCOUNT), 2, PROCFS);
	pdet_put(&batch, 0, F(VMA_PROT), PAGEDET_PROT_READ |
		 PAGEDET_PROT_WRITE, PROCFS);
	text(0, F(COMM), "and");

	pdet_put(&batch, 1, F(PFN), 0x101, PROCFS);
	pdet_put(&batch, 1, F(KIND), PAGEDET_KIND_FILE, PROCFS);
	pdet_put(&batch, 1, F(FLAGS), PF(LRU) | PF(DIRTY) |
		 (uint64_t)1 << 27, PROCFS);
	pdet_put(&batch, 1, F(FLAGS_KNOWN), every, PROCFS);
	pdet_put(&batch, 1, F(MAPCOUNT), 3, PROCFS);
	pdet_put(&batch, 1, F(REFCOUNT), (uint64_t)-1, PROCFS);
	pdet_put(&batch, 1, F(DEV), (uint64_t)8 << 32 | 1, PROCFS);
	pdet_put(&batch, 1, F(INODE), UINT64_MAX, PROCFS);
	text(1, F(PATH), "/tmp/a (b)\nc");
	text(1, F(GFP), "GFP_KERNEL|__GFP_ZERO");

	pdet_put(&batch, 2, F(KIND), PAGEDET_KIND_UNTOUCHED, PROCFS);

	pdet_put(&batch, 4, F(PFN), 0x102, PROCFS);
	pdet_put(&batch, 4, F(KIND), PAGEDET_KIND_ANON, PROCFS);
	pdet_put(&batch, 4, F(FLAGS), PF(ANON), PROCFS);
	pdet_put(&batch, 4, F(FLAGS_KNOWN), every & ~PF(KSM), PROCFS);
	pdet_put_lost(&batch, 4, F(MAPCOUNT), PAGEDET_RACED, PROCFS);
}

static const char *eval(const char *expression)
{
	static char got[ROWS + 1];
	struct pdet_filter *f;
	uint8_t *scratch;
	unsigned i;

	ck_assert_msg(pdet_filter_new(&env, expression, &f) == 0, "%s: %s",
		      expression, env.error);
	/* A filter must not use more scratch memory than documented. */
	scratch = malloc(pdet_filter_scratch(f, ROWS));
	pdet_filter_eval(f, &batch, scratch);
	for (i = 0; i < ROWS; i++)
		got[i] = "f?T"[scratch[i]];
	free(scratch);
	pdet_filter_free(f);
	return got;
}

static const struct {
	const char *expression;
	const char *rows;	/* T true, f false, ? unknown */
} truths[] = {
	{ "kind=anon", "Tff?T" },
	{ "kind==anon", "Tff?T" },
	{ "kind!=anon", "fTT?f" },
	{ "not kind=anon", "fTT?f" },
	{ "!kind=anon", "fTT?f" },
	{ "!!kind=anon", "Tff?T" },
	{ "kind=untouched", "ffT?f" },
	/* Nothing is never equal, smaller or larger. */
	{ "pfn=0x100", "Tff?f" },
	{ "pfn=256", "Tff?f" },
	{ "pfn=0256", "Tff?f" },
	{ "pfn<0x101", "Tff?f" },
	{ "pfn<=0x101", "TTf?f" },
	{ "pfn>0x101", "fff?T" },
	{ "pfn>=0x101", "fTf?T" },
	{ "pfn!=0x100", "fTT?T" },
	{ "pfn=none", "ffT?f" },
	{ "pfn!=none", "TTf?T" },
	{ "inode=18446744073709551615", "fTf?f" },
	{ "inode>18446744073709551614", "fTf?f" },
	{ "inode>18446744073709551615", "fff?f" },
	{ "pfn<0", "fff?f" },
	/* A mask: unknown bits decide nothing. */
	{ "flags:lru", "TTf?f" },
	{ "flags:dirty", "fTf?f" },
	{ "!flags:lru", "ffT?T" },
	{ "flags:ksm", "fff??" },
	{ "!flags:ksm", "TTT??" },
	{ "flags:bit27", "fTf?f" },
	{ "flags=none", "ffT?f" },
	{ "mapcount>1", "fTf??" },
	{ "mapcount=1", "Tff??" },
	/* Counts may be below zero. */
	{ "refcount<0", "fTf?f" },
	{ "refcount<=-1", "fTf?f" },
	{ "refcount=-1", "fTf?f" },
	{ "refcount!=-1", "TfT?T" },
	{ "refcount>-1", "Tff?f" },
	{ "refcount>=-1", "TTf?f" },
	{ "refcount<3", "TTf?f" },
	{ "refcount>0x1", "Tff?f" },
	/* Combinations of three values. */
	{ "mapcount>0 and kind=anon", "Tff??" },
	{ "mapcount>0 or kind=anon", "TTf?T" },
	{ "mapcount>0 and kind=file", "fTf?f" },
	{ "flags:ksm and flags:lru", "fff?f" },
	{ "flags:ksm or flags:anon", "Tff?T" },
	{ "kind=anon and not (flags:lru or mapcount>1)", "fff??" },
	/* "and" binds before "or", "not" before both */
	{ "kind=file or kind=anon and pfn=0x102", "fTf?T" },
	{ "(kind=file or kind=anon) and pfn=0x102", "fff?T" },
	{ "not kind=file and pfn=0x100", "Tff?f" },
	{ "not (kind=file and pfn=0x100)", "TTT?T" },
	/* texts */
	{ "path='/tmp/a (b)\nc'", "fTf?f" },
	{ "path=\"/tmp/a (b)\nc\"", "fTf?f" },
	{ "path~/tmp", "fTf?f" },
	{ "path~^/tmp/a", "fTf?f" },
	{ "path~^tmp", "fff?f" },
	{ "path!~tmp", "TfT?T" },
	{ "path~'a \\(b'", "fTf?f" },
	{ "path=none", "TfT?T" },
	{ "path='none'", "fff?f" },
	{ "comm=and and kind=anon", "Tff?f" },
	{ "gfp:__GFP_ZERO", "fTf?f" },
	{ "gfp:GFP_KERNEL", "fTf?f" },
	{ "gfp:GFP", "fff?f" },
	{ "gfp~ZERO", "fTf?f" },
	{ "dev=8:1", "fTf?f" },
	{ "dev!=8:1", "TfT?T" },
	{ "dev=8:2", "fff?f" },
	{ "vma_prot=rw-p", "Tff?f" },
	{ "vma_prot=rw-s", "fff?f" },
	/* The query did not ask for the field. */
	{ "node=0", "?????" },
	{ "node=0 or kind=anon", "T???T" },
	/* layout */
	{ "  kind = anon  ", "Tff?T" },
	{ "\tkind=anon\n", "Tff?T" },
	{ "((kind=anon))", "Tff?T" },
	{ "kind=anon and(pfn=0x100)", "Tff?f" },
};

START_TEST(truth_of_rows)
{
	make_rows();
	ck_assert_msg(!strcmp(eval(truths[_i].expression), truths[_i].rows),
		      "%s: %s, not %s", truths[_i].expression,
		      eval(truths[_i].expression), truths[_i].rows);
	pdet_batch_free(&batch);
}
END_TEST

static const struct {
	const char *expression;
	const char *place;	/* in the error text */
} refused[] = {
	{ "", "character 1," },
	{ " ", "character 2," },
	{ "kind", "character 5," },
	{ "kind=", "character 6," },
	{ "kind=anon and", "character 14," },
	{ "kind=anon kind=file", "character 11," },
	{ "kind=anonymous", "character 6," },
	{ "kind<anon", "" },
	{ "kind~an", "" },
	{ "kinds=anon", "character 1," },
	{ "=anon", "character 1," },
	{ "and", "" },
	{ "kind=anon and or kind=file", "" },
	{ "(kind=anon", "character 11," },
	{ "kind=anon)", "character 10," },
	{ "()", "character 2," },
	{ "not", "character 4," },
	{ "!", "character 2," },
	{ "pfn=abc", "character 5," },
	{ "pfn=-1", "character 5," },
	{ "pfn=0x", "character 5," },
	{ "refcount=-", "character 10," },
	{ "refcount=--1", "character 10," },
	{ "refcount=9223372036854775808", "character 10," },
	{ "pfn=1.5", "character 5," },
	{ "pfn=18446744073709551616", "character 5," },
	{ "pfn:1", "" },
	{ "pfn~1", "" },
	{ "flags=lru", "" },
	{ "flags:nothing", "character 7," },
	{ "flags:bit64", "character 7," },
	{ "flags:bit", "character 7," },
	{ "flags:bit999999999999999999999", "character 7," },
	{ "path<a", "" },
	{ "path='open", "" },
	{ "path~'['", "" },
	{ "dev=8", "character 5," },
	{ "dev=8:1:2", "character 5," },
	{ "vma_prot=rwx", "character 10," },
	{ "vma_prot=rwxz", "character 10," },
	{ "kind=anon && kind=file", "character 11," },
	{ "KIND=anon", "character 1," },
	{ "kind=anon AND pfn=1", "character 11," },
};

START_TEST(nonsense_is_refused_with_its_place)
{
	struct pdet_filter *f = (struct pdet_filter *)&env;

	ck_assert_msg(pdet_filter_new(&env, refused[_i].expression, &f) ==
		      -EINVAL, "taken: '%s'", refused[_i].expression);
	ck_assert_ptr_eq(f, (struct pdet_filter *)&env);
	ck_assert_msg(strstr(env.error, "cannot understand filter") &&
		      strstr(env.error, refused[_i].place), "'%s': %s",
		      refused[_i].expression, env.error);
}
END_TEST

START_TEST(size_is_bounded)
{
	char text_buf[20000] = "";
	struct pdet_filter *f;
	unsigned i;

	for (i = 0; i < 5000; i++)
		text_buf[i] = '(';
	ck_assert_int_eq(pdet_filter_new(&env, text_buf, &f), -EINVAL);
	for (i = 0; i < 5000; i++)
		text_buf[i] = '!';
	ck_assert_int_eq(pdet_filter_new(&env, text_buf, &f), -EINVAL);
	strcpy(text_buf, "pfn=1");
	for (i = 0; i < 1000; i++)
		strcat(text_buf, " or pfn=1");
	ck_assert_int_eq(pdet_filter_new(&env, text_buf, &f), -EINVAL);
	/* A realistic filter fits. */
	strcpy(text_buf, "pfn=1");
	for (i = 0; i < 100; i++)
		strcat(text_buf, " or pfn=1");
	ck_assert_int_eq(pdet_filter_new(&env, text_buf, &f), 0);
	pdet_filter_free(f);
}
END_TEST

START_TEST(fields_that_it_looks_at)
{
	struct pdet_fields fields;
	struct pdet_filter *f;
	unsigned i, n = 0;

	ck_assert_int_eq(pdet_filter_new(&env, "pfn=1 and (flags:lru or "
					 "not path~x)", &f), 0);
	fields = pdet_filter_fields(f);
	ck_assert(pdet_fields_has(&fields, F(PFN)));
	ck_assert(pdet_fields_has(&fields, F(FLAGS)));
	ck_assert(pdet_fields_has(&fields, F(PATH)));
	pdet_fields_for(i, &fields)
		n++;
	ck_assert_uint_eq(n, 3);
	pdet_filter_free(f);
	pdet_filter_free(NULL);
}
END_TEST

static const struct {
	const char *expression;
	uint64_t first, last;
} ranges[] = {
	{ "pfn=5", 5, 5 },
	{ "pfn<5", 0, 4 },
	{ "pfn<=5", 0, 5 },
	{ "pfn>5", 6, UINT64_MAX },
	{ "pfn>=5", 5, UINT64_MAX },
	{ "pfn!=5", 0, UINT64_MAX },
	{ "pfn>=5 and pfn<9", 5, 8 },
	{ "pfn>=5 and kind=anon and (pfn<9 and flags:lru)", 5, 8 },
	{ "pfn>=5 or pfn<9", 0, UINT64_MAX },
	{ "not pfn<5", 0, UINT64_MAX },
	{ "kind=anon", 0, UINT64_MAX },
	{ "mapcount=5", 0, UINT64_MAX },
	{ "pfn=none", 0, UINT64_MAX },
};

START_TEST(range_of_a_field)
{
	uint64_t first = 1, last = 2;
	struct pdet_filter *f;

	ck_assert_int_eq(pdet_filter_new(&env, ranges[_i].expression, &f), 0);
	pdet_filter_range(f, F(PFN), &first, &last);
	ck_assert_uint_eq(first, ranges[_i].first);
	ck_assert_uint_eq(last, ranges[_i].last);
	pdet_filter_free(f);
}
END_TEST

START_TEST(range_of_a_contradiction_is_empty)
{
	static const char *const never[] = {
		"pfn<0", "pfn>18446744073709551615", "pfn>9 and pfn<5",
		"pfn=4 and pfn=5",
	};
	struct pdet_filter *f;
	uint64_t first, last;
	unsigned i;

	for (i = 0; i < COUNT(never); i++) {
		ck_assert_int_eq(pdet_filter_new(&env, never[i], &f), 0);
		pdet_filter_range(f, F(PFN), &first, &last);
		ck_assert_msg(first > last, "%s", never[i]);
		pdet_filter_free(f);
	}
}
END_TEST

/* --- names that are not fields --- */

static const struct pdet_filter_cell cells[] = {
	{ PAGEDET_HAVE, 7, false, NULL },
	{ PAGEDET_HAVE, 3, true, NULL },	/* -3 */
	{ PAGEDET_HAVE, 0, false, "ext4" },
	{ PAGEDET_NONE, 0, false, NULL },
	{ PAGEDET_UNSUPPORTED, 5, false, NULL },
};

/* a is 7, b is -3, c is a text, d nothing, e unknown. */
static int find_letter(void *arg, const char *name, size_t len, bool *is_text)
{
	ck_assert_ptr_eq(arg, &env);
	*is_text = *name == 'c';
	return len == 1 && *name >= 'a' && *name <= 'e' ? *name - 'a' : -1;
}

static void get_letter(void *arg, unsigned name, struct pdet_filter_cell *ret)
{
	ck_assert_ptr_eq(arg, &env);
	*ret = cells[name];
}

static const struct pdet_filter_names letters = {
	find_letter, &env, "it is not a letter"
};

static const struct {
	const char *expression;
	enum pdet_truth truth;
} of_letters[] = {
	{ "a=7", PDET_TRUE }, { "a!=7", PDET_FALSE }, { "a>0x6", PDET_TRUE },
	{ "a<7", PDET_FALSE }, { "a=none", PDET_FALSE },
	{ "b=3", PDET_FALSE }, { "b!=3", PDET_TRUE }, { "b<0", PDET_TRUE },
	{ "b<=0", PDET_TRUE }, { "b>0", PDET_FALSE }, { "b>=0", PDET_FALSE },
	{ "b!=none", PDET_TRUE },
	{ "c=ext4", PDET_TRUE }, { "c~^e.*4$", PDET_TRUE },
	{ "c!~x", PDET_FALSE }, { "c='xfs'", PDET_FALSE },
	{ "d=1", PDET_FALSE }, { "d!=1", PDET_TRUE }, { "d=none", PDET_TRUE },
	{ "e=5", PDET_UNKNOWN }, { "not e=5", PDET_UNKNOWN },
	{ "e=5 or a=7", PDET_TRUE }, { "e=5 and a=7", PDET_UNKNOWN },
	{ "e=5 and a=8", PDET_FALSE },
	{ "!(a=8 or c=xfs) and (b<0 or e=1)", PDET_TRUE },
};

START_TEST(truth_of_names)
{
	struct pdet_filter *f;

	ck_assert_int_eq(pdet_filter_of(&env, of_letters[_i].expression,
					&letters, &f), 0);
	ck_assert_msg(pdet_filter_test(f, get_letter, &env) ==
			      of_letters[_i].truth,
		      "%s", of_letters[_i].expression);
	pdet_filter_free(f);
}
END_TEST

/* "nN" has the number N, which may be that of a field, signed or not. */
static int number_of(void *arg, const char *name, size_t len, bool *is_text)
{
	(void)arg;
	(void)len;
	*is_text = false;
	return *name == 'n' ? atoi(name + 1) : -1;
}

static void get_most(void *arg, unsigned name, struct pdet_filter_cell *ret)
{
	(void)arg;
	(void)name;
	ret->state = PAGEDET_HAVE;
	ret->number = UINT64_MAX;
}

START_TEST(numbers_of_names_are_not_fields)
{
	static const struct {
		const char *rest;
		enum pdet_truth truth;
	} tests[] = {
		{ ">5", PDET_TRUE }, { "<5", PDET_FALSE },
		{ ">=18446744073709551615", PDET_TRUE },
		{ "!=18446744073709551615", PDET_FALSE },
		{ "!=none", PDET_TRUE },
	};
	const struct pdet_filter_names names = { .find = number_of,
						 .none = "it is not one" };
	struct pdet_filter *f;
	char text_buf[64];
	unsigned i;

	for (i = 0; i < COUNT(tests); i++) {
		snprintf(text_buf, sizeof(text_buf), "n%d%s", _i,
			 tests[i].rest);
		ck_assert_int_eq(pdet_filter_of(&env, text_buf, &names, &f),
				 0);
		ck_assert_msg(pdet_filter_test(f, get_most, NULL) ==
			      tests[i].truth, "%s", text_buf);
		pdet_filter_free(f);
	}
}
END_TEST

START_TEST(nonsense_of_names)
{
	static const struct { const char *text, *why; } wrong[] = {
		{ "pfn=1", "it is not a letter" }, { "z=1", "not a letter" },
		{ "a", "expected one of" }, { "dirty", "expected one of" },
		{ "a~7", "'~' is for text" }, { "a:1", "':' tests one flag" },
		{ "c<x", "have no order" }, { "a=x", "expected a number" },
		{ "", "expected a field" }, { "a=7 a=7", "expected \"and\"" },
	};
	struct pdet_filter *f;
	unsigned i;

	for (i = 0; i < COUNT(wrong); i++) {
		ck_assert_int_eq(pdet_filter_of(&env, wrong[i].text, &letters,
						&f), -EINVAL);
		ck_assert_msg(strstr(env.error, wrong[i].why), "%s: %s",
			      wrong[i].text, env.error);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("filter");

	unit_loop(s, truth_of_rows, COUNT(truths));
	unit_loop(s, nonsense_is_refused_with_its_place, COUNT(refused));
	unit_test(s, size_is_bounded);
	unit_test(s, fields_that_it_looks_at);
	unit_loop(s, range_of_a_field, COUNT(ranges));
	unit_test(s, range_of_a_contradiction_is_empty);
	unit_loop(s, truth_of_names, COUNT(of_letters));
	unit_loop(s, numbers_of_names_are_not_fields, 256);
	unit_test(s, nonsense_of_names);
	return unit_main(s);
}
