/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * One question to Page Detective, warm. The driver is played by fake_detective,
 * once as fast as it wrote the answer in the guest that it is from, and once
 * without any time to think: then what is measured is the way there and back
 * and the reading of the answer alone. The raw side sends the same question to
 * the same program, and reads the log until the answer is whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"

extern char **environ;

/* More than these at once the library lets wait, for the log is others', too;
 * so each one is asked after a pause, which is not measured. */
#define QUESTIONS 8
#define PAUSE_NS 21000000

struct raw {
	char question[64];
	int helper, kmsg;
	pid_t pid;
};

static void pause_now(void)
{
	const struct timespec ts = { 0, PAUSE_NS };

	nanosleep(&ts, NULL);
}

static void raw_open(struct raw *r, const char *root, uint64_t addr,
		     const char *helper)
{
	char virt[4200], phys[4200], kmsg[4200];
	char *argv[] = { (char *)(uintptr_t)helper, virt, phys, NULL };
	posix_spawn_file_actions_t actions;
	int fd[2], error;

	snprintf(r->question, sizeof(r->question), "p0x%llx\n",
		 (unsigned long long)addr);
	snprintf(virt, sizeof(virt), "%s/sys/kernel/debug/page_detective/virt",
		 root);
	snprintf(phys, sizeof(phys), "%s/sys/kernel/debug/page_detective/phys",
		 root);
	snprintf(kmsg, sizeof(kmsg), "%s/dev/kmsg", root);
	r->kmsg = open(kmsg, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->kmsg < 0)
		probe_die("%s: %s", kmsg, strerror(errno));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		probe_die("socketpair: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd[1], 0);
	posix_spawn_file_actions_adddup2(&actions, fd[1], 1);
	error = posix_spawn(&r->pid, helper, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		probe_die("%s: %s", helper, strerror(error));
	close(fd[1]);
	r->helper = fd[0];
}

static void raw_close(struct raw *r)
{
	close(r->helper);
	close(r->kmsg);
	waitpid(r->pid, NULL, 0);
}

static uint64_t raw_ask(struct raw *r)
{
	static const char last[] = "Finished investigation";
	const uint64_t start = probe_ns();
	char text[65536], report[64];
	bool reported = false, ended = false;
	size_t n = 0;

	/* whatever is in the log by now is no answer */
	while (read(r->kmsg, text, sizeof(text)) > 0)
		;
	if (write(r->helper, r->question, strlen(r->question)) < 0)
		probe_die("write: %s", strerror(errno));
	while (!reported || !ended) {
		struct pollfd p[2] = {
			{ .fd = reported ? -1 : r->helper, .events = POLLIN },
			{ .fd = r->kmsg, .events = POLLIN },
		};
		ssize_t more;

		poll(p, 2, 1000);
		if (p[0].revents && read(r->helper, report,
					 sizeof(report)) > 0)
			reported = true;
		more = read(r->kmsg, text + n, sizeof(text) - n);
		if (more <= 0)
			continue;
		ended = ended || memmem(text, n + (size_t)more, last,
					sizeof(last) - 1);
		n += (size_t)more;
	}
	return probe_ns() - start;
}

static uint64_t run_raw(void *arg)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < QUESTIONS; i++) {
		pause_now();
		sum += raw_ask(arg);
	}
	return sum;
}

struct warm {
	struct drain drain;
	struct pagedet_iter *it;
	struct pagedet_item item;
};

static void warm_open(struct warm *w, const char *root, uint64_t addr,
		      const char *libexec_dir)
{
	static const uint32_t want[] = {
		PAGEDET_FIELD_PFN, PAGEDET_FIELD_REFCOUNT,
		PAGEDET_FIELD_MAPCOUNT, PAGEDET_FIELD_ORDER
	};
	struct pagedet_options options = PAGEDET_OPTIONS_INIT;
	struct drain *d = &w->drain;
	size_t i;

	memset(w, 0, sizeof(*w));
	d->pd = pagedet_new();
	if (!d->pd)
		probe_die("no memory");
	options.root = root;
	options.libexec_dir = libexec_dir;
	options.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PAGE_DETECTIVE);
	if (pagedet_open(d->pd, &options) < 0)
		drain_die(d, "pagedet_open");
	pagedet_query_init(&d->query, sizeof(d->query),
			   sizeof(struct pagedet_page));
	for (i = 0; i < PROBE_COUNT_OF(want); i++)
		drain_want(d, want[i]);
	w->item = (struct pagedet_item){ .first = addr, .count = 1 };
	d->query.target = PAGEDET_TARGET_PHYS;
	d->query.items = &w->item;
	d->query.n_items = 1;
	if (pagedet_query(d->pd, &d->query, &w->it) < 0)
		drain_die(d, "pagedet_query");
}

static uint64_t run_warm(void *arg)
{
	struct warm *w = arg;
	struct pagedet_page row;
	uint64_t sum = 0, start;
	unsigned i;

	for (i = 0; i < QUESTIONS; i++) {
		pause_now();
		start = probe_ns();
		if (pagedet_iter_retarget(w->it, &w->item, 1) < 0)
			drain_die(&w->drain, "pagedet_iter_retarget");
		if (pagedet_next(w->it, &row, 1) != 1)
			drain_die(&w->drain, "pagedet_next");
		sum += probe_ns() - start;
		if (PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_REFCOUNT]) !=
		    PAGEDET_HAVE)
			probe_die("no answer: %s", pagedet_state_name(
				PAGEDET_CELL_STATE(
					row.cell[PAGEDET_FIELD_REFCOUNT])));
	}
	return sum;
}

static void compare_at(const char *root, const char *libexec_dir,
		       uint64_t addr, bool pace)
{
	char helper[4200], file[4200];
	struct raw raw;
	struct warm warm;
	struct trial t = {
		.work = pace ? "one question, warm, a driver as fast as in the "
			"guest of the capture" :
			"the same, a driver that takes no time",
		.bound = { "the same write, log read to its end", run_raw,
			   &raw },
		.library = { "pagedet_iter_retarget", run_warm, &warm },
		.per = QUESTIONS, .bound_most = pace ? 1.2 : 0, .tight = true
	};
	int fd;

	snprintf(file, sizeof(file), "%s/pace", root);
	unlink(file);
	fd = pace ? open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd >= 0)
		close(fd);
	snprintf(helper, sizeof(helper), "%s/page-detective-write",
		 libexec_dir);
	raw_open(&raw, root, addr, helper);
	warm_open(&warm, root, addr, libexec_dir);
	trial_run(&t);
	pagedet_iter_free(warm.it);
	drain_close(&warm.drain);
	raw_close(&raw);
}

int compare_detective(int argc, char **argv)
{
	if (argc != 3)
		return 64;
	compare_at(argv[0], argv[1], strtoull(argv[2], NULL, 0), true);
	compare_at(argv[0], argv[1], strtoull(argv[2], NULL, 0), false);
	return 0;
}
