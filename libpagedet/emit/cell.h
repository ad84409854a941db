/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Formats one value; shared by all output formats. */
#ifndef PDET_EMIT_CELL_H
#define PDET_EMIT_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "schema/schema.h"

/* Enough room for any number, decimal or hex. */
#define PDET_DIGITS 24

/* "00" "01" ... "99" */
extern const char pdet_digit_pairs[201];

/* 0, 10, 100 ... 10^19 */
extern const uint64_t pdet_powers[20];

/* pdet_put_dec - write up to PDET_DIGITS bytes at @p. Returns the end. */
static inline char *pdet_put_dec(char *p, uint64_t v)
{
	/* log10 from log2: 1233 / 4096 is slightly more than log10(2). */
	unsigned log = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;
	char *end = p + log + (v >= pdet_powers[log]), *at = end;

	while (v >= 100) {
		at -= 2;
		memcpy(at, &pdet_digit_pairs[v % 100 * 2], 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(at - 2, &pdet_digit_pairs[v * 2], 2);
	else
		at[-1] = (char)('0' + v);
	return end;
}

/* pdet_put_signed - the same for a number in two's complement. */
static inline char *pdet_put_signed(char *p, uint64_t v)
{
	if (v >> 63) {
		*p++ = '-';
		v = -v;
	}
	return pdet_put_dec(p, v);
}

/* pdet_put_hex - write "0x...", up to PDET_DIGITS bytes. Returns the end. */
char *pdet_put_hex(char *p, uint64_t v);

/* pdet_put_dev - "8:1", up to PDET_DIGITS bytes. */
char *pdet_put_dev(char *p, uint64_t dev);

/* pdet_put_prot - "rw-p", 4 bytes. */
char *pdet_put_prot(char *p, uint64_t prot);

/* pdet_put_seconds - "12.000000345", up to 2 * PDET_DIGITS bytes. */
char *pdet_put_seconds(char *p, uint64_t ns);

/* pdet_put_size - "48.2 MiB", up to PDET_DIGITS bytes. */
char *pdet_put_size(char *p, uint64_t bytes);

/*
 * pdet_put_share - write a percentage with one digit, up to PDET_DIGITS bytes.
 * It is 100 only for the whole total, and 0 only for nothing.
 */
char *pdet_put_share(char *p, uint64_t part, uint64_t total);

/* The longest text of pdet_put_mask(). */
#define PDET_MASK_TEXT ((size_t)64 * 20)

/*
 * pdet_put_mask - write the names of @bits. Each stands between @quote (may be
 * ""), and @between separates them. A bit without a name is bitNN.
 */
char *pdet_put_mask(char *p, unsigned field, uint64_t bits, const char *quote,
		    char between);

/*
 * A cache of mask texts, because few combinations of bits make up most of
 * memory. Each column has PDET_MASK_SLOTS zeroed entries for the latest texts.
 */
struct pdet_mask_text {
	uint64_t value, unknown;
	uint32_t len;		/* 0: not filled in yet */
	char text[2 * PDET_MASK_TEXT + 128]; /* room for each bit twice, and for
				 * keys */
};

#define PDET_MASK_SLOTS 64

/*
 * pdet_mask_slot - get the entry for these bits. Its len is 0 if it is not
 * filled in.
 */
static inline struct pdet_mask_text *
pdet_mask_slot(struct pdet_mask_text *slots, uint64_t value, uint64_t unknown)
{
	uint64_t hash = (value ^ unknown * 0xff51afd7ed558ccdu) *
			0x9e3779b97f4a7c15u;
	struct pdet_mask_text *m = &slots[hash >> 58];

	if (m->value != value || m->unknown != unknown) {
		m->value = value;
		m->unknown = unknown;
		m->len = 0;
	}
	return m;
}

/* pdet_mask_named - the bits of a mask that have names; 0 for other types. */
uint64_t pdet_mask_named(unsigned field);

/* pdet_mask_bit - the bit with that name as a mask; 0 if there is none. */
uint64_t pdet_mask_bit(unsigned field, const char *name);

/*
 * pdet_utf8 - decode the UTF-8 character at @s. Returns its length and sets
 * *@code. If no character starts there, returns minus the number of invalid
 * bytes. @s is before @end.
 */
int pdet_utf8(const char *s, const char *end, uint32_t *code);

/*
 * pdet_is_harmless - true if the character is neither a control character (C0
 * or C1) nor one that changes the writing direction. Those can make one text
 * look like another.
 */
bool pdet_is_harmless(uint32_t code);

/*
 * Marks a value that exists but must not be shown: a reason for the output
 * alone, which the schema does not have.
 */
#define PDET_STATE_HIDDEN 255

/* pdet_reason_name - the name of a reason; never NULL. */
const char *pdet_reason_name(unsigned state);

/* pdet_frame_type_name - of a PAGEDET_FRAME_*; never NULL. */
const char *pdet_frame_type_name(unsigned type);

/* A text that is cut when its buffer is full. Its full length is counted. */
struct pdet_cut {
	char *to;
	size_t size;
	size_t len;
};

void pdet_cut_put(struct pdet_cut *cut, const char *text, size_t len);
void pdet_cut_str(struct pdet_cut *cut, const char *text);

/*
 * pdet_cut_plain - add a string for people. Bytes that could control a
 * terminal, and bytes that are not UTF-8, become \xNN.
 */
void pdet_cut_plain(struct pdet_cut *cut, const char *text, size_t len);

/* One cell, copied from its batch. */
struct pdet_view {
	uint64_t value;
	uint64_t unknown;	/* named bits of a mask that are not known */
	const char *string;
	size_t len;
	uint8_t field;
	uint8_t state;
	uint8_t source;
};

enum pdet_cell_style {
	PDET_CELL_TABLE,	/* as short as possible */
	PDET_CELL_RECORD,	/* on its own line */
	PDET_CELL_FORMAT	/* as RECORD, but bits joined by ',' */
};

/* pdet_cut_cell - add a cell for people. */
void pdet_cut_cell(struct pdet_cut *cut, const struct pdet_view *v,
		   enum pdet_cell_style style);

#endif
