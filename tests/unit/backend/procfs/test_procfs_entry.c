/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests page table entries that need other files to be understood, in a
 * captured task, and write tracking in this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/page/kpf.h"
#include "kernel/page/pagemap.h"
#include "../../huge.h"
#include "../../unit.h"

#define P(name) PAGEDET_PTE(PAGEDET_PTE_##name)
#define SWAP(type, offset) \
	(PDET_PM_SWAP | (uint64_t)(offset) << 5 | (uint64_t)(type))

/* Newer than the headers of the oldest supported build systems. */
#define WP_HUGETLBFS_SHMEM ((uint64_t)1 << 12)
#define WP_UNPOPULATED ((uint64_t)1 << 13)
#define WP_ASYNC ((uint64_t)1 << 15)

static struct pagedet *pd;
static size_t page;

static void start(const char *root)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;

	o.root = root;
	page = (size_t)sysconf(_SC_PAGESIZE);
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
	ck_assert_msg(pagedet_open(pd, &o) == 0, "%s", pagedet_error(pd));
}

/* Queries @n pages from @at on. */
static struct pagedet_iter *ask(uint32_t pid, uint64_t at, uint64_t n)
{
	struct pagedet_item item = { at, n * page, pid, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_fields_parse(pd, "pte,pfn,swap_type,"
					      "swap_offset,notes,kind,"
					      "pte_level", &q), 0);
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	return it;
}

static unsigned state(const struct pagedet_page *row, unsigned field)
{
	return PAGEDET_CELL_STATE(row->cell[field]);
}

/* --- a captured task --- */

static char root[64];

static void put(const char *name, off_t at, const void *data, size_t len)
{
	char path[128], *slash;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (slash = path; (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		mkdir(path, 0700);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, data, len, at), (ssize_t)len);
	close(fd);
}

static void put_text(const char *name, const char *text)
{
	put(name, 0, text, strlen(text));
}

static void put_swaps(unsigned n)
{
	char text[4096] = "Filename Type Size Used Priority\n";

	while (n--)
		strcat(text, "/dev/zram0 partition 1048572 0 100\n");
	put_text("proc/swaps", text);
}

