/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests the API as a program sees it: rejected arguments with their errno and
 * error text, descriptors that another process opened, kept strings, and
 * structs of older callers.
 */
#include <errno.h>
#include <fcntl.h>
#include <pagedet.h>

#include "../machine.h"
#include "handle.h"

#define SMALL "tests/golden/cli-machine.scenario"
#define F(name) (1ull << PAGEDET_FIELD_##name)

static struct machine machine;
static struct pagedet_query q;
static struct pagedet_item item;
static struct pagedet_iter *it;
static struct pagedet_page row;

static void open_machine(void)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;

	o.root = machine.root;
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
	ck_assert_msg(pagedet_open(pd, &o) == 0, "%s", pagedet_error(pd));
}

static void set_up(void)
{
	machine_new(&machine, SMALL);
	open_machine();
	it = NULL;
	item = (struct pagedet_item){ 0x100, 1, 0, 0 };
	pagedet_query_init(&q, sizeof(q), sizeof(row));
	q.target = PAGEDET_TARGET_PFN;
	q.items = &item;
	q.n_items = 1;
	q.fields[0] = F(PFN) | F(KIND);
}

static void tear_down(void)
{
	pagedet_iter_free(it);
	pagedet_free(pd);
	machine_free(&machine);
}

static void ask(void)
{
	pagedet_iter_free(it);
	it = NULL;
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
}

static void next(int n)
{
	ck_assert_int_eq(pagedet_next(it, &row, 1), n);
}

static unsigned state(unsigned field)
{
	return PAGEDET_CELL_STATE(row.cell[field]);
}

/* The current query is rejected, and sets no iterator. */
static void ck_refused(int code, const char *words)
{
	struct pagedet_iter *none = NULL;

	refused(pagedet_query(pd, &q, &none), code, words);
	ck_assert_ptr_null(none);
}

START_TEST(questions_that_are_refused)
{
	uint32_t by[17] = { PAGEDET_FIELD_KIND, PAGEDET_FIELD_KIND };
	struct { struct pagedet_query q; uint64_t more; } longer;
	const struct pagedet_query good = q;

#define TRY(code, words, ...)                                             \
	do {                                                              \
		q = good;                                                 \
		item = (struct pagedet_item){ 0x100, 1, 0, 0 };           \
		__VA_ARGS__;                                              \
		ck_refused(code, words);                                  \
	} while (0)

	TRY(EINVAL, "is not set", q.size = 0);
	TRY(EINVAL, "no target 0", q.target = 0);
	TRY(EINVAL, "no target 99", q.target = 99);
	TRY(EINVAL, "too small for the cells", q.row_size = 255);
	TRY(E2BIG, "options that", q.options = 1u << 31);
	TRY(EINVAL, "order_by needs", q.order_by = 1);
	TRY(EINVAL, "need a limit", q.order = PAGEDET_ORDER_UP);
	TRY(E2BIG, "no order 7", q.order = 7);
	TRY(EINVAL, "1025 threads", q.threads = 1025);
	TRY(EINVAL, "takes no page size", q.page_size = 4096);
	TRY(EINVAL, "4097 is not a size", q.target = PAGEDET_TARGET_LOG;
	    q.path = "x"; q.page_size = 4097);
	TRY(EINVAL, "needs a path", q.target = PAGEDET_TARGET_FILE);
	TRY(EINVAL, "needs a path", q.target = PAGEDET_TARGET_TREE;
	    q.path = "");
	TRY(ENOTSUP, "none of the sources allowed",
	    q.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_VMCORE));
	TRY(E2BIG, "a field that", q.fields[1] = 1ull << 63);
	TRY(EINVAL, "group_by is missing", q.n_group_by = 1);
	TRY(EINVAL, "at most 16", q.group_by = by; q.n_group_by = 17);
	TRY(EINVAL, "kind twice", q.group_by = by; q.n_group_by = 2);
	TRY(E2BIG, "cannot group by field 127", by[0] = 127;
	    q.group_by = by; q.n_group_by = 1);
	TRY(EINVAL, "scan takes no items", q.target = PAGEDET_TARGET_SCAN);
	TRY(EINVAL, "pfn needs an item", q.n_items = 0);
	TRY(EINVAL, "items are missing", q.items = NULL);
	TRY(EINVAL, "item 0 is empty", item.count = 0);
	TRY(EINVAL, "item 0 wraps", item.first = UINT64_MAX; item.count = 2);
	TRY(EINVAL, "0 is not a pid", q.target = PAGEDET_TARGET_VIRT);
	TRY(EINVAL, "2147483648 is not a pid", q.target = PAGEDET_TARGET_TASK;
	    item.pid = 1u << 31);
	TRY(EINVAL, "too many pages", q.target = PAGEDET_TARGET_MAPPERS;
	    item.count = (1ull << 32) + 1);
	TRY(EINVAL, "cannot understand filter", q.where = "nonsense");
	TRY(ESRCH, "no such task", q.target = PAGEDET_TARGET_TASK;
	    item.pid = 99; item.first = 0; item.count = PAGEDET_TO_END);
