/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The text of the picture. It stands by itself: no style sheet, no script, no
 * font but a generic one, its own background. Cells of one look are one path
 * of lines along the rows, so that even a picture without two equal neighbours
 * stays below half a megabyte.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "emit/cell.h"
#include "emit/svg.h"

#define MAP 1024		/* width and, of a square, height of the map */
#define EDGE 24
#define TOP 122			/* of the map; below the words */
#define TICKS 130		/* room for addresses beside the rows */
#define LEGEND 530

struct drawing {
	struct pdet_out *out;
	const struct pdet_svg *s;
	struct pdet_curve curve;
	uint32_t cells, rows;
	int scale;		/* pixels of a cell */
	int left, height;	/* of the map */
	uint8_t look[PDET_PICTURE_CATEGORIES];
	uint8_t grid[PDET_PICTURE_CELLS];
};

void pdet_svg_printf(struct pdet_out *out, const char *fmt, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (n > 0)
		pdet_out_put(out, text, PDET_MIN((size_t)n, sizeof(text) - 1));
}

/* Characters that XML 1.0 has no place for, even as references. */
static bool is_char(uint32_t code)
{
	return (code >= 0x20 || code == '\t' || code == '\n') &&
	       code != 0x7f && code != 0xfffe && code != 0xffff;
}

void pdet_svg_text(struct pdet_out *out, const char *text, size_t max)
{
	const char *end = text + strlen(text);
	uint32_t code;
	int n;

	for (; text < end; text += n < 0 ? -n : n) {
		n = pdet_utf8(text, end, &code);
		if (!max--) {
			pdet_out_str(out, "...");
			return;
		}
		if (n < 0 || !is_char(code))
			pdet_out_str(out, "?");
		else if (code == '<')
			pdet_out_str(out, "&lt;");
		else if (code == '>')
			pdet_out_str(out, "&gt;");
		else if (code == '&')
			pdet_out_str(out, "&amp;");
		else
			pdet_out_put(out, text, (size_t)n);
	}
}

void pdet_svg_path(struct pdet_out *out, const uint8_t *grid, uint32_t width,
		   uint32_t rows, unsigned look)
{
	uint32_t y, x, end, at_x = 0, at_y = 0;
	bool moved = false;

	for (y = 0; y < rows; y++)
		for (x = 0; x < width; x = end) {
			const uint8_t *row = grid + (size_t)y * width;

			end = x + 1;
			if (row[x] != look)
				continue;
			while (end < width && row[end] == look)
				end++;
			pdet_svg_printf(out, "%c%d %dh%d", moved ? 'm' : 'M',
					(int)x - (int)at_x,
					(int)y - (int)at_y, (int)(end - x));
			moved = true;
			at_x = end;
			at_y = y;
		}
}

/* --- cells --- */

static void fill_grid(struct drawing *d)
{
	const struct pdet_picture *p = d->s->picture;
	uint32_t i, x, y;

	memset(d->grid, PDET_LOOK_BLANK, sizeof(d->grid));
	for (i = 0; i < d->cells; i++) {
		const struct pdet_picture_cell *cell = &p->cell[i];

		pdet_curve_place(&d->curve, i, &x, &y);
		if (cell->category)
			d->grid[y << d->curve.bits | x] =
				d->look[cell->category - 1];
		else if (cell->pale)
			d->grid[y << d->curve.bits | x] = PDET_LOOK_PALE;
	}
}

/* The name that a pointer shows; of looks with many it says so. */
static void put_name(struct drawing *d, unsigned look)
{
	const struct pdet_picture *p = d->s->picture;
	size_t i, n = 0, first = 0;

	for (i = 1; i < p->categories.n; i++)
		if (d->look[i] == look && !n++)
			first = i;
	pdet_out_str(d->out, "<title>");
	if (look == PDET_LOOK_PALE)
		pdet_out_str(d->out, pdet_svg_pale(d->s));
	else if (look == PDET_LOOK_UNKNOWN)
		pdet_out_str(d->out, "? not known");
	else if (n == 1 && look != PDET_LOOK_OTHER)
		pdet_svg_text(d->out, p->categories.data[first].name,
			      SIZE_MAX);
	else
		pdet_out_str(d->out, "other");
	pdet_out_str(d->out, "</title>");
}

