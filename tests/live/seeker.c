/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * seeker DIRECTORY: opens many files, tells "PID:FD" of the first one in a file
 * "seeker" of the directory, and then does what each line of the pipe "ask"
 * says: a number seeks so often in the first file, "for N" seeks for N seconds,
 * "close" closes all, that one first, and "open" opens them again. It answers
 * each line in the pipe "answer". For guests without Python.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* So many that what others open later does not get the place of the first. */
#define FILES 600

static int fds[FILES];

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	perror(what);
	exit(1);
}

static void open_all(void)
{
	int i;

	for (i = 0; i < FILES; i++) {
		fds[i] = open("seeked", O_RDWR | O_CREAT, 0600);
		must(fds[i], "seeked");
	}
}

static void close_all(void)
{
	int i;

	for (i = 0; i < FILES; i++)
		must(close(fds[i]), "close");
}

/* Each call changes the position. */
static void seek(long n)
{
	long i;

	for (i = 0; i < n; i++)
		must((int)lseek(fds[0], i + 1, SEEK_SET), "lseek");
}

static void seek_for(long seconds)
{
	const time_t end = time(NULL) + seconds;

	while (time(NULL) <= end)
		seek(2);
}

static void tell(void)
{
	FILE *f = fopen("seeker.new", "w");

	must(f ? 0 : -1, "seeker.new");
	fprintf(f, "%d:%d\n", (int)getpid(), fds[0]);
	must(fclose(f), "seeker.new");
	must(rename("seeker.new", "seeker"), "seeker");
}

static void act(const char *line)
{
	if (!strcmp(line, "close\n"))
		close_all();
	else if (!strcmp(line, "open\n"))
		open_all();
	else if (!strncmp(line, "for ", 4))
		seek_for(strtol(line + 4, NULL, 10));
	else
		seek(strtol(line, NULL, 10));
}

int main(int argc, char **argv)
{
	char line[64];
	FILE *ask;
	int answer;

	if (argc != 2)
		return 2;
	must(chdir(argv[1]), argv[1]);
	must(mkfifo("ask", 0600), "ask");
	must(mkfifo("answer", 0600), "answer");
	/* Open for both, none of them ends when another program closes it. */
	ask = fopen("ask", "r+");
	must(ask ? 0 : -1, "ask");
	answer = open("answer", O_RDWR);
	must(answer, "answer");
	open_all();
	tell();
	while (fgets(line, sizeof(line), ask)) {
		act(line);
		must((int)write(answer, "done\n", 5), "answer");
	}
	return 1;
}
