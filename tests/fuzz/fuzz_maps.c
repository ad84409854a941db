/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes /proc/PID/maps and smaps: any text, line by line. */
#include "fuzz.h"
#include "kernel/text/maps.h"
#include "kernel/text/smaps.h"
#include "pagedet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_scan text = { (const char *)data,
				  (const char *)data + size };
	struct pdet_scan line;
	struct pdet_vma vma;
	bool has;

	while (pdet_scan_line(&text, &line)) {
		MUST(line.at <= line.end && line.end <= text.end);
		if (pdet_smaps_flags(line, "pf", &has)) {
			MUST(!has || memmem(line.at, (size_t)(line.end -
							      line.at),
					    "pf", 2));
			continue;
		}
		if (!pdet_maps_line(line, &vma))
			continue;
		MUST(vma.start < vma.end);
		MUST(vma.name >= line.at && vma.name <= line.end);
		MUST(vma.name + vma.name_len == line.end);
		MUST(!vma.name_len || *vma.name != ' ');
		MUST(vma.prot <= (PAGEDET_PROT_READ | PAGEDET_PROT_WRITE |
				  PAGEDET_PROT_EXEC | PAGEDET_PROT_SHARED));
	}
	return 0;
}
