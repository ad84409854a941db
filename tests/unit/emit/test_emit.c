/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests output: every type and state in every format against recorded output,
 * hostile strings, groups, mappers, footers, and failed writes. As a property,
 * any batch becomes well-formed JSON, and CSV with each field once.
 *
 * UPDATE_GOLDEN rewrites the recorded output.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit/checked.h"
#include "emit/emit.h"
#include "../unit.h"

#define PROCFS PAGEDET_SOURCE_PROCFS
#define DERIVED PAGEDET_SOURCE_DERIVED
#define F(name) PAGEDET_FIELD_##name

static struct pdet_env env;
static struct pdet_batch batch;
static struct pdet_emit_query query;

static struct pdet_fields fields_of(const char *list)
{
	struct pdet_fields set = { { 0, 0 } };
	size_t len;
	int f;

	while (*list) {
		len = strcspn(list, ",");
		f = pdet_field_by_name(list, (unsigned)len);
		ck_assert_int_ge(f, 0);
		pdet_fields_add(&set, (unsigned)f);
		list += len + (list[len] == ',');
	}
	return set;
}

/* Makes an empty batch with these columns, and a query that shows them. */
static void set_up(const char *list)
{
	memset(&env, 0, sizeof(env));
	memset(&query, 0, sizeof(query));
	query.fields = list ? fields_of(list) : pdet_fields_all();
	query.target = PAGEDET_TARGET_PFN;
	query.page_size = 4096;
	ck_assert(pdet_batch_init(&batch, &query.fields, 512, 1 << 22));
}

static uint32_t add_row(void)
{
	int64_t row = pdet_batch_grow(&batch, 1);

	ck_assert_int_ge(row, 0);
	return (uint32_t)row;
}

static void put_text(uint32_t row, unsigned field, const char *text)
{
	pdet_put_text(&batch, row, field, text, strlen(text), PROCFS);
}

static struct pagedet_emitter *emitter(uint32_t format, uint32_t options,
				       int fd, uint32_t width)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_emitter *e = NULL;

	o.format = format;
	o.options = options;
	o.fd = fd;
	o.width = width;
	ck_assert_int_eq(pdet_emitter_new(&env, &o, &e), 0);
	return e;
}

static char *text_of(struct pagedet_emitter *e)
{
	size_t len;
	const char *text = pdet_emitter_text(e, &len);
	char *copy = malloc(len + 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len + 1);
	ck_assert_uint_eq(strlen(copy), len);
	pdet_emitter_free(e);
	return copy;
}

/* Writes the whole batch as one answer, which the caller frees. */
static char *emit(uint32_t format, uint32_t options, uint32_t width,
		  const struct pdet_emit_end *end)
{
	static const struct pdet_emit_end nothing = { .complete = true };
	struct pagedet_emitter *e = emitter(format, options, -1, width);

	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), 0);
	if (batch.n)
		ck_assert_int_eq(pdet_emit_batch(e, &env, &batch), 0);
	ck_assert_int_eq(pdet_emit_end(e, &env, end ? end : &nothing), 0);
	ck_assert_int_eq(pdet_emitter_finish(e), 0);
	return text_of(e);
}

static void ck_golden(char *text, const char *name)
{
	char file[256], path[4096], *want;
	size_t len;
	FILE *f;

	snprintf(file, sizeof(file), "tests/golden/emit-%s", name);
	unit_source(path, sizeof(path), file);
	if (getenv("UPDATE_GOLDEN")) {
		f = fopen(path, "w");
		ck_assert_ptr_nonnull(f);
		ck_assert_uint_eq(fwrite(text, 1, strlen(text), f),
				  strlen(text));
		ck_assert_int_eq(fclose(f), 0);
	}
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	want = calloc(1, 1 << 20);
	ck_assert_ptr_nonnull(want);
	len = fread(want, 1, (1 << 20) - 1, f);
	fclose(f);
	ck_assert_msg(len == strlen(text) && !memcmp(text, want, len),
		      "%s differs; it is now:\n%s", path, text);
	free(want);
	free(text);
}

static void ck_text(char *text, const char *want)
{
	ck_assert_str_eq(text, want);
	free(text);
}

/* --- every type --- */

/* Sets a valid value for the type. */
static void put_sample(uint32_t row, unsigned f)
{
	const char *name = pdet_field_info(f)->name;
	uint64_t value = 0x1000 + f;

	switch (pdet_field_info(f)->type) {
	case PAGEDET_TYPE_STRING:
		put_text(row, f, name);
		return;
	case PAGEDET_TYPE_LIST:
		put_text(row, f, "GFP_KERNEL|__GFP_ZERO");
		return;
	case PAGEDET_TYPE_ENUM:
		value = 1;
		break;
	case PAGEDET_TYPE_DEV:
		value = (uint64_t)8 << 32 | 1;
		break;
	case PAGEDET_TYPE_PROT:
		value = PAGEDET_PROT_READ | PAGEDET_PROT_WRITE;
		break;
	case PAGEDET_TYPE_MASK:
		value = 5;
		break;
	case PAGEDET_TYPE_HEX:
	case PAGEDET_TYPE_STACK:
		value = UINT64_MAX - f;
		break;
	default:
		break;
	}
	pdet_put(&batch, row, f, value, PROCFS);
}

/* A row with all answers, one with nothing, and one without answers. */
static void put_states(void)
{
	unsigned f, reason = PAGEDET_UNSUPPORTED;
	uint32_t row = add_row();

	for (f = 0; f < PDET_FIELDS; f++)
		put_sample(row, f);
	pdet_put(&batch, row, F(FLAGS), PAGEDET_PF(PAGEDET_PF_ANON) |
		 PAGEDET_PF(PAGEDET_PF_LRU) | PAGEDET_PF(55), PROCFS);
	pdet_put(&batch, row, F(FLAGS_KNOWN),
		 ~PAGEDET_PF(PAGEDET_PF_KSM), PROCFS);
	pdet_put(&batch, row, F(PTE), 0, PROCFS);
	pdet_put(&batch, row, F(PTE_KNOWN), 0xffff, PROCFS);
	row = add_row();
	for (f = 0; f < PDET_FIELDS; f++)
		pdet_put_none(&batch, row, f, PROCFS);
	row = add_row();
	for (f = 0; f < PDET_FIELDS; f++) {
		pdet_put_lost(&batch, row, f, reason, PROCFS);
		if (++reason > PAGEDET_TIMEOUT)
			reason = PAGEDET_UNSUPPORTED;
	}
}

START_TEST(all_types)
{
	set_up(NULL);
	put_states();
	ck_golden(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL), "types.json");
	ck_golden(emit(PAGEDET_FORMAT_CSV, 0, 0, NULL), "types.csv");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL), "types.txt");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 80, NULL), "types-80.txt");
	ck_golden(emit(PAGEDET_FORMAT_JSON, PAGEDET_EMIT_SOURCES, 0, NULL),
		  "types-sources.json");
	pdet_batch_free(&batch);
}
END_TEST

/* Frames of stack 0x5b1e; any other stack is gone or unreadable. */
static int stack(const void *user, uint64_t id, const char **frames, uint32_t n)
{
	static const char *const some[] = {
		"alloc_pages+0x10/0x40", "probe \"it\"+0x2/0x4 [ext4]",
		"do_exit+0x1/0x2\033",
	};
	uint32_t i;

	(void)user;
	if (id != 0x5b1e)
		return id ? -ENOENT : -EIO;
	for (i = 0; i < 3 && i < n; i++)
		frames[i] = some[i];
	return 3;
}

/*
 * A page in use, a free one, one without a record, and one with a damaged
 * record.
 */
static void put_owners(void)
{
	uint32_t row = add_row(), i;

	pdet_put(&batch, row, F(ALLOC_STACK), 0x5b1e, PROCFS);
	pdet_put(&batch, row, F(ALLOC_PID), 7, PROCFS);
	pdet_put(&batch, row, F(ALLOC_NS), 1234567890123456789, PROCFS);
	put_text(row, F(ALLOC_COMM), "a\xff\n");
	put_text(row, F(GFP), "GFP_KERNEL|__GFP_ZERO");
	pdet_put_none(&batch, row, F(FREE_STACK), PROCFS);
	pdet_put_none(&batch, row, F(FREE_NS), PROCFS);
	row = add_row();
	pdet_put(&batch, row, F(ALLOC_STACK), 0xbad, PROCFS);
	pdet_put(&batch, row, F(ALLOC_PID), 0, PROCFS);
	pdet_put(&batch, row, F(ALLOC_NS), 0, PROCFS);
	put_text(row, F(ALLOC_COMM), "");
	put_text(row, F(GFP), "");
	pdet_put(&batch, row, F(FREE_STACK), 0, PROCFS);
	pdet_put(&batch, row, F(FREE_NS), 99, PROCFS);
	row = add_row();
	pdet_put_none(&batch, row, F(ALLOC_STACK), PROCFS);
	pdet_put_none(&batch, row, F(ALLOC_PID), PROCFS);
	pdet_put_none(&batch, row, F(ALLOC_NS), PROCFS);
	pdet_put_none(&batch, row, F(ALLOC_COMM), PROCFS);
	pdet_put_none(&batch, row, F(GFP), PROCFS);
	pdet_put_none(&batch, row, F(FREE_STACK), PROCFS);
	pdet_put_none(&batch, row, F(FREE_NS), PROCFS);
	row = add_row();
	pdet_put_lost(&batch, row, F(ALLOC_STACK), PAGEDET_CORRUPT, PROCFS);
	pdet_put_lost(&batch, row, F(ALLOC_PID), PAGEDET_CORRUPT, PROCFS);
	pdet_put_none(&batch, row, F(ALLOC_NS), PROCFS);
	pdet_put_none(&batch, row, F(ALLOC_COMM), PROCFS);
	pdet_put_none(&batch, row, F(GFP), PROCFS);
	pdet_put(&batch, row, F(FREE_STACK), 0x5b1e, PROCFS);
	pdet_put_lost(&batch, row, F(FREE_NS), PAGEDET_IO, PROCFS);
	for (i = 0; i <= row; i++)
		pdet_put(&batch, i, F(PFN), 4096 + i, PROCFS);
}

