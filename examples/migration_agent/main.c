/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * migration_agent - migrates a virtual machine from one QEMU to another,
 * compares every page of both while they are frozen, and explains what differs.
 *
 *   migration_agent [--mode MODE] [--ram KIND] [--report DIR]
 *   migration_agent --source QMP.sock --destination QMP.sock
 *   migration_agent --source-pid N --destination-pid N --blocks FILE
 *
 * Teaches: pagedet_query() for the memory of another process, pagedet_content()
 * for bytes on their way, pagedet_collect() on both sides, evidence sent from
 * one side to the other, and pagedet_explain(). Exit status: 0 equal, 1
 * different and explained, 2 not known, 64 and above as for pagedet(1).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

/* --- the guest --- */

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

	o.hash_key = a->o.hash_key ? a->o.hash_key : a->key_file;
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

/* --- the order of events --- */

static int start(struct agent *a)
{
	const bool attach = a->o.sockets[SOURCE];
	int side, status = made_dirs(a);

	if (!status)
		status = open_library(a);
	if (!status && !attach && !a->o.kernel && !a->o.blocks)
		status = write_guest(a);
	for (side = 0; a->o.blocks && side < SIDES; side++) {
		a->vm[side].given = true;
		a->vm[side].pid = (pid_t)a->o.pids[side];
	}
	for (side = 0; !a->o.blocks && !status && side < SIDES; side++)
		status = attach ? vm_attach(a, side) : vm_start(a, side);
	return status;
}

static int join(struct agent *a)
{
	struct pagedet_versions_options o = PAGEDET_VERSIONS_OPTIONS_INIT;
	int status = a->o.blocks ? given_blocks(a) : join_blocks(a);

	if (status)
		return status;
	if (!a->o.blocks)
		join_memslots(a);
	o.pages = a->pages;
	o.hash_key = a->hash_key;
	o.hash_zero = a->hash_zero;
	a->again = calloc(a->pages, sizeof(*a->again));
	a->now[SOURCE] = calloc(a->pages, sizeof(*a->again));
	a->now[DESTINATION] = calloc(a->pages, sizeof(*a->again));
	if (!a->again || !a->now[SOURCE] || !a->now[DESTINATION] ||
	    pagedet_versions_new(&o, &a->versions))
		return agent_fail_errno(AGENT_IO, "memory");
	if (a->o.blocks)
		return a->o.sent ? given_sent(a) : 0;
	return vm_wait_guest(a);
}

/* From here on the report has the errors. */
static int work(struct agent *a)
{
	int status = a->o.blocks ? 0 : migrate(a);

	if (!status)
		status = freeze(a);
	if (!status)
		status = explain(a);
	else if (status == AGENT_UNSURE)
		thawed(a);
	go_on(a);
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
	pagedet_versions_free(a->versions);
	free(a->again);
	free(a->after_stop);
	quick_free(a);
	free(a->now[SOURCE]);
	free(a->now[DESTINATION]);
	free(a->differences);
	free(a->evidence);
	free(a->findings);
	free(a->arena);
	json_decref(a->info);
	pagedet_free(a->pd);
	made_remove();
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
