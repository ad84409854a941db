/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses trace lines of writeback errors. A task's name precedes the event and
 * may contain anything, but is shorter than an event's name. An errseq
 * (lib/errseq.c) has the errno in its low 12 bits. errseq_set() returns the
 * previous errseq.
 */
#include <string.h>

#include "disk/wb_err.h"

#define NOTED "filemap_set_wb_err: "
#define TOLD "file_check_and_advance_wb_err: "
#define ERRSEQ_ERROR 0xfffu
/* include/linux/kdev_t.h: limits from MINORBITS */
#define MAX_MAJOR 0xfffu
#define MAX_MINOR 0xfffffu

/* Move to the text after @word. */
static bool skip_to(struct pdet_scan *s, const char *word)
{
	const size_t len = strlen(word);
	const char *at = memmem(s->at, (size_t)(s->end - s->at), word, len);

	if (at)
		s->at = at + len;
	return at;
}

static bool read_dev(struct pdet_scan *s, uint64_t *ret)
{
	uint64_t major, minor;

	if (!pdet_scan_word(s, "dev=") || !pdet_scan_dec(s, &major) ||
	    !pdet_scan_char(s, ':') || !pdet_scan_dec(s, &minor) ||
	    major > MAX_MAJOR || minor > MAX_MINOR)
		return false;
	*ret = major << 32 | minor;
	return true;
}

bool pdet_wb_err_line(struct pdet_scan line, struct pdet_wb_err *ret)
{
	struct pdet_wb_err e = { .told = false };
	struct pdet_scan s = line;
	uint64_t seq;

	if (!skip_to(&s, NOTED)) {
		e.told = true;
		if (!skip_to(&s, TOLD) || !pdet_scan_word(&s, "file="))
			return false;
		pdet_scan_token(&s);
		pdet_scan_blanks(&s);
	}
	if (!read_dev(&s, &e.dev) || !pdet_scan_word(&s, " ino=0x") ||
	    !pdet_scan_hex(&s, &e.ino))
		return false;
	if (e.told && (!pdet_scan_word(&s, " old=0x") ||
		       !pdet_scan_hex(&s, &seq)))
		return false;
	if (!pdet_scan_word(&s, e.told ? " new=0x" : " errseq=0x") ||
	    !pdet_scan_hex(&s, &seq) || s.at != s.end)
		return false;
	e.error = (uint32_t)(seq & ERRSEQ_ERROR);
	*ret = e;
	return true;
}