START_TEST(stacks)
{
	set_up("pfn,alloc_stack,alloc_pid,alloc_ns,alloc_comm,gfp,free_stack,"
	       "free_ns");
	query.stack = stack;
	put_owners();
	ck_golden(emit(PAGEDET_FORMAT_JSON, PAGEDET_EMIT_STACKS, 0, NULL),
		  "stacks.json");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, PAGEDET_EMIT_STACKS, 0, NULL),
		  "stacks.txt");
	ck_golden(emit(PAGEDET_FORMAT_CSV, PAGEDET_EMIT_STACKS, 0, NULL),
		  "stacks.csv");
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(numbers)
{
	static const uint64_t some[] = {
		0, 1, 9, 10, 99, 100, 101, 999, 1000, 9999, 10000, 99999,
		100000, 4294967295u, 4294967296u, 9007199254740993u,
		999999999999999999u, 1000000000000000000u,
		9999999999999999999u, 10000000000000000000u, UINT64_MAX,
	};
	char want[4096], *p = want;
	unsigned i;

	set_up("inode,raw_flags");
	for (i = 0; i < PDET_COUNT(some); i++) {
		pdet_put(&batch, add_row(), F(INODE), some[i], PROCFS);
		pdet_put(&batch, i, F(RAW_FLAGS), some[i], PROCFS);
		p += sprintf(p, "{\"raw_flags\":\"0x%llx\",\"inode\":%llu}\n",
			     (unsigned long long)some[i],
			     (unsigned long long)some[i]);
	}
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL), want);
	pdet_batch_free(&batch);
}
END_TEST

/* --- masks and what is known of them --- */

START_TEST(known_bits)
{
	set_up("pfn,flags,flags_known,pte,pte_known");
	pdet_put(&batch, add_row(), F(PFN), 1, PROCFS);
	pdet_put(&batch, 0, F(FLAGS), 0x1020, PROCFS);
	pdet_put(&batch, 0, F(FLAGS_KNOWN), ~(uint64_t)0x2200000, PROCFS);
	pdet_put(&batch, 0, F(PTE), 1, PROCFS);
	pdet_put(&batch, 0, F(PTE_KNOWN), 0xffff, PROCFS);
	pdet_put(&batch, add_row(), F(PFN), 2, PROCFS);
	pdet_put_none(&batch, 1, F(FLAGS), PROCFS);
	pdet_put_none(&batch, 1, F(FLAGS_KNOWN), PROCFS);
	pdet_put_lost(&batch, 1, F(PTE), PAGEDET_DENIED, PROCFS);
	pdet_put_lost(&batch, 1, F(PTE_KNOWN), PAGEDET_DENIED, PROCFS);
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL),
		"{\"pfn\":1,\"pte\":[\"present\"],\"flags\":[\"lru\","
		"\"anon\"],\"flags_unknown\":[\"ksm\",\"idle\"]}\n"
		"{\"pfn\":2,\"flags\":null,\"missing\":{\"pte\":\"denied\"}}"
		"\n");
	ck_text(emit(PAGEDET_FORMAT_CSV, 0, 0, NULL),
		"pfn,pte,pte_unknown,flags,flags_unknown\n"
		"1,present,,lru|anon,ksm|idle\n"
		"2,?denied,?denied,,\n");

	/* The known bits follow the flags even if only those are wanted. */
	query.fields = fields_of("flags");
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL),
		"{\"flags\":[\"lru\",\"anon\"],"
		"\"flags_unknown\":[\"ksm\",\"idle\"]}\n{\"flags\":null}\n");
	query.fields = fields_of("pte_known");
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL),
		"{\"pte_known\":[\"present\",\"swapped\",\"guard\","
		"\"migration\",\"hwpoison\",\"device\",\"file\",\"zero\","
		"\"exclusive\",\"soft_dirty\",\"uffd_wp\",\"written\","
		"\"young\",\"dirty\",\"write\",\"exec\"]}\n"
		"{\"missing\":{\"pte_known\":\"denied\"}}\n");
	pdet_batch_free(&batch);

	/* Without a column of known bits, nothing is claimed about them. */
	set_up("flags");
	pdet_put(&batch, add_row(), F(FLAGS), 0, PROCFS);
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL), "{\"flags\":[]}\n");
	ck_text(emit(PAGEDET_FORMAT_CSV, 0, 0, NULL),
		"flags,flags_unknown\n0,?not_asked\n");
	pdet_batch_free(&batch);
}
END_TEST

/* More combinations than the cache holds, each repeatedly. */
START_TEST(many_masks)
{
	uint32_t row;
	char *text, *line, want[64];

	set_up("flags");
	for (row = 0; row < 512; row++)
		pdet_put(&batch, add_row(), F(FLAGS),
			 (uint64_t)1 << (row * 7 % 60) |
			 (uint64_t)1 << (row * 11 % 60), PROCFS);
	text = emit(PAGEDET_FORMAT_CSV, 0, 0, NULL);
	line = strchr(text, '\n') + 1;
	for (row = 0; row < 512; row++) {
		unsigned a = row * 7 % 60, b = row * 11 % 60, i;
		char *p = want;

		for (i = 0; i < 60; i++) {
			const char *name = pdet_value_name(F(FLAGS), i);

			if (i != a && i != b)
				continue;
			p += sprintf(p, p == want ? "" : "|");
			p += name ? sprintf(p, "%s", name) :
				    sprintf(p, "bit%u", i);
		}
		sprintf(p, ",?not_asked\n");
		ck_assert_int_eq(strncmp(line, want, strlen(want)), 0);
		line += strlen(want);
	}
	ck_assert_str_eq(line, "");
	free(text);
	pdet_batch_free(&batch);
}
END_TEST

/* --- columns that are not there --- */

static uint32_t why_no_access(const void *user, uint32_t field)
{
	(void)user;
	return field == F(MEMCG_PATH) ? PAGEDET_NO_ACCESS : PAGEDET_HAVE;
}

static const char *advise_cap(const void *user, uint32_t field)
{
	(void)user;
	return field == F(MEMCG_PATH) ? "needs CAP_SYS_ADMIN" : "";
}

START_TEST(absent_columns)
{
	set_up("pfn");
	pdet_put(&batch, add_row(), F(PFN), 4660, PROCFS);
	query.fields = fields_of("pfn,memcg_path");
	query.why = why_no_access;
	query.advice = advise_cap;
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL),
		"{\"pfn\":4660,\"missing\":{\"memcg_path\":\"no_access\"}}\n");
	ck_text(emit(PAGEDET_FORMAT_CSV, 0, 0, NULL),
		"pfn,memcg_path\n4660,?no_access\n");
	ck_text(emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL),
		"pfn         4660 (0x1234)\n"
		"memcg_path  ?\n"
		"\n"
		"? memcg_path: no_access - a privilege is missing; "
		"needs CAP_SYS_ADMIN\n");
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(not_asked_cells)
{
	set_up("pfn,inode");
	pdet_put(&batch, add_row(), F(PFN), 7, PROCFS);
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL), "{\"pfn\":7}\n");
	query.fields = fields_of("inode");
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL), "{}\n");
	pdet_batch_free(&batch);
}
END_TEST

/* --- strings that somebody chose --- */

