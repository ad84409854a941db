/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Since Linux 3.14 there is MemAvailable; no Memorizer is older. */
#include "memorizer/shortage.h"

#define PARTS 4

bool pdet_is_short(struct pdet_scan text)
{
	uint64_t total = 0, available = 0;
	bool is_told = false;
	struct pdet_scan line;

	while (pdet_scan_line(&text, &line)) {
		if (pdet_scan_word(&line, "MemTotal:")) {
			pdet_scan_blanks(&line);
			pdet_scan_dec(&line, &total);
		} else if (pdet_scan_word(&line, "MemAvailable:")) {
			pdet_scan_blanks(&line);
			is_told = pdet_scan_dec(&line, &available);
		}
	}
	return is_told && available < total / PARTS;
}
