/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Draws the legend: one line per colour, with its number of pages. */
#include <stdio.h>

#include "emit/cell.h"
#include "emit/svg/svg.h"

#define ROW 30			/* height of a line of the legend */
#define SHORT 17		/* characters that fit before the numbers */
#define LONG 56			/* number of characters that fit into a line of
				 * their own */
#define PAGES_X 300		/* right edge of the columns */
#define SIZE_X 420
#define SHARE_X 505
#define GAPS 4			/* gaps that are named */

struct legend {
	struct pdet_out *out;
	const struct pdet_svg *s;
	const struct pdet_tiles *tiles;
	const uint8_t *look;
	uint64_t total;		/* pages that are 100% */
	int x, y;
	bool dry;		/* compute only the height */
};

static void put_swatch(struct legend *l, unsigned look)
{
	if (l->dry)
		return;
	pdet_svg_printf(l->out, "<rect%s x=\"%d\" y=\"%d\" width=\"22\" "
			"height=\"22\" stroke=\"#555\" fill=\"",
			pdet_svg_class(l->s->by, look), l->x, l->y - 17);
	if (look == PDET_LOOK_UNKNOWN)
		pdet_out_str(l->out, "url(#unknown)");
	else if (look == PDET_LOOK_BLANK)
		pdet_out_str(l->out, "#fff");
	else
		pdet_out_str(l->out, pdet_svg_colour(l->s->by, look));
	pdet_out_str(l->out, "\"/>");
}

static void put_text(struct legend *l, int x, const char *more,
		     const char *text, size_t max)
{
	if (l->dry)
		return;
	pdet_svg_printf(l->out, "<text x=\"%d\" y=\"%d\"%s>", l->x + x, l->y,
			more);
	pdet_svg_text(l->out, text, max);
	pdet_out_str(l->out, "</text>");
}

static void put_numbers(struct legend *l, uint64_t pages)
{
	static const char right[] = " text-anchor=\"end\"";
	char text[PDET_DIGITS + 1];

	*pdet_put_dec(text, pages) = '\0';
	put_text(l, PAGES_X, right, text, SIZE_MAX);
	*pdet_put_size(text, pages * l->s->page_size) = '\0';
	put_text(l, SIZE_X, right, text, SIZE_MAX);
	*pdet_put_share(text, pages, l->total) = '\0';
	put_text(l, SHARE_X, right, text, SIZE_MAX);
}

static void next_line(struct legend *l)
{
	if (!l->dry)
		pdet_out_str(l->out, "\n");
	l->y += ROW;
}

static void put_entry(struct legend *l, unsigned look, const char *name,
		      uint64_t pages)
{
	const size_t len = strlen(name);

	if (look < PDET_LOOKS)
		put_swatch(l, look);
	put_text(l, 32, len > SHORT ? " font-size=\"16\"" : "", name, LONG);
	if (len > SHORT)
		next_line(l);
	put_numbers(l, pages);
	next_line(l);
}

/* Writes small text below an entry. */
static void put_note(struct legend *l, const char *text)
{
	l->y -= 6;
	put_text(l, 32, " class=\"soft\" font-size=\"15\" fill=\"#444\"",
		 text, 66);
	next_line(l);
}

static void put_category(struct legend *l,
			 const struct pdet_picture_category *c, unsigned look)
{
	char name[PDET_PICTURE_NAME + 8];
	struct pdet_cut cut = { name, sizeof(name) - 1, 0 };
	const char *why;

	if (c->undecided) {
		put_entry(l, look, "? undecided", c->pages);
		put_note(l, "what the filter asks is not known");
		return;
	}
	pdet_cut_str(&cut, c->name);
	if (c->cut)
		pdet_cut_str(&cut, "...");
	if (pdet_is_reason(c->state)) {
		pdet_cut_str(&cut, " ");
		pdet_cut_str(&cut, pdet_reason_name(c->state));
	} else if (c->state == PAGEDET_NONE) {
		pdet_cut_str(&cut, " (nothing)");
	}
	name[PDET_MIN(cut.len, sizeof(name) - 1)] = '\0';
	put_entry(l, look, name, c->pages);
	why = pdet_is_reason(c->state) ? pdet_state_text(c->state) : NULL;
	if (why)
		put_note(l, why);
}

/* Lists the categories with their own look, and the sum of the others. */
static void put_categories(struct legend *l)
{
	const struct pdet_picture *p = l->s->picture;
	uint64_t other = p->categories.data[0].pages;
	uint16_t at[PDET_PICTURE_CATEGORIES];
	size_t i, n = other ? 1 : 0;
	char name[64];

	for (i = 1; i < p->categories.n; i++)
		at[p->categories.data[i].rank] = (uint16_t)i;
	for (i = 0; i + 1 < p->categories.n; i++) {
		const struct pdet_picture_category *c;

		c = &p->categories.data[at[i]];
		if (l->look[at[i]] != PDET_LOOK_OTHER) {
			put_category(l, c, l->look[at[i]]);
			continue;
		}
		other += c->pages;
		n++;
	}
	if (!n)
		return;
	snprintf(name, sizeof(name), "other (%s%zu)",
		 p->categories.data[0].pages ? "over " : "", n);
	put_entry(l, PDET_LOOK_OTHER, name, other);
}