static const struct {
	const char *text;
	const char *json;	/* without the quotes */
	const char *hex;	/* NULL: it is UTF-8 */
	const char *csv;
	const char *plain;
} hostile[] = {
	{ "plain", "plain", NULL, "plain", "plain" },
	{ "", "", NULL, "\"\"", "\"\"" },
	{ "-", "-", NULL, "-", "\"-\"" },
	{ "?", "?", NULL, "\"?\"", "\"?\"" },
	{ "?denied", "?denied", NULL, "\"?denied\"", "?denied" },
	{ "a\nb) S 1", "a\\nb) S 1", NULL, "\"a\nb) S 1\"",
	  "a\\x0ab) S 1" },
	{ "say \"hi\", \\o/", "say \\\"hi\\\", \\\\o/", NULL,
	  "\"say \"\"hi\"\", \\o/\"", "say \"hi\", \\o/" },
	{ "\033[2J\a", "\\u001b[2J\\u0007", NULL,
	  "\\x1b[2J\\x07", "\\x1b[2J\\x07" },
	{ "tab\tcr\r", "tab\\tcr\\r", NULL, "\"tab\tcr\\x0d\"",
	  "tab\\x09cr\\x0d" },
	{ "\x7f", "\\u007f", NULL, "\\x7f", "\\x7f" },
	/* C1 control: some terminals take U+009B for ESC [ */
	{ "\xc2\x9b" "2J", "\\u009b2J", NULL, "\\xc2\\x9b2J",
	  "\\xc2\\x9b2J" },
	{ "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7",
	  "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7", NULL,
	  "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7",
	  "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7" },
	/* text that runs backwards */
	{ "a\xe2\x80\xae" "b", "a\\u202eb", NULL,
	  "a\\xe2\\x80\\xaeb", "a\\xe2\\x80\\xaeb" },
	{ "\xd8\x9c", "\\u061c", NULL, "\\xd8\\x9c", "\\xd8\\x9c" },
	/* what spreadsheets take for formulas */
	{ "=1+1", "=1+1", NULL, "'=1+1", "=1+1" },
	{ "+1", "+1", NULL, "'+1", "+1" },
	{ "-sh", "-sh", NULL, "'-sh", "-sh" },
	{ "@x", "@x", NULL, "'@x", "@x" },
	{ "\t=1", "\\t=1", NULL, "'\t=1", "\\x09=1" },
	{ "\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd", "fffe", "\\xff\\xfe",
	  "\\xff\\xfe" },
	/* over-long '/', twice, surrogate, past the end, cut off */
	{ "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", "c0af", "\\xc0\\xaf",
	  "\\xc0\\xaf" },
	{ "\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "e080af",
	  "\\xe0\\x80\\xaf", "\\xe0\\x80\\xaf" },
	{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "eda080",
	  "\\xed\\xa0\\x80", "\\xed\\xa0\\x80" },
	{ "\xf4\x90\x80\x80",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "f4908080",
	  "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80" },
	{ "a\xe2\x82", "a\xef\xbf\xbd", "61e282", "a\\xe2\\x82",
	  "a\\xe2\\x82" },
	{ "\xe2\x82z", "\xef\xbf\xbdz", "e2827a", "\\xe2\\x82z",
	  "\\xe2\\x82z" },
};

START_TEST(hostile_strings)
{
	const char *text = hostile[_i].text;
	char want[512], got[512];
	uint16_t have = PDET_CELL(PAGEDET_HAVE, PROCFS);

	set_up("comm");
	put_text(add_row(), F(COMM), text);
	snprintf(want, sizeof(want), "{\"comm\":\"%s\"%s%s%s}\n",
		 hostile[_i].json, hostile[_i].hex ? ",\"comm_hex\":\"" : "",
		 hostile[_i].hex ? hostile[_i].hex : "",
		 hostile[_i].hex ? "\"" : "");
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL), want);
	snprintf(want, sizeof(want), "comm\n%s\n", hostile[_i].csv);
	ck_text(emit(PAGEDET_FORMAT_CSV, 0, 0, NULL), want);
	snprintf(want, sizeof(want), "comm  %s\n", hostile[_i].plain);
	ck_text(emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL), want);
	ck_assert_uint_eq(pdet_format_cell(F(COMM), 1, have, ~(uint64_t)0,
					   text, strlen(text), got,
					   sizeof(got)),
			  strlen(hostile[_i].plain));
	ck_assert_str_eq(got, hostile[_i].plain);
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(lists)
{
	set_up("gfp");
	put_text(add_row(), F(GFP), "GFP_KERNEL|__GFP_ZERO");
	put_text(add_row(), F(GFP), "0x\xff|b");
	put_text(add_row(), F(GFP), "");
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL),
		"{\"gfp\":[\"GFP_KERNEL\",\"__GFP_ZERO\"]}\n"
		"{\"gfp\":[\"0x\xef\xbf\xbd\",\"b\"],"
		"\"gfp_hex\":\"3078ff7c62\"}\n"
		"{\"gfp\":[]}\n");
	pdet_batch_free(&batch);
}
END_TEST

/* Longer than the buffer, and longer still with escapes. */
START_TEST(long_strings)
{
	size_t len = 700000, i;
	char *text = malloc(len + 1), *want = malloc(6 * len + 64), *p;

	ck_assert(text && want);
	for (i = 0; i < len; i++)
		text[i] = i % 3 ? '\001' : '"';
	text[len] = '\0';
	set_up("path");
	put_text(add_row(), F(PATH), text);
	p = want + sprintf(want, "{\"path\":\"");
	for (i = 0; i < len; i++)
		p += sprintf(p, "%s", i % 3 ? "\\u0001" : "\\\"");
	sprintf(p, "\"}\n");
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL), want);
	p = want + sprintf(want, "path\n\"");
	for (i = 0; i < len; i++)
		p += sprintf(p, "%s", i % 3 ? "\\x01" : "\"\"");
	sprintf(p, "\"\n");
	ck_text(emit(PAGEDET_FORMAT_CSV, 0, 0, NULL), want);
	p = want + sprintf(want, "path  ");
	for (i = 0; i < len; i++)
		p += sprintf(p, "%s", i % 3 ? "\\x01" : "\"");
	sprintf(p, "\n");
	ck_text(emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL), want);
	free(text);
	free(want);
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(stale_string)
{
	set_up("pfn,comm");
	pdet_put(&batch, add_row(), F(PFN), 1, PROCFS);
	pdet_put(&batch, 0, F(COMM), 12345, PROCFS);
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL),
		"{\"pfn\":1,\"missing\":{\"comm\":\"no_memory\"}}\n");
	ck_text(emit(PAGEDET_FORMAT_CSV, 0, 0, NULL),
		"pfn,comm\n1,?no_memory\n");
	pdet_batch_free(&batch);
}
END_TEST

/* --- one cell --- */

START_TEST(format_cell)
{
	const uint16_t have = PDET_CELL(PAGEDET_HAVE, PROCFS);
	const uint64_t all = ~(uint64_t)0;
	char text[64];

#define CK_CELL(field, value, cell, known, want)                          \
	do {                                                              \
		ck_assert_uint_eq(pdet_format_cell(field, value, cell,    \
						   known, NULL, 0, text,  \
						   sizeof(text)),         \
				  strlen(want));                          \
		ck_assert_str_eq(text, want);                             \
	} while (0)
	CK_CELL(F(PFN), 4660, have, all, "4660 (0x1234)");
	CK_CELL(F(HEAD_PFN), 0, have, all, "0 (0x0)");
	CK_CELL(F(MAPCOUNT), 0, have, all, "0");
	CK_CELL(F(MAPCOUNT), 0, PDET_CELL(PAGEDET_NONE, PROCFS), all, "-");
	CK_CELL(F(MAPCOUNT), 0, PDET_CELL(PAGEDET_RACED, PROCFS), all, "?");
	CK_CELL(F(VADDR), 0x7f00, have, all, "0x7f00");
	CK_CELL(F(KIND), PAGEDET_KIND_ANON, have, all, "anon");
	CK_CELL(F(KIND), 999, have, all, "999");
	CK_CELL(F(DEV), (uint64_t)259 << 32 | 3, have, all, "259:3");
	CK_CELL(F(VMA_PROT), 15, have, all, "rwxs");
	CK_CELL(F(VMA_PROT), 0, have, all, "---p");
	CK_CELL(F(FLAGS), 0, have, all, "0");
	CK_CELL(F(FLAGS), 0x21, have, all, "locked,lru");
	CK_CELL(F(FLAGS), 0x20, have, all & ~(uint64_t)0x2200000,
		"lru (unknown: ksm,idle)");
	CK_CELL(F(NOTES), 1, have, 0, "torn");
	/* A string id that is no longer valid. */
	CK_CELL(F(COMM), 1, have, all, "?");
#undef CK_CELL
	ck_assert_uint_eq(pdet_format_cell(F(PFN), 4660, have, all, NULL, 0,
					   text, 5), 13);
	ck_assert_str_eq(text, "4660");
	ck_assert_uint_eq(pdet_format_cell(F(PFN), 4660, have, all, NULL, 0,
					   NULL, 0), 13);
}
END_TEST

/* --- groups --- */

static void put_group(int kind, const char *comm, uint64_t pages)
{
	uint32_t row = add_row();

	if (kind >= 0)
		pdet_put(&batch, row, F(KIND), (uint64_t)kind, PROCFS);
	else
		pdet_put_lost(&batch, row, F(KIND), PAGEDET_NO_ACCESS, PROCFS);
	if (comm)
		put_text(row, F(COMM), comm);
	else
		pdet_put_none(&batch, row, F(COMM), PROCFS);
	pdet_put(&batch, row, F(PAGES), pages, DERIVED);
}