#undef TRY

	/* A newer caller, which sets a byte that this library does not know. */
	q = good;
	memset(&longer, 0, sizeof(longer));
	longer.q = good;
	longer.q.size = sizeof(longer);
	ck_assert_int_eq(pagedet_query(pd, &longer.q, &it), 0);
	longer.more = 1;
	refused(pagedet_query(pd, &longer.q, &it), E2BIG, "is not zero");
}
END_TEST

START_TEST(handles_that_are_refused)
{
	struct pagedet_info info = { .size = sizeof(info) };
	struct pagedet_ability a = { .size = sizeof(a) };
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet *first = pd, *other = NULL;
	struct pagedet_index *index = NULL;
	struct pagedet_emit_options emit = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_owners_query whose = PAGEDET_OWNERS_QUERY_INIT;
	struct pagedet_emitter *e = NULL;
	struct pagedet_owners *owners = NULL;

	emit.options = 128;
	refused(pagedet_emitter_new(pd, &emit, &e), EINVAL, "no option 0x80");
	emit.options = 0;
	emit.format = PAGEDET_FORMAT_SVG;
	ck_assert_int_eq(pagedet_emitter_new(pd, &emit, &e), 0);
	refused(pagedet_emit_findings(e, NULL, 0, NULL), EINVAL,
		"findings can be written as text");
	pagedet_emitter_free(e);
	whose.options = 4;
	refused(pagedet_owners(pd, &whose, &owners), EINVAL, "unknown options");
	refused(pagedet_open(pd, NULL), EINVAL, "is open already");
	refused(pagedet_survey(pd, 127, 1, &a), ENOENT, "no field 127");
	refused(pagedet_survey(pd, 1, 31, &a), ENOENT, "no source 31");
	a.size = 8;
	refused(pagedet_survey(pd, 1, 1, &a), EINVAL, "is not set");
	info.size = 0;
	refused(pagedet_info(pd, &info), EINVAL, "is not set");
	refused(pagedet_fields_parse(pd, "pfn,,kind", &q), EINVAL, "missing");
	refused(pagedet_fields_parse(pd, "pfn,kin", &q), ENOENT, "\"kin\"");

	pd = pagedet_new();
	refused(pagedet_info(pd, &info), EINVAL, "is not open");
	refused(pagedet_survey(pd, 1, 1, &a), EINVAL, "is not open");
	refused(pagedet_dup(pd, &other), EINVAL, "is not open");
	refused(pagedet_add_fd(pd, PAGEDET_FD_KPAGEFLAGS, 0, 0), EINVAL,
		"is not open");
	refused(pagedet_index_new(pd, NULL, &index), EINVAL, "is not open");
	ck_refused(EINVAL, "is not open");
	o.size = 1;
	refused(pagedet_open(pd, &o), EINVAL, "is not set");
	o.size = sizeof(o);
	o.page_size = 5000;
	refused(pagedet_open(pd, &o), EINVAL, "5000 is not a size of pages");
	/* After a failure the caller may try again. */
	o.page_size = 4096;
	o.root = machine.root;
	ck_assert_int_eq(pagedet_open(pd, &o), 0);
	ck_assert_str_eq(pagedet_error(pd), "");
	pagedet_free(pd);
	pd = first;
}
END_TEST