static void put_marks(struct legend *l)
{
	static const char *const names[PDET_MARKS] = {
		[PDET_MARK_HWPOISON] = "hwpoison",
		[PDET_MARK_OFFLINE] = "offline",
	};
	const struct pdet_picture *p = l->s->picture;
	unsigned m;

	for (m = 0; m < PDET_MARKS; m++) {
		if (!p->marked[m])
			continue;
		l->y += 8;
		if (!l->dry)
			pdet_svg_mark(l->out, m, l->x + 11, l->y - 6);
		put_entry(l, PDET_LOOKS, names[m], p->marked[m]);
		put_note(l, "a cell with such a page, whatever its colour");
	}
}

static void put_gap(struct legend *l, uint64_t first, uint64_t end)
{
	if (!l->dry) {
		pdet_svg_printf(l->out, "<text class=\"soft\" x=\"%d\" "
				"y=\"%d\" font-size=\"15\" "
				"fill=\"#444\">left out: ", l->x + 32, l->y);
		pdet_svg_address(l->out, first);
		pdet_out_str(l->out, " to ");
		pdet_svg_address(l->out, end);
		pdet_out_str(l->out, "</text>");
	}
	next_line(l);
}

/* Lists squares without memory; neighbours share an entry. */
static void put_gaps(struct legend *l)
{
	const struct pdet_tiles *t = l->tiles;
	const uint64_t step = l->s->page_size << (2 * t->curve.bits +
						  l->s->picture->order);
	uint32_t i, end, n = 0;

	if (t->curve.linear)
		return;
	for (i = 0; i < t->all; i = end) {
		end = i + 1;
		if (!t->left_out[i])
			continue;
		while (end < t->all && t->left_out[end])
			end++;
		if (++n > GAPS)
			continue;
		l->y -= 6;
		put_gap(l, i * step, end * step);
	}
	if (n > GAPS)
		put_note(l, "and more of these");
}

/* Draws the path of addresses through the squares as a small picture. */
static void put_order(struct legend *l)
{
	const struct pdet_curve c = { 2, false };
	uint32_t i, x, y;

	put_text(l, 0, " class=\"soft\" fill=\"#444\"", l->s->linear ?
		 "Addresses grow from left to right, row by row." :
		 "Squares go from left to right, row by row.", SIZE_MAX);
	next_line(l);
	if (l->s->linear)
		return;
	put_text(l, 0, " class=\"soft\" fill=\"#444\"",
		 "Within each, addresses follow this line:", SIZE_MAX);
	next_line(l);
	for (i = 0; !l->dry && i < 16; i++) {
		pdet_curve_place(&c, i, &x, &y);
		pdet_svg_printf(l->out, i ? " %u,%u" :
				"<polyline class=\"line\" fill=\"none\" "
				"stroke=\"#444\" stroke-width=\"3\" points=\"%u,%u",
				(unsigned)l->x + 20 + 30 * x,
				(unsigned)l->y + 30 * y);
	}
	if (!l->dry)
		pdet_svg_printf(l->out, "\"/><circle cx=\"%d\" cy=\"%d\" "
				"r=\"7\" class=\"soft\" fill=\"#444\"/>",
				l->x + 20, l->y);
	l->y += 3 * 30;
	next_line(l);
}

static void put_legend(struct legend *l)
{
	const struct pdet_picture *p = l->s->picture;
	static const char right[] = " text-anchor=\"end\" font-weight=\"bold\"";

	l->total = PDET_MAX(p->pages, l->s->filtered ? p->pale : 0);
	put_text(l, 32, " font-weight=\"bold\"", pdet_svg_by(l->s),
		 LONG);
	put_text(l, PAGES_X, right, "pages", SIZE_MAX);
	put_text(l, SIZE_X, right, "size", SIZE_MAX);
	put_text(l, SHARE_X, right, "share", SIZE_MAX);
	next_line(l);
	put_categories(l);
	if (l->s->filtered)
		put_entry(l, PDET_LOOK_PALE, pdet_svg_pale(l->s),
			  p->pale > p->pages ? p->pale - p->pages : 0);
	put_entry(l, PDET_LOOKS, "total", l->total);
	put_marks(l);
	put_swatch(l, PDET_LOOK_BLANK);
	put_text(l, 32, "", *l->s->partial ?
		 "no memory there, or not looked at" : "no memory there",
		 SIZE_MAX);
	next_line(l);
	put_gaps(l);
	l->y += 10;
	put_order(l);
}

int pdet_svg_legend(struct pdet_out *out, const struct pdet_svg *s,
		    const struct pdet_tiles *tiles, const uint8_t *look, int x,
		    int y)
{
	struct legend l = { .out = out, .s = s, .tiles = tiles, .look = look,
			    .x = x, .y = y };

	put_legend(&l);
	return l.y;
}

int pdet_svg_legend_height(const struct pdet_svg *s,
			   const struct pdet_tiles *tiles,
			   const uint8_t *look)
{
	struct legend l = { .s = s, .tiles = tiles, .look = look, .dry = true };

	put_legend(&l);
	return l.y;
}
