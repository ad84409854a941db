/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A line has a key, and values that blanks separate (proc(5)). Amounts of
 * memory are in smaps.c.
 */
#include "kernel/text/status.h"

static bool find_line(struct pdet_scan text, const char *key,
		      struct pdet_scan *ret)
{
	while (pdet_scan_line(&text, ret))
		if (pdet_scan_word(ret, key))
			return true;
	return false;
}

bool pdet_status_has(struct pdet_scan text, const char *key)
{
	struct pdet_scan line;

	return find_line(text, key, &line);
}

bool pdet_status_number(struct pdet_scan text, const char *key, unsigned place,
			uint64_t *ret)
{
	struct pdet_scan line;
	unsigned n = 0;

	if (!find_line(text, key, &line))
		return false;
	while (n <= place) {
		pdet_scan_blanks(&line);
		if (!pdet_scan_dec(&line, ret))
			break;
		n++;
	}
	return place == PDET_STATUS_LAST ? n > 0 : n == place + 1;
}
