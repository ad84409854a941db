/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Chooses the look of a category. Kinds of pages have the same colour in every
 * picture. For other fields, categories get the colours in order of their
 * number of pages. The first colours are those of Okabe and Ito, which people
 * with any colour vision can tell apart. The others differ from them also in
 * lightness.
 */
#include <string.h>

#include "emit/svg/svg.h"

static const char *const by_rank[] = {
	"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
	"#f0e442", "#332288", "#8c510a", "#882255", "#44aa99", "#999933",
	"#6f4e9c", "#661100", "#a6dba0", "#4d4d4d",
};

#define COLOURS (sizeof(by_rank) / sizeof(*by_rank))

static const char *const by_kind[PDET_LOOK_NONE] = {
	[PAGEDET_KIND_UNKNOWN] = "#978c80",
	[PAGEDET_KIND_FREE] = "#d3e5d3",
	[PAGEDET_KIND_ANON] = "#e69f00",
	[PAGEDET_KIND_FILE] = "#0072b2",
	[PAGEDET_KIND_SHMEM] = "#56b4e9",
	[PAGEDET_KIND_HUGETLB] = "#d55e00",
	[PAGEDET_KIND_SLAB] = "#009e73",
	[PAGEDET_KIND_PGTABLE] = "#cc79a7",
	[PAGEDET_KIND_ZERO] = "#f0e442",
	[PAGEDET_KIND_RESERVED] = "#4d4d4d",
	[PAGEDET_KIND_OFFLINE] = "#000000",
	[PAGEDET_KIND_ZSMALLOC] = "#882255",
	[PAGEDET_KIND_DEVICE] = "#8c510a",
	[PAGEDET_KIND_KERNEL] = "#332288",
	[PAGEDET_KIND_UNINIT] = "#b9bd8f",
};

/*
 * Colours for pages that appeared, are gone, or moved, and for other changes.
 */
static const char *const by_change[PDET_LOOK_NONE] = {
	[PAGEDET_CHANGE_APPEARED] = "#009e73",
	[PAGEDET_CHANGE_GONE] = "#d55e00",
	[PAGEDET_CHANGE_REUSED] = "#e69f00",
	[PAGEDET_CHANGE_MIGRATED] = "#0072b2",
	[PAGEDET_CHANGE_MOVED] = "#56b4e9",
	[PAGEDET_CHANGE_SPLIT] = "#882255",
	[PAGEDET_CHANGE_MERGED] = "#cc79a7",
	[PAGEDET_CHANGE_FLAGS] = "#f0e442",
	[PAGEDET_CHANGE_OWNER] = "#332288",
	[PAGEDET_CHANGE_MAPCOUNT] = "#8c510a",
	[PAGEDET_CHANGE_MEMCG] = "#44aa99",
	[PAGEDET_CHANGE_CONTENT] = "#4d4d4d",
	[PAGEDET_CHANGE_OTHER] = "#978c80",
};

const char *pdet_svg_colour(unsigned by, unsigned look)
{
	switch (look) {
	case PDET_LOOK_NONE:
		return "#cfcfd6";
	case PDET_LOOK_OTHER:
		return "#7f8790";
	case PDET_LOOK_PALE:
		return "#ececec";
	default:
		break;
	}
	if (by == PDET_SVG_CHANGES && look < PDET_LOOK_NONE && by_change[look])
		return by_change[look];
	if (by == PAGEDET_FIELD_KIND)
		return look < PDET_LOOK_NONE && by_kind[look] ? by_kind[look] :
								"#978c80";
	return by_rank[look % COLOURS];
}

const char *pdet_svg_class(unsigned by, unsigned look)
{
	if (look == PDET_LOOK_BLANK)
		return " class=\"blank\"";
	if (look == PDET_LOOK_PALE)
		return " class=\"pale\"";
	if (by == PAGEDET_FIELD_KIND && look == PAGEDET_KIND_FREE)
		return " class=\"free\"";
	return "";
}

static uint8_t look_of(const struct pdet_svg *s,
		       const struct pdet_picture_category *c, unsigned *next)
{
	if (c->state == PAGEDET_NONE)
		return PDET_LOOK_NONE;
	if (c->state != PAGEDET_HAVE)
		return PDET_LOOK_UNKNOWN;
	if (s->by == PDET_SVG_CHANGES)
		return (uint8_t)c->value;
	if (s->by == PAGEDET_FIELD_KIND)
		return c->value < PDET_LOOK_NONE && by_kind[c->value] ?
			       (uint8_t)c->value : PDET_LOOK_OTHER;
	return *next < COLOURS ? (uint8_t)(*next)++ : PDET_LOOK_OTHER;
}

void pdet_svg_looks(const struct pdet_svg *s,
		    uint8_t look[PDET_PICTURE_CATEGORIES])
{
	const struct pdet_picture *p = s->picture;
	uint16_t at[PDET_PICTURE_CATEGORIES];
	unsigned next = 0;
	size_t i;

	memset(look, PDET_LOOK_OTHER, PDET_PICTURE_CATEGORIES);
	for (i = 1; i < p->categories.n; i++)
		at[p->categories.data[i].rank] = (uint16_t)i;
	for (i = 0; i + 1 < p->categories.n; i++)
		look[at[i]] = look_of(s, &p->categories.data[at[i]], &next);
}
