/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A line of text that ftrace (trace, trace_pipe) or trace-cmd report writes for
 * an event, or the tracer of kmemtrace; or a line of /proc/allocinfo.
 */
#ifndef PDET_TRACE_LINE_H
#define PDET_TRACE_LINE_H

#include "base/text/text.h"
#include "trace/kmem.h"

enum pdet_trace_line_kind {
	PDET_TRACE_LINE_EVENT,	/* of memory allocation */
	PDET_TRACE_LINE_OTHER,	/* another event */
	PDET_TRACE_LINE_LOST,	/* events were lost here */
	PDET_TRACE_LINE_WRITTEN, /* how many events were written, and kept */
	PDET_TRACE_LINE_SUM,	/* of /proc/allocinfo: what is live */
	PDET_TRACE_LINE_NOTHING, /* not of an event */
	PDET_TRACE_LINE_DAMAGED	/* of memory allocation, and not whole */
};

struct pdet_trace_line {
	struct pdet_kmem_event event; /* but for its site and cache */
	struct pdet_scan comm;	/* empty: not known */
	struct pdet_scan site, module, cache; /* empty: not told */
	struct pdet_scan function; /* SUM: that has the site, FILE:LINE */
	bool inexact;		/* SUM: the kernel could not count all */
	bool no_ns;		/* the clock does not count seconds */
	bool no_cpu;		/* neither time nor processor are told */
	bool hashed;		/* the kernel does not show the address */
	/* LOST: how many of event.cpu, 0 not told. WRITTEN: these less those
	 * it kept. */
	uint64_t lost;
};

enum pdet_trace_line_kind pdet_trace_line(struct pdet_scan line,
					  struct pdet_trace_line *ret);

#endif
