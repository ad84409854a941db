/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Draws a picture of physical memory as SVG. */
#ifndef PDET_EMIT_SVG_SVG_H
#define PDET_EMIT_SVG_SVG_H

#include "emit/emitter.h"
#include "emit/svg/picture.h"
#include "emit/svg/tiles.h"

/* The text around the picture. It may be any text. */
struct pdet_svg {
	const struct pdet_picture *picture;
	char title[256];
	char about[256];	/* the kernel, and the time */
	char partial[256];	/* "": the whole query was visited */
	unsigned by;		/* the field that chooses the colours, or
				 * PDET_SVG_CHANGES */
	bool linear;
	bool filtered;		/* pale pages do not match the filter */
	uint64_t page_size;
};

/* Values are PAGEDET_CHANGE_*; pale pages did not change. */
#define PDET_SVG_CHANGES PDET_FIELDS

/* pdet_svg_by - what the colours mean. */
static inline const char *pdet_svg_by(const struct pdet_svg *s)
{
	return s->by == PDET_SVG_CHANGES ? "change" :
					   pdet_field_info(s->by)->name;
}

/* pdet_svg_pale - what pale means. */
static inline const char *pdet_svg_pale(const struct pdet_svg *s)
{
	return s->by == PDET_SVG_CHANGES ? "no change" : "does not match";
}

/* pdet_svg_about - write the kernel and the time to @size bytes. */
void pdet_svg_about(const struct pagedet_info *info, char *text, size_t size);

/* The look of a cell. Below PDET_LOOK_NONE it is a colour. */
enum pdet_svg_look {
	PDET_LOOK_NONE = 24,	/* definitely nothing */
	PDET_LOOK_OTHER,
	PDET_LOOK_PALE,
	PDET_LOOK_UNKNOWN,
	PDET_LOOK_BLANK,	/* no memory */
	PDET_LOOKS
};

/* pdet_svg_looks - choose the look of each category of a ranked picture. */
void pdet_svg_looks(const struct pdet_svg *s,
		    uint8_t look[PDET_PICTURE_CATEGORIES]);

/* pdet_svg_colour - "#rrggbb". */
const char *pdet_svg_colour(unsigned by, unsigned look);

/* pdet_svg_class - " class=..." for looks that change on dark pages, or "". */
const char *pdet_svg_class(unsigned by, unsigned look);

/*
 * pdet_svg_path - write the cells of one look as lines along the rows. "M3
 * 0h2m1 1h4" is cells 3 and 4 of row 0 and 6 to 9 of row 1. @grid has rows of
 * @width.
 */
void pdet_svg_path(struct pdet_out *out, const uint8_t *grid, uint32_t width,
		   uint32_t rows, unsigned look);

/*
 * pdet_svg_text - write the first @max characters of any text as well-formed
 * XML character data.
 */
void pdet_svg_text(struct pdet_out *out, const char *text, size_t max);

/* pdet_svg_printf - write formatted text without escapes, at most 512 bytes. */
void pdet_svg_printf(struct pdet_out *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * pdet_svg_draw - write the whole ranked picture. Returns false without memory.
 */
bool pdet_svg_draw(struct pdet_out *out, const struct pdet_svg *s);

/*
 * pdet_svg_legend - draw the legend from @x, @y on, with the looks in @look.
 * Returns the position of its end.
 */
int pdet_svg_legend(struct pdet_out *out, const struct pdet_svg *s,
		    const struct pdet_tiles *tiles, const uint8_t *look, int x,
		    int y);
/* pdet_svg_legend_height - the height of that legend. */
int pdet_svg_legend_height(const struct pdet_svg *s,
			   const struct pdet_tiles *tiles,
			   const uint8_t *look);

/* pdet_svg_address - "3 GiB". */
void pdet_svg_address(struct pdet_out *out, uint64_t bytes);

/* pdet_svg_mark - draw a mark around a place. */
void pdet_svg_mark(struct pdet_out *out, unsigned mark, int x, int y);

#endif