static void put_paths(struct drawing *d)
{
	const uint32_t width = 1u << d->curve.bits;
	unsigned look;

	pdet_svg_printf(d->out, "<g transform=\"translate(%d %d.%d) "
			"scale(%d)\" "
			"fill=\"none\" stroke-width=\"1\" "
			"shape-rendering=\"crispEdges\">\n", d->left,
			TOP + d->scale / 2, d->scale % 2 * 5, d->scale);
	for (look = 0; look < PDET_LOOK_BLANK; look++) {
		if (!memchr(d->grid, (int)look, (size_t)width * d->rows))
			continue;
		pdet_svg_printf(d->out, "<path stroke=\"%s\" d=\"",
				look == PDET_LOOK_UNKNOWN ?
					"url(#unknown-cell)" :
					pdet_svg_colour(d->s->by, look));
		pdet_svg_path(d->out, d->grid, width, d->rows, look);
		pdet_out_str(d->out, "\">");
		put_name(d, look);
		pdet_out_str(d->out, "</path>\n");
	}
	pdet_out_str(d->out, "</g>\n");
}

/* --- marks --- */

void pdet_svg_mark(struct pdet_out *out, unsigned mark, int x, int y)
{
	/* Two lines, of which one is seen on any ground. */
	static const char *const stroke[] = {
		"stroke=\"#fff\" stroke-width=\"9\"",
		"stroke=\"#c00000\" stroke-width=\"5\"",
		"stroke=\"#fff\" stroke-width=\"9\"",
		"stroke=\"#000\" stroke-width=\"4\"",
	};
	unsigned i;

	for (i = 0; i < 2; i++)
		if (mark == PDET_MARK_HWPOISON)
			pdet_svg_printf(out, "<circle cx=\"%d\" cy=\"%d\" "
					"r=\"13\" fill=\"none\" %s/>", x, y,
					stroke[i]);
		else
			pdet_svg_printf(out, "<rect x=\"%d\" y=\"%d\" "
					"width=\"20\" height=\"20\" "
					"fill=\"none\" %s/>", x - 10, y - 10,
					stroke[2 + i]);
}

/* Whether what is to be marked is what the colour says already. */
static bool is_plain(const struct drawing *d,
		     const struct pdet_picture_cell *cell, unsigned mark)
{
	return mark == PDET_MARK_OFFLINE && cell->category &&
	       d->s->by == PAGEDET_FIELD_KIND &&
	       d->look[cell->category - 1] == PAGEDET_KIND_OFFLINE;
}

/* One mark for all cells that it covers. */
static void put_marks(struct drawing *d, unsigned mark)
{
	const unsigned shift = d->curve.bits > 5 ? d->curve.bits - 5 : 0;
	uint32_t i, x, y, seen[32] = { 0 };

	for (i = 0; i < d->cells; i++) {
		const struct pdet_picture_cell *cell;

		cell = &d->s->picture->cell[i];
		if (!(cell->marks >> mark & 1) || is_plain(d, cell, mark))
			continue;
		pdet_curve_place(&d->curve, i, &x, &y);
		if (seen[y >> shift] >> (x >> shift) & 1)
			continue;
		seen[y >> shift] |= 1u << (x >> shift);
		pdet_svg_mark(d->out, mark,
			      d->left + (int)x * d->scale + d->scale / 2,
			      TOP + (int)y * d->scale + d->scale / 2);
		pdet_out_str(d->out, "\n");
	}
}

/* --- addresses --- */

