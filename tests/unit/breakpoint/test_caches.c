/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests what is said of a slab cache, by a tree below a root. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"
#include "breakpoint/caches.h"

#define SLAB "/sys/kernel/slab"

static char root[256];
static struct pdet_env env;
static struct pdet_bp_cache cache;

static void write_file(const char *name, const char *file, const char *text)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%s" SLAB "/%s", root, name);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s" SLAB "/%s/%s", root, name, file);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void add_cache(const char *name, const char *bytes, const char *stride,
		      const char *reused)
{
	write_file(name, "object_size", bytes);
	write_file(name, "slab_size", stride);
	write_file(name, "destroy_by_rcu", reused);
}

static void add_link(const char *name, const char *to)
{
	char path[400];

	snprintf(path, sizeof(path), "%s" SLAB "/%s", root, name);
	ck_assert_int_eq(symlink(to, path), 0);
}

static void add_folder(const char *name)
{
	char path[400];

	snprintf(path, sizeof(path), "%s%s", root, name);
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

static void add_all_folders(void)
{
	add_folder("/sys");
	add_folder("/sys/kernel");
	add_folder(SLAB);
}

static void set_up(void)
{
	unit_temp(root, sizeof(root));
	ck_assert_ptr_nonnull(mkdtemp(root));
	env = (struct pdet_env){ .root = root };
}

static void tear_down(void)
{
	char command[400];

	snprintf(command, sizeof(command), "chmod -R u+rwx '%s'; rm -rf '%s'",
		 root, root);
	ck_assert_int_eq(system(command), 0);
}

static int find(const char *name)
{
	pdet_clear(&env);
	return pdet_bp_cache_find(&env, name, &cache);
}

START_TEST(all)
{
	add_all_folders();
	add_cache(":0000192", "184\n", "192\n", "1\n");
	add_cache("lone", "5\n", "8\n", "0\n");
	add_link("filp", ":0000192");
	add_link("other", ":0000192");
	ck_assert_msg(find("filp") == 0, "%s", env.error);
	ck_assert_uint_eq(cache.bytes, 184);
	ck_assert_uint_eq(cache.stride, 192);
	ck_assert_uint_eq(cache.names, 2);
	ck_assert(cache.reused);
	ck_assert_ptr_nonnull(strstr(cache.filter, "slab_cache = \"filp\""));
	ck_assert_ptr_nonnull(strstr(cache.filter, "slab_cache = \"other\""));
	ck_assert_ptr_null(strstr(cache.filter, "lone"));
	ck_assert_msg(find("lone") == 0, "%s", env.error);
	ck_assert_uint_eq(cache.names, 1);
	ck_assert(!cache.reused);
	ck_assert_str_eq(cache.filter, "slab_cache = \"lone\"");
}
END_TEST

/* Without some of them, some slabs would not be found. */
START_TEST(many)
{
	char name[64];
	unsigned i;

	add_all_folders();
	add_cache(":0000192", "184\n", "192\n", "0\n");
	for (i = 0; i < 90; i++) {
		snprintf(name, sizeof(name), "a-cache-with-one-of-the-longest-"
			 "names-that-there-may-be-%03u", i);
		add_link(name, ":0000192");
	}
	ck_assert_msg(find(name) == 0, "%s", env.error);
	ck_assert_uint_eq(cache.names, 90);
	for (i = 0; i < 90; i++) {
		snprintf(name, sizeof(name), "another-one-%u", i);
		add_link(name, ":0000192");
	}
	ck_assert_int_eq(find(name), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(env.error, "too many caches"));
}
END_TEST

START_TEST(no_such)
{
	static const char *const bad[] = {
		"fill", "", ".", "..", "../slab/filp", "a\"b",
		"a-name-that-is-longer-than-those-which-the-kernel-may-give-to"
		"-a-cache"
	};

	add_all_folders();
	add_cache("filp", "184\n", "192\n", "1\n");
	ck_assert_int_eq(find(bad[_i]), -ENOENT);
	ck_assert_ptr_nonnull(strstr(env.error, "there is no slab cache"));
	if (_i == 0)
		ck_assert_ptr_nonnull(strstr(env.advice, "'filp'"));
}
END_TEST

/* The kernel does not tell, or not what is needed. */
START_TEST(untold)
{
	ck_assert_int_eq(find("filp"), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(env.error, "this kernel has no"));
	add_all_folders();
	write_file("filp", "object_size", "184\n");
	ck_assert_int_eq(find("filp"), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(env.error, "slab_size does not say it"));
	add_cache("filp", "many\n", "192\n", "0\n");
	ck_assert_int_eq(find("filp"), -ENOTSUP);
	add_cache("filp", "0\n", "192\n", "0\n");
	ck_assert_int_eq(find("filp"), -ENOTSUP);
}
END_TEST

/* It is not said that there is none. */
START_TEST(denied)
{
	char path[400];
	bool enters;
	int r = 0;

	add_all_folders();
	add_cache("filp", "184\n", "192\n", "1\n");
	snprintf(path, sizeof(path), "%s" SLAB, root);
	ck_assert_int_eq(chmod(path, 0), 0);
	ck_assert_int_eq(chmod(root, 0755), 0);
	if (getuid() == 0 && seteuid(65534)) {
		tear_down();
		unit_skip("root cannot become another user");
	}
	enters = !faccessat(AT_FDCWD, root, X_OK, AT_EACCESS);
	if (enters)
		r = find("filp");
	ck_assert_int_eq(seteuid(getuid()), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
	if (!enters) {
		tear_down();
		unit_skip("others may not enter TMPDIR");
	}
	ck_assert_int_eq(r, -EACCES);
	ck_assert_ptr_nonnull(strstr(env.error, "cannot read " SLAB));
	ck_assert_ptr_nonnull(strstr(env.advice, "root"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("caches");
	TCase *tc = tcase_create("caches");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, all);
	tcase_add_test(tc, many);
	tcase_add_loop_test(tc, no_such, 0, 7);
	tcase_add_test(tc, untold);
	tcase_add_test(tc, denied);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
