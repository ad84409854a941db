/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests evidence besides the rows: about this process's memory of files or with
 * tracking, and about counters since a mark, in a simulated /sys.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "check/check.h"
#include "check/mark.h"
#include "explain/collect_file.h"
#include "explain/collect_track.h"
#include "pagedet.h"
#include "../unit.h"

#define PAGES 8

static struct pdet_env env = { .root = (char *)"" };
static size_t page;

/* --- the file behind memory --- */

static char *map_file(int *fd, int flags)
{
	char *at;

	page = (size_t)sysconf(_SC_PAGESIZE);
	*fd = memfd_create("collect", MFD_CLOEXEC);
	ck_assert_int_ge(*fd, 0);
	ck_assert_int_eq(ftruncate(*fd, (off_t)(PAGES * page)), 0);
	at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, flags, *fd, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

static uint64_t addr(const char *at, size_t n)
{
	return (uintptr_t)at + n * page;
}

START_TEST(holes_are_seen_without_a_touch)
{
	const uint32_t pid = (uint32_t)getpid();
	struct pdet_backing b;
	struct stat before, after;
	char *at, bytes[65536];
	int fd;

	at = map_file(&fd, MAP_SHARED);
	at[0] = 'a';
	/* In the file, but not mapped. */
	ck_assert_int_eq(pwrite(fd, "b", 1, (off_t)(2 * page)), 1);
	ck_assert_int_eq(fstat(fd, &before), 0);
	pdet_backing_begin(&b, &env);
	ck_assert(pdet_backing_at(&b, pid, addr(at, 0)));
	ck_assert_uint_eq(pdet_backing_hole(&b, addr(at, 0), page),
			  PAGEDET_NO);
	ck_assert_uint_eq(pdet_backing_hole(&b, addr(at, 1) + 5, page),
			  PAGEDET_YES);
	ck_assert_uint_eq(pdet_backing_hole(&b, addr(at, 2), page),
			  PAGEDET_NO);
	/* A hole up to the end. */
	ck_assert_uint_eq(pdet_backing_hole(&b, addr(at, 7), page),
			  PAGEDET_YES);
	ck_assert(pdet_backing_read(&b, addr(at, 2) + 9, bytes, page));
	ck_assert_int_eq(bytes[0], 'b');
	ck_assert_uint_eq(b.mtime_ns, (uint64_t)before.st_mtim.tv_sec *
			  1000000000u + (uint64_t)before.st_mtim.tv_nsec);
	pdet_backing_end(&b);
	/* The observation has filled nothing. */
	ck_assert_int_eq(fstat(fd, &after), 0);
	ck_assert_int_eq(before.st_blocks, after.st_blocks);
}
END_TEST

START_TEST(not_every_mapping_has_a_file)
{
	const uint32_t pid = (uint32_t)getpid();
	struct pdet_backing b;
	char *mine, *anon;
	int fd;

	mine = map_file(&fd, MAP_PRIVATE);
	anon = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pdet_backing_begin(&b, &env);
	/* Writes to a private mapping never reach the file. */
	ck_assert(!pdet_backing_at(&b, pid, addr(mine, 0)));
	ck_assert(!pdet_backing_at(&b, pid, addr(anon, 0)));
	ck_assert(!pdet_backing_at(&b, pid, 4096));
	ck_assert(!pdet_backing_at(&b, 0x7fffffff, addr(mine, 0)));
	pdet_backing_end(&b);
}
END_TEST

/*
 * Truncated after it was mapped: a read there raises a signal and does not give
 * zeroes.
 */
START_TEST(behind_its_end_nothing_is_known)
{
	struct pdet_backing b;
	char *at;
	int fd;

	at = map_file(&fd, MAP_SHARED);
	ck_assert_int_eq(ftruncate(fd, (off_t)page), 0);
	pdet_backing_begin(&b, &env);
	ck_assert(pdet_backing_at(&b, (uint32_t)getpid(), addr(at, 3)));
	ck_assert_uint_eq(pdet_backing_hole(&b, addr(at, 3), page),
			  PAGEDET_DUNNO);
	/* Truncated again after it was opened. */
	ck_assert(pdet_backing_at(&b, (uint32_t)getpid(), addr(at, 0)));
	ck_assert_uint_eq(pdet_backing_hole(&b, addr(at, 0), page),
			  PAGEDET_YES);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_uint_eq(pdet_backing_hole(&b, addr(at, 0), page),
			  PAGEDET_DUNNO);
	pdet_backing_end(&b);
}
END_TEST

/* Alternating mappings: maps is read only once. */
START_TEST(maps_are_read_once)
{
	const uint32_t pid = (uint32_t)getpid();
	struct pagedet_item items[64];
	const char *seen = NULL;
	struct pdet_backed *order;
	struct pdet_backing b;
	uint64_t i;
	char *at[4];
	int fd[4];

	memset(items, 0, sizeof(items));
	for (i = 0; i < 4; i++)
		at[i] = map_file(&fd[i], i % 2 ? MAP_PRIVATE : MAP_SHARED);
	for (i = 0; i < 64; i++) {
		items[i].pid = pid;
		items[i].first = i % 5 == 4 ? i * page : addr(at[i % 4], i / 8);
	}
	order = pdet_backing_order(items, 64);
	ck_assert_ptr_nonnull(order);
	pdet_backing_begin(&b, &env);
	for (i = 0; i < 64; i++) {
		const uint64_t n = order[i].which;

		ck_assert_uint_eq(order[i].vaddr, items[n].first);
		ck_assert_int_eq(pdet_backing_at(&b, pid, order[i].vaddr),
				 n % 5 != 4 && n % 2 == 0);
		ck_assert(!seen || b.rest.at >= seen);
		seen = b.rest.at;
	}
	/* Their own order gives the same, but takes longer. */
	for (i = 0; i < 64; i++)
		ck_assert_int_eq(pdet_backing_at(&b, pid, items[i].first),
				 i % 5 != 4 && i % 2 == 0);
	pdet_backing_end(&b);
	free(order);
}
END_TEST

/* --- trackers --- */

static struct pagedet *open_own(void)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet *pd = pagedet_new();

	ck_assert_ptr_nonnull(pd);
	o.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	if (pagedet_open(pd, &o) < 0)
		unit_skip("%s", pagedet_error(pd));
	return pd;
}