/* Task 7 has a page at 0x10000 whose entry is @word. */
static void make_tree(uint64_t word)
{
	static const uint64_t flags[64] = {
		[0x20] = KPF(ANON) | KPF(LRU) | KPF(UPTODATE),
		[0x30] = KPF(ANON) | KPF(LOCKED) | KPF(UPTODATE),
		[0x31] = KPF(HWPOISON) | KPF(ANON),
	};
	const uint64_t end = 0;

	snprintf(root, sizeof(root), "/tmp/pagedet.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	put("proc/kpageflags", 0, flags, sizeof(flags));
	put_text("proc/7/stat", "7 (x) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
		 "9 0\n");
	put_text("proc/7/maps", "00010000-00020000 rw-p 00000000 00:00 0 \n");
	put("proc/7/pagemap", 16 * 8, &word, sizeof(word));
	put("proc/7/pagemap", 512 * 8, &end, sizeof(end));
	put_swaps(1);
}

static void remove_tree(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

static struct pagedet_page ask_tree(void)
{
	struct pagedet_iter *it = ask(7, 0x10000, 1);
	struct pagedet_page row;

	ck_assert_msg(pagedet_next(it, &row, 1) == 1, "%s",
		      pagedet_error(pd));
	pagedet_iter_free(it);
	return row;
}

/* The use of the page named by the entry tells the kind of entry. */
static const struct {
	uint64_t word;
	uint32_t what;		/* 0: not known */
	uint64_t pfn;
} entries[] = {
	/* poisoned: on 6.1 and 6.12, with and without device memory */
	{ SWAP(22, 0x31), P(HWPOISON), 0x31 },
	{ SWAP(23, 0x31), P(HWPOISON), 0x31 },
	{ SWAP(26, 0x31), P(HWPOISON), 0x31 },
	{ SWAP(27, 0x31), P(HWPOISON), 0x31 },
	/* during migration: locked */
	{ SWAP(24, 0x30), P(MIGRATION), 0x30 },
	{ SWAP(30, 0x30) | PDET_PM_FILE, P(MIGRATION), 0x30 },
	/* neither */
	{ SWAP(24, 0x20), 0, 0 },
	/* an offset without a page */
	{ SWAP(24, 0x2000), 0, 0 },
};

START_TEST(an_entry_with_a_page)
{
	struct pagedet_page row;

	make_tree(entries[_i].word);
	start(root);
	row = ask_tree();
	remove_tree();
	ck_assert_uint_eq(row.pte & (P(PRESENT) | P(SWAPPED) | P(GUARD) |
				     P(MIGRATION) | P(HWPOISON) | P(DEVICE)),
			  entries[_i].what);
	ck_assert(row.pte_known & P(PRESENT));
	ck_assert_int_eq(!(row.pte_known & P(SWAPPED)), !entries[_i].what);
	if (!entries[_i].what) {
		ck_assert_uint_eq(state(&row, PAGEDET_FIELD_PFN),
				  PAGEDET_UNSUPPORTED);
		ck_assert_uint_eq(state(&row, PAGEDET_FIELD_SWAP_TYPE),
				  PAGEDET_UNSUPPORTED);
		return;
	}
	ck_assert_uint_eq(state(&row, PAGEDET_FIELD_PFN), PAGEDET_HAVE);
	ck_assert_uint_eq(row.pfn, entries[_i].pfn);
	ck_assert(row.notes & PAGEDET_NOTE(PAGEDET_NOTE_STALE));
	ck_assert_uint_eq(state(&row, PAGEDET_FIELD_SWAP_TYPE), PAGEDET_NONE);
}
END_TEST

/* Changes of frame 0x21 after its first read. */
static struct {
	const char *file;	/* NULL: nothing changes */
	uint64_t word;
	bool next;		/* of the next frame as well */
} meanwhile;

static void happen(int fd, off_t at, size_t size)
{
	const char *name = meanwhile.file;
	char link[64], path[128], ours[128];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	snprintf(ours, sizeof(ours), "%s/%s", root, name);
	if (strcmp(path, ours) != 0 || at > 0x21 * 8 ||
	    at + (off_t)size <= 0x21 * 8)
		return;
	meanwhile.file = NULL;
	put(name, 0x21 * 8, &meanwhile.word, sizeof(meanwhile.word));
	if (meanwhile.next)
		put(name, 0x22 * 8, &meanwhile.word, sizeof(meanwhile.word));
}

ssize_t __real_pread64(int fd, void *buf, size_t size, off_t at);
ssize_t __wrap_pread64(int fd, void *buf, size_t size, off_t at);

ssize_t __wrap_pread64(int fd, void *buf, size_t size, off_t at)
{
	const ssize_t n = __real_pread64(fd, buf, size, at);

	if (meanwhile.file)
		happen(fd, at, size);
	return n;
}

#define ANON_PAGE (KPF(ANON) | KPF(LRU) | KPF(UPTODATE) | KPF(MMAP))
#define SHMEM_PAGE (KPF(LRU) | KPF(SWAPBACKED))
#define FLAGS "proc/kpageflags"
#define COUNT "proc/kpagecount"

/*
 * The entry names the same frame before and after. This happens if a page is
 * swapped out and its address gets the same frame again.
 */
static const struct {
	uint64_t flags, count;
	const char *file;
	uint64_t word;
	const char *fields;
	bool torn;
} frames[] = {
	{ 0, 1, FLAGS, ANON_PAGE, "pfn,flags,mapcount,notes", true },
	{ KPF(BUDDY), 1, FLAGS, ANON_PAGE, "pfn,flags,notes", true },
	{ KPF(SLAB), 1, FLAGS, ANON_PAGE, "pfn,kind,notes", true },
	{ 0, 1, FLAGS, ANON_PAGE, "pfn,kind,notes", true },
	{ ANON_PAGE, 0, COUNT, 1, "pfn,flags,mapcount,notes", true },
	{ ANON_PAGE, 0, COUNT, 1, "pfn,mapcount,notes", true },
	/*
	 * always so in a captured tree, whose files were not read at one time
	 */
	{ 0, 1, NULL, 0, "pfn,flags,mapcount,notes", true },
	/* mapped by drivers, which need not count it */
	{ 0, 0, NULL, 0, "pfn,flags,mapcount,kind,notes", false },
	{ KPF(MMAP), 1, NULL, 0, "pfn,mapcount,kind,notes", false },
	{ KPF(MMAP), 1, NULL, 0, "pfn,kind,notes", false },
	/* mapped once more, and reclaimed: it was this page all the time */
	{ ANON_PAGE, 1, COUNT, 2, "pfn,flags,mapcount,notes", false },
	{ ANON_PAGE, 1, FLAGS, ANON_PAGE & ~KPF(LRU), "pfn,flags,notes",
	  false },
};

START_TEST(a_frame_that_was_given_back)
{
	struct pagedet_item item = { 0x10000, 0, 7, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	uint64_t words[64] = { 0 };
	struct pagedet_page row;
	struct pagedet_iter *it;

	make_tree(PDET_PM_PRESENT | 0x21);
	words[0x21] = frames[_i].flags;
	put(FLAGS, 0, words, sizeof(words));
	words[0x21] = frames[_i].count;
	put(COUNT, 0, words, sizeof(words));
	start(root);
	item.count = page;
	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_fields_parse(pd, frames[_i].fields, &q), 0);
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	meanwhile.file = frames[_i].file;
	meanwhile.word = frames[_i].word;
	ck_assert_int_eq(pagedet_next(it, &row, 1), 1);
	remove_tree();
	ck_assert_ptr_null(meanwhile.file);
	ck_assert_uint_eq(row.pfn, 0x21);
	ck_assert_int_eq(!!(row.notes & PAGEDET_NOTE(PAGEDET_NOTE_TORN)),
			 frames[_i].torn);
	pagedet_iter_free(it);
}
END_TEST

/*
 * It was mapped and unmapped between two reads; for a pfn no entry shows that.
 */
START_TEST(free_and_counted)
{
	struct pagedet_item item = { 0x21, 1, 0, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	uint64_t words[64] = { 0 };
	struct pagedet_iter *it;
	struct pagedet_page row;

	make_tree(0);
	words[0x21] = KPF(BUDDY);
	put(FLAGS, 0, words, sizeof(words));
	words[0x21] = (uint64_t)_i;
	put(COUNT, 0, words, sizeof(words));
	start(root);
	q.target = PAGEDET_TARGET_PFN;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_fields_parse(pd, "pfn,kind,mapcount,notes",
					      &q), 0);
	ck_assert_int_eq(pagedet_query(pd, &q, &it), 0);
	ck_assert_int_eq(pagedet_next(it, &row, 1), 1);
	remove_tree();
	ck_assert_uint_eq(row.kind, PAGEDET_KIND_FREE);
	ck_assert_int_eq(!!(row.notes & PAGEDET_NOTE(PAGEDET_NOTE_TORN)), _i);
	pagedet_iter_free(it);
}
END_TEST

/* A counted mapping is not found; it may end meanwhile. */
START_TEST(a_mapping_that_ends)
{
	struct pagedet_item item = { 0x21, 1, 0, 0 };
	struct pagedet_mappers m = { .size = sizeof(m) };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	uint64_t words[64] = { 0 };
	struct pagedet_iter *it;
	struct pagedet_page row;

	make_tree(0);
	words[0x21] = ANON_PAGE;
	put(FLAGS, 0, words, sizeof(words));
	words[0x21] = 1;
	put(COUNT, 0, words, sizeof(words));
	start(root);
	q.target = PAGEDET_TARGET_MAPPERS;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_fields_parse(pd, "pfn,pid", &q), 0);
	meanwhile.file = _i ? COUNT : NULL;
	meanwhile.word = 0;
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	ck_assert_int_eq(pagedet_next(it, &row, 1), 0);
	ck_assert_ptr_null(meanwhile.file);
	ck_assert_int_eq(pagedet_mappers(it, 0, &m), 0);
	remove_tree();
	ck_assert_uint_eq(m.found_state, PAGEDET_HAVE);
	ck_assert_uint_eq(m.found, 0);
	ck_assert_uint_eq(m.expected, _i ? 0 : 1);
	pagedet_iter_free(it);
}
END_TEST

/* Taken between the readings of their two words: pages that are counted are of
 * one moment, too, though what looks alike is counted together. */
START_TEST(frames_that_were_taken)
{
	static const uint32_t by[] = {
		PAGEDET_FIELD_KIND, PAGEDET_FIELD_MAPCOUNT,
	};
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	uint64_t words[64] = { 0 }, count[64] = { 0 };
	unsigned n_free = 0, n_anon = 0, i;
	struct pagedet_iter *it;
	struct pagedet_page row;

	make_tree(0);
	for (i = 0; i < 64; i++)
		words[i] = KPF(BUDDY);
	count[0x21] = count[0x22] = 1;
	put(FLAGS, 0, words, sizeof(words));
	put(COUNT, 0, count, sizeof(count));
	start(root);
	q.target = PAGEDET_TARGET_SCAN;
	q.group_by = by;
	q.n_group_by = 2;
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	meanwhile.file = FLAGS;
	meanwhile.word = ANON_PAGE;
	meanwhile.next = true;
	while (pagedet_next(it, &row, 1) == 1)
		if (row.kind == PAGEDET_KIND_FREE) {
			ck_assert_uint_eq(row.mapcount, 0);
			n_free += (unsigned)row.pages;
		} else {
			ck_assert_uint_eq(row.kind, PAGEDET_KIND_ANON);
			ck_assert_uint_eq(row.mapcount, 1);
			n_anon += (unsigned)row.pages;
		}
	remove_tree();
	ck_assert_ptr_null(meanwhile.file);
	ck_assert_uint_eq(n_free, 62);
	ck_assert_uint_eq(n_anon, 2);
	pagedet_iter_free(it);
}
END_TEST

/* There are more swap areas than when the handle or query was opened. */
START_TEST(an_area_that_was_added)
{
	struct pagedet_item item = { 0x10000, 1, 7, 0 };
	struct pagedet_iter *it;
	struct pagedet_page row;

	make_tree(SWAP(20, 0x30));
	start(root);
	it = ask(7, 0x10000, 1);
	ck_assert_int_eq(pagedet_next(it, &row, 1), 1);
	ck_assert(!(row.pte & P(SWAPPED)));
	put_swaps(21);
	ck_assert_int_eq(pagedet_iter_retarget(it, &item, 1), 0);
	ck_assert_int_eq(pagedet_next(it, &row, 1), 1);
	pagedet_iter_free(it);
	remove_tree();
	ck_assert(row.pte & P(SWAPPED));
	ck_assert(!(row.pte & (P(MIGRATION) | P(HWPOISON))));
	ck_assert_uint_eq(state(&row, PAGEDET_FIELD_PFN), PAGEDET_NONE);
	ck_assert_uint_eq(row.swap_type, 20);
	ck_assert_uint_eq(row.swap_offset, 0x30);
	ck_assert_uint_eq(row.kind, PAGEDET_KIND_ANON);
}
END_TEST

/* --- write tracking --- */

static int track(uint64_t features, void *at, size_t size)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	struct uffdio_register reg = {
		.range = { (uintptr_t)at, size },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		unit_skip("there is no userfaultfd");
	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		unit_skip("it cannot track writes");
	return fd;
}

static void protect(int uffd, void *at, size_t size)
{
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)at, size },
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	ck_assert_int_eq(ioctl(uffd, UFFDIO_WRITEPROTECT, &wp), 0);
}

