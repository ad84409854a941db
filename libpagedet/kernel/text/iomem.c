/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parses /proc/iomem and knows which names there mean memory. */
#include <string.h>

#include "kernel/text/iomem.h"

bool pdet_iomem_line(struct pdet_scan line, struct pdet_iomem *ret)
{
	struct pdet_iomem e;

	pdet_scan_blanks(&line);
	if (!pdet_scan_hex(&line, &e.first) || !pdet_scan_char(&line, '-') ||
	    !pdet_scan_hex(&line, &e.last) || !pdet_scan_word(&line, " : ") ||
	    e.first > e.last || !e.last)
		return false;
	e.name = line.at;
	e.name_len = (size_t)(line.end - line.at);
	*ret = e;
	return true;
}

static bool begins(const struct pdet_iomem *e, const char *word)
{
	size_t len = strlen(word);

	return e->name_len >= len && !memcmp(e->name, word, len);
}

enum pdet_iomem_use pdet_iomem_use(const struct pdet_iomem *entry)
{
	if (begins(entry, "System RAM"))
		return PDET_IOMEM_RAM;
	if (begins(entry, "Persistent Memory") || begins(entry, "dax") ||
	    begins(entry, "CXL Window") || begins(entry, "device-private"))
		return PDET_IOMEM_DEVICE;
	return PDET_IOMEM_OTHER;
}
