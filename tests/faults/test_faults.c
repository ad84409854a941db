/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs image page_owner log snapshot */
/*
 * Makes whole queries while the Nth allocation, open, read or ioctl fails, for
 * all N. Nothing may crash, hang or leak. Answers must equal those without
 * failures, and missing ones must be reported. Each query has a fixed time per
 * kind of failure. If all N would take longer, every second or third N is
 * tried. PDET_FAULTS=all tries all of them.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"
#include "places.h"
#include "unit/unit.h"

#define TIME_NS 30000000u	/* for one query and one kind of failure */
#define LEAST 25		/* runs, unless they take ten times as long */
#define TRIES 5		/* for a failure while pages move */

static const struct {
	const char *name;
	struct fault_plan plan;
	bool harmless;		/* must have no visible effect */
} ways[] = {
	{ "memory", { .kinds = FAULT_MEMORY }, false },
	{ "memory from there on", { .kinds = FAULT_MEMORY, .on = true },
	  false },
	{ "reading, EIO", { .kinds = FAULT_READ, .error = EIO }, false },
	{ "reading, EACCES", { .kinds = FAULT_READ, .error = EACCES },
	  false },
	{ "reading, ENOMEM", { .kinds = FAULT_READ, .error = ENOMEM },
	  false },
	{ "reading from there on", { .kinds = FAULT_READ, .error = EIO,
	  .on = true }, false },
	{ "opening, EACCES", { .kinds = FAULT_OPEN, .error = EACCES },
	  false },
	{ "opening, EMFILE", { .kinds = FAULT_OPEN, .error = EMFILE },
	  false },
	{ "opening from there on, EIO", { .kinds = FAULT_OPEN, .error = EIO,
	  .on = true }, false },
	{ "ioctl, EIO", { .kinds = FAULT_IOCTL, .error = EIO }, false },
	{ "ioctl, EACCES", { .kinds = FAULT_IOCTL, .error = EACCES }, false },
	{ "ioctl from there on, ENOTTY", { .kinds = FAULT_IOCTL,
	  .error = ENOTTY, .on = true }, false },
	{ "a part, then EIO", { .kinds = FAULT_SHORT | FAULT_READ,
	  .error = EIO, .on = true }, false },
	{ "writing, ENOSPC", { .kinds = FAULT_WRITE, .error = ENOSPC },
	  false },
	{ "interrupted", { .kinds = FAULT_READ, .error = EINTR }, true },
	{ "short", { .kinds = FAULT_SHORT }, true },
	{ "no threads", { .kinds = FAULT_THREAD, .on = true }, true },
};

#define WAYS (sizeof(ways) / sizeof(*ways))

static struct answer all, now;
static struct answer other;	/* another honest answer */
static char trying[256];
static unsigned found;		/* number of errors */
static int file = -1;		/* the output file */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* A crash would not name the test otherwise. */
static void on_crash(int sig)
{
	ssize_t n = write(STDERR_FILENO, trying, strlen(trying));

	(void)n;
	signal(sig, SIG_DFL);
	raise(sig);
}

static void complain(const char *why)
{
	if (!why)
		return;
	found++;
	printf("# %s, %s: %s (result %d %s)\n", trying, faults_what(), why,
	       now.result, now.error);
	fflush(stdout);
}

/* A picture contains the time. */
static void forget_time(char *text)
{
	char *utc = strstr(text, " UTC");

	if (utc && utc - text >= 19)
		memset(utc - 19, 'x', 19);
}

static void take_written(struct answer *ret)
{
	ssize_t n = pread(file, ret->emitted, MAX_EMITTED - 1, 0);

	ck_assert_int_ge(n, 0);
	ret->emitted[n] = '\0';
	ret->len = (size_t)n;
}

/* Makes the query, and reads what was written. */
static void ask_once(const struct question *q, const struct fault_plan *plan,
		     struct answer *ret, uint64_t *calls)
{
	if (q->writes) {
		ck_assert_int_eq(ftruncate(file, 0), 0);
		ck_assert_int_eq(lseek(file, 0, SEEK_SET), 0);
	}
	faults_begin(plan);
	ask(q, file, ret);
	*calls = faults_end();
	if (q->format == PAGEDET_FORMAT_SNAPSHOT)
		ask_saved(file, ret);
	else if (q->writes)
		take_written(ret);
	if (q->format == PAGEDET_FORMAT_SVG)
		forget_time(ret->emitted);
}

static const char *judge(const struct question *q)
{
	const char *why = untrue(q, &all, &now);

	/*
	 * Accept the other answer, because this one reports that it may be
	 * incomplete.
	 */
	if (why && q->other_without && now.has_cover && !now.cover.complete &&
	    !untrue(q, &other, &now))
		return NULL;
	return why;
}

/*
 * Other processes come and go. A report that some were left out explains
 * missing rows, whether or not it was in the first answer.
 */
static void forget_others(void)
{
	unsigned i;

	all.unread = 0;
	all.cover.tasks_gone = all.cover.tasks_denied = 0;
	for (i = 0; i < all.n_summaries; i++)
		all.summary[i].n_unread = 0;
}

