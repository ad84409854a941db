/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Records files that the agent makes, and removes them at its end or on a
 * signal.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

/* Set before the file exists, so that a signal finds it. */
static struct {
	char file[11][96];
	char dir[2][64];
} made;

static volatile sig_atomic_t held, caught;

static void will_make(const struct agent *a)
{
	static const char *const names[] = {
		"key", "guest", "tap", "migration", "source.qmp", "source.log",
		"destination.qmp", "destination.log", "both", "source",
		"destination",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (i < 8 || a->ram_dir[0])
			snprintf(made.file[i], sizeof(made.file[i]), "%s/%s",
				 i < 8 ? a->dir : a->ram_dir, names[i]);
	memcpy(made.dir[0], a->dir, sizeof(a->dir));
	memcpy(made.dir[1], a->ram_dir, sizeof(a->ram_dir));
}

void made_remove(void)
{
	size_t i;

	for (i = 0; i < sizeof(made.file) / sizeof(*made.file); i++)
		if (*made.file[i])
			unlink(made.file[i]);
	for (i = 0; i < 2; i++)
		if (*made.dir[i])
			rmdir(made.dir[i]);
}

/* Machines that the agent started end with it. */
static void end_by(int sig)
{
	made_remove();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_signal(int sig)
{
	caught = sig;
	if (!held)
		end_by(sig);
}

/* Its name has our pid, so that one sees whose it is. */
static int make_dir(char *dir, size_t size, const char *where)
{
	snprintf(dir, size, "%s/migration_agent-%d-XXXXXX", where,
		 (int)getpid());
	return mkdtemp(dir) ? 0 :
	       agent_fail_errno(AGENT_IO, "cannot make a directory");
}

int made_dirs(struct agent *a)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction sa = { .sa_handler = on_signal,
				.sa_flags = SA_RESTART };
	size_t i;
	int status;

	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	status = make_dir(a->dir, sizeof(a->dir), "/tmp");
	if (status)
		return status;
	will_make(a);
	snprintf(a->key_file, sizeof(a->key_file), "%s/key", a->dir);
	if (a->o.sockets[SOURCE] || strcmp(a->o.ram, "file"))
		return 0;
	status = make_dir(a->ram_dir, sizeof(a->ram_dir), "/dev/shm");
	if (!status)
		will_make(a);
	return status;
}

void made_hold(void)
{
	held = 1;
}

bool made_interrupted(void)
{
	return caught;
}

void made_release(void)
{
	held = 0;
	if (caught)
		end_by(caught);
}