/* 8 pages that are tracked, or should be; 8 that are not. */
static volatile char *map_both(int fd)
{
	const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	volatile char *at = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE,
				 flags, fd, 0);

	ck_assert_ptr_ne((void *)at, MAP_FAILED);
	return at;
}

static void write_page(volatile char *at, unsigned i)
{
	at[i * page]++;
}

/* Bit i of @set, @known: whether page i was written. */
static void written(volatile char *at, unsigned *set, unsigned *known)
{
	struct pagedet_iter *it = ask((uint32_t)getpid(), (uintptr_t)at, 16);
	struct pagedet_page rows[16];
	unsigned i;
	int n = pagedet_next(it, rows, 16);

	ck_assert_msg(n == 16, "%d: %s", n, pagedet_error(pd));
	pagedet_iter_free(it);
	*set = *known = 0;
	for (i = 0; i < 16; i++) {
		*set |= (unsigned)!!(rows[i].pte & P(WRITTEN)) << i;
		*known |= (unsigned)!!(rows[i].pte_known & P(WRITTEN)) << i;
	}
}

static void ck_tracked(int fd, uint64_t features)
{
	volatile char *at = map_both(fd);
	unsigned set, known, i;
	int uffd;

	for (i = 0; i < 12; i++)
		if (i != 5 && i != 6)
			write_page(at, i);
	uffd = track(WP_ASYNC | WP_UNPOPULATED | features, (void *)at,
		     8 * page);
	protect(uffd, (void *)at, 8 * page);
	write_page(at, 1);
	write_page(at, 3);
	/* a page that was absent, and one that is only read */
	write_page(at, 6);
	(void)at[7 * page];
	/* outside of the range */
	write_page(at, 8);
	written(at, &set, &known);
	ck_assert_uint_eq(known, 0xff);
	ck_assert_uint_eq(set, 1 << 1 | 1 << 3 | 1 << 6);
	/* armed again */
	protect(uffd, (void *)at, 8 * page);
	written(at, &set, &known);
	ck_assert_uint_eq(known, 0xff);
	ck_assert_uint_eq(set, 0);
	close(uffd);
	/* no one tracks any more */
	written(at, &set, &known);
	ck_assert_uint_eq(known, 0);
	ck_assert_uint_eq(set, 0);
}

