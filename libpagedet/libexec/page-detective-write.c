/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes queries to the files of the driver Page Detective. The driver may take
 * long to return from a write, or never return.
 *
 * usage: page-detective-write VIRT PHYS QUERY
 *
 * Standard input has one query a line: 'v', 'p' or 'q' for the file, then the
 * text to write. For each query, standard output gets "w RESULT ERRNO LENGTH",
 * or "o -1 ERRNO 0" if the file could not be opened. LENGTH bytes follow, if a
 * kernel gives an answer to be read from the file. QUERY is written and read
 * through one descriptor, and only if it is the kernel's.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Longest answers of VIRT and PHYS, and of QUERY. */
#define MAX_TEXT (1 << 20)
#define MAX_ANSWER ((size_t)48 << 20)

static bool write_all(const char *at, size_t n)
{
	ssize_t done;

	for (; n; at += done, n -= (size_t)done) {
		done = write(STDOUT_FILENO, at, n);
		if (done < 0 && errno == EINTR)
			done = 0;
		else if (done <= 0)
			return false;
	}
	return true;
}

static bool report(char what, long long result, int error, const char *text,
		   size_t len)
{
	char line[96];
	int n = snprintf(line, sizeof(line), "%c %lld %d %zu\n", what, result,
			 error, len);

	return write_all(line, (size_t)n) && write_all(text, len);
}

/* Read the answer, if the file gives one. Files of the driver as it was posted
 * cannot be read, and a pipe would block. */
static size_t read_answer(const char *path, char *text)
{
	struct stat st;
	size_t n = 0;
	ssize_t got;
	int fd;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    !(st.st_mode & (S_IRUSR | S_IRGRP | S_IROTH)))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while (n < MAX_TEXT && (got = read(fd, text + n, MAX_TEXT - n)) > 0)
		n += (size_t)got;
	close(fd);
	return n;
}

static bool ask(const char *path, const char *question, char *text)
{
	ssize_t result;
	int error = 0, fd;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return report('o', -1, errno, NULL, 0);
	result = write(fd, question, strlen(question));
	if (result < 0)
		error = errno;
	close(fd);
	return report('w', result, error, text, read_answer(path, text));
}

/* A longer text is treated as endless. */
static char *read_all(int fd, size_t *len)
{
	size_t n = 0, size = MAX_TEXT;
	char *text = malloc(size), *more;
	ssize_t got;

	while (text && n < MAX_ANSWER) {
		got = read(fd, text + n, size < MAX_ANSWER ? size - n :
							     MAX_ANSWER - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
		if (n < size)
			continue;
		more = realloc(text, size *= 2);
		if (!more)
			free(text);
		text = more;
	}
	*len = n;
	return text;
}

static bool query(const char *path, const char *question)
{
	struct statfs fs;
	char *text = NULL;
	ssize_t result;
	size_t len = 0;
	int error = 0, fd;
	bool ok;

	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return report('o', -1, errno, NULL, 0);
	if (fstatfs(fd, &fs) < 0 || fs.f_type != DEBUGFS_MAGIC) {
		close(fd);
		return report('o', -1, ENODEV, NULL, 0);
	}
	result = write(fd, question, strlen(question));
	if (result < 0)
		error = errno;
	else
		text = read_all(fd, &len);
	close(fd);
	if (result >= 0 && !text) {
		error = ENOMEM;
		len = 0;
	}
	ok = report('w', result, error, text, len);
	free(text);
	return ok;
}

static bool answer(char *const paths[], const char *line, char *text)
{
	switch (*line) {
	case 'v':
		return ask(paths[0], line + 1, text);
	case 'p':
		return ask(paths[1], line + 1, text);
	case 'q':
		return query(paths[2], line + 1);
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	char line[128], *text;
	bool more = true;

	if (argc != 4) {
		fprintf(stderr, "usage: page-detective-write VIRT PHYS QUERY\n"
			"It is started by libpagedet.\n");
		return 64;
	}
	text = malloc(MAX_TEXT);
	if (!text)
		return 1;
	while (more && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		more = answer(argv + 1, line, text);
	}
	free(text);
	return 0;
}