/* A process without privilege gets descriptors from one with privilege. */
START_TEST(descriptors_are_handed_in)
{
	char path[1024];
	int fd, null = open("/dev/null", O_WRONLY);

	refused(pagedet_add_fd(pd, 99, 0, 0), EINVAL, "99 is not a kind");
	refused(pagedet_add_fd(pd, PAGEDET_FD_PAGEMAP, 0, 0), EINVAL,
		"needs its pid");
	refused(pagedet_add_fd(pd, PAGEDET_FD_KPAGECOUNT, 12, 0), EINVAL,
		"has no pid");
	refused(pagedet_add_fd(pd, PAGEDET_FD_KPAGEFLAGS, 0, 1000000),
		EINVAL, "not an open descriptor");
	refused(pagedet_add_fd(pd, PAGEDET_FD_KPAGEFLAGS, 0, null), EACCES,
		"not open for reading");
	close(null);

	snprintf(path, sizeof(path), "%s/proc/kpageflags", machine.root);
	fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(unlink(path), 0);
	ask();
	next(1);
	ck_assert_uint_eq(state(PAGEDET_FIELD_KIND), PAGEDET_NO_KERNEL);
	ck_assert_uint_eq(pagedet_why(it, PAGEDET_FIELD_KIND),
			  PAGEDET_NO_KERNEL);

	ck_assert_int_eq(pagedet_add_fd(pd, PAGEDET_FD_KPAGEFLAGS, 0, fd), 0);
	close(fd);	/* the caller keeps its own descriptor */
	ask();
	next(1);
	ck_assert_uint_eq(state(PAGEDET_FIELD_KIND), PAGEDET_HAVE);
	ck_assert_uint_eq(row.kind, PAGEDET_KIND_ANON);
}
END_TEST

/* Also for a task; the second descriptor replaces the first one. */
START_TEST(descriptors_of_a_task)
{
	static const char *const names[] = { "pagemap", "maps" };
	static const uint32_t kinds[] = { PAGEDET_FD_PAGEMAP,
					  PAGEDET_FD_MAPS };
	char path[1024];
	int fd[2], i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/proc/12/%s", machine.root,
			 names[i]);
		fd[i] = open(path, O_RDONLY);
		ck_assert_int_ge(fd[i], 0);
		ck_assert_int_eq(unlink(path), 0);
	}
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pagedet_add_fd(pd, kinds[i % 2], 12,
						fd[i % 2]), 0);
	q.target = PAGEDET_TARGET_VIRT;
	q.fields[0] = F(PFN) | F(VMA_END);
	item = (struct pagedet_item){ 0x7f0000000000, 1, 12, 0 };
	ask();
	next(1);
	ck_assert_uint_eq(row.pfn, 0x100);
	ck_assert_uint_eq(row.vma_end, 0x7f0000008000);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

/* A string lives until the next step, or as long as its iterator on request. */
START_TEST(strings_are_kept)
{
	const char *text;
	uint64_t first;
	size_t len;
	int keep;

	for (keep = 0; keep < 2; keep++) {
		q.target = PAGEDET_TARGET_PFN;
		q.fields[0] = F(PFN) | F(MEMCG_PATH);
		q.options = keep ? PAGEDET_Q_KEEP_STRINGS : 0;
		item = (struct pagedet_item){ 0x100, 1, 0, 0 };
		ask();
		next(1);
		first = row.memcg_path;
		text = pagedet_string(it, first, &len);
		ck_assert_ptr_nonnull(text);
		ck_assert_str_eq(text, "/a");
		ck_assert_uint_eq(len, 2);
		item.first = 0x110;
		ck_assert_int_eq(pagedet_iter_retarget(it, &item, 1), 0);
		next(1);
		ck_assert_str_eq(pagedet_string(it, row.memcg_path, NULL),
				 "/a/b");
		text = pagedet_string(it, first, NULL);
		if (keep)
			ck_assert_str_eq(text, "/a");
		else
			ck_assert_msg(!text, "a stale id is \"%s\"", text);
	}
}
END_TEST