START_TEST(groups)
{
	static const uint32_t keys[] = { F(COMM), F(KIND) };
	struct pdet_emit_end end = {
		.pages = 1000001, .undecided = 12, .spilled = 3,
		.complete = true,
	};

	set_up("kind,comm,pages");
	query.group_by = keys;
	query.n_group_by = 2;
	query.grouped = true;
	query.why = why_no_access;
	put_group(PAGEDET_KIND_ANON, "firefox", 900000);
	put_group(PAGEDET_KIND_FILE, NULL, 99950);
	put_group(-1, "a,b", 50);
	put_group(PAGEDET_KIND_ZERO, "sh", 1);
	ck_golden(emit(PAGEDET_FORMAT_JSON, PAGEDET_EMIT_SOURCES, 0, &end),
		  "groups.json");
	ck_golden(emit(PAGEDET_FORMAT_CSV, 0, 0, &end), "groups.csv");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 0, &end), "groups.txt");
	end.spilled = end.undecided = 0;
	ck_golden(emit(PAGEDET_FORMAT_JSON, 0, 0, &end), "groups-plain.json");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 0, &end), "groups-plain.txt");
	/* Sums of a part do not pass for those of the whole. */
	end.complete = false;
	end.visited = 1000001;
	ck_golden(emit(PAGEDET_FORMAT_JSON, 0, 0, &end), "groups-part.json");
	end.wanted = 4194304;
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 0, &end), "groups-part.txt");
	pdet_batch_free(&batch);
}
END_TEST

static uint32_t why_have(const void *user, uint32_t field)
{
	(void)user;
	(void)field;
	return PAGEDET_HAVE;
}

static const char *add_field(const void *user, uint32_t field)
{
	static char text[PDET_FIELDS][64];

	(void)user;
	snprintf(text[field], sizeof(text[field]), "%s%s",
		 PDET_NOT_LOOKED_FOR, pdet_field_info(field)->name);
	return text[field];
}

/* All of them have one option in common. */
START_TEST(not_looked_for)
{
	uint32_t row;
	char *text;

	set_up("pfn,inode,index,path");
	query.why = why_have;
	query.advice = add_field;
	row = add_row();
	pdet_put(&batch, row, F(PFN), 1, PROCFS);
	pdet_put_lost(&batch, row, F(INODE), PAGEDET_UNSUPPORTED, PROCFS);
	pdet_put_lost(&batch, row, F(INDEX), PAGEDET_UNSUPPORTED, PROCFS);
	pdet_put_lost(&batch, row, F(PATH), PAGEDET_UNSUPPORTED, PROCFS);
	text = emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL);
	ck_assert_msg(strstr(text, "\n? inode, index, path: not read; "
			     "add --fields cheap,inode,index,path\n"),
		      "%s", text);
	free(text);
	pdet_batch_free(&batch);
}
END_TEST

/* Fields that are lost as often may be lost in different rows. */
START_TEST(lost_as_often)
{
	static const uint32_t fields[] = {
		F(ORDER), F(INODE), F(INDEX), F(PATH)
	};
	uint32_t row, i;
	char *text;

	set_up("pfn,inode,index,path,order,pages");
	for (row = 0; row < 3; row++) {
		pdet_put(&batch, add_row(), F(PFN), 1, PROCFS);
		pdet_put(&batch, row, F(PAGES), 1, PROCFS);
		for (i = 0; i < PDET_COUNT(fields); i++)
			pdet_put_none(&batch, row, fields[i], PROCFS);
	}
	pdet_put_lost(&batch, 0, F(INODE), PAGEDET_RACED, PROCFS);
	pdet_put_lost(&batch, 2, F(INDEX), PAGEDET_RACED, PROCFS);
	pdet_put_lost(&batch, 1, F(PATH), PAGEDET_RACED, PROCFS);
	pdet_put_lost(&batch, 2, F(PATH), PAGEDET_RACED, PROCFS);
	pdet_put_lost(&batch, 2, F(ORDER), PAGEDET_IO, PROCFS);
	text = emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL);
	ck_assert_msg(strstr(text, "\n\n"
			     "? order in 1 of 3 rows: io - reading failed\n"
			     "? inode, index each in 1 of 3 rows: raced - the "
			     "page changed while it was read\n"
			     "? path in 2 of 3 rows: raced - the page changed "
			     "while it was read\n"),
		      "%s", text);
	free(text);
	/* Of groups the numbers are not written: they do not matter. */
	query.grouped = true;
	query.group_by = fields;
	query.n_group_by = PDET_COUNT(fields);
	text = emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL);
	ck_assert_msg(strstr(text, "\n\n"
			     "? order: io - reading failed\n"
			     "? inode, index, path: raced - the page changed "
			     "while it was read\n"),
		      "%s", text);
	free(text);
	pdet_batch_free(&batch);
}
END_TEST

/* By value, not by its bits: 7 and 8 have no common bit. */
START_TEST(kinds_explained)
{
	static const char words[] = "uninit: free memory that the kernel has "
				    "not set up yet\n";
	static const uint32_t keys[] = { F(KIND) };
	struct pdet_emit_end end = { .pages = 3, .complete = true };
	char *text;
	int uninit;

	for (uninit = 0; uninit < 2; uninit++) {
		set_up("kind,comm,pages");
		query.group_by = keys;
		query.n_group_by = 1;
		query.grouped = true;
		put_group(7, NULL, 1);
		put_group(8, NULL, 1);
		if (uninit)
			put_group(PAGEDET_KIND_UNINIT, NULL, 1);
		text = emit(PAGEDET_FORMAT_TEXT, 0, 0, &end);
		ck_assert_int_eq(strstr(text, words) != NULL, uninit);
		free(text);
		pdet_batch_free(&batch);
	}
}
END_TEST

/* Without keys there is one group; without pages there is none. */
START_TEST(group_without_keys)
{
	struct pdet_emit_end end = { .pages = 3, .complete = true };

	set_up("pages");
	query.grouped = true;
	pdet_put(&batch, add_row(), F(PAGES), 3, DERIVED);
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, &end),
		"{\"pages\":3,\"bytes\":12288}\n"
		"{\"total\":{\"pages\":3,\"bytes\":12288,\"undecided\":0}}\n");
	ck_text(emit(PAGEDET_FORMAT_TEXT, 0, 0, &end),
		"pages      size   share\n"
		"    3  12.0 KiB  100.0%\n");
	batch.n = 0;
	end.pages = 0;
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, &end),
		"{\"total\":{\"pages\":0,\"bytes\":0,\"undecided\":0}}\n");
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(human_sizes)
{
	static const struct {
		uint64_t pages;
		uint64_t page_size;
		const char *size;
	} some[] = {
		{ 0, 4096, "0 B" }, { 1, 1023, "1023 B" },
		{ 1, 4096, "4.0 KiB" }, { 255, 4096, "1020.0 KiB" },
		{ 256, 4096, "1.0 MiB" }, { 12345, 4096, "48.2 MiB" },
		{ 1, 1048575, "1024.0 KiB" },
		{ 1 << 20, 4096, "4.0 GiB" },
		{ (uint64_t)1 << 40, 4096, "4.0 PiB" },
		{ UINT64_MAX, 1, "16.0 EiB" },
	};
	char *text, want[64];
	unsigned i;

	for (i = 0; i < PDET_COUNT(some); i++) {
		struct pdet_emit_end end = { .pages = some[i].pages,
					     .complete = true };

		set_up("pages");
		query.grouped = true;
		query.page_size = some[i].page_size;
		pdet_put(&batch, add_row(), F(PAGES), some[i].pages, DERIVED);
		text = emit(PAGEDET_FORMAT_TEXT, 0, 0, &end);
		snprintf(want, sizeof(want), "  %s", some[i].size);
		ck_assert_msg(strstr(text, want) != NULL, "%s not in\n%s",
			      want, text);
		free(text);
		pdet_batch_free(&batch);
	}
}
END_TEST

/* --- checks --- */

/* How many violate it, of how many, and whether these are all. */
START_TEST(violations)
{
	static const struct {
		uint32_t kind;
		uint64_t violations, looked_at;
		bool unknown;
		const char *text;
	} cases[] = {
		{ PAGEDET_CHECK_CLEAN, 64, 64, false,
		  "clean f: violated: 64 of 64 pages looked at\n" },
		{ PAGEDET_CHECK_ABSENT, 64, 1000, true,
		  "absent f: violated: at least 64 of 1000 pages looked at\n" },
		{ PAGEDET_CHECK_CLEAN, 70000, 80000, false,
		  "clean f: violated: 70000 of 80000 pages looked at, 64 are "
		  "listed\n" },
		/* They were not looked at one by one. */
		{ PAGEDET_CHECK_COMMITTED, 64, 0, false,
		  "committed f: violated: 64 pages\n" },
		{ PAGEDET_CHECK_STABLE, 1, 1, false,
		  "stable f: violated: 1 of 1 read under writeback\n" },
		{ PAGEDET_CHECK_ERRORS, 0, 3, false, "errors f: violated\n" },
	};
	unsigned i;

	for (i = 0; i < PDET_COUNT(cases); i++) {
		struct pagedet_emitter *e = emitter(PAGEDET_FORMAT_TEXT, 0, -1,
						    0);
		struct pagedet_verdict found[] = {
			{ .verdict = PAGEDET_VIOLATED, .pages = 64,
			  .violations = cases[i].violations ? 64 : 0 },
			{ .verdict = PAGEDET_CANNOT_TELL, .pages = 7 },
		};
		struct pdet_checked c = {
			.kind = cases[i].kind, .path = (char *)"f",
			.found = { found, cases[i].unknown ? 2 : 1, 2 },
			.whole = { .verdict = PAGEDET_VIOLATED,
				   .violations = cases[i].violations,
				   .looked_at = cases[i].looked_at },
		};
		char *text;

		ck_assert_int_eq(pdet_emit_checked(e, &env, &c), 0);
		text = text_of(e);
		ck_assert_msg(strstr(text, cases[i].text) != NULL, "%u: %s", i,
			      text);
		free(text);
	}
}
END_TEST

