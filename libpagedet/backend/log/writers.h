/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the writer of each line of reports with a block of dump_page() in a log
 * that does not identify callers. Several processors may print such reports at
 * the same time; each prints its own lines in a known order.
 */
#ifndef PDET_BACKEND_LOG_WRITERS_H
#define PDET_BACKEND_LOG_WRITERS_H

#include "backend/log/log.h"

/* --- step.c: what a line is for its report --- */

enum pdet_log_form {
	PDET_LOG_OF_DUMP,	/* a block alone, or of Page Detective */
	PDET_LOG_OF_STATE,	/* "Bad page state" */
	PDET_LOG_OF_MAP,	/* "Bad page map" */
	PDET_LOG_OF_KASAN,
	PDET_LOG_OF_MOVE
};

enum pdet_log_step_kind {
	PDET_LOG_NO_STEP,	/* it is not of a block or such a report */
	PDET_LOG_BEGIN,		/* first line of a report */
	PDET_LOG_STEP_PAGE, PDET_LOG_STEP_HEAD, PDET_LOG_STEP_MEMCG,
	PDET_LOG_STEP_MAPPING, PDET_LOG_STEP_FLAGS, PDET_LOG_STEP_TYPE,
	PDET_LOG_STEP_RAW, PDET_LOG_STEP_REASON, PDET_LOG_STEP_OWNER,
	PDET_LOG_STEP_LEVELS, PDET_LOG_STEP_ADDR, PDET_LOG_STEP_FILE,
	PDET_LOG_STEP_CPU
};

struct pdet_log_step {
	enum pdet_log_step_kind kind;
	enum pdet_log_form form; /* of BEGIN; of REASON if said */
	bool named;		/* pfn is known, or the form of REASON */
	bool entry;		/* pfn is a page table entry */
	bool wide;		/* words of 64 bits */
	uint64_t pfn;
	int64_t refcount, mapcount; /* of PAGE */
	uint64_t word, counts;	/* of FLAGS; first and third word of RAW */
	char comm[16];		/* of BEGIN and CPU */
};

/* pdet_log_step_of - classify a line. False if memory is short. */
bool pdet_log_step_of(struct pdet_scan text, struct pdet_log_step *ret);

/* pdet_log_step_names - whether the entry or number @a of a first line is that
 * of page @pfn. */
bool pdet_log_step_names(const struct pdet_log_step *a, uint64_t pfn);

/* --- untangle.c --- */

/* How far a report has come. */
enum pdet_log_stage {
	PDET_LOG_AT_NONE, PDET_LOG_AT_HEAD, PDET_LOG_AT_PAGE,
	PDET_LOG_AT_FLAGS, PDET_LOG_AT_RAW, PDET_LOG_AT_RAW_2,
	PDET_LOG_AT_RAW_3, PDET_LOG_AT_RAW_4, PDET_LOG_AT_REASON,
	PDET_LOG_AT_OWNER, PDET_LOG_AT_ADDR, PDET_LOG_AT_FILE,
	PDET_LOG_AT_END
};

struct pdet_log_writer {
	uint32_t id;
	enum pdet_log_form form;
	uint8_t stage;		/* before the lines that are held */
	bool paged;		/* its "page:" line has come */
	bool counted;		/* refcount and mapcount are known */
	bool owned;		/* page_owner's last part has come */
	bool idle;		/* it was complete before the others began */
	bool traced;		/* frames of another's backtrace may come */
	bool loses;		/* a line that may be its own is lost */
	uint64_t last;		/* its last line, as pdet_log counts */
	uint64_t flags;		/* the word of FLAGS */
	int64_t refcount, mapcount;
	struct pdet_log_step head;
};

/* A line that waits until its writer is known. */
struct pdet_log_held {
	uint64_t line, heard, seq;
	struct pdet_log_stamp stamp;
	bool record, indented, adopts;
	size_t at, len;		/* its text */
	struct pdet_log_step step;
	uint8_t may;		/* writers that may have printed it, as bits */
	uint8_t by;		/* those in an order that is possible */
};

struct pdet_log_tangle {
	struct pdet_log_writer writers[PDET_LOG_WRITERS];
	unsigned n;
	struct { struct pdet_log_held *data; size_t n, cap; } lines;
};

/*
 * pdet_log_untangle - set "by" of all lines: one bit if all possible orders
 * agree. *done becomes true if all reports are complete in all of them; the
 * stage that each writer has reached, if that is certain, goes to @stages, else
 * PDET_LOG_AT_NONE. False if memory is short.
 */
bool pdet_log_untangle(struct pdet_log_tangle *t, bool *done,
		       uint8_t stages[PDET_LOG_WRITERS]);

/* pdet_log_advance - the next stage of @w after a line; NONE if the line cannot
 * be its own. @raws: lines of "raw:" in a block; 0: any number. */
uint8_t pdet_log_advance(const struct pdet_log_writer *w, uint8_t stage,
			 const struct pdet_log_step *s, unsigned raws);

#endif
