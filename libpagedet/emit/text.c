/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes text for people. It buffers the first rows until it can choose the
 * layout: labelled lines for one row, or a table of the needed width for
 * several. Then it writes further rows at once.
 */
#include <errno.h>
#include <stdlib.h>

#include "emit/text.h"

/*
 * Number of buffered rows. Groups are all buffered, because shares need the
 * sum.
 */
#define HOLD_ROWS 200
#define HOLD_GROUPS 4096
#define HOLD_BYTES ((size_t)256 * 1024)

void pdet_text_colour(struct pagedet_emitter *e, const char *colour)
{
	if (e->options & PAGEDET_EMIT_COLOUR)
		pdet_out_str(&e->out, colour);
}

bool pdet_text_alarm(const struct pdet_text *t, unsigned col,
		     const struct pdet_view *v)
{
	return v->state == PAGEDET_CORRUPT ||
	       (v->state == PAGEDET_HAVE && v->value & t->alarm[col]);
}

/* Few colours, readable on light and dark backgrounds. */
const char *pdet_text_colour_of(const struct pagedet_emitter *e, unsigned col,
				const struct pdet_view *v)
{
	if (pdet_text_alarm(e->own, col, v))
		return PDET_RED;
	if (v->state != PAGEDET_HAVE)
		return PDET_DIM;
	if (e->col[col].field != PAGEDET_FIELD_KIND)
		return NULL;
	switch (v->value) {
	case PAGEDET_KIND_ANON:
	case PAGEDET_KIND_SHMEM:
		return PDET_MAGENTA;
	case PAGEDET_KIND_FILE:
		return PDET_CYAN;
	case PAGEDET_KIND_SLAB:
		return PDET_GREEN;
	case PAGEDET_KIND_FREE:
		return PDET_DIM;
	default:
		return NULL;
	}
}

static bool room_for(char **data, size_t *cap, size_t need)
{
	size_t more = *cap ? *cap : 256;
	char *bigger;

	if (need <= *cap)
		return true;
	while (more < need)
		more *= 2;
	bigger = realloc(*data, more);
	if (!bigger)
		return false;
	*data = bigger;
	*cap = more;
	return true;
}

/* Counts one column per character; continuation bytes have none. */
static size_t columns(const char *text, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += (text[i] & 0xc0) != 0x80;
	return n;
}

size_t pdet_text_cell(struct pagedet_emitter *e, const struct pdet_view *v,
		      enum pdet_cell_style style)
{
	struct pdet_text *t = e->own;
	struct pdet_cut cut = { t->scratch, t->scratch_cap, 0 };

	pdet_cut_cell(&cut, v, style);
	if (cut.len > t->scratch_cap) {
		if (room_for(&t->scratch, &t->scratch_cap, cut.len)) {
			cut.to = t->scratch;
			cut.size = t->scratch_cap;
			cut.len = 0;
			pdet_cut_cell(&cut, v, style);
		} else {
			e->out.error = ENOMEM;
			cut.len = t->scratch_cap;
		}
	}
	t->scratch_len = cut.len;
	return columns(t->scratch, t->scratch_len);
}

void pdet_text_words(struct pagedet_emitter *e, const char *text, size_t len,
		     size_t at, size_t indent)
{
	const char *end = text + len, *blank;
	bool first = true;
	size_t wide;

	while (text < end) {
		blank = memchr(text, ' ', (size_t)(end - text));
		if (!blank)
			blank = end;
		wide = columns(text, (size_t)(blank - text));
		if (!first && e->width && at + 1 + wide > e->width) {
			pdet_out_str(&e->out, "\n");
			pdet_out_pad(&e->out, indent);
			at = indent;
		} else if (!first) {
			pdet_out_str(&e->out, " ");
			at++;
		}
		first = false;
		pdet_out_put(&e->out, text, (size_t)(blank - text));
		at += wide;
		text = blank < end ? blank + 1 : end;
	}
}

static void take_cell(const struct pagedet_emitter *e,
		      const struct pdet_batch *b, unsigned col, uint32_t row,
		      struct pdet_view *v)
{
	const struct pdet_emit_col *c = &e->col[col];
	uint16_t cell = pdet_col_cell(c, row);

