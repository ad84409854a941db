/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Programs, patches and manuals that quote what the kernel prints. */
#ifndef PDET_BACKEND_LOG_QUOTED_H
#define PDET_BACKEND_LOG_QUOTED_H

#include "backend/log/log.h"

/* What is known of a text after some of its lines. Zeroed at first. */
struct pdet_log_quoting {
	uint64_t at;		/* lines so far */
	uint64_t old, new;	/* lines of a hunk of a patch to come */
	struct pdet_scan until;	/* the end of a quotation */
	bool whole;		/* that is a line of its own */
	unsigned sought;	/* ends that were not found */
	size_t above;		/* length of the line before */
	/* Lines that are not empty, and not of a quotation: */
	size_t lines, code, markup, headers;
	bool source;		/* it says that it is source code */
	bool json;
};

/* pdet_log_is_quoted - whether the next line is of a program, a patch or a
 * script, which quote. @text: where pdet_log_line() has found its text.
 * @of_log: it has what a log puts before lines, and begins no quotation of
 * several lines. @rest: the lines after it. */
bool pdet_log_is_quoted(struct pdet_log_quoting *q, struct pdet_scan line,
			const char *text, bool of_log, struct pdet_scan rest);

/* pdet_log_is_program, pdet_log_is_manual - whether the lines were those of
 * source code, or of documentation with headings and literal blocks, which a
 * bug tracker's page also has. Mails are neither. */
bool pdet_log_is_program(const struct pdet_log_quoting *q);
bool pdet_log_is_manual(const struct pdet_log_quoting *q);

/* pdet_log_fence - whether a literal block of a manual begins or ends.
 * pdet_log_parts - whether the line parts blocks, outside of those. */
bool pdet_log_fence(struct pdet_scan line);
bool pdet_log_parts(struct pdet_scan line);

#endif