/*
 * A program built with shorter rows gets its part, and learns that there is
 * more.
 */
START_TEST(short_rows)
{
	unsigned char small[offsetof(struct pagedet_page, comm) + 16];

	memset(small, 0xa5, sizeof(small));
	q.row_size = offsetof(struct pagedet_page, comm);
	q.fields[0] = F(PFN) | F(MAPCOUNT) | F(MEMCG_PATH);
	ask();
	ck_assert_int_eq(pagedet_next(it, (struct pagedet_page *)(void *)small,
				      1), 1);
	memset(&row, 0, sizeof(row));
	memcpy(&row, small, q.row_size);
	ck_assert_uint_eq(row.mapcount, 1);
	ck_assert_uint_eq(state(PAGEDET_FIELD_MEMCG_PATH), PAGEDET_OLD_ROW);
	ck_assert_uint_eq(small[q.row_size], 0xa5);
	ck_assert_uint_eq(pagedet_why(it, PAGEDET_FIELD_MEMCG_PATH),
			  PAGEDET_OLD_ROW);
	refused(pagedet_format(it, &row, PAGEDET_FIELD_MEMCG_PATH, NULL, 0),
		ENOENT, "no field");
}
END_TEST

/* A program built with a shorter struct asks again and again with one. */
START_TEST(short_structs)
{
	struct {
		struct pagedet_owners_total total;
		uint64_t behind;
	} other;
	struct pagedet_owners_query text = PAGEDET_OWNERS_QUERY_INIT;
	const uint64_t size = offsetof(struct pagedet_owners_total, times);
	struct pagedet_owners *owners = NULL;
	struct pagedet_owner_group group = { .size = 8 };
	unsigned char short_one[sizeof(other)];
	char path[256];
	int i;

	text.path = unit_source(path, sizeof(path), "tests/fixtures/page_owner/"
						    "6.12.117.txt.gz");
	/* Without keys it groups by stack, whatever their number. */
	text.n_by = 3;
	ck_assert_msg(pagedet_owners(pd, &text, &owners) == 0, "%s",
		      pagedet_error(pd));
	for (i = 0; i < 2; i++) {
		memset(short_one + sizeof(size), 0xa5,
		       sizeof(short_one) - sizeof(size));
		if (!i)
			memcpy(short_one, &size, sizeof(size));
		ck_assert_int_eq(pagedet_owners_total(owners,
				 (void *)short_one), 0);
		ck_assert(!memcmp(short_one, &size, sizeof(size)));
		ck_assert_uint_eq(short_one[size], 0xa5);
	}
	/* A longer one is of a newer program. */
	other.total.size = sizeof(other);
	other.behind = 1;
	ck_assert_int_eq(pagedet_owners_total(owners, &other.total), 0);
	ck_assert_uint_eq(other.total.size, sizeof(other));
	ck_assert_uint_eq(other.behind, 0);
	/* None is lost for a caller who forgets the size. */
	refused(pagedet_owners_next(owners, &group), EINVAL, "is not set");
	group.size = sizeof(group);
	for (i = 0; pagedet_owners_next(owners, &group) > 0; i++)
		ck_assert_uint_eq(group.size, sizeof(group));
	ck_assert_uint_eq(i, other.total.groups);
	pagedet_owners_free(owners);
}
END_TEST