START_TEST(written_where_it_is_tracked)
{
	start(NULL);
	ck_tracked(-1, 0);
}
END_TEST

START_TEST(written_in_shared_memory)
{
	int fd = memfd_create("x", MFD_CLOEXEC);

	start(NULL);
	ck_assert_int_eq(ftruncate(fd, (off_t)(16 * page)), 0);
	ck_tracked(fd, WP_HUGETLBFS_SHMEM);
}
END_TEST

/* If another process handles the faults, it may let writes pass. */
START_TEST(not_written_where_faults_are_sent)
{
	volatile char *at;
	unsigned set, known;
	int uffd;

	start(NULL);
	at = map_both(-1);
	write_page(at, 0);
	write_page(at, 1);
	uffd = track(UFFD_FEATURE_PAGEFAULT_FLAG_WP, (void *)at, 8 * page);
	protect(uffd, (void *)at, page);
	written(at, &set, &known);
	ck_assert_uint_eq(known, 0);
	ck_assert_uint_eq(set, 0);
	close(uffd);
}
END_TEST

/* --- areas that pagemap steps over --- */

/* Areas of one page each, in the order of this list. */
static const struct {
	const char *maps;	/* the line, from the flags on */
	const char *flags;	/* VmFlags of smaps; NULL: it lacks the line */
	unsigned unshown;	/* 1: by smaps; 2: without smaps; 3: both */
} areas[] = {
	{ "rw-s 00000000 00:0e 12 anon_inode:[perf_event]", "rd wr pf io", 3 },
	{ "rw-s 00000000 00:0e 12 anon_inode:[io_uring]", "rd wr sh mm", 2 },
	{ "r--p 00000000 00:00 0 [vvar]", "rd mr pf io de dd", 3 },
	{ "rw-p 00000000 00:00 0 ", "rd wr mr mw me ac", 0 },
	{ "r--p 00000000 08:01 9 /usr/lib/x", "rd mr mw me", 0 },
	{ "rw-s 00000000 00:06 9 /dev/dri/card0", "rd wr io pf dd", 3 },
	{ "rw-s 00000000 00:1b 9 /dev/shm/x", "rd wr mr mw me ms", 0 },
	{ "rw-s 00000000 00:01 9 /memfd:x (deleted)", "rd wr mr mw", 0 },
	{ "rw-s 00000000 00:01 9 /dev/zero (deleted)", "rd wr mr mw", 0 },
	{ "rw-s 00000000 00:0f 9 /dev/hugepages/rtemap_1", "rd wr ht", 0 },
	{ "rw-s 00000000 08:01 9 /jail/dev/mem", "rd wr mr pf", 3 },
	{ "r--p 00000000 00:2b 9 /overlay/x", "rd mr mw me", 2 },
	{ "rw-s 00000000 00:0e 12 anon_inode:[other]", NULL, 2 },
};
#define AREAS (sizeof(areas) / sizeof(*areas))