/* --- mappers --- */

START_TEST(mappers)
{
	static const uint32_t pids[] = { 12, 4711 };
	const struct pagedet_mappers m[] = {
		{ .pfn = 4660, .found = 1, .expected = 1,
		  .expected_state = PAGEDET_HAVE,
		  .mapcount_kind = PAGEDET_MAPCOUNT_EXACT },
		{ .pfn = 4661, .found = 0, .n_unread = 2, .unread = pids,
		  .expected_state = PAGEDET_NO_ACCESS },
		{ .pfn = 4662, .found = 2, .expected_state = PAGEDET_NONE },
		/* An unknown one. */
		{ .pfn = 4663, .found = 1, .expected = 2,
		  .expected_state = PAGEDET_HAVE },
	};
	const struct pdet_emit_end end = { .mappers = m, .n_mappers = 4 };

	set_up("pfn,map,pid,comm,vaddr,pte,pte_known");
	query.target = PAGEDET_TARGET_MAPPERS;
	pdet_put(&batch, add_row(), F(PFN), 4660, PROCFS);
	pdet_put(&batch, 0, F(MAP), PAGEDET_MAP_USER, PROCFS);
	pdet_put(&batch, 0, F(PID), 1, PROCFS);
	put_text(0, F(COMM), "init");
	pdet_put(&batch, 0, F(VADDR), 0x7f0000001000, PROCFS);
	pdet_put(&batch, 0, F(PTE), 0x101, PROCFS);
	pdet_put(&batch, 0, F(PTE_KNOWN), 0x7ff, PROCFS);
	pdet_put(&batch, add_row(), F(PFN), 4660, PAGEDET_SOURCE_KCORE);
	pdet_put(&batch, 1, F(MAP), PAGEDET_MAP_DIRECT, PAGEDET_SOURCE_KCORE);
	pdet_put_none(&batch, 1, F(PID), PAGEDET_SOURCE_KCORE);
	pdet_put_none(&batch, 1, F(COMM), PAGEDET_SOURCE_KCORE);
	pdet_put(&batch, 1, F(VADDR), 0xffff888001234000,
		 PAGEDET_SOURCE_KCORE);
	pdet_put_none(&batch, 1, F(PTE), PAGEDET_SOURCE_KCORE);
	pdet_put_none(&batch, 1, F(PTE_KNOWN), PAGEDET_SOURCE_KCORE);
	ck_golden(emit(PAGEDET_FORMAT_JSON, 0, 0, &end), "mappers.json");
	ck_golden(emit(PAGEDET_FORMAT_JSON, PAGEDET_EMIT_POINTERS |
		       PAGEDET_EMIT_SOURCES, 0, &end),
		  "mappers-pointers.json");
	ck_golden(emit(PAGEDET_FORMAT_CSV, 0, 0, &end), "mappers.csv");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 0, &end), "mappers.txt");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, PAGEDET_EMIT_POINTERS |
		       PAGEDET_EMIT_SOURCES, 0, &end),
		  "mappers-pointers.txt");
	pdet_batch_free(&batch);
}
END_TEST

/* Text shows the first few of many tasks, and their number. */
START_TEST(many_unread)
{
	uint32_t pids[9 + 300], i, n;
	struct pagedet_mappers m = { .pfn = 1, .unread = pids,
				     .expected_state = PAGEDET_NONE };
	const struct pdet_emit_end end = { .mappers = &m, .n_mappers = 1 };
	char want[128], *text;

	for (i = 0; i < 309; i++)
		pids[i] = 100 + i;
	for (n = 9; n <= 309; n += 300) {
		m.n_unread = n;
		set_up("pfn,map");
		query.target = PAGEDET_TARGET_MAPPERS;
		text = emit(PAGEDET_FORMAT_TEXT, 0, 0, &end);
		snprintf(want, sizeof(want), "%u tasks: 100 101 102 103 104 "
			 "105 106 107 %s\n", n, n == 9 ? "108" :
			 "... and 301 more");
		ck_assert_msg(strstr(text, want) != NULL, "%s not in\n%s",
			      want, text);
		free(text);
		text = emit(PAGEDET_FORMAT_JSON, 0, 0, &end);
		snprintf(want, sizeof(want), ",%u]}", 99 + n);
		ck_assert_msg(strstr(text, want) != NULL, "%s not in\n%s",
			      want, text);
		free(text);
		pdet_batch_free(&batch);
	}
}
END_TEST

/* Kernel addresses stay hidden even if the kind of mapping is not known. */
START_TEST(pointers)
{
	set_up("vaddr");
	pdet_put(&batch, add_row(), F(VADDR), 0x1000, PROCFS);
	pdet_put(&batch, add_row(), F(VADDR), 0xffff888000000000, PROCFS);
	query.target = PAGEDET_TARGET_MAPPERS;
	ck_text(emit(PAGEDET_FORMAT_JSON, PAGEDET_EMIT_SOURCES, 0, NULL),
		"{\"vaddr\":\"0x1000\",\"source\":{\"vaddr\":\"procfs\"}}\n"
		"{\"missing\":{\"vaddr\":\"hidden\"}}\n");
	query.target = PAGEDET_TARGET_KADDR;
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL),
		"{\"vaddr\":\"0x1000\"}\n"
		"{\"missing\":{\"vaddr\":\"hidden\"}}\n");
	ck_text(emit(PAGEDET_FORMAT_JSON, PAGEDET_EMIT_POINTERS, 0, NULL),
		"{\"vaddr\":\"0x1000\"}\n"
		"{\"vaddr\":\"0xffff888000000000\"}\n");
	query.target = PAGEDET_TARGET_VIRT;
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL),
		"{\"vaddr\":\"0x1000\"}\n"
		"{\"vaddr\":\"0xffff888000000000\"}\n");
	pdet_batch_free(&batch);
}
END_TEST

/* --- text --- */

/* The most common query: a page of a task. */
static void put_page(uint64_t pfn)
{
	uint32_t row = add_row();

	pdet_put(&batch, row, F(PFN), pfn, PROCFS);
	pdet_put(&batch, row, F(KIND), PAGEDET_KIND_ANON, PROCFS);
	pdet_put(&batch, row, F(FLAGS), 0x401828 | (pfn & 1) << 19, PROCFS);
	pdet_put(&batch, row, F(FLAGS_KNOWN), ~(uint64_t)0x200002, PROCFS);
	pdet_put(&batch, row, F(ORDER), 9, PROCFS);
	pdet_put(&batch, row, F(MAPCOUNT), 1, PROCFS);
	pdet_put(&batch, row, F(MAPCOUNT_KIND), PAGEDET_MAPCOUNT_EXACT,
		 PROCFS);
	pdet_put(&batch, row, F(PID), 4711, PROCFS);
	pdet_put(&batch, row, F(VADDR), 0x7f1234567000, PROCFS);
	pdet_put(&batch, row, F(MEMCG_INO), 42, PROCFS);
	put_text(row, F(MEMCG_PATH),
		 "/system.slice/system-getty.slice/getty@tty1.service");
	pdet_put_none(&batch, row, F(INODE), PROCFS);
	pdet_put_none(&batch, row, F(SWAP_TYPE), PROCFS);
	pdet_put_lost(&batch, row, F(REFCOUNT), PAGEDET_UNSUPPORTED, PROCFS);
	pdet_put_lost(&batch, row, F(PATH),
		      pfn & 2 ? PAGEDET_RACED : PAGEDET_DENIED, PROCFS);
	pdet_put(&batch, row, F(NOTES), 0, DERIVED);
}

#define PAGE_FIELDS                                                       \
	"pfn,kind,flags,flags_known,order,mapcount,mapcount_kind,pid,"    \
	"vaddr,memcg_ino,memcg_path,inode,swap_type,refcount,path,notes"

START_TEST(one_page)
{
	set_up(PAGE_FIELDS);
	put_page(0x101235);
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL), "page.txt");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, PAGEDET_EMIT_SOURCES, 50, NULL),
		  "page-50.txt");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, PAGEDET_EMIT_COLOUR, 0, NULL),
		  "page-colour.txt");
	query.fields = fields_of("pfn,kind,flags,mapcount,inode,refcount");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL), "page-few.txt");
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(tables)
{
	uint64_t i;

	set_up(PAGE_FIELDS);
	for (i = 0; i < 4; i++)
		put_page(0xffff + i);
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL), "table.txt");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 140, NULL), "table-140.txt");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 60, NULL), "table-60.txt");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 46, NULL), "table-46.txt");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, PAGEDET_EMIT_COLOUR, 140, NULL),
		  "table-colour.txt");
	query.fields = fields_of("pfn,kind,flags,memcg_path,inode,refcount");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL), "table-few.txt");
	ck_golden(emit(PAGEDET_FORMAT_TEXT, 0, 72, NULL), "table-few-72.txt");
	pdet_batch_free(&batch);
}
END_TEST

