/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * /proc/swaps: a heading, then a line per swap area, in the order of their
 * types. It does not say the types: one that was closed leaves a gap.
 */
#include "backend/procfs.h"
#include "base/io.h"
#include "base/text.h"

uint32_t procfs_swap_areas(const struct pdet_env *env)
{
	struct pdet_scan text, line;
	struct pdet_text swaps;
	uint32_t n = 0;

	if (pdet_slurp(env, &swaps, 1 << 20, "/proc/swaps") < 0)
		return 0;
	text.at = swaps.data;
	text.end = swaps.data + swaps.len;
	while (pdet_scan_line(&text, &line))
		n++;
	pdet_text_free(&swaps);
	return n ? n - 1 : 0;
}
