/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes the answer to its destination. A file gets its name only once it is
 * complete, so that no one mistakes a part for the whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Number of temporary names to try. */
#define TRIES 100

static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static int open_directly(struct cli_output *out, const char *path)
{
	out->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (out->fd < 0)
		return cli_fail_errno("cannot write '%s'", path);
	return CLI_ANSWERED;
}

/* Length of the directory part of out->target. */
static int folder_of(const struct cli_output *out)
{
	const char *slash = strrchr(out->target, '/');

	return slash ? (int)(slash - out->target) + 1 : 0;
}

static char *temporary_name(const struct cli_output *out)
{
	char *name;

	return asprintf(&name, "%.*s.pagedet-XXXXXX", folder_of(out),
			out->target) < 0 ? NULL : name;
}

static void link_of(int fd, char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d", fd);
}

/*
 * Opens a file without a name, so that nothing remains if the process is
 * killed. Some filesystems do not support this, and naming the file needs
 * /proc.
 */
static int open_nameless(const struct cli_output *out)
{
	char folder[PATH_MAX], link[64];
	int fd;

	if (snprintf(folder, sizeof(folder), "%.*s.", folder_of(out),
		     out->target) >= (int)sizeof(folder))
		return -1;
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	link_of(fd, link, sizeof(link));
	if (faccessat(AT_FDCWD, link, F_OK, 0) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Opens a file that will get the name out->target. */
static int open_beside(struct cli_output *out, const char *path, mode_t mode)
{
	out->fd = open_nameless(out);
	if (out->fd < 0) {
		out->temp = temporary_name(out);
		out->fd = out->temp ? mkostemp(out->temp, O_CLOEXEC) : -1;
	}
	if (out->fd < 0) {
		free(out->temp);
		out->temp = NULL;
		return cli_fail_errno("cannot write '%s': cannot create a "
				      "temporary file in its directory", path);
	}
	cli_interrupt_removes(out->temp);
	if (fchmod(out->fd, mode))
		return cli_fail_errno("cannot set the mode of '%s'",
				      out->target);
	return CLI_ANSWERED;
}

/*
 * An existing file is replaced by rename, for which the new file gets a
 * temporary name.
 */
static int name_nameless(struct cli_output *out)
{
	char link[64];
	int i;

	link_of(out->fd, link, sizeof(link));
	if (linkat(AT_FDCWD, link, AT_FDCWD, out->target,
		   AT_SYMLINK_FOLLOW) == 0)
		return 0;
	for (i = 0; errno == EEXIST && i < TRIES; i++) {
		free(out->temp);
		if (asprintf(&out->temp, "%.*s.pagedet-%d-%d", folder_of(out),
			     out->target, (int)getpid(), i) < 0) {
			out->temp = NULL;
			return -1;
		}
		if (linkat(AT_FDCWD, link, AT_FDCWD, out->temp,
			   AT_SYMLINK_FOLLOW) == 0) {
			cli_interrupt_removes(out->temp);
			return rename(out->temp, out->target);
		}
	}
	/* The file belongs to someone else. */
	free(out->temp);
	out->temp = NULL;
	return -1;
}

/* Some filesystems report a full disk only when the file is closed. */
static int flush(int fd)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? 0 : close(copy);
}

/* The output is complete: gives it its name. */
static int give_name(struct cli_output *out)
{
	return out->temp ? rename(out->temp, out->target) : name_nameless(out);
}

FILE *cli_output_stream(int fd)
{
	const int copy = dup(fd);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");

	if (!f && copy >= 0)
		close(copy);
	return f;
}

int cli_output_open(struct cli_output *out, const char *path)
{
	struct stat st;
	int status;

	memset(out, 0, sizeof(*out));
	out->fd = STDOUT_FILENO;
	if (!path || !strcmp(path, "-"))
		return CLI_ANSWERED;
	out->fd = -1;
	if (stat(path, &st)) {
		if (errno != ENOENT)
			return cli_fail_errno("cannot write '%s'", path);
		/*
		 * rename would replace a dangling link instead of following it.
		 */
		if (!lstat(path, &st))
			return cli_fail_errno("cannot write '%s': it is a link "
					      "to a file that does not exist",
					      path);
		out->target = strdup(path);
		st.st_uid = geteuid();
		st.st_mode = default_mode();
	} else if (S_ISREG(st.st_mode)) {
		out->target = realpath(path, NULL);
	} else {
		return open_directly(out, path);
	}
	if (!out->target)
		return cli_fail_errno("cannot write '%s'", path);
	/*
	 * If the file has another owner, its permissions must stay as they are.
	 */
	if (st.st_uid != geteuid())
		st.st_mode = default_mode();
	status = open_beside(out, path, st.st_mode & 0777);
	return status ? cli_output_close(out, false, status) : status;
}

int cli_output_write(int fd, const char *text, size_t len)
{
	if (cli_watch_takes(fd, text, len))
		return CLI_ANSWERED;
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cli_fail_errno("cannot write the output");
		text += n;
		len -= (size_t)n;
	}
	return CLI_ANSWERED;
}

int cli_output_close(struct cli_output *out, bool keep, int status)
{
	bool named;
	int late;

	if (out->png) {
		late = cli_png_end(out, keep);
		keep = keep && !late;
		status = late ? late : status;
	}
	/* Rounds write to standard output repeatedly. */
	if (cli_watch_holds(out->fd))
		out->fd = -1;
	named = out->target && out->fd >= 0;
	if (out->fd >= 0 && keep && flush(out->fd)) {
		status = cli_fail_errno("cannot write the output");
		keep = false;
	}
	if (named && keep && give_name(out)) {
		status = cli_fail_errno("cannot rename the temporary file to "
					"'%s'",
					out->target);
		keep = false;
	}
	if (out->fd >= 0)
		close(out->fd);
	if (named && !keep) {
		if (out->temp)
			unlink(out->temp);
		cli_say("'%s' was not written", out->target);
	}
	cli_interrupt_removes(NULL);
	free(out->temp);
	free(out->target);
	memset(out, 0, sizeof(*out));
	out->fd = -1;
	return status;
}