static size_t longest_line(const char *text)
{
	size_t longest = 0, len;

	while (*text) {
		len = strcspn(text, "\n");
		longest = PDET_MAX(longest, len);
		text += len + (text[len] == '\n');
	}
	return longest;
}

/* Every width of a terminal is respected as far as possible. */
START_TEST(every_width)
{
	uint32_t width = 20 + (uint32_t)_i * 3;
	size_t longest;
	char *text;
	uint64_t i;

	set_up("pfn,kind,flags,memcg_path,comm");
	for (i = 0; i < 3; i++) {
		uint32_t row = add_row();

		pdet_put(&batch, row, F(PFN), i, PROCFS);
		pdet_put(&batch, row, F(KIND), PAGEDET_KIND_HUGETLB, PROCFS);
		pdet_put(&batch, row, F(FLAGS), 0x401828, PROCFS);
		put_text(row, F(MEMCG_PATH), "/a/b");
		put_text(row, F(COMM), "0123456789abcde");
	}
	text = emit(PAGEDET_FORMAT_TEXT, 0, width, NULL);
	longest = longest_line(text);
	/* Labelled lines are as wide as a label and a word. */
	ck_assert_msg(longest <= width || longest <= 12 + 15,
		      "width %u:\n%s", width, text);
	ck_assert_ptr_null(strstr(text, " \n"));
	free(text);
	pdet_batch_free(&batch);
}
END_TEST

/* However many fields share a line, it is wrapped, and names all of them. */
START_TEST(lost_on_a_terminal)
{
	static const char fields[] =
		"pfn,inode,index,path,order,refcount,mapcount,vma_start,"
		"vma_end,memcg_path,alloc_requested,mapcount_kind";
	uint32_t width = 30 + (uint32_t)_i * 5, f;
	char *text, *line;

	set_up(fields);
	for (f = 0; f < 2; f++)
		pdet_put(&batch, add_row(), F(PFN), f, PROCFS);
	for (f = 0; f < PDET_FIELDS; f++) {
		if (f == F(PFN) || !pdet_fields_has(&query.fields, f))
			continue;
		pdet_put_none(&batch, 0, f, PROCFS);
		pdet_put_lost(&batch, 1, f, PAGEDET_RACED, PROCFS);
	}
	text = emit(PAGEDET_FORMAT_TEXT, 0, width, NULL);
	line = strstr(text, "\n? order,");
	ck_assert_msg(line != NULL, "width %u:\n%s", width, text);
	ck_assert_msg(longest_line(line) <= width, "width %u:\n%s", width,
		      text);
	ck_assert_ptr_null(strstr(line + 3, "? "));
	for (f = 0; f < PDET_FIELDS; f++)
		if (f != F(PFN) && pdet_fields_has(&query.fields, f))
			ck_assert_msg(strstr(line, pdet_field_info(f)->name),
				      "width %u: no %s:\n%s", width,
				      pdet_field_info(f)->name, text);
	free(text);
	pdet_batch_free(&batch);
}
END_TEST

/* Rows after the layout move their neighbours, or are cut to the line. */
START_TEST(streaming_table)
{
	struct pagedet_emitter *e;
	char *text, *line;
	uint32_t i, pass;

	for (pass = 0; pass < 2; pass++) {
		set_up("pfn,comm,swap_type,refcount");
		e = emitter(PAGEDET_FORMAT_TEXT, 0, -1, pass ? 40 : 0);
		ck_assert_int_eq(pdet_emit_begin(e, &env, &query), 0);
		for (i = 0; i < 300; i++) {
			uint32_t row = add_row();

			pdet_put(&batch, row, F(PFN), i, PROCFS);
			put_text(row, F(COMM), i < 299 ? "sh" :
				 "a name that is longer than any before");
			if (i < 250)
				pdet_put_none(&batch, row, F(SWAP_TYPE),
					      PROCFS);
			else
				pdet_put(&batch, row, F(SWAP_TYPE), 0,
					 PROCFS);
			pdet_put_lost(&batch, row, F(REFCOUNT),
				      PAGEDET_UNSUPPORTED, PROCFS);
			if (batch.n == 7 || i == 299) {
				ck_assert_int_eq(pdet_emit_batch(
					e, &env, &batch), 0);
				pdet_batch_clear(&batch, 1 + i);
			}
		}
		ck_assert_int_eq(pdet_emit_end(e, &env,
					       &(struct pdet_emit_end){ 0 }),
				 0);
		text = text_of(e);
		line = text;
		for (i = 0; i < 1 + 299; i++)
			line = strchr(line, '\n') + 1;
		ck_assert_str_eq(line, pass ?
			"299  0x12b  a na...          0         ?\n\n"
			"? refcount: unsupported - no open source\n"
			"  knows it\n" :
			"299  0x12b  a name that is longer than any before"
			"          0         ?\n\n"
			"? refcount: unsupported - no open source knows "
			"it\n");
		free(text);
		pdet_batch_free(&batch);
	}
}
END_TEST

/*
 * Numbers that are longer than those of the first rows are whole: the blanks
 * and the long texts beside them give way.
 */
START_TEST(streaming_grows)
{
	static const char path[] = "/a/directory/with/a/long/name/and/a/file";
	const uint32_t width = 48 + (uint32_t)_i;
	struct pagedet_emitter *e = emitter(PAGEDET_FORMAT_TEXT, 0, -1, width);
	const char *line;
	char *text;
	uint32_t i;

	set_up("pfn,inode,index,path");
	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), 0);
	for (i = 0; i < 300; i++) {
		const uint64_t big = i < 250 ? 1 : 1000000;

		pdet_put(&batch, add_row(), F(PFN), 10 * big, PROCFS);
		pdet_put(&batch, i, F(INODE), 100 * big, PROCFS);
		pdet_put(&batch, i, F(INDEX), i, PROCFS);
		put_text(i, F(PATH), path);
	}
	ck_assert_int_eq(pdet_emit_batch(e, &env, &batch), 0);
	ck_assert_int_eq(pdet_emit_end(e, &env, &(struct pdet_emit_end){ 0 }),
			 0);
	text = text_of(e);
	ck_assert_msg(longest_line(text) <= width, "width %u:\n%s", width,
		      text);
	line = strstr(text, "\n10000000 ");
	ck_assert_ptr_nonnull(line);
	ck_assert_ptr_nonnull(strstr(line, " 100000000 "));
	ck_assert_ptr_nonnull(strstr(line, "/a/file\n"));
	free(text);
	pdet_batch_free(&batch);
}
END_TEST

/*
 * While more rows may come, only columns that no source can answer are omitted.
 */
START_TEST(streaming_leaves_out)
{
	const struct pdet_emit_end end = { 0 };
	struct pagedet_emitter *e = emitter(PAGEDET_FORMAT_TEXT, 0, -1, 0);
	char *text;
	uint32_t i;

	set_up("pfn,kind,order,node,inode,index,pid,swap_type,memcg_path");
	query.why = why_no_access;
	query.advice = advise_cap;
	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), 0);
	for (i = 0; i < 201; i++) {
		pdet_put(&batch, add_row(), F(PFN), i, PROCFS);
		pdet_put_none(&batch, i, F(SWAP_TYPE), PROCFS);
		pdet_put_lost(&batch, i, F(INODE), PAGEDET_RACED, PROCFS);
		pdet_put_lost(&batch, i, F(MEMCG_PATH), PAGEDET_NO_ACCESS,
			      PROCFS);
	}
	pdet_put(&batch, 200, F(SWAP_TYPE), 77, PROCFS);
	ck_assert_int_eq(pdet_emit_batch(e, &env, &batch), 0);
	ck_assert_int_eq(pdet_emit_end(e, &env, &end), 0);
	text = text_of(e);
	ck_assert_ptr_nonnull(strstr(text, "swap_type"));
	ck_assert_ptr_nonnull(strstr(text, " 77 "));
	ck_assert_ptr_nonnull(strstr(text, "? inode: raced - the page changed "
				     "while it was read\n"));
	*strchr(text, '\n') = '\0';
	ck_assert_ptr_nonnull(strstr(text, "inode"));
	ck_assert_ptr_null(strstr(text, "memcg_path"));
	text[strlen(text)] = '\n';
	ck_assert_ptr_nonnull(strstr(text, "? memcg_path: no_access - a "
				     "privilege is missing; needs "
				     "CAP_SYS_ADMIN\n"));
	free(text);
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(nothing_came)
{
	set_up("pfn,kind");
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL), "");
	ck_text(emit(PAGEDET_FORMAT_TEXT, 0, 0, NULL), "");
	ck_text(emit(PAGEDET_FORMAT_CSV, 0, 0, NULL), "pfn,kind\n");
	pdet_batch_free(&batch);
}
END_TEST