static void put_areas(bool smaps)
{
	char maps[4096] = "", text[4096] = "";
	size_t i, n = 0, t = 0;

	for (i = 0; i < AREAS; i++) {
		n += (size_t)snprintf(maps + n, sizeof(maps) - n,
				      "%08zx-%08zx %s\n", 0x10000 + i * page,
				      0x10000 + (i + 1) * page,
				      areas[i].maps);
		t += (size_t)snprintf(text + t, sizeof(text) - t,
				      "%08zx-%08zx %s\nSize: 4 kB\n",
				      0x10000 + i * page,
				      0x10000 + (i + 1) * page,
				      areas[i].maps);
		if (areas[i].flags)
			t += (size_t)snprintf(text + t, sizeof(text) - t,
					      "VmFlags: %s \n",
					      areas[i].flags);
	}
	put_text("proc/7/maps", maps);
	if (smaps)
		put_text("proc/7/smaps", text);
}

static void ck_area(const struct pagedet_page *row, size_t i, unsigned how)
{
	const unsigned want = areas[i].unshown & how ? PAGEDET_UNSUPPORTED :
						       PAGEDET_HAVE;

	ck_assert_msg(state(row, PAGEDET_FIELD_PTE) == want, "%s",
		      areas[i].maps);
	ck_assert_uint_eq(state(row, PAGEDET_FIELD_KIND), want);
	ck_assert_uint_eq(state(row, PAGEDET_FIELD_PFN),
			  want == PAGEDET_HAVE ? PAGEDET_NONE : want);
	if (want == PAGEDET_HAVE)
		ck_assert_uint_eq(row->kind, PAGEDET_KIND_UNTOUCHED);
}

