/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What kind of text a file is, known by a line that only it has. */
#ifndef PDET_BACKEND_TEXT_KIND_H
#define PDET_BACKEND_TEXT_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* A line that tells stands in this many bytes from the beginning. */
#define PDET_TEXT_HEAD ((size_t)1 << 20)

/* pdet_text_is_log - a line tells that it is a kernel log. */
bool pdet_text_is_log(const char *text, size_t len);

/* pdet_text_is_binary - most likely no text at all. */
bool pdet_text_is_binary(const char *text, size_t len);

/* pdet_text_kind - "a kernel log" ...; NULL if no line tells. */
const char *pdet_text_kind(const char *text, size_t len);

#endif