/* Columns are handed out to programs built with other structs, too. */
START_TEST(short_columns)
{
	struct {
		struct pagedet_columns c;
		uint64_t behind;
	} longer = { { .size = sizeof(longer) }, 1 };
	struct pagedet_columns c = {
		.size = offsetof(struct pagedet_columns, columns)
	};

	c.columns = (const void *)&c;
	ask();
	ck_assert_int_eq(pagedet_next_columns(it, &c), 1);
	ck_assert_uint_eq(c.n_columns, 2);
	ck_assert_ptr_eq(c.columns, &c);
	ask();
	ck_assert_int_eq(pagedet_next_columns(it, &longer.c), 1);
	ck_assert_uint_eq(longer.c.size, sizeof(longer));
	ck_assert_uint_eq(longer.behind, 0);
}
END_TEST

/* What is left of the places before belongs to no answer about others. */
START_TEST(runs_of_other_places)
{
	struct pagedet_item apart[40];
	uint64_t i;

	for (i = 0; i < 40; i++)
		apart[i] = (struct pagedet_item){ 2 * i, 1, 0, 0 };
	q.options = PAGEDET_Q_RUNS;
	q.fields[0] = F(PFN) | F(FLAGS) | F(REFCOUNT);
	ask();
	next(1);
	ck_assert_int_eq(pagedet_iter_retarget(it, apart, 40), 0);
	next(1);
	ck_assert_uint_eq(row.pfn, 0);
	ck_assert_int_eq(pagedet_iter_retarget(it, &item, 1), 0);
	next(1);
	ck_assert_uint_eq(row.pfn, item.first);
	next(0);
}
END_TEST

/* Nor does what was handed out, where these have no row. */
START_TEST(runs_of_places_without_rows)
{
	const struct pagedet_item other = { 0x110, 1, 0, 0 };

	q.options = PAGEDET_Q_RUNS;
	q.where = "kind=anon";
	ask();
	next(1);
	ck_assert_uint_eq(row.pfn, item.first);
	next(0);
	ck_assert_int_eq(pagedet_iter_retarget(it, &other, 1), 0);
	next(0);
	ck_assert_int_eq(pagedet_iter_retarget(it, &item, 1), 0);
	next(1);
	ck_assert_uint_eq(row.pfn, item.first);
	next(0);
}
END_TEST

/* A value that no source has is reported as missing, not invented. */
START_TEST(details_that_are_not_there)
{
	const char *frames[4];
	struct pagedet_frame user_frames[4];
	uint32_t tids[4];
	struct pagedet_mappers m = { .size = sizeof(m) };
	struct pagedet_columns c = { .size = 0 };
	struct pagedet_coverage cover = { .size = 0 };
	size_t len = 0;

	ask();
	refused(pagedet_next_columns(it, &c), EINVAL, "is not set");
	refused(pagedet_coverage(it, &cover), EINVAL, "is not set");
	next(1);
	refused(pagedet_stack(it, 1, frames, 4), ENOENT, "stack 0x1");
	refused(pagedet_threads(it, 1, tids, 4), EINVAL,
		"PAGEDET_Q_TASK_STACKS");
	refused(pagedet_task_stack(it, 1, frames, 4), EINVAL,
		"PAGEDET_Q_TASK_STACKS");
	refused(pagedet_user_stack(it, 1, user_frames, 4), EINVAL,
		"PAGEDET_Q_USER_STACKS");
	ck_assert_ptr_null(pagedet_page_bytes(it, 0, &len));
	ck_assert_ptr_null(pagedet_string(it, 1, &len));
	ck_assert_str_eq(pagedet_why_advice(it, 127), "");
	ck_assert_uint_eq(pagedet_why(it, 127), PAGEDET_NOT_ASKED);
	refused(pagedet_mappers(it, 0, &m), EINVAL, "not about mappers");

	q.target = PAGEDET_TARGET_MAPPERS;
	q.fields[0] = F(PFN) | F(PID);
	item.first = 0x101;
	ask();
	next(1);
	ck_assert_int_eq(pagedet_mappers(it, 0, &m), -EAGAIN);
	next(1);
	next(0);
	ck_assert_int_eq(pagedet_mappers(it, 0, &m), 0);
	ck_assert_uint_eq(m.found, 2);
	ck_assert_int_eq(pagedet_mappers(it, 1, &m), -ENOENT);
}
END_TEST