/* The flags of areas tell; without them, what the areas are of. */
START_TEST(areas_without_entries)
{
	struct pagedet_page rows[AREAS + 1];
	struct pagedet_iter *it;
	size_t i;

	make_tree(0);
	page = (size_t)sysconf(_SC_PAGESIZE);
	put_areas(!_i);
	start(root);
	it = ask(7, 0x10000, AREAS + 1);
	ck_assert_int_eq(pagedet_next(it, rows, AREAS + 1), AREAS + 1);
	pagedet_iter_free(it);
	remove_tree();
	for (i = 0; i < AREAS; i++)
		ck_area(&rows[i], i, _i ? 2 : 1);
	ck_assert_uint_eq(rows[AREAS].kind, PAGEDET_KIND_UNMAPPED);
}
END_TEST

/* An address outside of all areas has no frame, whatever is asked. */
START_TEST(no_area)
{
	static const char *const fields[] = { "pfn", "pte", "pfn,kind",
					      "pfn,vma_start" };
	struct pagedet_item item = { 0, 1, (uint32_t)getpid(), 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	struct pagedet_page row;
	void *at;

	start(NULL);
	at = mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		  0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	q.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS) |
		    PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_DERIVED);
	item.first = (uintptr_t)at + page;
	ck_assert_int_eq(munmap((char *)at + page, page), 0);
	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_fields_parse(pd, fields[_i], &q), 0);
	ck_assert_int_eq(pagedet_query(pd, &q, &it), 0);
	ck_assert_int_eq(pagedet_next(it, &row, 1), 1);
	pagedet_iter_free(it);
	if (_i != 1)
		ck_assert_uint_eq(state(&row, PAGEDET_FIELD_PFN),
				  PAGEDET_NONE);
	else
		ck_assert_uint_eq(state(&row, PAGEDET_FIELD_PTE),
				  PAGEDET_HAVE);
	if (_i == 2)
		ck_assert_uint_eq(row.kind, PAGEDET_KIND_UNMAPPED);
}
END_TEST