static struct pagedet_evidence found[PAGES];

static int collect(struct pagedet *pd, const char *at,
		   struct pagedet_collect_options *o)
{
	struct pagedet_item items[PAGES];
	size_t i;

	memset(items, 0, sizeof(items));
	/* Random order. */
	for (i = 0; i < PAGES; i++) {
		items[i].first = addr(at, i ^ 5);
		items[i].count = 1;
	}
	found->size = sizeof(*found);
	return pagedet_collect(pd, items, PAGES, o, found);
}

static const struct pagedet_evidence *of(size_t n)
{
	return &found[n ^ 5];
}

START_TEST(writes_are_told_by_page)
{
	struct pagedet_collect_options o = PAGEDET_COLLECT_OPTIONS_INIT;
	const char *valgrind = getenv("PDET_VALGRIND");
	struct pagedet *pd = open_own();
	int fd, r;
	char *at;

	if (valgrind && *valgrind)
		unit_skip("valgrind knows no userfaultfd");
	at = map_file(&fd, MAP_SHARED);
	memset(at, 1, PAGES * page);
	/* All but the last two. */
	r = pagedet_track_new(pd, addr(at, 0), (PAGES - 2) * page, NULL,
			      &o.track);
	if (r == -ENOTSUP || r == -EACCES)
		unit_skip("%s", pagedet_error(pd));
	ck_assert_int_eq(r, 0);
	ck_assert_int_ge(collect(pd, at, &o), 0);
	ck_assert_uint_eq(of(1)->track, PAGEDET_WRITES_NOT_ARMED);
	ck_assert_int_eq(pagedet_track_arm(o.track), 0);
	at[page] = 2;
	at[3 * page + 17] = 2;
	at[7 * page] = 2;
	ck_assert_int_ge(collect(pd, at, &o), 0);
	ck_assert_uint_eq(of(0)->track, PAGEDET_WRITES_NONE);
	ck_assert_uint_eq(of(1)->track, PAGEDET_WRITES_SEEN);
	ck_assert_uint_eq(of(2)->track, PAGEDET_WRITES_NONE);
	ck_assert_uint_eq(of(3)->track, PAGEDET_WRITES_SEEN);
	ck_assert_uint_eq(of(5)->track, PAGEDET_WRITES_NONE);
	/* The tracker does not cover these. */
	ck_assert_uint_eq(of(6)->track, PAGEDET_WRITES_DUNNO);
	ck_assert_uint_eq(of(7)->track, PAGEDET_WRITES_DUNNO);
	/* Reading does not arm anything. */
	ck_assert_int_ge(collect(pd, at, &o), 0);
	ck_assert_uint_eq(of(1)->track, PAGEDET_WRITES_SEEN);
	pagedet_track_free(o.track);
	pagedet_free(pd);
}
END_TEST