START_TEST(places_that_cannot_be_asked_again)
{
	uint32_t by = PAGEDET_FIELD_KIND;

	ask();
	refused(pagedet_iter_retarget(it, &item, 0), EINVAL, "needs an item");
	q.group_by = &by;
	q.n_group_by = 1;
	ask();
	refused(pagedet_iter_retarget(it, &item, 1), EINVAL,
		"cannot be retargeted");
	q.n_group_by = 0;
	q.order = PAGEDET_ORDER_UP;
	q.order_by = PAGEDET_FIELD_PFN;
	q.limit = 1;
	ask();
	refused(pagedet_iter_retarget(it, &item, 1), EINVAL,
		"cannot be retargeted");
	q.order = q.order_by = 0;
	q.limit = 0;
	q.threads = 2;
	ask();
	refused(pagedet_iter_retarget(it, &item, 1), EINVAL, "one thread");
	q.target = PAGEDET_TARGET_SCAN;
	q.n_items = 0;
	ask();
	refused(pagedet_iter_retarget(it, &item, 1), EINVAL, "no items");
}
END_TEST

/* A part is there, or what it lacks is said, also before a kernel is open. */
START_TEST(parts_are_tried)
{
	const struct pagedet_part *part;
	struct pagedet *first = pd;
	uint32_t n;
	int r;

	pd = pagedet_new();
	for (n = 0; (part = pagedet_part(n)); n++) {
		ck_assert_uint_eq(part->size, sizeof(*part));
		r = pagedet_part_test(pd, n);
		ck_assert_int_eq(!*pagedet_error(pd), r == 0);
		if (!part->built)
			refused(r, ENOSYS, "");
		else if (r)
			refused(r, ENOSYS, "cannot ");
	}
	refused(pagedet_part_test(pd, n), EINVAL, "there is no part");
	refused(pagedet_part_test(pd, UINT32_MAX), EINVAL, "there is no part");
	/* These need no library. */
	for (n = 0; n < 3; n++)
		ck_assert_int_eq(pagedet_part_test(pd, n), 0);
	pagedet_free(pd);
	pd = first;
}
END_TEST

static int hear_record(void *user, const struct pagedet_log_record *record)
{
	(void)user;
	(void)record;
	return 0;
}

/* A captured tree has no /dev/kmsg. */
START_TEST(no_source_knows_the_log)
{
	refused(pagedet_kernel_log(pd, hear_record, NULL, NULL), ENOTSUP,
		"dev/kmsg");
}
END_TEST

static void add(Suite *s, const char *name, const TTest *test)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, test);
	suite_add_tcase(s, tc);
}

int main(void)
{
	Suite *s = suite_create("api");

	add(s, "questions_that_are_refused", questions_that_are_refused);
	add(s, "handles_that_are_refused", handles_that_are_refused);
	add(s, "descriptors_are_handed_in", descriptors_are_handed_in);
	add(s, "descriptors_of_a_task", descriptors_of_a_task);
	add(s, "strings_are_kept", strings_are_kept);
	add(s, "short_rows", short_rows);
	add(s, "short_structs", short_structs);
	add(s, "short_columns", short_columns);
	add(s, "runs_of_other_places", runs_of_other_places);
	add(s, "runs_of_places_without_rows", runs_of_places_without_rows);
	add(s, "details_that_are_not_there", details_that_are_not_there);
	add(s, "places_that_cannot_be_asked_again",
	    places_that_cannot_be_asked_again);
	add(s, "parts_are_tried", parts_are_tried);
	add(s, "no_source_knows_the_log", no_source_knows_the_log);
	return unit_main(s);
}