/* --- runs, several queries, surveys --- */

START_TEST(runs)
{
	struct pdet_fields columns = fields_of("pfn,pages");

	set_up("pfn");
	pdet_batch_free(&batch);
	ck_assert(pdet_batch_init(&batch, &columns, 4, 100));
	query.runs = true;
	pdet_put(&batch, add_row(), F(PFN), 16, PROCFS);
	pdet_put(&batch, 0, F(PAGES), 512, DERIVED);
	ck_text(emit(PAGEDET_FORMAT_JSON, 0, 0, NULL),
		"{\"pfn\":16,\"pages\":512}\n");
	ck_text(emit(PAGEDET_FORMAT_CSV, 0, 0, NULL), "pfn,pages\n16,512\n");
	pdet_batch_free(&batch);
}
END_TEST

static char *twice(uint32_t format, const char *second)
{
	const struct pdet_emit_end end = { 0 };
	struct pagedet_emitter *e = emitter(format, 0, -1, 0);

	set_up("pfn,kind");
	pdet_put(&batch, add_row(), F(PFN), 1, PROCFS);
	pdet_put(&batch, 0, F(KIND), PAGEDET_KIND_SLAB, PROCFS);
	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), 0);
	ck_assert_int_eq(pdet_emit_batch(e, &env, &batch), 0);
	ck_assert_int_eq(pdet_emit_end(e, &env, &end), 0);
	query.fields = fields_of(second);
	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), 0);
	ck_assert_int_eq(pdet_emit_batch(e, &env, &batch), 0);
	ck_assert_int_eq(pdet_emit_end(e, &env, &end), 0);
	ck_assert_int_eq(pdet_emitter_finish(e), 0);
	pdet_batch_free(&batch);
	return text_of(e);
}

START_TEST(two_queries)
{
	ck_text(twice(PAGEDET_FORMAT_JSON, "kind"),
		"{\"pfn\":1,\"kind\":\"slab\"}\n{\"kind\":\"slab\"}\n");
	ck_text(twice(PAGEDET_FORMAT_CSV, "pfn,kind"),
		"pfn,kind\n1,slab\n1,slab\n");
	ck_text(twice(PAGEDET_FORMAT_CSV, "kind"),
		"pfn,kind\n1,slab\nkind\nslab\n");
	ck_text(twice(PAGEDET_FORMAT_TEXT, "kind"),
		"pfn   1 (0x1)\nkind  slab\n\nkind  slab\n");
}
END_TEST

static const struct pagedet_ability can = {
	.size = sizeof(can), .can = 1, .why = "", .advice = "",
};
static const struct pagedet_ability cannot = {
	.size = sizeof(cannot), .reason = PAGEDET_NO_ACCESS,
	.why = "cannot read /proc/kpageflags: permission denied",
	.advice = "needs CAP_SYS_ADMIN, or \"sudo\"",
};

START_TEST(surveys)
{
	static const char *const names[] = { "txt", "json", "csv" };
	struct pagedet_emitter *e = emitter(PAGEDET_FORMAT_TEXT + (uint32_t)_i,
					    0, -1, 0);
	char file[32];

	ck_assert_int_eq(pdet_emit_ability(e, &env, F(PFN), PROCFS, &can), 0);
	ck_assert_int_eq(pdet_emit_ability(e, &env, F(FLAGS), PROCFS, &cannot),
			 0);
	ck_assert_int_eq(pdet_emit_ability(e, &env, PDET_FIELDS, PROCFS, &can),
			 -EINVAL);
	snprintf(file, sizeof(file), "survey.%s", names[_i]);
	ck_golden(text_of(e), file);
}
END_TEST

/* After a failed walk, the rows so far are not lost. */
START_TEST(given_up)
{
	struct pagedet_emitter *e = emitter(PAGEDET_FORMAT_TEXT, 0, -1, 0);

	set_up("pfn");
	pdet_put(&batch, add_row(), F(PFN), 1, PROCFS);
	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), 0);
	ck_assert_int_eq(pdet_emit_batch(e, &env, &batch), 0);
	ck_assert_int_eq(pdet_emitter_finish(e), 0);
	ck_text(text_of(e), "pfn  1 (0x1)\n");
	pdet_batch_free(&batch);
}
END_TEST

/* --- where it is written to --- */

START_TEST(formats)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_emitter *e = NULL;

	o.format = PAGEDET_FORMAT_ARROW;
	ck_assert_int_eq(pdet_emitter_new(&env, &o, &e), -ENOSYS);
	ck_assert_str_eq(env.error, "cannot emit Arrow: not built into this "
			 "library");
	o.format = 99;
	ck_assert_int_eq(pdet_emitter_new(&env, &o, &e), -EINVAL);
	ck_assert_str_eq(env.error, "cannot emit: no format 99");
	ck_assert_ptr_null(e);
	pdet_emitter_free(NULL);
}
END_TEST

static void put_many(uint32_t n)
{
	uint32_t row;

	set_up("pfn,kind");
	for (row = 0; row < n; row++) {
		pdet_put(&batch, add_row(), F(PFN), row, PROCFS);
		pdet_put(&batch, row, F(KIND), PAGEDET_KIND_ANON, PROCFS);
	}
}

/* Many buffers: the same bytes in memory and in a file. */
START_TEST(to_file)
{
	const uint32_t batches = 200;
	char *kept = NULL, *written, path[] = "/tmp/test_emit.XXXXXX";
	int fd = mkstemp(path), i;
	struct pagedet_emitter *e;
	size_t len;

	ck_assert_int_ge(fd, 0);
	unlink(path);
	put_many(512);
	for (i = 0; i < 2; i++) {
		e = emitter(PAGEDET_FORMAT_TEXT + (uint32_t)_i, 0,
			    i ? fd : -1, 0);
		ck_assert_int_eq(pdet_emit_begin(e, &env, &query), 0);
		for (uint32_t b = 0; b < batches; b++)
			ck_assert_int_eq(pdet_emit_batch(e, &env, &batch), 0);
		ck_assert_int_eq(pdet_emit_end(e, &env,
					       &(struct pdet_emit_end){ 0 }),
				 0);
		ck_assert_int_eq(pdet_emitter_finish(e), 0);
		if (!i) {
			kept = text_of(e);
			continue;
		}
		ck_assert_str_eq(pdet_emitter_text(e, &len), "");
		ck_assert_uint_eq(len, 0);
		pdet_emitter_free(e);
	}
	len = strlen(kept);
	ck_assert_uint_gt(len, (size_t)3 * 256 * 1024);
	written = malloc(len + 2);
	ck_assert_ptr_nonnull(written);
	ck_assert_int_eq(pread(fd, written, len + 2, 0), (ssize_t)len);
	ck_assert_int_eq(memcmp(kept, written, len), 0);
	free(kept);
	free(written);
	close(fd);
	pdet_batch_free(&batch);
}
END_TEST

/* A slow reader of a non-blocking pipe. */
START_TEST(slow_reader)
{
	struct pagedet_emitter *e;
	uint64_t lines = 0;
	char buf[1000];
	int fd[2], i, b, status;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(fcntl(fd[1], F_SETFL, O_NONBLOCK), 0);
	pid = fork();
	if (!pid) {
		close(fd[0]);
		put_many(512);
		e = emitter(PAGEDET_FORMAT_JSON, 0, fd[1], 0);
		if (pdet_emit_begin(e, &env, &query))
			_exit(1);
		for (b = 0; b < 100; b++)
			if (pdet_emit_batch(e, &env, &batch))
				_exit(2);
		_exit(pdet_emitter_finish(e) ? 3 : 0);
	}
	ck_assert_int_gt(pid, 0);
	close(fd[1]);
	while ((n = read(fd[0], buf, sizeof(buf))) > 0)
		for (i = 0; i < n; i++)
			lines += buf[i] == '\n';
	ck_assert_uint_eq(lines, 51200);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(fd[0]);
}
END_TEST

START_TEST(full_disk)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC), i, r = 0;
	struct pagedet_emitter *e;

	if (fd < 0)
		unit_skip("no /dev/full here");
	put_many(512);
	e = emitter(PAGEDET_FORMAT_TEXT + (uint32_t)_i, 0, fd, 0);
	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), 0);
	for (i = 0; i < 1000 && !r; i++)
		r = pdet_emit_batch(e, &env, &batch);
	ck_assert_int_eq(r, -EIO);
	/* The error stays, even if the disk has room again. */
	for (i = 0; i < 3; i++) {
		memset(&env, 0, sizeof(env));
		r = i == 0 ? pdet_emit_batch(e, &env, &batch) :
		    i == 1 ? pdet_emit_begin(e, &env, &query) :
			     pdet_emitter_finish(e);
		ck_assert_int_eq(r, -EIO);
		ck_assert_str_eq(env.error, "cannot write output: "
				 "No space left on device");
	}
	pdet_emitter_free(e);
	close(fd);
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(broken_pipe)
{
	struct pagedet_emitter *e;
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe(fd), 0);
	close(fd[0]);
	put_many(1);
	e = emitter(PAGEDET_FORMAT_JSON, 0, fd[1], 0);
	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), 0);
	ck_assert_int_eq(pdet_emit_batch(e, &env, &batch), 0);
	ck_assert_int_eq(pdet_emitter_finish(e), -EIO);
	ck_assert_str_eq(env.error, "cannot write output: Broken pipe");
	pdet_emitter_free(e);
	close(fd[1]);
	pdet_batch_free(&batch);
}
END_TEST

