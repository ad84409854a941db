/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Damages one object of a dump at a time, and tests that an answer tells what
 * it lost. Prints TAP.
 *
 *   losses DUMP PATH	a dump, and a file in it with pages
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harm.h"

#define NOWHERE 0x1234

struct losing {
	struct objects objects;
	struct harm harm;
	struct pagedet *pd;	/* the damaged dump */
	struct pagedet_coverage coverage;
	const char *dump, *path;
	char folder[512];	/* the filesystem of @path is mounted there */
	uint64_t inode;
	unsigned n, failed;
};

static void result(struct losing *l, bool ok, const char *name)
{
	l->n++;
	l->failed += !ok;
	printf("%sok %u - %s\n", ok ? "" : "not ", l->n, name);
	if (!ok)
		printf("# %s\n", pagedet_error(l->pd));
}

static void die(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(1);
}

/* --- damage --- */

static uint64_t field(const struct losing *l, const char *name, uint64_t addr)
{
	uint64_t at, bytes;

	if (!objects_field(&l->objects, name, addr, &at, &bytes))
		die(name);
	return at;
}

static uint64_t get(const struct losing *l, const char *name, uint64_t addr)
{
	return objects_read(&l->objects, field(l, name, addr));
}

/* From the next open_dump() on. */
static void set(struct losing *l, uint64_t va, uint64_t value)
{
	if (!harm_put(&l->harm, &l->objects, va, value, 8))
		die("an address that the dump does not have");
}

static void open_dump(struct losing *l)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;

	o.files = &l->dump;
	o.n_files = 1;
	l->pd = pagedet_new();
	if (!l->pd || pagedet_open(l->pd, &o) < 0)
		die("the dump");
	harm_do(&l->harm, image_of(l->pd->backends[0]));
}

static void close_dump(struct losing *l)
{
	image_of(l->pd->backends[0])->memory->ops = l->harm.real;
	pagedet_free(l->pd);
	memset(&l->harm, 0, sizeof(l->harm));
}

/* --- queries --- */

/* Returns the number of rows, or a negative errno; sets the coverage. */
static int64_t count(struct losing *l, const struct pagedet_query *q)
{
	struct pagedet_iter *it;
	struct pagedet_page page;
	int64_t n = 0;
	int r = pagedet_query(l->pd, q, &it);

	if (r < 0)
		return r;
	while ((r = pagedet_next(it, &page, 1)) > 0)
		n += r;
	l->coverage = (struct pagedet_coverage){ .size = sizeof(l->coverage) };
	if (r < 0 || pagedet_coverage(it, &l->coverage) < 0)
		die("the coverage");
	pagedet_iter_free(it);
	return n;
}

static int64_t ask_path(struct losing *l, uint32_t target, const char *path)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;

	q.target = target;
	q.path = path;
	if (pagedet_fields_parse(l->pd, "path,pfn", &q) < 0)
		die("the fields");
	return count(l, &q);
}

static int64_t ask_task(struct losing *l, uint32_t target, uint64_t first,
			uint64_t n, const char *where)
{
	struct pagedet_item item = { .first = first, .count = n };
	struct pagedet_query q = PAGEDET_QUERY_INIT;

	item.pid = (uint32_t)l->objects.of[OBJECT_MM].data->id;
	q.target = target;
	q.items = &item;
	q.n_items = 1;
	q.where = where;
	if (pagedet_fields_parse(l->pd, "vaddr,pfn,vma_start", &q) < 0)
		die("the fields");
	return count(l, &q);
}

