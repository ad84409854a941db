/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Counts swap areas in /proc/swaps: a heading, then one line for each area in
 * the order of types. The types are not shown, and a removed area leaves a gap.
 */
#include <errno.h>

#include "backend/procfs/procfs.h"
#include "base/io.h"
#include "base/text/text.h"

bool procfs_swap_areas(const struct pdet_env *env, uint32_t *ret)
{
	struct pdet_scan text, line;
	struct pdet_text swaps;
	uint32_t n = 0;
	int r;

	*ret = 0;
	r = pdet_slurp(env, &swaps, 1 << 20, "/proc/swaps");
	/* A kernel without swap lacks the file. */
	if (r < 0)
		return r == -ENOENT;
	text.at = swaps.data;
	text.end = swaps.data + swaps.len;
	while (pdet_scan_line(&text, &line))
		n++;
	pdet_text_free(&swaps);
	*ret = n ? n - 1 : 0;
	return true;
}
