/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Draws rows: counts each page in its cell, and writes the picture after the
 * last query. Pages that only earlier queries had are pale.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/hash.h"
#include "base/text/words.h"
#include "emit/cell.h"
#include "emit/svg/svg.h"

struct svg {
	struct pdet_picture picture;
	struct pdet_svg words;
	bool begun;
	bool whole;		/* the last query ended completely */
};

/* The columns that are read from a batch. NULL: the batch does not have it. */
struct columns {
	const uint64_t *pfn, *value, *pages, *flags, *notes;
	const uint16_t *pfn_cell, *cell, *flags_cell;
};

static unsigned by_of(const struct pagedet_emitter *e)
{
	return e->by ? e->by : PAGEDET_FIELD_KIND;
}

static const char *svg_refuse(const struct pdet_emit_query *q)
{
	if (q->grouped)
		return "groups have no place in memory";
	if (q->target != PAGEDET_TARGET_SCAN &&
	    q->target != PAGEDET_TARGET_CGROUP)
		return "only the pages of a scan or of a cgroup are in the "
		       "order of frames";
	if (!pdet_fields_has(&q->fields, PAGEDET_FIELD_PFN))
		return "the query does not want the pfn";
	return NULL;
}

/* --- text around the picture --- */

static void put_time(struct pdet_cut *cut, const char *what, uint64_t ns)
{
	const time_t seconds = (time_t)(ns / 1000000000);
	char text[64];
	struct tm tm;

	if (!ns || !gmtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		return;
	pdet_cut_str(cut, cut->len ? ", " : "");
	pdet_cut_str(cut, what);
	pdet_cut_str(cut, text);
}

void pdet_svg_about(const struct pagedet_info *info, char *text, size_t size)
{
	struct pdet_cut cut = { text, size - 1, 0 };

	memset(text, 0, size);
	if (!info)
		return;
	if (*info->release) {
		pdet_cut_str(&cut, "kernel ");
		pdet_cut_plain(&cut, info->release, strlen(info->release));
	}
	if (*info->arch) {
		pdet_cut_str(&cut, cut.len ? " " : "");
		pdet_cut_plain(&cut, info->arch, strlen(info->arch));
	}
	put_time(&cut, !info->live && info->first_ns == info->last_ns ?
		 "crashed " : "", info->last_ns);
}

static void set_words(struct pagedet_emitter *e)
{
	struct svg *s = e->own;
	struct pdet_svg *w = &s->words;

	w->picture = &s->picture;
	w->by = by_of(e);
	w->linear = e->options & PAGEDET_EMIT_LINEAR;
	w->page_size = e->query.page_size;
	w->filtered = s->begun;
	if (e->title)
		snprintf(w->title, sizeof(w->title), "%s", e->title);
	else
		snprintf(w->title, sizeof(w->title), "Physical memory by %s",
			 pdet_field_info(w->by)->name);
	pdet_svg_about(e->query.info, w->about, sizeof(w->about));
}

static bool svg_begin(struct pagedet_emitter *e)
{
	struct svg *s = e->own;

	set_words(e);
	s->whole = false;
	if (s->begun) {
		pdet_picture_fade(&s->picture);
		return true;
	}
	s->begun = pdet_picture_init(&s->picture, e->query.info ?
				     e->query.info->max_pfn : 0);
	return s->begun;
}

/* --- rows --- */

#define NOPAGE ((uint64_t)1 << PAGEDET_PF_NOPAGE)
#define POISON ((uint64_t)1 << PAGEDET_PF_HWPOISON)
#define OFFLINE ((uint64_t)1 << PAGEDET_PF_OFFLINE)

static uint64_t flags_of(const struct columns *c, uint32_t row)
{
	return c->flags && (c->flags_cell[row] & 0xff) == PAGEDET_HAVE ?
		       c->flags[row] & (NOPAGE | POISON | OFFLINE) : 0;
}

static bool is_undecided(const struct columns *c, uint32_t row)
{
	return c->notes && c->notes[row] >> PAGEDET_NOTE_UNDECIDED & 1;
}

static uint64_t pages_of(const struct columns *c, uint32_t row)
{
	return c->pages ? c->pages[row] : 1;
}

/*
 * Finds the row where equal answers for consecutive frames, which begin at
 * @row, end.
 */
static uint32_t run_end(const struct columns *c, uint32_t row, uint32_t n)
{
	const uint64_t flags = flags_of(c, row);
	uint32_t end = n, i;

	if (c->value)
		end = row + pdet_words_equal(c->value + row, n - row);
	for (i = row + 1; i < end; i++)
		if ((c->value && c->cell[i] != c->cell[row]) ||
		    c->pfn[i] != c->pfn[i - 1] + pages_of(c, i - 1) ||
		    c->pfn_cell[i] != c->pfn_cell[row] ||
		    flags_of(c, i) != flags ||
		    is_undecided(c, i) != is_undecided(c, row))
			break;
	return i;
}

/* Keeps a name up to the last character that fits. */
static void keep_name(struct pdet_picture_category *c, size_t len)
{
	size_t at = 0;
	uint32_t code;
	int n;

	c->cut = len > sizeof(c->name) - 1;
	if (!c->cut)
		return;
	while (at < sizeof(c->name) - 1) {
		n = pdet_utf8(c->name + at, c->name + sizeof(c->name) - 1,
			      &code);
		if (n < 0)
			break;
		at += (size_t)n;
	}
	c->name[at] = '\0';
}

/* Reads the cell of the field by which the colours are chosen. */
static void look_at(const struct pagedet_emitter *e,
		    const struct pdet_batch *b, uint32_t row,
		    struct pdet_view *v)
{
	const struct svg *s = e->own;
	const unsigned f = s->words.by, type = pdet_field_info(f)->type;

	memset(v, 0, sizeof(*v));
	v->field = (uint8_t)f;
	v->state = (uint8_t)pdet_batch_state(b, row, f);
	if (!b->value[f] && e->query.why)
		v->state = (uint8_t)e->query.why(e->query.user, f);
	if (!b->value[f] && !pdet_is_reason(v->state))
		v->state = PAGEDET_UNSUPPORTED;
	if (v->state != PAGEDET_HAVE)
		return;
	v->value = b->value[f][row];
	if (type != PAGEDET_TYPE_STRING && type != PAGEDET_TYPE_LIST)
		return;
	v->string = pdet_strtab_get(&b->strings, v->value, &v->len);
	if (!v->string)
		v->state = PAGEDET_NO_MEMORY;
}

/* Returns -1 without memory. */
static int category_of(const struct pagedet_emitter *e,
		       const struct pdet_batch *b, uint32_t row,
		       bool undecided)
{
	struct svg *s = e->own;
	struct pdet_view v;
	struct pdet_picture_category *c;
	struct pdet_cut cut;
	uint64_t key[2];
	int number;

	look_at(e, b, row, &v);
	if (undecided)
		v.state = PAGEDET_NOT_ASKED;
	if (v.state != PAGEDET_HAVE)
		v.value = 0;
	/* Undecided rows are one category, whatever the field is. */
	key[0] = v.state;
	key[1] = v.state == PAGEDET_HAVE && v.string ?
			 pdet_hash(v.string, v.len) : v.value;
	key[0] = pdet_hash(key, sizeof(key));
	number = pdet_picture_find(&s->picture, key[0]);
	if (number >= 0)
		return number;
	number = pdet_picture_new(&s->picture, key[0]);
	if (number <= 0)
		return number;
	c = &s->picture.categories.data[number];
	c->state = v.state;
	c->value = v.value;
	c->undecided = undecided;
	cut = (struct pdet_cut){ c->name, sizeof(c->name) - 1, 0 };
	pdet_cut_cell(&cut, &v, PDET_CELL_TABLE);
	keep_name(c, cut.len);
	return number;
}

static bool is_kind(const struct svg *s, const struct columns *c,
		    uint32_t row, uint64_t kind)
{
	return s->words.by == PAGEDET_FIELD_KIND && c->value &&
	       c->value[row] == kind;
}

static unsigned marks_of(const struct svg *s, const struct columns *c,
			 uint32_t row, uint64_t flags)
{
	unsigned marks = 0;

	if (flags & POISON)
		marks |= 1 << PDET_MARK_HWPOISON;
	if (flags & OFFLINE || is_kind(s, c, row, PAGEDET_KIND_OFFLINE))
		marks |= 1 << PDET_MARK_OFFLINE;
	return marks;
}

static void find_columns(const struct pdet_batch *b, unsigned by,
			 struct columns *c)
{
	memset(c, 0, sizeof(*c));
	c->pfn = b->value[PAGEDET_FIELD_PFN];
	c->pfn_cell = b->cell[PAGEDET_FIELD_PFN];
	c->value = b->value[by];
	c->cell = b->cell[by];
	c->pages = b->value[PAGEDET_FIELD_PAGES];
	c->flags = b->value[PAGEDET_FIELD_FLAGS];
	c->flags_cell = b->cell[PAGEDET_FIELD_FLAGS];
	c->notes = b->value[PAGEDET_FIELD_NOTES];
}

static void svg_batch(struct pagedet_emitter *e, const struct pdet_batch *b)
{
	struct svg *s = e->own;
	struct columns c;
	uint32_t row, end;
	int category;

	find_columns(b, s->words.by, &c);
	if (!c.pfn)
		return;
	for (row = 0; row < b->n; row = end) {
		const uint64_t flags = flags_of(&c, row);

		end = run_end(&c, row, b->n);
		if (PAGEDET_CELL_STATE(c.pfn_cell[row]) != PAGEDET_HAVE ||
		    flags & NOPAGE || is_kind(s, &c, row, PAGEDET_KIND_HOLE))
			continue;
		category = category_of(e, b, row, is_undecided(&c, row));
		if (category < 0) {
			e->out.error = ENOMEM;
			return;
		}
		pdet_picture_add(&s->picture, c.pfn[row],
				 c.pfn[end - 1] - c.pfn[row] +
					 pages_of(&c, end - 1),
				 (unsigned)category,
				 marks_of(s, &c, row, flags));
	}
}

/* --- the end --- */

static void svg_end(struct pagedet_emitter *e, const struct pdet_emit_end *end)
{
	struct svg *s = e->own;

	s->whole = end->complete;
	if (end->wanted)
		snprintf(s->words.partial, sizeof(s->words.partial),
			 "Partial: %llu of %llu pages were looked at",
			 (unsigned long long)end->visited,
			 (unsigned long long)end->wanted);
	else
		snprintf(s->words.partial, sizeof(s->words.partial),
			 "Partial: not everything was looked at");
}

static void svg_finish(struct pagedet_emitter *e)
{
	struct svg *s = e->own;

	if (!s->begun)
		return;
	if (s->whole)
		s->words.partial[0] = '\0';
	else if (!s->words.partial[0])
		snprintf(s->words.partial, sizeof(s->words.partial),
			 "Partial: the question failed");
	if (!pdet_picture_rank(&s->picture) ||
	    !pdet_svg_draw(&e->out, &s->words))
		e->out.error = ENOMEM;
	pdet_picture_free(&s->picture);
	s->begun = false;
}

static void svg_free(struct pagedet_emitter *e)
{
	struct svg *s = e->own;

	pdet_picture_free(&s->picture);
}

const struct pdet_emit_format pdet_emit_svg = {
	.size = sizeof(struct svg),
	.refuse = svg_refuse,
	.begin = svg_begin,
	.batch = svg_batch,
	.end = svg_end,
	.finish = svg_finish,
	.free = svg_free,
};
