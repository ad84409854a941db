/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Uses page_detective in a guest, where a shell does not suffice.
 *
 *	user ask TEXT...	questions on one open file, and their answers
 *	user write FILE TEXT	the result of write(2)
 *	user userns		open(2) as root of a new user namespace
 *	user hold		keeps the file open until its input ends
 *	user case NAME		an answer about a page of its own
 *	user sparse N TIMES	asks TIMES times who maps a page of memory that
 *				has one page in each of N parts of 1 GB
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "user.h"

int user_open(void)
{
	return open(DETECTIVE "query", O_RDWR | O_CLOEXEC);
}

uint64_t user_random(uint64_t *state)
{
	/* xorshift64* (Vigna) */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

char *user_ask(int fd, const char *text, size_t len)
{
	size_t n = 0, size = 65536;
	char *answer;
	ssize_t r;

	r = write(fd, text, len);
	if (r < 0)
		return NULL;
	if ((size_t)r != len) {
		errno = EIO;
		return NULL;
	}
	answer = malloc(size);
	while (answer) {
		r = read(fd, answer + n, size - n - 1);
		if (r <= 0)
			break;
		n += (size_t)r;
		if (size - n < 2)
			answer = realloc(answer, size *= 2);
	}
	if (answer)
		answer[n] = '\0';
	return answer;
}

uint64_t user_number(const char *answer, const char *key)
{
	const char *at = strstr(answer, key);

	return at ? strtoull(at + strlen(key), NULL, 0) : 0;
}

static int ask(char *const texts[])
{
	int fd = user_open();
	char *answer;

	if (fd < 0) {
		printf("error %d\n", errno);
		return 0;
	}
	for (; *texts; texts++) {
		answer = user_ask(fd, *texts, strlen(*texts));
		if (answer)
			fputs(answer, stdout);
		else
			printf("error %d\n", errno);
		free(answer);
	}
	close(fd);
	return 0;
}

static int write_to(const char *name, const char *text)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), DETECTIVE "%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : write(fd, text, strlen(text));
	if (n < 0)
		printf("error %d\n", errno);
	else
		printf("wrote %zd\n", n);
	return 0;
}

static int in_userns(void)
{
	static const char *const names[] = { "query", "virt", "phys",
					     "features" };
	char path[128];
	size_t i;
	int fd;

	if (unshare(CLONE_NEWUSER) < 0) {
		perror("unshare");
		return 1;
	}
	fd = open("/proc/self/uid_map", O_WRONLY);
	if (fd < 0 || write(fd, "0 0 1", 5) != 5 || getuid()) {
		perror("uid_map");
		return 1;
	}
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), DETECTIVE "%s", names[i]);
		fd = open(path, i == 0 ? O_RDWR : i == 3 ? O_RDONLY : O_WRONLY);
		printf("%s %d\n", names[i], fd < 0 ? errno : 0);
	}
	return 0;
}

static int hold(void)
{
	int fd = user_open();
	char c;

	if (fd < 0)
		return 1;
	puts("held");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

static int sparse(size_t n, int times)
{
	const size_t part = (size_t)2 << 20, size = part * 512;
	char *p = mmap(NULL, (n + 1) * size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = user_open(), failed = fd < 0 || p == MAP_FAILED;
	char text[64], *answer;
	size_t i;

	if (failed || madvise(p, (n + 1) * size, MADV_NOHUGEPAGE) < 0)
		return 1;
	p += size - (uintptr_t)p % size;
	for (i = 1; i <= n; i++)
		p[i * size - part] = 1;
	snprintf(text, sizeof(text), "virt %d 0x%zx", getpid(),
		 (size_t)(p + size - part));
	while (times-- && !failed) {
		answer = user_ask(fd, text, strlen(text));
		failed = !answer || !strstr(answer, " user=1 ");
		free(answer);
	}
	return failed;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "ask"))
		return ask(argv + 2);
	if (!strcmp(what, "write") && argc == 4)
		return write_to(argv[2], argv[3]);
	if (!strcmp(what, "userns"))
		return in_userns();
	if (!strcmp(what, "hold"))
		return hold();
	if (!strcmp(what, "case") && argc == 3)
		return user_case(argv[2]);
	if (!strcmp(what, "sparse") && argc == 4)
		return sparse(strtoul(argv[2], NULL, 0), atoi(argv[3]));
	if (!strcmp(what, "churn"))
		return user_churn();
	if (!strcmp(what, "refs") && argc == 3)
		return user_refs(atoi(argv[2]));
	if (!strcmp(what, "parallel") && argc == 4)
		return user_parallel(atoi(argv[2]), atoi(argv[3]));
	if (!strcmp(what, "frames") && argc == 5)
		return user_random_frames(strtoull(argv[2], NULL, 0),
					  atol(argv[3]),
					  strtoull(argv[4], NULL, 0));
	if (!strcmp(what, "addresses") && argc == 4)
		return user_random_addresses(strtoull(argv[2], NULL, 0),
					     atol(argv[3]));
	if (!strcmp(what, "sweep") && argc == 4)
		return user_sweep(strtoull(argv[2], NULL, 0), atol(argv[3]));
	if (!strcmp(what, "bench") && argc == 4)
		return user_bench(strtoull(argv[2], NULL, 0), atol(argv[3]));
	fputs("user: what?\n", stderr);
	return 64;
}
