/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Manages the process that writes queries. A write(2) to the driver may never
 * return, and its process can then not be killed. It is a separate program and
 * not a fork: a fork would write-protect the caller's memory, which may be
 * large.
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

#include "backend/page_detective/page_detective.h"
#include "base/io.h"

/* The longest answer in the file (kmod/text.c, MOST). */
#define MAX_TEXT ((size_t)48 << 20)

extern char **environ;

/*
 * Start the helper. Its standard input and output are the other end of @fd;
 * descriptor 3 is the lock.
 */
static int spawn(struct page_detective_helper *h, char *const argv[], int fd,
		 int lock)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;
	int r;

	r = posix_spawn_file_actions_init(&actions);
	if (r)
		return -r;
	r = posix_spawnattr_init(&attr);
	if (r) {
		posix_spawn_file_actions_destroy(&actions);
		return -r;
	}
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	/* Signals from the terminal are for the caller only. */
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETPGROUP);
	r = posix_spawn_file_actions_adddup2(&actions, fd, 0);
	if (!r)
		r = posix_spawn_file_actions_adddup2(&actions, fd, 1);
	/* The helper may outlive the caller, so it must not keep the caller's
	 * standard error or other files open. */
	if (!r)
		r = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null",
						     O_WRONLY, 0);
	if (!r && lock >= 0)
		r = posix_spawn_file_actions_adddup2(&actions, lock, 3);
#if __GLIBC_PREREQ(2, 34)
	if (!r)
		r = posix_spawn_file_actions_addclosefrom_np(&actions, 4);
#endif
	if (!r)
		r = posix_spawn(&pid, argv[0], &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	if (r)
		return -r;
	h->pid = pid;
	return 0;
}

bool page_detective_helper_is_there(const char *dir)
{
	char program[4096];

	return snprintf(program, sizeof(program), "%s/%s", dir,
			PAGE_DETECTIVE_HELPER) < (int)sizeof(program) &&
	       access(program, X_OK) == 0;
}

/*
 * Wait up to @ms until the process has ended. It counts as ended if other code
 * has reaped it.
 */
static bool has_ended(int pid, int ms)
{
	const struct timespec pause = { 0, 1000000 };

	while (!waitpid(pid, NULL, WNOHANG)) {
		if (ms-- <= 0)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

bool page_detective_helper_is_alone(struct page_detective_helper *h, int ms)
{
	if (h->left && has_ended(h->left, ms))
		h->left = 0;
	return !h->left;
}

/* Close its input, which ends it. Returns false if it has not ended yet. */
static bool leave(struct page_detective_helper *h, int ms)
{
	close(h->to);
	h->left = h->pid;
	h->pid = 0;
	h->to = h->from = -1;
	return page_detective_helper_is_alone(h, ms);
}

static int start(struct page_detective_helper *h, const struct pdet_env *env,
		 const char *dir, int lock)
{
	char program[4096], virt[4096], phys[4096], query[4096];
	char *const argv[] = { program, virt, phys, query, NULL };
	int fd[2], r;

	if (h->pid)
		return 0;
	/* A process releases its lock a moment before it can be reaped. */
	if (!page_detective_helper_is_alone(h, 100))
		return -EBUSY;
	if (snprintf(program, sizeof(program), "%s/%s", dir,
		     PAGE_DETECTIVE_HELPER) >= (int)sizeof(program) ||
	    pdet_path(env, virt, sizeof(virt), "%s/virt",
		      PAGE_DETECTIVE_DIR) < 0 ||
	    pdet_path(env, phys, sizeof(phys), "%s/phys",
		      PAGE_DETECTIVE_DIR) < 0 ||
	    pdet_path(env, query, sizeof(query), "%s/query",
		      PAGE_DETECTIVE_DIR) < 0)
		return -EINVAL;
	if (access(program, X_OK) < 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		return -errno;
	r = spawn(h, argv, fd[1], lock);
	close(fd[1]);
	if (r < 0) {
		close(fd[0]);
		return r;
	}
	h->to = h->from = fd[0];
	return 0;
}

int page_detective_helper_ask(struct page_detective_helper *h,
			      const struct pdet_env *env, const char *dir,
			      int lock, char which, const char *text)
{
	char line[PAGE_DETECTIVE_LINE + 8];
	int n = snprintf(line, sizeof(line), "%c%s\n", which, text);
	int i, r = 0;

	/* Replace a helper that has ended in the meantime, once. */
	for (i = 0; i < 2 && r == 0; i++) {
		r = start(h, env, dir, lock);
		if (r == 0 &&
		    send(h->to, line, (size_t)n, MSG_NOSIGNAL) == n)
			return 0;
		if (r == 0)
			page_detective_helper_kill(h);
	}
	return r < 0 ? r : -EPIPE;
}

static int read_text(struct page_detective_helper *h,
		     struct page_detective_report *ret, size_t len)
{
	size_t at = 0;
	ssize_t n;

	if (!len)
		return 1;
	if (len > MAX_TEXT)
		return -EBADMSG;
	ret->text = malloc(len);
	if (!ret->text)
		return -ENOMEM;
	while (at < len) {
		n = recv(h->from, ret->text + at, len - at, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(ret->text);
			ret->text = NULL;
			return -EPIPE;
		}
		at += (size_t)n;
	}
	ret->len = len;
	return 1;
}

static ssize_t receive(const struct page_detective_helper *h, char *buf,
		       size_t size, int flags)
{
	ssize_t n;

	do
		n = recv(h->from, buf, size, flags);
	while (n < 0 && errno == EINTR);
	return n > 0 ? n : -EPIPE;
}

/* The length of the line without its newline. Later bytes stay in the pipe. The
 * helper writes a line at once. */
static ssize_t take_line(const struct page_detective_helper *h, char *line,
			 size_t size)
{
	ssize_t n = receive(h, line, size, MSG_PEEK);
	const char *end = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;

	if (n < 0)
		return n;
	if (!end)
		return -EBADMSG;
	n = receive(h, line, (size_t)(end + 1 - line), 0);
	return n < 0 ? n : n - 1;
}

/* Parse "w RESULT ERRNO LENGTH\n" or "o -1 ERRNO 0\n", and that many bytes. */
int page_detective_helper_report(struct page_detective_helper *h,
				 struct page_detective_report *ret)
{
	struct pollfd p = { .fd = h->from, .events = POLLIN };
	char line[96];
	ssize_t n;
	long long result;
	size_t len;
	char which;

	if (poll(&p, 1, 0) <= 0)
		return 0;
	n = take_line(h, line, sizeof(line) - 1);
	if (n < 0)
		return (int)n;
	line[n] = '\0';
	memset(ret, 0, sizeof(*ret));
	if (sscanf(line, "%c %lld %d %zu", &which, &result, &ret->error,
		   &len) != 4)
		return -EBADMSG;
	ret->opened = which == 'w';
	ret->result = result;
	return read_text(h, ret, len);
}

void page_detective_helper_stop(struct page_detective_helper *h, bool wait)
{
	if (h->pid)
		leave(h, wait ? 200 : 0);
	else
		page_detective_helper_is_alone(h, 0);
}

bool page_detective_helper_kill(struct page_detective_helper *h)
{
	if (!h->pid)
		return true;
	/*
	 * Do not kill it if it has ended: its pid may belong to another
	 * process.
	 */
	if (!has_ended(h->pid, 0))
		kill(h->pid, SIGKILL);
	return leave(h, 1000);
}
