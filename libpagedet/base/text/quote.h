/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Words for a shell: users paste commands from an advice. */
#ifndef PDET_BASE_TEXT_QUOTE_H
#define PDET_BASE_TEXT_QUOTE_H

#include <stddef.h>

/* Room for most words. */
#define PDET_QUOTED 512

/*
 * pdet_quoted - write @word as a shell takes it. Returns @ret. If it does not
 * fit, or has control characters, which no terminal shows as they are, returns
 * @instead.
 */
const char *pdet_quoted(const char *word, const char *instead, char *ret,
			size_t size);

#endif
