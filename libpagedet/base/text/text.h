/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Scans text from outside. Never reads past @end. */
#ifndef PDET_BASE_TEXT_TEXT_H
#define PDET_BASE_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdet_scan {
	const char *at;
	const char *end;
};

/* pdet_hex_digit - its value; 16 if @c is not a hex digit. */
int pdet_hex_digit(char c);

/*
 * pdet_scan_hex, pdet_scan_dec - scan a number without prefix. False if there
 * is not a digit or it does not fit 64 bits; the position is then unchanged.
 */
bool pdet_scan_hex(struct pdet_scan *s, uint64_t *ret);
bool pdet_scan_dec(struct pdet_scan *s, uint64_t *ret);

/* pdet_scan_char - step over @c. Returns false if something else is there. */
bool pdet_scan_char(struct pdet_scan *s, char c);

/*
 * pdet_scan_word - step over @word, a literal. Returns false if it is not
 * there.
 */
bool pdet_scan_word(struct pdet_scan *s, const char *word);

/* pdet_scan_blanks - step over blanks and tabs. */
void pdet_scan_blanks(struct pdet_scan *s);

/* pdet_scan_line - cut the next line off @text, without its newline. Returns
 * false at the end. */
bool pdet_scan_line(struct pdet_scan *text, struct pdet_scan *line);

/* pdet_scan_token - the text up to the next blank, tab or newline. It is empty
 * at the end, and at a newline, over which it does not step. */
struct pdet_scan pdet_scan_token(struct pdet_scan *s);

/* pdet_scan_is - the whole of @s is @word. */
bool pdet_scan_is(const struct pdet_scan *s, const char *word);

/* pdet_scan_is_device - the whole of @s is MAJOR:MINOR, decimal; *ret is
 * major << 32 | minor. */
bool pdet_scan_is_device(struct pdet_scan s, uint64_t *ret);

/*
 * pdet_shortened - copy @text to @to, of @size bytes, at least 8, with a NUL.
 * If it does not fit, it is cut after a word, and "..." follows. Returns the
 * length.
 */
size_t pdet_shortened(char *to, size_t size, struct pdet_scan text);

/* pdet_unescape_octal - decode the kernel's \ooo escapes (fs/seq_file.c,
 * mangle_path) in place; returns the new length. */
size_t pdet_unescape_octal(char *text, size_t len);

#endif
