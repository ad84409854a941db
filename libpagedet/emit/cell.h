/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One value as characters: what every format needs of it. */
#ifndef PDET_EMIT_CELL_H
#define PDET_EMIT_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "schema/schema.h"

/* Room that any number takes, decimal or hex. */
#define PDET_DIGITS 24

/* "00" "01" ... "99" */
extern const char pdet_digit_pairs[201];

/* 0, 10, 100 ... 10^19 */
extern const uint64_t pdet_powers[20];

/* pdet_put_dec - up to PDET_DIGITS bytes at @p; returns the end. */
static inline char *pdet_put_dec(char *p, uint64_t v)
{
	/* log10 from log2: 1233 / 4096 is a little over log10(2). */
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

/* pdet_put_hex - "0x..." of up to PDET_DIGITS bytes at @p; returns the end. */
char *pdet_put_hex(char *p, uint64_t v);

/* pdet_put_dev - "8:1", up to PDET_DIGITS bytes. */
char *pdet_put_dev(char *p, uint64_t dev);

/* pdet_put_prot - "rw-p", 4 bytes. */
char *pdet_put_prot(char *p, uint64_t prot);

/* pdet_put_size - "48.2 MiB", up to PDET_DIGITS bytes. */
char *pdet_put_size(char *p, uint64_t bytes);

/* pdet_put_share - per cent with one digit, up to PDET_DIGITS bytes; only all
 * is 100, only nothing is 0. */
char *pdet_put_share(char *p, uint64_t part, uint64_t total);

/* The longest text that pdet_put_mask() makes. */
#define PDET_MASK_TEXT ((size_t)64 * 20)

/*
 * pdet_put_mask - the names of @bits, each between @quote (may be ""), with
 * @between in the middle; a bit without a name is bitNN.
 */
char *pdet_put_mask(char *p, unsigned field, uint64_t bits, const char *quote,
		    char between);

/*
 * Few combinations of bits make up most of memory, so formats keep the text of
 * those that came last: PDET_MASK_SLOTS of these, zeroed, for each column.
 */
struct pdet_mask_text {
	uint64_t value, unknown;
	uint32_t len;		/* 0: to be filled in */
	char text[2 * PDET_MASK_TEXT + 128]; /* each bit twice, and keys */
};

#define PDET_MASK_SLOTS 64

/* pdet_mask_slot - the text for these bits; len is 0 if it is not there yet. */
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

/* pdet_mask_named - the bits of a mask that have a name; 0 for other types. */
uint64_t pdet_mask_named(unsigned field);

/* pdet_mask_bit - the bit of that name as a mask, 0 if there is none. */
uint64_t pdet_mask_bit(unsigned field, const char *name);

/*
 * pdet_utf8 - length of the UTF-8 character at @s, and its code; or minus the
 * length of the bytes there that no character begins with. @s is before @end.
 */
int pdet_utf8(const char *s, const char *end, uint32_t *code);

/* pdet_reason_name - never NULL. */
const char *pdet_reason_name(unsigned state);

/* A text that ends where the room ends, and knows how long it would be. */
struct pdet_cut {
	char *to;
	size_t size;
	size_t len;
};

void pdet_cut_put(struct pdet_cut *cut, const char *text, size_t len);
void pdet_cut_str(struct pdet_cut *cut, const char *text);

/* pdet_cut_plain - a string for people: what could move a terminal's cursor,
 * and what is not UTF-8, as \xNN. */
void pdet_cut_plain(struct pdet_cut *cut, const char *text, size_t len);

/* Not a state of the schema: the value is there and is not to be shown. */
#define PDET_STATE_HIDDEN 255

/* One cell, taken out of its batch. */
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
	PDET_CELL_TABLE,	/* as short as can be */
	PDET_CELL_RECORD,	/* on a line of its own */
	PDET_CELL_FORMAT	/* the same, names of bits joined by ',' */
};

/* pdet_cut_cell - a cell for people. */
void pdet_cut_cell(struct pdet_cut *cut, const struct pdet_view *v,
		   enum pdet_cell_style style);

#endif
