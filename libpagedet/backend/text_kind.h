/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Recognises the kind of a text by a line that only this kind has. */
#ifndef PDET_BACKEND_TEXT_KIND_H
#define PDET_BACKEND_TEXT_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* The line must be within this many bytes of the start. */
#define PDET_TEXT_HEAD ((size_t)1 << 20)

/* pdet_text_is_owner - true if a line proves that it is page_owner's text. */
bool pdet_text_is_owner(const char *text, size_t len);

/* pdet_text_is_binary - true if it is most likely not text. */
bool pdet_text_is_binary(const char *text, size_t len);

#endif