/* More ranges than one read returns. */
START_TEST(writes_of_many_ranges)
{
	enum { MANY = 1500 };
	static struct pdet_tracked pages[MANY];
	const char *valgrind = getenv("PDET_VALGRIND");
	struct pdet_track *t;
	char *at;
	int i, r;

	if (valgrind && *valgrind)
		unit_skip("valgrind knows no userfaultfd");
	page = (size_t)sysconf(_SC_PAGESIZE);
	at = mmap(NULL, MANY * page, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	memset(at, 1, MANY * page);
	r = pdet_track_new(&env, addr(at, 0), MANY * page,
			   PAGEDET_TRACK_BIT(PAGEDET_TRACK_UFFD), false, &t);
	if (r == -ENOTSUP || r == -EACCES)
		unit_skip("%s", env.error);
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(pdet_track_arm(t, &env), 0);
	for (i = 0; i < MANY; i += 2)
		at[(size_t)i * page] = 2;
	for (i = 0; i < MANY; i++)
		pages[i] = (struct pdet_tracked){
			.vaddr = addr(at, (size_t)(MANY - 1 - i)) };
	ck_assert_int_eq(pdet_collect_track(&env, t, pages, MANY), 0);
	for (i = 0; i < MANY; i++)
		ck_assert_uint_eq(pages[i].writes, i % 2 ?
				  PAGEDET_WRITES_NONE : PAGEDET_WRITES_SEEN);
	pdet_track_free(t);
}
END_TEST

/* --- all of it --- */

START_TEST(files_and_bytes)
{
	struct pagedet_collect_options o = PAGEDET_COLLECT_OPTIONS_INIT;
	const unsigned now = PAGEDET_AS_NOW;
	struct pagedet *pd = open_own();
	char *at;
	int fd;

	at = map_file(&fd, MAP_SHARED);
	at[0] = 'a';
	ck_assert_int_eq(pwrite(fd, "b", 1, (off_t)(2 * page)), 1);
	/* Without permission nothing is read. */
	ck_assert_int_ge(collect(pd, at, &o), 0);
	ck_assert_uint_eq(of(0)->file_ns, 0);
	ck_assert_uint_eq(of(1)->here_hole, PAGEDET_DUNNO);
	o.options = PAGEDET_COLLECT_FILE;
	ck_assert_int_ge(collect(pd, at, &o), 0);
	ck_assert_uint_ne(of(0)->file_ns, 0);
	ck_assert_uint_eq(of(0)->here_hole, PAGEDET_NO);
	ck_assert_uint_eq(of(1)->here_hole, PAGEDET_YES);
	ck_assert_uint_eq(of(1)->zero[now], PAGEDET_YES);
	ck_assert_uint_eq(of(2)->here_hole, PAGEDET_NO);
	ck_assert_uint_eq(of(2)->zero[now], PAGEDET_DUNNO);
	ck_assert_uint_eq(of(2)->hash_state[now], PAGEDET_NOT_ASKED);
	/* A page without an entry comes from the file. */
	o.options |= PAGEDET_COLLECT_CONTENT;
	ck_assert_int_ge(collect(pd, at, &o), 0);
	ck_assert_uint_eq(of(2)->zero[now], PAGEDET_NO);
	ck_assert_uint_eq(of(2)->hash_state[now], PAGEDET_HAVE);
	ck_assert_uint_eq(of(2)->here_read, PAGEDET_READ_DONE);
	ck_assert_uint_ne(of(1)->hash_state[now], PAGEDET_HAVE);
	pagedet_free(pd);
}
END_TEST

START_TEST(read_again_when_it_is_time)
{
	struct pagedet_collect_options o = PAGEDET_COLLECT_OPTIONS_INIT;
	const unsigned again = PAGEDET_AS_AGAIN;
	struct pagedet *pd = open_own();
	struct timespec before, after;
	char *at;
	int fd;

	at = map_file(&fd, MAP_SHARED);
	at[0] = 'a';
	o.options = PAGEDET_COLLECT_AGAIN;
	ck_assert_int_eq(collect(pd, at, &o), -EINVAL);
	o.options |= PAGEDET_COLLECT_CONTENT;
	o.again_ns = 30000000;
	clock_gettime(CLOCK_MONOTONIC, &before);
	ck_assert_int_ge(collect(pd, at, &o), 0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	ck_assert_int_ge((after.tv_sec - before.tv_sec) * 1000000000 +
			 after.tv_nsec - before.tv_nsec, 30000000);
	/* The second read has the same pages and contents as the first one. */
	ck_assert_uint_eq(of(0)->hash_state[again],
			  of(0)->hash_state[PAGEDET_AS_NOW]);
	ck_assert_uint_eq(of(0)->hash[again], of(0)->hash[PAGEDET_AS_NOW]);
	ck_assert_uint_ge(of(0)->hash_ns[again],
			  of(0)->hash_ns[PAGEDET_AS_NOW]);
	/* The search ends no later than the caller's deadline. */
	o.deadline_ns = 1000000000;
	o.again_ns = 5000000000;
	ck_assert_int_ge(collect(pd, at, &o), 0);
	ck_assert_uint_eq(of(0)->hash_state[again], PAGEDET_TIMEOUT);
	o.options = 64;
	ck_assert_int_eq(collect(pd, at, &o), -E2BIG);
	pagedet_free(pd);
}
END_TEST

/* A task that ends when nobody has the other end of its pipe. */
static pid_t child;
static int child_ends[2] = { -1, -1 };

int __real_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left);

/* The first reading is done when it is said that there is no second one yet:
 * the task ends while that is waited for. */
int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
	siginfo_t info;

	if (child_ends[1] >= 0 &&
	    found->hash_state[PAGEDET_AS_AGAIN] == PAGEDET_TIMEOUT) {
		close(child_ends[1]);
		child_ends[1] = -1;
		ck_assert_int_eq(waitid(P_PID, (id_t)child, &info,
					WEXITED | WNOWAIT), 0);
	}
	return __real_nanosleep(t, left);
}

