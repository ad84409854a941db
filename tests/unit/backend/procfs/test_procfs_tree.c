/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests walks of directories and mounts that the tests make. */
#include "../../cache.h"
#include "../../mounts.h"

#define MOST 64

/* The result of a walk, sorted by name. */
struct walked {
	char *path[MOST];
	size_t n;
	uint64_t files, gone, denied;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct pdet_tree *start_walk(struct pdet_session *s, const char *path,
				   uint32_t target)
{
	struct pdet_tree *t;
	int r = procfs_tree_open(s, path, target, &t);

	ck_assert_msg(r == 0, "%s", s->env.error);
	return t;
}

static void drain(struct pdet_session *s, struct pdet_tree *t,
		  struct walked *ret)
{
	struct pdet_file *f;
	struct pdet_file_count cached;
	int r;

	while ((r = procfs_tree_next(s, t, &f)) > 0) {
		ck_assert_uint_lt(ret->n, MOST);
		ck_assert_int_eq(procfs_file_count(s, f, 0, f->pages, &cached),
				 0);
		/* Without cachestat(2) that is not known in advance. */
		if (cache_has_call(CACHE_STAT_CALL))
			ck_assert_uint_gt(cached.pages, 0);
		if (cached.pages)
			ret->path[ret->n++] = strdup(f->path);
		procfs_file_close(f);
	}
	ck_assert_msg(r == 0, "%s", s->env.error);
	ret->files = t->files;
	ret->gone = t->gone;
	ret->denied = t->denied;
	procfs_tree_close(t);
	qsort(ret->path, ret->n, sizeof(*ret->path), by_name);
}

static void walk(struct pdet_session *s, const char *path, uint32_t target,
		 struct walked *ret)
{
	memset(ret, 0, sizeof(*ret));
	drain(s, start_walk(s, path, target), ret);
}

static void free_walked(struct walked *w)
{
	while (w->n)
		free(w->path[--w->n]);
}

/* @names are below cache_dir, in order; NULL ends the list. */
static void expect(const struct walked *w, const char *below,
		   const char *const *names)
{
	char path[512];
	size_t i;

	for (i = 0; names[i] && i < w->n; i++) {
		snprintf(path, sizeof(path), "%s/%s", below, names[i]);
		ck_assert_str_eq(w->path[i], path);
	}
	ck_assert_ptr_null(names[i]);
	ck_assert_uint_eq(w->n, i);
}

static void make(const char *name, uint64_t pages)
{
	char path[512];

	close(cache_file(cache_name(path, cache_dir, name), pages, 1));
}

static void make_directory(const char *name)
{
	char path[512];

	ck_assert_int_eq(mkdir(cache_name(path, cache_dir, name), 0755), 0);
}

START_TEST(every_file_comes_once)
{
	static const char *const names[] = {
		"a", "d/b", "d/e/with\nnewline", "d/e/\377\001", "z", NULL
	};
	struct pdet_session *s = cache_start();
	char path[512], other[512];
	struct walked w;

	cache_make_dir();
	make_directory("d");
	make_directory("d/e");
	make_directory("d/none");
	make("a", 3);
	make("d/b", 1);
	make("d/e/with\nnewline", 2);
	make("d/e/\377\001", 2);
	make("z", 20);
	/* None of these is cached. */
	make("empty", 0);
	close(cache_file(cache_name(path, cache_dir, "hole"), 100, 0));
	/* None of these is a file of the tree. */
	ck_assert_int_eq(symlink("/bin/sh", cache_name(path, cache_dir,
						       "link")), 0);
	ck_assert_int_eq(symlink("..", cache_name(path, cache_dir, "d/loop")),
			 0);
	ck_assert_int_eq(mkfifo(cache_name(path, cache_dir, "p"), 0600), 0);
	walk(s, cache_dir, PAGEDET_TARGET_TREE, &w);
	expect(&w, cache_dir, names);
	ck_assert_uint_eq(w.files, 7);
	ck_assert_uint_eq(w.gone, 0);
	ck_assert_uint_eq(w.denied, 0);
	free_walked(&w);
	/* A second name is not a second file. */
	ck_assert_int_eq(link(cache_name(path, cache_dir, "z"),
			      cache_name(other, cache_dir, "d/z")), 0);
	ck_assert_int_eq(link(path, cache_name(other, cache_dir, "zz")), 0);
	walk(s, cache_dir, PAGEDET_TARGET_TREE, &w);
	ck_assert_uint_eq(w.n, 5);
	ck_assert_uint_eq(w.files, 9);
	free_walked(&w);
	cache_remove(cache_dir);
}
END_TEST

START_TEST(paths_are_as_given)
{
	static const char *const names[] = { "d/f", NULL };
	struct pdet_session *s = cache_start();
	struct walked w;
	char path[512];

	cache_make_dir();
	make_directory("d");
	make("d/f", 1);
	snprintf(path, sizeof(path), "%s//", cache_dir);
	walk(s, path, PAGEDET_TARGET_TREE, &w);
	expect(&w, cache_dir, names);
	free_walked(&w);
	ck_assert_int_eq(chdir(cache_dir), 0);
	walk(s, ".", PAGEDET_TARGET_TREE, &w);
	expect(&w, cache_dir, names);
	free_walked(&w);
	ck_assert_int_eq(chdir("/"), 0);
	s->env.root = cache_dir;
	walk(s, "/", PAGEDET_TARGET_TREE, &w);
	expect(&w, "", names);
	free_walked(&w);
	walk(s, "d", PAGEDET_TARGET_TREE, &w);
	expect(&w, "", names);
	free_walked(&w);
	cache_remove(cache_dir);
}
END_TEST

START_TEST(files_may_go_meanwhile)
{
	enum { FILES = 40 };
	struct pdet_session *s = cache_start();
	struct walked w = { 0 };
	struct pdet_tree *t;
	struct pdet_file *f;
	char name[16], path[512];
	int i;

	cache_make_dir();
	for (i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%d", i);
		make(name, 1);
	}
	t = start_walk(s, cache_dir, PAGEDET_TARGET_TREE);
	ck_assert_int_eq(procfs_tree_next(s, t, &f), 1);
	procfs_file_close(f);
	/* All names were read by now. */
	for (i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%d", i);
		ck_assert_int_eq(unlink(cache_name(path, cache_dir, name)), 0);
	}
	drain(s, t, &w);
	ck_assert_uint_eq(w.n, 0);
	ck_assert_uint_eq(w.files, 1);
	ck_assert_uint_eq(w.gone, FILES - 1);
	ck_assert_uint_eq(w.denied, 0);
	cache_remove(cache_dir);
}
END_TEST

/*
 * The descriptor of a moved directory leads to it, and not to the one that took
 * its name.
 */
START_TEST(renamed_directories_lead_nowhere_else)
{
	struct pdet_session *s = cache_start();
	char path[512], other[512], name[16];
	struct walked w = { 0 };
	struct pdet_tree *t;
	struct pdet_file *f;
	size_t i;

	cache_make_dir();
	make_directory("tree");
	make_directory("tree/d");
	make_directory("secret");
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "tree/d/%zu", i);
		make(name, 1);
		snprintf(name, sizeof(name), "secret/%zu", i);
		make(name, 1);
	}
	t = start_walk(s, cache_name(path, cache_dir, "tree"),
		      PAGEDET_TARGET_TREE);
	ck_assert_int_eq(procfs_tree_next(s, t, &f), 1);
	procfs_file_close(f);
	ck_assert_int_eq(rename(cache_name(path, cache_dir, "tree/d"),
				cache_name(other, cache_dir, "away")), 0);
	ck_assert_int_eq(symlink(cache_name(other, cache_dir, "secret"),
				 cache_name(path, cache_dir, "tree/d")), 0);
	drain(s, t, &w);
	ck_assert_uint_eq(w.n, 9);
	ck_assert_uint_eq(w.denied, 0);
	free_walked(&w);
	/* It is a link from the start, and not followed. */
	walk(s, cache_name(path, cache_dir, "tree"), PAGEDET_TARGET_TREE, &w);
	ck_assert_uint_eq(w.n, 0);
	cache_remove(cache_dir);
}
END_TEST

