/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes a root with Page Detective, which the program of tests/log simulates.
 * plan.json has its answers.
 */
#ifndef TESTS_DRIVER_H
#define TESTS_DRIVER_H

#include <limits.h>
#include <sys/stat.h>

#include "pagedet.h"
#include "unit.h"

static char driver_root[] = "/tmp/pagedet-driver-XXXXXX";

static inline const char *driver_top(void)
{
	const char *top = getenv("top_srcdir");

	return top ? top : ".";
}

static inline void driver_write(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", driver_root, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static inline void driver_make(const char *plan)
{
	static const char *const dirs[] = {
		"sys", "sys/kernel", "sys/kernel/debug",
		"sys/kernel/debug/page_detective", "dev",
	};
	char path[PATH_MAX];
	size_t i;

	ck_assert_ptr_nonnull(mkdtemp(driver_root));
	for (i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", driver_root, dirs[i]);
		ck_assert_int_eq(mkdir(path, 0700), 0);
	}
	driver_write("plan.json", plan);
}

static inline void driver_remove(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", driver_root);
	ck_assert_int_eq(system(command), 0);
}

/* Opens a new handle that uses no other source. */
static inline void driver_open(struct pagedet *pd)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	char helpers[PATH_MAX];

	snprintf(helpers, sizeof(helpers), "%s/tests/log", driver_top());
	o.root = driver_root;
	o.libexec_dir = helpers;
	o.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PAGE_DETECTIVE);
	ck_assert_int_eq(pagedet_open(pd, &o), 0);
}

#endif
