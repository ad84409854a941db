/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reports of pages in the kernel's log, as evidence. The last report of each
 * page counts. "no report" requires that the whole log was readable.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/collect.h"
#include "base/clock.h"
#include "../unit.h"

#define PFN 0x1a2b3
#define ROWS 3

static struct pagedet *pd;
static struct pagedet_evidence e[ROWS];
static struct pdet_evidence_list list = {
	.data = (char *)e, .stride = sizeof(*e), .n = ROWS
};

/* --- a simulated source with a log --- */

static struct {
	uint64_t seq, lost;	/* of the first record */
	int error;
	const char *const *text; /* "" ends it; "!" before it: of a process */
	unsigned repeat;
	unsigned reads;
} kmsg;

static int hand_on(struct pdet_backend *b, struct pdet_env *env,
		   pagedet_log_record_fn *fn, void *user, uint64_t *lost)
{
	struct pagedet_log_record r = { .size = sizeof(r), .seq = kmsg.seq };
	unsigned i, k;
	int stop = 0;

	(void)b;
	kmsg.reads++;
	for (k = 0; k <= kmsg.repeat && !stop; k++)
		for (i = 0; kmsg.text && *kmsg.text[i] && !stop; i++) {
			r.facility = *kmsg.text[i] == '!';
			r.text = kmsg.text[i] + r.facility;
			r.len = strlen(r.text);
			r.time_ns = r.seq * 1000000000;
			stop = fn(user, &r);
			r.seq++;
		}
	*lost = kmsg.lost;
	return stop ? stop : kmsg.error ? pdet_fail(env, kmsg.error, "no log") :
					 0;
}

static const struct pdet_backend_ops ops = { .kernel_log = hand_on };
static struct pdet_backend backend = { .ops = &ops };

static char root[64];

static void set_up(void)
{
	memset(&kmsg, 0, sizeof(kmsg));
	strcpy(root, "/tmp/pagedet-log-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
	pd->open = true;
	pd->page_size = 4096;
	free(pd->env.root);
	pd->env.root = root;
	pd->backends[0] = &backend;
	pd->n_backends = 1;
	list.until_ns = 0;
}

static void put_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

/* Sets the text of /proc/sys/kernel/tainted; "": none. */
static void say_tainted(const char *text)
{
	static const char *const folder[] = {
		"", "/proc", "/proc/sys", "/proc/sys/kernel"
	};
	char path[128];
	size_t i;

	for (i = 1; i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", root, folder[i]);
		mkdir(path, 0700);
	}
	put_file("/proc/sys/kernel/tainted", text);
}

static void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	ck_assert_int_eq(system(command), 0);
	pd->n_backends = 0;
	pd->open = false;
	pd->env.root = NULL;
	pagedet_free(pd);
}

/* Collects pages PFN, PFN + 1, and one whose number is not known. */
static void collect(void)
{
	struct pagedet_page row;
	unsigned i;

	memset(e, 0, sizeof(e));
	for (i = 0; i < ROWS; i++) {
		memset(&row, 0, sizeof(row));
		row.pfn = PFN + i;
		row.cell[PAGEDET_FIELD_PFN] = i < 2 ? PAGEDET_HAVE :
						      PAGEDET_NO_ACCESS;
		row.cell[PAGEDET_FIELD_REPORT] = PAGEDET_UNSUPPORTED;
		memcpy(e[i].here, &row, sizeof(row));
		e[i].size = sizeof(*e);
	}
	ck_assert_int_eq(pdet_collect_log(pd, &list), 0);
}

static struct pagedet_page row_of(unsigned i)
{
	struct pagedet_page row;

	memcpy(&row, e[i].here, sizeof(row));
	return row;
}

static unsigned state(unsigned i)
{
	return PAGEDET_CELL_STATE(row_of(i).cell[PAGEDET_FIELD_REPORT]);
}

static const char *reason(unsigned i)
{
	const struct pagedet_page row = row_of(i);

	return PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_REASON]) ==
	       PAGEDET_HAVE ? e[i].texts + row.reason : NULL;
}

#define REPORT(pfn, flags, mapcount, why) \
	"BUG: Bad page state in process sh  pfn:" pfn, \
	"page: refcount:0 mapcount:" mapcount " mapping:0000000000000000 " \
		"index:0x0 pfn:0x" pfn, \
	"flags: " flags, \
	"raw: 0000000000000000 0000000000000000 0000000000000000 " \
		"0000000000000000", \
	"raw: 0000000000000000 0000000000000000 0000000000000000 " \
		"0000000000000000", \
	"page dumped because: " why, \
	"CPU: 1 PID: 99 Comm: sh Not tainted 6.12.1 #1"

