/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests pagedet_look() on every kind of memory of this process, as another
 * process would use it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pagedet.h>

#include "../unit.h"

#define PAGES 6

static struct pagedet *pd;
static size_t page;

static void open_live(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
	ck_assert_msg(!pagedet_open(pd, NULL), "%s", pagedet_error(pd));
}

static char *map(int flags, int fd)
{
	char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, flags, fd,
			0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	ck_assert_int_eq(madvise(at, PAGES * page, MADV_NOHUGEPAGE), 0);
	return at;
}

static void look(const char *at, struct pagedet_look_options *o,
		 struct pagedet_seen *seen)
{
	const struct pagedet_item item = { (uintptr_t)at, PAGES * page,
					   (uint32_t)getpid(), 0 };

	ck_assert_msg(!pagedet_look(pd, &item, 1, o, seen, PAGES), "%s",
		      pagedet_error(pd));
}

/*
 * Contents of a page that has an entry are read with its number, which only
 * root gets. Others bring the page in.
 */
static void need_numbers(void)
{
	if (geteuid())
		unit_skip("needs root to see the numbers of pages");
}

#define is(n, what) ck_assert_uint_eq(seen[n].state, PAGEDET_SEEN_##what)

START_TEST(private_memory)
{
	struct pagedet_look_options o = PAGEDET_LOOK_OPTIONS_INIT;
	struct pagedet_content c = { .size = sizeof(c) };
	struct pagedet_seen seen[PAGES];
	unsigned char here = 1;
	char *at, *bytes;

	open_live();
	at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	at[0] = 'a';
	at[page] = 0;
	at[2 * page + 5] = 'b';
	bytes = malloc(PAGES * page);
	memset(bytes, 'x', PAGES * page);
	o.bytes = bytes;
	o.bytes_size = PAGES * page;
	look(at, &o, seen);
	is(0, DATA);
	is(1, ZERO);
	is(2, DATA);
	is(3, ABSENT);
	ck_assert_int_eq(memcmp(bytes, at, 3 * page), 0);
	ck_assert_int_eq(bytes[3 * page] | bytes[PAGES * page - 1], 0);
	ck_assert_int_eq(pagedet_content(pd, at + 2 * page, page,
					 PAGEDET_CONTENT_HASH, &c), 0);
	ck_assert_uint_eq(seen[2].hash, c.hash);
	ck_assert_uint_ne(seen[2].time_ns, 0);
	ck_assert_uint_ne(seen[2].bits & seen[3].bits & PAGEDET_SEEN_BYTES, 0);
	/* No page was brought in. */
	ck_assert_int_eq(mincore(at + 3 * page, page, &here), 0);
	ck_assert_uint_eq(here & 1, 0);
	munmap(at, PAGES * page);
	free(bytes);
	pagedet_free(pd);
}
END_TEST

/* A page without an entry may be in the file; holes are not filled. */
START_TEST(shared_memory)
{
	struct pagedet_look_options o = PAGEDET_LOOK_OPTIONS_INIT;
	const int fd = memfd_create("look", MFD_CLOEXEC);
	struct pagedet_seen seen[PAGES];
	char *at;

	open_live();
	ck_assert_int_eq(ftruncate(fd, (off_t)(PAGES * page)), 0);
	at = map(MAP_SHARED, fd);
	at[0] = 'a';
	ck_assert_int_eq(pwrite(fd, "b", 1, (off_t)(2 * page)), 1);
	look(at, &o, seen);
	is(0, DATA);
	is(1, ABSENT);
	is(2, DATA);
	ck_assert_uint_eq(seen[2].bits & PAGEDET_SEEN_FILE, PAGEDET_SEEN_FILE);
	ck_assert_int_eq(lseek(fd, (off_t)page, SEEK_DATA), (off_t)(2 * page));
	need_numbers();
	o.options = 0;
	look(at, &o, seen);
	is(0, DATA);
	is(2, LOST);
	ck_assert_uint_eq(seen[2].why, PAGEDET_EXCLUDED);
	munmap(at, PAGES * page);
	close(fd);
	pagedet_free(pd);
}
END_TEST

/* An untouched page of a private file mapping is not zero. */
START_TEST(private_memory_of_a_file)
{
	struct pagedet_look_options o = PAGEDET_LOOK_OPTIONS_INIT;
	const int fd = memfd_create("look", MFD_CLOEXEC);
	struct pagedet_seen seen[PAGES];
	char *at;

	open_live();
	ck_assert_int_eq(ftruncate(fd, (off_t)(PAGES * page)), 0);
	ck_assert_int_eq(pwrite(fd, "b", 1, (off_t)(2 * page)), 1);
	at = map(MAP_PRIVATE, fd);
	o.options = 0;
	look(at, &o, seen);
	is(2, LOST);
	ck_assert_uint_eq(seen[2].why, PAGEDET_EXCLUDED);
	look(at, NULL, seen);
	is(1, ZERO);
	is(2, DATA);
	munmap(at, PAGES * page);
	close(fd);
	pagedet_free(pd);
}
END_TEST

START_TEST(nothing_is_mapped)
{
	struct pagedet_seen seen[PAGES];
	char *at;

	open_live();
	at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	munmap(at + page, page);
	look(at, NULL, seen);
	is(0, ABSENT);
	is(1, LOST);
	ck_assert_uint_eq(seen[1].kind, PAGEDET_KIND_UNMAPPED);
	munmap(at, PAGES * page);
	pagedet_free(pd);
}
END_TEST