/* Gets the answer without failures; false if the query is not possible here. */
static bool ask_first(const struct question *q)
{
	const struct fault_plan none = { .kinds = 0 };
	uint64_t calls;

	ask_once(q, &none, &all, &calls);
	if (q->at == LIVE && (all.result == -EACCES ||
			      (q->others && !all.n && all.cover.tasks_denied)))
		return false;
	ck_assert_msg(!all.result && !*all.broken, "%s: %s %s", q->name,
		      all.error, all.broken);
	ck_assert_msg(all.n || all.len || all.verdict || all.n_changes ||
			      all.n_evidence,
		      "%s: no answer", q->name);
	if (q->others)
		forget_others();
	if (!q->other_without)
		return true;
	places_hide(q->other_without);
	ask_once(q, &none, &other, &calls);
	places_show(q->other_without);
	ck_assert_msg(!other.result && other.n && !other.cover.complete,
		      "%s: %s", q->name, other.error);
	return true;
}

/* The errors of an answer, each as a text or NULL. */
struct wrongs {
	const char *kept, *untrue, *vague;
};

static struct wrongs ask_failing(const struct question *q, size_t way,
				 uint64_t nth)
{
	struct fault_plan plan = ways[way].plan;
	struct wrongs ret;
	uint64_t calls;

	plan.nth = nth;
	ask_once(q, &plan, &now, &calls);
	ret.kept = faults_kept();
	ret.untrue = ways[way].harmless ? differs(q, &all, &now) : judge(q);
	ret.vague = unclear(q, &now);
	return ret;
}

/*
 * Tries one failure. Pages move and vanish while a running kernel reclaims
 * memory. An answer about it is therefore wrong only if it is still wrong when
 * repeated without a failure.
 */
static void try(const struct question *q, size_t way, uint64_t nth)
{
	struct wrongs wrong;
	int tries = 0;

	snprintf(trying, sizeof(trying), "%s: %s, call %llu", q->name,
		 ways[way].name, (unsigned long long)nth);
	wrong = ask_failing(q, way, nth);
	while (q->at == LIVE && wrong.untrue && tries++ < TRIES) {
		if (!ask_first(q))
			return;
		wrong = ask_failing(q, way, nth);
	}
	complain(wrong.kept);
	complain(wrong.untrue);
	complain(wrong.vague);
}

static void try_way(const struct question *q, size_t way)
{
	const char *wanted = getenv("PDET_FAULTS");
	const bool every = wanted && *wanted;
	struct fault_plan plan = ways[way].plan;
	uint64_t calls, start = now_ns(), each, runs, step, nth;

	/*
	 * Without PAGEMAP_SCAN whole address spaces are read. A process may
	 * have reserved most of its own, which takes hours.
	 */
	if (q->others && plan.kinds & FAULT_IOCTL)
		return;
	ask_once(q, &plan, &now, &calls);
	each = now_ns() - start + 1;
	runs = TIME_NS / each > LEAST ? TIME_NS / each : LEAST;
	step = every ? 1 : (calls + runs - 1) / runs;
	for (nth = 1; nth <= calls; nth += step) {
		try(q, way, nth);
		if (!every && now_ns() - start > 10 * TIME_NS)
			break;
	}
}

START_TEST(question)
{
	struct question q = questions[_i];
	size_t way;
	bool can;

	signal(SIGSEGV, on_crash);
	signal(SIGABRT, on_crash);
	file = memfd_create("written", MFD_CLOEXEC);
	places_make(&q);
	places_aim(&q);
	can = ask_first(&q);
	for (way = 0; can && way < WAYS; way++)
		try_way(&q, way);
	places_free();
	if (!can)
		unit_skip("%s", *all.error ? all.error :
			  "page frame numbers are hidden");
	ck_assert_msg(!found, "%s: %u times", q.name, found);
}
END_TEST

/* Otherwise all tests above could be empty. */
START_TEST(calls_are_counted)
{
	static const unsigned kinds[] = { FAULT_MEMORY, FAULT_READ,
					  FAULT_OPEN, FAULT_SHORT };
	struct fault_plan plan = { .kinds = 0 };
	struct question q = questions[0];
	uint64_t calls;
	size_t i;

	places_make(&q);
	places_aim(&q);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		plan.kinds = kinds[i];
		ask_once(&q, &plan, &now, &calls);
		ck_assert_uint_gt(calls, 3);
		ck_assert_ptr_null(faults_kept());
	}
	places_free();
}
END_TEST

static void add_question(Suite *s, int i)
{
	TCase *tc = tcase_create(questions[i].name);

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, question, i, i + 1);
	suite_add_tcase(s, tc);
}

int main(void)
{
	Suite *s = suite_create("faults");
	int i;

	/* Each query takes the memory of the one before it: to get new pages
	 * from the kernel would be the most of the test's time. */
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	unit_test(s, calls_are_counted);
	for (i = 0; i < n_questions; i++)
		add_question(s, i);
	return unit_main(s);
}
