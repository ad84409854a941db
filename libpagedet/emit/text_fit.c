/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fits a table to a narrow terminal. It writes values that are equal in every
 * row once above, replaces sets of flags by letters with a legend, cuts long
 * texts, and at last leaves out the least informative columns.
 */
#include "emit/text.h"

#define ROOM_FOR_SAME 40

/*
 * Letters of flags. They are those of the kernel's tools/mm/page-types.c for
 * flags that have a symbol there.
 */
static const struct { const char *name; char letter; } flag_letters[] = {
	{ "locked", 'L' }, { "error", 'E' }, { "referenced", 'R' },
	{ "uptodate", 'U' }, { "dirty", 'D' }, { "lru", 'l' },
	{ "active", 'A' }, { "slab", 'S' }, { "writeback", 'W' },
	{ "reclaim", 'I' }, { "buddy", 'B' }, { "mmap", 'M' },
	{ "anon", 'a' }, { "swapcache", 's' }, { "swapbacked", 'b' },
	{ "compound_head", 'H' }, { "compound_tail", 'T' }, { "huge", 'G' },
	{ "unevictable", 'u' }, { "hwpoison", 'X' }, { "nopage", 'n' },
	{ "ksm", 'x' }, { "thp", 't' }, { "offline", 'o' },
	{ "zero_page", 'z' }, { "idle", 'i' }, { "pgtable", 'g' },
	{ "reserved", 'r' }, { "mlocked", 'm' }, { "mappedtodisk", 'd' },
	{ "private", 'P' }, { "private_2", 'p' }, { "owner_private", 'O' },
	{ "arch", 'h' }, { "uncached", 'c' }, { "anon_exclusive", 'e' },
	{ "owner_2", 'q' }, { "arch_2", 'j' }, { "arch_3", 'k' },
}, pte_letters[] = {
	{ "present", 'P' }, { "swapped", 'S' }, { "guard", 'G' },
	{ "migration", 'M' }, { "hwpoison", 'X' }, { "device", 'V' },
	{ "file", 'F' }, { "zero", 'Z' }, { "exclusive", 'E' },
	{ "soft_dirty", 's' }, { "uffd_wp", 'U' }, { "written", 'W' },
	{ "young", 'Y' }, { "dirty", 'D' }, { "write", 'w' }, { "exec", 'x' },
};

/* The order in which columns are left out. */
static const unsigned give_way[] = {
	PAGEDET_FIELD_VMA_END, PAGEDET_FIELD_VMA_START, PAGEDET_FIELD_TGID,
	PAGEDET_FIELD_MAPCOUNT_KIND, PAGEDET_FIELD_HEAD_PFN,
	PAGEDET_FIELD_MEMCG_INO, PAGEDET_FIELD_TIME_NS, PAGEDET_FIELD_DEV,
	PAGEDET_FIELD_INODE, PAGEDET_FIELD_ORDER, PAGEDET_FIELD_NOTES,
};

char pdet_text_letter(unsigned field, unsigned bit)
{
	const char *name = pdet_value_name(field, bit);
	size_t i;

	for (i = 0; name && field == PAGEDET_FIELD_FLAGS &&
	     i < PDET_COUNT(flag_letters); i++)
		if (!strcmp(name, flag_letters[i].name))
			return flag_letters[i].letter;
	for (i = 0; name && field == PAGEDET_FIELD_PTE &&
	     i < PDET_COUNT(pte_letters); i++)
		if (!strcmp(name, pte_letters[i].name))
			return pte_letters[i].letter;
	return 0;
}

static bool same_view(const struct pdet_view *a, const struct pdet_view *b)
{
	if (a->state != b->state || a->source != b->source ||
	    a->unknown != b->unknown || a->len != b->len)
		return false;
	return a->string ? b->string && !memcmp(a->string, b->string, a->len) :
			   a->value == b->value;
}

/* A column that identifies the row stays in it. */
static bool names_row(unsigned field)
{
	return field == PAGEDET_FIELD_PID || field == PAGEDET_FIELD_COMM;
}

