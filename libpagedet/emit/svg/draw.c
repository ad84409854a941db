/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes the SVG text. The picture is self-contained: no script, only a generic
 * font, its own background, and a few lines of style for dark pages. All cells
 * of one look are one path of lines along the rows. Even a picture without two
 * equal neighbours thus stays below half a megabyte.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "emit/cell.h"
#include "emit/svg/svg.h"

#define MAP 1024		/* largest width of the map */
#define GRID (PDET_PICTURE_CELLS / 4 * 5)
#define EDGE 24
#define TOP 122			/* of the map, below the heading */
#define TICKS 130		/* room for addresses at the left */
#define LEGEND 530

struct drawing {
	struct pdet_out *out;
	const struct pdet_svg *s;
	struct pdet_tiles tiles;
	uint32_t cells;
	int scale;		/* pixels of a cell */
	int left, width, height; /* of the map */
	uint8_t look[PDET_PICTURE_CATEGORIES];
	uint8_t grid[GRID];
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

/* Whether XML 1.0 allows the character, even as a reference. */
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

		if (!pdet_tiles_place(&d->tiles, i, &x, &y))
			continue;
		if (cell->category)
			d->grid[y * d->tiles.columns + x] =
				d->look[cell->category - 1];
		else if (cell->pale)
			d->grid[y * d->tiles.columns + x] = PDET_LOOK_PALE;
	}
}

/* Writes the tooltip of a look. Looks of many categories say so. */
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
	const uint32_t width = d->tiles.columns, rows = d->tiles.rows;
	unsigned look;

	pdet_svg_printf(d->out, "<g transform=\"translate(%d %d.%d) "
			"scale(%d)\" "
			"fill=\"none\" stroke-width=\"1\" "
			"shape-rendering=\"crispEdges\">\n", d->left,
			TOP + d->scale / 2, d->scale % 2 * 5, d->scale);
	for (look = 0; look < PDET_LOOK_BLANK; look++) {
		if (!memchr(d->grid, (int)look, (size_t)width * rows))
			continue;
		pdet_svg_printf(d->out, "<path%s stroke=\"%s\" d=\"",
				pdet_svg_class(d->s->by, look),
				look == PDET_LOOK_UNKNOWN ?
					"url(#unknown-cell)" :
					pdet_svg_colour(d->s->by, look));
		pdet_svg_path(d->out, d->grid, width, rows, look);
		pdet_out_str(d->out, "\">");
		put_name(d, look);
		pdet_out_str(d->out, "</path>\n");
	}
	pdet_out_str(d->out, "</g>\n");
}

/* --- marks --- */

void pdet_svg_mark(struct pdet_out *out, unsigned mark, int x, int y)
{
	/* Two lines, so that one of them is visible on any background. */
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

/* Whether the colour already shows the same as the mark. */
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
	/*
	 * At most 32 fields side by side. Tiles may be slightly wider than
	 * high.
	 */
	const uint32_t field = (PDET_MAX(d->tiles.columns, d->tiles.rows) +
				31) / 32;
	uint32_t i, x, y, seen[32] = { 0 };

	for (i = 0; i < d->cells; i++) {
		const struct pdet_picture_cell *cell;

		cell = &d->s->picture->cell[i];
		if (!(cell->marks >> mark & 1) || is_plain(d, cell, mark))
			continue;
		if (!pdet_tiles_place(&d->tiles, i, &x, &y) ||
		    seen[y / field] >> (x / field) & 1)
			continue;
		seen[y / field] |= 1u << (x / field);
		pdet_svg_mark(d->out, mark,
			      d->left + (int)x * d->scale + d->scale / 2,
			      TOP + (int)y * d->scale + d->scale / 2);
		pdet_out_str(d->out, "\n");
	}
}

/* --- addresses --- */

void pdet_svg_address(struct pdet_out *out, uint64_t bytes)
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

/* Lines between the tiles. */
static void put_lines(struct drawing *d)
{
	const int side = d->scale << d->tiles.curve.bits;
	uint32_t i;

	pdet_out_str(d->out, "<path class=\"line\" fill=\"none\" "
		     "stroke=\"#000\" stroke-opacity=\"0.45\" d=\"");
	for (i = 1; i < d->tiles.down; i++)
		pdet_svg_printf(d->out, "M%d %dh%d", d->left,
				TOP + (int)i * side, d->width);
	for (i = 1; i < d->tiles.across; i++)
		pdet_svg_printf(d->out, "M%d %dv%d", d->left + (int)i * side,
				TOP, d->height);
	pdet_out_str(d->out, "\"/>\n");
}

/* Labels each tile with its start, in both forms if there is room. */
static void put_squares(struct drawing *d)
{
	const unsigned bits = d->tiles.curve.bits;
	const unsigned order = 2 * bits + d->s->picture->order;
	const uint64_t step = d->s->page_size << order;
	const int side = d->scale << bits;
	const bool wide = side >= 200;
	uint32_t i, x, y;

	put_lines(d);
	for (i = 0; i < d->tiles.all; i++) {
		const uint64_t first = i * step;

		if (d->tiles.left_out[i])
			continue;
		x = d->tiles.place[i] % d->tiles.across * (uint32_t)side +
		    (uint32_t)d->left;
		y = d->tiles.place[i] / d->tiles.across * (uint32_t)side + TOP;
		pdet_svg_printf(d->out, "<g><rect class=\"tag\" x=\"%u\" "
				"y=\"%u\" width=\"%d\" height=\"%d\" "
				"fill=\"#fff\" fill-opacity=\"0.82\"/><text "
				"x=\"%u\" y=\"%u\" font-size=\"%d\">", x + 3,
				y + 3, wide ? 182 : 66, wide ? 22 : 17,
				x + (wide ? 8 : 6), y + (wide ? 20 : 16),
				wide ? 16 : 13);
		pdet_svg_address(d->out, first);
		if (wide)
			pdet_svg_printf(d->out, ", 0x%llx",
					(unsigned long long)first);
		pdet_svg_printf(d->out, "</text><title>0x%llx to 0x%llx"
				"</title></g>\n", (unsigned long long)first,
				(unsigned long long)(first + step - 1));
	}
}