static void put_address(struct pdet_out *out, uint64_t bytes)
{
	char text[PDET_DIGITS + 1], *dot, *end;

	end = pdet_put_size(text, bytes);
	*end = '\0';
	/* Powers of two are round numbers. */
	dot = strstr(text, ".0 ");
	if (dot)
		memmove(dot, dot + 2, strlen(dot + 2) + 1);
	pdet_out_str(out, text);
}

/* Squares of a sixteenth of the curve each say where they begin. */
static void put_squares(struct drawing *d)
{
	const unsigned bits = d->curve.bits - 2;
	const unsigned order = 2 * bits + d->s->picture->order;
	const uint64_t step = d->s->page_size << order;
	const int side = d->scale << bits;
	uint32_t i, x, y;

	pdet_svg_printf(d->out, "<path fill=\"none\" stroke=\"#000\" "
			"stroke-opacity=\"0.45\" d=\"M%d %dh%dm%d %dh%d"
			"m%d %dh%d", d->left, TOP + side, MAP, -MAP, side, MAP,
			-MAP, side, MAP);
	pdet_svg_printf(d->out, "M%d %dv%dm%d %dv%dm%d %dv%d\"/>\n",
			d->left + side, TOP, MAP, side, -MAP, MAP, side, -MAP,
			MAP);
	for (i = 0; i < 16; i++) {
		const uint64_t first = i * step;

		if (first >= d->s->picture->end * d->s->page_size)
			break;
		pdet_curve_place(&d->curve, i << (2 * bits), &x, &y);
		x = (x >> bits) * (uint32_t)side + (uint32_t)d->left;
		y = (y >> bits) * (uint32_t)side + TOP;
		pdet_svg_printf(d->out, "<g><rect x=\"%u\" y=\"%u\" "
				"width=\"182\" height=\"22\" fill=\"#fff\" "
				"fill-opacity=\"0.82\"/><text x=\"%u\" "
				"y=\"%u\" font-size=\"16\">", x + 3, y + 3,
				x + 8, y + 20);
		put_address(d->out, first);
		pdet_svg_printf(d->out, ", 0x%llx</text><title>0x%llx to "
				"0x%llx</title></g>\n",
				(unsigned long long)first,
				(unsigned long long)first,
				(unsigned long long)(first + step - 1));
	}
}

/* Rows say where they begin, some of them. */
static void put_rows(struct drawing *d)
{
	const uint64_t row = ((uint64_t)1 << (d->curve.bits +
					      d->s->picture->order)) *
			     d->s->page_size;
	uint32_t every = 1, y;

	while (d->rows / every > 16 || every * (uint32_t)d->scale < 48)
		every *= 2;
	for (y = 0; y < d->rows; y += every) {
		const int at = TOP + (int)y * d->scale;

		pdet_svg_printf(d->out, "<path stroke=\"#000\" d=\"M%d "
				"%dh10\"/><text x=\"%d\" y=\"%d\" "
				"text-anchor=\"end\" font-size=\"18\">",
				d->left - 12, at, d->left - 16, at + 16);
		put_address(d->out, y * row);
		pdet_svg_printf(d->out, "</text><text x=\"%d\" y=\"%d\" "
				"text-anchor=\"end\" font-size=\"14\" "
				"fill=\"#444\">0x%llx</text>\n", d->left - 16,
				at + 33, (unsigned long long)(y * row));
	}
}

/* --- all --- */

/* @scale is a power of two. Numbers with a fraction are put together by hand:
 * the locale of the program is not ours. */
static void put_pattern(struct drawing *d, const char *id, unsigned scale)
{
	pdet_svg_printf(d->out, "<pattern id=\"%s\" width=\"8\" height=\"8\" "
			"patternUnits=\"userSpaceOnUse\" patternTransform="
			"\"scale(%u.%07u)\"><rect width=\"8\" height=\"8\" "
			"fill=\"#fff\"/><path d=\"M-2 2L2 -2M0 8L8 0M6 10L10 6"
			"\" stroke=\"#a00070\" stroke-width=\"2.4\"/>"
			"</pattern>\n", id, 1 / scale,
			10000000 / scale % 10000000);
}

