/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Classifies frames without a page, or without an online page. The driver does
 * not distinguish them; /proc/iomem does.
 */
#include "backend/page_detective/query.h"
#include "base/io.h"
#include "kernel/text/iomem.h"

#define MOST_TEXT ((size_t)16 << 20)

void page_detective_holes_forget(struct page_detective_session *s)
{
	pdet_text_free(&s->iomem);
	s->has_iomem = false;
}

static void load(struct page_detective_session *s)
{
	if (s->has_iomem)
		return;
	s->has_iomem = true;
	/* Treat an unreadable file as empty. */
	pdet_slurp(&s->session.env, &s->iomem, MOST_TEXT, "/proc/iomem");
}

unsigned page_detective_hole(struct page_detective_session *s, uint64_t pfn,
			     unsigned *kind)
{
	const unsigned shift = 12;
	struct pdet_scan all, line;
	struct pdet_iomem entry;
	bool any = false;

	load(s);
	*kind = PAGEDET_KIND_HOLE;
	all = (struct pdet_scan){ s->iomem.data, s->iomem.data + s->iomem.len };
	while (all.at && pdet_scan_line(&all, &line)) {
		if (!pdet_iomem_line(line, &entry))
			continue;
		any = true;
		if (pfn < entry.first >> shift || pfn > entry.last >> shift)
			continue;
		if (pdet_iomem_use(&entry) == PDET_IOMEM_DEVICE)
			*kind = PAGEDET_KIND_DEVICE;
		/* offline; or the end of a range that is not a whole page */
		else if (pdet_iomem_use(&entry) == PDET_IOMEM_RAM)
			return PAGEDET_UNSUPPORTED;
	}
	return any ? 0 : PAGEDET_NO_ACCESS;
}
