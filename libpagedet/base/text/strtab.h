/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Interned strings. An id is a 64-bit number that is never reused, so a stale
 * id is detected; 0 is never an id. The table is bounded: when it is full, it
 * accepts no new strings.
 */
#ifndef PDET_BASE_TEXT_STRTAB_H
#define PDET_BASE_TEXT_STRTAB_H

#include <stddef.h>
#include <stdint.h>

struct pdet_strtab {
	char *text;		/* all strings, each with its NUL */
	size_t len, cap, max;
	struct {
		struct pdet_strtab_entry *data;
		size_t n, cap;
	} entry;
	uint32_t *slot;		/* hash table of entry number + 1 */
	size_t slots;
	uint64_t base;		/* id of entry 0 */
};

/* pdet_strtab_init - @base is the first id, at least 1; @max bytes of text. */
void pdet_strtab_init(struct pdet_strtab *tab, uint64_t base, size_t max);

void pdet_strtab_free(struct pdet_strtab *tab);

/* pdet_strtab_clear - remove all strings; ids continue at @base. */
void pdet_strtab_clear(struct pdet_strtab *tab, uint64_t base);

/* pdet_strtab_add - the id of a string; 0 if the table is full or memory is
 * short. The text is cut at its first NUL. */
uint64_t pdet_strtab_add(struct pdet_strtab *tab, const char *text, size_t len);

/* pdet_strtab_get - the text, or NULL if the id is not from this table. */
const char *pdet_strtab_get(const struct pdet_strtab *tab, uint64_t id,
			    size_t *len);

/* pdet_strtab_next - the id that the next new string would get. */
uint64_t pdet_strtab_next(const struct pdet_strtab *tab);

#endif