static void put_words(struct drawing *d)
{
	const struct pdet_svg *s = d->s;

	pdet_svg_printf(d->out, "<text x=\"%d\" y=\"48\" font-size=\"34\" "
			"font-weight=\"bold\">", EDGE);
	pdet_svg_text(d->out, s->title, 84);
	pdet_svg_printf(d->out, "</text>\n<text x=\"%d\" y=\"80\" "
			"fill=\"#333\">", EDGE);
	pdet_svg_text(d->out, s->about, 90);
	pdet_svg_printf(d->out, "%sone cell is ", *s->about ? "; " : "");
	put_address(d->out, s->page_size << s->picture->order);
	pdet_svg_printf(d->out, " (%llu page%s of ", 1ull << s->picture->order,
			s->picture->order ? "s" : "");
	put_address(d->out, s->page_size);
	pdet_svg_printf(d->out, "), coloured as most of %s</text>\n",
			s->by == PDET_SVG_CHANGES ? "what changed there" :
			s->filtered ? "what matches there" : "it is");
	if (!*s->partial)
		return;
	pdet_svg_printf(d->out, "<text x=\"%d\" y=\"109\" fill=\"#b00000\" "
			"font-weight=\"bold\" font-size=\"22\">", EDGE);
	pdet_svg_text(d->out, s->partial, 120);
	pdet_out_str(d->out, "</text>\n");
}

static void measure(struct drawing *d)
{
	d->cells = pdet_picture_cells(d->s->picture);
	d->curve = pdet_curve_fit(d->cells, d->s->linear);
	d->rows = 1u << d->curve.bits;
	if (d->s->linear)
		d->rows = PDET_MAX((d->cells + d->rows - 1) / d->rows, 1u);
	d->scale = MAP >> d->curve.bits;
	d->left = d->s->linear ? TICKS : EDGE;
	d->height = (int)d->rows * d->scale;
}

bool pdet_svg_draw(struct pdet_out *out, const struct pdet_svg *s)
{
	struct drawing *d = calloc(1, sizeof(*d));
	int width, height, legend;
	unsigned m;

	if (!d)
		return false;
	d->out = out;
	d->s = s;
	measure(d);
	pdet_svg_looks(s, d->look);
	fill_grid(d);
	legend = pdet_svg_legend_height(s, d->look);
	width = d->left + MAP + 36 + LEGEND;
	height = TOP + PDET_MAX(d->height, legend) + EDGE;
	pdet_svg_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			"<svg xmlns=\"http://www.w3.org/2000/svg\" "
			"version=\"1.1\" width=\"%d\" height=\"%d\" "
			"viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
			"font-size=\"20\">\n<title>", width, height, width,
			height);
	pdet_svg_text(out, s->title, SIZE_MAX);
	pdet_out_str(out, "</title>\n<defs>\n");
	put_pattern(d, "unknown", 1);
	put_pattern(d, "unknown-cell", (unsigned)d->scale);
	pdet_out_str(out, "</defs>\n<rect width=\"100%\" height=\"100%\" "
		     "fill=\"#fff\"/>\n");
	put_words(d);
	put_paths(d);
	if (s->linear)
		put_rows(d);
	else
		put_squares(d);
	pdet_svg_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" "
			"height=\"%d\" fill=\"none\" stroke=\"#000\" "
			"stroke-width=\"2\"/>\n", d->left, TOP, MAP,
			d->height);
	for (m = PDET_MARKS; m > 0; m--)
		put_marks(d, m - 1);
	pdet_svg_legend(out, s, d->look, d->left + MAP + 36, TOP + 18);
	pdet_out_str(out, "</svg>\n");
	free(d);
	return true;
}
