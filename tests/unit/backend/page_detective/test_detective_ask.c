/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: page_detective */
/*
 * Tests the process that asks page_detective: one that cannot be killed, as in
 * a hanging kernel, one that no one waits for any more, and how often it is
 * asked to visit all tasks.
 */
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pagedet.h"
#include "../../unit.h"

#define STATE(row, field) PAGEDET_CELL_STATE((row).cell[field])

pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

static char dir[32];
static bool stuck;		/* cannot be killed */

/*
 * Answers in the file "query" about pfn 5, otherwise with what the log said,
 * unless a file "hang" exists.
 */
static const char helper[] =
	"#!/bin/sh\n"
	"root=${1%%/sys/kernel/*}\n"
	"page='page phys=0x5000 pfn=0x5 state=have head=0x5 refcount=2 "
	"order=0 mapcount=1 kpageflags=0x1028\n'\n"
	"maps='maps pfn=0x5 kernel=1 user=1 complete=1\n'\n"
	"log=${top_srcdir:-.}/tests/fixtures/page_detective/queries\n"
	"while read -r q; do\n"
	"	echo \"$q\" >>\"$root/asked\"\n"
	"	if [ -e \"$root/hang\" ]; then\n"
	"		echo $$ >\"$root/pid\"\n"
	"		exec sleep 1000\n"
	"	fi\n"
	"	case $q in\n"
	"	p*) text=$(sed -n '/^#/!s/^[^;]*;//p' \"$log/anon.phys.kmsg\") ;;\n"
	"	*' walk'*) text=\"$page${maps}end\n\" ;;\n"
	"	*) text=\"${page}end\n\" ;;\n"
	"	esac\n"
	"	printf 'w %d 0 %d\\n%s' $((${#q} - 1)) ${#text} \"$text\"\n"
	"done\n";

static const char *path_of(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static struct pagedet *make(bool has_query)
{
	static const char *const dirs[] = {
		"sys", "sys/kernel", "sys/kernel/debug",
		"sys/kernel/debug/page_detective",
	};
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet *pd = pagedet_new();
	size_t i;

	snprintf(dir, sizeof(dir), "/tmp/pagedet-ask-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		ck_assert_int_eq(mkdir(path_of(dirs[i]), 0700), 0);
	if (has_query)
		write_file("sys/kernel/debug/page_detective/query", "");
	write_file("page-detective-write", helper);
	ck_assert_int_eq(chmod(path_of("page-detective-write"), 0700), 0);
	o.root = o.libexec_dir = dir;
	o.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PAGE_DETECTIVE);
	ck_assert_int_eq(pagedet_open(pd, &o), 0);
	return pd;
}

static void end(struct pagedet *pd)
{
	char command[128];

	pagedet_free(pd);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
}

/* Who hangs has written its number: it has taken the question. */
static bool hangs(void)
{
	struct stat st;

	return stat(path_of("pid"), &st) == 0 && st.st_size > 0;
}

/* Before it is ended it is looked at like this: not before it hangs. */
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	if (!stuck)
		return __real_waitpid(pid, status, options);
	unit_wait(hangs);
	return 0;
}

static unsigned count_asked(const char *word)
{
	FILE *f = fopen(path_of("asked"), "r");
	char line[128];
	unsigned n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, word) != NULL;
	fclose(f);
	return n;
}

static const struct pagedet_item five = { 5, 1, 0, 0 };
static const struct pagedet_item logged = { 0x7bee, 1, 0, 0 };

static struct pagedet_iter *query(struct pagedet *pd,
				  const struct pagedet_item *page,
				  const char *fields, uint64_t deadline_ns)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;

	q.target = PAGEDET_TARGET_PFN;
	q.items = page;
	q.n_items = 1;
	q.deadline_ns = deadline_ns;
	ck_assert_int_eq(pagedet_fields_parse(pd, fields, &q), 0);
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	return it;
}

static struct pagedet_page next(struct pagedet_iter *it)
{
	struct pagedet_page row;

	ck_assert_int_eq(pagedet_next(it, &row, 1), 1);
	return row;
}

