/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A process that ends while another one looks at it. The observer is traced,
 * and the victim is killed before one of the observer's system calls: from the
 * first call to the last, repeatedly.
 *
 *   subject exits POINTS CGROUP PROGRAM WORDS...
 *
 * CGROUP is the file of processes of the victim's cgroup. At every other point
 * the victim is killed and reaped, at the others it stays a zombie. For each
 * point there is a line of JSON, followed by the stated bytes of output and
 * stderr. The first point has no kill.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subject.h"

#define HELD 16
/* seconds until the program counts as hung */
#define PATIENCE 120

struct round {
	long kill_at;		/* system call, or -1 */
	bool zombie;
	const char *cgroup;
	char **argv;

	pid_t victim;
	int out, err;
	long calls;
	int status;
	bool hung;
};

static int temporary(void)
{
	char path[] = "/tmp/subject-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		subject_die("mkostemp");
	unlink(path);
	return fd;
}

static pid_t start_victim(const struct round *r, struct subject_words *w)
{
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		subject_die("pipe");
	pid = fork();
	if (pid < 0)
		subject_die("fork");
	if (pid == 0) {
		struct subject_words said = { .pid = getpid() };
		char *at;

		subject_join(r->cgroup);
		at = subject_pages(HELD, MAP_PRIVATE);
		said.vaddr = (uintptr_t)at;
		said.pfn = subject_pfn(at);
		if (write(pipes[1], &said, sizeof(said)) != sizeof(said))
			_exit(1);
		for (;;)
			pause();
	}
	close(pipes[1]);
	if (read(pipes[0], w, sizeof(*w)) != sizeof(*w))
		subject_die("the victim");
	close(pipes[0]);
	return pid;
}

static void end_victim(struct round *r)
{
	siginfo_t info;

	kill(r->victim, SIGKILL);
	/* The memory of a zombie is gone. */
	while (waitid(P_PID, (id_t)r->victim, &info, WEXITED |
		      (r->zombie ? WNOWAIT : 0)) < 0 && errno == EINTR)
		;
}

static pid_t start_program(const struct round *r, char **argv)
{
	pid_t pid = fork();

	if (pid < 0)
		subject_die("fork");
	if (pid == 0) {
		dup2(r->out, 1);
		dup2(r->err, 2);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[0], argv);
		subject_die(argv[0]);
	}
	return pid;
}

static void ring(int signal_nr)
{
	(void)signal_nr;
}

/* Lets the program run from call to call until it ends. */
static void trace(struct round *r, pid_t pid)
{
	/* Without SA_RESTART, so that it ends a wait. */
	struct sigaction sa = { .sa_handler = ring };
	bool is_entry = true, is_done = false;
	int signal_nr, status;
	pid_t p;

	sigaction(SIGALRM, &sa, NULL);
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	alarm(PATIENCE);
	signal_nr = 0;
	for (;;) {
		ptrace(is_done ? PTRACE_CONT : PTRACE_SYSCALL, pid, NULL,
		       (long)signal_nr);
		p = waitpid(pid, &status, 0);
		if (p < 0 && errno == EINTR) {
			r->hung = true;
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			break;
		}
		if (WIFEXITED(status) || WIFSIGNALED(status))
			break;
		signal_nr = WSTOPSIG(status);
		if (signal_nr == (SIGTRAP | 0x80)) {
			if (is_entry && r->calls++ == r->kill_at) {
				end_victim(r);
				is_done = true;
			}
			is_entry = !is_entry;
			signal_nr = 0;
		} else if (signal_nr == SIGTRAP || signal_nr == SIGSTOP) {
			signal_nr = 0;
		}
	}
	alarm(0);
	r->status = status;
}

static void put_all(int fd)
{
	char buf[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	close(fd);
}

static void play(struct round *r)
{
	struct subject_words w;
	char *argv[64];
	size_t n = 0;

	while (r->argv[n] && n < 63) {
		argv[n] = r->argv[n];
		n++;
	}
	argv[n] = NULL;
	r->out = temporary();
	r->err = temporary();
	r->victim = start_victim(r, &w);
	subject_replace(argv, &w);
	trace(r, start_program(r, argv));
	if (r->zombie || r->kill_at < 0) {
		r->zombie = false;
		end_victim(r);
	}
	printf("{\"at\": %ld, \"calls\": %ld, \"pid\": %d, \"exit\": %d, "
	       "\"signal\": %d, \"hung\": %s, \"out\": %ld, \"err\": %ld}\n",
	       r->kill_at, r->calls, w.pid,
	       WIFEXITED(r->status) ? WEXITSTATUS(r->status) : -1,
	       WIFSIGNALED(r->status) ? WTERMSIG(r->status) : 0,
	       r->hung ? "true" : "false", (long)lseek(r->out, 0, SEEK_END),
	       (long)lseek(r->err, 0, SEEK_END));
	put_all(r->out);
	put_all(r->err);
	fflush(stdout);
}

int subject_exits(int argc, char **argv)
{
	long points, i, calls;
	struct round whole;

	if (argc < 3)
		return 64;
	points = strtol(argv[0], NULL, 10);
	whole = (struct round){ .kill_at = -1, .cgroup = argv[1],
				.argv = argv + 2 };
	play(&whole);
	calls = whole.calls;
	for (i = 0; i < points; i++) {
		struct round r = {
			.kill_at = calls * (i + 1) / (points + 1),
			.zombie = i & 1,
			.cgroup = argv[1],
			.argv = argv + 2,
		};

		play(&r);
	}
	return 0;
}
