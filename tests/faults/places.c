/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes captured machines with mkproc. On the running kernel it uses only what
 * stays unchanged: pages locked in memory, and files that no one else has.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "places.h"
#include "unit/machine.h"

#define PAGE ((size_t)4096)
#define PAGES 16
#define HUGE_PAGE ((size_t)2 << 20)
#define MADV_GUARD_INSTALL_ 102	/* since 6.13 */

static struct machine machine, before;
static char file[sizeof(machine.root) + 8], tree[sizeof(machine.root) + 8];
static char *area;		/* pages of this process */
static char *mixed;		/* entries of several kinds */
static char *huge;
static char *shared;		/* the mapped file */

static void below(char *ret, size_t size, const char *path)
{
	ck_assert_int_lt(snprintf(ret, size, "%s%s", machine.root, path),
			 (int)size);
}

static void make_folder(void)
{
	const char *folder = getenv("TMPDIR");

	snprintf(machine.root, sizeof(machine.root), "%s/pagedet-test.XXXXXX",
		 folder && *folder ? folder : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(machine.root));
	below(file, sizeof(file), "/file");
}

/* --- of our own --- */

static char *map(size_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

static void make_area(void)
{
	area = map(PAGES * PAGE);
	madvise(area, PAGES * PAGE, MADV_NOHUGEPAGE);
	memset(area, 1, PAGES * PAGE);
	/* Neither moved nor swapped: its frames stay the same. */
	mlock(area, PAGES * PAGE);
}

/* Written, only read, guarded, and untouched pages; a huge page if possible. */
static void make_mixed(void)
{
	mixed = map(PAGES * PAGE);
	madvise(mixed, PAGES * PAGE, MADV_NOHUGEPAGE);
	memset(mixed, 1, 2 * PAGE);
	(void)*(volatile char *)(mixed + 2 * PAGE);
	madvise(mixed + 4 * PAGE, PAGE, MADV_GUARD_INSTALL_);
	huge = map(2 * HUGE_PAGE);
	huge += -(uintptr_t)huge & (HUGE_PAGE - 1);
	madvise(huge, HUGE_PAGE, MADV_HUGEPAGE);
	*(volatile char *)huge = 1;
}

/*
 * The kernel does not reclaim mapped and locked pages. The mapping ends with
 * the test's process.
 */
static void keep_cached(int fd)
{
	char *at = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	mlock(at, PAGES * PAGE);
}

static void write_file(const char *path)
{
	static const char page[PAGE] = "x";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), i;

	ck_assert_int_ge(fd, 0);
	for (i = 0; i < PAGES; i++)
		ck_assert_int_eq(write(fd, page, sizeof(page)), sizeof(page));
	/* It must be clean at any time. */
	ck_assert_int_eq(fsync(fd), 0);
	keep_cached(fd);
	close(fd);
}

static void make_files(void)
{
	char name[sizeof(tree) + 4];

	make_folder();
	below(tree, sizeof(tree), "/tree");
	write_file(file);
	ck_assert_int_eq(mkdir(tree, 0700), 0);
	snprintf(name, sizeof(name), "%s/a", tree);
	write_file(name);
	snprintf(name, sizeof(name), "%s/b", tree);
	ck_assert_int_eq(mkdir(name, 0700), 0);
	snprintf(name, sizeof(name), "%s/b/c", tree);
	write_file(name);
}

static void map_file(void)
{
	const int fd = open(file, O_RDWR);

	shared = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	(void)*(volatile char *)shared;
	close(fd);
}

/* The frame of the first page; 0 if it is hidden. */
static uint64_t frame(void)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t word = 0;

	if (pread(fd, &word, 8, (off_t)((uintptr_t)area / PAGE * 8)) != 8)
		word = 0;
	close(fd);
	return word & (((uint64_t)1 << 55) - 1);
}