/* Deeper than the limit of descriptors. */
START_TEST(depth_is_bounded)
{
	enum { DEEP = 300 };
	struct pdet_session *s = cache_start();
	struct walked w;
	int dir, down, i, fd;

	cache_make_dir();
	dir = open(cache_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (i = 0; i < DEEP; i++) {
		ck_assert_int_ge(dir, 0);
		fd = openat(dir, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		ck_assert_int_eq(i % 50 ? 1 : (int)write(fd, "x", 1), 1);
		close(fd);
		ck_assert_int_eq(mkdirat(dir, "d", 0755), 0);
		down = openat(dir, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(dir);
		dir = down;
	}
	close(dir);
	walk(s, cache_dir, PAGEDET_TARGET_TREE, &w);
	ck_assert_uint_eq(w.n, 6);	/* 0, 50, ... 250 */
	ck_assert_uint_eq(w.files, 256);
	ck_assert_uint_eq(w.denied, 1);
	free_walked(&w);
	cache_remove(cache_dir);
}
END_TEST

START_TEST(other_things_are_refused)
{
	struct pdet_session *s = cache_start();
	struct pdet_tree *t;
	char path[512];
	int r;

	cache_make_dir();
	make("f", 1);
	r = procfs_tree_open(s, cache_name(path, cache_dir, "f"),
			     PAGEDET_TARGET_TREE, &t);
	ck_assert_int_eq(r, -EINVAL);
	ck_assert_ptr_nonnull(strstr(cache_words(), "is not a directory"));
	r = procfs_tree_open(s, cache_name(path, cache_dir, "none"),
			     PAGEDET_TARGET_TREE, &t);
	ck_assert_int_eq(r, -ENOENT);
	procfs_tree_close(NULL);
	cache_remove(cache_dir);
}
END_TEST

/* --- privilege --- */

static void walk_of_a_stranger(void)
{
	struct pdet_session *s = cache_start();
	struct walked w;

	walk(s, cache_dir, PAGEDET_TARGET_TREE, &w);
	/*
	 * d may not be read. a may, but its cached pages may not be seen. b may
	 * not be opened. c may be written.
	 */
	ck_assert_uint_eq(w.n, 1);
	ck_assert_ptr_nonnull(strstr(w.path[0], "/c"));
	ck_assert_uint_eq(w.files, 3);
	ck_assert_uint_eq(w.denied, 3);
	ck_assert_uint_eq(w.gone, 0);
	free_walked(&w);
}

START_TEST(what_is_denied_is_counted)
{
	char path[512];

	cache_need_root();
	cache_start();
	cache_make_dir();
	make_directory("d");
	make("d/f", 1);
	make("a", 1);
	make("b", 1);
	make("c", 1);
	chmod(cache_name(path, cache_dir, "d"), 0);
	chmod(cache_name(path, cache_dir, "b"), 0);
	chmod(cache_name(path, cache_dir, "c"), 0666);
	cache_as_nobody(walk_of_a_stranger);
	cache_remove(cache_dir);
}
END_TEST

/* --- mounts --- */

static void own_mounts(void)
{
	const char *why = mounts_of_our_own();

	if (why)
		unit_skip("%s", why);
}

START_TEST(mounts_are_not_crossed)
{
	static const char *const names[] = { "a", "m/hidden", NULL };
	static const char *const outer[] = { "a", NULL };
	static const char *const inner[] = { "in/f", "own", NULL };
	struct pdet_session *s = cache_start();
	char path[512], other[512];
	struct pdet_tree *t;
	struct walked w;

	own_mounts();
	cache_make_dir();
	make_directory("m");
	make_directory("bind");
	make("a", 1);
	make("m/hidden", 1);
	make("file", 0);
	walk(s, cache_dir, PAGEDET_TARGET_TREE, &w);
	expect(&w, cache_dir, names);
	free_walked(&w);
	cache_name(path, cache_dir, "m");
	ck_assert_int_eq(mount("t", path, "tmpfs", 0, NULL), 0);
	make_directory("m/in");
	make("m/in/f", 1);
	make("m/own", 1);
	/* A directory and a file of the same filesystem, mounted again. */
	ck_assert_int_eq(mount(cache_dir, cache_name(other, cache_dir, "bind"),
			       "none", MS_BIND, NULL), 0);
	ck_assert_int_eq(mount(cache_name(path, cache_dir, "a"),
			       cache_name(other, cache_dir, "file"), "none",
			       MS_BIND, NULL), 0);
	walk(s, cache_dir, PAGEDET_TARGET_TREE, &w);
	expect(&w, cache_dir, outer);
	ck_assert_uint_eq(w.files, 1);
	free_walked(&w);
	/* Any file on it leads to the whole filesystem. */
	walk(s, cache_name(other, cache_dir, "m/in/f"), PAGEDET_TARGET_MOUNT,
	     &w);
	expect(&w, cache_name(path, cache_dir, "m"), inner);
	free_walked(&w);
	s->env.root = cache_dir;
	walk(s, "/m/in", PAGEDET_TARGET_MOUNT, &w);
	expect(&w, "/m", inner);
	free_walked(&w);
	s->env.root = cache_no_root;
	/* A mount of one file is not a directory. */
	ck_assert_int_eq(procfs_tree_open(s, cache_name(other, cache_dir,
							"file"),
					  PAGEDET_TARGET_MOUNT, &t), -EINVAL);
	umount2(cache_name(path, cache_dir, "file"), MNT_DETACH);
	umount2(cache_name(path, cache_dir, "bind"), MNT_DETACH);
	umount2(cache_name(path, cache_dir, "m"), MNT_DETACH);
	cache_remove(cache_dir);
}
END_TEST

START_TEST(a_covered_mount_is_said)
{
	struct pdet_session *s = cache_start();
	struct pdet_tree *t;
	char path[512], fd_path[64];
	int fd;

	own_mounts();
	cache_make_dir();
	make_directory("m");
	cache_name(path, cache_dir, "m");
	ck_assert_int_eq(mount("below", path, "tmpfs", 0, NULL), 0);
	make("m/f", 1);
	fd = open(path, O_PATH | O_CLOEXEC);
	ck_assert_int_eq(mount("above", path, "tmpfs", 0, NULL), 0);
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fd);
	ck_assert_int_eq(procfs_tree_open(s, fd_path, PAGEDET_TARGET_MOUNT,
					  &t), -ENOENT);
	ck_assert_ptr_nonnull(strstr(cache_words(), "mounted over"));
	close(fd);
	umount2(path, MNT_DETACH);
	umount2(path, MNT_DETACH);
	cache_remove(cache_dir);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("procfs_tree");

	unit_test(s, every_file_comes_once);
	unit_test(s, paths_are_as_given);
	unit_test(s, files_may_go_meanwhile);
	unit_test(s, renamed_directories_lead_nowhere_else);
	unit_test(s, depth_is_bounded);
	unit_test(s, other_things_are_refused);
	unit_test(s, what_is_denied_is_counted);
	unit_test(s, mounts_are_not_crossed);
	unit_test(s, a_covered_mount_is_said);
	return unit_main(s);
}
