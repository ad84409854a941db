/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What a trace says of its events: trace-cmd and perf write the same, copies of
 * files of tracefs, each with its size in front (trace-cmd.dat.v6(5)).
 */
#ifndef PDET_TRACE_HEADERS_H
#define PDET_TRACE_HEADERS_H

#include "trace/cursor.h"
#include "trace/trace.h"

/*
 * pdet_trace_headers - all of them one after the other, up to the names of
 * threads if @threads. -EBADMSG as all of these: they are damaged.
 */
int pdet_trace_headers(struct pdet_cursor *c, struct pdet_trace *t,
		       bool threads);

/* pdet_trace_header_files - header_page and header_event. */
int pdet_trace_header_files(struct pdet_cursor *c, struct pdet_trace *t);

/* pdet_trace_formats - the formats of events, by system; and those of ftrace
 * itself, as of its print. */
int pdet_trace_formats(struct pdet_cursor *c, struct pdet_trace *t);
int pdet_trace_ftrace_formats(struct pdet_cursor *c, struct pdet_trace *t);

/*
 * pdet_trace_sized_text - a text with a size of @size bytes in front; it
 * replaces *ret.
 */
int pdet_trace_sized_text(struct pdet_cursor *c, unsigned size, uint64_t most,
		    struct pdet_text *ret);

#endif