static struct pagedet_page ask_again(struct pagedet_iter *it,
				     const struct pagedet_item *page)
{
	ck_assert_int_eq(pagedet_iter_retarget(it, page, 1), 0);
	return next(it);
}

/* Waits for 1 s. */
static void no_answer_in_time(struct pagedet *pd,
			      const struct pagedet_item *page)
{
	struct pagedet_iter *it = query(pd, page, "refcount", 1000000000);
	struct pagedet_page row = next(it);

	ck_assert_int_eq(STATE(row, PAGEDET_FIELD_REFCOUNT), PAGEDET_TIMEOUT);
	pagedet_iter_free(it);
}

/* Each question counts for how many pages all tasks are visited. */
START_TEST(many_questions)
{
	struct pagedet *pd = make(true);
	struct pagedet_iter *it = query(pd, &five, "refcount,user_maps", 0);
	struct pagedet_page row = next(it);
	int i;

	for (i = 0; i < 300; i++) {
		ck_assert_int_eq(STATE(row, PAGEDET_FIELD_USER_MAPS),
				 PAGEDET_HAVE);
		ck_assert_int_eq(row.user_maps, 1);
		row = ask_again(it, &five);
	}
	ck_assert_uint_eq(count_asked(" walk"), 301);
	pagedet_iter_free(it);
	end(pd);
}
END_TEST

START_TEST(stuck_until_it_ends)
{
	struct pagedet *pd = make(true);
	struct pagedet_iter *it = query(pd, &five, "refcount", 0), *other;
	struct pagedet_page row = next(it);

	ck_assert_int_eq(row.refcount, 2);
	write_file("hang", "");
	stuck = true;
	no_answer_in_time(pd, &five);
	ck_assert_int_eq(unlink(path_of("hang")), 0);

	/* Neither this query nor another one asks. */
	ck_assert_uint_eq(count_asked("pfn"), 2);
	row = ask_again(it, &five);
	ck_assert_int_eq(STATE(row, PAGEDET_FIELD_REFCOUNT), PAGEDET_UNSAFE);
	other = query(pd, &five, "refcount", 0);
	ck_assert_int_eq(pagedet_why(other, PAGEDET_FIELD_REFCOUNT),
			 PAGEDET_UNSAFE);
	pagedet_iter_free(other);
	ck_assert_uint_eq(count_asked("pfn"), 2);

	stuck = false;
	if (_i) {
		row = ask_again(it, &five);
	} else {
		other = query(pd, &five, "refcount", 0);
		row = next(other);
		pagedet_iter_free(other);
	}
	ck_assert_int_eq(STATE(row, PAGEDET_FIELD_REFCOUNT), PAGEDET_HAVE);
	ck_assert_int_eq(row.refcount, 2);
	pagedet_iter_free(it);
	end(pd);
}
END_TEST

/*
 * Without the file "query" the process is left with its question, and the next
 * question waits for it.
 */
START_TEST(left_behind)
{
	struct pagedet *pd = make(false);
	struct pagedet_iter *it = query(pd, &logged, "refcount", 0);
	struct pagedet_page row = next(it);
	FILE *f;
	int pid = 0;

	ck_assert_int_eq(row.refcount, 2);
	write_file("hang", "");
	no_answer_in_time(pd, &logged);
	unit_wait(hangs);
	ck_assert_uint_eq(count_asked("p0x7bee000"), 2);
	ck_assert_int_eq(unlink(path_of("hang")), 0);
	no_answer_in_time(pd, &logged);
	ck_assert_uint_eq(count_asked("p0x7bee000"), 2);

	f = fopen(path_of("pid"), "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%d", &pid), 1);
	fclose(f);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	row = ask_again(it, &logged);
	ck_assert_int_eq(STATE(row, PAGEDET_FIELD_REFCOUNT), PAGEDET_HAVE);
	ck_assert_int_eq(row.refcount, 2);
	ck_assert_uint_eq(count_asked("p0x7bee000"), 3);
	pagedet_iter_free(it);
	end(pd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("detective_ask");

	unit_test(s, many_questions);
	unit_loop(s, stuck_until_it_ends, 2);
	unit_test(s, left_behind);
	return unit_main(s);
}
