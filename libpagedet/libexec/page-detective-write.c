/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes questions to the files of the driver Page Detective, which may not
 * come back from one: usage: page-detective-write VIRT PHYS.
 *
 * Standard input has a question a line: 'v' or 'p' for the file, then what is
 * written. For each standard output gets "w RESULT ERRNO LENGTH" or, if the
 * file could not be opened, "o -1 ERRNO 0"; then LENGTH bytes that a kernel
 * has put into the file to be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An answer is no longer. */
#define MAX_TEXT (1 << 20)

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

/* What there is to read. The files of the driver as it was posted cannot be
 * read; a pipe would wait. */
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

int main(int argc, char **argv)
{
	char line[128], *text;
	bool more = true;

	if (argc != 3) {
		fprintf(stderr, "usage: page-detective-write VIRT PHYS\n"
			"It is started by libpagedet.\n");
		return 64;
	}
	text = malloc(MAX_TEXT);
	if (!text)
		return 1;
	while (more && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line != 'v' && *line != 'p')
			break;
		more = ask(argv[*line == 'v' ? 1 : 2], line + 1, text);
	}
	free(text);
	return 0;
}
