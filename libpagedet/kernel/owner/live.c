/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads records of the running kernel by page frame number. The file position
 * does not show where a record ended, because the descriptor is shared. The PFN
 * in a record does: the next record has a higher one.
 */
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/env.h"
#include "kernel/owner/live.h"

/* The kernel may be short of memory for a moment. */
#define TRIES 3

bool pdet_owner_live_is(const char *path)
{
	const char *name = strrchr(path, '/');
	struct statfs fs;

	return !strcmp(name ? name + 1 : path, "page_owner") &&
	       statfs(path, &fs) == 0 && (uint32_t)fs.f_type == DEBUGFS_MAGIC;
}

bool pdet_owner_live_by_number(int fd, bool numbers)
{
	const char *mode = numbers ? "mode=handle" : "mode=stack";
	const size_t len = strlen(mode);

	return write(fd, mode, len) == (ssize_t)len;
}

/* The kernel writes a record into one page. */
size_t pdet_owner_live_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

ssize_t pdet_owner_live_at(int fd, uint64_t pfn, char *buf, size_t size)
{
	ssize_t n;

	if (pfn > INT64_MAX)
		return 0;
	do {
		n = pread(fd, buf, size, (off_t)pfn);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -pdet_errno_closed(errno) : n;
}

/* The PFN of a record. The last line with a PFN counts if the record cannot be
 * parsed, because a task's name precedes it. */
static bool page_of(const char *text, size_t n, uint64_t *ret)
{
	static const char word[] = "\nPFN ";
	struct pdet_scan at = { text, text + n }, line = { NULL, NULL };
	struct pdet_owner_record r;

	if (pdet_owner_next(&at, true, PDET_OWNER_SKIP_GFP, &r) ==
	    PDET_OWNER_RECORD) {
		*ret = r.pfn;
		return true;
	}
	at.at = text;
	while ((at.at = memmem(at.at, (size_t)(at.end - at.at), word,
			       sizeof(word) - 1))) {
		at.at += sizeof(word) - 1;
		line = at;
	}
	return line.at && (pdet_scan_word(&line, "0x") ?
			   pdet_scan_hex(&line, ret) :
			   pdet_scan_dec(&line, ret));
}

/*
 * The first page after one whose record the kernel cannot write, because the
 * record is longer than a page. Every read at or below that page fails; the
 * error does not name it.
 */
static uint64_t step_over(int fd, uint64_t at, char *buf, size_t size)
{
	uint64_t good, step = 1;

	while (at + step <= INT64_MAX &&
	       pdet_owner_live_at(fd, at + step, buf, size) == -ENOMEM)
		step *= 2;
	good = at + step;
	at += step / 2;
	while (good - at > 1) {
		step = (good - at) / 2;
		if (pdet_owner_live_at(fd, at + step, buf, size) == -ENOMEM)
			at += step;
		else
			good = at + step;
	}
	return good;
}

/* One read, repeated if the kernel is short of memory. */
static ssize_t read_one(int fd, struct pdet_owner_part *part, char *buf,
			size_t size)
{
	unsigned tries;
	ssize_t n;

	for (;;) {
		tries = TRIES;
		do {
			n = pdet_owner_live_at(fd, part->at, buf, size);
		} while (n == -ENOMEM && --tries);
		if (n != -ENOMEM)
			return n;
		part->at = step_over(fd, part->at, buf, size);
		part->unwritten++;
		if (part->at >= part->end)
			return 0;
	}
}

ssize_t pdet_owner_live_block(int fd, struct pdet_owner_part *part, char *buf,
			      size_t size)
{
	const size_t room = pdet_owner_live_size();
	size_t n = 0;

	while (part->at < part->end && size - n >= room) {
		ssize_t more = read_one(fd, part, buf + n, room);
		uint64_t pfn;

		if (more == 0 && part->at < part->end) {
			part->at = part->end;
			part->behind = UINT64_MAX;
		}
		if (more <= 0)
			return n ? (ssize_t)n : more;
		if (!page_of(buf + n, (size_t)more, &pfn) || pfn < part->at)
			return n ? (ssize_t)n : -EBADMSG;
		part->at = pfn >= part->end ? part->end : pfn + 1;
		if (pfn >= part->end) {
			part->behind = pfn;
			break;
		}
		n += (size_t)more;
		part->records++;
	}
	return (ssize_t)n;
}
