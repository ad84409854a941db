/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parses a line of /proc/PID/maps, and trusts nothing in it. */
#include "kernel/text/maps.h"
#include "pagedet.h"

/*
 * "rwxp": each of the first three is its letter or '-', the last is 's' or 'p'.
 */
static bool scan_prot(struct pdet_scan *s, uint32_t *ret)
{
	static const char letters[3] = { 'r', 'w', 'x' };
	uint32_t prot = 0;
	unsigned i;

	for (i = 0; i < 3; i++) {
		if (pdet_scan_char(s, letters[i]))
			prot |= 1u << i;
		else if (!pdet_scan_char(s, '-'))
			return false;
	}
	if (pdet_scan_char(s, 's'))
		prot |= PAGEDET_PROT_SHARED;
	else if (!pdet_scan_char(s, 'p'))
		return false;
	*ret = prot;
	return true;
}

bool pdet_maps_line(struct pdet_scan line, struct pdet_vma *ret)
{
	struct pdet_vma vma;
	uint64_t major, minor;

	if (!pdet_scan_hex(&line, &vma.start) || !pdet_scan_char(&line, '-') ||
	    !pdet_scan_hex(&line, &vma.end) || !pdet_scan_char(&line, ' ') ||
	    !scan_prot(&line, &vma.prot) || !pdet_scan_char(&line, ' ') ||
	    !pdet_scan_hex(&line, &vma.offset) || !pdet_scan_char(&line, ' ') ||
	    !pdet_scan_hex(&line, &major) || !pdet_scan_char(&line, ':') ||
	    !pdet_scan_hex(&line, &minor) || !pdet_scan_char(&line, ' ') ||
	    !pdet_scan_dec(&line, &vma.inode) ||
	    vma.start >= vma.end || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	vma.dev = major << 32 | minor;
	vma.owner_unproved = false;
	vma.cache = vma.size = 0;
	vma.said = false;
	while (pdet_scan_char(&line, ' '))
		;
	vma.name = line.at;
	vma.name_len = (size_t)(line.end - line.at);
	*ret = vma;
	return true;
}
