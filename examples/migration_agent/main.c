/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * migration_agent - moves a virtual machine from one QEMU to another, compares
 * every page of both while they stand still, and explains what differs.
 *
 *   migration_agent [--mode MODE] [--ram KIND] [--report DIR]
 *   migration_agent --source QMP.sock --destination QMP.sock
 *
 * Teaches: pagedet_query() over the memory of another process,
 * pagedet_content() for bytes on their way, pagedet_collect() on both sides,
 * evidence that is sent from one to the other, and pagedet_explain(). Exit
 * status: 0 equal, 1 different and explained, 2 cannot tell, 64 and above as
 * of pagedet(1).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"

/* --- what is made for it, and goes away --- */

/* Written before there is anything, so that a signal finds it ready. */
static struct {
	char file[11][96];
	char dir[2][64];
} made;

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

static void remove_all(void)
{
	size_t i;

	for (i = 0; i < sizeof(made.file) / sizeof(*made.file); i++)
		if (*made.file[i])
			unlink(made.file[i]);
	for (i = 0; i < 2; i++)
		if (*made.dir[i])
			rmdir(made.dir[i]);
}

/* Machines that were started here end with this process. */
static void on_signal(int sig)
{
	remove_all();
	signal(sig, SIG_DFL);
	raise(sig);
}

static int make_dirs(struct agent *a)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	strcpy(a->dir, "/tmp/migration_agent-XXXXXX");
	if (!mkdtemp(a->dir))
		return agent_fail_errno(AGENT_IO, "cannot make a directory");
	will_make(a);
	snprintf(a->key_file, sizeof(a->key_file), "%s/key", a->dir);
	if (a->o.sockets[SOURCE] || strcmp(a->o.ram, "file"))
		return 0;
	strcpy(a->ram_dir, "/dev/shm/migration_agent-XXXXXX");
	if (!mkdtemp(a->ram_dir))
		return agent_fail_errno(AGENT_IO, "cannot make a directory");
	will_make(a);
	return 0;
}

static int write_guest(const struct agent *a)
{
	char path[96];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/guest", a->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return agent_fail_errno(AGENT_IO, "cannot write %s", path);
	n = write(fd, guest_program, guest_program_bytes);
	if (close(fd) || n != (ssize_t)guest_program_bytes)
		return agent_fail_errno(AGENT_IO, "cannot write %s", path);
	return 0;
}

/* --- the library --- */

static int open_library(struct agent *a)
{
	struct pagedet_content c = { .size = sizeof(c) };
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet_info info = { .size = sizeof(info) };
	unsigned char zero[PAGE_BYTES] = { 0 };

	o.hash_key = a->key_file;
	a->pd = pagedet_new();
	if (!a->pd)
		return agent_fail_errno(AGENT_IO, "pagedet");
	if (pagedet_open(a->pd, &o) || pagedet_info(a->pd, &info) ||
	    pagedet_hash_key_id(a->pd, &a->hash_key) ||
	    pagedet_content(a->pd, zero, PAGE_BYTES, PAGEDET_CONTENT_HASH, &c))
		return agent_fail(AGENT_UNAVAILABLE, "%s",
				  pagedet_error(a->pd));
	if (info.page_size != PAGE_BYTES)
		return agent_fail(AGENT_UNAVAILABLE, "pages of this host are "
				  "not of 4 KiB");
	a->hash_zero = c.hash;
	return 0;
}

/* --- in order --- */

static int start(struct agent *a)
{
	const bool attach = a->o.sockets[SOURCE];
	int side, status = make_dirs(a);

	if (!status)
		status = open_library(a);
	if (!status && !attach && !a->o.kernel)
		status = write_guest(a);
	for (side = 0; !status && side < SIDES; side++)
		status = attach ? vm_attach(a, side) : vm_start(a, side);
	return status;
}

static int join(struct agent *a)
{
	int status = join_blocks(a);

	if (status)
		return status;
	join_memslots(a);
	a->again = calloc(a->pages, sizeof(*a->again));
	a->now[SOURCE] = calloc(a->pages, sizeof(*a->again));
	a->now[DESTINATION] = calloc(a->pages, sizeof(*a->again));
	if (!a->again || !a->now[SOURCE] || !a->now[DESTINATION] ||
	    versions_new(&a->versions, a->pages))
		return agent_fail_errno(AGENT_IO, "memory");
	return vm_wait_guest(a);
}

/* From here on, what goes wrong is in the report. */
static int work(struct agent *a)
{
	int status = migrate(a);

	if (!status)
		status = freeze(a);
	if (!status)
		status = explain(a);
	else if (status == AGENT_UNSURE)
		thawed(a);
	if (status && status != AGENT_UNSURE)
		return status;
	status = report_write(a);
	return status ? status : (int)report_status(a);
}

static void finish(struct agent *a)
{
	int side;

	for (side = 0; side < SIDES; side++)
		vm_end(&a->vm[side]);
	join_free(a);
	versions_free(&a->versions);
	free(a->again);
	free(a->now[SOURCE]);
	free(a->now[DESTINATION]);
	free(a->differences);
	free(a->evidence);
	free(a->findings);
	free(a->arena);
	json_decref(a->info);
	pagedet_free(a->pd);
	remove_all();
}

int main(int argc, char **argv)
{
	static struct agent a;
	bool done;
	int status = options_parse(&a.o, argc, argv, &done);

	if (status || done)
		return status;
	if (geteuid())
		return agent_fail(AGENT_DENIED, "needs root, to read the "
				  "memory of other processes");
	a.vm[SOURCE] = (struct vm){ .name = "source", .qmp.fd = -1 };
	a.vm[DESTINATION] = (struct vm){ .name = "destination", .qmp.fd = -1 };
	status = start(&a);
	if (!status)
		status = join(&a);
	if (!status)
		status = work(&a);
	finish(&a);
	return status;
}