	memset(v, 0, sizeof(*v));
	v->field = (uint8_t)c->field;
	v->state = (uint8_t)PAGEDET_CELL_STATE(cell);
	v->source = (uint8_t)PAGEDET_CELL_SOURCE(cell);
	if (v->state != PAGEDET_HAVE)
		return;
	if (pdet_emit_hidden(e, b, c, row)) {
		v->state = PDET_STATE_HIDDEN;
		return;
	}
	v->value = pdet_col_value(c, row);
	v->unknown = pdet_col_unknown(c, row);
	if (c->type != PAGEDET_TYPE_STRING && c->type != PAGEDET_TYPE_LIST)
		return;
	v->string = pdet_strtab_get(&b->strings, v->value, &v->len);
	if (!v->string)
		v->state = PAGEDET_NO_MEMORY;
}

static void account(struct pdet_seen *seen, const struct pdet_view *v)
{
	switch (v->state) {
	case PAGEDET_HAVE:
		/* A log seldom tells every field. */
		if (v->source != PAGEDET_SOURCE_LOG) {
			seen->unknown_always &= v->unknown;
			seen->unknown_ever |= v->unknown;
			seen->judged++;
		}
		seen->ever |= v->field == PAGEDET_FIELD_KIND ?
			      1ull << v->value % 64 : v->value;
		seen->have++;
		break;
	case PAGEDET_NONE:
		seen->none++;
		break;
	case PDET_STATE_HIDDEN:
		seen->hidden++;
		return;
	default:
		if (v->state == PAGEDET_UNSUPPORTED &&
		    v->source == PAGEDET_SOURCE_LOG) {
			seen->unsaid++;
			return;
		}
		seen->lost[v->state % PDET_COUNT(seen->lost)]++;
		return;
	}
	if (v->source < 32)
		seen->sources |= PAGEDET_SOURCE_BIT(v->source);
}

static bool hold(struct pagedet_emitter *e, const struct pdet_view *row)
{
	struct pdet_text *t = e->own;
	size_t cap = t->cap_held ? t->cap_held * 2 : 4;
	struct pdet_held *held;
	unsigned i;

	if (t->n_held == t->cap_held) {
		held = realloc(t->held, cap * e->n_col * sizeof(*held));
		if (!held)
			return false;
		t->held = held;
		t->cap_held = cap;
	}
	held = t->held + t->n_held * e->n_col;
	for (i = 0; i < e->n_col; i++) {
		held[i].view = row[i];
		held[i].at = t->n_strings;
		if (!row[i].len)
			continue;
		if (!room_for(&t->strings, &t->cap_strings,
			      t->n_strings + row[i].len))
			return false;
		memcpy(t->strings + t->n_strings, row[i].string, row[i].len);
		t->n_strings += row[i].len;
	}
	t->n_held++;
	return true;
}

void pdet_text_row(const struct pagedet_emitter *e, size_t row,
		   struct pdet_view *ret)
{
	const struct pdet_text *t = e->own;
	const struct pdet_held *held = t->held + row * e->n_col;
	unsigned i;

	for (i = 0; i < e->n_col; i++) {
		ret[i] = held[i].view;
		if (ret[i].string)
			ret[i].string = ret[i].len ? t->strings + held[i].at :
						     "";
	}
}

bool pdet_text_says_nothing(const struct pdet_text *t, unsigned col)
{
	return t->rows && t->seen[col].none == t->rows;
}

bool pdet_text_says_unknown(const struct pdet_text *t, unsigned col)
{
	const struct pdet_seen *seen = &t->seen[col];

	return t->rows && !seen->none && !seen->have && !seen->hidden;
}

static void put_row(struct pagedet_emitter *e, const struct pdet_view *row)
{
	struct pdet_text *t = e->own;

	if (t->record)
		pdet_record_row(e, row);
	else
		pdet_table_row(e, row);
	t->begun = true;
}

/* Chooses the layout and writes the buffered rows. */
static void lay_out(struct pagedet_emitter *e, bool ended)
{
	struct pdet_text *t = e->own;
	struct pdet_view row[PDET_FIELDS];
	size_t i;

	t->laid_out = true;
	if (!t->rows && !e->query.grouped)
		return;
	if (t->begun)
		pdet_out_str(&e->out, "\n");
	t->folded = e->n_col > PDET_TEXT_FEW;
	/* If there are several rows, an empty line precedes the next one. */
	t->spaced = ended && t->rows == 1 && t->folded;
	if (e->query.grouped)
		pdet_table_lay_out(e, ended);
	else
		t->record = (ended && t->rows == 1) ||
			    e->options & PAGEDET_EMIT_STACKS ||
			    !pdet_table_lay_out(e, ended);
	if (t->record)
		pdet_record_lay_out(e);
	else if (!e->query.grouped)
		pdet_text_same(e);
	if (!t->record)
		pdet_table_head(e);
	/* The record of the first row needs no gap above it. */
	t->begun = !t->record;
	for (i = 0; i < t->n_held; i++) {
		pdet_text_row(e, i, row);
		put_row(e, row);
	}
	t->begun = true;
	t->n_held = t->n_strings = 0;
}

