/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The start of the index that linkers write (LSB, .eh_frame_hdr). */
#ifndef PDET_UNWIND_DWARF_EH_HEADER_H
#define PDET_UNWIND_DWARF_EH_HEADER_H

#include <stdbool.h>

#include "unwind/dwarf/cie.h"

struct pdet_eh_header {
	uint8_t version, frame_form, count_form, table_form;
	int32_t frame;
	uint32_t count;		/* of the struct pdet_eh_entry that follow, by
				 * distance from the header */
};

#define PDET_FORM_U4 0x03
#define PDET_FORM_DATA_S4 0x3b

/* Whether it is the form that linkers write. */
static inline bool pdet_eh_header_known(const struct pdet_eh_header *h)
{
	return h->version == 1 && h->frame_form == PDET_FORM_PC_S4 &&
	       h->count_form == PDET_FORM_U4 &&
	       h->table_form == PDET_FORM_DATA_S4;
}

#endif
