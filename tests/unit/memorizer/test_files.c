/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the names of Memorizer's files, and what its switches say. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../machine.h"
#include "memorizer/files.h"
#include "memorizer/shortage.h"

static struct machine machine;
static char *const root = machine.root;
static struct pdet_env env = { .root = machine.root };

static void begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(unit_temp(root, sizeof(machine.root))));
}

static void end(void)
{
	machine_free(&machine);
}

/* Files of a kernel, separated by blanks; a new directory for each path. */
static void put(const char *place, const char *names)
{
	char path[4096], *list = strdup(names), *name, *at;

	snprintf(path, sizeof(path), "%s%s/", root, place);
	for (at = strchr(path + strlen(root) + 1, '/'); at;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	for (name = strtok(list, " "); name; name = strtok(NULL, " ")) {
		snprintf(path, sizeof(path), "%s%s/%s", root, place, name);
		ck_assert_int_eq(close(creat(path, 0600)), 0);
	}
	free(list);
}

static void is_at(const struct pdet_memorizer *m, uint32_t control,
		  const char *path)
{
	if (path) {
		ck_assert_ptr_nonnull(m->path[control]);
		ck_assert_str_eq(m->path[control] + strlen(root), path);
	} else {
		ck_assert_ptr_null(m->path[control]);
	}
}

#define DEBUGFS "/sys/kernel/debug"

static const struct {
	const char *place, *files;
	const char *accesses, *dead, *printed, *live, *stream, *calls;
} generations[] = {
	{ DEBUGFS "/memorizer", "memorizer_enabled memorizer_log_access "
	  "show_stats clear_object_list kmap",
	  "/memorizer_log_access", "/clear_object_list", NULL, NULL, NULL,
	  NULL },
	{ DEBUGFS, "memorizer_enabled memorizer_log_access print_live_obj "
	  "show_stats clear_object_list clear_printed_list kmap",
	  "/memorizer_log_access", "/clear_object_list",
	  "/clear_printed_list", "/print_live_obj", NULL, NULL },
	{ DEBUGFS "/memorizer", "memorizer_enabled memorizer_log_access "
	  "print_live_obj clear_dead_objs clear_printed_list cfgmap "
	  "cfg_log_on kmap",
	  "/memorizer_log_access", "/clear_dead_objs", "/clear_printed_list",
	  "/print_live_obj", NULL, "/cfgmap" },
	{ DEBUGFS "/memorizer", "memorizer_enabled log_accesses_enabled "
	  "log_live_enabled clear_dead_objects clear_printed_objects kmap "
	  "kmap_stream function_calls cfgmap",
	  "/log_accesses_enabled", "/clear_dead_objects",
	  "/clear_printed_objects", "/log_live_enabled", "/kmap_stream",
	  "/function_calls" },
};

static void is_below(const struct pdet_memorizer *m, uint32_t control,
		     const char *place, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", place, name ? name : "");
	is_at(m, control, name ? path : NULL);
}

START_TEST(names)
{
	const char *place = generations[_i].place;
	struct pdet_memorizer m;

	begin();
	put(place, generations[_i].files);
	ck_assert_int_eq(pdet_memorizer_find(&env, &m), 0);
	is_below(&m, PAGEDET_MEMORIZER_ENABLED, place, "/memorizer_enabled");
	is_below(&m, PAGEDET_MEMORIZER_LOG_ACCESSES, place,
		 generations[_i].accesses);
	is_below(&m, PAGEDET_MEMORIZER_CLEAR_DEAD, place,
		 generations[_i].dead);
	is_below(&m, PAGEDET_MEMORIZER_CLEAR_PRINTED, place,
		 generations[_i].printed);
	is_below(&m, PAGEDET_MEMORIZER_LOG_LIVE, place, generations[_i].live);
	is_below(&m, PAGEDET_MEMORIZER_KMAP_STREAM, place,
		 generations[_i].stream);
	is_below(&m, PAGEDET_MEMORIZER_CALLS, place, generations[_i].calls);
	pdet_memorizer_forget(&m);
	end();
}
END_TEST

/* Files with common names are not Memorizer's if its switch is not there. */
START_TEST(others)
{
	struct pdet_memorizer m;

	begin();
	put(DEBUGFS, "kmap stats accesses");
	ck_assert_int_eq(pdet_memorizer_find(&env, &m), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(env.error, "does not have Memorizer"));
	put(DEBUGFS "/memorizer", "memorizer_enabled");
	ck_assert_int_eq(pdet_memorizer_find(&env, &m), 0);
	is_at(&m, PAGEDET_MEMORIZER_KMAP, NULL);
	is_at(&m, PAGEDET_MEMORIZER_STATS, NULL);
	ck_assert_int_eq(pdet_memorizer_set(&m, &env,
					    PAGEDET_MEMORIZER_CLEAR_PRINTED,
					    1), -ENOTSUP);
	ck_assert_str_eq(env.error, "this kernel's Memorizer has no way to "
			 "clear printed objects");
	pdet_memorizer_forget(&m);
	end();
}
END_TEST

/* What would do something else than it says is not written. */
START_TEST(refused)
{
	struct pdet_memorizer m;

	begin();
	put(DEBUGFS "/memorizer", "memorizer_enabled kmap clear_dead_objs");
	ck_assert_int_eq(pdet_memorizer_find(&env, &m), 0);
	ck_assert_int_eq(pdet_memorizer_set(&m, &env,
					    PAGEDET_MEMORIZER_ENABLED, 2),
			 -EINVAL);
	ck_assert_int_eq(pdet_memorizer_set(&m, &env, PAGEDET_MEMORIZER_KMAP,
					    1), -EINVAL);
	ck_assert_int_eq(pdet_memorizer_set(&m, &env,
					    PAGEDET_MEMORIZER_CLEAR_DEAD, 0),
			 -EINVAL);
	ck_assert_int_eq(pdet_memorizer_put(&m, &env,
					    PAGEDET_MEMORIZER_ENABLED, 0), 0);
	ck_assert_int_eq(pdet_memorizer_set(&m, &env,
					    PAGEDET_MEMORIZER_ENABLED, 4999),
			 -ESRCH);
	pdet_memorizer_forget(&m);
	end();
}
END_TEST

static void says(const char *text, uint64_t value, int64_t pid, bool is_bool)
{
	struct pdet_memorizer_value v;

	ck_assert_msg(pdet_memorizer_parse(text, strlen(text), &v), "%s",
		      text);
	ck_assert_uint_eq(v.value, value);
	ck_assert_int_eq(v.pid, pid);
	ck_assert_int_eq(v.is_bool, is_bool);
}

START_TEST(values)
{
	static const char *const wrong[] = { "", "\n", "x", "-1\n", "Yes\n",
		"1x", "Nothing" };
	struct pdet_memorizer_value v;
	size_t i;

	says("Y\n", 1, -1, true);
	says("N\n", 0, -1, true);
	says("0\n", 0, -1, false);
	says("1", 1, -1, false);
	says("0 - memorizer disabled\n", 0, -1, false);
	says("1 - memorizer enabled, all processes\n", 1, -1, false);
	says("2 - memorizer enabled, proc root = 77\n", 2, 77, false);
	says("3 - memorizer_enabled, no irq, proc root = x\n", 3, -1, false);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ck_assert(!pdet_memorizer_parse(wrong[i], strlen(wrong[i]),
						&v));
}
END_TEST

static bool is_short(const char *text)
{
	return pdet_is_short((struct pdet_scan){ text,
						 text + strlen(text) });
}

START_TEST(shortage)
{
	ck_assert(is_short("MemTotal: 1000 kB\nMemAvailable: 249 kB\n"));
	ck_assert(!is_short("MemTotal: 1000 kB\nMemAvailable: 250 kB\n"));
	ck_assert(!is_short("MemTotal: 1000 kB\nMemFree: 1 kB\n"));
	ck_assert(!is_short(""));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("files");

	unit_loop(s, names, sizeof(generations) / sizeof(*generations));
	unit_test(s, others);
	unit_test(s, refused);
	unit_test(s, values);
	unit_test(s, shortage);
	return unit_main(s);
}