static void text_batch(struct pagedet_emitter *e, const struct pdet_batch *b)
{
	struct pdet_text *t = e->own;
	size_t max = e->query.grouped ? HOLD_GROUPS : HOLD_ROWS;
	struct pdet_view row[PDET_FIELDS];
	unsigned i;
	uint32_t r;

	for (r = 0; r < b->n && !e->out.error; r++) {
		for (i = 0; i < e->n_col; i++)
			take_cell(e, b, i, r, &row[i]);
		if (!t->laid_out && (t->n_held == max ||
				     t->n_strings > HOLD_BYTES))
			lay_out(e, false);
		t->rows++;
		for (i = 0; i < e->n_col; i++)
			account(&t->seen[i], &row[i]);
		if (t->laid_out)
			put_row(e, row);
		else if (!hold(e, row))
			e->out.error = ENOMEM;
	}
}

static void free_masks(struct pdet_text *t)
{
	unsigned i;

	for (i = 0; i < PDET_FIELDS; i++) {
		free(t->mask[i]);
		t->mask[i] = NULL;
	}
}

static bool text_begin(struct pagedet_emitter *e)
{
	struct pdet_text *t = e->own;
	unsigned i;

	t->n_held = t->cap_held = t->n_strings = 0;
	free(t->held);
	t->held = NULL;
	t->rows = t->total = 0;
	t->in_part = t->laid_out = t->record = t->folded = false;
	free(t->seen);
	t->seen = calloc(PDET_MAX(e->n_col, 1u), sizeof(*t->seen));
	if (!t->seen)
		return false;
	memset(t->out_of_table, 0, sizeof(t->out_of_table));
	memset(t->same, 0, sizeof(t->same));
	memset(t->letters, 0, sizeof(t->letters));
	memset(t->no_room, 0, sizeof(t->no_room));
	t->no_hex = false;
	free_masks(t);
	for (i = 0; i < e->n_col; i++) {
		t->seen[i].unknown_always = ~(uint64_t)0;
		t->alarm[i] = pdet_mask_bit(e->col[i].field, "hwpoison") |
			      pdet_mask_bit(e->col[i].field, "torn");
	}
	return room_for(&t->scratch, &t->scratch_cap, 4096);
}

static void text_end(struct pagedet_emitter *e, const struct pdet_emit_end *end)
{
	struct pdet_text *t = e->own;

	t->total = end->pages;
	t->in_part = !end->complete;
	if (!t->laid_out)
		lay_out(e, true);
	if (e->query.grouped && e->n_col > 1)
		pdet_table_total(e);
	pdet_text_notes(e, end);
}

/* The walk failed: shows the rows that have come, but not sums. */
static void text_give_up(struct pagedet_emitter *e)
{
	struct pdet_text *t = e->own;
	static const struct pdet_emit_end no_sums = { .complete = true };

	if (!t->laid_out)
		lay_out(e, true);
	pdet_text_notes(e, &no_sums);
}

static size_t longest_name(void)
{
	size_t longest = 0;
	unsigned f;

	for (f = 0; f < PDET_FIELDS; f++)
		longest = PDET_MAX(longest, strlen(pdet_field_info(f)->name));
	for (f = 0; pdet_source_name(f) || !f; f++)
		if (pdet_source_name(f))
			longest = PDET_MAX(longest,
					   strlen(pdet_source_name(f)));
	return longest;
}

static void put_plain(struct pdet_out *out, const char *text)
{
	char plain[1024];
	struct pdet_cut cut = { plain, sizeof(plain), 0 };

	pdet_cut_plain(&cut, text, strlen(text));
	pdet_out_put(out, plain, PDET_MIN(cut.len, sizeof(plain)));
}

static void put_wide(struct pdet_out *out, const char *text, size_t width)
{
	pdet_out_str(out, text);
	if (strlen(text) < width)
		pdet_out_pad(out, width - strlen(text));
	pdet_out_str(out, "  ");
}

