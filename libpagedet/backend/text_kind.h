/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Recognises the kind of a text by a line that only this kind has. */
#ifndef PDET_BACKEND_TEXT_KIND_H
#define PDET_BACKEND_TEXT_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/env.h"
#include "base/text/text.h"

/* The line must be within this many bytes of the start. */
#define PDET_TEXT_HEAD ((size_t)1 << 20)

/* pdet_text_is_owner - true if a line proves that it is page_owner's text. */
bool pdet_text_is_owner(const char *text, size_t len);

/* pdet_text_is_owner_line - true if the line begins a record of page_owner. */
bool pdet_text_is_owner_line(struct pdet_scan line);

/* pdet_text_has_log - true if a line of it is one of a kernel log. */
bool pdet_text_has_log(const char *text, size_t len);

/* pdet_text_tell_log - warn that a text of page_owner also has such lines. */
void pdet_text_tell_log(struct pdet_env *env, const char *name);

/* pdet_text_is_binary - true if it is most likely not text. */
bool pdet_text_is_binary(const char *text, size_t len);

#endif