static void aim_at_own(struct question *q)
{
	const uint32_t self = (uint32_t)getpid();

	q->items[0] = (struct pagedet_item){ frame(), 1, 0, 0 };
	if (q->target == PAGEDET_TARGET_VIRT ||
	    q->target == PAGEDET_TARGET_TASK)
		q->items[0] = (struct pagedet_item){
			(uintptr_t)area, PAGES * PAGE, self, 0
		};
	if (q->entries) {
		q->items[0].first = (uintptr_t)mixed;
		q->items[1] = (struct pagedet_item){
			(uintptr_t)huge, 4 * PAGE, self, 0
		};
		q->n_items = 2;
	}
	if (q->explains) {
		const char *const pages[] = { area, area + PAGE,
					      mixed + 8 * PAGE, shared };

		for (q->n_items = 0; q->n_items < 4; q->n_items++)
			q->items[q->n_items] = (struct pagedet_item){
				(uintptr_t)pages[q->n_items], 1, self, 0
			};
	}
	if (q->target == PAGEDET_TARGET_FILE)
		q->path = file;
	if (q->target == PAGEDET_TARGET_TREE)
		q->path = tree;
}

/* --- a dump --- */

static void make_dump(void)
{
	const char *top = getenv("top_builddir");
	char program[1024], shell[] = "/bin/sh", option[] = "-c";
	char quietly[] = "exec \"$0\" \"$1\" > /dev/null";
	char *const argv[] = { shell, option, quietly, program, file, NULL };

	make_folder();
	/* A test makes it, which is not one of these. */
	unsetenv("CK_RUN_CASE");
	snprintf(program, sizeof(program), "%s/tests/dumps/mkkernel",
		 top && *top ? top : ".");
	machine_run(argv);
}

/* --- machines --- */

/* Charges must have the inode number that the directory has here. */
static void renumber(uint64_t was, const char *path)
{
	static uint64_t words[0x1000];
	char name[sizeof(machine.root) + 64];
	struct stat st;
	ssize_t n, i;
	int fd;

	below(name, sizeof(name), path);
	ck_assert_int_eq(stat(name, &st), 0);
	below(name, sizeof(name), "/proc/kpagecgroup");
	fd = open(name, O_RDWR);
	ck_assert_int_ge(fd, 0);
	n = pread(fd, words, sizeof(words), 0);
	for (i = 0; i < n / 8; i++)
		if (words[i] == was)
			words[i] = st.st_ino;
	ck_assert_int_eq(pwrite(fd, words, (size_t)n, 0), n);
	close(fd);
}

static void make_directories(void)
{
	renumber(45, "/sys/fs/cgroup/a");
	renumber(46, "/sys/fs/cgroup/a/b");
	renumber(47, "/sys/fs/cgroup/c");
	places_hide("/sys/fs/cgroup/cgroup.inodes");
}

void places_make(const struct question *q)
{
	static const char *const scenarios[] = {
		[SMALL] = "tests/faults/machine.scenario",
		[OLD] = "tests/faults/old.scenario",
		[DIRECTORIES] = "tests/faults/machine.scenario",
		[MAPPED] = "tests/golden/cli-mapped.scenario",
		[SAVED] = "tests/faults/machine.scenario",
		[CHANGED] = "tests/faults/changed.scenario",
	};

	if (q->at == DUMP) {
		make_dump();
		return;
	}
	if (q->at == LIVE) {
		make_files();
		make_area();
		make_mixed();
		map_file();
		return;
	}
	machine_new(&machine, scenarios[q->at]);
	if (q->at == DIRECTORIES)
		make_directories();
	below(file, sizeof(file), "/file");
	if (q->at == SAVED)
		ck_assert_int_eq(ask_save(q, machine.root, file), 0);
	if (q->at == CHANGED) {
		machine_new(&before, scenarios[SMALL]);
		ck_assert_int_eq(ask_save(q, before.root, file), 0);
		machine_free(&before);
	}
	if (q->without)
		places_hide(q->without);
}

void places_aim(struct question *q)
{
	if (q->at == LIVE)
		aim_at_own(q);
	else if (q->at == DUMP || q->at == SAVED || q->at == CHANGED)
		q->file = file;
	if (q->at != LIVE && q->at != DUMP && q->at != SAVED)
		q->root = machine.root;
}

static void move(const char *from, const char *to)
{
	char a[sizeof(machine.root) + 64], b[sizeof(a)];

	below(a, sizeof(a), from);
	below(b, sizeof(b), to);
	ck_assert_int_eq(rename(a, b), 0);
}

void places_hide(const char *path)
{
	move(path, "/hidden");
}

void places_show(const char *path)
{
	move("/hidden", path);
}

void places_free(void)
{
	machine_free(&machine);
}
