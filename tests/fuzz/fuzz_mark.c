/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes marks of checks: any bytes. */
#include "check/mark.h"
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

/* Two halves, which may be of different machines. */
static void memory(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *middle = at + size / 2;
	const struct pdet_scan a = { at, middle };
	const struct pdet_scan b = { middle, at + size };
	const struct pdet_scan none = { at, at };

	MUST(pdet_mark_rose(a, b) <= PAGEDET_NO);
	MUST(pdet_mark_rose(b, a) <= PAGEDET_NO);
	MUST(pdet_mark_rose(none, a) == PAGEDET_DUNNO);
	MUST(pdet_mark_rose(a, none) != PAGEDET_YES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_scan text;

	if (pdet_mark_check(data, size, &text))
		MUST(text.at >= (const char *)data && text.at <= text.end &&
		     text.end < (const char *)data + size);
	lines(data, size);
	memory(data, size);
	return 0;
}