/* Marks the columns with equal values in every row. */
static void find_same(struct pagedet_emitter *e)
{
	struct pdet_text *t = e->own;
	struct pdet_view first[PDET_FIELDS], row[PDET_FIELDS];
	unsigned col, left = 0;
	size_t i;

	pdet_text_row(e, 0, first);
	for (col = 0; col < e->n_col; col++)
		t->same[col] = !t->out_of_table[col] &&
			       !names_row(e->col[col].field) &&
			       first[col].state == PAGEDET_HAVE;
	for (i = 1; i < t->n_held; i++) {
		pdet_text_row(e, i, row);
		for (col = 0; col < e->n_col; col++)
			t->same[col] &= same_view(&first[col], &row[col]);
	}
	for (col = 0; col < e->n_col; col++)
		left += !t->same[col] && !t->out_of_table[col];
	if (!left)
		memset(t->same, 0, sizeof(t->same));
}

/* Whether every bit seen has a letter. */
static bool has_letters(const struct pagedet_emitter *e, unsigned col)
{
	const struct pdet_text *t = e->own;
	uint64_t bits = t->seen[col].ever;

	for (; bits; bits &= bits - 1)
		if (!pdet_text_letter(e->col[col].field,
				      (unsigned)__builtin_ctzll(bits)))
			return false;
	return t->seen[col].ever != 0;
}

static void take_letters(struct pagedet_emitter *e)
{
	struct pdet_text *t = e->own;
	unsigned col;

	for (col = 0; col < e->n_col; col++) {
		if (!t->mask[col] || t->same[col] || !has_letters(e, col))
			continue;
		t->letters[col] = true;
		memset(t->mask[col], 0, PDET_MASK_SLOTS * sizeof(**t->mask));
	}
}

static bool give_up_column(struct pagedet_emitter *e, unsigned field)
{
	struct pdet_text *t = e->own;
	unsigned col;

	for (col = 0; col < e->n_col; col++) {
		if (e->col[col].field != field || t->no_room[col] ||
		    t->same[col] || t->out_of_table[col])
			continue;
		t->no_room[col] = true;
		return true;
	}
	return false;
}

/* Leaves out columns that have not had a value yet. */
static void give_up_empty(struct pagedet_emitter *e)
{
	struct pdet_text *t = e->own;
	unsigned col;

	for (col = 0; col < e->n_col; col++)
		if (!t->out_of_table[col] && pdet_text_says_nothing(t, col))
			t->no_room[col] = true;
}

bool pdet_text_fit(struct pagedet_emitter *e, bool ended)
{
	struct pdet_text *t = e->own;
	size_t i;

	if (e->query.grouped)
		return pdet_table_try(e, ended, true);
	/* The line of names and values needs room as well. */
	if (ended && t->n_held > 1 && e->width >= ROOM_FOR_SAME)
		find_same(e);
	if (pdet_table_try(e, ended, false))
		return true;
	take_letters(e);
	if (pdet_table_try(e, ended, true))
		return true;
	t->no_hex = true;
	if (pdet_table_try(e, ended, true))
		return true;
	if (t->folded)
		give_up_empty(e);
	if (pdet_table_try(e, ended, true))
		return true;
	for (i = 0; i < PDET_COUNT(give_way); i++)
		if (give_up_column(e, give_way[i]) &&
		    pdet_table_try(e, ended, true))
			return true;
	/* Labelled lines have room for everything. */
	memset(t->same, 0, sizeof(t->same));
	memset(t->letters, 0, sizeof(t->letters));
	memset(t->no_room, 0, sizeof(t->no_room));
	return false;
}

void pdet_text_same(struct pagedet_emitter *e)
{
	struct pdet_text *t = e->own;
	struct pdet_view row[PDET_FIELDS];
	const char *colour;
	size_t at = 0, wide;
	unsigned col;

	pdet_text_row(e, 0, row);
	for (col = 0; col < e->n_col; col++) {
		if (!t->same[col])
			continue;
		row[col].unknown = 0;	/* the footer lists them */
		wide = strlen(e->col[col].name) + 1 +
		       pdet_text_cell(e, &row[col], PDET_CELL_FORMAT);
		if (at && at + 2 + wide > e->width) {
			pdet_out_str(&e->out, "\n");
			at = 0;
		} else if (at) {
			pdet_out_str(&e->out, "  ");
			at += 2;
		}
		at += wide;
		pdet_text_colour(e, PDET_DIM);
		pdet_out_str(&e->out, e->col[col].name);
		pdet_text_colour(e, PDET_RESET);
		pdet_out_str(&e->out, " ");
		colour = pdet_text_colour_of(e, col, &row[col]);
		if (colour)
			pdet_text_colour(e, colour);
		pdet_out_put(&e->out, t->scratch, t->scratch_len);
		if (colour)
			pdet_text_colour(e, PDET_RESET);
	}
	if (at)
		pdet_out_str(&e->out, "\n");
}