/* What pagemap does show there is true. */
START_TEST(an_entry_in_such_an_area)
{
	const uint64_t word = PDET_PM_PRESENT | 0x20;
	struct pagedet_page row;

	make_tree(word);
	page = (size_t)sysconf(_SC_PAGESIZE);
	put_areas(true);
	start(root);
	row = ask_tree();
	remove_tree();
	ck_assert_uint_eq(state(&row, PAGEDET_FIELD_PFN), PAGEDET_HAVE);
	ck_assert_uint_eq(row.pfn, 0x20);
}
END_TEST

/* Mappings of a page that a driver may have made are not counted as none. */
START_TEST(mappers_of_what_drivers_map)
{
	static const struct {
		uint64_t flags;
		bool driver;
		unsigned found;	/* state */
	} cases[] = {
		{ 0, false, PAGEDET_UNSUPPORTED },
		{ 0, true, PAGEDET_UNSUPPORTED },
		{ KPF(SLAB), false, PAGEDET_HAVE },
		{ KPF(SLAB), true, PAGEDET_UNSUPPORTED },
		{ KPF(BUDDY), false, PAGEDET_HAVE },
		{ KPF(BUDDY), true, PAGEDET_UNSUPPORTED },
		{ SHMEM_PAGE, false, PAGEDET_HAVE },
		{ SHMEM_PAGE, true, PAGEDET_UNSUPPORTED },
		{ ANON_PAGE, true, PAGEDET_HAVE },
	};
	struct pagedet_mappers m = { .size = sizeof(m) };
	struct pagedet_item item = { 0x21, 1, 0, 0 };
	struct pagedet_coverage c = { .size = sizeof(c) };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	uint64_t words[64] = { 0 };
	struct pagedet_iter *it;
	struct pagedet_page row;

	make_tree(0);
	page = (size_t)sysconf(_SC_PAGESIZE);
	if (cases[_i].driver)
		put_areas(true);
	else
		put_text("proc/7/maps",
			 "00010000-00020000 r--p 00000000 00:00 0 [vvar]\n");
	words[0x21] = cases[_i].flags;
	put(FLAGS, 0, words, sizeof(words));
	words[0x21] = 0;
	put(COUNT, 0, words, sizeof(words));
	start(root);
	q.target = PAGEDET_TARGET_MAPPERS;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_fields_parse(pd, "pfn,pid", &q), 0);
	ck_assert_int_eq(pagedet_query(pd, &q, &it), 0);
	ck_assert_int_eq(pagedet_next(it, &row, 1), 0);
	ck_assert_int_eq(pagedet_mappers(it, 0, &m), 0);
	ck_assert_int_eq(pagedet_coverage(it, &c), 0);
	remove_tree();
	ck_assert_uint_eq(m.found_state, cases[_i].found);
	ck_assert_uint_eq(c.complete, cases[_i].found == PAGEDET_HAVE);
	pagedet_iter_free(it);
}
END_TEST

