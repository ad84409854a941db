/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes pictures with names that end with .png: keeps the SVG in memory until
 * it is complete, and converts it with rsvg-convert of librsvg.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

static const char program[] = "rsvg-convert";

extern char **environ;

static bool is_png(const char *path)
{
	const size_t len = path ? strlen(path) : 0;

	return len > 4 && !strcasecmp(path + len - 4, ".png");
}

bool cli_is_installed(const char *name)
{
	const char *at = getenv("PATH");
	char file[4096];
	size_t len;

	if (!at)
		at = "/usr/bin:/bin";
	for (; *at; at += len + (at[len] == ':')) {
		len = strcspn(at, ":");
		snprintf(file, sizeof(file), "%.*s/%s", (int)len, at, name);
		if (!access(file, X_OK))
			return true;
	}
	return false;
}

/* Returns the suffix of a name whose format is not supported. */
static const char *foreign(const char *path)
{
	static const char *const ends[] = { ".jpg", ".jpeg", ".gif", ".webp",
					    ".pdf", ".bmp", ".tif", ".tiff" };
	const size_t len = path ? strlen(path) : 0;
	size_t i;

	for (i = 0; i < CLI_COUNT(ends); i++)
		if (len > strlen(ends[i]) &&
		    !strcasecmp(path + len - strlen(ends[i]), ends[i]))
			return ends[i];
	return NULL;
}

int cli_png_check(const char *path)
{
	if (foreign(path))
		return cli_usage("'%s': pictures are written as SVG or PNG, "
				 "not as %s", path, foreign(path) + 1);
	if (!is_png(path) || cli_is_installed(program))
		return CLI_ANSWERED;
	cli_say("cannot write '%s': PNG needs the program %s", path, program);
	cli_say("hint: apt-get install librsvg2-bin (other systems: librsvg2-"
		"tools), or name a file that ends with .svg, which needs "
		"nothing");
	return CLI_UNAVAILABLE;
}

int cli_picture_open(struct cli_output *out, const char *path)
{
	const int status = cli_output_open(out, path);
	int svg;

	if (status || !is_png(path))
		return status;
	svg = memfd_create("pagedet.svg", MFD_CLOEXEC);
	if (svg < 0)
		return cli_fail_errno("cannot make a PNG");
	out->png_fd = out->fd;
	out->png = true;
	out->fd = svg;
	return CLI_ANSWERED;
}

static int convert(int svg, int png)
{
	char *argv[] = { (char *)program, NULL };
	posix_spawn_file_actions_t fds;
	int status = 0, error;
	pid_t pid;

	error = posix_spawn_file_actions_init(&fds);
	if (!error) {
		error = posix_spawn_file_actions_adddup2(&fds, svg, 0);
		if (!error)
			error = posix_spawn_file_actions_adddup2(&fds, png, 1);
		if (!error)
			error = posix_spawnp(&pid, program, &fds, NULL, argv,
					     environ);
		posix_spawn_file_actions_destroy(&fds);
	}
	errno = error;
	if (error)
		return cli_fail_errno("cannot start %s", program);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return cli_fail_errno("cannot wait for %s", program);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return CLI_ANSWERED;
	cli_say("%s could not make a PNG of the picture", program);
	return CLI_IO;
}

int cli_png_end(struct cli_output *out, bool keep)
{
	int status = CLI_ANSWERED;

	if (keep && lseek(out->fd, 0, SEEK_SET) < 0)
		status = cli_fail_errno("cannot make a PNG");
	else if (keep)
		status = convert(out->fd, out->png_fd);
	close(out->fd);
	out->fd = out->png_fd;
	out->png = false;
	return status;
}
