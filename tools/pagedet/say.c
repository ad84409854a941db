/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Prints messages to stderr, and maps failures to exit statuses. Names of files
 * and tasks may contain anything, so control characters are shown as \xNN.
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
			return;	/* nothing more can be reported */
		text += n;
		len -= (size_t)n;
	}
}

/* --- lines of a terminal --- */

#define INDENT 2
/* Narrower terminals are left alone. */
#define NARROWEST 30

/* The end of a text in quotes, which begins at @s; or @s if it has none. */
static const char *after_quotes(const char *s)
{
	const char *end = strchr(s + 1, '\'');

	return end ? end + 1 : s;
}

static bool is_command(const char *s)
{
	static const char *const programs[] = { "pagedet ", "sudo ", "echo " };
	size_t i;

	for (i = 0; i < CLI_COUNT(programs); i++)
		if (!strncmp(s, programs[i], strlen(programs[i])))
			return true;
	return false;
}

const char *cli_item_end(const char *s)
{
	const bool command = is_command(s + (*s == '('));
	const char *end = s;

	if (*s == '\'')
		end = after_quotes(s);
	while (*end && (command ? *end != ';' && *end != ',' : *end != ' ')) {
		const char *after = command && *end == '\'' ?
				    after_quotes(end) : end;

		end = after > end ? after : end + 1;
	}
	/* The mark belongs to it. */
	return end + (command && *end);
}

/* Columns of UTF-8. */
static size_t columns(const char *s, const char *end)
{
	size_t n = 0;

	for (; s < end; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/*
 * Copies a line so that it fits the terminal. @to has room for twice as many
 * bytes. Returns its length.
 */
static size_t wrap(const char *line, size_t width, char *to)
{
	const char *s = line, *blanks, *end;
	size_t n = 0, at = 0, wide;

	for (; *s; s = end) {
		blanks = s;
		s += strspn(s, " ");
		end = cli_item_end(s);
		wide = columns(s, end);
		if (at && at + (size_t)(s - blanks) + wide > width) {
			n += (size_t)sprintf(to + n, "\n%*s", INDENT, "");
			at = INDENT;
		} else {
			memcpy(to + n, blanks, (size_t)(s - blanks));
			n += (size_t)(s - blanks);
			at += (size_t)(s - blanks);
		}
		memcpy(to + n, s, (size_t)(end - s));
		n += (size_t)(end - s);
		at += wide;
	}
	return n;
}

static void say(const char *fmt, va_list ap)
{
	static const char digit[] = "0123456789abcdef";
	char text[CLI_HINT + 256], line[4 * sizeof(text) + 16];
	char wrapped[2 * sizeof(line)];
	const uint32_t width = isatty(STDERR_FILENO) ?
			       cli_width(STDERR_FILENO) : 0;
	const char *s;
	size_t n;

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
	line[n] = '\0';
	if (width >= NARROWEST)
		n = wrap(line, width, wrapped);
	else
		memcpy(wrapped, line, n);
	wrapped[n++] = '\n';
	if (!cli_watch_takes_note(wrapped, n))
		write_all(wrapped, n);
}

void cli_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

/* The help page about the current arguments. */
static const char *topic;

const char *cli_topic(const char *name)
{
	const char *before = topic;

	topic = name;
	return before;
}

static void hint(const char *first)
{
	const size_t len = strlen(first);
	const char *join = !len ? "" : strchr(";?", first[len - 1]) ? " " :
			   "; ";

	if (topic)
		cli_say("hint: %s%s'pagedet help %s' explains it", first, join,
			topic);
	else
		cli_say("hint: %s%s'pagedet help' lists commands", first, join);
}

int cli_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	hint("");
	return CLI_USAGE;
}

int cli_refuse(const char *instead, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	hint(instead);
	return CLI_USAGE;
}

int cli_instead(const struct cli_job *job, const char *command,
		const char *fmt, ...)
{
	char text[CLI_HINT];
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	snprintf(text, sizeof(text), "try: %s %s;", job->again, command);
	hint(text);
	return CLI_USAGE;
}

/* @error is a positive errno, of the library or the system. */
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

int cli_status(int error)
{
	return status_of(-error);
}

int cli_fail_errno(const char *fmt, ...)
{
	int error = errno;
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (error == EPIPE)
		cli_interrupt_pipe();
	cli_say("%s: %s", text, strerror(error));
	return status_of(error);
}

int cli_fail(const struct pagedet *pd, int error)
{
	const char *text = pagedet_error(pd);
	const char *advice = pagedet_advice(pd);

	if (error == -ECANCELED) {
		cli_say("%s: looked at 0", cli_stop_words());
		return CLI_UNSURE;
	}
	cli_say("%s", *text ? text : strerror(-error));
	if (error == -EINVAL || error == -E2BIG)
		hint(advice);
	else if (*advice)
		cli_say("hint: %s", advice);
	return status_of(-error);
}
