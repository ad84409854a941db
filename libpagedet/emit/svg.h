/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A picture of physical memory becomes SVG. */
#ifndef PDET_EMIT_SVG_H
#define PDET_EMIT_SVG_H

#include "emit/emitter.h"
#include "emit/picture.h"
#include "emit/svg_curve.h"

/* What stands around the picture; any text. */
struct pdet_svg {
	const struct pdet_picture *picture;
	char title[256];
	char about[256];	/* which kernel, and when */
	char partial[256];	/* "": all was looked at */
	unsigned by;		/* the field that gives the colours, or
				 * PDET_SVG_CHANGES */
	bool linear;
	bool filtered;		/* what is pale does not match */
	uint64_t page_size;
};

/* Values are PAGEDET_CHANGE_*, and what is pale did not change. */
#define PDET_SVG_CHANGES PDET_FIELDS

/* pdet_svg_by - what the colours are about. */
static inline const char *pdet_svg_by(const struct pdet_svg *s)
{
	return s->by == PDET_SVG_CHANGES ? "change" :
					   pdet_field_info(s->by)->name;
}

/* pdet_svg_pale - what is pale. */
static inline const char *pdet_svg_pale(const struct pdet_svg *s)
{
	return s->by == PDET_SVG_CHANGES ? "no change" : "does not match";
}

/* pdet_svg_about - which kernel, and when, in @size bytes. */
void pdet_svg_about(const struct pagedet_info *info, char *text, size_t size);

/* What a cell looks like. Below PDET_LOOK_NONE it is a colour. */
enum pdet_svg_look {
	PDET_LOOK_NONE = 24,	/* definitely nothing there */
	PDET_LOOK_OTHER,
	PDET_LOOK_PALE,
	PDET_LOOK_UNKNOWN,
	PDET_LOOK_BLANK,	/* no memory */
	PDET_LOOKS
};

/* pdet_svg_looks - of each category of a ranked picture. */
void pdet_svg_looks(const struct pdet_svg *s,
		    uint8_t look[PDET_PICTURE_CATEGORIES]);

/* pdet_svg_colour - "#rrggbb". */
const char *pdet_svg_colour(unsigned by, unsigned look);

/*
 * pdet_svg_path - the cells of one look, as lines along the rows: "M3 0h2m1
 * 1h4" is cells 3 and 4 of row 0 and 6 to 9 of row 1. @grid has rows of @width.
 */
void pdet_svg_path(struct pdet_out *out, const uint8_t *grid, uint32_t width,
		   uint32_t rows, unsigned look);

/* pdet_svg_text - the start of a text that fits @max letters, as character data
 * of XML: well-formed whatever it is. */
void pdet_svg_text(struct pdet_out *out, const char *text, size_t max);

/* pdet_svg_printf - formatted, without escapes; at most 512 bytes. */
void pdet_svg_printf(struct pdet_out *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* pdet_svg_draw - all of it. The picture is ranked. false without memory. */
bool pdet_svg_draw(struct pdet_out *out, const struct pdet_svg *s);

/* pdet_svg_legend - from @x, @y on, as @look says; returns where it ends. */
int pdet_svg_legend(struct pdet_out *out, const struct pdet_svg *s,
		    const uint8_t *look, int x, int y);
/* pdet_svg_legend_height - how high that is. */
int pdet_svg_legend_height(const struct pdet_svg *s, const uint8_t *look);

/* pdet_svg_mark - around a place. */
void pdet_svg_mark(struct pdet_out *out, unsigned mark, int x, int y);

#endif