#define OTHERS "Linux version 6.12.1 (a@b) #1", "random: crng init done"

START_TEST(last_report_of_each_page)
{
	static const char *const text[] = {
		OTHERS, REPORT("1a2b3", "0x4(referenced)", "1",
			       "nonzero mapcount"),
		REPORT("77", "0x0()", "0", "page still charged to cgroup"),
		REPORT("1a2b3", "0x28(uptodate|lru|node=0)", "0",
		       "PAGE_FLAGS_CHECK_AT_FREE flag(s) set"), ""
	};

	kmsg.text = text;
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_HAVE);
	ck_assert_uint_eq(row_of(0).report, PAGEDET_REPORT_BAD_PAGE_STATE);
	ck_assert_str_eq(reason(0), "PAGE_FLAGS_CHECK_AT_FREE flag(s) set "
			 "(refcount:0 mapcount:0 flags:0x28(uptodate|lru))");
	ck_assert_uint_eq(row_of(0).event_ns, 16000000000);
	/* The whole log was read, and it has no report of this page. */
	ck_assert_uint_eq(state(1), PAGEDET_NONE);
	ck_assert_uint_eq(state(2), PAGEDET_UNSUPPORTED);
}
END_TEST

/* Root may write to /dev/kmsg, and a task may choose any name. */
START_TEST(what_a_process_writes_is_no_report)
{
	static const char *const text[] = {
		OTHERS, "!BUG: Bad page state in process sh  pfn:1a2b3",
		"!page dumped because: nonzero mapcount",
		"hello\nBUG: Bad page state in process sh  pfn:1a2b3", ""
	};

	kmsg.text = text;
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_NONE);
}
END_TEST

START_TEST(a_part_of_the_log)
{
	static const char *const none[] = { OTHERS, "" };
	static const char *const text[] = {
		REPORT("1a2b3", "0x0()", "1", "nonzero mapcount"), ""
	};

	kmsg.text = none;
	kmsg.seq = 5;		/* what came before is written over */
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_EXCLUDED);
	kmsg.seq = 0;
	kmsg.lost = 1;
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_EXCLUDED);
	/* A report that was read counts, even if part of the log is missing. */
	kmsg.text = text;
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_HAVE);
	ck_assert_str_eq(reason(0), "nonzero mapcount (refcount:0 mapcount:1 "
			 "flags:0x0)");
	ck_assert_uint_eq(state(1), PAGEDET_EXCLUDED);
	/* An empty log proves nothing. */
	memset(&kmsg, 0, sizeof(kmsg));
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_EXCLUDED);
	/* The kernel omits reports if there are many. */
	kmsg.text = text;
	kmsg.repeat = 59;
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_HAVE);
	ck_assert_uint_eq(state(1), PAGEDET_EXCLUDED);
}
END_TEST

START_TEST(a_log_that_cannot_be_read)
{
	static const struct {
		int error;
		unsigned state;
	} cases[] = {
		{ EACCES, PAGEDET_NO_ACCESS }, { EIO, PAGEDET_IO },
		{ ENOTSUP, PAGEDET_UNSUPPORTED },
		{ EBADMSG, PAGEDET_CORRUPT },
	};
	static const char *const text[] = { OTHERS, "" };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		kmsg.error = cases[i].error;
		collect();
		ck_assert_uint_eq(state(0), cases[i].state);
	}
	/* The reader checks the deadline from time to time. */
	kmsg.error = 0;
	kmsg.text = text;
	kmsg.repeat = 100;
	list.until_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_TIMEOUT);
}
END_TEST

#define FOUND "mce: Uncorrected hardware memory error in user-access at " \
	"1a2b3f40"
#define ENDED "Memory failure: 0x1a2b3: recovery action for dirty LRU page: " \
	"Failed"