static void text_ability(struct pagedet_emitter *e, const char *field,
			 const char *source, const struct pagedet_ability *a)
{
	struct pdet_text *t = e->own;
	struct pdet_out *out = &e->out;
	size_t width = longest_name();

	if (!t->surveyed) {
		pdet_text_colour(e, PDET_BOLD);
		put_wide(out, "field", width);
		put_wide(out, "source", width);
		pdet_out_str(out, "can  why");
		pdet_text_colour(e, PDET_RESET);
		pdet_out_str(out, "\n");
	}
	t->surveyed = t->begun = true;
	put_wide(out, field, width);
	put_wide(out, source, width);
	pdet_out_str(out, a->can ? "yes" : "no   ");
	if (!a->can && a->why)
		put_plain(out, a->why);
	if (a->advice && *a->advice) {
		pdet_out_str(out, a->can ? "  " : "; ");
		put_plain(out, a->advice);
	}
	pdet_out_str(out, "\n");
}

static void put_offset(struct pdet_out *out, uint64_t offset)
{
	char digits[PDET_DIGITS];

	pdet_out_put(out, digits,
		     (size_t)(pdet_put_hex(digits, offset) - digits));
}

/* As a kernel frame: name+0x10/0x40 [file]. */
static void user_frame(struct pdet_out *out, const struct pagedet_frame *f)
{
	const char *slash = f->module ? strrchr(f->module, '/') : NULL;

	pdet_out_str(out, "    ");
	if (!f->address) {
		pdet_out_str(out, "? ");
	} else if (f->function) {
		put_plain(out, f->function);
		pdet_out_str(out, "+");
		put_offset(out, f->offset);
	} else {
		put_offset(out, f->file_address ? f->file_address : f->address);
	}
	if (f->function && f->bytes) {
		pdet_out_str(out, "/");
		put_offset(out, f->bytes);
	}
	if (f->module) {
		pdet_out_str(out, slash ? " [" : " ");
		put_plain(out, slash ? slash + 1 : f->module);
		pdet_out_str(out, slash ? "]" : "");
	}
	if (f->type != PAGEDET_FRAME_USER && f->address) {
		pdet_out_str(out, " ");
		pdet_out_str(out, pdet_frame_type_name(f->type));
	}
	if (f->why) {
		pdet_out_str(out, f->address ? "  ? " : "");
		put_plain(out, f->why);
	}
	pdet_out_str(out, "\n");
}

static void user_stack(struct pdet_out *out, const struct pdet_emit_thread *t)
{
	uint32_t i;

	pdet_out_str(out, t->stopped ? "  user (stopped meanwhile)" : "  user");
	if (t->user_reason) {
		pdet_out_str(out, ": ? ");
		put_plain(out, t->user_words);
	} else if (!t->n_user) {
		pdet_out_str(out, ": it has no user code");
	}
	pdet_out_str(out, "\n");
	for (i = 0; i < t->n_user; i++)
		user_frame(out, &t->user[i]);
}

static void text_thread(struct pagedet_emitter *e,
			const struct pdet_emit_thread *t)
{
	struct pdet_out *out = &e->out;
	uint32_t i;

	pdet_out_str(out, "\nthread ");
	pdet_out_dec(out, t->tid);
	pdet_out_str(out, " of ");
	pdet_out_dec(out, t->pid);
	if (!t->has_kernel) {
		/* only the other stack was asked for */
	} else if (t->reason) {
		pdet_out_str(out, ": ? ");
		put_plain(out, t->words);
	} else if (!t->n) {
		pdet_out_str(out, ": in user code");
	}
	pdet_out_str(out, "\n");
	for (i = 0; i < t->n; i++) {
		pdet_out_str(out, "    ");
		put_plain(out, t->frames[i]);
		pdet_out_str(out, "\n");
	}
	if (t->has_user)
		user_stack(out, t);
}

static void text_free(struct pagedet_emitter *e)
{
	struct pdet_text *t = e->own;

	free_masks(t);
	free(t->seen);
	free(t->held);
	free(t->strings);
	free(t->scratch);
}

const struct pdet_emit_format pdet_emit_text = {
	.size = sizeof(struct pdet_text),
	.begin = text_begin,
	.batch = text_batch,
	.end = text_end,
	.thread = text_thread,
	.ability = text_ability,
	.give_up = text_give_up,
	.free = text_free,
};
