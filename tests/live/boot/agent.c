/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The agent inside a guest of the lab. It reads requests from a virtio-serial
 * port, serves one after another and answers there. It is the first process of
 * the guest. It allocates no memory after its start, so that it disturbs little
 * of what tests look at.
 *
 *   agent PORT
 *
 * A request is the number of its words and then each word: numbers as decimal
 * lines, words with their length before them. An answer is any number of
 * frames: a letter, a length, a newline, and that many bytes.
 *
 *   run UID PROGRAM WORDS...      o: its output, e: its stderr, and "exit N"
 *                                 or "signal N" as the end
 *   start PORT PROGRAM WORDS...   input and output are that port; d: the pid
 *   read FILE                     d: all of it, or n: errno
 *   pread (FILE OFFSET SIZE)...   d or n for each, in order
 *   write FILE BYTES              n if it failed
 *   time                          d: nanoseconds since 1970
 *   off                           no answer: the machine is off
 *
 * The end of every answer is a frame "."; "?" answers an unknown request.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORDS 64
#define PUMP ((size_t)1 << 16)

static int port;
static char request[1 << 20];
static char *word[MAX_WORDS + 1];
static size_t word_len[MAX_WORDS];
static char pump[PUMP];

static void die(const char *what)
{
	fprintf(stderr, "agent: %s: %s\n", what, strerror(errno));
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

/* --- the port --- */

static void get(char *to, size_t len)
{
	ssize_t n;

	while (len) {
		n = read(port, to, len);
		if (n > 0) {
			to += n;
			len -= (size_t)n;
			continue;
		}
		/* No one has opened the other end yet. */
		if (n == 0)
			usleep(10000);
		else if (errno != EINTR)
			die("read from the port");
	}
}

static void put(const char *from, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(port, from, len);
		if (n >= 0) {
			from += n;
			len -= (size_t)n;
		} else if (errno != EINTR) {
			die("write to the port");
		}
	}
}

static size_t get_number(void)
{
	size_t n = 0;
	char c;

	for (get(&c, 1); c != '\n'; get(&c, 1)) {
		if (c < '0' || c > '9' || n > sizeof(request))
			die("a request that is none");
		n = n * 10 + (size_t)(c - '0');
	}
	return n;
}

/* Each word also gets a NUL, which makes it a string. */
static size_t get_request(void)
{
	size_t n = get_number(), used = 0, i;

	if (n > MAX_WORDS)
		die("a request of too many words");
	for (i = 0; i < n; i++) {
		word_len[i] = get_number();
		if (word_len[i] >= sizeof(request) - used)
			die("a request that is too long");
		word[i] = request + used;
		get(word[i], word_len[i]);
		word[i][word_len[i]] = '\0';
		used += word_len[i] + 1;
	}
	word[n] = NULL;
	return n;
}

static void frame(char type, const char *bytes, size_t len)
{
	char head[32];
	int n = snprintf(head, sizeof(head), "%c%zu\n", type, len);

	put(head, (size_t)n);
	put(bytes, len);
}

static void frame_number(char type, long long value)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%lld", value);

	frame(type, text, (size_t)n);
}

/* --- programs --- */

static void become(char **argv, int in, int out, int err)
{
	sigset_t none;

	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	execvp(argv[0], argv);
	fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Forwards available output; returns false at its end. */
static bool pass_on(int fd, char type)
{
	ssize_t n = read(fd, pump, sizeof(pump));

	if (n > 0)
		frame(type, pump, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static int wait_for(pid_t pid)
{
	int status;
	pid_t p;

	/* Also reaps orphans of other programs. */
	do {
		p = waitpid(-1, &status, 0);
	} while (p != pid && (p >= 0 || errno == EINTR));
	return p == pid ? status : 0;
}

static void run(uid_t uid, char **argv)
{
	struct pollfd from[2];
	int out[2], err[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int status, n;
	char end[32];
	pid_t pid;

	if (null < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		if (uid && (setgroups(0, NULL) < 0 || setgid(uid) < 0 ||
			    setuid(uid) < 0))
			die("setuid");
		become(argv, null, out[1], err[1]);
	}
	close(null);
	close(out[1]);
	close(err[1]);
	from[0] = (struct pollfd){ .fd = out[0], .events = POLLIN };
	from[1] = (struct pollfd){ .fd = err[0], .events = POLLIN };
	while (from[0].fd >= 0 || from[1].fd >= 0) {
		if (poll(from, 2, -1) < 0)
			continue;
		if (from[0].revents && !pass_on(out[0], 'o'))
			from[0].fd = -1;
		if (from[1].revents && !pass_on(err[0], 'e'))
			from[1].fd = -1;
	}
	close(out[0]);
	close(err[0]);
	status = wait_for(pid);
	n = WIFSIGNALED(status) ?
		snprintf(end, sizeof(end), "signal %d", WTERMSIG(status)) :
		snprintf(end, sizeof(end), "exit %d", WEXITSTATUS(status));
	frame('.', end, (size_t)n);
}

static void start(const char *path, char **argv)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	pid_t pid;

	if (fd < 0) {
		frame_number('n', errno);
		return;
	}
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		become(argv, fd, fd, 2);
	close(fd);
	frame_number('d', pid);
}

/* --- files --- */

static void read_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, pump, sizeof(pump))) > 0)
		frame('d', pump, (size_t)n);
	if (n < 0)
		frame_number('n', errno);
	if (fd >= 0)
		close(fd);
}

static void read_at(const char *path, off_t offset, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (size > sizeof(pump))
		size = sizeof(pump);
	if (fd >= 0)
		n = pread(fd, pump, size, offset);
	if (n < 0)
		frame_number('n', errno);
	else
		frame('d', pump, (size_t)n);
	if (fd >= 0)
		close(fd);
}

static void write_all(const char *path, const char *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	ssize_t n = 0;

	while (fd >= 0 && len && (n = write(fd, bytes, len)) > 0) {
		bytes += n;
		len -= (size_t)n;
	}
	if (fd < 0 || n < 0)
		frame_number('n', errno);
	if (fd >= 0)
		close(fd);
}

static void say_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	frame_number('d', t.tv_sec * 1000000000LL + t.tv_nsec);
}

/* Returns false if the request is unknown. */
static bool serve(size_t n)
{
	const char *what = n ? word[0] : "";
	size_t i;

	if (!strcmp(what, "run") && n > 2) {
		run((uid_t)strtoul(word[1], NULL, 10), word + 2);
		return true;
	}
	if (!strcmp(what, "start") && n > 2) {
		start(word[1], word + 2);
	} else if (!strcmp(what, "read") && n == 2) {
		read_all(word[1]);
	} else if (!strcmp(what, "pread") && n % 3 == 1) {
		for (i = 1; i < n; i += 3)
			read_at(word[i], strtoll(word[i + 1], NULL, 10),
				strtoul(word[i + 2], NULL, 10));
	} else if (!strcmp(what, "write") && n == 3) {
		write_all(word[1], word[2], word_len[2]);
	} else if (!strcmp(what, "time") && n == 1) {
		say_time();
	} else if (!strcmp(what, "off") && n == 1) {
		sync();
		reboot(RB_POWER_OFF);
	} else {
		return false;
	}
	frame('.', "", 0);
	return true;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: agent PORT\n");
		return 64;
	}
	port = open(argv[1], O_RDWR | O_CLOEXEC);
	if (port < 0)
		die(argv[1]);
	signal(SIGPIPE, SIG_IGN);
	frame('.', "", 0);
	for (;;)
		if (!serve(get_request()))
			frame('?', "", 0);
}