/* The other reports are used as those of a log that is opened. */
START_TEST(other_reports)
{
	static const struct {
		const char *const text[24];
		uint32_t report;
		const char *reason;
	} cases[] = {
		{ { OTHERS, ENDED, "" }, PAGEDET_REPORT_MEMORY_FAILURE,
		  "dirty LRU page: Failed" },
		{ { OTHERS, FOUND, ENDED, "" }, PAGEDET_REPORT_MEMORY_FAILURE,
		  "dirty LRU page: Failed; also reported as machine_check; "
		  "machine_check: Uncorrected hardware memory error in "
		  "user-access at 1a2b3f40" },
		{ { OTHERS, ENDED, "migrating pfn 1a2b3 failed ret:1", "" },
		  PAGEDET_REPORT_MIGRATION, "migrating pfn 1a2b3 failed ret:1; "
		  "before: dirty LRU page: Failed" },
		{ { OTHERS, "soft offline: 0x1a2b3: page migration failed 1",
		    "" }, PAGEDET_REPORT_SOFT_OFFLINE,
		  "page migration failed 1" },
		/* A bad page stays one when it is named again ... */
		{ { OTHERS, REPORT("1a2b3", "0x0()", "1", "nonzero mapcount"),
		    "migrating pfn 1a2b3 failed ret:1", "" },
		  PAGEDET_REPORT_BAD_PAGE_STATE, "nonzero mapcount "
		  "(refcount:0 mapcount:1 flags:0x0)" },
		/* ... until its memory is broken. */
		{ { OTHERS, REPORT("1a2b3", "0x0()", "1", "nonzero mapcount"),
		    ENDED, "" }, PAGEDET_REPORT_MEMORY_FAILURE,
		  "dirty LRU page: Failed" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		kmsg.text = cases[i].text;
		collect();
		ck_assert_uint_eq(state(0), PAGEDET_HAVE);
		ck_assert_uint_eq(row_of(0).report, cases[i].report);
		ck_assert_str_eq(reason(0), cases[i].reason);
		ck_assert_uint_eq(state(1), PAGEDET_NONE);
	}
}
END_TEST

/* A kernel that says it never reported a bad page is not asked for its log. */
START_TEST(taint)
{
	static const char *const text[] = { OTHERS, "" };

	kmsg.text = text;
	kmsg.seq = 5;
	say_tainted("4096\n");
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_NONE);
	ck_assert_uint_eq(kmsg.reads, 0);
	say_tainted("4128\n");
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_EXCLUDED);
	ck_assert_uint_eq(kmsg.reads, 1);
	say_tainted("");
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_EXCLUDED);
	/* The taint belongs to the running kernel, not to a dump. */
	say_tainted("0\n");
	pd->opened.options.n_files = 1;
	collect();
	pd->opened.options.n_files = 0;
	ck_assert_uint_eq(state(0), PAGEDET_EXCLUDED);
	ck_assert_uint_eq(kmsg.reads, 3);
}
END_TEST

static void poison(unsigned i)
{
	struct pagedet_page row = row_of(i);

	row.cell[PAGEDET_FIELD_FLAGS] = row.cell[PAGEDET_FIELD_FLAGS_KNOWN] =
		PAGEDET_HAVE;
	row.flags = row.flags_known = PAGEDET_PF(PAGEDET_PF_HWPOISON);
	memcpy(e[i].here, &row, sizeof(row));
}

/* A memory error does not taint the kernel. */
START_TEST(taint_and_memory_error)
{
	static const char *const text[] = { OTHERS, ENDED, "" };

	kmsg.text = text;
	kmsg.seq = 5;
	say_tainted("0\n");
	collect();
	ck_assert_uint_eq(state(0), PAGEDET_NONE);
	poison(0);
	ck_assert_int_eq(pdet_collect_log(pd, &list), 0);
	ck_assert_uint_eq(state(0), PAGEDET_HAVE);
	ck_assert_str_eq(reason(0), "dirty LRU page: Failed");
	/* It has not been reported as a bad page, whatever the log lacks. */
	ck_assert_uint_eq(state(1), PAGEDET_NONE);
	/* Of a memory error that says nothing. */
	collect();
	poison(1);
	ck_assert_int_eq(pdet_collect_log(pd, &list), 0);
	ck_assert_uint_eq(state(1), PAGEDET_EXCLUDED);
	/* The answer about a page does not depend on another page. */
	ck_assert_uint_eq(state(0), PAGEDET_NONE);
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
	Suite *s = suite_create("collect_log");

	add(s, "last_report_of_each_page", last_report_of_each_page);
	add(s, "what_a_process_writes_is_no_report",
	    what_a_process_writes_is_no_report);
	add(s, "a_part_of_the_log", a_part_of_the_log);
	add(s, "a_log_that_cannot_be_read", a_log_that_cannot_be_read);
	add(s, "other_reports", other_reports);
	add(s, "taint", taint);
	add(s, "taint_and_memory_error", taint_and_memory_error);
	return unit_main(s);
}
