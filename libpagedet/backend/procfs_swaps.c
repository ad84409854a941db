/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * /proc/swaps: a heading, then a line per swap area, in the order of their
 * types. It does not say the types: one that was closed leaves a gap.
 */
#include <errno.h>

#include "backend/procfs.h"
#include "base/io.h"
#include "base/text.h"

bool procfs_swap_areas(const struct pdet_env *env, uint32_t *ret)
{
	struct pdet_scan text, line;
	struct pdet_text swaps;
	uint32_t n = 0;
	int r;

	*ret = 0;
	r = pdet_slurp(env, &swaps, 1 << 20, "/proc/swaps");
	/* A kernel without swap has no such file. */
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