/* How many threads; the coverage tells whether there may be more. */
static int ask_threads(struct losing *l, uint32_t pid)
{
	struct pagedet_item item = { .count = 1 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	struct pagedet_page page;
	uint32_t tid = 0;
	int r;

	item.pid = (uint32_t)l->objects.of[OBJECT_MM].data->id;
	q.target = PAGEDET_TARGET_TASK;
	q.options = PAGEDET_Q_TASK_STACKS;
	q.items = &item;
	q.n_items = 1;
	if (pagedet_query(l->pd, &q, &it) < 0)
		return -1;
	while (pagedet_next(it, &page, 1) > 0)
		;
	r = pagedet_threads(it, pid, &tid, 1);
	if (r > 0 && tid != pid)
		r = -EINVAL;
	l->coverage = (struct pagedet_coverage){ .size = sizeof(l->coverage) };
	if (pagedet_coverage(it, &l->coverage) < 0)
		die("the coverage");
	pagedet_iter_free(it);
	return r;
}

/* --- what is lost --- */

static bool is_complete(const struct losing *l)
{
	return l->coverage.complete && !l->coverage.files_denied &&
	       !l->coverage.tasks_denied;
}

/* The filesystem's root, with or without damage of a single object. */
static void test_files(struct losing *l)
{
	const uint64_t alias = field(l, "dentry.d_u.d_alias", 0);
	const uint64_t dentry =
		get(l, "inode.i_dentry.first", l->inode) - alias;
	const uint64_t sb = get(l, "inode.i_sb", l->inode);
	const uint64_t mapping = get(l, "inode.i_mapping", l->inode);
	const uint64_t mounts = field(l, "super_block.s_mounts", sb);
	const uint64_t mount = objects_read(&l->objects, mounts) -
			       field(l, "mount.mnt_instance", 0);
	int64_t all, one;

	open_dump(l);
	one = ask_path(l, PAGEDET_TARGET_FILE, l->path);
	all = ask_path(l, PAGEDET_TARGET_TREE, l->folder);
	result(l, all > one && one > 0, "files, undamaged");
	result(l, is_complete(l), "files, undamaged: nothing is lost");
	result(l, ask_path(l, PAGEDET_TARGET_FILE, "/no/such") == -ENOENT,
	       "files, undamaged: one that is not there");
	close_dump(l);

	set(l, field(l, "dentry.d_parent", dentry), NOWHERE);
	open_dump(l);
	result(l, ask_path(l, PAGEDET_TARGET_FILE, l->path) == -EBADMSG,
	       "a dentry: the file is perhaps there");
	result(l, ask_path(l, PAGEDET_TARGET_FILE, "/no/such") == -EBADMSG,
	       "a dentry: it may be any file");
	result(l, ask_path(l, PAGEDET_TARGET_TREE, l->folder) == all - one &&
	       !is_complete(l), "a dentry: a file of the tree is lost");
	close_dump(l);

	set(l, field(l, "mount.mnt.mnt_root", mount), NOWHERE);
	open_dump(l);
	result(l, ask_path(l, PAGEDET_TARGET_FILE, l->path) == -EBADMSG,
	       "a mount: the file is perhaps there");
	/* What the mount hides is seen. */
	result(l, ask_path(l, PAGEDET_TARGET_TREE, l->folder) == 0 &&
	       !is_complete(l), "a mount: files of the tree are lost");
	close_dump(l);

	set(l, mounts, NOWHERE);
	set(l, mounts + 8, NOWHERE);
	open_dump(l);
	result(l, ask_path(l, PAGEDET_TARGET_FILE, l->path) == -EBADMSG,
	       "a list of mounts: the file is perhaps there");
	close_dump(l);

	set(l, field(l, "address_space.nrpages", mapping), 0);
	open_dump(l);
	result(l, ask_path(l, PAGEDET_TARGET_TREE, l->folder) == all,
	       "a count of pages: they are there");
	close_dump(l);

	set(l, field(l, "address_space.nrpages", mapping), (uint64_t)one + 1);
	open_dump(l);
	ask_path(l, PAGEDET_TARGET_TREE, l->folder);
	result(l, !is_complete(l), "a count of pages: one is lost");
	close_dump(l);
}

/* The kernel's count of VMAs shows that the tree lacks one. */
static void test_vmas(struct losing *l)
{
	const uint64_t mm = l->objects.of[OBJECT_MM].data->addr;
	const uint64_t at = field(l, "mm_struct.map_count", mm);
	int64_t all;

	open_dump(l);
	all = ask_task(l, PAGEDET_TARGET_TASK, 0, UINT64_MAX, NULL);
	result(l, all > 0 && is_complete(l), "VMAs, undamaged");
	result(l, ask_task(l, PAGEDET_TARGET_VIRT, 0x10000, 1,
			   "vma_start = none") == 1,
	       "VMAs, undamaged: none is at a low address");
	close_dump(l);

	set(l, at, objects_read(&l->objects, at) + 1);
	open_dump(l);
	result(l, ask_task(l, PAGEDET_TARGET_TASK, 0, UINT64_MAX, NULL) ==
	       all && !is_complete(l), "VMAs: one is lost");
	result(l, ask_task(l, PAGEDET_TARGET_VIRT, 0x10000, 1,
			   "vma_start = none") <= 0,
	       "VMAs: one may be anywhere");
	close_dump(l);
}

static void test_threads(struct losing *l)
{
	const struct object *task = l->objects.of[OBJECT_TASK].data;
	const uint32_t pid = (uint32_t)l->objects.of[OBJECT_MM].data->id;
	uint64_t threads;

	while (task->id != pid)
		task++;
	threads = field(l, "signal_struct.thread_head",
			get(l, "task_struct.signal", task->addr));
	open_dump(l);
	result(l, ask_threads(l, pid) == 1, "threads, undamaged");
	result(l, is_complete(l), "threads, undamaged: that is all");
	result(l, ask_threads(l, 4000000) == -ESRCH,
	       "threads, undamaged: there is no such process");
	close_dump(l);

	set(l, threads, NOWHERE);
	set(l, threads + 8, NOWHERE);
	open_dump(l);
	result(l, ask_threads(l, pid) == 1, "a list of threads: the first one");
	result(l, !is_complete(l), "a list of threads: there may be more");
	result(l, ask_threads(l, 4000000) == -EBADMSG,
	       "a list of threads: it may be any process");
	close_dump(l);
}

/* --- which file --- */

static void find_file(struct losing *l)
{
	struct pdet_directories dirs = { { NULL } };
	struct image *im = l->objects.im;
	char buf[PDET_PATH], *slash;
	bool mounted;
	size_t i;

	for (i = 0; i < l->objects.of[OBJECT_INODE].n && !l->inode; i++) {
		const uint64_t inode = l->objects.of[OBJECT_INODE].data[i].addr;
		struct pdet_inode is;

		if (pdet_inode_read(&im->space, &im->file_types, inode, &is) ||
		    pdet_path_of_inode(&im->space, &im->path_types, &dirs, &is,
				       im->mnt_ns, buf, &mounted) <= 0)
			continue;
		if ( mounted && !strcmp(buf, l->path))
			l->inode = inode;
	}
	pdet_directories_free(&dirs);
	if (!l->inode)
		die(l->path);
	snprintf(l->folder, sizeof(l->folder), "%s", l->path);
	slash = strrchr(l->folder, '/');
	*slash = '\0';
}

int main(int argc, char **argv)
{
	static struct losing l;

	if (argc != 3)
		return 64;
	l.dump = argv[1];
	l.path = argv[2];
	objects_find(&l.objects, l.dump);
	if (!l.objects.of[OBJECT_MM].n)
		die("there are no tasks");
	find_file(&l);
	test_files(&l);
	test_vmas(&l);
	test_threads(&l);
	objects_free(&l.objects);
	printf("1..%u\n", l.n);
	return l.failed != 0;
}