START_TEST(what_was_read_stands)
{
	struct pagedet_collect_options o = PAGEDET_COLLECT_OPTIONS_INIT;
	struct pagedet *pd = open_own();
	struct pagedet_item item;
	char *at, none;
	int fd;

	at = map_file(&fd, MAP_SHARED);
	at[0] = 'a';
	ck_assert_int_eq(pipe(child_ends), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		close(child_ends[1]);
		ck_assert_int_eq(read(child_ends[0], &none, 1), 0);
		pagedet_free(pd);
		_exit(at[0] != 'a');
	}
	memset(&item, 0, sizeof(item));
	item.pid = (uint32_t)child;
	item.first = addr(at, 0);
	item.count = 1;
	o.options = PAGEDET_COLLECT_CONTENT | PAGEDET_COLLECT_AGAIN;
	o.again_ns = 10000000;
	found->size = sizeof(*found);
	ck_assert_int_ge(pagedet_collect(pd, &item, 1, &o, found), 0);
	ck_assert_uint_eq(found->hash_state[PAGEDET_AS_AGAIN], PAGEDET_RACED);
	ck_assert_uint_eq(found->here_frozen, PAGEDET_DUNNO);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	close(child_ends[0]);
	pagedet_free(pd);
}
END_TEST

/* --- counters of errors of memory --- */