/* Labels some rows with their start. */
static void put_rows(struct drawing *d)
{
	const uint64_t row = ((uint64_t)1 << (d->tiles.curve.bits +
					      d->s->picture->order)) *
			     d->s->page_size;
	uint32_t every = 1, y;

	while (d->tiles.rows / every > 16 || every * (uint32_t)d->scale < 48)
		every *= 2;
	for (y = 0; y < d->tiles.rows; y += every) {
		const int at = TOP + (int)y * d->scale;

		pdet_svg_printf(d->out, "<path class=\"line\" "
				"stroke=\"#000\" d=\"M%d %dh10\"/><text x=\"%d\" y=\"%d\" "
				"text-anchor=\"end\" font-size=\"18\">",
				d->left - 12, at, d->left - 16, at + 16);
		pdet_svg_address(d->out, y * row);
		pdet_svg_printf(d->out, "</text><text x=\"%d\" y=\"%d\" "
				"text-anchor=\"end\" font-size=\"14\" "
				"class=\"soft\" fill=\"#444\">0x%llx</text>\n",
				d->left - 16, at + 33,
				(unsigned long long)(y * row));
	}
}

/* --- the whole picture --- */

/*
 * @scale is a power of two. Fractions are formatted by hand, because the
 * program's locale may change the decimal point.
 */
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
	pdet_svg_printf(d->out, "</text>\n<text class=\"soft\" x=\"%d\" "
			"y=\"80\" fill=\"#333\">", EDGE);
	pdet_svg_text(d->out, s->about, 90);
	pdet_svg_printf(d->out, "%sone cell is ", *s->about ? "; " : "");
	pdet_svg_address(d->out, s->page_size << s->picture->order);
	pdet_svg_printf(d->out, " (%llu page%s of ", 1ull << s->picture->order,
			s->picture->order ? "s" : "");
	pdet_svg_address(d->out, s->page_size);
	pdet_svg_printf(d->out, "), coloured as most of %s</text>\n",
			s->by == PDET_SVG_CHANGES ? "what changed there" :
			s->filtered ? "what matches there" : "it is");
	if (!*s->partial)
		return;
	pdet_svg_printf(d->out, "<text class=\"bad\" x=\"%d\" y=\"109\" "
			"fill=\"#b00000\" "
			"font-weight=\"bold\" font-size=\"22\">", EDGE);
	pdet_svg_text(d->out, s->partial, 120);
	pdet_out_str(d->out, "</text>\n");
}

static void measure(struct drawing *d)
{
	d->cells = pdet_picture_cells(d->s->picture);
	pdet_tiles_fit(d->s->picture, d->s->linear, &d->tiles);
	d->scale = MAP / (int)d->tiles.columns;
	d->left = d->s->linear ? TICKS : EDGE;
	d->width = (int)d->tiles.columns * d->scale;
	d->height = (int)d->tiles.rows * d->scale;
}

/* On dark pages, everything but data changes its colour. */
static const char style[] =
	"<style>@media (prefers-color-scheme:dark){.ground{fill:#15181d}"
	"text{fill:#e8e8e8}.soft{fill:#b4b8bf}.bad{fill:#ff8a80}"
	".line{stroke:#c8c8c8}.tag{fill:#15181d}.free{stroke:#33473a}"
	".pale{stroke:#2a2e35}rect.free{fill:#33473a;stroke:#999}"
	"rect.pale{fill:#2a2e35;stroke:#999}rect.blank{fill:#15181d}}"
	"</style>\n";

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
	legend = pdet_svg_legend_height(s, &d->tiles, d->look);
	width = d->left + d->width + 36 + LEGEND;
	height = TOP + PDET_MAX(d->height, legend) + EDGE;
	pdet_svg_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			"<svg xmlns=\"http://www.w3.org/2000/svg\" "
			"version=\"1.1\" width=\"%d\" height=\"%d\" "
			"viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
			"font-size=\"20\">\n<title>", width, height, width,
			height);
	pdet_svg_text(out, s->title, SIZE_MAX);
	pdet_out_str(out, "</title>\n");
	pdet_out_str(out, style);
	pdet_out_str(out, "<defs>\n");
	put_pattern(d, "unknown", 1);
	put_pattern(d, "unknown-cell", (unsigned)d->scale);
	pdet_out_str(out, "</defs>\n<rect class=\"ground\" width=\"100%\" "
		     "height=\"100%\" fill=\"#fff\"/>\n");
	put_words(d);
	put_paths(d);
	if (s->linear)
		put_rows(d);
	else
		put_squares(d);
	pdet_svg_printf(out, "<rect class=\"line\" x=\"%d\" y=\"%d\" "
			"width=\"%d\" height=\"%d\" fill=\"none\" "
			"stroke=\"#000\" stroke-width=\"2\"/>\n", d->left, TOP,
			d->width, d->height);
	for (m = PDET_MARKS; m > 0; m--)
		put_marks(d, m - 1);
	pdet_svg_legend(out, s, &d->tiles, d->look, d->left + d->width + 36,
			TOP + 18);
	pdet_out_str(out, "</svg>\n");
	free(d);
	return true;
}