/* Saves the pages of this process at @at with their hashes. */
static void save(const char *at, const char *path)
{
	const struct pagedet_item item = { (uintptr_t)at, PAGES * page,
					   (uint32_t)getpid(), 0 };
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_emitter *e;
	struct pagedet_iter *it;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_fields_parse(pd, "pid,vaddr,pfn,kind,pte,hash,"
					      "vma_name,vma_prot", &q), 0);
	o.format = PAGEDET_FORMAT_SNAPSHOT;
	o.fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ck_assert_int_ge(o.fd, 0);
	ck_assert_int_eq(pagedet_query(pd, &q, &it), 0);
	ck_assert_int_eq(pagedet_emitter_new(pd, &o, &e), 0);
	ck_assert_int_eq(pagedet_emit_all(e, it), 0);
	ck_assert_int_eq(pagedet_emitter_finish(e), 0);
	pagedet_emitter_free(e);
	pagedet_iter_free(it);
	close(o.fd);
}

static struct pagedet *open_with(const char *snapshot, const char *key)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet *ret = pagedet_new();

	o.files = snapshot ? &snapshot : NULL;
	o.n_files = snapshot ? 1 : 0;
	o.hash_key = key;
	ck_assert_msg(!pagedet_open(ret, &o), "%s", pagedet_error(ret));
	return ret;
}

/* What hashes of a snapshot mean is known with their key and without it. */
START_TEST(saved_memory)
{
	struct pagedet_content c = { .size = sizeof(c) };
	char dir[] = "/tmp/pagedet.XXXXXX", path[2][64];
	struct pagedet_seen seen[PAGES];
	uint64_t hash, id, saved_id;
	unsigned with_key;
	char *at;

	need_numbers();
	open_live();
	pagedet_free(pd);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path[0], sizeof(path[0]), "%s/key", dir);
	snprintf(path[1], sizeof(path[1]), "%s/saved", dir);
	pd = open_with(NULL, path[0]);
	at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	at[0] = 'a';
	at[page] = 0;
	save(at, path[1]);
	ck_assert_int_eq(pagedet_content(pd, at, page, PAGEDET_CONTENT_HASH,
					 &c), 0);
	hash = c.hash;
	ck_assert_int_eq(pagedet_hash_key_id(pd, &id), 0);
	for (with_key = 0; with_key < 2; with_key++) {
		pagedet_free(pd);
		pd = open_with(path[1], with_key ? path[0] : NULL);
		ck_assert_int_eq(pagedet_hash_key_id(pd, &saved_id), 0);
		ck_assert_uint_eq(saved_id, id);
		look(at, NULL, seen);
		is(0, DATA);
		is(1, ZERO);
		is(2, ABSENT);
		ck_assert_uint_eq(seen[0].hash, hash);
		/* A hash under another key would be compared as if alike. */
		c.hash = 0;
		ck_assert_int_eq(pagedet_content(pd, at, page,
						 PAGEDET_CONTENT_HASH, &c),
				 with_key ? 0 : -ENODATA);
		ck_assert_uint_eq(c.hash, with_key ? hash : 0);
		if (!with_key)
			ck_assert_ptr_nonnull(strstr(pagedet_advice(pd),
						     "hash_key"));
		ck_assert_int_eq(pagedet_content(pd, at, page,
						 PAGEDET_CONTENT_CLASS, &c),
				 0);
		ck_assert_str_eq(c.name, "data");
	}
	unlink(path[0]);
	unlink(path[1]);
	rmdir(dir);
	munmap(at, PAGES * page);
	pagedet_free(pd);
}
END_TEST

START_TEST(arguments_are_checked)
{
	struct pagedet_item item = { 0x1001, 4096, 0, 0 };
	struct pagedet_look_options o = PAGEDET_LOOK_OPTIONS_INIT;
	struct pagedet_seen seen[PAGES];

	pd = pagedet_new();
	ck_assert_int_eq(pagedet_look(pd, &item, 1, NULL, seen, 1), -EINVAL);
	pagedet_free(pd);
	open_live();
	ck_assert_int_eq(pagedet_look(pd, &item, 1, NULL, seen, 1), -EINVAL);
	item.first = 0x1000;
	item.count = 0;
	ck_assert_int_eq(pagedet_look(pd, &item, 1, NULL, seen, 1), -EINVAL);
	item.count = 2 * page;
	ck_assert_int_eq(pagedet_look(pd, &item, 1, NULL, seen, 1), -EINVAL);
	o.options = 64;
	ck_assert_int_eq(pagedet_look(pd, &item, 1, &o, seen, 2), -E2BIG);
	o.options = 0;
	o.bytes = seen;
	o.bytes_size = 1;
	ck_assert_int_eq(pagedet_look(pd, &item, 1, &o, seen, 2), -EINVAL);
	item.pid = 0x7fffffff;
	ck_assert_int_eq(pagedet_look(pd, &item, 1, NULL, seen, 2), -ESRCH);
	pagedet_free(pd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("look");

	unit_test(s, private_memory);
	unit_test(s, shared_memory);
	unit_test(s, private_memory_of_a_file);
	unit_test(s, nothing_is_mapped);
	unit_test(s, saved_memory);
	unit_test(s, arguments_are_checked);
	return unit_main(s);
}