static char root[] = "/tmp/test_collect.XXXXXX";

static void sweep(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	ck_assert_int_eq(system(command), 0);
}

static void put(const char *path, const char *text)
{
	char full[512], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = full + strlen(root) + 1; (slash = strchr(slash, '/'));
	     slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

#define EDAC "/sys/devices/system/edac/mc/mc0/"
#define FAILURES "/sys/devices/system/node/node0/memory_failure/total"

static uint32_t since(const char *mark, int len)
{
	uint32_t moved = 77;

	ck_assert_int_eq(pdet_mark_memory(&env, mark, (uint64_t)len, &moved),
			 0);
	return moved;
}

START_TEST(counters_since_a_mark)
{
	char mark[4096];
	int len;

	ck_assert_ptr_nonnull(mkdtemp(root));
	env.root = root;
	put("/proc/sys/kernel/random/boot_id", "8c6f\n");
	put("/proc/interrupts", "           CPU0       CPU1\n"
	    "  0:         44          0   IO-APIC   2-edge      timer\n"
	    "MCE:          1          2   Machine check exceptions\n"
	    "MCP:          9          9   Machine check polls\n");
	len = pdet_mark(&env, mark, sizeof(mark));
	ck_assert_int_gt(len, 0);
	/* No one here counts corrected errors. */
	ck_assert_uint_eq(since(mark, len), PAGEDET_DUNNO);
	put(EDAC "ce_count", "7\n");
	put(EDAC "ue_count", "0\n");
	put(FAILURES, "3\n");
	len = pdet_mark(&env, mark, sizeof(mark));
	ck_assert_uint_eq(since(mark, len), PAGEDET_NO);
	/* Polls are not errors. */
	put("/proc/interrupts",
	    "MCE:          1          2   Machine check exceptions\n"
	    "MCP:          9         10   Machine check polls\n");
	ck_assert_uint_eq(since(mark, len), PAGEDET_NO);
	/* A test may have injected it, so it proves nothing. */
	put(FAILURES, "4\n");
	ck_assert_uint_eq(since(mark, len), PAGEDET_DUNNO);
	put(EDAC "ce_count", "8\n");
	ck_assert_uint_eq(since(mark, len), PAGEDET_YES);
	put(EDAC "ce_count", "7\n");
	put("/proc/interrupts",
	    "MCE:          1          3   Machine check exceptions\n");
	ck_assert_uint_eq(since(mark, len), PAGEDET_YES);
	/* In another boot they start again. */
	put("/proc/sys/kernel/random/boot_id", "8c70\n");
	ck_assert_uint_eq(since(mark, len), PAGEDET_DUNNO);
	mark[len / 2]++;
	ck_assert_int_eq(pdet_mark_memory(&env, mark, (uint64_t)len,
					  &(uint32_t){ 0 }), -EBADMSG);
	ck_assert_int_eq(pdet_mark_memory(&env, mark, 3, &(uint32_t){ 0 }),
			 -EBADMSG);
	sweep();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("collect");

	unit_test(s, holes_are_seen_without_a_touch);
	unit_test(s, not_every_mapping_has_a_file);
	unit_test(s, behind_its_end_nothing_is_known);
	unit_test(s, maps_are_read_once);
	unit_test(s, writes_are_told_by_page);
	unit_test(s, writes_of_many_ranges);
	unit_test(s, files_and_bytes);
	unit_test(s, read_again_when_it_is_time);
	unit_test(s, what_was_read_stands);
	unit_test(s, counters_since_a_mark);
	return unit_main(s);
}
