/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Only formats of memory allocation are needed; others may be of any form. */
#include <errno.h>
#include <string.h>

#include "trace/headers.h"

int pdet_trace_header_files(struct pdet_cursor *c, struct pdet_trace *t)
{
	struct pdet_text page = { 0 };
	uint64_t n;
	int r;

	if (!pdet_cursor_is_next(c, "header_page", 12) ||
	    !pdet_cursor_number(c, 8, &n))
		return -EBADMSG;
	r = pdet_cursor_text(c, n, PDET_TRACE_MOST_TEXT, &page);
	if (r == 0)
		r = pdet_ring_layout_parse(page.data, page.len, c->big_endian,
					   &t->layout);
	pdet_text_free(&page);
	if (r < 0)
		return r;
	return pdet_cursor_is_next(c, "header_event", 13) &&
	       pdet_cursor_number(c, 8, &n) && pdet_cursor_skip(c, n) ?
		       0 : -EBADMSG;
}

static int read_format(struct pdet_cursor *c, struct pdet_trace *t,
		       enum pdet_trace_system system)
{
	struct pdet_text one = { 0 };
	uint64_t n;
	int r;

	if (!pdet_cursor_number(c, 8, &n))
		return -EBADMSG;
	r = pdet_cursor_text(c, n, PDET_TRACE_MOST_TEXT, &one);
	if (r < 0)
		return r;
	r = pdet_trace_learn(t, one.data, one.len, system);
	pdet_text_free(&one);
	return system == PDET_TRACE_KMEM ? r : 0;
}

int pdet_trace_formats(struct pdet_cursor *c, struct pdet_trace *t)
{
	char system[PDET_CURSOR_WORD];
	uint64_t systems, events;
	int r = 0;

	if (!pdet_cursor_number(c, 4, &systems))
		return -EBADMSG;
	for (; systems && r == 0; systems--) {
		if (!pdet_cursor_word(c, system) ||
		    !pdet_cursor_number(c, 4, &events))
			return -EBADMSG;
		for (; events && r == 0; events--)
			r = read_format(c, t, strcmp(system, "kmem") ?
					      PDET_TRACE_ANY : PDET_TRACE_KMEM);
	}
	return r;
}

int pdet_trace_sized_text(struct pdet_cursor *c, unsigned size, uint64_t most,
		    struct pdet_text *ret)
{
	uint64_t n;

	if (!pdet_cursor_number(c, size, &n))
		return -EBADMSG;
	/* There may be several of them, by mistake. */
	pdet_text_free(ret);
	return n ? pdet_cursor_text(c, n, most, ret) : 0;
}

int pdet_trace_ftrace_formats(struct pdet_cursor *c, struct pdet_trace *t)
{
	uint64_t n;
	int r = 0;

	if (!pdet_cursor_number(c, 4, &n))
		return -EBADMSG;
	for (; n && r == 0; n--)
		r = read_format(c, t, PDET_TRACE_FTRACE);
	return r;
}

int pdet_trace_headers(struct pdet_cursor *c, struct pdet_trace *t,
		       bool threads)
{
	struct pdet_text printk = { 0 };
	int r = pdet_trace_header_files(c, t);

	if (r == 0)
		r = pdet_trace_ftrace_formats(c, t);
	if (r == 0)
		r = pdet_trace_formats(c, t);
	if (r == 0)
		r = pdet_trace_sized_text(c, 4, PDET_TRACE_MOST_NAMES,
					  &t->kallsyms);
	if (r == 0)
		r = pdet_trace_sized_text(c, 4, PDET_TRACE_MOST_TEXT, &printk);
	pdet_text_free(&printk);
	if (r == 0 && threads)
		r = pdet_trace_sized_text(c, 8, PDET_TRACE_MOST_TEXT,
					  &t->cmdlines);
	return r;
}
