/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads ext4's messages about lost data. If ext4 finds no block for data, it
 * drops the data, counts only a message (msg_count), and names the inode in it
 * (fs/ext4/inode.c, mpage_map_and_submit_extent(); page-io.c,
 * ext4_end_io_end()). The number of messages must match the counter; otherwise
 * some are missing, and nothing is known.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/text/text.h"
#include "check/kmsg.h"

/* The largest record (kernel/printk/printk.c). */
#define RECORD 2048
/* No log has more records. */
#define MAX_RECORDS ((uint64_t)1 << 24)

/* Reads the next record. Returns 1, 0 at the end, or -1 on failure. */
static int read_record(int fd, char *buf, uint64_t *number, const char **text)
{
	struct pdet_scan s;
	ssize_t n;

	/* Skip records that were overwritten. */
	do
		n = read(fd, buf, RECORD - 1);
	while (n < 0 && (errno == EPIPE || errno == EINTR));
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	buf[n] = '\0';
	s = (struct pdet_scan){ buf, buf + n };
	*text = memchr(buf, ';', (size_t)n);
	if (!*text || !pdet_scan_dec(&s, number) || !pdet_scan_word(&s, ",") ||
	    !pdet_scan_dec(&s, number))
		return -1;
	++*text;
	buf[*text - buf + (ptrdiff_t)strcspn(*text, "\n")] = '\0';
	return 1;
}

static int open_log(void)
{
	return open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

bool pdet_kmsg_next(uint64_t *ret)
{
	char buf[RECORD];
	const char *text;
	uint64_t i, number = 0;
	int fd = open_log(), r = 1;

	*ret = 0;
	for (i = 0; fd >= 0 && r > 0 && i < MAX_RECORDS; i++) {
		r = read_record(fd, buf, &number, &text);
		*ret = number + 1;
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0 && r == 0 && i > 1;
}

static bool find_inode(const char *text, uint64_t *ret)
{
	const char *at = strstr(text, "inode ");
	struct pdet_scan s;

	if (!at)
		return false;
	at += strlen("inode ");
	s = (struct pdet_scan){ at, at + strlen(at) };
	return pdet_scan_dec(&s, ret);
}

static bool begins_with(const char *text, const char *const *with, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strncmp(text, with[i], strlen(with[i])))
			return true;
	return false;
}

bool pdet_kmsg_line(const char *text, const char *name, uint64_t ino,
		   enum pdet_kmsg_says *says)
{
	static const char before[] = "EXT4-fs (";
	static const char *const lost[] = {
		"Delayed block allocation failed for inode ",
		"failed to convert unwritten extents ",
	};
	/* Further lines of a message that names the inode. */
	static const char *const more[] = {
		"This should not happen!!", "Total free blocks count ",
		"Free/Dirty block details", "free_blocks=", "dirty_blocks=",
		"Block reservation details", "i_reserved_data_blocks=",
	};
	const size_t len = strlen(name);
	uint64_t other;

	if (strncmp(text, before, strlen(before)))
		return false;
	text += strlen(before);
	if (strncmp(text, name, len) || strncmp(text + len, "): ", 3))
		return false;
	text += len + 3;
	if (begins_with(text, more, PDET_COUNT(more)))
		return true;
	if (!begins_with(text, lost, PDET_COUNT(lost)) ||
	    !find_inode(text, &other))
		*says = *says == PDET_KMSG_LOST ? *says : PDET_KMSG_UNKNOWN;
	else if (other == ino || !ino)
		*says = PDET_KMSG_LOST;
	return true;
}

enum pdet_kmsg_says pdet_kmsg_about(uint64_t first, const char *name,
				    uint64_t n, uint64_t ino)
{
	enum pdet_kmsg_says says = PDET_KMSG_OTHERS;
	uint64_t i, number = 0, seen = 0;
	char buf[RECORD];
	const char *text;
	int fd = open_log(), r = 1;

	for (i = 0; fd >= 0 && r > 0 && i < MAX_RECORDS; i++) {
		r = read_record(fd, buf, &number, &text);
		if (r > 0 && number >= first)
			seen += pdet_kmsg_line(text, name, ino, &says);
	}
	if (fd >= 0)
		close(fd);
	if (says == PDET_KMSG_LOST)
		return says;
	return r == 0 && seen == n ? says : PDET_KMSG_UNKNOWN;
}