/* Bytes that this process has read; 0: the kernel does not count them. */
static uint64_t bytes_read(void)
{
	unsigned long long n = 0;
	FILE *f = fopen("/proc/self/io", "r");

	if (f && fscanf(f, "rchar: %llu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/* Many areas that may be a driver's: the flags of a task are read once. */
START_TEST(many_areas)
{
	const size_t n = 300, room = n * 256;
	char *maps = calloc(1, room), *smaps = calloc(1, 2 * room);
	struct pagedet_mappers m = { .size = sizeof(m) };
	struct pagedet_item item = { 0x21, 1, 0, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	size_t at = 0, to = 0, i;
	struct pagedet_iter *it;
	struct pagedet_page row;
	uint64_t words[64] = { 0 }, before;
	char line[128];

	ck_assert(maps && smaps);
	make_tree(0);
	page = (size_t)sysconf(_SC_PAGESIZE);
	for (i = 0; i < n; i++) {
		snprintf(line, sizeof(line), "%08zx-%08zx rw-s 00000000 00:0e "
			 "12 anon_inode:[io_uring]\n", 0x10000 + i * page,
			 0x10000 + (i + 1) * page);
		at += (size_t)snprintf(maps + at, room - at, "%s", line);
		to += (size_t)snprintf(smaps + to, 2 * room - to,
				       "%sSize: 4 kB\nVmFlags: rd wr%s \n",
				       line, _i && i == n - 1 ? " pf" : "");
	}
	put_text("proc/7/maps", maps);
	put_text("proc/7/smaps", smaps);
	words[0x21] = KPF(SLAB);
	put(FLAGS, 0, words, sizeof(words));
	words[0x21] = 0;
	put(COUNT, 0, words, sizeof(words));
	start(root);
	q.target = PAGEDET_TARGET_MAPPERS;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_fields_parse(pd, "pfn,pid", &q), 0);
	before = bytes_read();
	ck_assert_int_eq(pagedet_query(pd, &q, &it), 0);
	ck_assert_int_eq(pagedet_next(it, &row, 1), 0);
	/* Everything else that is read is less than 100 KiB. */
	ck_assert_uint_lt(bytes_read() - before, 2 * to + 100000);
	ck_assert_int_eq(pagedet_mappers(it, 0, &m), 0);
	ck_assert_uint_eq(m.found_state, _i ? PAGEDET_UNSUPPORTED :
					      PAGEDET_HAVE);
	pagedet_iter_free(it);
	remove_tree();
	free(maps);
	free(smaps);
}
END_TEST

/* --- levels --- */

/* A hugetlb page has one entry, at the level of its size. */
START_TEST(level_of_huge_pages)
{
	const size_t huge = (size_t)2 << 20;
	struct pagedet_page rows[2];
	struct pagedet_iter *it;
	volatile char *at;

	start(NULL);
	at = mmap(NULL, huge, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | 21 << 26, -1, 0);
	if (at == MAP_FAILED || geteuid())
		unit_skip("there are no huge pages for us");
	at[0] = 1;
	it = ask((uint32_t)getpid(), (uintptr_t)at + page, 2);
	ck_assert_int_eq(pagedet_next(it, rows, 2), 2);
	pagedet_iter_free(it);
	ck_assert_uint_eq(rows[0].kind, PAGEDET_KIND_HUGETLB);
	ck_assert_uint_eq(state(&rows[0], PAGEDET_FIELD_PTE_LEVEL),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(rows[0].pte_level, PAGEDET_LEVEL_PMD);
	ck_assert_uint_eq(rows[1].pte_level, PAGEDET_LEVEL_PMD);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("procfs_entry");

	unit_loop(s, an_entry_with_a_page,
		  sizeof(entries) / sizeof(*entries));
	unit_loop(s, a_frame_that_was_given_back,
		  sizeof(frames) / sizeof(*frames));
	unit_loop(s, free_and_counted, 2);
	unit_loop(s, a_mapping_that_ends, 2);
	unit_test(s, frames_that_were_taken);
	unit_test(s, an_area_that_was_added);
	unit_loop(s, no_area, 4);
	unit_test(s, an_entry_in_such_an_area);
	unit_loop(s, mappers_of_what_drivers_map, 9);
	unit_loop(s, many_areas, 2);
	unit_loop(s, areas_without_entries, 2);
	unit_test(s, written_where_it_is_tracked);
	unit_test(s, written_in_shared_memory);
	unit_test(s, not_written_where_faults_are_sent);
	huge_test(s, "level_of_huge_pages", level_of_huge_pages);
	return unit_main(s);
}
