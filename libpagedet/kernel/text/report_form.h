/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The form of the lines of kernel reports, as far as it tells whether a line is
 * whole, and where one was broken. */
#ifndef PDET_KERNEL_TEXT_REPORT_FORM_H
#define PDET_KERNEL_TEXT_REPORT_FORM_H

#include "base/text/text.h"

/* pdet_report_begins - whether @text, without prefix, begins as a line of a
 * report does, or as one that the kernel prints beside reports. */
bool pdet_report_begins(struct pdet_scan text);

/* pdet_report_opens - whether it certainly begins as the first line of a
 * report, and not as the rest of a line. */
bool pdet_report_opens(struct pdet_scan text);

/* How a line and the text after it belong together. */
enum pdet_report_joint {
	PDET_REPORT_UNTOLD = 0,	/* the form does not tell */
	PDET_REPORT_WHOLE,	/* the line is complete */
	PDET_REPORT_WORD,	/* it was broken within a word */
	PDET_REPORT_BLANK	/* it was broken between words */
};

/* pdet_report_joint - what the form of @line, without prefix, and of @next, the
 * line after it, tells. */
enum pdet_report_joint pdet_report_joint(struct pdet_scan line,
					 struct pdet_scan next);

#endif
