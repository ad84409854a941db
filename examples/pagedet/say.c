/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Words to stderr, and which exit status goes with which failure. Names of
 * files and tasks may hold anything, so what could steer a terminal is shown
 * as \xNN.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static void write_all(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(STDERR_FILENO, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;	/* nobody left to tell */
		text += n;
		len -= (size_t)n;
	}
}

static void say(const char *fmt, va_list ap)
{
	static const char digit[] = "0123456789abcdef";
	char text[2048], line[4 * sizeof(text) + 16];
	size_t n;
	const char *s;

	vsnprintf(text, sizeof(text), fmt, ap);
	n = (size_t)sprintf(line, "pagedet: ");
	for (s = text; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c >= ' ' && c != 0x7f) {
			line[n++] = (char)c;
			continue;
		}
		line[n++] = '\\';
		line[n++] = 'x';
		line[n++] = digit[c >> 4];
		line[n++] = digit[c & 15];
	}
	line[n++] = '\n';
	write_all(line, n);
}

void cli_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

int cli_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	cli_say("hint: 'pagedet help' lists commands and options");
	return CLI_USAGE;
}

/* @error is a positive errno, of the library or of the system. */
static int status_of(int error)
{
	switch (error) {
	case ESRCH:
		return CLI_NO;
	case ETIMEDOUT: case ECANCELED: case ENODATA:
		return CLI_UNSURE;
	case EINVAL: case E2BIG:
		return CLI_USAGE;
	case EBADMSG: case EOVERFLOW:
		return CLI_MALFORMED;
	case ENOENT: case ENOTDIR: case ELOOP:
		return CLI_NO_INPUT;
	case ENOTSUP: case ENOSYS:
		return CLI_UNAVAILABLE;
	case EACCES: case EPERM:
		return CLI_DENIED;
	default:
		return CLI_IO;
	}
}

int cli_fail_errno(const char *fmt, ...)
{
	int error = errno;
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cli_say("%s: %s", text, strerror(error));
	return status_of(error);
}

int cli_fail(const struct pagedet *pd, int error)
{
	const char *text = pagedet_error(pd);
	const char *advice = pagedet_advice(pd);

	cli_say("%s", *text ? text : strerror(-error));
	if (*advice)
		cli_say("hint: %s", advice);
	return status_of(-error);
}
