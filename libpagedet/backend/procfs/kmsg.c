/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the running kernel's log from /dev/kmsg, one record for each read(2)
 * (Documentation/ABI/testing/dev-kmsg):
 *
 *	PRIORITY,SEQUENCE,MICROSECONDS,FLAGS[,...];TEXT
 *	 KEY=VALUE
 *
 * PRIORITY is facility * 8 + level; unprintable bytes appear as "\xNN".
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/procfs/procfs.h"
#include "base/text/text.h"

/* PRINTK_MESSAGE_MAX of kernel/printk/internal.h, times four for escapes. */
#define MOST_BYTES 16384
/* Limit, in case a writer adds records as fast as we read them. */
#define MOST_READS (1u << 22)

/* Decode \xNN in place; returns the new length. */
static size_t unescape(char *text, size_t len)
{
	size_t from, to = 0;

	for (from = 0; from < len; from++) {
		int high = 16, low = 16;

		if (text[from] == '\\' && len - from >= 4 &&
		    text[from + 1] == 'x') {
			high = pdet_hex_digit(text[from + 2]);
			low = pdet_hex_digit(text[from + 3]);
		}
		if (high < 16 && low < 16) {
			text[to++] = (char)(high << 4 | low);
			from += 3;
		} else {
			text[to++] = text[from];
		}
	}
	return to;
}

static bool parse(char *buf, size_t n, struct pagedet_log_record *ret)
{
	char *text = memchr(buf, ';', n), *end;
	struct pdet_scan s = { buf, text };
	uint64_t priority, usec;

	if (!text || !pdet_scan_dec(&s, &priority) ||
	    !pdet_scan_char(&s, ',') || !pdet_scan_dec(&s, &ret->seq) ||
	    !pdet_scan_char(&s, ',') || !pdet_scan_dec(&s, &usec) ||
	    priority > UINT32_MAX || usec > UINT64_MAX / 1000)
		return false;
	text++;
	end = memchr(text, '\n', n - (size_t)(text - buf));
	ret->size = sizeof(*ret);
	ret->time_ns = usec * 1000;
	ret->level = priority & 7;
	ret->facility = (uint32_t)(priority >> 3);
	ret->text = text;
	ret->len = unescape(text, (size_t)((end ? end : buf + n) - text));
	return true;
}

static int open_kmsg(struct pdet_env *env)
{
	struct stat st;
	char path[4096];
	int fd, r;

	if (pdet_path(env, path, sizeof(path), "/dev/kmsg") < 0)
		return pdet_fail(env, EINVAL, "the path of the root directory "
					      "is too long");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0) {
		r = pdet_fail_errno(env, "cannot open the kernel's log, %s",
				    path);
		if (r == -EACCES)
			pdet_advise(env, "needs CAP_SYSLOG (root), or "
				    "kernel.dmesg_restrict=0");
		/* A captured tree has no log, nor does a kernel without printk:
		 * this source cannot answer. */
		return r == -ENOENT ? -ENOTSUP : r;
	}
	if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode))
		return fd;
	close(fd);
	return pdet_fail(env, ENOTSUP, "cannot read the kernel's log: %s is "
			 "not a device", path);
}

int procfs_kernel_log(struct pdet_backend *b, struct pdet_env *env,
		      pagedet_log_record_fn *fn, void *user, uint64_t *lost)
{
	uint64_t expected = 0;
	bool begun = false;
	uint32_t reads;
	int fd = open_kmsg(env), r = 0;

	(void)b;
	if (fd < 0)
		return fd;
	for (reads = 0; r == 0 && reads < MOST_READS; reads++) {
		struct pagedet_log_record record;
		char buf[MOST_BYTES];
		ssize_t n = read(fd, buf, sizeof(buf));

		/* EPIPE: records were overwritten. The next read continues
		 * after them, and sequence numbers show how many. */
		if (n < 0 && (errno == EINTR || errno == EPIPE))
			continue;
		if (n == 0 || (n < 0 && errno == EAGAIN))
			break;
		if (n < 0) {
			r = pdet_fail_errno(env,
					    "cannot read the kernel's log");
			if (r == -EACCES)
				pdet_advise(env, "needs CAP_SYSLOG (root), or "
					    "kernel.dmesg_restrict=0");
			break;
		}
		if (!parse(buf, (size_t)n, &record)) {
			++*lost;
			continue;
		}
		if (begun && record.seq > expected)
			*lost += record.seq - expected;
		begun = true;
		expected = record.seq + 1;
		r = fn(user, &record);
	}
	/* An unknown number of records is left. */
	*lost += reads == MOST_READS;
	close(fd);
	return r;
}
