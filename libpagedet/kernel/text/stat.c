/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The name in field 2 may hold anything, so fields are counted from the last
 * parenthesis (Documentation/filesystems/proc.rst).
 */
#include <string.h>

#include "base/io.h"
#include "base/text/text.h"
#include "kernel/text/stat.h"

int pdet_stat_number(const struct pdet_env *env, uint32_t pid, unsigned wanted,
		     uint64_t *ret)
{
	struct pdet_text text;
	struct pdet_scan s;
	const char *close;
	unsigned field;
	int r;

	*ret = 0;
	r = pdet_slurp(env, &text, 8192, "/proc/%u/stat", pid);
	if (r < 0)
		return r;
	close = memrchr(text.data, ')', text.len);
	if (close) {
		s.at = close + 1;
		s.end = text.data + text.len;
		for (field = 3; field < wanted; field++)
			pdet_scan_token(&s);
		pdet_scan_blanks(&s);
		if (!pdet_scan_dec(&s, ret))
			*ret = 0;
	}
	pdet_text_free(&text);
	return 0;
}
