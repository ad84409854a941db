/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses reports of failed reads and writes of blocks (Linux fs/buffer.c,
 * fs/ext4/page-io.c and super.c, fs/xfs/xfs_buf.c, block/blk-mq.c; 5.10 to
 * 6.18):
 *
 *   Buffer I/O error on dev dm-0, logical block 2065, lost async page write
 *   EXT4-fs warning (device dm-0): ext4_end_bio:353: I/O error 10 writing to
 *       inode 12 starting block 2065)
 *   EXT4-fs error (device sda1): f:123: inode #12: block 99: comm x: WORDS
 *   XFS (dm-0): metadata I/O error in "f+0x1/0x2" at daddr 0x10 len 8 error 5
 *   I/O error, dev sda, sector 123 op 0x1:(WRITE) flags ... (any kind of error
 *       before "error"; "blk_update_request: " or "print_req_error: " before
 *       that, until 5.17)
 *   BTRFS warning (device sda1): csum failed root 5 ino 257 off 4096 csum
 *       0x1 expected csum 0x2 mirror 1	("root 5" since 4.11)
 *
 * The log has only names of devices. A name gives a number only for devices
 * with fixed numbers. Numbers are decimal, except those of XFS. The size of a
 * logical block is not printed; sectors and daddrs have 512 bytes.
 */
#include <string.h>

#include "backend/log/report.h"

#define MOST_NAME 32
#define MINOR_MAX 0xfffff

/* Documentation/admin-guide/devices.txt: block devices with fixed numbers. */
static const struct {
	const char *name;
	unsigned major;
} fixed[] = {
	{ "ram", 1 }, { "loop", 7 }, { "md", 9 },
};

/* sda is 8:0, sda1 8:1, sdb 8:16: disks of the first major number. */
static bool disk(struct pdet_scan s, uint64_t *dev)
{
	uint64_t part = 0;
	unsigned unit;

	if (!pdet_scan_word(&s, "sd") || s.at == s.end || *s.at < 'a' ||
	    *s.at > 'p')
		return false;
	unit = (unsigned)(*s.at++ - 'a');
	if (s.at < s.end && (!pdet_scan_dec(&s, &part) || !part || part > 15))
		return false;
	*dev = (uint64_t)8 << 32 | (unit * 16 + part);
	return s.at == s.end;
}

static void device(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan rest;
	uint64_t number;
	size_t i;

	p->has_dev = disk(s, &p->dev);
	for (i = 0; i < PDET_COUNT(fixed) && !p->has_dev; i++) {
		rest = s;
		if (pdet_scan_word(&rest, fixed[i].name) &&
		    pdet_scan_dec(&rest, &number) && rest.at == rest.end &&
		    number <= MINOR_MAX) {
			p->has_dev = true;
			p->dev = (uint64_t)fixed[i].major << 32 | number;
		}
	}
}

/* Parse a possible device name up to @c. */
static bool name(struct pdet_scan *s, char c, struct pdet_scan *ret)
{
	const char *at = memchr(s->at, c, (size_t)(s->end - s->at));

	if (!at || at == s->at || at - s->at > MOST_NAME ||
	    memchr(s->at, ' ', (size_t)(at - s->at)))
		return false;
	*ret = (struct pdet_scan){ s->at, at };
	s->at = at + 1;
	return true;
}

/* Set the position from a sector of 512 bytes. */
static void sector(struct pdet_log_page *p, uint64_t number)
{
	if (number >> 55)
		return;
	p->has_position = true;
	p->position = number << 9;
}

static bool buffer(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan dev;
	uint64_t block;

	if (!pdet_scan_word(&s, "Buffer I/O error on dev"))
		return false;
	pdet_scan_word(&s, "ice");
	if (!pdet_scan_char(&s, ' ') || !name(&s, ',', &dev) ||
	    !pdet_scan_word(&s, " logical block ") ||
	    !pdet_scan_dec(&s, &block))
		return false;
	device(p, dev);
	return true;
}

static bool ext4(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan dev, at;
	uint64_t number;

	if (!pdet_scan_word(&s, "EXT4-fs ") ||
	    (!pdet_scan_word(&s, "warning (device ") &&
	     !pdet_scan_word(&s, "error (device ")) ||
	    !name(&s, ')', &dev) || !pdet_scan_word(&s, ": "))
		return false;
	if (pdet_log_behind(s, " writing to inode ", &at) ||
	    pdet_log_behind(s, ": inode #", &at)) {
		if (!pdet_scan_dec(&at, &number))
			return false;
		p->has |= PDET_LOG_INODE;
		p->inode = number;
	} else if (!pdet_log_behind(s, ": block ", &at) ||
		   !pdet_scan_dec(&at, &number)) {
		return false;
	}
	device(p, dev);
	return true;
}

static bool xfs(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan dev, at;
	uint64_t daddr;

	if (!pdet_scan_word(&s, "XFS (") || !name(&s, ')', &dev) ||
	    !pdet_scan_word(&s, ": metadata I/O error in ") ||
	    !pdet_log_behind(s, " at daddr ", &at) ||
	    !pdet_log_hex(&at, &daddr))
		return false;
	device(p, dev);
	sector(p, daddr);
	return true;
}

/* A filesystem of BTRFS may have several devices: the name is not that of the
 * bad one, and files have another number. */
static bool btrfs(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan rest;
	uint64_t root, inode, offset;
	bool minus = false;

	if (!pdet_scan_word(&s, "BTRFS ") ||
	    !pdet_log_behind(s, "): csum failed ", &s))
		return false;
	if (pdet_scan_word(&s, "root ")) {
		minus = pdet_scan_char(&s, '-');
		if (!pdet_scan_dec(&s, &root) || !pdet_scan_char(&s, ' '))
			return false;
	}
	if (!pdet_scan_word(&s, "ino ") || !pdet_scan_dec(&s, &inode) ||
	    !pdet_scan_word(&s, " off ") || !pdet_scan_dec(&s, &offset) ||
	    !pdet_log_behind(s, " csum ", &rest))
		return false;
	/* Trees of the filesystem's own, such as that of relocation: not a
	 * file of a user. */
	if (minus)
		return true;
	p->has |= PDET_LOG_INODE;
	p->inode = inode;
	p->has_position = true;
	p->position = offset;
	return true;
}

static bool block(struct pdet_log_page *p, struct pdet_scan s)
{
	static const char error[] = " error";
	const size_t len = sizeof(error) - 1;
	struct pdet_scan dev;
	const char *at;
	uint64_t number;

	/* "blk_update_request: recoverable transport": at most this text,
	 * without a comma, precedes it. */
	at = memchr(s.at, ',', PDET_MIN((size_t)(s.end - s.at), (size_t)64));
	if (!at || (size_t)(at - s.at) < len || memcmp(at - len, error, len))
		return false;
	s.at = at;
	if (!pdet_scan_word(&s, ", dev ") || !name(&s, ',', &dev) ||
	    !pdet_scan_word(&s, " sector ") || !pdet_scan_dec(&s, &number))
		return false;
	device(p, dev);
	sector(p, number);
	return true;
}

bool pdet_log_io_begins(struct pdet_log_page *p, struct pdet_scan s,
			bool *memory)
{
	if (!buffer(p, s) && !ext4(p, s) && !xfs(p, s) && !btrfs(p, s) &&
	    !block(p, s)) {
		p->has = 0;
		return false;
	}
	p->report = PAGEDET_REPORT_IO_ERROR;
	p->found = true;
	pdet_log_says(p, s, memory);
	return true;
}
