/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * messages SAME MOVED KEPT: sends messages of System V of these sizes, for each
 * of which the kernel allocates an object, and prints the id of the queue that
 * keeps the last ones. As tests/live/kmem does it, for guests without Python.
 * messages ID: removes that queue. messages FROM TO: copies what is in a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <unistd.h>

static struct {
	long type;
	char text[4096];
} message = { .type = 1 };

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	perror(what);
	exit(1);
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

static void send(int queue, size_t size)
{
	must(msgsnd(queue, &message, size, 0), "msgsnd");
}

static void receive(int queue)
{
	must((int)msgrcv(queue, &message, sizeof(message.text), 0, 0),
	     "msgrcv");
}

static void copy(const char *from, const char *to)
{
	const int in = open(from, O_RDONLY | O_NONBLOCK);
	const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	static char data[65536];
	ssize_t n;

	must(in, from);
	must(out, to);
	while ((n = read(in, data, sizeof(data))) > 0)
		if (write(out, data, (size_t)n) != n)
			must(-1, to);
	if (n < 0 && errno != EAGAIN)
		must(-1, from);
}

int main(int argc, char **argv)
{
	int queue, i;

	if (argc == 2) {
		must(msgctl(atoi(argv[1]), IPC_RMID, NULL), "IPC_RMID");
		return 0;
	}
	if (argc == 3)
		copy(argv[1], argv[2]);
	if (argc != 4)
		return argc == 3 ? 0 : 2;
	queue = msgget(IPC_PRIVATE, 0600);
	must(queue, "msgget");
	run_on(0);
	for (i = 0; i < 200; i++) {
		send(queue, strtoul(argv[1], NULL, 10));
		receive(queue);
	}
	for (i = 0; i < 30; i++) {
		send(queue, strtoul(argv[2], NULL, 10));
		run_on(1);
		receive(queue);
		run_on(0);
	}
	for (i = 0; i < 53; i++)
		send(queue, strtoul(argv[3], NULL, 10));
	printf("%d\n", queue);
	return 0;
}
