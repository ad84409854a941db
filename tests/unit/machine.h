/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes a captured tree below TMPDIR during a test, from a scenario for
 * tests/fixtures/mkproc.
 */
#ifndef TESTS_MACHINE_H
#define TESTS_MACHINE_H

#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

struct machine {
	char root[512];
};

static inline void machine_run(char *const argv[])
{
	int status = -1;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(status == 0, "%s ended with %#x", argv[0], status);
}

static inline void machine_new(struct machine *m, const char *scenario)
{
	const char *top = getenv("top_builddir");
	char program[1024], source[1024];
	char *const argv[] = { program, source, m->root, NULL };

	ck_assert_ptr_nonnull(mkdtemp(unit_temp(m->root, sizeof(m->root))));
	snprintf(program, sizeof(program), "%s/tests/fixtures/mkproc",
		 top && *top ? top : ".");
	unit_source(source, sizeof(source), scenario);
	machine_run(argv);
}

static inline void machine_free(struct machine *m)
{
	char program[] = "/bin/rm", how[] = "-rf";
	char *const argv[] = { program, how, m->root, NULL };

	machine_run(argv);
}

#endif
