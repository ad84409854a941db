/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * loads NAME COUNT: makes system calls that allocate kernel memory, and prints
 * the CPU time of one round of them, in ns.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	long type;
	char text[1024];
} message = { .type = 1 };

static void must(long result)
{
	if (result >= 0)
		return;
	perror("loads");
	exit(1);
}

static void by_stat(int unused)
{
	struct stat st;

	(void)unused;
	must(stat("/etc/passwd", &st));
}

static void by_open(int unused)
{
	const int fd = open("/etc/passwd", O_RDONLY);

	(void)unused;
	must(fd);
	close(fd);
}

static void by_message(int queue)
{
	must(msgsnd(queue, &message, sizeof(message.text), 0));
	must(msgrcv(queue, &message, sizeof(message.text), 0, 0));
}

static void by_pipe(int unused)
{
	int fd[2];

	(void)unused;
	must(pipe(fd));
	close(fd[0]);
	close(fd[1]);
}

static void by_socket(int unused)
{
	int fd[2];

	(void)unused;
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	must(write(fd[0], "x", 1));
	close(fd[0]);
	close(fd[1]);
}

static const struct {
	const char *name;
	void (*round)(int queue);
} loads[] = { { "stat", by_stat }, { "open", by_open },
	      { "msg", by_message }, { "pipe", by_pipe },
	      { "unix", by_socket } };

static double cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return ((double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec) * 1e9 +
	       ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec) * 1e3;
}

int main(int argc, char **argv)
{
	const long count = argc == 3 ? atol(argv[2]) : 0;
	const int queue = msgget(IPC_PRIVATE, 0600);
	double begin;
	size_t i;
	long n;

	must(queue);
	for (i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
		if (count <= 0 || strcmp(argv[1], loads[i].name))
			continue;
		begin = cpu_ns();
		for (n = 0; n < count; n++)
			loads[i].round(queue);
		printf("%.1f\n", (cpu_ns() - begin) / (double)count);
	}
	msgctl(queue, IPC_RMID, NULL);
	return 0;
}
