/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A client of QEMU's monitor (QMP): one JSON object per line in both
 * directions. A wait takes at most ANSWER_MS, and a line has at most LONGEST
 * bytes.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent.h"

#define ANSWER_MS 15000
#define SILENT_MS 1000		/* after a missing answer, until the next one */
#define LONGEST ((size_t)16 << 20)

static void set_error(struct qmp *q, const char *what, const char *why)
{
	snprintf(q->error, sizeof(q->error), "%s: %s", what, why);
}

/* Reads one more piece: 1, 0 on timeout, -1. */
static int take_more(struct qmp *q, int timeout)
{
	struct pollfd p = { .fd = q->fd, .events = POLLIN };
	ssize_t n;
	int r;

	if (q->cap - q->len < 65536) {
		char *more = q->cap < LONGEST ?
			     realloc(q->buf, q->cap + 262144) : NULL;

		if (!more) {
			set_error(q, "QMP", "an answer is too long");
			return -1;
		}
		q->buf = more;
		q->cap += 262144;
	}
	r = poll(&p, 1, timeout);
	if (r <= 0)
		return r == 0 || errno == EINTR ? 0 : -1;
	n = read(q->fd, q->buf + q->len, q->cap - q->len);
	if (n > 0) {
		q->len += (size_t)n;
		return 1;
	}
	if (n < 0 && errno == EINTR)
		return 0;
	q->gone = true;
	set_error(q, "QMP", "the machine is gone");
	return -1;
}

/* The next complete line, or NULL. */
static json_t *next_line(struct qmp *q)
{
	char *end = q->len ? memchr(q->buf, '\n', q->len) : NULL;
	json_t *line;
	size_t n;

	if (!end)
		return NULL;
	n = (size_t)(end - q->buf) + 1;
	line = json_loadb(q->buf, n, 0, NULL);
	q->len -= n;
	memmove(q->buf, end + 1, q->len);
	return line ? line : json_object();
}

static bool is_event(struct qmp *q, const json_t *line)
{
	const char *name = json_string_value(json_object_get(line, "event"));

	if (name && !strcmp(name, "RESUME")) {
		q->resumed = true;
		q->ran_again |= q->stopped;
	}
	if (name && !strcmp(name, "STOP"))
		q->stopped = true;
	return name != NULL;
}

/* An earlier command may be answered after its timeout. */
static bool is_answer(const json_t *line, unsigned id)
{
	return !id || json_integer_value(json_object_get(line, "id")) == id;
}

/*
 * Waits for the answer to command @id; 0: the next line that is not an event.
 */
static json_t *wait_line(struct qmp *q, unsigned id)
{
	const uint64_t until = agent_clock() + (q->silent ? SILENT_MS :
							    ANSWER_MS);
	bool late = false;
	json_t *line;

	for (;;) {
		line = next_line(q);
		if (line && !is_event(q, line) && is_answer(line, id)) {
			q->silent = false;
			return line;
		}
		json_decref(line);
		if (line)
			continue;
		if (late) {
			set_error(q, "QMP", "no answer");
			q->silent = true;
			return NULL;
		}
		/* The answer may have come while this process was paused. */
		late = agent_clock() > until;
		if (take_more(q, late ? 0 : 200) < 0)
			return NULL;
	}
}

void qmp_wait(struct qmp *q, unsigned ms)
{
	if (!q->gone)
		take_more(q, (int)ms);
	qmp_events(q);
}

void qmp_events(struct qmp *q)
{
	json_t *line;

	while (!q->gone && take_more(q, 0) > 0)
		;
	while ((line = next_line(q))) {
		is_event(q, line);
		json_decref(line);
	}
}

static int send_all(struct qmp *q, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(q->fd, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			q->gone = true;
			set_error(q, "QMP", "the machine is gone");
			return -1;
		}
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int send_line(struct qmp *q, json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT);
	int r = -1;

	if (text)
		r = send_all(q, text, strlen(text));
	if (!r)
		r = send_all(q, "\n", 1);
	free(text);
	return r;
}

json_t *qmp_ask(struct qmp *q, const char *command, json_t *arguments)
{
	const unsigned id = ++q->asked;
	json_t *line = json_pack("{s:s, s:I, s:o*}", "execute", command, "id",
				 (json_int_t)id, "arguments", arguments);
	json_t *answer = NULL, *ret;
	const char *why;

	if (q->fd < 0 || q->gone || !line) {
		set_error(q, command, "the machine is gone");
		json_decref(line);
		return NULL;
	}
	if (!send_line(q, line))
		answer = wait_line(q, id);
	json_decref(line);
	if (!answer)
		return NULL;
	ret = json_incref(json_object_get(answer, "return"));
	if (!ret) {
		why = json_string_value(json_object_get(
			json_object_get(answer, "error"), "desc"));
		set_error(q, command, why ? why : "no answer that makes sense");
	}
	json_decref(answer);
	return ret;
}

int qmp_do(struct qmp *q, const char *command, json_t *arguments)
{
	json_t *answer = qmp_ask(q, command, arguments);

	json_decref(answer);
	return answer ? 0 : -1;
}

char *qmp_human(struct qmp *q, const char *line)
{
	json_t *answer = qmp_ask(q, "human-monitor-command",
				 json_pack("{s:s}", "command-line", line));
	const char *text = json_string_value(answer);
	char *copy = text ? strdup(text) : NULL;

	if (answer && !text)
		set_error(q, line, "no text came");
	json_decref(answer);
	return copy;
}

static int dial(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(at.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at))) {
		const int error = errno;

		close(fd);
		errno = error;
		fd = -1;
	}
	return fd;
}

int qmp_open(struct qmp *q, const char *path, uint64_t until)
{
	json_t *line;

	*q = (struct qmp){ .fd = -1 };
	do {
		q->fd = dial(path);
		if (q->fd < 0)
			agent_sleep(20);
	} while (q->fd < 0 && agent_clock() < until);
	if (q->fd < 0) {
		set_error(q, path, strerror(errno));
		return -1;
	}
	line = wait_line(q, 0);
	if (!json_object_get(line, "QMP")) {
		if (line)
			set_error(q, path, "this is not QMP");
		json_decref(line);
		return -1;
	}
	json_decref(line);
	return qmp_do(q, "qmp_capabilities", NULL);
}

void qmp_close(struct qmp *q)
{
	if (q->fd >= 0)
		close(q->fd);
	free(q->buf);
	*q = (struct qmp){ .fd = -1, .gone = true };
}
