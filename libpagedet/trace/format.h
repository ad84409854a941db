/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The format file of a trace event, as tracefs has it in events/SYSTEM/EVENT:
 * where each field of a record is. Other kernels have other places, so nothing
 * else may say where a field is.
 */
#ifndef PDET_TRACE_FORMAT_H
#define PDET_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDET_TRACE_NAME 72
#define PDET_TRACE_FIELDS 64

struct pdet_trace_field {
	char name[PDET_TRACE_NAME];
	uint32_t offset, size;	/* bytes, in the record */
	bool is_signed;
	bool is_array;		/* NAME[N] */
	bool is_text;		/* __data_loc: u16 offset, u16 length of a text
				 * that is elsewhere in the record */
};

struct pdet_trace_format {
	uint32_t id;		/* common_type of its records */
	char name[PDET_TRACE_NAME];
	unsigned n;
	struct pdet_trace_field field[PDET_TRACE_FIELDS];
};

/*
 * pdet_trace_format_parse - read a format file. Fields past PDET_TRACE_FIELDS,
 * and those with longer names, are left out. -EBADMSG: it has no name, no ID,
 * or a field without a place.
 */
int pdet_trace_format_parse(const char *text, size_t len,
			    struct pdet_trace_format *ret);

/* pdet_trace_field - the field with this name, or NULL. */
const struct pdet_trace_field *
pdet_trace_field(const struct pdet_trace_format *f, const char *name);

#endif