/* --- properties --- */

/* libcheck records every assertion that holds, which would be millions. */
#define NEED(condition)                                                   \
	do {                                                              \
		if (!(condition))                                         \
			ck_abort_msg("not so: %s", #condition);           \
	} while (0)

static void put_random_text(uint64_t *seed, uint32_t row, unsigned f)
{
	static const char odd[] = "\n\t\"\\,|?-\033\x7f\xff\xc3\xa9\xe2\x82";
	char text[40];
	size_t len = unit_random(seed) % sizeof(text), i;

	for (i = 0; i < len; i++)
		text[i] = unit_random(seed) % 3 ?
			  (char)('a' + unit_random(seed) % 26) :
			  odd[unit_random(seed) % (sizeof(odd) - 1)];
	pdet_put_text(&batch, row, f, text, len, PROCFS);
}

static void put_random(uint64_t *seed)
{
	unsigned f, type, state;
	uint32_t row, n;

	set_up("pfn");
	pdet_batch_free(&batch);
	query.fields = pdet_fields_all();
	query.fields.bits[0] &= unit_random(seed) | 1;
	query.target = (uint32_t)(unit_random(seed) % 14);
	NEED(pdet_batch_init(&batch, &query.fields, 300, 1 << 20));
	n = 1 + (uint32_t)(unit_random(seed) % 100);
	for (row = 0; row < n; row++) {
		add_row();
		pdet_fields_for(f, &query.fields) {
			uint64_t value = unit_random(seed) >>
					 unit_random(seed) % 64;

			type = pdet_field_info(f)->type;
			state = (unsigned)(unit_random(seed) % 24);
			if (state == 0)
				pdet_put_none(&batch, row, f, PROCFS);
			else if (state >= PAGEDET_UNSUPPORTED)
				pdet_put_lost(&batch, row, f, state, PROCFS);
			else if (type == PAGEDET_TYPE_STRING ||
				 type == PAGEDET_TYPE_LIST)
				put_random_text(seed, row, f);
			else
				pdet_put(&batch, row, f, value, PROCFS);
		}
	}
}

/*
 * Parses one JSON value. Returns its end, or fails the test. Keys of objects at
 * depth @note are counted per field.
 */
static const char *json_value(const char *p, int depth, unsigned *seen);

static const char *json_string(const char *p)
{
	NEED(*p == '"');
	for (p++; *p != '"'; p++) {
		NEED((unsigned char)*p >= 0x20);
		if (*p == '\\') {
			p++;
			NEED(*p && strchr("\"\\nrtu", *p));
			if (*p != 'u')
				continue;
			NEED(strspn(p + 1, "0123456789abcdef") >= 4);
			p += 4;
		}
	}
	return p + 1;
}

static const char *json_list(const char *p, int depth, unsigned *seen,
			     bool object, bool count)
{
	char close = object ? '}' : ']';

	p++;
	if (*p == close)
		return p + 1;
	for (;;) {
		if (object) {
			const char *key = p + 1;
			int f;

			p = json_string(p);
			f = pdet_field_by_name(key, (unsigned)(p - key - 1));
			if (f >= 0 && count)
				seen[f]++;
			NEED(*p++ == ':');
			if (!strncmp(key, "missing\"", 8) && depth == 0) {
				p = json_list(p, depth, seen, true, true);
				goto next;
			}
			if (!strncmp(key, "source\"", 7) && depth == 0) {
				p = json_list(p, depth, seen, true, false);
				goto next;
			}
		}
		p = json_value(p, depth + 1, seen);
next:
		if (*p == close)
			return p + 1;
		NEED(*p++ == ',');
	}
}

static const char *json_value(const char *p, int depth, unsigned *seen)
{
	if (*p == '"')
		return json_string(p);
	if (*p == '{' || *p == '[')
		return json_list(p, depth, seen, *p == '{', depth == 0);
	if (!strncmp(p, "null", 4))
		return p + 4;
	p += *p == '-';
	NEED(isdigit((unsigned char)*p));
	NEED(p[0] != '0' || !isdigit((unsigned char)p[1]));
	return p + strspn(p, "0123456789");
}

START_TEST(json_says_each_field_once)
{
	uint64_t seed = 0x1234567 + (uint64_t)_i;
	struct pdet_fields shown;
	const char *p;
	uint32_t row;
	char *text;
	unsigned f;

	put_random(&seed);
	shown = query.fields;
	if (pdet_fields_has(&shown, F(FLAGS)))
		pdet_fields_remove(&shown, F(FLAGS_KNOWN));
	if (pdet_fields_has(&shown, F(PTE)))
		pdet_fields_remove(&shown, F(PTE_KNOWN));
	text = emit(PAGEDET_FORMAT_JSON, PAGEDET_EMIT_POINTERS |
		    (_i & 1 ? PAGEDET_EMIT_SOURCES : 0), 0, NULL);
	p = text;
	for (row = 0; row < batch.n; row++) {
		unsigned seen[PDET_FIELDS] = { 0 };

		p = json_value(p, 0, seen);
		NEED(*p++ == '\n');
		for (f = 0; f < PDET_FIELDS; f++)
			if (seen[f] != pdet_fields_has(&shown, f))
				ck_abort_msg("%s: %u times",
					     pdet_field_info(f)->name,
					     seen[f]);
	}
	ck_assert_int_eq(*p, '\0');
	free(text);
	pdet_batch_free(&batch);
}
END_TEST

/* Counts the fields of the record at *p, and advances *p. */
static unsigned csv_record(const char **p)
{
	unsigned n = 1;

	for (; **p != '\n'; ++*p) {
		NEED(**p);
		if (**p == ',')
			n++;
		if (**p != '"')
			continue;
		for (++*p; **p != '"' || (*p)[1] == '"'; ++*p) {
			NEED(**p);
			if (**p == '"')
				++*p;
		}
	}
	++*p;
	return n;
}

START_TEST(csv_is_a_table)
{
	uint64_t seed = 0x7654321 + (uint64_t)_i;
	unsigned columns;
	const char *p;
	uint32_t row;
	char *text;

	put_random(&seed);
	text = emit(PAGEDET_FORMAT_CSV, 0, 0, NULL);
	p = text;
	columns = csv_record(&p);
	for (row = 0; row < batch.n; row++)
		ck_assert_uint_eq(csv_record(&p), columns);
	ck_assert_int_eq(*p, '\0');
	free(text);
	pdet_batch_free(&batch);
}
END_TEST

/* Text never moves the cursor: newline is the only control character. */
START_TEST(text_is_harmless)
{
	uint64_t seed = 0x999 + (uint64_t)_i;
	char *text, *p;

	put_random(&seed);
	text = emit(PAGEDET_FORMAT_TEXT, 0, (uint32_t)_i * 10, NULL);
	for (p = text; *p; p++)
		NEED(*p == '\n' || ((unsigned char)*p >= 0x20 &&
				    *p != 0x7f));
	free(text);
	pdet_batch_free(&batch);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("emit");

	unit_test(s, all_types);
	unit_test(s, stacks);
	unit_test(s, numbers);
	unit_test(s, known_bits);
	unit_test(s, many_masks);
	unit_test(s, absent_columns);
	unit_test(s, not_asked_cells);
	unit_loop(s, hostile_strings, PDET_COUNT(hostile));
	unit_test(s, lists);
	unit_test(s, long_strings);
	unit_test(s, stale_string);
	unit_test(s, format_cell);
	unit_test(s, groups);
	unit_test(s, not_looked_for);
	unit_test(s, lost_as_often);
	unit_test(s, kinds_explained);
	unit_test(s, group_without_keys);
	unit_test(s, human_sizes);
	unit_test(s, violations);
	unit_test(s, mappers);
	unit_test(s, many_unread);
	unit_test(s, pointers);
	unit_test(s, one_page);
	unit_test(s, tables);
	unit_loop(s, every_width, 50);
	unit_loop(s, lost_on_a_terminal, 30);
	unit_test(s, streaming_table);
	unit_loop(s, streaming_grows, 40);
	unit_test(s, streaming_leaves_out);
	unit_test(s, nothing_came);
	unit_test(s, runs);
	unit_test(s, two_queries);
	unit_loop(s, surveys, 3);
	unit_test(s, given_up);
	unit_test(s, formats);
	unit_loop(s, to_file, 3);
	unit_test(s, slow_reader);
	unit_loop(s, full_disk, 3);
	unit_test(s, broken_pipe);
	unit_loop(s, json_says_each_field_once, 25);
	unit_loop(s, csv_is_a_table, 25);
	unit_loop(s, text_is_harmless, 20);
	return unit_main(s);
}
