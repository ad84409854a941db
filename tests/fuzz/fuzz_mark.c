/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What a check compares with may be any file. */
#include "explain/check_mark.h"
#include "fuzz.h"

static void lines(const uint8_t *data, size_t size)
{
	struct pdet_scan text = { (const char *)data,
				  (const char *)data + size };
	struct pdet_mark_line line;

	while (pdet_mark_next(&text, &line)) {
		MUST(line.kind.at < line.kind.end);
		MUST(line.name.at < line.name.end);
		MUST(line.name.end <= (const char *)data + size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_scan text;

	if (pdet_mark_check(data, size, &text))
		MUST(text.at >= (const char *)data && text.at <= text.end &&
		     text.end < (const char *)data + size);
	lines(data, size);
	return 0;
}
