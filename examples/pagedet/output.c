/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Where the answer goes. A file gets its name only when it is whole, so that
 * nobody takes half an answer for one.
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

/* A temporary file beside out->target, which is then its final name. */
static int open_beside(struct cli_output *out, const char *path, mode_t mode)
{
	const char *slash = strrchr(out->target, '/');
	int dir = slash ? (int)(slash - out->target) + 1 : 0;

	if (asprintf(&out->temp, "%.*s.pagedet-XXXXXX", dir, out->target) < 0) {
		out->temp = NULL;
		return cli_fail_errno("cannot write '%s'", path);
	}
	out->fd = mkostemp(out->temp, O_CLOEXEC);
	if (out->fd < 0) {
		free(out->temp);
		out->temp = NULL;
		return cli_fail_errno("cannot write '%s': no temporary file "
				      "beside it", path);
	}
	cli_interrupt_removes(out->temp);
	if (fchmod(out->fd, mode))
		return cli_fail_errno("cannot set the mode of '%s'",
				      out->temp);
	return CLI_ANSWERED;
}

int cli_output_open(struct cli_output *out, const char *path)
{
	struct stat st;

	memset(out, 0, sizeof(*out));
	out->fd = STDOUT_FILENO;
	if (!path || !strcmp(path, "-"))
		return CLI_ANSWERED;
	out->fd = -1;
	if (stat(path, &st)) {
		if (errno != ENOENT)
			return cli_fail_errno("cannot write '%s'", path);
		/* A link to nowhere would be replaced, not followed. */
		if (!lstat(path, &st))
			return cli_fail_errno("cannot write '%s': the link "
					      "leads nowhere", path);
		out->target = strdup(path);
		st.st_mode = default_mode();
	} else if (S_ISREG(st.st_mode)) {
		out->target = realpath(path, NULL);
	} else {
		return open_directly(out, path);
	}
	if (!out->target)
		return cli_fail_errno("cannot write '%s'", path);
	return open_beside(out, path, st.st_mode & 0777);
}

int cli_output_write(int fd, const char *text, size_t len)
{
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
	/* Some filesystems tell only now that there was no space. */
	if (out->fd >= 0 && close(out->fd) && keep) {
		status = cli_fail_errno("cannot write the output");
		keep = false;
	}
	if (out->temp && keep && rename(out->temp, out->target)) {
		status = cli_fail_errno("cannot give '%s' its name",
					out->target);
		keep = false;
	}
	if (out->temp && !keep) {
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
