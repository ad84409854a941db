/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Numbers and texts one after the other, in a file or in memory. */
#ifndef PDET_TRACE_CURSOR_H
#define PDET_TRACE_CURSOR_H

#include <stdbool.h>

#include "base/env.h"
#include "base/io.h"

/* Room for a short text. */
#define PDET_CURSOR_WORD 64

struct pdet_cursor {
	struct pdet_env *env;
	const unsigned char *memory; /* NULL: the file */
	int fd;
	uint64_t at, end;
	bool big_endian;
};

/* These are false at the end, and if the file cannot be read. */
bool pdet_cursor_get(struct pdet_cursor *c, void *to, uint64_t n);
bool pdet_cursor_skip(struct pdet_cursor *c, uint64_t n);
bool pdet_cursor_number(struct pdet_cursor *c, unsigned size, uint64_t *ret);

/* pdet_cursor_word - a short text with its NUL. */
bool pdet_cursor_word(struct pdet_cursor *c, char to[PDET_CURSOR_WORD]);

/* pdet_cursor_is_next - whether these bytes follow, at most 16. */
bool pdet_cursor_is_next(struct pdet_cursor *c, const char *text, size_t n);

/*
 * pdet_cursor_text - read @n bytes, and end them with a NUL. -EBADMSG: there
 * are less, or more than @most; -ENOMEM with an error text.
 */
int pdet_cursor_text(struct pdet_cursor *c, uint64_t n, uint64_t most,
		     struct pdet_text *ret);

#endif
