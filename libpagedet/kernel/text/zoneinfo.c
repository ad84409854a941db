/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parses the headings and two numbers of each zone, and skips the rest. */
#include "kernel/text/zoneinfo.h"
#include "schema/schema.h"

/* "Node 0, zone   Normal" */
static bool heading(struct pdet_scan line, uint32_t *node, int *zone)
{
	struct pdet_scan name;
	uint64_t n;

	if (!pdet_scan_word(&line, "Node ") || !pdet_scan_dec(&line, &n) ||
	    n > UINT32_MAX || !pdet_scan_word(&line, ", zone"))
		return false;
	name = pdet_scan_token(&line);
	*node = (uint32_t)n;
	*zone = pdet_value_by_name(PAGEDET_FIELD_ZONE, name.at,
				   (unsigned)(name.end - name.at));
	return true;
}

/* "        spanned  1044480", "  start_pfn:           4096" */
static bool number(struct pdet_scan line, const char *key, uint64_t *ret)
{
	uint64_t value;

	pdet_scan_blanks(&line);
	if (!pdet_scan_word(&line, key))
		return false;
	pdet_scan_blanks(&line);
	if (!pdet_scan_dec(&line, &value))
		return false;
	*ret = value;
	return true;
}

bool pdet_zoneinfo_next(struct pdet_scan *text, struct pdet_zoneinfo *ret)
{
	struct pdet_zoneinfo z = { 0, 0, 0, 0 };
	struct pdet_scan line;
	bool in_zone = false;
	int zone;

	while (pdet_scan_line(text, &line)) {
		if (heading(line, &z.node, &zone)) {
			in_zone = zone >= 0;
			z.zone = in_zone ? (uint32_t)zone : 0;
			z.spanned = 0;
		} else if (in_zone &&
			   !number(line, "spanned", &z.spanned) &&
			   number(line, "start_pfn:", &z.start_pfn) &&
			   z.spanned &&
			   z.start_pfn <= UINT64_MAX - z.spanned) {
			/*
			 * start_pfn is the last line of a zone that is needed
			 */
			*ret = z;
			return true;
		}
	}
	return false;
}
