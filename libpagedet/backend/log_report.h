/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reports of the kernel that name a page: between the files that know a form
 * each, log_report.c and log.c.
 */
#ifndef PDET_BACKEND_LOG_REPORT_H
#define PDET_BACKEND_LOG_REPORT_H

#include "backend/log_rows.h"

/* How many lines that are not its own a report is waited for: behind the head
 * of KASAN's and SLUB's stand stacks of three tasks. */
#define PDET_LOG_PATIENCE 64
#define PDET_LOG_PATIENCE_LONG 512

/* --- log_report.c --- */

/* pdet_log_hex - a number, with 0x or without: it is hex either way. */
bool pdet_log_hex(struct pdet_scan *s, uint64_t *ret);

/* pdet_log_behind - @ret begins behind the first @word of @line; false if there
 * is none. */
bool pdet_log_behind(struct pdet_scan line, const char *word,
		     struct pdet_scan *ret);

/* pdet_log_before - cuts @s off before the last @word in it. */
bool pdet_log_before(struct pdet_scan *s, const char *word);

/* pdet_log_task - "COMM:PID" or "COMM/PID", all of @s: the name may have @c in
 * it. False, and nothing kept, if it is not that. */
bool pdet_log_task(struct pdet_log_page *p, struct pdet_scan s, char c,
		   bool *memory);

/* pdet_log_name - a task's name, if it may be one and none is known. */
void pdet_log_name(struct pdet_log_page *p, struct pdet_scan s, bool *memory);

/* pdet_log_cpu - "CPU: 1 [UID: 0] PID: 58 Comm: modprobe ...": the task is the
 * one that is known by that name, or by none. */
bool pdet_log_cpu(struct pdet_log_page *p, struct pdet_scan text,
		  bool *memory);

/* pdet_log_says - what happened, in the report's words; only the first. */
void pdet_log_says(struct pdet_log_page *p, struct pdet_scan s, bool *memory);

/* pdet_log_kernel_address - by "%px", or by "%p", which is most often a hash
 * (Documentation/core-api/printk-formats.rst). */
void pdet_log_kernel_address(struct pdet_log_page *p, uint64_t addr,
			     bool may_be_hash);

/* --- the forms: does a report begin here, into *p, which is empty if not; is
 * this a further line of it --- */

bool pdet_log_bad_page_begins(struct pdet_log_page *p, struct pdet_scan s,
			      bool *memory);
bool pdet_log_bad_page(struct pdet_log_page *p, struct pdet_scan s,
		       bool *memory);
bool pdet_log_poison_begins(struct pdet_log_page *p, struct pdet_scan s,
			    bool *memory);
bool pdet_log_machine_check_begins(struct pdet_log_page *p, struct pdet_scan s,
				   bool *memory);
bool pdet_log_machine_check(struct pdet_log_page *p, struct pdet_scan s,
			    bool *memory);
bool pdet_log_slab_begins(struct pdet_log_page *p, struct pdet_scan s,
			  bool *memory);
bool pdet_log_slab(struct pdet_log_page *p, struct pdet_scan s, bool *memory);
bool pdet_log_kasan_begins(struct pdet_log_page *p, struct pdet_scan s,
			   bool *memory);
bool pdet_log_kasan(struct pdet_log_page *p, struct pdet_scan s,
		    bool *memory);
bool pdet_log_io_begins(struct pdet_log_page *p, struct pdet_scan s,
			bool *memory);
bool pdet_log_hung_begins(struct pdet_log_page *p, struct pdet_scan s,
			  bool *memory);
bool pdet_log_hung(struct pdet_log_page *p, struct pdet_scan s, bool *memory);

#endif
